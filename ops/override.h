// What every override is made of: the stock kernel as the other branch, and the counters that show
// which branch was taken and why.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

namespace tenon::ops {

// Why a call went to the stock kernel; kNone: it did not.
enum class Reason : uint8_t {
  kNone,
  kDtype,     // a dtype, or a mix of dtypes, the operator has no kernel for
  kLayout,    // not a plain strided CPU tensor, or strides the kernel does not take
  kShape,     // shapes the kernel does not take, wrong ones included: stock has the message
  kSize,      // so small or so large that stock is as good
  kOverlap,   // operands share memory in a way stock has to judge
  kArgument,  // an argument the kernel does not take
  kMode,      // autograd, tracing or another mode has to see the composite operator
  kValue,     // the data: an index out of range, a value the kernel's arithmetic cannot take
  kMachine,   // this machine has no kernel that beats stock
  kCount,
};
const char* reason_name(Reason reason);

// Whether stock's element-wise and reducing kernels leave the vector unit idle: torch for riscv64
// is built without one vector instruction. Then no size is stock's for its speed.
bool stock_is_scalar();

// One row of overrides.inc in this process.
struct Override {
  const char* schema = "";  // "add.Tensor"
  const char* accepts = "";
  const c10::KernelFunction* stock = nullptr;   // these two live as long as the process
  const c10::OperatorHandle* handle = nullptr;  // null: this torch has no such operator

  static constexpr size_t kKernels = 8;  // dtypes and engines one operator chooses among
  std::atomic<int64_t> hits{0};
  std::array<std::atomic<int64_t>, static_cast<size_t>(Reason::kCount)> fallbacks{};
  std::array<std::atomic<const char*>, kKernels> kernels{};

  void count_hit(const char* kernel) {
    hits.fetch_add(1, std::memory_order_relaxed);
    if (kernels[0].load(std::memory_order_relaxed) != kernel) note_kernel(kernel);
  }
  void count_fallback(Reason why) {
    fallbacks[static_cast<size_t>(why)].fetch_add(1, std::memory_order_relaxed);
  }
  // Remembers a kernel's name, and prints it once under TENON_VERBOSE=1.
  void note_kernel(const char* kernel);
};

// The row of the override function Fn; register.cpp fills it at load time, before any dynamic
// initialisation would be certain to have run.
template <auto Fn>
constinit inline Override override_of{};

template <class R, class... A>
struct StockCall {
  static R call(const Override& o, A... args) {
    return o.stock->call<R, A...>(*o.handle, c10::DispatchKeySet(c10::DispatchKey::CPU),
                                  std::forward<A>(args)...);
  }
};

// Composite overrides take the call's key set first and hand it on.
template <class R, class... A>
struct StockCall<R, c10::DispatchKeySet, A...> {
  static R call(const Override& o, c10::DispatchKeySet keys, A... args) {
    return o.stock->call<R, A...>(*o.handle, keys, std::forward<A>(args)...);
  }
};

template <class R, class... A>
StockCall<R, A...> stock_call(R (*)(A...));

// Calls the kernel that was there before ours, counting why. The first thing an override does once
// its gate has refused: no side effect comes before it.
template <auto Fn, class... Given>
decltype(auto) stock(Reason why, Given&&... args) {
  Override& o = override_of<Fn>;
  o.count_fallback(why);
  return decltype(stock_call(Fn))::call(o, std::forward<Given>(args)...);
}

// The profiler's view of a kernel: an event for as long as this lives.
struct KernelScope {
  at::RecordFunction record{at::RecordScope::FUNCTION};
  explicit KernelScope(const char* kernel) {
    if (record.isActive()) record.before(kernel);
  }
};

// Counts a call on the fast path. Keep the result until the kernel is done.
template <auto Fn>
[[nodiscard]] KernelScope taken(const char* kernel) {
  override_of<Fn>.count_hit(kernel);
  return KernelScope(kernel);
}

}  // namespace tenon::ops

// The comparison behind TENON_CHECK=1: a boxed kernel around each override.
#include "ops/check.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/boxing/BoxedKernel.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

namespace tenon::ops {
namespace {

using torch::jit::Stack;

struct Finding {
  int64_t calls = 0;
  double largest = 0;   // in units of the last place of the result's dtype at the stock value
  std::string offence;  // the first call beyond the tolerance
};

std::mutex findings_mutex;
std::map<std::string, Finding>& findings() {
  static auto* all = new std::map<std::string, Finding>;
  return *all;
}

// The comparison itself uses operators that are overridden.
thread_local bool comparing = false;

// torch.testing's relative tolerance of a dtype (torch/testing/_comparison.py); 0 for integers.
double tolerance(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 1.3e-6;
    case at::kBFloat16:
      return 1.6e-2;
    case at::kHalf:
      return 1e-3;
    case at::kDouble:
      return 1e-7;
    default:
      return 0;
  }
}

// The distance between neighbouring values of a dtype at |x|.
double ulp(at::ScalarType type, double x) {
  const int digits = type == at::kFloat      ? 24
                     : type == at::kBFloat16 ? 8
                     : type == at::kHalf     ? 11
                                             : 53;
  const int least = type == at::kHalf ? -14 : -126;
  int exponent = least + 1;
  if (x != 0 && std::isfinite(x)) std::frexp(x, &exponent);
  return std::ldexp(1.0, std::max(exponent - 1, least) - (digits - 1));
}

struct Difference {
  double ulps = 0;
  bool beyond = false;
};

Difference compare_values(const double* got, const double* want, int64_t n, at::ScalarType type) {
  double scale = 0;
  for (int64_t i = 0; i < n; ++i)
    if (std::isfinite(want[i])) scale = std::max(scale, std::fabs(want[i]));
  Difference d;
  for (int64_t i = 0; i < n; ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double error = std::fabs(got[i] - want[i]);
    if (!std::isfinite(error)) return {std::numeric_limits<double>::infinity(), true};
    d.ulps = std::max(d.ulps, error / ulp(type, want[i]));
    // Relative to the tensor's largest value as well: a sum that cancels keeps its terms' error.
    d.beyond |= error > tolerance(type) * (std::fabs(want[i]) + scale);
  }
  return d;
}

Difference compare(const at::Tensor& got, const at::Tensor& want) {
  if (!got.defined() || !want.defined()) return {0, got.defined() != want.defined()};
  if (got.sizes() != want.sizes() || got.scalar_type() != want.scalar_type() ||
      got.strides() != want.strides())
    return {std::numeric_limits<double>::infinity(), true};
  if (c10::isComplexType(got.scalar_type())) return {};
  const at::Tensor a = got.to(at::kDouble).contiguous(), b = want.to(at::kDouble).contiguous();
  return compare_values(static_cast<const double*>(a.const_data_ptr()),
                        static_cast<const double*>(b.const_data_ptr()), a.numel(),
                        got.scalar_type());
}

std::string describe(const Stack& arguments) {
  std::ostringstream text;
  for (const c10::IValue& value : arguments) {
    text << (text.tellp() > 0 ? ", " : "");
    if (value.isTensor() && value.toTensor().defined()) {
      const at::Tensor& t = value.toTensor();
      text << c10::toString(t.scalar_type()) << t.sizes() << " strides " << t.strides();
    } else if (value.isTensorList()) {
      text << "list of " << value.toTensorVector().size();
    } else if (!value.isTensor()) {
      text << value;
    }
  }
  return text.str();
}

void record(const Override& o, const Difference& d, const Stack& arguments) {
  const std::lock_guard<std::mutex> lock(findings_mutex);
  Finding& f = findings()[o.schema];
  ++f.calls;
  f.largest = std::max(f.largest, d.ulps);
  if (d.beyond && f.offence.empty()) f.offence = describe(arguments);
}

// The arguments with a copy of every tensor that the schema says is written.
Stack with_copies(const c10::FunctionSchema& schema, const Stack& stack) {
  const size_t n = schema.arguments().size();
  Stack arguments(stack.end() - static_cast<ptrdiff_t>(n), stack.end());
  for (size_t i = 0; i < n; ++i) {
    const auto* alias = schema.arguments()[i].alias_info();
    if (alias != nullptr && alias->isWrite() && arguments[i].isTensor())
      arguments[i] = arguments[i].toTensor().clone();
  }
  return arguments;
}

class Checked : public c10::OperatorKernel {
 public:
  Checked(Override& o, c10::KernelFunction ours) : override_(o), ours_(std::move(ours)) {}

  void operator()(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Stack* stack) {
    if (comparing) return ours_.callBoxed(op, keys, stack);
    comparing = true;
    const auto done = [](void*) { comparing = false; };
    const std::unique_ptr<void, decltype(done)> guard(stack, done);
    const Stack arguments = with_copies(op.schema(), *stack);
    Stack expected = arguments;
    override_.stock->callBoxed(op, keys, &expected);
    const int64_t before = override_.hits.load();
    ours_.callBoxed(op, keys, stack);
    if (override_.hits.load() != before) compare_results(*stack, expected, arguments);
  }

 private:
  void compare_results(const Stack& got, const Stack& want, const Stack& arguments) {
    const size_t n = want.size();
    for (size_t i = 0; i < n; ++i) {
      const c10::IValue &g = got[got.size() - n + i], &w = want[i];
      if (g.isTensor() && w.isTensor())
        record(override_, compare(g.toTensor(), w.toTensor()), arguments);
    }
  }

  Override& override_;
  c10::KernelFunction ours_;
};

}  // namespace

torch::CppFunction checked(Override& o, c10::KernelFunction ours) {
  return torch::CppFunction::makeFromBoxedFunctor(std::make_unique<Checked>(o, std::move(ours)));
}

void print_check() {
  const std::lock_guard<std::mutex> lock(findings_mutex);
  for (const auto& [schema, f] : findings()) {
    std::fprintf(stderr, "tenon: check aten::%s: %lld results, largest difference %.3g ulp%s%s\n",
                 schema.c_str(), static_cast<long long>(f.calls), f.largest,
                 f.offence.empty() ? "" : "; first beyond tolerance: ", f.offence.c_str());
  }
}

}  // namespace tenon::ops

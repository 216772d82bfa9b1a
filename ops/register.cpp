// Puts the rows of overrides.inc into the dispatcher: once, at load time, never fatally.
#include "ops/register.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "dispatch/env.h"
#include "dispatch/parallel.h"
#include "ops/check.h"
#include "ops/names.h"
#include "ops/overrides.h"

namespace tenon::ops {
struct Peek;
}  // namespace tenon::ops

// TypedOperatorHandle is a friend of OperatorHandle: its specialisation for a type of ours may read
// which kernel a key has now. One source for torch 2.6, which has no public way, and later.
template <>
class c10::TypedOperatorHandle<tenon::ops::Peek> {
 public:
  static KernelFunction kernel(const OperatorHandle& op, DispatchKey key) {
    return op.operatorDef_->op.lookup(DispatchKeySet(key));
  }
};

namespace tenon::ops {
namespace {

using c10::DispatchKey;
constexpr DispatchKey CPU = DispatchKey::CPU;
constexpr DispatchKey CompositeImplicitAutograd = DispatchKey::CompositeImplicitAutograd;

struct Row {
  Override* override;
  const char* schema;
  DispatchKey key;
  uint64_t need;  // any of these
  const char* accepts;
  torch::CppFunction (*unboxed)();
  c10::KernelFunction (*kernel)();
};

#define OVERRIDE(fn, schema, key, need, accepts)    \
  {&override_of<&fn>,                               \
   schema,                                          \
   key,                                             \
   need,                                            \
   accepts,                                         \
   [] { return torch::CppFunction(TORCH_FN(fn)); }, \
   [] { return c10::KernelFunction::makeFromUnboxedFunction(TORCH_FN(fn)); }},
const Row kRows[] = {
#include "ops/overrides.inc"
};
#undef OVERRIDE

// Swallows the dispatcher's notice about overrides made on purpose; passes everything else on.
class OverrideNotice : public c10::WarningHandler {
 public:
  void process(const c10::Warning& w) override {
    if (w.msg().find("Overriding a previously registered kernel") == std::string::npos)
      next_->process(w);
  }

 private:
  c10::WarningHandler* next_ = c10::WarningUtils::get_warning_handler();
};

// m.impl() accepts names that do not exist, so ask first.
std::optional<c10::OperatorHandle> find(const char* schema) {
  const std::string full(schema);
  const size_t dot = full.find('.');
  const std::string overload = dot == std::string::npos ? "" : full.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({"aten::" + full.substr(0, dot), overload});
}

State state_of(const Row& row) {
  row.override->schema = row.schema;
  row.override->accepts = row.accepts;
  const auto handle = find(row.schema);
  if (!handle) return State::kAbsent;
  row.override->handle = new c10::OperatorHandle(*handle);
  row.override->stock =
      new c10::KernelFunction(c10::TypedOperatorHandle<Peek>::kernel(*handle, DispatchKey::CPU));
  if (row.need != kNone && (host_cpu().features & row.need) == 0) return State::kMachine;
  return operator_enabled(row.schema) ? State::kRegistered : State::kDisabled;
}

// One Library per row, so that a row can be taken out again by destroying it. Never destroyed at
// exit: the order of destruction there is not ours.
std::vector<std::unique_ptr<torch::Library>>& libraries() {
  static auto* all = new std::vector<std::unique_ptr<torch::Library>>;
  return *all;
}

void install(const Row& row) {
  auto library =
      std::make_unique<torch::Library>(torch::Library::IMPL, "aten", row.key, __FILE__, __LINE__);
  library->impl(row.schema,
                environment().check ? checked(*row.override, row.kernel()) : row.unboxed());
  libraries().push_back(std::move(library));
}

void install_all() {
  OverrideNotice notice;
  c10::WarningUtils::WarningHandlerGuard guard(&notice);
  for (size_t i = 0; i < std::size(kRows); ++i)
    if (registrations()[i].state == State::kRegistered) install(kRows[i]);
}

// The schema tenon::loaded marks a process whose overrides are in place, whichever copy of this
// library put them there.
bool first_in_process() {
  if (c10::Dispatcher::singleton().findSchema({"tenon::loaded", ""})) return false;
  static auto* marker =
      new torch::Library(torch::Library::FRAGMENT, "tenon", std::nullopt, __FILE__, __LINE__);
  marker->def("loaded() -> ()");
  return true;
}

void print_absent() {
  for (const Registration& r : registrations())
    if (r.state == State::kAbsent)
      std::fprintf(stderr, "tenon: aten::%s is not in this torch\n", r.override->schema);
}

bool is_active = false;

void load() {
  const Environment& e = environment();
  if (e.off || !first_in_process()) return;
  const std::string error = !e.error.empty() ? e.error : unknown_name(e);
  if (!error.empty()) {
    std::fprintf(stderr, "tenon: not active: %s\n", error.c_str());
    return;
  }
  set_thread_setup([] { at::internal::lazy_init_num_threads(); });
  install_all();
  is_active = true;
  if (e.verbose) print_absent();
  if (e.verbose && host_cpu().note != nullptr) std::fprintf(stderr, "tenon: %s\n", host_cpu().note);
}

__attribute__((constructor)) void load_safely() {
  try {
    load();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "tenon: not active: %s\n", e.what());
  }
}

}  // namespace

bool active() { return is_active; }

const std::vector<Registration>& registrations() {
  static const auto* all = [] {
    auto* list = new std::vector<Registration>;
    for (const Row& row : kRows) list->push_back({row.override, state_of(row)});
    return list;
  }();
  return *all;
}

void set_enabled(bool enabled) {
  if (!is_active || enabled == !libraries().empty()) return;
  if (enabled)
    install_all();
  else
    libraries().clear();
}

}  // namespace tenon::ops

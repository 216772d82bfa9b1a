// Names of reasons, and the kernels an operator was seen to choose.
#include "ops/override.h"

#include <cstdio>

#include "dispatch/env.h"

namespace tenon::ops {

bool stock_is_scalar() {
  static const bool scalar = host_cpu().has(kRvv);
  return scalar;
}

const char* reason_name(Reason reason) {
  switch (reason) {
    case Reason::kDtype:
      return "dtype";
    case Reason::kLayout:
      return "layout";
    case Reason::kShape:
      return "shape";
    case Reason::kSize:
      return "size";
    case Reason::kOverlap:
      return "overlap";
    case Reason::kArgument:
      return "argument";
    case Reason::kMode:
      return "mode";
    case Reason::kValue:
      return "value";
    case Reason::kMachine:
      return "machine";
    case Reason::kNone:
    case Reason::kCount:
      break;
  }
  return "";
}

void Override::note_kernel(const char* kernel) {
  for (auto& slot : kernels) {
    const char* seen = slot.load(std::memory_order_relaxed);
    if (seen == kernel) return;
    if (seen == nullptr && slot.compare_exchange_strong(seen, kernel)) {
      if (environment().verbose) std::fprintf(stderr, "tenon: aten::%s -> %s\n", schema, kernel);
      return;
    }
    if (seen == kernel) return;  // another thread was first
  }
}

}  // namespace tenon::ops

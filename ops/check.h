// TENON_CHECK=1: the stock kernel runs beside every override, and the results are compared.
#pragma once
#include <ATen/core/boxing/KernelFunction.h>
#include <torch/library.h>

#include "ops/override.h"

namespace tenon::ops {

// A kernel that calls `ours` and the stock kernel of `o` on the same arguments (copies of those
// that are written) and keeps the largest difference. Its result is that of `ours`.
torch::CppFunction checked(Override& o, c10::KernelFunction ours);

// One line per checked operator on stderr: calls, largest difference in units of the last place,
// and the first call beyond torch.testing's tolerance with shapes, strides and dtypes.
void print_check();

}  // namespace tenon::ops

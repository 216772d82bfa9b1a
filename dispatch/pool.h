// Pooling of planes on raw memory: padding and threads around the kernels of isa/max_pool.h and
// isa/avg_pool.h.
#pragma once
#include "dispatch/windows.h"

namespace tenon {

// Contiguous planes of height.in x width.in, pooled to height.out x width.out. Windows are not
// dilated, hold an element of the plane each, and may end behind the padding.
struct PoolProblem {
  int type;  // 0 f32, 1 bf16, 2 f16: of x and y
  int64_t planes;
  Axis height, width;
  const void* x;
  void* y;
};

// What the sum of a window is divided by.
struct PoolDivisor {
  bool count_padding;  // all of the window that is not behind the padding, or what is in the plane
  int64_t given;       // or this number; 0: none given
};

const char* max_pool_kernel_name(int type);
const char* avg_pool_kernel_name(int type);

// index: for each element of y its place in its plane. Planes of less than 2^31 elements.
void run_max_pool(const PoolProblem& p, int64_t* index);
void run_avg_pool(const PoolProblem& p, const PoolDivisor& divisor);

}  // namespace tenon

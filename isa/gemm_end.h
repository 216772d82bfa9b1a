// The end of a matrix product: scaling, the added matrix, and the one rounding to storage.
//
// Operation: y[i] = round(alpha * x[i] + beta * c[i]), i < n, in f32: alpha * x is rounded once,
// beta * c is added by a fused multiply-add. With c null, y[i] = round(alpha * x[i]). c_step is 1,
// or 0 for one value of c that serves the whole row. Any n, any alignment; y may equal c. Error
// bound: kGemmEndUlp units of f32's last place at |alpha x| + |beta c|, and half a unit of the
// storage type where that is narrower.
#pragma once
#include <cstddef>

namespace tenon {

constexpr double kGemmEndUlp = 1.0;

// x: f32; c and y: the storage type in the kernel's name.
struct GemmEndArgs {
  size_t n;
  float alpha, beta;
  const float* x;
  const void* c;
  size_t c_step;
  void* y;
};
using GemmEnd = void(const GemmEndArgs& args) noexcept;

}  // namespace tenon

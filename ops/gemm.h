// Tensors as a GemmProblem, and the gate that the matrix-product overrides share.
#pragma once
#include <ATen/core/Tensor.h>

#include "dispatch/gemm.h"
#include "ops/override.h"

namespace tenon::ops {

enum class ProductKind : uint8_t { kVector, kMatrix, kBatch };  // mv, mm, bmm

// A product on its way through the gate: the first step that refuses says why, and later ones do
// nothing.
struct Product {
  Reason why = Reason::kNone;
  ProductKind kind = ProductKind::kMatrix;
  GemmEngine engine = GemmEngine::kStock;
  at::ScalarType result = at::kFloat;
  GemmProblem problem;  // set once the sizes have passed

  bool ok() const { return why == Reason::kNone; }
  const char* kernel() const { return gemm_kernel_name(engine, problem.type); }

  // alpha * product + beta * c, c of a shape that expands to the result's.
  Product& plus(const at::Tensor& c, const at::Scalar& beta, const at::Scalar& alpha);

  // Refuses a y that cannot be written in place of a new tensor. y may be c itself.
  Product& write_to(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b);
  Product& write_to(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b,
                    const at::Tensor& c);
};

// a x b: a matrix and a vector, two matrices, or two batches of matrices.
Product product(ProductKind kind, const at::Tensor& a, const at::Tensor& b);

// Two int8 matrices, with an int32 result.
Product int_product(const at::Tensor& a, const at::Tensor& b);

// Computes the product into y: a new tensor of the result's shape, or one that write_to let pass.
void run(const Product& x, const at::Tensor& y);

}  // namespace tenon::ops

// Matrix products: mm, addmm, bmm, baddbmm, mv, addmv, _int_mm, in their functional, in-place and
// out forms. `linear` and `matmul` reach them.
#include "ops/gemm.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

Tensor empty_result(const Product& x) {
  const GemmProblem& p = x.problem;
  const auto type = x.result;
  if (x.kind == ProductKind::kVector) return empty_cpu({p.m}, type);
  if (x.kind == ProductKind::kMatrix) return empty_cpu({p.m, p.n}, type);
  return empty_cpu({p.batch, p.m, p.n}, type);
}

template <auto Fn, class... Given>
Tensor fresh(const Product& x, const Given&... given) {
  if (!x.ok()) return stock<Fn>(x.why, given...);
  const auto scope = taken<Fn>(x.kernel());
  Tensor y = empty_result(x);
  run(x, y);
  return y;
}

// y: the tensor written, among `given` or behind them, as the operator's signature has it.
template <auto Fn, class... Given>
Tensor& into(const Product& x, Tensor& y, Given&&... given) {
  if (!x.ok()) return stock<Fn>(x.why, std::forward<Given>(given)...);
  const auto scope = taken<Fn>(x.kernel());
  run(x, y);
  return y;
}

constexpr auto kVector = ProductKind::kVector;
constexpr auto kMatrix = ProductKind::kMatrix;
constexpr auto kBatch = ProductKind::kBatch;

}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) { return fresh<&mm>(product(kMatrix, a, b), a, b); }

Tensor& mm_out(const Tensor& a, const Tensor& b, Tensor& y) {
  return into<&mm_out>(product(kMatrix, a, b).write_to(y, a, b), y, a, b, y);
}

Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha) {
  return fresh<&addmm>(product(kMatrix, a, b).plus(c, beta, alpha), c, a, b, beta, alpha);
}

Tensor& addmm_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha) {
  return into<&addmm_>(product(kMatrix, a, b).plus(c, beta, alpha).write_to(c, a, b, c), c,  //
                       c, a, b, beta, alpha);
}

Tensor& addmm_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha, Tensor& y) {
  return into<&addmm_out>(product(kMatrix, a, b).plus(c, beta, alpha).write_to(y, a, b, c), y,  //
                          c, a, b, beta, alpha, y);
}

Tensor bmm(const Tensor& a, const Tensor& b) { return fresh<&bmm>(product(kBatch, a, b), a, b); }

Tensor& bmm_out(const Tensor& a, const Tensor& b, Tensor& y) {
  return into<&bmm_out>(product(kBatch, a, b).write_to(y, a, b), y, a, b, y);
}

Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha) {
  return fresh<&baddbmm>(product(kBatch, a, b).plus(c, beta, alpha), c, a, b, beta, alpha);
}

Tensor& baddbmm_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                 const Scalar& alpha) {
  return into<&baddbmm_>(product(kBatch, a, b).plus(c, beta, alpha).write_to(c, a, b, c), c,  //
                         c, a, b, beta, alpha);
}

Tensor& baddbmm_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha, Tensor& y) {
  return into<&baddbmm_out>(product(kBatch, a, b).plus(c, beta, alpha).write_to(y, a, b, c), y,  //
                            c, a, b, beta, alpha, y);
}

Tensor mv(const Tensor& a, const Tensor& b) { return fresh<&mv>(product(kVector, a, b), a, b); }

Tensor addmv(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha) {
  return fresh<&addmv>(product(kVector, a, b).plus(c, beta, alpha), c, a, b, beta, alpha);
}

Tensor& addmv_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha) {
  return into<&addmv_>(product(kVector, a, b).plus(c, beta, alpha).write_to(c, a, b, c), c,  //
                       c, a, b, beta, alpha);
}

Tensor& addmv_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha, Tensor& y) {
  return into<&addmv_out>(product(kVector, a, b).plus(c, beta, alpha).write_to(y, a, b, c), y,  //
                          c, a, b, beta, alpha, y);
}

Tensor int_mm(const Tensor& a, const Tensor& b) { return fresh<&int_mm>(int_product(a, b), a, b); }

Tensor& int_mm_out(const Tensor& a, const Tensor& b, Tensor& y) {
  return into<&int_mm_out>(int_product(a, b).write_to(y, a, b), y, a, b, y);
}

}  // namespace tenon::ops

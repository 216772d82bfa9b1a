// The override functions, one per row of overrides.inc; each has its operator's C++ signature.
// An operator's contract is ATen's; what the fast path takes is said in its row.
#pragma once
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Scalar.h>

#include <optional>
#include <tuple>

namespace tenon::ops {

using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;

// Element-wise functions of one operand.
Tensor exp(const Tensor& x);
Tensor& exp_(Tensor& x);
Tensor& exp_out(const Tensor& x, Tensor& y);

// softmax and log_softmax: the leaves of softmax.int, log_softmax.int and their gradients.
Tensor softmax(const Tensor& x, int64_t dim, bool half_to_float);
Tensor& softmax_out(const Tensor& x, int64_t dim, bool half_to_float, Tensor& y);
Tensor log_softmax(const Tensor& x, int64_t dim, bool half_to_float);
Tensor& log_softmax_out(const Tensor& x, int64_t dim, bool half_to_float, Tensor& y);
Tensor softmax_backward(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type);
Tensor& softmax_backward_out(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type,
                             Tensor& dx);
Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type);
Tensor& log_softmax_backward_out(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type,
                                 Tensor& dx);
// Attention.
std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu(
    const Tensor& q, const Tensor& k, const Tensor& v, double dropout_p, bool is_causal,
    const std::optional<Tensor>& attn_mask, std::optional<double> scale);
// Matrix products.
Tensor mm(const Tensor& a, const Tensor& b);
Tensor& mm_out(const Tensor& a, const Tensor& b, Tensor& y);
Tensor addmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha);
Tensor& addmm_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha);
Tensor& addmm_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha, Tensor& y);
Tensor bmm(const Tensor& a, const Tensor& b);
Tensor& bmm_out(const Tensor& a, const Tensor& b, Tensor& y);
Tensor baddbmm(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha);
Tensor& baddbmm_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                 const Scalar& alpha);
Tensor& baddbmm_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                    const Scalar& alpha, Tensor& y);
Tensor mv(const Tensor& a, const Tensor& b);
Tensor int_mm(const Tensor& a, const Tensor& b);
Tensor& int_mm_out(const Tensor& a, const Tensor& b, Tensor& y);
Tensor addmv(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
             const Scalar& alpha);
Tensor& addmv_(Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
               const Scalar& alpha);
Tensor& addmv_out(const Tensor& c, const Tensor& a, const Tensor& b, const Scalar& beta,
                  const Scalar& alpha, Tensor& y);
// Reductions (reduce.cpp, argmax.cpp).
Tensor sum(const Tensor& x, std::optional<ScalarType> dtype);
Tensor sum_dim(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
               std::optional<ScalarType> dtype);
Tensor& sum_out(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                std::optional<ScalarType> dtype, Tensor& y);
Tensor mean(const Tensor& x, std::optional<ScalarType> dtype);
Tensor mean_dim(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                std::optional<ScalarType> dtype);
Tensor& mean_out(const Tensor& x, at::OptionalIntArrayRef dims, bool keepdim,
                 std::optional<ScalarType> dtype, Tensor& y);
Tensor amax(const Tensor& x, IntArrayRef dims, bool keepdim);
Tensor& amax_out(const Tensor& x, IntArrayRef dims, bool keepdim, Tensor& y);
Tensor argmax(const Tensor& x, std::optional<int64_t> dim, bool keepdim);
Tensor& argmax_out(const Tensor& x, std::optional<int64_t> dim, bool keepdim, Tensor& index);
std::tuple<Tensor, Tensor> max_dim(const Tensor& x, int64_t dim, bool keepdim);
std::tuple<Tensor&, Tensor&> max_out(const Tensor& x, int64_t dim, bool keepdim, Tensor& value,
                                     Tensor& index);

// Data movement (masked_fill.cpp, cat.cpp, index_select.cpp).
Tensor masked_fill(const Tensor& x, const Tensor& mask, const Scalar& value);
Tensor masked_fill_tensor(const Tensor& x, const Tensor& mask, const Tensor& value);
Tensor& masked_fill_(Tensor& x, const Tensor& mask, const Scalar& value);
Tensor& masked_fill_tensor_(Tensor& x, const Tensor& mask, const Tensor& value);
Tensor cat(const at::ITensorListRef& tensors, int64_t dim);
Tensor& cat_out(const at::ITensorListRef& tensors, int64_t dim, Tensor& y);
Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
Tensor& index_select_out(const Tensor& x, int64_t dim, const Tensor& index, Tensor& y);
Tensor embedding(const Tensor& weight, const Tensor& index, int64_t padding, bool scale_grad,
                 bool sparse);

}  // namespace tenon::ops

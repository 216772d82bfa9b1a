// The override functions, one per row of overrides.inc; each has its operator's C++ signature.
// An operator's contract is ATen's; what the fast path takes is said in its row. Where the schema
// has SymInt the function has it too: a stock kernel of symbolic signature is then called directly,
// not boxed.
#pragma once
#include <ATen/core/IListRef.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/Layout.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/util/string_view.h>

#include <optional>
#include <tuple>

namespace tenon::ops {

using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;

// Element-wise functions of one operand, and pow with a number.
Tensor relu(const Tensor& x);
Tensor& relu_(Tensor& x);
Tensor& relu_out(const Tensor& x, Tensor& y);
Tensor exp(const Tensor& x);
Tensor& exp_(Tensor& x);
Tensor& exp_out(const Tensor& x, Tensor& y);
Tensor tanh(const Tensor& x);
Tensor& tanh_(Tensor& x);
Tensor& tanh_out(const Tensor& x, Tensor& y);
Tensor sigmoid(const Tensor& x);
Tensor& sigmoid_(Tensor& x);
Tensor& sigmoid_out(const Tensor& x, Tensor& y);
Tensor silu(const Tensor& x);
Tensor& silu_(Tensor& x);
Tensor& silu_out(const Tensor& x, Tensor& y);
Tensor rsqrt(const Tensor& x);
Tensor& rsqrt_(Tensor& x);
Tensor& rsqrt_out(const Tensor& x, Tensor& y);
Tensor gelu(const Tensor& x, c10::string_view approximate);
Tensor& gelu_(Tensor& x, c10::string_view approximate);
Tensor& gelu_out(const Tensor& x, c10::string_view approximate, Tensor& y);
Tensor pow(const Tensor& x, const Scalar& exponent);
Tensor& pow_(Tensor& x, const Scalar& exponent);
Tensor& pow_out(const Tensor& x, const Scalar& exponent, Tensor& y);

// Backward of the activations.
Tensor threshold_backward(const Tensor& dy, const Tensor& x, const Scalar& threshold);
Tensor& threshold_backward_out(const Tensor& dy, const Tensor& x, const Scalar& threshold,
                               Tensor& dx);
Tensor sigmoid_backward(const Tensor& dy, const Tensor& y);
Tensor& sigmoid_backward_out(const Tensor& dy, const Tensor& y, Tensor& dx);
Tensor tanh_backward(const Tensor& dy, const Tensor& y);
Tensor& tanh_backward_out(const Tensor& dy, const Tensor& y, Tensor& dx);
Tensor silu_backward(const Tensor& dy, const Tensor& x);
Tensor& silu_backward_out(const Tensor& dy, const Tensor& x, Tensor& dx);
Tensor gelu_backward(const Tensor& dy, const Tensor& x, c10::string_view approximate);
Tensor& gelu_backward_out(const Tensor& dy, const Tensor& x, c10::string_view approximate,
                          Tensor& dx);

// Element-wise arithmetic.
Tensor add(const Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor& add_(Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor& add_out(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& y);
Tensor sub(const Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor& sub_(Tensor& a, const Tensor& b, const Scalar& alpha);
Tensor& sub_out(const Tensor& a, const Tensor& b, const Scalar& alpha, Tensor& y);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor& mul_(Tensor& a, const Tensor& b);
Tensor& mul_out(const Tensor& a, const Tensor& b, Tensor& y);
Tensor div(const Tensor& a, const Tensor& b);
Tensor& div_(Tensor& a, const Tensor& b);
Tensor& div_out(const Tensor& a, const Tensor& b, Tensor& y);

// Copies between dtypes and layouts.
Tensor& copy_(Tensor& y, const Tensor& x, bool non_blocking);
Tensor to_copy(const Tensor& x, std::optional<ScalarType> type, std::optional<at::Layout> layout,
               std::optional<at::Device> device, std::optional<bool> pin_memory, bool non_blocking,
               std::optional<at::MemoryFormat> format);

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
Tensor dot(const Tensor& x, const Tensor& y);
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
Tensor embedding(const Tensor& weight, const Tensor& index, c10::SymInt padding, bool scale_grad,
                 bool sparse);

// The norms: native_layer_norm is layer_norm's leaf; rms_norm is composite.
std::tuple<Tensor, Tensor, Tensor> layer_norm(const Tensor& x, c10::SymIntArrayRef sizes,
                                              const std::optional<Tensor>& weight,
                                              const std::optional<Tensor>& bias, double eps);
std::tuple<Tensor, Tensor, Tensor> layer_norm_backward(const Tensor& dy, const Tensor& x,
                                                       c10::SymIntArrayRef sizes,
                                                       const Tensor& mean, const Tensor& rstd,
                                                       const std::optional<Tensor>& weight,
                                                       const std::optional<Tensor>& bias,
                                                       std::array<bool, 3> wanted);
Tensor rms_norm(c10::DispatchKeySet keys, const Tensor& x, c10::SymIntArrayRef sizes,
                const std::optional<Tensor>& weight, std::optional<double> eps);

// Convolution, and batch_norm in inference.
Tensor convolution(const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias,
                   c10::SymIntArrayRef stride, c10::SymIntArrayRef padding,
                   c10::SymIntArrayRef dilation, bool transposed,
                   c10::SymIntArrayRef output_padding, c10::SymInt groups, bool benchmark,
                   bool deterministic, bool cudnn_enabled, bool allow_tf32);
std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& x, const std::optional<Tensor>& weight,
                                              const std::optional<Tensor>& bias,
                                              const std::optional<Tensor>& mean,
                                              const std::optional<Tensor>& var, bool training,
                                              double momentum, double eps);
std::tuple<Tensor, Tensor, Tensor> batch_norm_no_training(const Tensor& x,
                                                          const std::optional<Tensor>& weight,
                                                          const std::optional<Tensor>& bias,
                                                          const Tensor& mean, const Tensor& var,
                                                          double momentum, double eps);

// Pooling.
std::tuple<Tensor, Tensor> max_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride,
                                      IntArrayRef padding, IntArrayRef dilation, bool ceil);
std::tuple<Tensor&, Tensor&> max_pool2d_out(const Tensor& x, IntArrayRef kernel, IntArrayRef stride,
                                            IntArrayRef padding, IntArrayRef dilation, bool ceil,
                                            Tensor& y, Tensor& index);
Tensor avg_pool2d(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                  bool ceil, bool count_padding, std::optional<int64_t> divisor);
Tensor& avg_pool2d_out(const Tensor& x, IntArrayRef kernel, IntArrayRef stride, IntArrayRef padding,
                       bool ceil, bool count_padding, std::optional<int64_t> divisor, Tensor& y);
Tensor adaptive_avg_pool2d(const Tensor& x, c10::SymIntArrayRef out);

}  // namespace tenon::ops

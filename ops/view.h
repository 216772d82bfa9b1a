// The one place where strides, dtypes and overlap of tensors are judged.
#pragma once
#include <ATen/EmptyTensor.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "ops/override.h"

namespace tenon::ops {

// 0 f32, 1 bf16, 2 f16, -1 everything else: the index of a kernel among an operator's three.
inline int float_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return 0;
    case at::kBFloat16:
      return 1;
    case at::kHalf:
      return 2;
    default:
      return -1;
  }
}

template <class T>
bool has_names(const T& t) {  // named tensors left torch after 2.6
  if constexpr (requires { t.has_names(); }) return t.has_names();
  return false;
}

// The tensor, or an undefined one.
inline const at::Tensor& value(const std::optional<at::Tensor>& t) {
  static const at::Tensor none;
  return t ? *t : none;
}

// A strided CPU tensor whose memory holds its values: not sparse, quantised or MKL-DNN, no pending
// conjugation or negation, no names.
inline bool plain(const at::Tensor& t) {
  using c10::DispatchKey;
  const c10::DispatchKeySet keys = t.key_set();
  constexpr c10::DispatchKeySet kPending(
      {DispatchKey::Conjugate, DispatchKey::Negative, DispatchKey::ZeroTensor});
  return keys.has_backend(c10::BackendComponent::CPUBit) && keys.has(DispatchKey::Dense) &&
         (keys & kPending).empty() && !has_names(t);
}

// Every element's place in memory is used once and without a gap, in some order of dimensions.
inline bool dense(const at::Tensor& t) { return t.is_non_overlapping_and_dense(); }

// Contiguous, and the strides of dimensions of size 1 are what a new tensor's would be.
inline bool like_new(const at::Tensor& t) {
  if (!t.is_contiguous()) return false;
  int64_t step = 1;
  for (int64_t d = t.dim() - 1; d >= 0; step *= t.size(d--))
    if (t.stride(d) != step) return false;
  return true;
}

// Element i of a's memory and of b's are the same element.
inline bool same_layout(const at::Tensor& a, const at::Tensor& b) {
  return a.sizes() == b.sizes() && a.strides() == b.strides();
}

// True when y can be written while x is read element by element at the same index: they are the
// same memory exactly, or share none.
inline bool may_write(const at::Tensor& y, const at::Tensor& x) {
  const auto overlap = at::get_overlap_status(y, x);
  return overlap == at::MemOverlapStatus::No || overlap == at::MemOverlapStatus::Full;
}
inline bool disjoint(const at::Tensor& y, const at::Tensor& x) {
  return at::get_overlap_status(y, x) == at::MemOverlapStatus::No;
}

// Uninitialised tensors, without the dispatcher. For outputs that are written whole.
inline at::Tensor empty_cpu(at::IntArrayRef sizes, at::ScalarType type) {
  return at::Tensor(at::detail::empty_cpu(sizes, type));
}
inline at::Tensor empty_strided_cpu(at::IntArrayRef sizes, at::IntArrayRef strides,
                                    at::ScalarType type) {
  return at::Tensor(at::detail::empty_strided_cpu(sizes, strides, type));
}
// The layout of a dense tensor is kept, as TensorIterator keeps it.
inline at::Tensor empty_like_dense(const at::Tensor& x) {
  return x.is_contiguous() ? empty_cpu(x.sizes(), x.scalar_type())
                           : empty_strided_cpu(x.sizes(), x.strides(), x.scalar_type());
}

template <class T>
const T* data(const at::Tensor& t) {
  return static_cast<const T*>(t.const_data_ptr());
}
template <class T>
T* mutable_data(const at::Tensor& t) {
  return static_cast<T*>(t.mutable_data_ptr());
}

}  // namespace tenon::ops

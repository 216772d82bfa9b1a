// What the attention kernels of this folder share: the softmax of one row over one block of keys,
// and the register tile of their products.
#pragma once
#include "isa/attention_rows.h"
#include "isa/rvv/fold.h"

namespace tenon {
namespace {

template <class V>
TENON_INLINE V at_least(V x, float low) {
  return select(lt(x, Constant{low}), Constant{low}, x);
}
template <class V>
TENON_INLINE V shift_to_exponent(V x) {
  return Width<V>::of(__riscv_vsll(Width<V>::bits(x), 23, lanes<V>()));
}

}  // namespace
}  // namespace tenon

#include "isa/attention_math.h"

namespace tenon {
namespace {

// Where row i of an operand is, and the elements of row r of q, out, lse and mask.
template <class T>
TENON_INLINE T* row_at(const void* p, ptrdiff_t stride, size_t i) {
  return byte_offset(static_cast<T*>(const_cast<void*>(p)), static_cast<ptrdiff_t>(i) * stride);
}
template <class T>
TENON_INLINE T* row_of(const AttentionTask& t, const void* p, ptrdiff_t position,
                       ptrdiff_t in_group, size_t r) {
  return row_at<T>(row_at<T>(p, position, r / t.group), in_group, r % t.group);
}

// c[i] = (kAdd ? c[i] : 0) + sum over k < depth of a(i, k) b[k] for kRows <= 6 rows, vl columns of
// b and c. a(i, k) is at a + i * kRow + k * kStep elements; rows of b are
// b_step bytes apart. Registers with V of m4: six accumulators, one vector of b.
template <class V, size_t kRows, size_t kRow, size_t kStep, bool kAdd, class B>
__attribute__((noinline)) void multiply(size_t depth, const float* a, const B* b, ptrdiff_t b_step,
                                        float* c, size_t c_row, size_t vl) {
  // Rows on both sides of the pointer are within the reach of a load's offset.
  a += 2 * kRow;
  const float* end = a + depth * kStep;
  // One step for all, which comes before the loads: clang sets vl anew after any.
  __asm__("" : "+r"(a), "+r"(end), "+r"(vl));
  const auto x = [&a](ptrdiff_t i) __attribute__((always_inline)) {
    return a[(i - 2) * static_cast<ptrdiff_t>(kRow)];
  };
  const auto start = [=](size_t i) __attribute__((always_inline)) {
    return kAdd && i < kRows ? load<V>(c + i * c_row, vl) : Width<V>::splat(0.0f, vl);
  };
  V s0 = start(0), s1 = start(1), s2 = start(2), s3 = start(3), s4 = start(4), s5 = start(5);
#pragma GCC unroll 2
  for (; a != end; a += kStep, b = byte_offset(b, b_step)) {
    const V vb = load<V>(b, vl);
    s0 = __riscv_vfmacc(s0, x(0), vb, vl);
    if constexpr (kRows > 1) s1 = __riscv_vfmacc(s1, x(1), vb, vl);
    if constexpr (kRows > 2) s2 = __riscv_vfmacc(s2, x(2), vb, vl);
    if constexpr (kRows > 3) s3 = __riscv_vfmacc(s3, x(3), vb, vl);
    if constexpr (kRows > 4) s4 = __riscv_vfmacc(s4, x(4), vb, vl);
    if constexpr (kRows > 5) s5 = __riscv_vfmacc(s5, x(5), vb, vl);
  }
  store(c, s0, vl);
  if constexpr (kRows > 1) store(c + c_row, s1, vl);
  if constexpr (kRows > 2) store(c + 2 * c_row, s2, vl);
  if constexpr (kRows > 3) store(c + 3 * c_row, s3, vl);
  if constexpr (kRows > 4) store(c + 4 * c_row, s4, vl);
  if constexpr (kRows > 5) store(c + 5 * c_row, s5, vl);
}

// The smaller of what is left and what a V holds.
template <class V>
TENON_INLINE size_t some_of(size_t left) {
  return left < lanes<V>() ? left : lanes<V>();
}

// s[k] += mask[k] where the task has a mask; s is row r's from `key` on, n <= all keys.
template <class T>
TENON_INLINE void add_mask(const AttentionTask& t, size_t r, size_t key, float* s, size_t n) {
  const auto sum = [](auto x, auto m) __attribute__((always_inline)) { return add(x, m); };
  if (t.mask == nullptr) return;
  if (t.mask_f32)
    map<Many>(n, s, row_of<const float>(t, t.mask, t.mask_position, t.mask_group, r) + key, s, sum);
  else
    map<Many>(n, s, row_of<const T>(t, t.mask, t.mask_position, t.mask_group, r) + key, s, sum);
}

// The largest number among s[0..n) and `start`; vfmax takes no NaN for one.
TENON_INLINE float max_of_numbers(const float* s, size_t n, float start) {
  Few top = Width<Few>::splat(start);
  for (size_t k = 0, vl; k < n; k += vl) {
    vl = some_of<Few>(n - k);
    top = __riscv_vfmax_tu(top, top, load<Few>(s + k, vl), vl);
  }
  const auto lowest = __riscv_vfmv_s_f_f32m1(start, 1);
  return __riscv_vfmv_f(__riscv_vfredmax(top, lowest, some_of<Few>(n)));
}

template <class V>
TENON_INLINE void exponentials(float* s, size_t n, float zero) {
  map<V>(n, s, s, [zero](auto x) __attribute__((always_inline)) {
    return exp_not_positive(sub(x, Constant{zero}));
  });
}

// s[k] = e^(s[k] - zero), 0 <= k < n, n a multiple of 16; returns the sum.
TENON_INLINE float exp_row(float* s, size_t n, float zero) {
  // Long vectors would work on lanes that are not there.
  if (n <= lanes<Many>())
    exponentials<Many>(s, n, zero);
  else
    exponentials<Few>(s, n, zero);
  vfloat32m4_t sum = Width<vfloat32m4_t>::splat(0.0f, kSumLanes);
  for (const float* end = s + n; s != end; s += kSumLanes)
    sum = __riscv_vfadd(sum, load<vfloat32m4_t>(s, kSumLanes), kSumLanes);
  return fold_16<Add>(sum);
}

TENON_INLINE float exp_scalar(float x) {
  return __riscv_vfmv_f(exp_not_positive(Width<vfloat32m1_t>::splat(x)));
}

// x[d] *= factor.
TENON_INLINE void scale_row(size_t n, float* x, float factor) {
  map<Few>(n, x, x,
           [=](auto v) __attribute__((always_inline)) { return mul(v, Constant{factor}); });
}

// out and lse of row r from its unnormalised output, maximum and sum.
template <class T>
TENON_INLINE void finish_row(const AttentionTask& t, size_t r, const float* o, float max,
                             float sum) {
  T* out = row_of<T>(t, t.out, t.out_position, t.out_group, r);
  const bool any = max != kNoScore || sum != 0.0f;  // NaN alone: no maximum, but a sum
  const float factor = 1.0f / sum;
  if (any)
    map<Many>(t.head, o, out,
              [=](auto v) __attribute__((always_inline)) { return mul(v, Constant{factor}); });
  else
    std::memset(out, 0, t.head * sizeof(T));
  *row_of<float>(t, t.lse, t.lse_position, t.lse_group, r) = any ? max + log_of_sum(sum) : 0.0f;
}

}  // namespace
}  // namespace tenon

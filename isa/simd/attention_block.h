// The softmax of one row over one block of keys, shared by the attention kernels of this folder.
#pragma once
#include "isa/attention_rows.h"
#include "isa/simd/vec.h"

namespace tenon {
namespace {

TENON_INLINE F32 at_least(F32 x, float low) { return xsimd::max(F32(low), x); }  // x where NaN
TENON_INLINE F32 shift_to_exponent(F32 x) {
  return xsimd::bitwise_cast<float>(xsimd::bitwise_cast<int32_t>(x) << 23);
}

}  // namespace
}  // namespace tenon

#include "isa/attention_math.h"

namespace tenon {
namespace {

constexpr size_t kSums = kSumLanes / kLanes;

TENON_INLINE float fold_16(const F32 (&acc)[kSums]) { return add_4(fold_to_4(acc)); }

// Four such sums at once, as the four lanes of the result.
TENON_INLINE F32x4 fold_four(const F32 (&acc)[4][kSums]) {
  const F32x4 a = fold_to_4(acc[0]), b = fold_to_4(acc[1]);
  const F32x4 c = fold_to_4(acc[2]), d = fold_to_4(acc[3]);
  return add_each_4(a, b, c, d);
}

// s[k] += mask[k], 0 <= k < n. s may be written up to the next multiple of 16.
template <class M>
TENON_INLINE void add_mask(float* s, const M* mask, size_t n) {
  size_t k = 0;
  for (; k + kLanes <= n; k += kLanes) store(s + k, load(s + k) + load(mask + k));
  if (k < n) store(s + k, load(s + k) + load_n(mask + k, n - k));
}

// A row's mask where the task has one.
template <class T>
TENON_INLINE void add_mask(const AttentionTask& t, size_t position, size_t in_group, size_t key,
                           float* s, size_t n) {
  if (t.mask == nullptr) return;
  const char* row = static_cast<const char*>(t.mask) +
                    static_cast<ptrdiff_t>(position) * t.mask_position +
                    static_cast<ptrdiff_t>(in_group) * t.mask_group;
  if (t.mask_f32) return add_mask(s, reinterpret_cast<const float*>(row) + key, n);
  add_mask(s, reinterpret_cast<const T*>(row) + key, n);
}

// The largest number among s[0..n), n a multiple of 16, and `start`. NaN is not a number here.
TENON_INLINE float max_of_numbers(const float* s, size_t n, float start) {
  F32 a(start), b(start);
  for (size_t k = 0; k < n; k += 2 * kLanes) {
    a = max_number(load(s + k), a);
    if (k + kLanes < n) b = max_number(load(s + k + kLanes), b);
  }
  alignas(64) float lane[kLanes];
  max_number(a, b).store_aligned(lane);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i)
      if (lane[i] < lane[i + half]) lane[i] = lane[i + half];
  return lane[0];
}

// s[k] = e^(s[k] - zero), 0 <= k < n, n a multiple of 16; returns the sum.
TENON_INLINE float exp_row(float* s, size_t n, float zero) {
  F32 sum[kSums];
#pragma GCC unroll 16
  for (F32& x : sum) x = F32(0.0f);
  for (size_t k = 0; k < n; k += kSumLanes)
#pragma GCC unroll 16
    for (size_t g = 0; g < kSums; ++g) {
      const F32 p = exp_not_positive(load(s + k + g * kLanes) - F32(zero));
      store(s + k + g * kLanes, p);
      sum[g] = sum[g] + p;
    }
  return fold_16(sum);
}

// y[d] = x[d] * factor in the storage type.
template <class T>
TENON_INLINE void store_row(size_t n, const float* x, float factor, T* y) {
  map(n, x, y, [factor](F32 v) { return v * F32(factor); });
}

TENON_INLINE float exp_scalar(float x) {
  alignas(64) float lane[kLanes];
  exp_not_positive(F32(x)).store_aligned(lane);
  return lane[0];
}

// Where row r's q, out and lse are.
TENON_INLINE const char* at(const void* p, ptrdiff_t position, ptrdiff_t in_group, size_t l,
                            size_t g) {
  return static_cast<const char*>(p) + static_cast<ptrdiff_t>(l) * position +
         static_cast<ptrdiff_t>(g) * in_group;
}
TENON_INLINE char* at(void* p, ptrdiff_t position, ptrdiff_t in_group, size_t l, size_t g) {
  return static_cast<char*>(p) + static_cast<ptrdiff_t>(l) * position +
         static_cast<ptrdiff_t>(g) * in_group;
}

// out and lse of row r from its unnormalised output, maximum and sum.
template <class T>
TENON_INLINE void finish_row(const AttentionTask& t, size_t r, const float* o, float max,
                             float sum) {
  const size_t l = r / t.group, g = r % t.group;
  T* out = reinterpret_cast<T*>(at(t.out, t.out_position, t.out_group, l, g));
  float* lse = reinterpret_cast<float*>(at(t.lse, t.lse_position, t.lse_group, l, g));
  const bool any = max != kNoScore || sum != 0.0f;  // NaN alone: no maximum, but a sum
  if (any) {
    store_row(t.head, o, 1.0f / sum, out);
  } else {
    std::memset(out, 0, t.head * sizeof(T));
  }
  *lse = any ? max + log_of_sum(sum) : 0.0f;
}

}  // namespace
}  // namespace tenon

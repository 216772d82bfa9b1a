// The softmax of one row over one block of keys, shared by the attention kernels of this folder.
#pragma once
#include "isa/attention.h"
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

// The 16 lanes as 8: lane i + lane i + 8.
TENON_INLINE __m256 fold_to_8(const F32 (&acc)[kSums]) {
#if defined(__AVX512F__)
  const __m512 x = acc[0];
  return _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
#else
  return acc[0] + acc[1];
#endif
}

TENON_INLINE __m128 fold_to_4(__m256 x) {
  return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}

TENON_INLINE float fold_16(const F32 (&acc)[kSums]) {
  const __m128 four = fold_to_4(fold_to_8(acc));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Four such sums at once, as the four lanes of the result.
TENON_INLINE __m128 fold_four(const F32 (&acc)[4][kSums]) {
  const __m128 a = fold_to_4(fold_to_8(acc[0])), b = fold_to_4(fold_to_8(acc[1]));
  const __m128 c = fold_to_4(fold_to_8(acc[2])), d = fold_to_4(fold_to_8(acc[3]));
  const __m128 ab = _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a));
  const __m128 cd = _mm_add_ps(_mm_movelh_ps(c, d), _mm_movehl_ps(d, c));
  return _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd));
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

// Scores from n to the next multiple of 16, and up to `end`, become -infinity.
TENON_INLINE void close_row(float* s, size_t n, size_t end) {
  for (; n < end; ++n) s[n] = kNoScore;
}

// The largest number among s[0..n), n a multiple of 16, and `start`. NaN is not a number here.
TENON_INLINE float max_of_numbers(const float* s, size_t n, float start) {
  F32 a(start), b(start);
  for (size_t k = 0; k < n; k += 2 * kLanes) {
    a = xsimd::max(load(s + k), a);  // the second where either is NaN
    if (k + kLanes < n) b = xsimd::max(load(s + k + kLanes), b);
  }
  alignas(64) float lane[kLanes];
  xsimd::max(a, b).store_aligned(lane);
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

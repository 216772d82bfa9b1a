// Attention of few query rows: one chunk of keys to partial results, and the merge of partials.
// isa/attention.h says what and in which order.
//
// Keys and values are read once, in storage order, for up to four rows at a time: memory is the
// limit. Scores hold 4 (row, key) pairs x 16 lanes in registers; outputs hold 8 vectors.
#include "isa/simd/attention_block.h"

namespace tenon {
namespace {

constexpr size_t kRowsAtOnce = 4;
constexpr size_t kKeysPerPass = 32;  // values of a pass stay in the first-level cache

// Rows [row, row + R) of a task over its keys.
struct Chunk {
  size_t row, keys, q_stride;
  float* q;  // scaled, zero beyond the head, q_stride apart
  float* s;  // scores, kDecodeKeys apart
};

template <class T>
TENON_INLINE const T* row_at(const void* p, ptrdiff_t stride, size_t i) {
  return reinterpret_cast<const T*>(static_cast<const char*>(p) +
                                    static_cast<ptrdiff_t>(i) * stride);
}

template <class T>
TENON_INLINE void load_query(const AttentionTask& t, size_t r, size_t padded, float* q) {
  const T* from =
      reinterpret_cast<const T*>(at(t.q, t.q_position, t.q_group, r / t.group, r % t.group));
  map(t.head, from, q, [&t](F32 v) { return v * F32(t.scale); });
  for (size_t d = t.head; d < padded; ++d) q[d] = 0.0f;
}

// acc[i] += q of row i / kKeys times key i % kKeys, 16 elements from d on, `n` of them in the key.
template <int kRows, int kKeys, bool kTail, class T>
TENON_INLINE void multiply_16(const Chunk& c, const T* const (&key)[kKeys], size_t d, size_t n,
                              F32 (&acc)[4][kSums]) {
#pragma GCC unroll 16
  for (size_t g = 0; g < kSums; ++g) {
    const size_t at = g * kLanes;
    if (kTail && at >= n) return;
    F32 x[kKeys];
#pragma GCC unroll 16
    for (int j = 0; j < kKeys; ++j)
      x[j] = kTail && at + kLanes > n ? load_n(key[j] + d + at, n - at) : load(key[j] + d + at);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const F32 q = load(c.q + static_cast<size_t>(i) * c.q_stride + d + at);
#pragma GCC unroll 16
      for (int j = 0; j < kKeys; ++j) acc[i * kKeys + j][g] = fma(q, x[j], acc[i * kKeys + j][g]);
    }
  }
}

template <int kRows, int kKeys, class T>
TENON_INLINE void scores_of(const Chunk& c, const T* const (&key)[kKeys], size_t head,
                            float* four) {
  F32 acc[4][kSums];
#pragma GCC unroll 16
  for (auto& pair : acc)
#pragma GCC unroll 16
    for (F32& x : pair) x = F32(0.0f);
  size_t d = 0;
  for (; d + kSumLanes <= head; d += kSumLanes)
    multiply_16<kRows, kKeys, false>(c, key, d, kSumLanes, acc);
  if (d < head) multiply_16<kRows, kKeys, true>(c, key, d, head - d, acc);
  store_4(four, fold_four(acc));
}

template <int kRows, class T>
TENON_INLINE void scores(const AttentionTask& t, const Chunk& c) {
  constexpr int kKeys = kRows == 1 ? 4 : kRows == 2 ? 2 : 1;
  for (size_t k = 0; k < c.keys; k += kKeys) {
    const T* key[kKeys];
#pragma GCC unroll 16
    for (size_t j = 0; j < kKeys; ++j)  // beyond the last key: the last again, not stored
      key[j] = row_at<T>(t.k, t.k_key, t.key_begin + (k + j < c.keys ? k + j : c.keys - 1));
    float four[4];
    scores_of<kRows, kKeys>(c, key, t.head, four);
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (size_t j = 0; j < kKeys; ++j)
        if (k + j < c.keys) c.s[i * kDecodeKeys + k + j] = four[i * kKeys + j];
  }
}

// o[i][d...] += sum over keys [begin, end) of p[i][k] v[k][d...], kVectors vectors from d on, the
// last of them `n` elements long.
template <int kRows, int kVectors, bool kTail, class T>
TENON_INLINE void accumulate(const AttentionTask& t, const Chunk& c, size_t begin, size_t end,
                             size_t d, size_t n, float* o, size_t o_stride) {
  F32 acc[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j) acc[i][j] = load(o + i * o_stride + d + j * kLanes);
  for (size_t k = begin; k < end; ++k) {
    const T* v = row_at<T>(t.v, t.v_key, t.key_begin + k) + d;
    F32 x[kVectors];
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j)
      x[j] = kTail ? load_n(v + j * kLanes, n) : load(v + j * kLanes);
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) {
      const F32 p(c.s[i * kDecodeKeys + k]);
#pragma GCC unroll 16
      for (size_t j = 0; j < kVectors; ++j) acc[i][j] = fma(p, x[j], acc[i][j]);
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j) store(o + i * o_stride + d + j * kLanes, acc[i][j]);
}

template <int kRows, class T>
TENON_INLINE void outputs(const AttentionTask& t, const Chunk& c, float* o, size_t o_stride) {
  constexpr int kVectors = kRows == 1 ? 8 : kRows == 2 ? 4 : 2;
  for (size_t begin = 0; begin < c.keys; begin += kKeysPerPass) {
    const size_t end = begin + kKeysPerPass < c.keys ? begin + kKeysPerPass : c.keys;
    size_t d = 0;
    for (; d + kVectors * kLanes <= t.head; d += kVectors * kLanes)
      accumulate<kRows, kVectors, false, T>(t, c, begin, end, d, kLanes, o, o_stride);
    for (; d + kLanes <= t.head; d += kLanes)
      accumulate<kRows, 1, false, T>(t, c, begin, end, d, kLanes, o, o_stride);
    if (d < t.head) accumulate<kRows, 1, true, T>(t, c, begin, end, d, t.head - d, o, o_stride);
  }
}

// Scores of row i of the group become weights; maximum and sum go behind its outputs.
template <class T>
TENON_INLINE void weigh(const AttentionTask& t, const Chunk& c, size_t i, float* state) {
  float* s = c.s + i * kDecodeKeys;
  const size_t r = c.row + i, padded = round_up(c.keys, kSumLanes);
  add_mask<T>(t, r / t.group, r % t.group, t.key_begin, s, c.keys);
  close_row(s, visible(t, r, t.key_begin, c.keys), padded);
  state[0] = max_of_numbers(s, padded, kNoScore);
  state[1] = exp_row(s, padded, origin(state[0]));
}

template <int kRows, class T>
void decode_rows(const AttentionTask& t, size_t row) {
  const size_t stride = attention_partial_stride(t.head), padded = stride - 16;
  Chunk c{row, t.key_end - t.key_begin, padded, t.scratch, t.scratch + kRowsAtOnce * padded};
  float* o = t.partial + row * stride;
  for (size_t i = 0; i < kRows; ++i) {
    load_query<T>(t, row + i, padded, c.q + i * padded);
    for (size_t d = 0; d < padded; ++d) o[i * stride + d] = 0.0f;
  }
  scores<kRows, T>(t, c);
  for (size_t i = 0; i < kRows; ++i) weigh<T>(t, c, i, o + i * stride + padded);
  outputs<kRows, T>(t, c, o, stride);
}

template <class T>
TENON_INLINE void decode(const AttentionTask& t) {
  by_fours(t.group * t.positions, [&](auto rows, size_t r) { decode_rows<rows, T>(t, r); });
}

// The chunks' partials of one row, rescaled to the largest maximum and added in order.
template <class T>
TENON_INLINE void merge_row(const AttentionTask& t, size_t r) {
  const size_t stride = attention_partial_stride(t.head), padded = stride - 16;
  const size_t chunk = stride * t.group * t.positions;
  const float* first = t.partial + r * stride;
  float max = kNoScore, sum = 0.0f, *o = t.scratch;
  for (size_t i = 0; i < t.chunks; ++i) {
    const float m = first[i * chunk + padded];
    if (m > max) max = m;
  }
  for (size_t d = 0; d < padded; ++d) o[d] = 0.0f;
  for (size_t i = 0; i < t.chunks; ++i) {
    const float* p = first + i * chunk;
    const float weight = exp_scalar(p[padded] - origin(max));
    sum = __builtin_fmaf(weight, p[padded + 1], sum);
    for (size_t d = 0; d < padded; d += kLanes)
      store(o + d, fma(F32(weight), load(p + d), load(o + d)));
  }
  finish_row<T>(t, r, o, max, sum);
}

template <class T>
TENON_INLINE void merge(const AttentionTask& t) {
  for (size_t r = 0; r < t.group * t.positions; ++r) merge_row<T>(t, r);
}

}  // namespace

#define DECODE(name, T)                                                                 \
  void TENON_KERNEL(attention_decode_f32_##name)(const AttentionTask& task) noexcept {  \
    decode<T>(task);                                                                    \
  }                                                                                     \
  void TENON_KERNEL(attention_merge_##name##_f32)(const AttentionTask& task) noexcept { \
    merge<T>(task);                                                                     \
  }

DECODE(f32, float)
DECODE(bf16, bf16)
DECODE(f16, f16)

}  // namespace tenon

// Attention of few query rows for RVV: one chunk of keys to partial results, and the merge of
// partials. isa/attention.h says what and in which order.
//
// Keys and values are read once, in storage order, for up to four rows at a time. Scores hold four
// (row, key) pairs of 16 lanes, an m4 group each at VLEN 128 and part of one beyond: two rows and
// two keys, which with their operands fill 32 registers, or one row and four keys. Outputs run
// along the head over as many elements as VLEN allows.
#include "isa/rvv/attention_block.h"

namespace tenon {
namespace {

using Lanes = vfloat32m4_t;
constexpr size_t kRowsAtOnce = 4;
constexpr size_t kKeysPerPass = 32;  // values of a pass stay in the first-level cache

// Rows [row, row + R) of a task over its keys.
struct Chunk {
  size_t row, keys, q_stride;
  float* q;  // scaled, q_stride apart
  float* s;  // scores, kDecodeKeys apart
};

template <class T>
TENON_INLINE void load_query(const AttentionTask& t, size_t r, float* q) {
  const float scale = t.scale;
  map<Many>(t.head, row_of<const T>(t, t.q, t.q_position, t.q_group, r), q,
            [=](auto v) __attribute__((always_inline)) { return mul(v, Constant{scale}); });
}

// The lanes of n <= 4 sums folded in halves, through memory: a field of a segment is one lane of
// all.
TENON_INLINE vfloat32m1_t fold_four(size_t n, Lanes s0, Lanes s1, Lanes s2, Lanes s3) {
  constexpr ptrdiff_t kApart = kSumLanes * sizeof(float);
  float lane[4 * kSumLanes];
  store(lane, s0, kSumLanes);
  if (n > 1) store(lane + kSumLanes, s1, kSumLanes);
  if (n > 2) store(lane + 2 * kSumLanes, s2, kSumLanes);
  if (n > 3) store(lane + 3 * kSumLanes, s3, kSumLanes);
  const auto low = __riscv_vlsseg8e32_v_f32m1x8(lane, kApart, n);
  const auto high = __riscv_vlsseg8e32_v_f32m1x8(lane + kSumLanes / 2, kApart, n);
#define LANE(half, l) __riscv_vget_v_f32m1x8_f32m1(half, l)
#define EIGHTH(l) __riscv_vfadd(LANE(low, l), LANE(high, l), n)
#define QUARTER(l) __riscv_vfadd(EIGHTH(l), EIGHTH(l + 4), n)
  return __riscv_vfadd(__riscv_vfadd(QUARTER(0), QUARTER(2), n),
                       __riscv_vfadd(QUARTER(1), QUARTER(3), n), n);
#undef QUARTER
#undef EIGHTH
#undef LANE
}

// What four (row, key) pairs at most read of row i and row i + 1, key k and those behind it.
template <class T>
struct Operands {
  const float* q;
  size_t q_stride;
  const T* key;
  ptrdiff_t k_key;

  TENON_INLINE_MEMBER Lanes query(size_t i, size_t d, size_t n) const {
    return load<Lanes>(q + i * q_stride + d, n);
  }
  TENON_INLINE_MEMBER Lanes element(size_t j, size_t d, size_t n) const {
    return load<Lanes>(byte_offset(key, static_cast<ptrdiff_t>(j) * k_key) + d, n);
  }
};

// Part: of the last elements, fewer than 16; the lanes beyond n stay.
template <bool kPart>
TENON_INLINE void add_products(Lanes& sum, Lanes a, Lanes b, size_t n) {
  sum = kPart ? __riscv_vfmacc_tu(sum, a, b, n) : __riscv_vfmacc(sum, a, b, n);
}

// Scores of rows from i on and keys from k on: two by two, or one by kKeys, four at most.
template <size_t kRows, size_t kKeys, class T>
TENON_INLINE void scores_of(const AttentionTask& t, const Chunk& c, size_t i, size_t k) {
  static_assert(kRows == 1 || (kRows == 2 && kKeys == 2));
  const Operands<T> x{c.q + i * c.q_stride, c.q_stride,
                      row_at<const T>(t.k, t.k_key, t.key_begin + k), t.k_key};
  Lanes s0 = Width<Lanes>::splat(0.0f, kSumLanes), s1 = s0, s2 = s0, s3 = s0;
  const auto step = [&](auto part, size_t d, size_t n) __attribute__((always_inline)) {
    constexpr bool kPart = decltype(part)::value;
    const Lanes q0 = x.query(0, d, n), k0 = x.element(0, d, n);
    add_products<kPart>(s0, q0, k0, n);
    if constexpr (kRows == 2) {
      const Lanes q1 = x.query(1, d, n);
      add_products<kPart>(s2, q1, k0, n);
      const Lanes k1 = x.element(1, d, n);
      add_products<kPart>(s1, q0, k1, n), add_products<kPart>(s3, q1, k1, n);
      return;
    }
    if constexpr (kKeys > 1) add_products<kPart>(s1, q0, x.element(1, d, n), n);
    if constexpr (kKeys > 2) add_products<kPart>(s2, q0, x.element(2, d, n), n);
    if constexpr (kKeys > 3) add_products<kPart>(s3, q0, x.element(3, d, n), n);
  };
  const size_t rest = t.head % kSumLanes, whole = t.head - rest;
  for (size_t d = 0; d != whole; d += kSumLanes) step(std::false_type{}, d, kSumLanes);
  if (rest > 0) step(std::true_type{}, whole, rest);
  const vfloat32m1_t sums = fold_four(kRows * kKeys, s0, s1, s2, s3);
  float* to = c.s + i * kDecodeKeys + k;
  store(to, sums, kKeys);
  if constexpr (kRows == 2) store(to + kDecodeKeys, __riscv_vslidedown(sums, 2, 2), 2);
}

// Four keys stay in the first-level cache for all rows.
template <size_t kRows, class T>
TENON_INLINE void scores(const AttentionTask& t, const Chunk& c) {
  size_t k = 0;
  for (; k + 4 <= c.keys; k += 4) {
    for (size_t i = 0; i + 2 <= kRows; i += 2)
      scores_of<2, 2, T>(t, c, i, k), scores_of<2, 2, T>(t, c, i, k + 2);
    if constexpr (kRows % 2 == 1) scores_of<1, 4, T>(t, c, kRows - 1, k);
  }
  for (; k < c.keys; ++k)
    for (size_t i = 0; i < kRows; ++i) scores_of<1, 1, T>(t, c, i, k);
}

// o[i][d] += sum over k of s[i][k] v[k][d].
template <size_t kRows, class T>
TENON_INLINE void outputs(const AttentionTask& t, const Chunk& c, float* o, size_t o_stride) {
  using V = std::conditional_t<kRows <= 2, vfloat32m8_t, vfloat32m4_t>;
  for (size_t k = 0; k < c.keys; k += kKeysPerPass) {
    const size_t n = c.keys - k < kKeysPerPass ? c.keys - k : kKeysPerPass;
    const T* v = row_at<const T>(t.v, t.v_key, t.key_begin + k);
    for (size_t d = 0, vl; d < t.head; d += vl) {
      vl = some_of<V>(t.head - d);
      multiply<V, kRows, kDecodeKeys, 1, true>(n, c.s + k, v + d, t.v_key, o + d, o_stride, vl);
    }
  }
}

// Scores of row i of the group become weights; maximum and sum go behind its outputs.
template <class T>
TENON_INLINE void weigh(const AttentionTask& t, const Chunk& c, size_t i, float* state) {
  float* s = c.s + i * kDecodeKeys;
  const size_t r = c.row + i, padded = round_up(c.keys, kSumLanes);
  add_mask<T>(t, r, t.key_begin, s, c.keys);
  close_row(s, visible(t, r, t.key_begin, c.keys), padded);
  state[0] = max_of_numbers(s, padded, kNoScore);
  state[1] = exp_row(s, padded, origin(state[0]));
}

template <size_t kRows, class T>
void decode_rows(const AttentionTask& t, size_t row) {
  const size_t stride = attention_partial_stride(t.head), padded = stride - 16;
  const Chunk c{row, t.key_end - t.key_begin, padded, t.scratch, t.scratch + kRowsAtOnce * padded};
  float* o = t.partial + row * stride;
  for (size_t i = 0; i < kRows; ++i) load_query<T>(t, row + i, c.q + i * padded);
  std::memset(o, 0, kRows * stride * sizeof *o);
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
  std::memset(o, 0, t.head * sizeof *o);
  for (size_t i = 0; i < t.chunks; ++i) {
    const float* p = first + i * chunk;
    const float weight = exp_scalar(p[padded] - origin(max));
    sum = __builtin_fmaf(weight, p[padded + 1], sum);
    map<Few>(t.head, p, o, o, [=](auto x, auto y) __attribute__((always_inline)) {
      return fma(x, Constant{weight}, y);
    });
  }
  finish_row<T>(t, r, o, max, sum);
}

template <class T>
TENON_INLINE void merge(const AttentionTask& t) {
  for (size_t r = 0; r < t.group * t.positions; ++r) merge_row<T>(t, r);
}

}  // namespace

#define DECODE_OF(name, T)                                                              \
  void TENON_KERNEL(attention_decode_f32_##name)(const AttentionTask& task) noexcept {  \
    decode<T>(task);                                                                    \
  }                                                                                     \
  void TENON_KERNEL(attention_merge_##name##_f32)(const AttentionTask& task) noexcept { \
    merge<T>(task);                                                                     \
  }
#define DECODE(name, T) TENON_STAMP_##T(DECODE_OF(name, T))

DECODE(f32, float)
DECODE(bf16, bf16)
DECODE(f16, f16)

}  // namespace tenon

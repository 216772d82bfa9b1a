// Attention of many query rows: blocks of queries by blocks of keys, softmax on the way.
// isa/attention.h says what and in which order.
//
// A block of keys and values is widened to f32 and packed into panels kColumns wide once for all
// rows of the task (up to 144):
//
//   keys    panel c: [d][kColumns]    element (d, j) is key c * kColumns + j's d
//   values  panel c: [key][kColumns]  element (k, j) is value k's element c * kColumns + j
//
// One micro-kernel, C[kTile][kColumns] += A[kTile][depth] B[depth][kColumns], then makes the scores
// (A queries, B a key panel) and the outputs (A weights, B a value panel). Registers: AVX2 12
// accumulators + 2 of B + 1 of A of 16; AVX-512 24 + 2 + 1 of 32, NEON 24 + 4 + 1.
#include "isa/simd/attention_block.h"
#include "isa/simd/widen_8.h"

namespace tenon {
namespace {

constexpr size_t kVectors = kLanes == 4 ? 4 : 2;  // of a tile's row
constexpr size_t kColumns = kVectors * kLanes;
constexpr size_t kTile = kLanes == 16 ? 12 : 6;
constexpr size_t kBand = 24;
static_assert(kPrefillRows % kBand == 0 && kBand % kTile == 0 && kColumns <= 32);

// The parts of a task's scratch; attention_prefill_scratch() is their sum at its largest.
struct Scratch {
  size_t wide;  // head rounded up to a panel
  float *keys, *values, *q, *o, *s, *max, *sum;

  TENON_INLINE Scratch make(const AttentionTask& t) {
    const size_t wide = round_up(t.head, kColumns);
    Scratch x{};
    x.wide = wide;
    x.keys = t.scratch;
    x.values = x.keys + kPrefillKeys * round_up(t.head, 16);
    x.q = x.values + kPrefillKeys * wide;
    x.o = x.q + kPrefillRows * wide;
    x.s = x.o + kPrefillRows * wide;
    x.max = x.s + kBand * kPrefillKeys;
    x.sum = x.max + kPrefillRows;
    return x;
  }
};

template <size_t kRows, bool kAdd>
TENON_INLINE void multiply(size_t depth, const float* a, size_t a_stride, const float* b,
                           size_t b_stride, float* c, size_t c_stride) {
  F32 acc[kRows][kVectors];
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j)
      acc[i][j] = kAdd ? load(c + i * c_stride + j * kLanes) : F32(0.0f);
  for (size_t k = 0; k < depth; ++k, b += b_stride) {
    F32 columns[kVectors];
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j) columns[j] = load(b + j * kLanes);
#pragma GCC unroll 16
    for (size_t i = 0; i < kRows; ++i) {
      const F32 x(a[i * a_stride + k]);
#pragma GCC unroll 16
      for (size_t j = 0; j < kVectors; ++j) acc[i][j] = fma(x, columns[j], acc[i][j]);
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kRows; ++i)
#pragma GCC unroll 16
    for (size_t j = 0; j < kVectors; ++j) store(c + i * c_stride + j * kLanes, acc[i][j]);
}

// Eight keys, `n` of them real, to column j of their panel.
template <class T>
TENON_INLINE void pack_8_keys(const char* k, ptrdiff_t stride, size_t n, size_t head, float* to) {
  size_t d = 0;
  for (; n == 8 && d + 8 <= head; d += 8) {
    F32x8 x[8];
#pragma GCC unroll 16
    for (ptrdiff_t i = 0; i < 8; ++i) x[i] = load_8(reinterpret_cast<const T*>(k + i * stride) + d);
    turn_8x8(x);
#pragma GCC unroll 16
    for (size_t i = 0; i < 8; ++i) store_8(to + (d + i) * kColumns, x[i]);
  }
  for (; d < head; ++d)
    for (size_t i = 0; i < 8; ++i) {
      const char* row = k + static_cast<ptrdiff_t>(i) * stride;
      to[d * kColumns + i] = i < n ? to_f32(reinterpret_cast<const T*>(row)[d]) : 0.0f;
    }
}

template <class T>
TENON_INLINE void pack_keys(const AttentionTask& t, size_t key, size_t n, float* to) {
  const char* k = static_cast<const char*>(t.k) + static_cast<ptrdiff_t>(key) * t.k_key;
  for (size_t i = 0; i < round_up(n, kColumns); i += 8) {
    const size_t left = i < n ? n - i : 0;
    pack_8_keys<T>(k + static_cast<ptrdiff_t>(left > 0 ? i : 0) * t.k_key, t.k_key,
                   left < 8 ? left : 8, t.head,
                   to + i / kColumns * kColumns * t.head + i % kColumns);
  }
}

template <class T>
TENON_INLINE void pack_values(const AttentionTask& t, size_t key, size_t n, float* to) {
  for (size_t k = 0; k < n; ++k) {
    const T* v = reinterpret_cast<const T*>(static_cast<const char*>(t.v) +
                                            static_cast<ptrdiff_t>(key + k) * t.v_key);
    for (size_t d = 0; d < round_up(t.head, kColumns); d += kLanes) {
      F32 x(0.0f);
      if (d < t.head) x = d + kLanes <= t.head ? load(v + d) : load_n(v + d, t.head - d);
      store(to + d / kColumns * kColumns * kPrefillKeys + k * kColumns + d % kColumns, x);
    }
  }
}

// Scaled queries, zero rows up to a whole tile; outputs and row states as they start.
template <class T>
TENON_INLINE void start_rows(const AttentionTask& t, const Scratch& x, size_t rows) {
  for (size_t i = 0; i < round_up(rows, kTile); ++i) {
    const size_t r = t.row_begin + i;
    float *q = x.q + i * t.head, *o = x.o + i * x.wide;
    if (i < rows) {
      const T* from =
          reinterpret_cast<const T*>(at(t.q, t.q_position, t.q_group, r / t.group, r % t.group));
      map(t.head, from, q, [&t](F32 v) { return v * F32(t.scale); });
    } else {
      for (size_t d = 0; d < t.head; ++d) q[d] = 0.0f;
    }
    for (size_t d = 0; d < x.wide; ++d) o[d] = 0.0f;
    x.max[i] = kNoScore, x.sum[i] = 0.0f;
  }
}

// Scores s of row i of the task become weights, and its output is rescaled to the new maximum.
template <class T>
TENON_INLINE void weigh(const AttentionTask& t, const Scratch& x, size_t i, size_t key, size_t n,
                        float* s) {
  const size_t r = t.row_begin + i, seen = visible(t, r, key, n), padded = round_up(n, kSumLanes);
  add_mask<T>(t, r / t.group, r % t.group, key, s, n);
  close_row(s, seen, padded);
  const float max = max_of_numbers(s, padded, x.max[i]);
  const float sum = exp_row(s, padded, origin(max));
  if (max == x.max[i]) {  // as multiplying by e^0 would
    x.sum[i] += sum;
    return;
  }
  const float shrink = exp_scalar(x.max[i] - max);
  float* o = x.o + i * x.wide;
  for (size_t d = 0; d < x.wide; d += kLanes) store(o + d, load(o + d) * F32(shrink));
  x.sum[i] = __builtin_fmaf(x.sum[i], shrink, sum);
  x.max[i] = max;
}

// One packed block of n keys.
struct Block {
  size_t key, n;
  const float* values;  // panel of d at values + d * panel_step, rows value_stride apart
  size_t panel_step, value_stride;
};

// Rows [begin, end) of the task, at most kBand, over one block: a panel serves all tiles of the
// band while it is in the first-level cache.
template <class T>
TENON_INLINE void band(const AttentionTask& t, const Scratch& x, size_t begin, size_t end,
                       const Block& b) {
  const auto scores = [&](size_t i) { return x.s + (i - begin) * kPrefillKeys; };
  const auto seen = [&](size_t i, size_t rows) {
    return visible(t, t.row_begin + (i + rows < end ? i + rows : end) - 1, b.key, b.n);
  };
  for (size_t k = 0; k < b.n; k += kColumns)
    by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
      if (k < seen(i, rows))
        multiply<rows, false>(t.head, x.q + i * t.head, t.head, x.keys + k * t.head, kColumns,
                              scores(i) + k, kPrefillKeys);
    });
  by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
    for (size_t j = i; j < i + rows && j < end; ++j)
      if (seen(i, rows) > 0) weigh<T>(t, x, j, b.key, seen(i, rows), scores(j));
  });
  for (size_t d = 0; d < t.head; d += kColumns)
    by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
      multiply<rows, true>(seen(i, rows), scores(i), kPrefillKeys, b.values + d * b.panel_step,
                           b.value_stride, x.o + i * x.wide + d, x.wide);
    });
}

// Values of f32 can be used where they are, which pays while few rows share the packing.
template <class T>
TENON_INLINE Block pack_block(const AttentionTask& t, const Scratch& x, size_t key, size_t n) {
  pack_keys<T>(t, key, n, x.keys);
  if (std::is_same_v<T, float> && t.head % kColumns == 0 && t.row_end - t.row_begin <= kBand) {
    const char* v = static_cast<const char*>(t.v) + static_cast<ptrdiff_t>(key) * t.v_key;
    return {key, n, reinterpret_cast<const float*>(v), 1,
            static_cast<size_t>(t.v_key) / sizeof(float)};
  }
  pack_values<T>(t, key, n, x.values);
  return {key, n, x.values, kPrefillKeys, kColumns};
}

template <class T>
TENON_INLINE void prefill(const AttentionTask& t) {
  const Scratch x = Scratch::make(t);
  const size_t rows = t.row_end - t.row_begin;
  if (rows == 0) return;
  start_rows<T>(t, x, rows);
  by_blocks<kBand>(
      t, [&](size_t key, size_t n) { return pack_block<T>(t, x, key, n); },
      [&](size_t begin, size_t end, const Block& b) { band<T>(t, x, begin, end, b); });
  for (size_t i = 0; i < rows; ++i)
    finish_row<T>(t, t.row_begin + i, x.o + i * x.wide, x.max[i], x.sum[i]);
}

}  // namespace

#define PREFILL(name, T)                                                                     \
  void TENON_KERNEL(attention_prefill_##name##_##name)(const AttentionTask& task) noexcept { \
    prefill<T>(task);                                                                        \
  }

PREFILL(f32, float)
PREFILL(bf16, bf16)
PREFILL(f16, f16)

}  // namespace tenon

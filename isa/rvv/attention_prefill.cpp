// Attention of many query rows for RVV: blocks of queries by blocks of keys, softmax on the way.
// isa/attention.h says what and in which order.
//
// Queries, and a block of keys and of values, are widened to f32 and packed once for all rows of
// the task (up to 144). A panel is as wide as an m4 group, the last one as wide as what is left:
//
//   queries  tile i: [d][6]           element (d, j) is row 6 i + j's d
//   keys     panel c: [d][width]      element (d, j) is key c * width + j's d
//   values   panel c: [key][width]    element (k, j) is value k's element c * width + j
//
// One register tile, multiply() of attention_block.h, then makes the scores (queries by a key
// panel) and the outputs (weights by a value panel): six of seven vector instructions multiply.
#include "isa/rvv/attention_block.h"

namespace tenon {
namespace {

using V = vfloat32m4_t;
constexpr size_t kTile = 6;
constexpr size_t kBand = 24;
static_assert(kPrefillRows % kBand == 0 && kBand % kTile == 0);

// The parts of a task's scratch, which is attention_prefill_scratch() at its largest.
struct Scratch {
  float *keys, *values, *q, *o, *s, *max, *sum;

  TENON_INLINE Scratch make(const AttentionTask& t) {
    Scratch x{};
    x.keys = t.scratch;
    x.values = x.keys + kPrefillKeys * t.head;
    x.q = x.values + kPrefillKeys * t.head;
    x.o = x.q + kPrefillRows * t.head;
    x.s = x.o + kPrefillRows * t.head;
    x.max = x.s + kBand * kPrefillKeys;
    x.sum = x.max + kPrefillRows;
    return x;
  }
};

// Columns of a panel of n keys or elements from i on.
TENON_INLINE size_t panel_width(size_t n) {
  const size_t width = lanes<V>() < kPrefillKeys ? lanes<V>() : kPrefillKeys;
  return n < width ? n : width;
}

template <class T>
TENON_INLINE void pack_keys(const AttentionTask& t, size_t key, size_t n, float* to) {
  for (size_t k = 0, vl; k < n; k += vl) {
    vl = panel_width(n - k);
    const T* from = row_at<const T>(t.k, t.k_key, key + k);
    for (const T* end = from + t.head; from != end; ++from, to += vl)
      store(to, load<V>(from, t.k_key, vl), vl);
  }
}

template <class T>
TENON_INLINE void pack_values(const AttentionTask& t, size_t key, size_t n, float* to) {
  for (size_t d = 0, vl; d < t.head; d += vl) {
    vl = panel_width(t.head - d);
    const T* from = row_at<const T>(t.v, t.v_key, key) + d;
    for (size_t k = 0; k < n; ++k, from = byte_offset(from, t.v_key), to += vl)
      store(to, load<V>(from, vl), vl);
    to += (kPrefillKeys - n) * vl;
  }
}

// A scaled query to its column of a tile.
template <class T>
TENON_INLINE void pack_query(const AttentionTask& t, size_t r, float* to) {
  const T* from = row_of<const T>(t, t.q, t.q_position, t.q_group, r);
  for (size_t d = 0, vl; d < t.head; d += vl) {
    vl = some_of<V>(t.head - d);
    __riscv_vsse32(to + d * kTile, kTile * sizeof(float),
                   mul(load<V>(from + d, vl), Constant{t.scale}), vl);
  }
}

// Queries, zeros for rows that fill the last tile; outputs and row states as they start.
template <class T>
TENON_INLINE void start_rows(const AttentionTask& t, const Scratch& x, size_t rows) {
  const size_t whole = round_up(rows, kTile);
  std::memset(x.o, 0, whole * t.head * sizeof(float));
  std::memset(x.q + (whole - kTile) * t.head, 0, kTile * t.head * sizeof(float));
  for (size_t i = 0; i < rows; ++i) {
    pack_query<T>(t, t.row_begin + i, x.q + i / kTile * kTile * t.head + i % kTile);
    x.max[i] = kNoScore, x.sum[i] = 0.0f;
  }
}

// Scores s of row i of the task become weights, and its output is rescaled to the new maximum.
template <class T>
void weigh(const AttentionTask& t, const Scratch& x, size_t i, size_t key, size_t n, float* s) {
  const size_t r = t.row_begin + i, padded = round_up(n, kSumLanes);
  add_mask<T>(t, r, key, s, n);
  close_row(s, visible(t, r, key, n), padded);
  const float max = max_of_numbers(s, padded, x.max[i]);
  const float sum = exp_row(s, padded, origin(max));
  if (max == x.max[i]) {  // as multiplying by e^0 would
    x.sum[i] += sum;
    return;
  }
  const float shrink = exp_scalar(x.max[i] - max);
  scale_row(t.head, x.o + i * t.head, shrink);
  x.sum[i] = __builtin_fmaf(x.sum[i], shrink, sum);
  x.max[i] = max;
}

// One packed block of n keys.
struct Block {
  size_t key, n;
  const float* values;  // element d's panel at values + d * panel_step
  size_t panel_step;
  bool packed;  // rows of a panel follow each other
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
  for (size_t k = 0, vl; k < b.n; k += vl) {
    vl = panel_width(b.n - k);
    by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
      if (k < seen(i, rows))
        multiply<V, rows, 1, kTile, false>(t.head, x.q + i * t.head, x.keys + k * t.head,
                                           static_cast<ptrdiff_t>(vl * sizeof(float)),
                                           scores(i) + k, kPrefillKeys, vl);
    });
  }
  by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
    for (size_t j = i; j < i + rows && j < end; ++j)
      if (seen(i, rows) > 0) weigh<T>(t, x, j, b.key, seen(i, rows), scores(j));
  });
  for (size_t d = 0, vl; d < t.head; d += vl) {
    vl = panel_width(t.head - d);
    const auto step = b.packed ? static_cast<ptrdiff_t>(vl * sizeof(float)) : t.v_key;
    by_tiles<kTile>(begin, end, [&](auto rows, size_t i) {
      multiply<V, rows, kPrefillKeys, 1, true>(seen(i, rows), scores(i),
                                               b.values + d * b.panel_step, step,
                                               x.o + i * t.head + d, t.head, vl);
    });
  }
}

// Values of f32 can be used where they are, which pays while few rows share the packing.
template <class T>
TENON_INLINE Block pack_block(const AttentionTask& t, const Scratch& x, size_t key, size_t n) {
  pack_keys<T>(t, key, n, x.keys);
  if (std::is_same_v<T, float> && t.row_end - t.row_begin <= kBand)
    return {key, n, row_at<const float>(t.v, t.v_key, key), 1, false};
  pack_values<T>(t, key, n, x.values);
  return {key, n, x.values, kPrefillKeys, true};
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
    finish_row<T>(t, t.row_begin + i, x.o + i * t.head, x.max[i], x.sum[i]);
}

}  // namespace

#define PREFILL_OF(name, T)                                                                  \
  void TENON_KERNEL(attention_prefill_##name##_##name)(const AttentionTask& task) noexcept { \
    prefill<T>(task);                                                                        \
  }
#define PREFILL(name, T) TENON_STAMP_##T(PREFILL_OF(name, T))

PREFILL(f32, float)
PREFILL(bf16, bf16)
PREFILL(f16, f16)

}  // namespace tenon

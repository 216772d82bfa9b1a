// How attention kernels walk over rows and blocks of keys, the same on every ISA.
#pragma once
#include <type_traits>

#include "isa/attention.h"
#include "isa/types.h"

namespace tenon {
namespace {

// How many of the n keys from `key` on row r sees.
TENON_INLINE size_t visible(const AttentionTask& t, size_t r, size_t key, size_t n) {
  if (!t.causal || r / t.group >= key + n) return n;
  return r / t.group >= key ? r / t.group + 1 - key : 0;
}

// Scores from n to `end` become -infinity.
TENON_INLINE void close_row(float* s, size_t n, size_t end) {
  for (; n < end; ++n) s[n] = -__builtin_inff();
}

// f(number of rows as a constant, first row) for all rows, four at a time.
template <class F>
TENON_INLINE void by_fours(size_t rows, F f) {
  size_t r = 0;
  for (; r + 4 <= rows; r += 4) f(std::integral_constant<size_t, 4>{}, r);
  if (rows - r == 3) f(std::integral_constant<size_t, 3>{}, r);
  if (rows - r == 2) f(std::integral_constant<size_t, 2>{}, r);
  if (rows - r == 1) f(std::integral_constant<size_t, 1>{}, r);
}

// f(tile's rows as a constant, tile's first row) for tiles that cover rows [begin, end), the last
// of a size that wastes least.
template <size_t kTile, class F>
TENON_INLINE void by_tiles(size_t begin, size_t end, F f) {
  constexpr size_t kHalf = kTile / 2, kMost = kTile * 2 / 3;
  size_t i = begin;
  for (; i + kMost < end; i += kTile) f(std::integral_constant<size_t, kTile>{}, i);
  if (i + kHalf < end) return f(std::integral_constant<size_t, kMost>{}, i);
  if (i < end) f(std::integral_constant<size_t, kHalf>{}, i);
}

// The keys that any row of the task sees, in blocks of kPrefillKeys: pack(key, n) gives what
// band(begin, end, block) needs of n keys from `key` on, for at most kBand rows of the task at
// once.
template <size_t kBand, class Pack, class Band>
TENON_INLINE void by_blocks(const AttentionTask& t, Pack pack, Band band) {
  const size_t rows = t.row_end - t.row_begin, keys = visible(t, t.row_end - 1, 0, t.keys);
  for (size_t key = 0; key < keys; key += kPrefillKeys) {
    const auto block = pack(key, keys - key < kPrefillKeys ? keys - key : kPrefillKeys);
    for (size_t i = 0; i < rows; i += kBand) band(i, i + kBand < rows ? i + kBand : rows, block);
  }
}

}  // namespace
}  // namespace tenon

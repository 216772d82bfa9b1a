// Pieces of an operand as the packers read them, and blocks of the result as they are written.
#pragma once
#include "isa/simd/transpose.h"
#include "isa/tile_mm.h"

namespace tenon {
namespace {

struct Rows {
  const char* p;
  ptrdiff_t stride;
};

// `lines` lines of `bytes` bytes, followed by zeros up to wanted_lines x wanted_bytes.
TENON_INLINE void copy_padded(Rows from, size_t lines, size_t bytes, char* to, size_t wanted_lines,
                              size_t wanted_bytes) {
  std::memset(to, 0, wanted_lines * wanted_bytes);
  for (size_t i = 0; i < lines; ++i)
    std::memcpy(to + i * wanted_bytes, from.p + static_cast<ptrdiff_t>(i) * from.stride, bytes);
}

// A matrix in memory with byte strides, and where a block of it begins.
struct Operand {
  const char* p;
  ptrdiff_t row, col;

  TENON_INLINE_MEMBER Operand at(size_t i, size_t j) const {
    return {p + static_cast<ptrdiff_t>(i) * row + static_cast<ptrdiff_t>(j) * col, row, col};
  }
  TENON_INLINE_MEMBER Operand transposed() const { return {p, col, row}; }
};

TENON_INLINE Operand left_of(const TileMmArgs& args) {
  return {static_cast<const char*>(args.a), args.a_row, args.a_col};
}
TENON_INLINE Operand right_of(const TileMmArgs& args) {
  return {static_cast<const char*>(args.b), args.b_row, args.b_col};
}

// The first rows x cols of x as R rows of C contiguous dwords, zeros beyond: in place where that
// is what memory holds, otherwise in `buffer`, by way of `spare` (R x C dwords each).
template <size_t R, size_t C>
TENON_INLINE Rows dword_rows(Operand x, size_t rows, size_t cols, char* buffer, char* spare) {
  constexpr ptrdiff_t kDword = 4, kWide = C * kDword, kHigh = R * kDword;
  const bool whole = rows == R && cols == C;
  if (x.col == kDword) {
    if (whole) return {x.p, x.row};
    copy_padded({x.p, x.row}, rows, cols * kDword, buffer, R, kWide);
    return {buffer, kWide};
  }
  Rows columns{x.p, x.col};
  if (!whole) {
    copy_padded(columns, cols, rows * kDword, spare, C, kHigh);
    columns = {spare, kHigh};
  }
  for (size_t i = 0; i < R; i += 16)
    for (size_t j = 0; j < C; j += 16)
      transpose_16x16(columns.p + static_cast<ptrdiff_t>(j) * columns.stride + i * kDword,
                      columns.stride, buffer + i * kWide + j * kDword, kWide);
  return {buffer, kWide};
}

// Where a block of sums goes: C[i..][j..], rows x cols of it.
struct Place {
  size_t i, j, rows, cols;
};

template <class T>
TENON_INLINE T* result_row(const TileMmArgs& args, const Place& at, size_t r) {
  char* row = static_cast<char*>(args.c) + static_cast<ptrdiff_t>(at.i + r) * args.c_row;
  return reinterpret_cast<T*>(row) + at.j;
}

TENON_INLINE bool plain_end(const TileMmArgs& args) { return args.alpha == 1 && args.d == nullptr; }

// alpha * sums + beta * D for lanes of row r from column c on; n lanes, all where n is kLanes.
template <class T>
TENON_INLINE F32 ended(const TileMmArgs& args, const Place& at, size_t r, size_t c, size_t n,
                       F32 sums) {
  sums = sums * splat<F32>(args.alpha);
  if (args.d == nullptr) return sums;
  const char* row =
      static_cast<const char*>(args.d) + static_cast<ptrdiff_t>(at.i + r) * args.d_row;
  const T* d = reinterpret_cast<const T*>(row + static_cast<ptrdiff_t>(at.j + c) * args.d_col);
  const F32 beta = splat<F32>(args.beta);
  if (args.d_col == 0) return fma(beta, splat<F32>(to_f32(*d)), sums);
  return fma(beta, n == kLanes ? load(d) : load_n(d, n), sums);
}

// Stores a block of f32 sums (32 x 32, contiguous): added to what C holds if `add`, and brought to
// its end (alpha, D, rounding to T) if `last`.
template <class T>
TENON_INLINE void store_block(const TileMmArgs& args, const Place& at, const float* sums, bool add,
                              bool last) {
  const bool end = last && !plain_end(args);
  for (size_t r = 0; r < at.rows; ++r, sums += 32) {
    T* c = result_row<T>(args, at, r);
    for (size_t j = 0; j < at.cols; j += kLanes) {
      const size_t n = tile_least(at.cols - j, kLanes);
      F32 v = load(sums + j);
      if (add) v = v + (n == kLanes ? load(c + j) : load_n(c + j, n));
      if (end) v = ended<T>(args, at, r, j, n, v);
      if (n == kLanes) {
        store(c + j, v);
      } else {
        store_n(c + j, v, n);
      }
    }
  }
}

}  // namespace
}  // namespace tenon

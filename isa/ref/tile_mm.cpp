// Reference matrix products: isa/tile_mm.h says what each computes.
#include "isa/tile_mm.h"

namespace tenon {
namespace {

template <class T>
TENON_INLINE T at(const void* base, size_t i, ptrdiff_t row, size_t j, ptrdiff_t col) {
  T x;
  std::memcpy(&x,
              static_cast<const char*>(base) + static_cast<ptrdiff_t>(i) * row +
                  static_cast<ptrdiff_t>(j) * col,
              sizeof x);
  return x;
}

template <class T>
TENON_INLINE void put(const TileMmArgs& args, size_t i, size_t j, T x) {
  std::memcpy(static_cast<char*>(args.c) + static_cast<ptrdiff_t>(i) * args.c_row + j * sizeof x,
              &x, sizeof x);
}

template <class T>
TENON_INLINE void multiply(const TileMmArgs& args, size_t i, size_t j) {
  double sum = 0;
  for (size_t p = 0; p < args.k; ++p)
    sum += double{to_f32(at<T>(args.a, i, args.a_row, p, args.a_col))} *
           to_f32(at<T>(args.b, p, args.b_row, j, args.b_col));
  sum *= args.alpha;
  if (args.d != nullptr)
    sum += double{args.beta} * to_f32(at<T>(args.d, i, args.d_row, j, args.d_col));
  put(args, i, j, from_f32<T>(static_cast<float>(sum)));
}

TENON_INLINE uint32_t largest(uint32_t so_far, size_t rows, size_t cols, const void* x,
                              ptrdiff_t row, ptrdiff_t col) {
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < cols; ++j) {
      const uint32_t magnitude = bits_of(at<float>(x, i, row, j, col)) & 0x7fffffffu;
      so_far = magnitude > so_far ? magnitude : so_far;
    }
  return so_far;
}

}  // namespace

void mm_f32_ref(const TileMmArgs& args) noexcept {
  TileRange& range = *args.range;
  range.a = largest(range.a, args.m, args.k, args.a, args.a_row, args.a_col);
  range.b = largest(range.b, args.k, args.n, args.b, args.b_row, args.b_col);
  for (size_t i = 0; i < args.m; ++i)
    for (size_t j = 0; j < args.n; ++j) multiply<float>(args, i, j);
}

void mm_bf16_ref(const TileMmArgs& args) noexcept {
  for (size_t i = 0; i < args.m; ++i)
    for (size_t j = 0; j < args.n; ++j) multiply<bf16>(args, i, j);
}

void mm_i32_i8_i8_ref(const TileMmArgs& args) noexcept {
  for (size_t i = 0; i < args.m; ++i)
    for (size_t j = 0; j < args.n; ++j) {
      uint32_t sum = 0;
      for (size_t p = 0; p < args.k; ++p)
        sum += static_cast<uint32_t>(at<int8_t>(args.a, i, args.a_row, p, args.a_col) *
                                     at<int8_t>(args.b, p, args.b_row, j, args.b_col));
      put(args, i, j, sum);
    }
}

}  // namespace tenon

// The eight tile registers in the roles every AMX kernel here gives them: a 2 x 2 block of sums in
// tiles 0 to 3, two left operands in 4 and 5, two right ones in 6 and 7.
//
//                  right 6   right 7
//        left 4  |    0    |    1    |
//        left 5  |    2    |    3    |
//
// A tile is 16 rows of 64 bytes. A left tile holds 16 rows of the left matrix, 64 bytes along k. A
// right tile holds 16 columns of the right matrix: its row r has, for each column, the 4 bytes
// along k that a left tile's rows have in dword r.
#pragma once
#include <immintrin.h>

#include "isa/types.h"

namespace tenon {
namespace {

constexpr size_t kTileBytes = 1024;
constexpr ptrdiff_t kTileRow = 64;

// GCC 12's _tile_loadconfig claims to read 8 bytes, its _tile_loadd none: without this, stores to
// what they read may be dropped or moved past them.
TENON_INLINE void order_memory() { __asm__ volatile("" ::: "memory"); }

// The layout the hardware reads.
struct alignas(64) TileConfig {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64);

// While one lives, this thread's tiles are configured, 16 rows of 64 bytes each.
struct Tiles {
  TENON_INLINE_MEMBER void configure() {
    TileConfig config = {};
    config.palette = 1;
    for (int i = 0; i < 8; ++i) {
      config.row_bytes[i] = 64;
      config.rows[i] = 16;
    }
    order_memory();
    _tile_loadconfig(&config);
  }
  TENON_INLINE_MEMBER Tiles() { configure(); }
  TENON_INLINE_MEMBER ~Tiles() { _tile_release(); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

TENON_INLINE void load_left0(const void* p, ptrdiff_t row) { _tile_loadd(4, p, row); }
TENON_INLINE void load_left1(const void* p, ptrdiff_t row) { _tile_loadd(5, p, row); }
TENON_INLINE void load_right0(const void* p) { _tile_loadd(6, p, kTileRow); }
TENON_INLINE void load_right1(const void* p) { _tile_loadd(7, p, kTileRow); }

TENON_INLINE void zero_sums() {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

// The block of sums as 32 x 32 dwords at p.
TENON_INLINE void load_sums(const void* p, ptrdiff_t row) {
  const char* q = static_cast<const char*>(p);
  order_memory();
  _tile_loadd(0, q, row);
  _tile_loadd(1, q + 64, row);
  _tile_loadd(2, q + 16 * row, row);
  _tile_loadd(3, q + 16 * row + 64, row);
}
TENON_INLINE void store_sums(void* p, ptrdiff_t row) {
  char* q = static_cast<char*>(p);
  _tile_stored(0, q, row);
  _tile_stored(1, q + 64, row);
  _tile_stored(2, q + 16 * row, row);
  _tile_stored(3, q + 16 * row + 64, row);
  order_memory();
}

// sums[row][col] += left[row] * right[col], for bf16 or int8_t.
template <class T, int row, int col>
TENON_INLINE void multiply() {
  constexpr bool kInt8 = std::is_same_v<T, int8_t>;
  static_assert(kInt8 || std::is_same_v<T, bf16>);
  if constexpr (kInt8 && row == 0 && col == 0) _tile_dpbssd(0, 4, 6);
  if constexpr (kInt8 && row == 0 && col == 1) _tile_dpbssd(1, 4, 7);
  if constexpr (kInt8 && row == 1 && col == 0) _tile_dpbssd(2, 5, 6);
  if constexpr (kInt8 && row == 1 && col == 1) _tile_dpbssd(3, 5, 7);
  if constexpr (!kInt8 && row == 0 && col == 0) _tile_dpbf16ps(0, 4, 6);
  if constexpr (!kInt8 && row == 0 && col == 1) _tile_dpbf16ps(1, 4, 7);
  if constexpr (!kInt8 && row == 1 && col == 0) _tile_dpbf16ps(2, 5, 6);
  if constexpr (!kInt8 && row == 1 && col == 1) _tile_dpbf16ps(3, 5, 7);
}

// One step along k of a block with one or two tiles of rows and of columns. The second tile lies
// left_pair or right_pair bytes behind the first. Each load stands before products that do not
// need it, so that it runs beside them.
template <class T, bool two_rows, bool two_cols>
struct Step {
  const char* left;
  ptrdiff_t left_row, left_pair;
  const char* right;
  ptrdiff_t right_pair;

  // Both operands are new.
  TENON_INLINE_MEMBER void full(size_t left_at, size_t right_at) const {
    load_left0(left + left_at, left_row);
    load_right0(right + right_at);
    multiply<T, 0, 0>();
    if constexpr (two_cols) load_right1(right + right_at + right_pair);
    if constexpr (two_cols) multiply<T, 0, 1>();
    if constexpr (two_rows) second_row(left_at);
  }

  // The right operands are loaded already.
  TENON_INLINE_MEMBER void new_left(size_t at) const {
    load_left0(left + at, left_row);
    multiply<T, 0, 0>();
    if constexpr (two_cols) multiply<T, 0, 1>();
    if constexpr (two_rows) second_row(at);
  }

  // The left operands are loaded already.
  TENON_INLINE_MEMBER void new_right(size_t at) const {
    load_right0(right + at);
    multiply<T, 0, 0>();
    if constexpr (two_rows) multiply<T, 1, 0>();
    if constexpr (two_cols) load_right1(right + at + right_pair);
    if constexpr (two_cols) multiply<T, 0, 1>();
    if constexpr (two_rows && two_cols) multiply<T, 1, 1>();
  }

  TENON_INLINE_MEMBER void second_row(size_t at) const {
    load_left1(left + at + left_pair, left_row);
    multiply<T, 1, 0>();
    if constexpr (two_cols) multiply<T, 1, 1>();
  }
};

// Rows of memory to be brought into L2 while products run, some at each step.
struct Ahead {
  const char* next = nullptr;
  ptrdiff_t stride = 0;
  size_t rows = 0, row_bytes = 0, per_step = 1;

  TENON_INLINE_MEMBER void step() {
    for (size_t i = 0; i < per_step && rows > 0; ++i, --rows, next += stride)
      for (size_t byte = 0; byte < row_bytes; byte += 64) _mm_prefetch(next + byte, _MM_HINT_T1);
  }
};

}  // namespace
}  // namespace tenon

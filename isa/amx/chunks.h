// Products of bf16 or int8 matrices on AMX: what mm_bf16 and mm_i32_i8_i8 share.
//
// One operand, the left one, is streamed in chunks of 32 rows x kTileKBytes; the other, the right
// one, is packed once for kTileCols columns at a time and stays in L2, a chunk's depth of it. Where
// B is contiguous along k (a linear layer's weight), C^T = B^T A^T is computed: the weight's rows
// are left tiles as they lie in memory and are read once, from 64-byte pieces that are fetched a
// chunk ahead. Chunks that many columns share are first copied together, so that they stay in L1
// whatever the rows' stride. Sums wait between chunks as f32 or i32, exactly, so no bit depends on
// the blocking.
#pragma once
#include "isa/amx/rows.h"
#include "isa/amx/tile.h"

namespace tenon {
namespace {

constexpr size_t kChunkSteps = kTileKBytes / 64;
constexpr size_t kInL2 = 1 << 20;  // bytes of right operand that may stay there whole

template <class T>
constexpr size_t kPerStep = 64 / sizeof(T);  // elements along k in a tile

// 64 bytes along k of 16 columns, from rows of 16 contiguous elements.
TENON_INLINE void interleave(Rows x, char* tile, bf16) {
  for (int r = 0; r < 16; ++r, x.p += 2 * x.stride, tile += 64)
    for (int half = 0; half < 32; half += 16) {
      const auto* even = reinterpret_cast<const __m128i*>(x.p + half);
      const auto* odd = reinterpret_cast<const __m128i*>(x.p + x.stride + half);
      const __m128i a = _mm_loadu_si128(even), b = _mm_loadu_si128(odd);
      auto* out = reinterpret_cast<__m128i*>(tile + 2 * half);
      _mm_storeu_si128(out, _mm_unpacklo_epi16(a, b));
      _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(a, b));
    }
}
TENON_INLINE void interleave(Rows x, char* tile, int8_t) {
  for (int r = 0; r < 16; ++r, x.p += 4 * x.stride, tile += 64) {
    __m128i row[4];
    for (int i = 0; i < 4; ++i)
      row[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(x.p + i * x.stride));
    const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]);
    const __m128i low23 = _mm_unpacklo_epi8(row[2], row[3]);
    const __m128i high01 = _mm_unpackhi_epi8(row[0], row[1]);
    const __m128i high23 = _mm_unpackhi_epi8(row[2], row[3]);
    auto* out = reinterpret_cast<__m128i*>(tile);
    _mm_storeu_si128(out, _mm_unpacklo_epi16(low01, low23));
    _mm_storeu_si128(out + 1, _mm_unpackhi_epi16(low01, low23));
    _mm_storeu_si128(out + 2, _mm_unpacklo_epi16(high01, high23));
    _mm_storeu_si128(out + 3, _mm_unpackhi_epi16(high01, high23));
  }
}

// The first depth x cols of x (k x columns) as a right tile, zeros beyond. `spare` is a tile.
template <class T>
TENON_INLINE void pack_right_tile(Operand x, size_t depth, size_t cols, char* tile, char* spare) {
  const bool along_k = x.row == sizeof(T), whole = depth == kPerStep<T> && cols == 16;
  Rows lines{x.p, along_k ? x.col : x.row};
  const size_t count = along_k ? cols : depth, bytes = (along_k ? depth : cols) * sizeof(T);
  if (!whole) {
    const size_t all = along_k ? 16 : kPerStep<T>;
    copy_padded(lines, count, bytes, spare, all, kTileBytes / all);
    lines = {spare, static_cast<ptrdiff_t>(kTileBytes / all)};
  }
  if (along_k) {
    transpose_16x16(lines.p, lines.stride, tile, kTileRow);
  } else {
    interleave(lines, tile, T{});
  }
}

// The first rows x depth of x (rows x k) as a left tile, zeros beyond. `spare` is two tiles.
template <class T>
TENON_INLINE void pack_left_tile(Operand x, size_t rows, size_t depth, char* tile, char* spare) {
  if (x.col != sizeof(T)) {
    pack_right_tile<T>(x.transposed(), depth, rows, spare, spare + kTileBytes);
    transpose_16x16(spare, kTileRow, tile, kTileRow);
  } else if (rows == 16 && depth == kPerStep<T>) {
    for (ptrdiff_t r = 0; r < 16; ++r) std::memcpy(tile + r * kTileRow, x.p + r * x.row, kTileRow);
  } else {
    copy_padded({x.p, x.row}, rows, depth * sizeof(T), tile, 16, kTileRow);
  }
}

// The product to compute, L (rows x k) times R (k x cols); `turned`: its transpose is C.
struct Product {
  Operand left, right;
  size_t rows, cols, k, steps;
  bool turned;
};

template <class T>
TENON_INLINE Product product_of(const TileMmArgs& args) {
  constexpr ptrdiff_t kSize = sizeof(T);
  const bool a_along_k = args.a_col == kSize, b_along_k = args.b_row == kSize;
  const size_t steps = (args.k + kPerStep<T> - 1) / kPerStep<T>;
  if (b_along_k && (!a_along_k || args.n >= args.m))
    return {right_of(args).transposed(),
            left_of(args).transposed(),
            args.n,
            args.m,
            args.k,
            steps,
            true};
  return {left_of(args), right_of(args), args.m, args.n, args.k, steps, false};
}

// A piece of the work: chunk number, its first step and its steps.
struct Chunk {
  size_t first, steps;
};

TENON_INLINE Chunk chunk_at(const Product& p, size_t c) {
  const size_t first = c * kChunkSteps;
  return {first, tile_least(p.steps - first, kChunkSteps)};
}
TENON_INLINE size_t chunk_count(const Product& p) {
  return p.steps == 0 ? 1 : (p.steps + kChunkSteps - 1) / kChunkSteps;
}

struct ChunkBuffers {
  char *sums, *turned, *spare, *left, *right, *partial;

  TENON_INLINE_MEMBER ChunkBuffers(void* workspace, const Product& p, size_t cols) {
    sums = static_cast<char*>(workspace);
    turned = sums + 4 * kTileBytes;
    spare = turned + 4 * kTileBytes;
    left = spare + 8 * kTileBytes;
    right = left + 2 * kChunkSteps * kTileBytes;
    partial = right + tile_round_up(cols, 32) / 16 * p.steps * kTileBytes;
  }
  // Tile t of the right operand in a chunk: chunks lie one behind the other.
  TENON_INLINE_MEMBER char* right_tile(const Chunk& chunk, size_t t, size_t tiles) const {
    return right + (chunk.first * tiles + t * chunk.steps) * kTileBytes;
  }
};

// Packs columns j to j + cols of the right operand, all of k.
template <class T>
void pack_right(const Product& p, size_t j, size_t cols, const ChunkBuffers& buffers) {
  const size_t tiles = (cols + 15) / 16;
  for (size_t c = 0; c < chunk_count(p); ++c) {
    const Chunk chunk = chunk_at(p, c);
    for (size_t t = 0; t < tiles; ++t)
      for (size_t s = 0; s < chunk.steps; ++s) {
        const size_t k = (chunk.first + s) * kPerStep<T>;
        pack_right_tile<T>(p.right.at(k, j + t * 16), tile_least(p.k - k, kPerStep<T>),
                           tile_least(cols - t * 16, 16),
                           buffers.right_tile(chunk, t, tiles) + s * kTileBytes, buffers.spare);
      }
  }
}

// The left tiles of a chunk, wherever they lie: the second tile of rows `pair` bytes after the
// first, the next step `step` bytes on.
struct LeftTiles {
  const char* p;
  ptrdiff_t row, pair, step;
};

template <class T>
TENON_INLINE LeftTiles left_tiles(const Product& p, size_t i, size_t rows, const Chunk& chunk,
                                  bool shared, const ChunkBuffers& buffers) {
  const Operand x = p.left.at(i, chunk.first * kPerStep<T>);
  const size_t k = p.k - chunk.first * kPerStep<T>;
  const bool whole = rows % 16 == 0 && k >= chunk.steps * kPerStep<T>;
  if (whole && !shared && x.col == sizeof(T)) return {x.p, x.row, 16 * x.row, 64};
  for (size_t t = 0; t * 16 < rows; ++t)
    for (size_t s = 0; s < chunk.steps; ++s)
      pack_left_tile<T>(x.at(t * 16, s * kPerStep<T>), tile_least(rows - t * 16, 16),
                        tile_least(k - s * kPerStep<T>, kPerStep<T>),
                        buffers.left + (t * chunk.steps + s) * kTileBytes, buffers.spare);
  return {buffers.left, kTileRow, static_cast<ptrdiff_t>(chunk.steps * kTileBytes), kTileBytes};
}

template <class T, bool two_rows, bool two_cols>
void sum_chunk(LeftTiles left, const char* right, size_t steps, Ahead& ahead) {
  const ptrdiff_t pair = static_cast<ptrdiff_t>(steps * kTileBytes);
  order_memory();
  for (size_t s = 0; s < steps; ++s, left.p += left.step, right += kTileBytes) {
    Step<T, two_rows, two_cols>{left.p, left.row, left.pair, right, pair}.full(0, 0);
    ahead.step();
  }
}

template <class T>
TENON_INLINE void sum_chunk(size_t rows, size_t cols, const LeftTiles& left, const char* right,
                            size_t steps, Ahead& ahead) {
  const auto run = rows > 16 ? (cols > 16 ? sum_chunk<T, true, true> : sum_chunk<T, true, false>)
                             : (cols > 16 ? sum_chunk<T, false, true> : sum_chunk<T, false, false>);
  run(left, right, steps, ahead);
}

// The memory of the chunk that comes after rows i.. of `chunk` within rows [begin, end).
template <class T>
TENON_INLINE Ahead fetch_left(const Product& p, size_t i, size_t begin, size_t end,
                              const Chunk& chunk, size_t cols) {
  Ahead ahead;
  size_t step = chunk.first;
  i += 32;
  if (i >= end) {
    step += kChunkSteps;
    i = begin;
  }
  if (step >= p.steps) {
    step = 0;
    i = end;
  }
  if (i >= p.rows || p.left.col != sizeof(T)) return ahead;
  ahead.next = p.left.at(i, step * kPerStep<T>).p;
  ahead.stride = p.left.row;
  ahead.rows = tile_least(p.rows - i, 32);
  ahead.row_bytes = tile_least(p.k * sizeof(T) - step * 64, kTileKBytes);
  ahead.per_step = ahead.rows / ((cols + 31) / 32 * chunk.steps + 1) + 1;
  return ahead;
}

// One chunk of rows i to i + rows (at most 32) with all packed columns. f(place of the block in
// L R) takes the sums of the last chunk out of the tiles.
template <class T, class F>
TENON_INLINE void multiply_chunk(const Product& p, const Place& at, size_t c,
                                 const ChunkBuffers& buffers, char* partial, Ahead ahead, F f) {
  const Chunk chunk = chunk_at(p, c);
  const LeftTiles left = left_tiles<T>(p, at.i, at.rows, chunk, at.cols > 64, buffers);
  const size_t tiles = (at.cols + 15) / 16;
  for (size_t j = 0; j < at.cols; j += 32, partial += 4 * kTileBytes) {
    const size_t cols = tile_least(at.cols - j, 32);
    if (c == 0) {
      zero_sums();
    } else {
      load_sums(partial, 128);
    }
    sum_chunk<T>(at.rows, cols, left, buffers.right_tile(chunk, j / 16, tiles), chunk.steps, ahead);
    if (c + 1 < chunk_count(p)) {
      store_sums(partial, 128);
    } else {
      f(Place{at.i, at.j + j, at.rows, cols});
    }
  }
}

// All of it. f(place, buffers, turned) takes a finished block out of the tiles.
template <class T, class F>
TENON_INLINE void multiply_all(const TileMmArgs& args, F f) {
  const Product p = product_of<T>(args);
  for (size_t j = 0; j < p.cols; j += kTileCols) {
    const size_t cols = tile_least(p.cols - j, kTileCols), blocks = (cols + 31) / 32;
    const ChunkBuffers buffers(args.workspace, p, cols);
    pack_right<T>(p, j, cols, buffers);
    const size_t high = cols * p.steps * 64 <= kInL2 ? 32 : kTileRows;
    for (size_t begin = 0; begin < p.rows; begin += high) {
      const size_t end = tile_least(begin + high, p.rows);
      for (size_t c = 0; c < chunk_count(p); ++c)
        for (size_t i = begin; i < end; i += 32)
          multiply_chunk<T>(p, {i, j, tile_least(end - i, 32), cols}, c, buffers,
                            buffers.partial + (i - begin) / 32 * blocks * 4 * kTileBytes,
                            fetch_left<T>(p, i, begin, end, chunk_at(p, c), cols),
                            [&](const Place& at) { f(at, buffers, p.turned); });
    }
  }
}

// The finished sums as 32 x 32 dwords in C's orientation; `at` is turned likewise.
TENON_INLINE const char* take_sums(const ChunkBuffers& buffers, bool turned, Place& at) {
  constexpr ptrdiff_t kWide = 128;
  store_sums(buffers.sums, kWide);
  if (!turned) return buffers.sums;
  at = {at.j, at.i, at.cols, at.rows};
  for (ptrdiff_t i = 0; i < 2; ++i)
    for (ptrdiff_t j = 0; j < 2; ++j)
      transpose_16x16(buffers.sums + 16 * i * kWide + j * 64, kWide,
                      buffers.turned + 16 * j * kWide + i * 64, kWide);
  return buffers.turned;
}

}  // namespace
}  // namespace tenon

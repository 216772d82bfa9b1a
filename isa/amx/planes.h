// f32 as bf16 planes: x = x0 + x1 + x2, each the nearest bf16 of what is left, packed into tiles.
// The tiles of one step along k lie together: [tile of rows or columns][step][plane].
#pragma once
#include "isa/amx/rows.h"
#include "isa/amx/tile.h"

namespace tenon {
namespace {

using U32 = xsimd::batch<uint32_t, Arch>;

constexpr size_t kStepF32 = 32;  // elements along k in a tile of bf16

// How many planes the products of planes need.
constexpr int planes_of(int products) { return products == 6 ? 3 : products == 3 ? 2 : 1; }

// The upper halves of part[0], part[1], ... are the planes; ties round away from zero, which
// changes neither the exactness of the next plane nor the size of what is left.
template <int kPlanes>
TENON_INLINE void split(F32 x, F32 (&part)[kPlanes]) {
  const U32 half(0x8000u), upper(0xffff0000u);
  for (int p = 0; p < kPlanes; ++p) {
    const U32 bits = xsimd::bitwise_cast<uint32_t>(x);
    const U32 rounded = p == 2 ? bits : bits + half;  // the third plane holds all that is left
    part[p] = xsimd::bitwise_cast<float>(rounded & upper);
    x = x - part[p];
  }
}

// The largest |x| so far, as bits, in every lane.
struct Largest {
  U32 lanes = U32(0u);

  TENON_INLINE_MEMBER void see(F32 x) {
    lanes = xsimd::max(lanes, xsimd::bitwise_cast<uint32_t>(x) & U32(0x7fffffffu));
  }
  TENON_INLINE_MEMBER void raise(uint32_t& value) const {
    alignas(64) uint32_t lane[kLanes];
    lanes.store_aligned(lane);
    for (uint32_t x : lane) value = x > value ? x : value;
  }
};

TENON_INLINE F32 load_f32(const char* p) { return load(reinterpret_cast<const float*>(p)); }

// 16 rows of 32 f32 along k into kPlanes left tiles.
template <int kPlanes>
TENON_INLINE Largest pack_left_tile(Rows x, char* tiles, Largest largest) {
  constexpr size_t kHalves = 2 * kLanes;  // one store's worth
  for (size_t r = 0; r < 16; ++r, x.p += x.stride)
    for (size_t k = 0; k < kStepF32; k += kHalves) {
      const F32 low = load_f32(x.p + k * 4), high = load_f32(x.p + (k + kLanes) * 4);
      F32 low_part[kPlanes], high_part[kPlanes];
      split(low, low_part);
      split(high, high_part);
      largest.see(low);
      largest.see(high);
      for (int p = 0; p < kPlanes; ++p)
        store_upper_halves(tiles + p * kTileBytes + r * kTileRow + k * 2, low_part[p],
                           high_part[p]);
    }
  return largest;
}

// 32 rows along k of 16 f32 into kPlanes right tiles: two rows side by side in each dword.
template <int kPlanes>
TENON_INLINE Largest pack_right_tile(Rows x, char* tiles, Largest largest) {
  for (size_t r = 0; r < 16; ++r, x.p += 2 * x.stride)
    for (size_t c = 0; c < 16; c += kLanes) {
      const F32 even = load_f32(x.p + c * 4), odd = load_f32(x.p + x.stride + c * 4);
      F32 even_part[kPlanes], odd_part[kPlanes];
      split(even, even_part);
      split(odd, odd_part);
      largest.see(even);
      largest.see(odd);
      for (int p = 0; p < kPlanes; ++p) {
        const U32 pair = (xsimd::bitwise_cast<uint32_t>(even_part[p]) >> 16) |
                         xsimd::bitwise_cast<uint32_t>(odd_part[p]);
        pair.store_unaligned(
            reinterpret_cast<uint32_t*>(tiles + p * kTileBytes + r * kTileRow + c * 4));
      }
    }
  return largest;
}

// A block of an operand: `across` rows of A or columns of B, `depth` elements along k.
struct Block {
  size_t across, depth;

  TENON_INLINE_MEMBER size_t tiles() const { return (across + 15) / 16; }
  TENON_INLINE_MEMBER size_t steps() const { return (depth + kStepF32 - 1) / kStepF32; }
};

// Calls f(tile, step) for all of a block, in the order in which they lie in memory.
template <class F>
TENON_INLINE void for_tiles(Block block, bool contiguous_along_k, F f) {
  const size_t tiles = block.tiles(), steps = block.steps();
  const size_t inner = contiguous_along_k ? steps : tiles;
  for (size_t i = 0; i < tiles * steps; ++i) {
    const size_t outer_at = i / inner, inner_at = i % inner;
    contiguous_along_k ? f(outer_at, inner_at) : f(inner_at, outer_at);
  }
}

// Packs rows of A. `spare` is four tiles large.
template <int kPlanes>
void pack_left(Operand a, Block block, char* packed, char* spare, uint32_t& range) {
  Largest largest;
  for_tiles(block, a.col == 4, [&](size_t t, size_t s) {
    const size_t rows = tile_least(block.across - t * 16, 16);
    const size_t cols = tile_least(block.depth - s * kStepF32, kStepF32);
    const Rows x = dword_rows<16, kStepF32>(a.at(t * 16, s * kStepF32), rows, cols, spare,
                                            spare + 2 * kTileBytes);
    char* tiles = packed + (t * block.steps() + s) * kPlanes * kTileBytes;
    largest = pack_left_tile<kPlanes>(x, tiles, largest);
  });
  largest.raise(range);
}

// Packs columns of B.
template <int kPlanes>
void pack_right(Operand b, Block block, char* packed, char* spare, uint32_t& range) {
  Largest largest;
  for_tiles(block, b.row == 4 && b.col != 4, [&](size_t t, size_t s) {
    const size_t rows = tile_least(block.depth - s * kStepF32, kStepF32);
    const size_t cols = tile_least(block.across - t * 16, 16);
    const Rows x = dword_rows<kStepF32, 16>(b.at(s * kStepF32, t * 16), rows, cols, spare,
                                            spare + 2 * kTileBytes);
    char* tiles = packed + (t * block.steps() + s) * kPlanes * kTileBytes;
    largest = pack_right_tile<kPlanes>(x, tiles, largest);
  });
  largest.raise(range);
}

}  // namespace
}  // namespace tenon

// f32 matrix product on AMX: isa/tile_mm.h says what it computes.
//
// How: a block of B (kTileF32K x kTileF32N) is split into planes and packed into L2, then every
// panel of 32 rows of A (packed once per block of k) meets it, 32 columns at a time. A step of 32
// along k is 24 products and 16 tile loads for six products: each product of planes after the first
// loads one side only. 80 % of the tile unit's peak when measured alone (Granite Rapids, GCC 13,
// November 2026: 415 to 450 GFLOP/s of f32); a product is 16 cycles, a tile load 8 from L1.
// Within a step the small products come first. A block of k starts from zero, and blocks add up in
// C: sums stay small, and so do their rounding errors.
#include "isa/amx/planes.h"

namespace tenon {
namespace {

// Where everything lies in the workspace.
struct Buffers {
  float* sums;  // one block's, 32 x 32
  char* spare;  // four tiles for the packers
  char* left;   // packed A
  char* right;  // packed B

  Buffers(const TileMmArgs& args, Block a, int planes) {
    char* p = static_cast<char*>(args.workspace);
    sums = reinterpret_cast<float*>(p);
    spare = p + 4 * kTileBytes;
    left = p + 8 * kTileBytes;
    right = left + (a.tiles() + 1) / 2 * 2 * a.steps() * static_cast<size_t>(planes) * kTileBytes;
  }
};

template <int kProducts, class S>
TENON_INLINE void multiply_planes(const S& step, Ahead& ahead_left, Ahead& ahead_right) {
  constexpr size_t k1 = kTileBytes, k2 = 2 * kTileBytes;
  if constexpr (kProducts == 1) {
    step.full(0, 0);
    ahead_left.step();
    ahead_right.step();
  } else if constexpr (kProducts == 3) {
    step.full(k1, 0);
    ahead_left.step();
    step.new_left(0);
    ahead_right.step();
    step.new_right(k1);
  } else {
    step.full(k2, 0);
    step.new_left(k1);
    ahead_left.step();
    step.new_right(k1);
    step.new_left(0);
    ahead_right.step();
    step.new_right(k2);
    step.new_right(0);
  }
}

// The sums of one block of at most 32 x 32 over all steps of the packed block of k.
template <int kProducts, bool two_rows, bool two_cols>
void sum_block(const char* left, const char* right, size_t steps, Ahead& ahead_left,
               Ahead& ahead_right) {
  constexpr size_t kStepBytes = planes_of(kProducts) * kTileBytes;
  const ptrdiff_t pair = static_cast<ptrdiff_t>(steps * kStepBytes);
  order_memory();
  zero_sums();
  for (size_t s = 0; s < steps; ++s, left += kStepBytes, right += kStepBytes)
    multiply_planes<kProducts>(Step<bf16, two_rows, two_cols>{left, kTileRow, pair, right, pair},
                               ahead_left, ahead_right);
}

template <int kProducts>
TENON_INLINE void sum_block(const Place& at, const char* left, const char* right, size_t steps,
                            Ahead& ahead_left, Ahead& ahead_right) {
  const bool two_rows = at.rows > 16, two_cols = at.cols > 16;
  const auto run =
      two_rows
          ? (two_cols ? sum_block<kProducts, true, true> : sum_block<kProducts, true, false>)
          : (two_cols ? sum_block<kProducts, false, true> : sum_block<kProducts, false, false>);
  run(left, right, steps, ahead_left, ahead_right);
}

// A cut along k.
struct Cut {
  size_t k, depth;
  bool first, last;
};

// The accumulators into C: straight where nothing else is to be done to them.
TENON_INLINE void store_f32(const TileMmArgs& args, const Place& at, const Cut& cut, float* sums) {
  const bool whole = at.rows == 32 && at.cols == 32;
  if (whole && cut.first && (!cut.last || plain_end(args)))
    return store_sums(result_row<float>(args, at, 0), args.c_row);
  store_sums(sums, 128);
  store_block<float>(args, at, sums, !cut.first, cut.last);
}

TENON_INLINE void prefetch_result(const TileMmArgs& args, const Place& at) {
  for (size_t r = 0; r < at.rows; ++r) {
    const float* row = result_row<float>(args, at, r);
    _mm_prefetch(row, _MM_HINT_T1);
    _mm_prefetch(row + at.cols - 1, _MM_HINT_T1);
  }
}

// The block of B that is packed next, to be fetched during `steps` steps of products.
TENON_INLINE Ahead fetch_right(Operand b, Block block, size_t steps) {
  const bool along_n = b.col == 4;
  Ahead ahead;
  ahead.next = b.p;
  ahead.stride = along_n ? b.row : b.col;
  ahead.rows = along_n ? block.depth : block.across;
  ahead.row_bytes = 4 * (along_n ? block.across : block.depth);
  ahead.per_step = ahead.rows / (steps + 1) + 1;
  return ahead;
}

// One panel of A (at.rows <= 32) with one packed block of B.
template <int kProducts>
void multiply_panel(const TileMmArgs& args, Place at, const Cut& cut, const char* left,
                    const Buffers& buffers, Ahead& ahead_right) {
  constexpr size_t kStepBytes = planes_of(kProducts) * kTileBytes;
  const size_t steps = Block{at.rows, cut.depth}.steps(), end = at.j + at.cols;
  Ahead ahead_left{left + 2 * steps * kStepBytes, kTileBytes, 2 * steps * planes_of(kProducts),
                   kTileBytes, 1};
  const char* right = buffers.right;
  for (; at.j < end; at.j += 32, right += 2 * steps * kStepBytes) {
    at.cols = tile_least(end - at.j, 32);
    prefetch_result(args, at);
    sum_block<kProducts>(at, left, right, steps, ahead_left, ahead_right);
    store_f32(args, at, cut, buffers.sums);
  }
}

// All columns of C for up to kTileF32M rows and one cut of k. False: out of range, C is void.
template <int kProducts>
bool multiply_cut(const TileMmArgs& args, size_t i, size_t rows, const Cut& cut) {
  constexpr int kPlanes = planes_of(kProducts);
  const Block a{rows, cut.depth};
  const Buffers buffers(args, a, kPlanes);
  pack_left<kPlanes>(left_of(args).at(i, cut.k), a, buffers.left, buffers.spare, args.range->a);
  for (size_t j = 0; j < args.n; j += kTileF32N) {
    const Block b{tile_least(args.n - j, kTileF32N), cut.depth};
    const Operand right = right_of(args).at(cut.k, j);
    pack_right<kPlanes>(right, b, buffers.right, buffers.spare, args.range->b);
    if (args.range->a >= kRoundsToInfinity || args.range->b >= kRoundsToInfinity) return false;
    const size_t next = j + kTileF32N;
    Ahead ahead;
    if (next < args.n)
      ahead = fetch_right(right.at(0, kTileF32N), {tile_least(args.n - next, kTileF32N), cut.depth},
                          (rows + 31) / 32 * ((b.across + 31) / 32) * b.steps());
    for (size_t r = 0; r < rows; r += 32)
      multiply_panel<kProducts>(args, {i + r, j, tile_least(rows - r, 32), b.across}, cut,
                                buffers.left + r / 16 * a.steps() * kPlanes * kTileBytes, buffers,
                                ahead);
  }
  return true;
}

// Cuts k into equal blocks of whole steps, which depend on k alone.
template <int kProducts>
void multiply_all(const TileMmArgs& args) {
  const size_t steps = (args.k + kStepF32 - 1) / kStepF32, most = kTileF32K / kStepF32;
  const size_t cuts = steps == 0 ? 1 : (steps + most - 1) / most;
  for (size_t i = 0; i < args.m; i += kTileF32M)
    for (size_t c = 0; c < cuts; ++c) {
      const size_t begin = steps * c / cuts * kStepF32;
      const size_t end = tile_least(steps * (c + 1) / cuts * kStepF32, args.k);
      const Cut cut{begin, end - begin, c == 0, c + 1 == cuts};
      if (!multiply_cut<kProducts>(args, i, tile_least(args.m - i, kTileF32M), cut)) return;
    }
}

}  // namespace

void TENON_KERNEL(mm_f32)(const TileMmArgs& args) noexcept {
  const Tiles tiles;
  if (args.products == 6) {
    multiply_all<6>(args);
  } else if (args.products == 3) {
    multiply_all<3>(args);
  } else {
    multiply_all<1>(args);
  }
}

}  // namespace tenon

// Products of packed panels over xsimd: isa/gemm_panels.h says what they compute.
//
// A register tile sums one lane of the order at a time; what the lanes have in common is the tile,
// so folding them is an addition of vectors. Lanes are visited in the order of the fold, and sums
// that wait for their other half rest in `waiting`, a stack that is as deep as the fold. Loops,
// outermost first: lanes, blocks of their steps, panels of b (in L1), panels of a (through L2).
#include "isa/gemm_panels.h"

#include "isa/simd/gemm_tile.h"

namespace tenon {
namespace {

constexpr PanelShape kShape = panel_shape(kIsa);
constexpr int kLevels = __builtin_ctzll(kLanes);
static_assert(kShape.lanes == kLanes && kShape.rows % kSplats == 0);
constexpr int kMr = static_cast<int>(kShape.rows), kNr = static_cast<int>(kShape.columns / kLanes);
constexpr size_t kTile = kShape.rows * kShape.columns;
constexpr size_t kTiles = kPanelsRows / kShape.rows * (kPanelsColumns / kShape.columns);
constexpr size_t kSteps = 256;  // of a lane at a time: 16 KiB of a panel of b

// Sums of one tile between visits, one slot after another.
constexpr size_t kSlot = kTiles * kTile;

struct Visit {
  size_t steps;
  const float *a, *b;
  float* waiting;    // this tile's place in slot 0
  float* carry;      // sums of the lane so far
  bool first, last;  // block of the lane
  int folds, slot;   // at the lane's end: so many waiting sums join, then the sum waits here
};

TENON_INLINE void add_slot(F32 (&acc)[kMr * kNr], const float* slot) {
  TENON_UNROLL for (int i = 0; i < kMr * kNr; ++i) acc[i] = load(slot + i * kLanes) + acc[i];
}

TENON_INLINE void store_tile(const F32 (&acc)[kMr * kNr], float* to) {
  TENON_UNROLL for (int i = 0; i < kMr * kNr; ++i) store(to + i * kLanes, acc[i]);
}

// The products of row I + S and the rows after it that `splats` holds.
template <int I, size_t S = 0>
TENON_INLINE void multiply(F32 splats, const F32 (&b)[kNr], F32 (&acc)[kMr * kNr]) {
  if constexpr (S < kSplats) {
    TENON_UNROLL for (int j = 0; j < kNr; ++j) {
      F32& sum = acc[(I + static_cast<int>(S)) * kNr + j];
      sum = fma_splat<S>(splats, b[j], sum);
    }
    multiply<I, S + 1>(splats, b, acc);
  }
}
// One step of a lane: rows I and up.
template <int I = 0>
TENON_INLINE void multiply(const float* a, const F32 (&b)[kNr], F32 (&acc)[kMr * kNr]) {
  if constexpr (I < kMr) {
    multiply<I>(load_splats(a + I), b, acc);
    multiply<I + static_cast<int>(kSplats)>(a, b, acc);
  }
}

// Returns with the tile's sum over this block in acc, folded if the lane is complete.
TENON_INLINE void visit(const Visit& v, F32 (&acc)[kMr * kNr]) {
  TENON_UNROLL for (int i = 0; i < kMr * kNr; ++i) acc[i] =
      v.first ? F32(0.0f) : load(v.carry + i * kLanes);
  const float *a = v.a, *b = v.b;
  for (size_t q = 0; q < v.steps; ++q, a += kMr, b += kNr * kLanes) {
    F32 columns[kNr];
    TENON_UNROLL for (int j = 0; j < kNr; ++j) columns[j] = load(b + j * kLanes);
    multiply(a, columns, acc);
  }
  if (!v.last) return;
  for (int f = 0; f < v.folds; ++f) add_slot(acc, v.waiting + (v.slot + v.folds - 1 - f) * kSlot);
}

__attribute__((noinline)) void visit_tile(const Visit& v) {
  F32 acc[kMr * kNr];
  visit(v, acc);
  store_tile(acc, v.last ? v.waiting + v.slot * kSlot : v.carry);
}

// The last visit of all: m x n outputs of the tile.
__attribute__((noinline)) void finish_tile(const Visit& v, size_t m, size_t n, char* y,
                                           ptrdiff_t y_row) {
  F32 acc[kMr * kNr];
  visit(v, acc);
  alignas(64) float tile[kTile];
  store_tile(acc, tile);
  for (size_t i = 0; i < m; ++i, y += y_row) {
    float* to = reinterpret_cast<float*>(y);
    const float* from = tile + i * kShape.columns;
    size_t j = 0;
    for (; j + kLanes <= n; j += kLanes) store(to + j, load(from + j));
    if (j < n) store_n(to + j, load(from + j), n - j);
  }
}

// The lane that is visited as number v: v's bits in reverse.
TENON_INLINE size_t lane_of(size_t v) {
  size_t lane = 0;
  for (int level = 0; level < kLevels; ++level) lane |= (v >> level & 1) << (kLevels - 1 - level);
  return lane;
}

// One block of steps of one lane, over all tiles.
TENON_INLINE void visit_tiles(const GemmPanelsArgs& g, Visit v, float* waiting, size_t a_panel,
                              size_t b_panel, bool end) {
  const float *a = v.a, *b = v.b;
  float* place = waiting;
  for (size_t j = 0; j < g.n; j += kShape.columns, b += b_panel) {
    v.b = b, v.a = a;
    for (size_t i = 0; i < g.m; i += kShape.rows, v.a += a_panel, place += kTile) {
      v.waiting = place, v.carry = place + kLevels * kSlot;
      if (!end) {
        visit_tile(v);
        continue;
      }
      const size_t m = g.m - i < kShape.rows ? g.m - i : kShape.rows;
      const size_t n = g.n - j < kShape.columns ? g.n - j : kShape.columns;
      finish_tile(v, m, n, reinterpret_cast<char*>(g.y + j) + static_cast<ptrdiff_t>(i) * g.y_row,
                  g.y_row);
    }
  }
}

TENON_INLINE void panels(const GemmPanelsArgs& g) {
  constexpr PanelLayout a{kShape.lanes, kShape.rows}, b{kShape.lanes, kShape.columns};
  alignas(64) float waiting[(kLevels + 1) * kSlot];
  const size_t steps = a.steps(g.k);
  for (size_t number = 0; number < kLanes; ++number) {
    const size_t lane = lane_of(number);
    const int folds = __builtin_ctzll(~number), slot = __builtin_popcountll(number) - folds;
    size_t q = 0;
    do {
      const size_t count = steps - q < kSteps ? steps - q : kSteps;
      const bool last = q + count == steps;
      const Visit v{count,
                    g.a + lane * a.lane(g.k) + q * a.width,
                    g.b + lane * b.lane(g.k) + q * b.width,
                    nullptr,
                    nullptr,
                    q == 0,
                    last,
                    folds,
                    slot};
      visit_tiles(g, v, waiting, a.size(g.k), b.size(g.k), last && number + 1 == kLanes);
      q += count;
    } while (q < steps);
  }
}

}  // namespace

void TENON_KERNEL(gemm_panels_f32_f32_f32)(const GemmPanelsArgs& args) noexcept { panels(args); }

}  // namespace tenon

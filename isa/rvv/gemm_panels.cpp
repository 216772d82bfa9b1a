// Products of packed panels for RVV: isa/gemm_panels.h says what they compute.
//
// A register tile is six rows of a and a vector of b's columns, for one lane of the sum: six
// accumulators of m4 and one vector of b, so that six of seven vector instructions multiply. Lanes
// fold as the contract says; sums that wait for their other half rest in `waiting`. The panels are
// as wide at every VLEN: a wider machine takes them in fewer vectors.
#include "isa/gemm_panels.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using V = vfloat32m4_t;
constexpr PanelShape kShape = panel_shape(kRvv);
static_assert(kShape.rows == 6 && kShape.lanes == 16);
constexpr PanelLayout kA{kShape.lanes, kShape.rows}, kB{kShape.lanes, kShape.columns};
constexpr size_t kLevels = 4;  // lanes halve so often
// Columns of a block, in whole panels.
constexpr size_t kWidth = (kPanelsColumns + kShape.columns - 1) / kShape.columns * kShape.columns;
constexpr size_t kBlock = kPanelsRows * kWidth;

// Six rows of a, over the steps of one lane, against the columns of b in a vector.
TENON_INLINE void lane_tile(size_t steps, const float* a, const float* b, float* to, size_t vl) {
  V s0 = broadcast<V>({0.0f}), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0;
  for (const float* end = a + steps * kShape.rows; a != end;
       a += kShape.rows, b += kShape.columns) {
    const V vb = load<V>(b, vl);
    s0 = fma(vb, Constant{a[0]}, s0), s1 = fma(vb, Constant{a[1]}, s1);
    s2 = fma(vb, Constant{a[2]}, s2), s3 = fma(vb, Constant{a[3]}, s3);
    s4 = fma(vb, Constant{a[4]}, s4), s5 = fma(vb, Constant{a[5]}, s5);
  }
  store(to, s0, vl), store(to + kWidth, s1, vl);
  store(to + 2 * kWidth, s2, vl), store(to + 3 * kWidth, s3, vl);
  store(to + 4 * kWidth, s4, vl), store(to + 5 * kWidth, s5, vl);
}

// Whole vectors: panels are filled up with zeros.
TENON_INLINE void lane_sums(const GemmPanelsArgs& g, size_t lane, float* to, size_t vl) {
  const size_t steps = kA.steps(g.k);
  const float* b = g.b + lane * kB.lane(g.k);
  for (size_t j = 0; j < g.n; j += kShape.columns, b += kB.size(g.k))
    for (size_t x = 0; x < kShape.columns && j + x < g.n; x += vl) {
      const float* a = g.a + lane * kA.lane(g.k);
      for (size_t i = 0; i < g.m; i += kShape.rows, a += kA.size(g.k))
        lane_tile(steps, a, b + x, to + i * kWidth + j + x, vl);
    }
}

// The sums of one lane for the whole block.
__attribute__((noinline)) void lane_sums(const GemmPanelsArgs& g, size_t lane, float* to) {
  if (lanes<V>() <= kShape.columns) return lane_sums(g, lane, to, lanes<V>());
  lane_sums(g, lane, to, kShape.columns);
}

__attribute__((noinline)) void add_block(size_t m, float* to, const float* from) {
  using Wide = vfloat32m8_t;
  map<Wide>(m * kWidth, to, from, to,
            [](Wide a, Wide b) __attribute__((always_inline)) { return add(a, b); });
}

// The lanes that are `lane` modulo kShape.lanes >> Level.
template <size_t Level>
TENON_INLINE void sums(const GemmPanelsArgs& g, size_t lane, float* to, float* waiting) {
  if constexpr (Level == 0) {
    lane_sums(g, lane, to);
  } else {
    float* const other = waiting + Level * kBlock;
    sums<Level - 1>(g, lane, to, waiting);
    sums<Level - 1>(g, lane + (kShape.lanes >> Level), other, waiting);
    add_block(g.m, to, other);
  }
}

TENON_INLINE void panels(const GemmPanelsArgs& g) {
  alignas(64) float waiting[(kLevels + 1) * kBlock];
  sums<kLevels>(g, 0, waiting, waiting);
  for (size_t i = 0; i < g.m; ++i) {
    float* y = byte_offset(g.y, static_cast<ptrdiff_t>(i) * g.y_row);
    map<vfloat32m8_t>(g.n, waiting + i * kWidth, y,
                      [](auto x) __attribute__((always_inline)) { return x; });
  }
}

}  // namespace

void TENON_KERNEL(gemm_panels_f32_f32_f32)(const GemmPanelsArgs& args) noexcept { panels(args); }

}  // namespace tenon

// gemm_columns kernels for RVV: isa/gemm_columns.h says what they compute.
//
// Vectors run along the columns. Up to four rows of a at a time, one lane of the sum after another;
// lanes fold as isa/gemm.h says, and sums that wait for their other half rest in `waiting`.
#include "isa/gemm_columns.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using V = vfloat32m4_t;
constexpr size_t kSumLanes = 16, kLevels = 4;  // isa/gemm.h
constexpr size_t kRows = 4, kColumns = 128;    // of a block; VLEN 1024 has so many in an m4 group
constexpr size_t kBlock = kRows * kColumns;

// Columns [j, j + vl) of rows [i, i + m).
template <class B>
struct Block {
  const GemmArgs& g;
  size_t i, m, j, vl;

  const float* a(size_t row) const {
    return byte_offset(static_cast<const float*>(g.a), static_cast<ptrdiff_t>(i + row) * g.a_row);
  }
};

template <int M, class B>
TENON_INLINE void lane_sums(const Block<B>& x, size_t lane, float* to, size_t vl) {
  const float *a0 = x.a(0), *a1 = x.a(M > 1 ? 1 : 0), *a2 = x.a(M > 2 ? 2 : 0);
  const float* a3 = x.a(M > 3 ? 3 : 0);
  const ptrdiff_t step = static_cast<ptrdiff_t>(kSumLanes) * x.g.b_row;
  const B* b = byte_offset(static_cast<const B*>(x.g.b), static_cast<ptrdiff_t>(lane) * x.g.b_row);
  b += x.j;
  V s0 = broadcast<V>({0.0f}), s1 = s0, s2 = s0, s3 = s0;
  for (size_t p = lane; p < x.g.k; p += kSumLanes, b = byte_offset(b, step)) {
    const V vb = load<V>(b, vl);
    s0 = fma(vb, Constant{a0[p]}, s0);
    if constexpr (M > 1) s1 = fma(vb, Constant{a1[p]}, s1);
    if constexpr (M > 2) s2 = fma(vb, Constant{a2[p]}, s2);
    if constexpr (M > 3) s3 = fma(vb, Constant{a3[p]}, s3);
  }
  store(to, s0, vl);
  if constexpr (M > 1) store(to + kColumns, s1, vl);
  if constexpr (M > 2) store(to + 2 * kColumns, s2, vl);
  if constexpr (M > 3) store(to + 3 * kColumns, s3, vl);
}

template <int M, class B>
TENON_INLINE void lane_sums(const Block<B>& x, size_t lane, float* to) {
  if (x.vl == lanes<V>()) return lane_sums<M>(x, lane, to, lanes<V>());
  lane_sums<M>(x, lane, to, x.vl);
}

template <class B>
__attribute__((noinline)) void lane_sums(const Block<B>& x, size_t lane, float* to) {
  if (x.m == 4) return lane_sums<4>(x, lane, to);
  if (x.m == 3) return lane_sums<3>(x, lane, to);
  if (x.m == 2) return lane_sums<2>(x, lane, to);
  lane_sums<1>(x, lane, to);
}

// The lanes that are `lane` modulo kSumLanes >> Level.
template <size_t Level, class B>
TENON_INLINE void sums(const Block<B>& x, size_t lane, float* to, float* waiting) {
  if constexpr (Level == 0) {
    lane_sums(x, lane, to);
  } else {
    float* const other = waiting + Level * kBlock;
    sums<Level - 1>(x, lane, to, waiting);
    sums<Level - 1>(x, lane + (kSumLanes >> Level), other, waiting);
    for (size_t r = 0; r < x.m; ++r)
      store(to + r * kColumns,
            add(load<V>(to + r * kColumns, x.vl), load<V>(other + r * kColumns, x.vl)), x.vl);
  }
}

template <class B>
TENON_INLINE void columns(const GemmArgs& g) {
  alignas(64) float waiting[(kLevels + 1) * kBlock];
  const size_t most = lanes<V>() < kColumns ? lanes<V>() : kColumns;
  for (size_t j = 0; j < g.n; j += most)
    for (size_t i = 0; i < g.m; i += kRows) {
      const Block<B> x{g, i, g.m - i < kRows ? g.m - i : kRows, j, g.n - j < most ? g.n - j : most};
      sums<kLevels>(x, 0, waiting, waiting);
      for (size_t r = 0; r < x.m; ++r) {
        float* y =
            byte_offset(static_cast<float*>(g.y), static_cast<ptrdiff_t>(i + r) * g.y_row +
                                                      static_cast<ptrdiff_t>(j) * g.y_column);
        __riscv_vsse32(y, g.y_column, load<V>(waiting + r * kColumns, x.vl), x.vl);
      }
    }
}

}  // namespace

void TENON_KERNEL(gemm_columns_f32_f32_f32)(const GemmArgs& args) noexcept { columns<float>(args); }
void TENON_KERNEL(gemm_columns_f32_f32_bf16)(const GemmArgs& args) noexcept { columns<bf16>(args); }
void TENON_KERNEL(gemm_columns_f32_f32_f16)(const GemmArgs& args) noexcept { columns<f16>(args); }

}  // namespace tenon

// f32 gemm kernels over xsimd: isa/gemm.h says what they compute.
//
// Loops, outermost first: groups of kGroup rows of b, blocks of k (only where k is long), tiles of
// a, tiles of b. The MR rows of a that a tile reads stay in L1 while the group's rows of b pass
// through L2, and accumulators rest in `carry` between blocks of k.
#include "isa/gemm.h"

#include "isa/simd/gemm_tile.h"

namespace tenon {
namespace {

constexpr int kMr = kRegisters == 32 ? 6 : 4, kNr = kRegisters == 32 ? 4 : 3;
constexpr size_t kGroup = 8 * kNr;  // rows of b that stay in L2
constexpr size_t kRows = 8 * kMr;   // rows of a per block: what `carry` has room for
constexpr size_t kBlock = 512;      // elements of k per block; a multiple of the lanes

constexpr size_t kShortRow = 2560;  // bytes: below, rows of b are prefetched (kAhead)

template <class B>
struct Problem {
  size_t m, n, k;
  const float* a;
  size_t a_row;
  const B* b;
  size_t b_row;
  char* y;
  ptrdiff_t y_row, y_column;

  // The operands of outputs from (i, j) on, over k elements from p on.
  TileArgs<B> at(size_t i, size_t j, size_t p, size_t count, float* carry) const {
    return {count,
            a + i * a_row + p,
            a_row,
            b + j * b_row + p,
            b_row,
            carry,
            p == 0,
            p + count == k,
            y + static_cast<ptrdiff_t>(i) * y_row + static_cast<ptrdiff_t>(j) * y_column,
            y_row,
            y_column};
  }
};

// NR rows of b from row j on against m <= MR rows of a from row i on.
template <int MR, int NR, class B>
TENON_INLINE void tile_of(size_t m, const TileArgs<B>& t) {
  if (m == MR) return tile<MR, NR, false>(t);
  if constexpr (MR > 1) tile_of<MR - 1, NR, B>(m, t);
}

// Few rows: all of k at once, MR rows of a against NR streams of b, then fewer streams.
template <int MR, int NR, bool Ahead, class B>
TENON_INLINE void streams(const Problem<B>& x, size_t j) {
  for (; j + NR <= x.n; j += NR) tile<MR, NR, Ahead>(x.at(0, j, 0, x.k, nullptr));
  if constexpr (NR > 1) streams<MR, NR / 2, Ahead>(x, j);
}

template <int MR, int NR, int ShortNr, class B>
TENON_INLINE void skinny(const Problem<B>& x) {
  if (x.b_row * sizeof(B) < kShortRow) return streams<MR, ShortNr, true>(x, 0);
  streams<MR, NR, false>(x, 0);
}

// A group of rows of b against a block of rows of a, over one block of k.
template <class B>
TENON_INLINE void tiles(const Problem<B>& x, size_t i0, size_t m, size_t j0, size_t n, size_t p,
                        size_t count, float* carry) {
  for (size_t i = 0; i < m; i += kMr) {
    const size_t rows = m - i < kMr ? m - i : kMr;
    size_t j = 0;
    for (; j + kNr <= n; j += kNr)
      tile_of<kMr, kNr, B>(rows,
                           x.at(i0 + i, j0 + j, p, count, carry + (i * kGroup + j * kMr) * kLanes));
    for (; j < n; ++j)
      tile_of<kMr, 1, B>(rows,
                         x.at(i0 + i, j0 + j, p, count, carry + (i * kGroup + j * kMr) * kLanes));
  }
}

template <class B>
TENON_INLINE void blocked(const Problem<B>& x) {
  alignas(64) float carry[kRows * kGroup * kLanes];
  for (size_t j = 0; j < x.n; j += kGroup) {
    const size_t n = x.n - j < kGroup ? x.n - j : kGroup;
    for (size_t i = 0; i < x.m; i += kRows) {
      const size_t m = x.m - i < kRows ? x.m - i : kRows;
      size_t p = 0;
      do {
        const size_t count = x.k - p < 2 * kBlock ? x.k - p : kBlock;
        tiles(x, i, m, j, n, p, count, carry);
        p += count;
      } while (p < x.k);
    }
  }
}

template <class B>
TENON_INLINE void gemm(const GemmArgs& g) {
  const Problem<B> x{g.m,
                     g.n,
                     g.k,
                     static_cast<const float*>(g.a),
                     static_cast<size_t>(g.a_row) / sizeof(float),
                     static_cast<const B*>(g.b),
                     static_cast<size_t>(g.b_row) / sizeof(B),
                     static_cast<char*>(g.y),
                     g.y_row,
                     g.y_column};
  if (x.m == 1) return skinny<1, 8, 4>(x);
  if (x.m == 2) return skinny<2, 4, 4>(x);
  if (x.m == 3) return skinny<3, 3, 3>(x);
  if (x.m == 4) return skinny<4, 3, 3>(x);
  if (x.m > 0) blocked(x);
}

}  // namespace

void TENON_KERNEL(gemm_f32_f32_f32)(const GemmArgs& args) noexcept { gemm<float>(args); }
void TENON_KERNEL(gemm_f32_f32_bf16)(const GemmArgs& args) noexcept { gemm<bf16>(args); }
void TENON_KERNEL(gemm_f32_f32_f16)(const GemmArgs& args) noexcept { gemm<f16>(args); }

}  // namespace tenon

// Integer products of widened bytes for RVV: isa/gemm.h. Sums wrap and have no order, so vectors
// run along k over as many elements as VLEN allows: a register tile of three rows of a by two of b,
// with accumulators of m4 (24 registers) and operands of m2 (6).
#include "isa/gemm.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Sum = vint32m4_t;
using Bytes = vint16m2_t;
constexpr size_t kMr = 3, kNr = 2;

TENON_INLINE size_t steps() { return __riscv_vsetvlmax_e16m2(); }
TENON_INLINE Sum zeros() { return __riscv_vmv_v_x_i32m4(0, steps()); }
TENON_INLINE Bytes load_i16(const int16_t* p, size_t n) { return __riscv_vle16_v_i16m2(p, n); }
// Part: of the last elements, fewer than a vector; the lanes beyond n stay.
template <bool Part>
TENON_INLINE Sum add_products(Sum sum, Bytes a, Bytes b, size_t n) {
  return Part ? __riscv_vwmacc_tu(sum, a, b, n) : __riscv_vwmacc(sum, a, b, n);
}
TENON_INLINE int32_t add_lanes(Sum x) {
  return __riscv_vmv_x(__riscv_vredsum_vs_i32m4_i32m1(x, __riscv_vmv_s_x_i32m1(0, 1), steps()));
}

struct Operands {
  const GemmArgs& g;

  const int16_t* a(size_t i) const {
    return byte_offset(static_cast<const int16_t*>(g.a), static_cast<ptrdiff_t>(i) * g.a_row);
  }
  const int16_t* b(size_t j) const {
    return byte_offset(static_cast<const int16_t*>(g.b), static_cast<ptrdiff_t>(j) * g.b_row);
  }
  void set(size_t i, size_t j, Sum sum) const {
    *byte_offset(static_cast<int32_t*>(g.y),
                 static_cast<ptrdiff_t>(i) * g.y_row + static_cast<ptrdiff_t>(j) * g.y_column) =
        add_lanes(sum);
  }
};

// M <= 3 rows of a from i on, N <= 2 of b from j on.
template <size_t M, size_t N>
__attribute__((noinline)) void tile(const GemmArgs& g, size_t i, size_t j) {
  const Operands x{g};
  const int16_t *a0 = x.a(i), *a1 = x.a(i + (M > 1 ? 1 : 0)), *a2 = x.a(i + (M > 2 ? 2 : 0));
  const int16_t *b0 = x.b(j), *b1 = x.b(j + (N > 1 ? 1 : 0));
  Sum s00 = zeros(), s01 = s00, s10 = s00, s11 = s00, s20 = s00, s21 = s00;
  const auto step = [&](auto part, size_t p, size_t n) __attribute__((always_inline)) {
    constexpr bool kPart = decltype(part)::value;
    const Bytes v0 = load_i16(b0 + p, n), v1 = N > 1 ? load_i16(b1 + p, n) : v0;
    const auto row = [&](const int16_t* a, Sum& s0, Sum& s1) __attribute__((always_inline)) {
      const Bytes va = load_i16(a + p, n);
      s0 = add_products<kPart>(s0, va, v0, n);
      if constexpr (N > 1) s1 = add_products<kPart>(s1, va, v1, n);
    };
    row(a0, s00, s01);
    if constexpr (M > 1) row(a1, s10, s11);
    if constexpr (M > 2) row(a2, s20, s21);
  };
  const size_t whole = steps(), rest = g.k & (whole - 1), end = g.k - rest;
  for (size_t p = 0; p != end; p += whole) step(std::false_type{}, p, whole);
  if (rest > 0) step(std::true_type{}, end, rest);
  x.set(i, j, s00);
  if constexpr (N > 1) x.set(i, j + 1, s01);
  if constexpr (M > 1) x.set(i + 1, j, s10);
  if constexpr (M > 1 && N > 1) x.set(i + 1, j + 1, s11);
  if constexpr (M > 2) x.set(i + 2, j, s20);
  if constexpr (M > 2 && N > 1) x.set(i + 2, j + 1, s21);
}

template <size_t M>
TENON_INLINE void tiles(const GemmArgs& g, size_t i) {
  size_t j = 0;
  for (; j + kNr <= g.n; j += kNr) tile<M, kNr>(g, i, j);
  if (j < g.n) tile<M, 1>(g, i, j);
}

}  // namespace

void TENON_KERNEL(gemm_i32_i16_i16)(const GemmArgs& g) noexcept {
  size_t i = 0;
  for (; i + kMr <= g.m; i += kMr) tiles<kMr>(g, i);
  if (g.m - i == 2) tiles<2>(g, i);
  if (g.m - i == 1) tiles<1>(g, i);
}

}  // namespace tenon

// f32 gemm kernels in dot form for RVV: isa/gemm.h says what they compute.
//
// The sum has 16 lanes at any VLEN: an m4 group at VLEN 128, part of one beyond. Four accumulators
// at a time: one row of a against four of b, or two against two.
#include "isa/gemm.h"

#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Sum = vfloat32m4_t;
constexpr size_t kSumLanes = 16;

TENON_INLINE Sum zeros() { return __riscv_vfmv_v_f_f32m4(0.0f, kSumLanes); }
TENON_INLINE Sum multiply_add(Sum acc, Sum a, Sum b, size_t n) {
  return __riscv_vfmacc_tu(acc, a, b, n);
}
TENON_INLINE float fold_lanes(Sum x) {
  x = __riscv_vfadd(x, __riscv_vslidedown(x, 8, 8), 8);
  x = __riscv_vfadd(x, __riscv_vslidedown(x, 4, 4), 4);
  x = __riscv_vfadd(x, __riscv_vslidedown(x, 2, 2), 2);
  return __riscv_vfmv_f(__riscv_vfadd(x, __riscv_vslidedown(x, 1, 1), 1));
}

template <class B>
struct Problem {
  const GemmArgs& g;

  const float* a(size_t i) const {
    return byte_offset(static_cast<const float*>(g.a), at(i, g.a_row));
  }
  const B* b(size_t j) const { return byte_offset(static_cast<const B*>(g.b), at(j, g.b_row)); }
  void set(size_t i, size_t j, Sum sum) const {
    *byte_offset(static_cast<float*>(g.y), at(i, g.y_row) + at(j, g.y_column)) = fold_lanes(sum);
  }
  static ptrdiff_t at(size_t i, ptrdiff_t stride) { return static_cast<ptrdiff_t>(i) * stride; }
};

// step(p, n) for n <= 16 elements from p on, to the end of k.
template <class Step>
TENON_INLINE void along_k(size_t k, Step step) {
  size_t p = 0;
  for (; p + kSumLanes <= k; p += kSumLanes) step(p, kSumLanes);
  if (p < k) step(p, k - p);
}

template <class B>
TENON_INLINE void one_by_four(const Problem<B>& x, size_t i, size_t j) {
  const float* a = x.a(i);
  const B *b0 = x.b(j), *b1 = x.b(j + 1), *b2 = x.b(j + 2), *b3 = x.b(j + 3);
  Sum s0 = zeros(), s1 = zeros(), s2 = zeros(), s3 = zeros();
  along_k(x.g.k, [&](size_t p, size_t n) __attribute__((always_inline)) {
    const Sum va = load<Sum>(a + p, n);
    s0 = multiply_add(s0, va, load<Sum>(b0 + p, n), n);
    s1 = multiply_add(s1, va, load<Sum>(b1 + p, n), n);
    s2 = multiply_add(s2, va, load<Sum>(b2 + p, n), n);
    s3 = multiply_add(s3, va, load<Sum>(b3 + p, n), n);
  });
  x.set(i, j, s0), x.set(i, j + 1, s1), x.set(i, j + 2, s2), x.set(i, j + 3, s3);
}

template <class B>
TENON_INLINE void two_by_two(const Problem<B>& x, size_t i, size_t j) {
  const float *a0 = x.a(i), *a1 = x.a(i + 1);
  const B *b0 = x.b(j), *b1 = x.b(j + 1);
  Sum s00 = zeros(), s01 = zeros(), s10 = zeros(), s11 = zeros();
  along_k(x.g.k, [&](size_t p, size_t n) __attribute__((always_inline)) {
    const Sum v0 = load<Sum>(a0 + p, n), v1 = load<Sum>(a1 + p, n);
    const Sum w0 = load<Sum>(b0 + p, n), w1 = load<Sum>(b1 + p, n);
    s00 = multiply_add(s00, v0, w0, n), s01 = multiply_add(s01, v0, w1, n);
    s10 = multiply_add(s10, v1, w0, n), s11 = multiply_add(s11, v1, w1, n);
  });
  x.set(i, j, s00), x.set(i, j + 1, s01), x.set(i + 1, j, s10), x.set(i + 1, j + 1, s11);
}

template <class B>
TENON_INLINE void one_by_one(const Problem<B>& x, size_t i, size_t j) {
  const float* a = x.a(i);
  const B* b = x.b(j);
  Sum s = zeros();
  along_k(x.g.k, [&](size_t p, size_t n) __attribute__((always_inline)) {
    s = multiply_add(s, load<Sum>(a + p, n), load<Sum>(b + p, n), n);
  });
  x.set(i, j, s);
}

// Two rows of b stay in cache while all rows of a pass.
template <class B>
TENON_INLINE void gemm(const GemmArgs& g) {
  const Problem<B> x{g};
  const size_t pairs = g.m & ~size_t{1};
  size_t j = 0;
  for (; g.m == 1 && j + 4 <= g.n; j += 4) one_by_four(x, 0, j);
  for (; j + 2 <= g.n; j += 2) {
    for (size_t i = 0; i < pairs; i += 2) two_by_two(x, i, j);
    if (pairs < g.m) one_by_one(x, pairs, j), one_by_one(x, pairs, j + 1);
  }
  for (size_t i = 0; j < g.n && i < g.m; ++i) one_by_one(x, i, j);
}

}  // namespace

void TENON_KERNEL(gemm_f32_f32_f32)(const GemmArgs& args) noexcept { gemm<float>(args); }
void TENON_KERNEL(gemm_f32_f32_bf16)(const GemmArgs& args) noexcept { gemm<bf16>(args); }
void TENON_KERNEL(gemm_f32_f32_f16)(const GemmArgs& args) noexcept { gemm<f16>(args); }

}  // namespace tenon

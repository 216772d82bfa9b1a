// Reductions over a row in the order that every ISA shares: isa/sum_order.h.
//
// The 64 lanes are gone through in windows, as many lanes as a register group holds and 64 at most:
// each window reads its part of every 64 elements of a block, which the first cache keeps for the
// next. From VLEN 256 on there is one window of f32. Steps of a reduction are told the lanes they
// cover, so that nothing runs over more than 64 however long a vector is.
#pragma once
#include "isa/rvv/vec.h"
#include "isa/sum_order.h"

namespace tenon {
namespace {

using Wide = Few;

// Lanes of a window. Never a request between one and two registers' worth, which the hardware
// may cut as it likes.
TENON_INLINE size_t window_lanes() { return lanes<Wide>() < kSumLanes ? lanes<Wide>() : kSumLanes; }

// Row r of a matrix whose rows are `stride` bytes apart.
template <class T>
TENON_INLINE T* row_at(T* x, size_t r, ptrdiff_t stride) {
  return byte_offset(x, static_cast<ptrdiff_t>(r) * stride);
}

// f(i, vl) for each step of n elements, the last one partial. f is there twice, so that whole steps
// need no count of their own.
template <class V, class F>
TENON_INLINE void each_step(size_t n, F f) {
  const size_t step = lanes<V>(), whole = n & ~(step - 1);
  for (size_t i = 0; i != whole; i += step) f(i, step);
  if (whole < n) f(whole, n - whole);
}

struct Add {
  static constexpr float kIdentity = 0.0f;
  template <class V>
  TENON_INLINE V join(V a, V b, size_t vl) {
    return __riscv_vfadd(a, b, vl);
  }
};

// Lanes folded in halves, in no wider registers than they need.
template <class Op>
TENON_INLINE float fold_16(vfloat32m4_t x) {
  const auto m2 = Op::join(__riscv_vlmul_trunc_f32m2(x),
                           __riscv_vlmul_trunc_f32m2(__riscv_vslidedown(x, 8, 8)), 8);
  auto m1 = Op::join(__riscv_vlmul_trunc_f32m1(m2),
                     __riscv_vlmul_trunc_f32m1(__riscv_vslidedown(m2, 4, 4)), 4);
  m1 = Op::join(m1, __riscv_vslidedown(m1, 2, 2), 2);
  return __riscv_vfmv_f(Op::join(m1, __riscv_vslidedown(m1, 1, 1), 1));
}
template <class Op>
TENON_INLINE float fold_32(Wide x) {
  const Wide upper = __riscv_vslidedown(x, 16, 16);
  return fold_16<Op>(Op::join(__riscv_vlmul_trunc_f32m4(x), __riscv_vlmul_trunc_f32m4(upper), 16));
}

// Where the last window of [begin, end) begins, or would, that is cut short or empty.
TENON_INLINE size_t whole_windows(size_t begin, size_t end, size_t vl) {
  return begin + ((end - begin + kSumLanes - vl) & ~(kSumLanes - 1));
}

// One window, its first lane that of `begin`; step(folded, i, vl) is `folded` with the elements
// from i on joined to its first vl lanes.
template <class Op, class Step>
TENON_INLINE Wide fold_window(size_t begin, size_t end, size_t vl, Step step) {
  const size_t last = whole_windows(begin, end, vl);
  Wide x = Width<Wide>::splat(Op::kIdentity, vl);
  for (size_t i = begin; i != last; i += kSumLanes) x = step(x, i, vl);
  if (last < end) x = __riscv_vmv_v_tu(x, step(x, last, end - last), end - last);
  return x;
}

// How many of the lanes n elements reach, 32 or 64: joining the others would change nothing.
TENON_INLINE size_t used_lanes(size_t n) { return n > kSumLanes / 2 ? kSumLanes : kSumLanes / 2; }

template <class Op>
TENON_INLINE float fold_lanes(const float* lane, size_t used) {
  Wide x = load<Wide>(lane, 32);
  if (used > 32) x = Op::join(x, load<Wide>(lane + 32, 32), 32);
  return fold_32<Op>(x);
}

// A block of n <= 16 elements, which all are lanes of one register.
template <class Op, class Step>
TENON_INLINE float fold_short(size_t begin, size_t n, Step step) {
  const Wide none = Width<Wide>::splat(Op::kIdentity, 16);
  const Wide x = __riscv_vmv_v_tu(none, step(none, begin, n), n);
  return fold_16<Op>(__riscv_vlmul_trunc_f32m4(x));
}

template <class Op, class Step>
TENON_INLINE float fold_block(size_t begin, size_t end, Step step) {
  if (end - begin <= 16) return fold_short<Op>(begin, end - begin, step);
  float lane[kSumLanes];
  const size_t used = used_lanes(end - begin), vl = window_lanes();
  for (size_t l = 0; l < used; l += vl)
    store(lane + l, fold_window<Op>(begin + l, end, vl, step), vl);
  return fold_lanes<Op>(lane, used);
}

// The sum of a row; step(sum, i, vl) is `sum` with the elements from i on added.
template <class Step>
TENON_INLINE float row_sum(size_t n, Step step) {
  float total = 0;
  for (size_t begin = 0; begin < n; begin += kSumBlock)
    total += fold_block<Add>(begin, n - begin < kSumBlock ? n : begin + kSumBlock, step);
  return total;
}

// Two sums over one reading of the row: step(a, b, i, vl) adds the elements from i on to both.
template <class Step>
TENON_INLINE void block_sums(size_t begin, size_t end, float& first, float& second, Step step) {
  float lane[2][kSumLanes];
  const size_t used = used_lanes(end - begin), vl = window_lanes();
  for (size_t l = 0; l < used; l += vl) {
    const size_t last = whole_windows(begin + l, end, vl);
    Wide a = Width<Wide>::splat(0.0f, vl), b = Width<Wide>::splat(0.0f, vl);
    for (size_t i = begin + l; i != last; i += kSumLanes) step(a, b, i, vl);
    if (last < end) {
      Wide more_a = a, more_b = b;
      step(more_a, more_b, last, end - last);
      a = __riscv_vmv_v_tu(a, more_a, end - last);
      b = __riscv_vmv_v_tu(b, more_b, end - last);
    }
    store(lane[0] + l, a, vl);
    store(lane[1] + l, b, vl);
  }
  first += fold_lanes<Add>(lane[0], used);
  second += fold_lanes<Add>(lane[1], used);
}
template <class Step>
TENON_INLINE void row_sums(size_t n, float& first, float& second, Step step) {
  first = second = 0;
  for (size_t begin = 0; begin < n; begin += kSumBlock)
    block_sums(begin, n - begin < kSumBlock ? n : begin + kSumBlock, first, second, step);
}

TENON_INLINE float log_of(float x) {
  return __riscv_vfmv_f(log_f32(Width<vfloat32m1_t>::splat(x)));
}

// The largest of n elements that is a number, -inf where none is: what vfmax gives.
template <class T>
TENON_INLINE float row_max(size_t n, const T* x) {
  const float lowest = float_of(0xff800000u);
  Wide top = Width<Wide>::splat(lowest);
  const size_t step = lanes<Wide>(), rest = n & (step - 1);
  for (const T* end = x + (n - rest); x != end; x += step)
    top = __riscv_vfmax(top, load<Wide>(x, step), step);
  if (rest > 0) top = __riscv_vfmax_tu(top, top, load<Wide>(x, rest), rest);
  const auto start = Width<vfloat32m1_t>::splat(lowest);
  return __riscv_vfmv_f(__riscv_vfredmax(top, start, lanes<Wide>()));
}

}  // namespace
}  // namespace tenon

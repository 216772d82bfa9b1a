// Reductions over a row in the order that every ISA shares, for softmax and the norms.
//
// A row is summed in blocks of kBlock elements. Within a block element i belongs to virtual lane
// i mod 64 and the lanes fold in halves, as isa/simd/vec.h says; the blocks' sums are added in
// turn, so that the error of a long row grows with kBlock / 64 + n / kBlock and not with n.
#pragma once
#include "isa/simd/vec.h"
#include "isa/sum_order.h"

namespace tenon {
namespace {

static_assert(kVirtualLanes == kSumLanes);

// How much of a vector a step of a row covers.
struct Whole {};
struct Part {
  size_t n;  // lanes from the first
};

template <class T>
TENON_INLINE F32 get(const T* p, Whole) {
  return load(p);
}
template <class T>
TENON_INLINE F32 get(const T* p, Part part) {
  return part.n >= kLanes ? load(p) : load_n(p, part.n);
}
template <class T>
TENON_INLINE void put(T* p, F32 x, Whole) {
  store(p, x);
}
template <class T>
TENON_INLINE void put(T* p, F32 x, Part part) {
  if (part.n >= kLanes)
    store(p, x);
  else
    store_n(p, x, part.n);
}

// x in the lanes a step covers, `other` in the rest.
TENON_INLINE F32 keep(F32 x, F32, Whole) { return x; }
TENON_INLINE F32 keep(F32 x, F32 other, Part part) { return keep_first(x, other, part.n); }

// Row r of a matrix whose rows are `stride` bytes apart.
template <class T>
TENON_INLINE T* row_at(T* x, size_t r, ptrdiff_t stride) {
  using Byte = std::conditional_t<std::is_const_v<T>, const char, char>;
  return reinterpret_cast<T*>(reinterpret_cast<Byte*>(x) + static_cast<ptrdiff_t>(r) * stride);
}

// f(i, span) for each step of the row, the last one partial.
template <class F>
TENON_INLINE void each_step(size_t n, F f) {
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, Whole{});
  if (i < n) f(i, Part{n - i});
}

// Recursion where a loop would do: the group must be a constant before the compiler decides which
// arrays can live in registers, at -O2 and in every compiler.
template <size_t G = 0, size_t End = kGroups, class F>
TENON_INLINE void each_group(F f) {
  if constexpr (G < End) {
    f(std::integral_constant<size_t, G>{});
    each_group<G + 1, End>(f);
  }
}

// Groups that registers have room for beside what a step needs. Where there are more, a block is
// read once for these and once for the rest.
constexpr size_t kAtOnce = kGroups < 8 ? kGroups : 8;
template <size_t First = 0, class F>
TENON_INLINE void each_pass(F f) {
  if constexpr (First < kGroups) {
    f(std::integral_constant<size_t, First>{});
    each_pass<First + kAtOnce>(f);
  }
}

// Groups, then lanes, folded in halves by a commutative operation; the result in every lane.
template <class Op, size_t Half = kLanes / 2>
TENON_INLINE F32 fold(F32 x, Op op) {
  if constexpr (Half > 0)
    return fold<Op, Half / 2>(op(x, across<Half>(x)), op);
  else
    return x;
}
template <class Op, size_t Half = kGroups / 2>
TENON_INLINE F32 fold(F32 (&acc)[kGroups], Op op) {
  if constexpr (Half > 0) {
    each_group([&](auto g) __attribute__((always_inline)) {
      if constexpr (g < Half) acc[g] = op(acc[g], acc[g + Half]);
    });
    return fold<Op, Half / 2>(acc, op);
  } else {
    return fold(acc[0], op);
  }
}

// acc[g] = step(acc[g], i, span) for every step of [begin, end); begin is a multiple of 64. The
// rest after the last 64 goes through memory, so that its code is there once and not for each
// group.
template <class Step>
TENON_INLINE void walk(size_t begin, size_t end, F32 (&acc)[kGroups], Step step) {
  const size_t whole = end - (end - begin) % kVirtualLanes;
  each_pass([&](auto first) __attribute__((always_inline)) {
    for (size_t i = begin; i < whole; i += kVirtualLanes)
      each_group<first, first + kAtOnce>([&](auto g) __attribute__((always_inline)) {
        acc[g] = step(acc[g], i + g * kLanes, Whole{});
      });
  });
  if (whole == end) return;
  alignas(64) float rest[kVirtualLanes];
  each_group([&](auto g)
                 __attribute__((always_inline)) { acc[g].store_aligned(rest + g * kLanes); });
  float* lanes = rest;
  for (size_t i = whole; i < end; i += kLanes, lanes += kLanes) {
    const Part part{end - i};
    const F32 old = F32::load_aligned(lanes);
    keep(step(old, i, part), old, part).store_aligned(lanes);
  }
  each_group([&](auto g)
                 __attribute__((always_inline)) { acc[g] = F32::load_aligned(rest + g * kLanes); });
}

struct Add {
  TENON_INLINE F32 identity() { return F32(0.0f); }
  F32 operator()(F32 a, F32 b) const { return a + b; }
};
struct Larger {
  TENON_INLINE F32 identity() { return F32(float_of(0xff800000u)); }
  F32 operator()(F32 a, F32 b) const { return max_number(a, b); }
};

// [begin, end) folded by Op; step(folded, i, span) is `folded` with a step of the row added.
template <class Op, class Step>
TENON_INLINE F32 fold_block(size_t begin, size_t end, Step step) {
  if (end - begin <= kLanes) {  // the other groups would add nothing
    const Part part{end - begin};
    return fold(keep(step(Op::identity(), begin, part), Op::identity(), part), Op{});
  }
  F32 acc[kGroups];
  each_group([&](auto g) __attribute__((always_inline)) { acc[g] = Op::identity(); });
  walk(begin, end, acc, step);
  return fold(acc, Op{});
}

// The sum of a row in every lane; step(sum, i, span) is `sum` with a step of the row added.
template <class Step>
TENON_INLINE F32 row_sum(size_t n, Step step) {
  F32 total(0.0f);
  for (size_t begin = 0; begin < n; begin += kSumBlock)
    total += fold_block<Add>(begin, n - begin < kSumBlock ? n : begin + kSumBlock, step);
  return total;
}

// Two sums over one reading of the row: step(a, b, i, span) adds a step of it to both.
template <class Step>
TENON_INLINE void block_sums(size_t begin, size_t end, F32& first, F32& second, Step step) {
  alignas(64) float rest[2][kVirtualLanes];
  F32 a[kGroups], b[kGroups];
  each_group([&](auto g) __attribute__((always_inline)) { a[g] = b[g] = F32(0.0f); });
  const size_t whole = end - (end - begin) % kVirtualLanes;
  each_pass([&](auto first) __attribute__((always_inline)) {
    for (size_t i = begin; i < whole; i += kVirtualLanes)
      each_group<first, first + kAtOnce>([&](auto g) __attribute__((always_inline)) {
        step(a[g], b[g], i + g * kLanes, Whole{});
      });
  });
  if (whole < end) {
    each_group([&](auto g) __attribute__((always_inline)) {
      a[g].store_aligned(rest[0] + g * kLanes);
      b[g].store_aligned(rest[1] + g * kLanes);
    });
    for (size_t i = whole, lane = 0; i < end; i += kLanes, lane += kLanes) {
      const Part part{end - i};
      const F32 old_a = F32::load_aligned(rest[0] + lane),
                old_b = F32::load_aligned(rest[1] + lane);
      F32 new_a = old_a, new_b = old_b;
      step(new_a, new_b, i, part);
      keep(new_a, old_a, part).store_aligned(rest[0] + lane);
      keep(new_b, old_b, part).store_aligned(rest[1] + lane);
    }
    each_group([&](auto g) __attribute__((always_inline)) {
      a[g] = F32::load_aligned(rest[0] + g * kLanes);
      b[g] = F32::load_aligned(rest[1] + g * kLanes);
    });
  }
  first += fold(a, Add{});
  second += fold(b, Add{});
}
template <class Step>
TENON_INLINE void row_sums(size_t n, F32& first, F32& second, Step step) {
  first = second = F32(0.0f);
  for (size_t begin = 0; begin < n; begin += kSumBlock)
    block_sums(begin, n - begin < kSumBlock ? n : begin + kSumBlock, first, second, step);
}

// The largest element that is a number.
template <class T>
TENON_INLINE F32 row_max(size_t n, const T* x) {
  return fold_block<Larger>(0, n, [&](F32 top, size_t i, auto span) __attribute__((always_inline)) {
    return Larger{}(get(x + i, span), top);
  });
}

}  // namespace
}  // namespace tenon

// Reductions over a row in the order that every ISA shares, for softmax and the norms.
//
// A row is summed in blocks of kBlock elements. Within a block element i belongs to virtual lane
// i mod 64 and the lanes fold in halves, as isa/simd/vec.h says; the blocks' sums are added in turn,
// so that the error of a long row grows with kBlock / 64 + n / kBlock and not with n.
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
#if defined(__AVX512F__)
TENON_INLINE F32 keep(F32 x, F32 other, Part part) {
  const __mmask16 covered = part.n >= kLanes ? __mmask16{0xffff} : first(part.n);
  return _mm512_mask_mov_ps(other, covered, x);
}
#else
TENON_INLINE F32 keep(F32 x, F32 other, Part part) {
  return _mm256_blendv_ps(other, x, _mm256_castsi256_ps(first(part.n)));
}
#endif

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
template <size_t G = 0, class F>
TENON_INLINE void each_group(F f) {
  if constexpr (G < kGroups) {
    f(std::integral_constant<size_t, G>{});
    each_group<G + 1>(f);
  }
}

template <class Op, size_t Half = kGroups / 2>
TENON_INLINE F32 fold_registers(F32 (&acc)[kGroups], Op op) {
  if constexpr (Half > 0) {
    each_group([&](auto g) __attribute__((always_inline)) {
      if constexpr (g < Half) acc[g] = op(acc[g], acc[g + Half]);
    });
    return fold_registers<Op, Half / 2>(acc, op);
  }
  return acc[0];
}

// acc[g] = step(acc[g], i, span) for every step of [begin, end); begin is a multiple of 64. The
// rest after the last 64 goes through memory, so that its code is there once and not for each group.
template <class Step>
TENON_INLINE void walk(size_t begin, size_t end, F32 (&acc)[kGroups], Step step) {
  size_t i = begin;
  for (; i + kVirtualLanes <= end; i += kVirtualLanes)
    each_group([&](auto g) __attribute__((always_inline)) {
      acc[g] = step(acc[g], i + g * kLanes, Whole{});
    });
  if (i == end) return;
  alignas(64) float rest[kVirtualLanes];
  each_group([&](auto g) __attribute__((always_inline)) {
    acc[g].store_aligned(rest + g * kLanes);
  });
  for (float* lanes = rest; i < end; i += kLanes, lanes += kLanes) {
    const Part part{end - i};
    const F32 old = F32::load_aligned(lanes);
    keep(step(old, i, part), old, part).store_aligned(lanes);
  }
  each_group([&](auto g) __attribute__((always_inline)) {
    acc[g] = F32::load_aligned(rest + g * kLanes);
  });
}

template <class Step>
TENON_INLINE float row_sum(size_t n, Step step) {
  float total = 0;
  for (size_t begin = 0; begin < n; begin += kSumBlock) {
    F32 acc[kGroups];
    each_group([&](auto g) __attribute__((always_inline)) { acc[g] = F32(0.0f); });
    walk(begin, n - begin < kSumBlock ? n : begin + kSumBlock, acc, step);
    const auto add = [](auto a, auto b) __attribute__((always_inline)) { return a + b; };
    total += fold_lanes(fold_registers(acc, add), add);
  }
  return total;
}

template <class T>
TENON_INLINE float row_max(size_t n, const T* x) {
  F32 acc[kGroups];
  each_group([&](auto g) __attribute__((always_inline)) {
    acc[g] = F32(float_of(0xff800000u));
  });
  walk(0, n, acc, [&](F32 a, size_t i, auto span) __attribute__((always_inline)) {
    return xsimd::max(get(x + i, span), a);
  });
  const auto larger = [](auto a, auto b) __attribute__((always_inline)) {
    if constexpr (std::is_same_v<decltype(a), float>) return a > b ? a : b;
    else return xsimd::max(a, b);
  };
  return fold_lanes(fold_registers(acc, larger), larger);
}

}  // namespace
}  // namespace tenon

// Vectors of f32 for kernels written once over xsimd: loads and stores of every storage type with
// tails, and the reduction order that is the same on every ISA. Compiled into one object per ISA
// folder; everything here is internal to that object.
#pragma once
#if defined(__AVX512F__)
#include "isa/simd/vec_avx512.h"
#elif defined(__AVX2__)
#include "isa/simd/vec_avx2.h"
#else
#include "isa/simd/vec_neon.h"
#endif

// TENON_KERNEL(relu_f32) is the symbol of this folder's relu_f32: relu_f32_avx2.
#define TENON_KERNEL(op) TENON_JOIN(op, TENON_ISA_FOLDER)
#define TENON_JOIN(op, folder) TENON_JOIN_(op, folder)
#define TENON_JOIN_(op, folder) op##_##folder

namespace tenon {
namespace {

// Elements that a step of map() takes: one short vector would be less work than the loop around it.
constexpr size_t kMapStep = kLanes == 4 ? 2 * kLanes : kLanes;

// y[i] = f(x[i]) over any storage types.
template <class X, class Y, class F>
TENON_INLINE void map(size_t n, const X* x, Y* y, F f) {
  size_t i = 0;
  if constexpr (kMapStep > kLanes)
    for (; i + kMapStep <= n; i += kMapStep) {
      const F32 a = f(load(x + i)), b = f(load(x + i + kLanes));
      store(y + i, a);
      store(y + i + kLanes, b);
    }
  for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(x + i)));
  if (i < n) store_n(y + i, f(load_n(x + i, n - i)), n - i);
}
// y[i] = f(a[i], b[i]) over any storage types.
template <class A, class B, class Y, class F>
TENON_INLINE void map(size_t n, const A* a, const B* b, Y* y, F f) {
  size_t i = 0;
  if constexpr (kMapStep > kLanes)
    for (; i + kMapStep <= n; i += kMapStep) {
      const F32 u = f(load(a + i), load(b + i));
      const F32 v = f(load(a + i + kLanes), load(b + i + kLanes));
      store(y + i, u);
      store(y + i + kLanes, v);
    }
  for (; i + kLanes <= n; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
  if (i < n) store_n(y + i, f(load_n(a + i, n - i), load_n(b + i, n - i)), n - i);
}

// Sums in the one order that every ISA uses: element i belongs to virtual lane i mod 64, each lane
// adds its elements in turn, and lanes fold in halves (64 to 32 to 16 ... to 1).
constexpr size_t kVirtualLanes = 64;
constexpr size_t kGroups = kVirtualLanes / kLanes;

template <class Op>
TENON_INLINE float fold_lanes(F32 x, Op op) {
  alignas(64) float lane[kLanes];
  x.store_aligned(lane);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lane[i] = op(lane[i], lane[i + half]);
  return lane[0];
}

// The same fold with an operation on vectors, without a way through memory.
template <size_t half = kLanes / 2, class Op>
TENON_INLINE float fold_vector(F32 x, Op op) {
  x = op(x, across<half>(x));
  if constexpr (half > 1)
    return fold_vector<half / 2>(x, op);
  else
    return x.get(0);
}

template <class Op>
TENON_INLINE F32 fold_groups(F32 (&acc)[kGroups], Op op) {
  _Pragma("GCC unroll 16") for (size_t half = kGroups / 2; half > 0; half /= 2)
      _Pragma("GCC unroll 8") for (size_t g = 0; g < half; ++g) acc[g] = op(acc[g], acc[g + half]);
  return acc[0];
}

}  // namespace
}  // namespace tenon

// Last: it is written in the vocabulary above.
#include "isa/math.h"

// The register tile of the f32 gemm kernels: MR rows of a against NR rows of b, one accumulator
// vector per output. On AVX2 a 4x3 tile is 12 accumulators, 3 vectors of b and 1 of a: all 16
// registers, and 7 loads feed 12 multiply-adds. AVX-512 and NEON have 32: 6x4.
#pragma once
#include "isa/gemm.h"
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#define TENON_UNROLL _Pragma("GCC unroll 32")

TENON_INLINE float add_lanes(F32 x) {
  return fold_lanes(x, [](float a, float b) { return a + b; });
}

template <size_t N>
TENON_INLINE void fold(const F32 (&acc)[N], float (&out)[N]) {
  size_t i = 0;
  TENON_UNROLL for (; i + 4 <= N; i += 4) {
    float four[4];
    fold_four(acc[i], acc[i + 1], acc[i + 2], acc[i + 3], four);
    std::memcpy(out + i, four, sizeof four);
  }
  if constexpr (N % 4 > 0) {
    float four[4];
    fold_four(acc[i], acc[N % 4 > 1 ? i + 1 : i], acc[N % 4 > 2 ? i + 2 : i], acc[i], four);
    std::memcpy(out + i, four, N % 4 * sizeof *four);
  }
}

// Where a tile's operands and outputs lie. carry: the accumulators between blocks of k.
template <class B>
struct TileArgs {
  size_t k;
  const float* a;
  size_t a_row;  // elements
  const B* b;
  size_t b_row;
  float* carry;
  bool first, last;
  char* y;
  ptrdiff_t y_row, y_column;
};

template <int MR, int NR, class B, class LoadA, class LoadB>
TENON_INLINE void step(F32 (&acc)[MR * NR], LoadA load_a, LoadB load_b) {
  F32 vb[NR];
  TENON_UNROLL for (int j = 0; j < NR; ++j) vb[j] = load_b(j);
  TENON_UNROLL for (int i = 0; i < MR; ++i) {
    const F32 va = load_a(i);
    TENON_UNROLL for (int j = 0; j < NR; ++j) acc[i * NR + j] = fma(va, vb[j], acc[i * NR + j]);
  }
}

// How far ahead of its use a short row is asked for. Measured on Zen 3 (g++ 12, November 2026), M =
// 1, bf16, weights in memory: 576 elements 10.0 -> 18.2 GB/s with four rows at a time (a plain
// reader: 21), 1536 elements 17.6 -> 15.4: from a page per row on, the hardware follows eight
// streams alone.
constexpr size_t kAhead = 4096;

// A tile over t.k elements. With Ahead the rows of b lie one behind the other, and every line is
// asked for in that order.
template <int MR, int NR, bool Ahead, class B>
TENON_INLINE void accumulate(const TileArgs<B>& t, F32 (&acc)[MR * NR]) {
  constexpr size_t kLine = Ahead ? 64 / sizeof(B) : kLanes;  // elements
  const float* a[MR];
  const B* b[NR];
  TENON_UNROLL for (int i = 0; i < MR; ++i) a[i] = t.a + i * t.a_row;
  TENON_UNROLL for (int j = 0; j < NR; ++j) b[j] = t.b + j * t.b_row;
  const char* next = reinterpret_cast<const char*>(t.b) + kAhead;
  size_t p = 0;
  for (; p + kLine <= t.k; p += kLine) {
    if constexpr (Ahead) {
      TENON_UNROLL for (int j = 0; j < NR; ++j) __builtin_prefetch(next + 64 * j);
      next += 64 * NR;
    }
    TENON_UNROLL for (size_t q = 0; q < kLine; q += kLanes) step<MR, NR, B>(
        acc, [&](int i) { return load(a[i] + p + q); }, [&](int j) { return load(b[j] + p + q); });
  }
  if constexpr (Ahead)
    for (; p + kLanes <= t.k; p += kLanes)
      step<MR, NR, B>(
          acc, [&](int i) { return load(a[i] + p); }, [&](int j) { return load(b[j] + p); });
  if (const size_t rest = t.k - p; rest > 0)
    step<MR, NR, B>(
        acc, [&](int i) { return load_n(a[i] + p, rest); },
        [&](int j) { return load_n(b[j] + p, rest); });
}

template <int MR, int NR, bool Ahead, class B>
__attribute__((noinline)) void tile(const TileArgs<B>& t) {
  F32 acc[MR * NR];
  TENON_UNROLL for (int i = 0; i < MR * NR; ++i) acc[i] =
      t.first ? F32(0.0f) : load(t.carry + i * kLanes);
  accumulate<MR, NR, Ahead>(t, acc);
  if (!t.last) {
    TENON_UNROLL for (int i = 0; i < MR * NR; ++i) store(t.carry + i * kLanes, acc[i]);
    return;
  }
  float sum[MR * NR];
  fold(acc, sum);
  TENON_UNROLL for (int i = 0; i < MR; ++i) TENON_UNROLL for (int j = 0; j < NR; ++j) *
      reinterpret_cast<float*>(t.y + i * t.y_row + j * t.y_column) = sum[i * NR + j];
}

}  // namespace
}  // namespace tenon

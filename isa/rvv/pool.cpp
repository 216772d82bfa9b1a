// Pooling for RVV: isa/max_pool.h and isa/avg_pool.h say what each kernel computes. Vectors run
// along a row of windows; elements of windows that are a step apart are loaded so.
#include "isa/avg_pool.h"
#include "isa/max_pool.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

// Arguments are copies: stores to y could otherwise change them, and they would be read again.

// tap(e, r, c) for element [r][c] of vl windows side by side, e one of each.
template <class V, bool kTouching, class Args, class Tap>
TENON_INLINE void each_tap(const Args& g, const float* x, size_t vl, Tap tap) {
  const auto step = static_cast<ptrdiff_t>(g.step * sizeof(float));
  const auto row = static_cast<ptrdiff_t>(g.x_row * sizeof(float));
  const size_t width = g.width;
  for (size_t r = 0, height = g.height; r != height; ++r, x = byte_offset(x, row)) {
    const float *from = x, *const end = x + width;
    for (int32_t c = 0; from != end; ++from, ++c) {
      if constexpr (kTouching)
        tap(load<V>(from, vl), r, c);
      else
        tap(load<V>(from, step, vl), r, c);
    }
  }
}

// f(x, place, vl) for the windows of every row, as many as a vector holds at a time; `place` is
// that of the first in y.
template <class V, class Args, class F>
TENON_INLINE void each_vector(const Args& g, F f) {
  size_t place = 0;
  for (size_t i = 0; i < g.rows; ++i) {
    const float* x = g.x + i * g.row_step * g.x_row;
    for (size_t left = g.n, vl; left > 0; left -= vl, place += vl, x += vl * g.step) {
      vl = Width<V>::lanes_of(left);
      f(x, place, vl);
    }
  }
}

// The place of a window's value counted from its first element; -1 before any.
using Place = vint32m4_t;

// Places of vl windows from place `at` of y on; `x` is the first element of the first.
TENON_INLINE void store_places(const MaxPoolArgs& g, Place place, size_t at, size_t vl) {
  const auto row = static_cast<int64_t>(at / g.n), column = static_cast<int64_t>(at % g.n);
  const int64_t first = g.origin + row * static_cast<int64_t>(g.row_step) * g.plane_row +
                        column * static_cast<int64_t>(g.step);
  const auto windows = __riscv_vmul(__riscv_vreinterpret_v_u32m4_i32m4(__riscv_vid_v_u32m4(vl)),
                                    static_cast<int32_t>(g.step), vl);
  const auto some = __riscv_vmsge(place, 0, vl);
  const auto wide =
      __riscv_vadd(__riscv_vsext_vf2(__riscv_vadd(place, windows, vl), vl), first, vl);
  const auto none = __riscv_vle64_v_i64m8(g.first + at, vl);
  __riscv_vse64(g.index + at, __riscv_vmerge(none, wide, some, vl), vl);
}

template <class T, bool kTouching>
TENON_INLINE void max_pool(MaxPoolArgs g) {
  using V = Many;
  const auto plane_row = static_cast<int32_t>(g.plane_row);
  each_vector<V>(g, [&](const float* x, size_t at, size_t vl) __attribute__((always_inline)) {
    V value = Width<V>::splat(float_of(0xff800000u), vl);
    Place place = __riscv_vmv_v_x_i32m4(-1, vl);
    each_tap<V, kTouching>(g, x, vl, [&](V e, size_t r, int32_t c) __attribute__((always_inline)) {
      const auto larger = __riscv_vmfgt(e, value, vl), nan = __riscv_vmfne(e, e, vl);
      const auto wins = __riscv_vmor(larger, nan, vl);
      value = __riscv_vmerge(value, e, wins, vl);
      place = __riscv_vmerge(place, static_cast<int32_t>(r) * plane_row + c, wins, vl);
    });
    store(static_cast<T*>(g.y) + at, value, vl);
    store_places(g, place, at, vl);
  });
}

template <class T, bool kTouching>
TENON_INLINE void avg_pool(AvgPoolArgs g) {
  using V = std::conditional_t<std::is_same_v<T, float>, Few, Many>;
  each_vector<V>(g, [&](const float* x, size_t at, size_t vl) __attribute__((always_inline)) {
    V sum = Width<V>::splat(0.0f, vl);
    each_tap<V, kTouching>(g, x, vl, [&](V e, size_t, int32_t) __attribute__((always_inline)) {
      sum = __riscv_vfadd(sum, e, vl);
    });
    store(static_cast<T*>(g.y) + at, __riscv_vfdiv(sum, load<V>(g.divisor + at, vl), vl), vl);
  });
}

}  // namespace

#define POOL(type, T)                                                       \
  void TENON_KERNEL(max_pool_##type##_f32)(const MaxPoolArgs& g) noexcept { \
    g.step == 1 ? max_pool<T, true>(g) : max_pool<T, false>(g);             \
  }                                                                         \
  void TENON_KERNEL(avg_pool_##type##_f32)(const AvgPoolArgs& g) noexcept { \
    g.step == 1 ? avg_pool<T, true>(g) : avg_pool<T, false>(g);             \
  }
POOL(f32, float)
POOL(bf16, bf16)
POOL(f16, f16)

}  // namespace tenon

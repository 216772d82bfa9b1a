// layer_norm and rms_norm over xsimd: isa/norm.h says what each kernel computes. A row is read two
// or three times, from the first or second cache after the first.
#include "isa/norm.h"

#include "isa/simd/rows.h"

namespace tenon {
namespace {

template <class W, class Span>
TENON_INLINE F32 scaled(F32 x, const W* gamma, size_t i, Span span) {
  return gamma != nullptr ? x * get(gamma + i, span) : x;
}

template <class S>
TENON_INLINE void put_stat(void* p, size_t r, F32 x) {
  if (p != nullptr) static_cast<S*>(p)[r] = from_f32<S>(x.get(0));
}

struct Spread {
  F32 about, off, rstd;  // the mean is about + off
};

template <class T>
TENON_INLINE Spread spread(size_t n, float eps, const T* x) {
  const F32 count(static_cast<float>(n));
  const F32 about =
      div(row_sum(n, [&](F32 s, size_t i, auto span)
                         __attribute__((always_inline)) { return s + get(x + i, span); }),
          count);
  F32 differences, squares;
  row_sums(n, differences, squares,
           [&](F32& d, F32& q, size_t i, auto span) __attribute__((always_inline)) {
             const F32 difference = get(x + i, span) - about;
             d += difference;
             q = fma(difference, difference, q);
           });
  const F32 off = div(differences, count);
  const F32 variance = fma(-off, off, div(squares, count)), zero(0.0f);
  const F32 clamped = select(variance < zero, zero, variance);  // a NaN stays
  return {about, off, div(F32(1.0f), sqrt(clamped + F32(eps)))};
}

template <class T, class W>
TENON_INLINE void layer_norm(const NormArgs& a) {
  const auto *gamma = static_cast<const W*>(a.gamma), *beta = static_cast<const W*>(a.beta);
  for (size_t r = 0; r < a.rows; ++r) {
    const T* x = static_cast<const T*>(a.x) + r * a.n;
    T* y = static_cast<T*>(a.y) + r * a.n;
    const Spread s = spread(a.n, a.eps, x);
    each_step(a.n, [&](size_t i, auto span) __attribute__((always_inline)) {
      const F32 u = ((get(x + i, span) - s.about) - s.off) * s.rstd;
      const F32 weight = gamma != nullptr ? get(gamma + i, span) : F32(1.0f);
      const F32 offset = beta != nullptr ? get(beta + i, span) : F32(0.0f);
      put(y + i, fma(u, weight, offset), span);
    });
    put_stat<W>(a.mean, r, s.about + s.off);
    put_stat<W>(a.rstd, r, s.rstd);
  }
}

template <class T, class W>
TENON_INLINE void rms_norm(const NormArgs& a) {
  const auto* gamma = static_cast<const W*>(a.gamma);
  for (size_t r = 0; r < a.rows; ++r) {
    const T* x = static_cast<const T*>(a.x) + r * a.n;
    T* y = static_cast<T*>(a.y) + r * a.n;
    const F32 squares =
        row_sum(a.n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
          const F32 v = get(x + i, span);
          return fma(v, v, s);
        });
    const F32 mean = div(squares, F32(static_cast<float>(a.n)));
    const F32 rstd = div(F32(1.0f), sqrt(mean + F32(a.eps)));
    each_step(a.n, [&](size_t i, auto span) __attribute__((always_inline)) {
      put(y + i, scaled(get(x + i, span) * rstd, gamma, i, span), span);
    });
    put_stat<float>(a.rstd, r, rstd);
  }
}

}  // namespace

#define NORM(types, T, W)                                                                          \
  void TENON_KERNEL(layer_norm_##types)(const NormArgs& args) noexcept { layer_norm<T, W>(args); } \
  void TENON_KERNEL(rms_norm_##types)(const NormArgs& args) noexcept { rms_norm<T, W>(args); }
#include "isa/norm.inc"

}  // namespace tenon

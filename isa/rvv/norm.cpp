// layer_norm and rms_norm for RVV: isa/norm.h says what each kernel computes. A row is read two or
// three times, from the first or second cache after the first.
#include "isa/norm.h"

#include "isa/rvv/rows.h"

namespace tenon {
namespace {

template <class S>
TENON_INLINE void put_stat(void* p, size_t r, float x) {
  if (p != nullptr) static_cast<S*>(p)[r] = from_f32<S>(x);
}
TENON_INLINE float inverse_root(float x) { return 1.0f / __builtin_sqrtf(x); }

struct Spread {
  float about, off, rstd;  // the mean is about + off
};

template <class T>
TENON_INLINE Spread spread(size_t n, float eps, const T* x) {
  const float count = static_cast<float>(n);
  const float about = row_sum(n,
                              [=](Wide s, size_t i, size_t vl) __attribute__((always_inline)) {
                                return __riscv_vfadd(s, load<Wide>(x + i, vl), vl);
                              }) /
                      count;
  float differences, squares;
  row_sums(n, differences, squares,
           [=](Wide& d, Wide& q, size_t i, size_t vl) __attribute__((always_inline)) {
             const Wide difference = __riscv_vfsub(load<Wide>(x + i, vl), about, vl);
             d = __riscv_vfadd(d, difference, vl);
             q = __riscv_vfmacc(q, difference, difference, vl);
           });
  const float off = differences / count;
  const float variance = __builtin_fmaf(-off, off, squares / count);
  return {about, off, inverse_root((variance < 0 ? 0 : variance) + eps)};
}

// Weights and offsets that there may be, or ones and zeros.
template <bool kGamma, bool kBeta, class T, class W>
TENON_INLINE void normalize(size_t n, Spread s, const T* x, const W* gamma, const W* beta, T* y) {
  each_step<Wide>(n, [=](size_t i, size_t vl) __attribute__((always_inline)) {
    Wide u = sub(sub(load<Wide>(x + i, vl), Constant{s.about}), Constant{s.off});
    u = mul(u, Constant{s.rstd});
    if constexpr (kGamma && kBeta)
      u = fma(u, load<Wide>(gamma + i, vl), load<Wide>(beta + i, vl));
    else if constexpr (kGamma)
      u = add(mul(u, load<Wide>(gamma + i, vl)), Constant{0.0f});
    else if constexpr (kBeta)
      u = add(u, load<Wide>(beta + i, vl));
    else
      u = add(u, Constant{0.0f});
    store(y + i, u, vl);
  });
}

template <class T, class W>
TENON_INLINE void layer_norm(const NormArgs& a) {
  const auto *gamma = static_cast<const W*>(a.gamma), *beta = static_cast<const W*>(a.beta);
  for (size_t r = 0; r < a.rows; ++r) {
    const T* x = static_cast<const T*>(a.x) + r * a.n;
    T* y = static_cast<T*>(a.y) + r * a.n;
    const Spread s = spread(a.n, a.eps, x);
    if (gamma != nullptr && beta != nullptr)
      normalize<true, true>(a.n, s, x, gamma, beta, y);
    else if (gamma != nullptr)
      normalize<true, false>(a.n, s, x, gamma, beta, y);
    else if (beta != nullptr)
      normalize<false, true>(a.n, s, x, gamma, beta, y);
    else
      normalize<false, false>(a.n, s, x, gamma, beta, y);
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
    const float squares =
        row_sum(a.n, [=](Wide s, size_t i, size_t vl) __attribute__((always_inline)) {
          const Wide v = load<Wide>(x + i, vl);
          return __riscv_vfmacc(s, v, v, vl);
        });
    const float rstd = inverse_root(squares / static_cast<float>(a.n) + a.eps);
    const auto scaled = [=](Wide v)
                            __attribute__((always_inline)) { return mul(v, Constant{rstd}); };
    if (gamma != nullptr)
      map<Wide>(a.n, x, gamma, y,
                [=](Wide v, Wide g) __attribute__((always_inline)) { return mul(scaled(v), g); });
    else
      map<Wide>(a.n, x, y, scaled);
    put_stat<float>(a.rstd, r, rstd);
  }
}

}  // namespace

#define NORM_OF(types, T, W)                                                                       \
  void TENON_KERNEL(layer_norm_##types)(const NormArgs& args) noexcept { layer_norm<T, W>(args); } \
  void TENON_KERNEL(rms_norm_##types)(const NormArgs& args) noexcept { rms_norm<T, W>(args); }
#define NORM(types, T, W) TENON_STAMP_##T(NORM_OF(types, T, W))
#include "isa/norm.inc"

}  // namespace tenon

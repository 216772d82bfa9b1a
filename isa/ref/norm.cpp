// layer_norm and rms_norm reference kernels: isa/norm.h says what each computes.
#include "isa/norm.h"

#include "isa/ref/rows.h"

namespace tenon {
namespace {

template <class T>
void put(void* p, size_t i, float x) {
  if (p != nullptr) static_cast<T*>(p)[i] = from_f32<T>(x);
}

template <class W>
float weight(const void* gamma, size_t i) {
  return gamma != nullptr ? to_f32(static_cast<const W*>(gamma)[i]) : 1.0f;
}

template <class W>
float offset(const void* beta, size_t i) {
  return beta != nullptr ? to_f32(static_cast<const W*>(beta)[i]) : 0.0f;
}

template <class T, class W>
void layer_norm(const NormArgs& a) {
  const float count = static_cast<float>(a.n);
  for (size_t r = 0; r < a.rows; ++r) {
    const Line<T> x{static_cast<const T*>(a.x) + r * a.n, sizeof(T)};
    const LineOut<T> y{static_cast<T*>(a.y) + r * a.n, sizeof(T)};
    const float about = row_sum(a.n, [&](float s, size_t i) { return s + x[i]; }) / count;
    const float off = row_sum(a.n, [&](float s, size_t i) { return s + (x[i] - about); }) / count;
    const float squares = row_sum(a.n, [&](float s, size_t i) {
      const float d = x[i] - about;
      return std::fma(d, d, s);
    });
    const float variance = std::fma(-off, off, squares / count);
    const float rstd = 1.0f / std::sqrt((variance < 0 ? 0 : variance) + a.eps);
    for (size_t i = 0; i < a.n; ++i) {
      const float u = ((x[i] - about) - off) * rstd;
      y.set(i, std::fma(u, weight<W>(a.gamma, i), offset<W>(a.beta, i)));
    }
    put<W>(a.mean, r, about + off);
    put<W>(a.rstd, r, rstd);
  }
}

template <class T, class W>
void rms_norm(const NormArgs& a) {
  for (size_t r = 0; r < a.rows; ++r) {
    const Line<T> x{static_cast<const T*>(a.x) + r * a.n, sizeof(T)};
    const LineOut<T> y{static_cast<T*>(a.y) + r * a.n, sizeof(T)};
    const float squares = row_sum(a.n, [&](float s, size_t i) { return std::fma(x[i], x[i], s); });
    const float rstd = 1.0f / std::sqrt(squares / static_cast<float>(a.n) + a.eps);
    for (size_t i = 0; i < a.n; ++i) y.set(i, x[i] * rstd * weight<W>(a.gamma, i));
    put<float>(a.rstd, r, rstd);
  }
}

}  // namespace

#define NORM(types, T, W)                                                                  \
  void layer_norm_##types##_ref(const NormArgs& args) noexcept { layer_norm<T, W>(args); } \
  void rms_norm_##types##_ref(const NormArgs& args) noexcept { rms_norm<T, W>(args); }
#include "isa/norm.inc"

}  // namespace tenon

// Softmax of rows over xsimd: isa/softmax.h says what each kernel computes. Three passes over a
// row, which stays in the first or second cache: largest, sum of exponentials, result.
#include "isa/softmax.h"

#include "isa/simd/rows.h"

namespace tenon {
namespace {

// Exponentials are kept for the last pass: in y where it is f32, for narrower types, which would
// lose bits, in a row of f32 where that is short enough to stay in the first cache; else computed
// again.
constexpr size_t kKept = 4096;

template <class T>
TENON_INLINE void softmax_row(size_t n, const T* x, T* y, float* kept) {
  const F32 top = row_max(n, x);
  const auto term = [&](size_t i, auto span) __attribute__((always_inline)) {
    return exp_fall_f32(get(x + i, span) - top);
  };
  const F32 sum = row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
    const F32 e = term(i, span);
    if (kept != nullptr) put(kept + i, e, span);
    return s + e;
  });
  const F32 scale = div(F32(1.0f), sum);
  if (kept != nullptr)
    each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
      put(y + i, get(kept + i, span) * scale, span);
    });
  else
    each_step(n, [&](size_t i, auto span)
                     __attribute__((always_inline)) { put(y + i, term(i, span) * scale, span); });
}

TENON_INLINE void softmax_row(size_t n, const float* x, float* y) { softmax_row(n, x, y, y); }

template <class T>
TENON_INLINE void softmax_row(size_t n, const T* x, T* y) {
  alignas(64) float kept[kKept];
  softmax_row(n, x, y, n <= kKept ? kept : nullptr);
}

template <class T>
TENON_INLINE void log_softmax_row(size_t n, const T* x, T* y) {
  const F32 top = row_max(n, x);
  const F32 sum = row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
    return s + exp_fall_f32(get(x + i, span) - top);
  });
  const F32 log_sum = log_f32(sum);
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    put(y + i, (get(x + i, span) - top) - log_sum, span);
  });
}

}  // namespace

#define SOFTMAX(name, log, type, T)                                                              \
  void TENON_KERNEL(name##_##type)(size_t rows, size_t columns, ptrdiff_t stride, const void* x, \
                                   void* y) noexcept {                                           \
    for (size_t r = 0; r < rows; ++r)                                                            \
      name##_row(columns, row_at(static_cast<const T*>(x), r, stride),                           \
                 row_at(static_cast<T*>(y), r, stride));                                         \
  }
#include "isa/softmax.inc"

}  // namespace tenon

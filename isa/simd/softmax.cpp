// Softmax of rows over xsimd: isa/softmax.h says what each kernel computes. Three passes over a row,
// which stays in the first or second cache: largest, sum of exponentials, result.
#include "isa/softmax.h"

#include "isa/simd/rows.h"

namespace tenon {
namespace {

// f32 keeps the exponentials in y; narrower types would lose bits there and compute them again.
template <class T>
TENON_INLINE void softmax_row(size_t n, const T* x, T* y) {
  constexpr bool kKeep = std::is_same_v<T, float>;
  const F32 top(row_max(n, x));
  const F32 sum(row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
    const F32 e = exp_f32(get(x + i, span) - top);
    if constexpr (kKeep) put(y + i, e, span);
    return s + e;
  }));
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    const F32 e = kKeep ? get(y + i, span) : exp_f32(get(x + i, span) - top);
    put(y + i, e / sum, span);
  });
}

template <class T>
TENON_INLINE void log_softmax_row(size_t n, const T* x, T* y) {
  const F32 top(row_max(n, x));
  const F32 sum(row_sum(n, [&](F32 s, size_t i, auto span) __attribute__((always_inline)) {
    return s + exp_f32(get(x + i, span) - top);
  }));
  const F32 log_sum = log_f32(sum);
  each_step(n, [&](size_t i, auto span) __attribute__((always_inline)) {
    put(y + i, (get(x + i, span) - top) - log_sum, span);
  });
}

}  // namespace

#define SOFTMAX(name, type, T)                                                              \
  void TENON_KERNEL(name##_##type)(size_t rows, size_t columns, ptrdiff_t stride,           \
                                   const void* x, void* y) noexcept {                       \
    for (size_t r = 0; r < rows; ++r)                                                       \
      name##_row(columns, row_at(static_cast<const T*>(x), r, stride),                      \
                 row_at(static_cast<T*>(y), r, stride));                                    \
  }

SOFTMAX(softmax, f32, float)
SOFTMAX(softmax, bf16, bf16)
SOFTMAX(softmax, f16, f16)
SOFTMAX(log_softmax, f32, float)
SOFTMAX(log_softmax, bf16, bf16)
SOFTMAX(log_softmax, f16, f16)

}  // namespace tenon

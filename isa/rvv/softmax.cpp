// Softmax of rows for RVV: isa/softmax.h says what each kernel computes. Largest, exponentials and
// their sum block by block, result.
#include "isa/softmax.h"

#include "isa/rvv/rows.h"

namespace tenon {
namespace {

// Exponentials are kept for the last pass: in y where it is f32, for narrower types, which would
// lose bits, in a row of f32 where that is short enough to stay in the first cache; else computed
// again.
constexpr size_t kKept = 4096;

// e[i] = exp(x[i] - top), rounded to E.
template <class T, class E, class F>
TENON_INLINE void exponentials(size_t n, const T* x, E* e, float top, F f) {
  map<Wide>(n, x, e, [=](auto v) __attribute__((always_inline)) {
    return f(exp_fall_f32(sub(v, Constant{top})));
  });
}

// The sum of exp(x[i] - top); the exponentials are left in e, which is f32 for n elements or, where
// they need not be kept, for a block.
template <class T>
TENON_INLINE float exponential_sum(size_t n, const T* x, float top, float* e, bool keep) {
  float total = 0;
  for (size_t begin = 0; begin < n; begin += kSumBlock) {
    const size_t count = n - begin < kSumBlock ? n - begin : kSumBlock;
    float* const block = keep ? e + begin : e;
    exponentials(count, x + begin, block, top,
                 [](auto v) __attribute__((always_inline)) { return v; });
    total += row_sum(count, [=](Wide s, size_t i, size_t vl) __attribute__((always_inline)) {
      return __riscv_vfadd(s, load<Wide>(block + i, vl), vl);
    });
  }
  return total;
}

template <class T>
TENON_INLINE void softmax_row(size_t n, const T* x, T* y, float* e, bool keep) {
  const float top = row_max(n, x);
  const float scale = 1.0f / exponential_sum(n, x, top, e, keep);
  const auto scaled = [=](auto v)
                          __attribute__((always_inline)) { return mul(v, Constant{scale}); };
  if (keep)
    map<Wide>(n, e, y, scaled);
  else
    exponentials(n, x, y, top, scaled);
}

TENON_INLINE void softmax_row(size_t n, const float* x, float* y) { softmax_row(n, x, y, y, true); }

template <class T>
TENON_INLINE void softmax_row(size_t n, const T* x, T* y) {
  float e[kKept];
  softmax_row(n, x, y, e, n <= kKept);
}

template <class T>
TENON_INLINE void log_softmax_row(size_t n, const T* x, T* y) {
  float e[kSumBlock];
  const float top = row_max(n, x);
  const float log_sum = log_of(exponential_sum(n, x, top, e, false));
  map<Wide>(n, x, y, [=](auto v) __attribute__((always_inline)) {
    return sub(sub(v, Constant{top}), Constant{log_sum});
  });
}

}  // namespace

#define SOFTMAX_OF(name, log, type, T)                                                           \
  void TENON_KERNEL(name##_##type)(size_t rows, size_t columns, ptrdiff_t stride, const void* x, \
                                   void* y) noexcept {                                           \
    for (size_t r = 0; r < rows; ++r)                                                            \
      name##_row(columns, row_at(static_cast<const T*>(x), r, stride),                           \
                 row_at(static_cast<T*>(y), r, stride));                                         \
  }
#define SOFTMAX(name, log, type, T) TENON_STAMP_##T(SOFTMAX_OF(name, log, type, T))
#include "isa/softmax.inc"

}  // namespace tenon

// Reductions over n elements in the order of isa/sum_order.h: the portable twin of isa/simd/rows.h.
#pragma once
#include "isa/ref/scalar.h"
#include "isa/sum_order.h"

namespace tenon {
namespace {

// step(sum, i) is the sum with element i added.
template <class Step>
TENON_INLINE float row_sum(size_t n, Step step) {
  float total = 0;
  for (size_t begin = 0; begin < n; begin += kSumBlock) {
    float lane[kSumLanes] = {};
    const size_t end = n - begin < kSumBlock ? n : begin + kSumBlock;
    for (size_t i = begin; i < end; ++i) lane[i % kSumLanes] = step(lane[i % kSumLanes], i);
    for (size_t half = kSumLanes / 2; half > 0; half /= 2)
      for (size_t l = 0; l < half; ++l) lane[l] += lane[l + half];
    total += lane[0];
  }
  return total;
}

// n elements of type T, `step` bytes apart, read as f32 and written with one rounding.
template <class T>
struct Line {
  const void* x;
  ptrdiff_t step;

  float operator[](size_t i) const { return to_f32(*at(i)); }
  const T* at(size_t i) const {
    return reinterpret_cast<const T*>(static_cast<const char*>(x) +
                                      static_cast<ptrdiff_t>(i) * step);
  }
};

template <class T>
struct LineOut {
  void* y;
  ptrdiff_t step;

  void set(size_t i, float value) const {
    *reinterpret_cast<T*>(static_cast<char*>(y) + static_cast<ptrdiff_t>(i) * step) =
        from_f32<T>(value);
  }
};

}  // namespace
}  // namespace tenon

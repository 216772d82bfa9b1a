// Reference reductions: isa/reduce.h says what each computes, and in which order.
#include "isa/reduce.h"

#include <cmath>

#include "isa/types.h"

namespace tenon {
namespace {

constexpr size_t kLanes = 64;

template <class T>
const T& element(const ReduceArgs& a, size_t o, size_t i, size_t j) {
  const char* p = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
                  static_cast<ptrdiff_t>(i) * a.stride;
  return reinterpret_cast<const T*>(p)[j];
}

struct Sum {
  static constexpr float kStart = 0.0f;
  static float join(float a, float b) { return a + b; }
};

struct Max {
  static constexpr float kStart = -HUGE_VALF;
  static float join(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return NAN;
    return a > b ? a : b;
  }
};

// One lane: its terms are first, first + step, ... below n.
template <class X, class Op>
float lane(const ReduceArgs& a, size_t o, size_t j, size_t first, size_t step) {
  float total = Op::kStart;
  for (size_t i = first; i < a.n;) {
    float block = Op::kStart;
    for (size_t t = 0; t < kReduceBlock && i < a.n; ++t, i += step)
      block = Op::join(block, to_f32(element<X>(a, o, i, j)));
    total = Op::join(total, block);
  }
  return total;
}

template <class X, class Op>
float row(const ReduceArgs& a, size_t o) {
  float lanes[kLanes];
  for (size_t l = 0; l < kLanes; ++l) lanes[l] = lane<X, Op>(a, o, 0, l, kLanes);
  for (size_t half = kLanes / 2; half > 0; half /= 2)
    for (size_t l = 0; l < half; ++l) lanes[l] = Op::join(lanes[l], lanes[l + half]);
  return lanes[0];
}

template <class X, class Y, class Op>
void reduce(const ReduceArgs& a) {
  Y* y = static_cast<Y*>(a.y);
  const bool is_row = a.inner == 1 && a.stride == sizeof(X);
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; ++j) {
      const float r = is_row ? row<X, Op>(a, o) : lane<X, Op>(a, o, j, 0, 1);
      *y++ = from_f32<Y>(std::is_same_v<Op, Sum> ? r / a.divisor : r);
    }
}

template <class X, bool kIsBool>
void integer_sum(const ReduceArgs& a) {
  int64_t* y = static_cast<int64_t*>(a.y);
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; ++j) {
      uint64_t sum = 0;
      for (size_t i = 0; i < a.n; ++i) {
        const X x = element<X>(a, o, i, j);
        sum += kIsBool ? uint64_t{x != 0} : static_cast<uint64_t>(static_cast<int64_t>(x));
      }
      *y++ = static_cast<int64_t>(sum);
    }
}

}  // namespace

#define REDUCE(op, X, Y, Op) \
  void op##_ref(const ReduceArgs& a) noexcept { reduce<X, Y, Op>(a); }
#include "isa/reduce.inc"

void sum_i64_b8_ref(const ReduceArgs& a) noexcept { integer_sum<uint8_t, true>(a); }
void sum_i64_u8_ref(const ReduceArgs& a) noexcept { integer_sum<uint8_t, false>(a); }
void sum_i64_i32_ref(const ReduceArgs& a) noexcept { integer_sum<int32_t, false>(a); }

}  // namespace tenon

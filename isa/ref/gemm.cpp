// Reference matrix products: isa/gemm.h, isa/gemm_pack.h and isa/gemm_end.h say what each computes.
#include "isa/gemm.h"

#include "isa/gemm_columns.h"
#include "isa/gemm_end.h"
#include "isa/gemm_pack.h"
#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
const T* row(const void* base, ptrdiff_t stride, size_t i) {
  return reinterpret_cast<const T*>(static_cast<const char*>(base) +
                                    static_cast<ptrdiff_t>(i) * stride);
}

// Sum is what products are added in; unsigned for integers, so that they wrap.
template <class Sum, class A, class B, class Widen>
TENON_INLINE void gemm(const GemmArgs& g, Widen widen) {
  for (size_t i = 0; i < g.m; ++i) {
    const A* a = row<A>(g.a, g.a_row, i);
    char* y = static_cast<char*>(g.y) + static_cast<ptrdiff_t>(i) * g.y_row;
    for (size_t j = 0; j < g.n; ++j, y += g.y_column) {
      const B* b = row<B>(g.b, g.b_row, j);
      Sum sum = 0;
      for (size_t p = 0; p < g.k; ++p) sum += widen(a[p]) * widen(b[p]);
      std::memcpy(y, &sum, sizeof sum);
    }
  }
}

template <class B>
TENON_INLINE void columns(const GemmArgs& g) {
  for (size_t i = 0; i < g.m; ++i) {
    const float* a = row<float>(g.a, g.a_row, i);
    char* y = static_cast<char*>(g.y) + static_cast<ptrdiff_t>(i) * g.y_row;
    for (size_t j = 0; j < g.n; ++j, y += g.y_column) {
      float sum = 0;
      for (size_t p = 0; p < g.k; ++p) sum += a[p] * to_f32(row<B>(g.b, g.b_row, p)[j]);
      std::memcpy(y, &sum, sizeof sum);
    }
  }
}

constexpr auto kWidenFloat = [](auto x) { return to_f32(x); };
// u8 holds x + 128.
struct WidenInt {
  uint32_t operator()(int16_t x) const { return static_cast<uint32_t>(int32_t{x}); }
  uint32_t operator()(int8_t x) const { return static_cast<uint32_t>(int32_t{x}); }
  uint32_t operator()(uint8_t x) const { return static_cast<uint32_t>(int32_t{x} - 128); }
};
constexpr WidenInt kWidenInt;

template <class X, class Y, class Widen>
TENON_INLINE void pack(const GemmPackArgs& g, Widen widen) {
  for (size_t j = 0; j < g.n; ++j) {
    const char* x = static_cast<const char*>(g.x) + static_cast<ptrdiff_t>(j) * g.x_row;
    Y* y = reinterpret_cast<Y*>(static_cast<char*>(g.y) + static_cast<ptrdiff_t>(j) * g.y_row);
    for (size_t p = 0; p < g.k; ++p, x += g.x_column) y[p] = widen(*reinterpret_cast<const X*>(x));
  }
}

template <class T>
TENON_INLINE void end(const GemmEndArgs& g) {
  const T* c = static_cast<const T*>(g.c);
  for (size_t i = 0; i < g.n; ++i) {
    const float scaled = g.alpha * g.x[i];
    // In double the product is exact and one rounding remains, as in a fused multiply-add.
    const float y = c == nullptr
                        ? scaled
                        : static_cast<float>(double{g.beta} * to_f32(c[i * g.c_step]) + scaled);
    static_cast<T*>(g.y)[i] = from_f32<T>(y);
  }
}

}  // namespace

void gemm_f32_f32_f32_ref(const GemmArgs& g) noexcept { gemm<float, float, float>(g, kWidenFloat); }
void gemm_f32_f32_bf16_ref(const GemmArgs& g) noexcept { gemm<float, float, bf16>(g, kWidenFloat); }
void gemm_f32_f32_f16_ref(const GemmArgs& g) noexcept { gemm<float, float, f16>(g, kWidenFloat); }

void gemm_columns_f32_f32_f32_ref(const GemmArgs& g) noexcept { columns<float>(g); }
void gemm_columns_f32_f32_bf16_ref(const GemmArgs& g) noexcept { columns<bf16>(g); }
void gemm_columns_f32_f32_f16_ref(const GemmArgs& g) noexcept { columns<f16>(g); }

void gemm_f32_bf16_bf16_ref(const GemmArgs& g) noexcept { gemm<float, bf16, bf16>(g, kWidenFloat); }
void gemm_i32_i16_i16_ref(const GemmArgs& g) noexcept {
  gemm<uint32_t, int16_t, int16_t>(g, kWidenInt);
}
void gemm_i32_u8_i8_ref(const GemmArgs& g) noexcept {
  gemm<uint32_t, uint8_t, int8_t>(g, kWidenInt);
}

void gemm_pack_f32_f32_ref(const GemmPackArgs& g) noexcept { pack<float, float>(g, kWidenFloat); }
void gemm_pack_f32_bf16_ref(const GemmPackArgs& g) noexcept { pack<bf16, float>(g, kWidenFloat); }
void gemm_pack_f32_f16_ref(const GemmPackArgs& g) noexcept { pack<f16, float>(g, kWidenFloat); }

void gemm_pack_bf16_bf16_ref(const GemmPackArgs& g) noexcept {
  pack<bf16, bf16>(g, [](bf16 x) { return x; });
}
void gemm_pack_i16_i8_ref(const GemmPackArgs& g) noexcept {
  pack<int8_t, int16_t>(g, [](int8_t x) { return int16_t{x}; });
}
void gemm_pack_i8_i8_ref(const GemmPackArgs& g) noexcept {
  pack<int8_t, int8_t>(g, [](int8_t x) { return x; });
}
void gemm_pack_u8_i8_ref(const GemmPackArgs& g) noexcept {
  pack<int8_t, uint8_t>(g, [](int8_t x) { return static_cast<uint8_t>(x ^ 0x80); });
}

void gemm_end_f32_ref(const GemmEndArgs& g) noexcept { end<float>(g); }
void gemm_end_bf16_ref(const GemmEndArgs& g) noexcept { end<bf16>(g); }
void gemm_end_f16_ref(const GemmEndArgs& g) noexcept { end<f16>(g); }

}  // namespace tenon

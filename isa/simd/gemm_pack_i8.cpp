// Packing of bytes for the integer gemm kernels: isa/gemm_pack.h says what each does.
#include "isa/gemm_pack.h"
#include "isa/simd/vec.h"

namespace tenon {
namespace {

#if defined(__AVX2__)
using I8x16 = __m128i;
TENON_INLINE I8x16 load_16(const int8_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
TENON_INLINE void store_16(void* y, I8x16 x) { _mm_storeu_si128(static_cast<__m128i*>(y), x); }
TENON_INLINE void store_widened(int16_t* y, I8x16 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(y), _mm256_cvtepi8_epi16(x));
}
TENON_INLINE I8x16 flip_signs(I8x16 x) {
  return _mm_xor_si128(x, _mm_set1_epi8(static_cast<char>(0x80)));
}
TENON_INLINE I8x16 zip_low(I8x16 a, I8x16 b) { return _mm_unpacklo_epi8(a, b); }
TENON_INLINE I8x16 zip_high(I8x16 a, I8x16 b) { return _mm_unpackhi_epi8(a, b); }
#else
using I8x16 = int8x16_t;
TENON_INLINE I8x16 load_16(const int8_t* p) { return vld1q_s8(p); }
TENON_INLINE void store_16(void* y, I8x16 x) { vst1q_s8(static_cast<int8_t*>(y), x); }
TENON_INLINE void store_widened(int16_t* y, I8x16 x) {
  vst1q_s16(y, vmovl_s8(vget_low_s8(x)));
  vst1q_s16(y + 8, vmovl_high_s8(x));
}
TENON_INLINE I8x16 flip_signs(I8x16 x) { return veorq_s8(x, vdupq_n_s8(INT8_MIN)); }
TENON_INLINE I8x16 zip_low(I8x16 a, I8x16 b) { return vzip1q_s8(a, b); }
TENON_INLINE I8x16 zip_high(I8x16 a, I8x16 b) { return vzip2q_s8(a, b); }
#endif

// Sixteen bytes in the forms that kernels read.
struct Widened {
  using Y = int16_t;
  TENON_INLINE Y one(int8_t x) { return x; }
  TENON_INLINE void put(Y* y, I8x16 x) { store_widened(y, x); }
};
struct Kept {
  using Y = int8_t;
  TENON_INLINE Y one(int8_t x) { return x; }
  TENON_INLINE void put(Y* y, I8x16 x) { store_16(y, x); }
};
struct Shifted {  // x + 128, unsigned
  using Y = uint8_t;
  TENON_INLINE Y one(int8_t x) { return static_cast<uint8_t>(x ^ 0x80); }
  TENON_INLINE void put(Y* y, I8x16 x) { store_16(y, flip_signs(x)); }
};

// Sixteen rows of sixteen bytes turned into columns: four riffles.
TENON_INLINE void transpose(I8x16 (&r)[16]) {
  for (int pass = 0; pass < 4; ++pass) {
    I8x16 t[16];
    for (int i = 0; i < 8; ++i) {
      t[2 * i] = zip_low(r[i], r[i + 8]);
      t[2 * i + 1] = zip_high(r[i], r[i + 8]);
    }
    for (int i = 0; i < 16; ++i) r[i] = t[i];
  }
}

template <class Form>
struct Pack {
  using Y = typename Form::Y;
  const GemmPackArgs& g;

  const int8_t* from(size_t j, size_t p) const {
    return static_cast<const int8_t*>(g.x) + static_cast<ptrdiff_t>(j) * g.x_row +
           static_cast<ptrdiff_t>(p) * g.x_column;
  }
  Y* to(size_t j, size_t p) const {
    return reinterpret_cast<Y*>(static_cast<char*>(g.y) + static_cast<ptrdiff_t>(j) * g.y_row) + p;
  }
  void one_by_one(size_t j, size_t n, size_t p0) const {
    for (; j < n; ++j)
      for (size_t p = p0; p < g.k; ++p) *to(j, p) = Form::one(*from(j, p));
  }
  void rows() const {
    const size_t k16 = g.k / 16 * 16;
    for (size_t j = 0; j < g.n; ++j)
      for (size_t p = 0; p < k16; p += 16) Form::put(to(j, p), load_16(from(j, p)));
    one_by_one(0, g.n, k16);
  }
  void columns() const {
    const size_t k16 = g.k / 16 * 16, n16 = g.n / 16 * 16;
    for (size_t p = 0; p < k16; p += 16)
      for (size_t j = 0; j < n16; j += 16) {
        I8x16 r[16];
        for (size_t i = 0; i < 16; ++i) r[i] = load_16(from(j, p + i));
        transpose(r);
        for (size_t i = 0; i < 16; ++i) Form::put(to(j + i, p), r[i]);
      }
    one_by_one(0, n16, k16);
    one_by_one(n16, g.n, 0);
  }
};

template <class Form>
TENON_INLINE void pack(const GemmPackArgs& g) {
  const Pack<Form> x{g};
  if (g.x_column == 1)
    x.rows();
  else if (g.x_row == 1)
    x.columns();
  else
    x.one_by_one(0, g.n, 0);
}

}  // namespace

void TENON_KERNEL(gemm_pack_i16_i8)(const GemmPackArgs& g) noexcept { pack<Widened>(g); }
void TENON_KERNEL(gemm_pack_i8_i8)(const GemmPackArgs& g) noexcept { pack<Kept>(g); }
void TENON_KERNEL(gemm_pack_u8_i8)(const GemmPackArgs& g) noexcept { pack<Shifted>(g); }

}  // namespace tenon

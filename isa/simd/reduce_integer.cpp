// Integer sums: isa/reduce.h says what each computes. Bytes of a row are summed eight to a 64-bit
// lane; columns of bytes gather in 16 bits until those might overflow.
#include "isa/reduce.h"
#include "isa/simd/vec.h"

namespace tenon {
namespace {

constexpr size_t kTile = 512;

#if defined(__AVX512F__)
using Int = __m512i;
TENON_INLINE Int load_int(const void* p) { return _mm512_loadu_si512(p); }
TENON_INLINE void store_int(void* p, Int x) { _mm512_storeu_si512(p, x); }
TENON_INLINE Int zero() { return _mm512_setzero_si512(); }
TENON_INLINE Int add64(Int a, Int b) { return _mm512_add_epi64(a, b); }
TENON_INLINE Int add16(Int a, Int b) { return _mm512_add_epi16(a, b); }
TENON_INLINE Int sum_bytes(Int x) { return _mm512_sad_epu8(x, zero()); }
TENON_INLINE Int ones_where_set(Int x) { return _mm512_min_epu8(x, _mm512_set1_epi8(1)); }
TENON_INLINE Int widen_u8_16(const void* p) {
  return _mm512_cvtepu8_epi16(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
TENON_INLINE Int widen_u16_64(const void* p) {
  return _mm512_cvtepu16_epi64(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
TENON_INLINE Int widen_i32_64(const void* p) {
  return _mm512_cvtepi32_epi64(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
#elif defined(__AVX2__)
using Int = __m256i;
TENON_INLINE Int load_int(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
TENON_INLINE void store_int(void* p, Int x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
TENON_INLINE Int zero() { return _mm256_setzero_si256(); }
TENON_INLINE Int add64(Int a, Int b) { return _mm256_add_epi64(a, b); }
TENON_INLINE Int add16(Int a, Int b) { return _mm256_add_epi16(a, b); }
TENON_INLINE Int sum_bytes(Int x) { return _mm256_sad_epu8(x, zero()); }
TENON_INLINE Int ones_where_set(Int x) { return _mm256_min_epu8(x, _mm256_set1_epi8(1)); }
TENON_INLINE Int widen_u8_16(const void* p) {
  return _mm256_cvtepu8_epi16(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
TENON_INLINE Int widen_u16_64(const void* p) {
  return _mm256_cvtepu16_epi64(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
}
TENON_INLINE Int widen_i32_64(const void* p) {
  return _mm256_cvtepi32_epi64(_mm_loadu_si128(static_cast<const __m128i*>(p)));
}
#else
using Int = uint64x2_t;
TENON_INLINE uint8x8_t load_half(const void* p) { return vld1_u8(static_cast<const uint8_t*>(p)); }
TENON_INLINE Int load_int(const void* p) {
  return vreinterpretq_u64_u8(vld1q_u8(static_cast<const uint8_t*>(p)));
}
TENON_INLINE void store_int(void* p, Int x) {
  vst1q_u8(static_cast<uint8_t*>(p), vreinterpretq_u8_u64(x));
}
TENON_INLINE Int zero() { return vdupq_n_u64(0); }
TENON_INLINE Int add64(Int a, Int b) { return vaddq_u64(a, b); }
TENON_INLINE Int add16(Int a, Int b) {
  return vreinterpretq_u64_u16(vaddq_u16(vreinterpretq_u16_u64(a), vreinterpretq_u16_u64(b)));
}
TENON_INLINE Int sum_bytes(Int x) {
  return vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(vreinterpretq_u8_u64(x))));
}
TENON_INLINE Int ones_where_set(Int x) {
  return vreinterpretq_u64_u8(vminq_u8(vreinterpretq_u8_u64(x), vdupq_n_u8(1)));
}
TENON_INLINE Int widen_u8_16(const void* p) {
  return vreinterpretq_u64_u16(vmovl_u8(load_half(p)));
}
TENON_INLINE Int widen_u16_64(const void* p) {
  uint32_t two;
  std::memcpy(&two, p, sizeof two);
  return vmovl_u32(vget_low_u32(vmovl_u16(vcreate_u16(two))));
}
TENON_INLINE Int widen_i32_64(const void* p) {
  return vreinterpretq_u64_s64(vmovl_s32(vreinterpret_s32_u8(load_half(p))));
}
#endif

constexpr size_t kBytes = sizeof(Int);
constexpr size_t kWords = kBytes / 2, kQuads = kBytes / 8;

// Eight bytes, and zeros.
TENON_INLINE Int load_8(const void* p) {
#if defined(__AVX512F__)
  return _mm512_zextsi128_si512(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
#elif defined(__AVX2__)
  return _mm256_zextsi128_si256(_mm_loadl_epi64(static_cast<const __m128i*>(p)));
#else
  return vreinterpretq_u64_u8(vcombine_u8(load_half(p), vcreate_u8(0)));
#endif
}

TENON_INLINE uint64_t sum_quads(Int x) {
  uint64_t lane[kQuads], sum = 0;
  std::memcpy(lane, &x, sizeof lane);
  for (uint64_t l : lane) sum += l;
  return sum;
}

template <bool kIsBool>
struct Bytes {
  using X = uint8_t;
  TENON_INLINE Int fit(Int x) { return kIsBool ? ones_where_set(x) : x; }
  TENON_INLINE uint64_t fit(uint8_t x) { return kIsBool ? x != 0 : x; }

  TENON_INLINE uint64_t row(size_t n, const uint8_t* x) {
    Int acc[4] = {zero(), zero(), zero(), zero()};
    size_t i = 0;
    for (; i + 4 * kBytes <= n; i += 4 * kBytes)
      for (size_t g = 0; g < 4; ++g)
        acc[g] = add64(acc[g], sum_bytes(fit(load_int(x + i + g * kBytes))));
    for (; i + kBytes <= n; i += kBytes) acc[0] = add64(acc[0], sum_bytes(fit(load_int(x + i))));
    for (; i + 8 <= n; i += 8) acc[1] = add64(acc[1], sum_bytes(fit(load_8(x + i))));
    uint64_t sum = sum_quads(add64(add64(acc[0], acc[1]), add64(acc[2], acc[3])));
    for (; i < n; ++i) sum += fit(x[i]);
    return sum;
  }

  // Adds `rows` <= kRows rows of `width` columns to y.
  static constexpr size_t kRows = 256;  // 256 * 255 < 2^16
  TENON_INLINE void column_block(size_t rows, size_t width, const char* x, ptrdiff_t stride,
                                 uint64_t* y) {
    alignas(64) uint16_t acc[kTile] = {};
    for (size_t r = 0; r < rows; ++r, x += stride) {
      size_t j = 0;
      for (; j + kWords <= width; j += kWords) {
        store_int(acc + j, add16(load_int(acc + j), fit(widen_u8_16(x + j))));
      }
      for (; j < width; ++j) acc[j] += static_cast<uint16_t>(fit(static_cast<uint8_t>(x[j])));
    }
    size_t j = 0;
    for (; j + kQuads <= width; j += kQuads)
      store_int(y + j, add64(load_int(y + j), widen_u16_64(acc + j)));
    for (; j < width; ++j) y[j] += acc[j];
  }
};

struct Words {
  using X = int32_t;
  TENON_INLINE uint64_t row(size_t n, const int32_t* x) {
    Int acc[4] = {zero(), zero(), zero(), zero()};
    size_t i = 0;
    for (; i + 4 * kQuads <= n; i += 4 * kQuads)
      for (size_t g = 0; g < 4; ++g) acc[g] = add64(acc[g], widen_i32_64(x + i + g * kQuads));
    uint64_t sum = sum_quads(add64(add64(acc[0], acc[1]), add64(acc[2], acc[3])));
    for (; i < n; ++i) sum += static_cast<uint64_t>(int64_t{x[i]});
    return sum;
  }

  static constexpr size_t kRows = 256;
  TENON_INLINE void column_block(size_t rows, size_t width, const char* x, ptrdiff_t stride,
                                 uint64_t* y) {
    for (; rows >= 8; rows -= 8, x += 8 * stride) sweep<8>(width, x, stride, y);
    for (; rows > 0; --rows, x += stride) sweep<1>(width, x, stride, y);
  }

  template <size_t R>
  TENON_INLINE void sweep(size_t width, const char* x, ptrdiff_t stride, uint64_t* y) {
    const auto at = [&](size_t r, size_t j) {
      return reinterpret_cast<const int32_t*>(x + static_cast<ptrdiff_t>(r) * stride) + j;
    };
    size_t j = 0;
    for (; j + kQuads <= width; j += kQuads) {
      Int v = load_int(y + j);
      for (size_t r = 0; r < R; ++r) v = add64(v, widen_i32_64(at(r, j)));
      store_int(y + j, v);
    }
    for (; j < width; ++j)
      for (size_t r = 0; r < R; ++r) y[j] += static_cast<uint64_t>(int64_t{*at(r, j)});
  }
};

template <class T>
TENON_INLINE void columns(const ReduceArgs& a) {
  uint64_t* y = static_cast<uint64_t*>(a.y);
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; j += kTile) {
      const size_t width = a.inner - j < kTile ? a.inner - j : kTile;
      uint64_t* out = y + o * a.inner + j;
      std::memset(out, 0, width * sizeof *out);
      for (size_t i = 0; i < a.n; i += T::kRows) {
        const char* x = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
                        static_cast<ptrdiff_t>(i) * a.stride +
                        static_cast<ptrdiff_t>(j * sizeof(typename T::X));
        T::column_block(a.n - i < T::kRows ? a.n - i : T::kRows, width, x, a.stride, out);
      }
    }
}

template <class T>
TENON_INLINE void reduce(const ReduceArgs& a) {
  if (a.inner != 1 || a.stride != sizeof(typename T::X)) return columns<T>(a);
  const char* x = static_cast<const char*>(a.x);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride)
    static_cast<uint64_t*>(a.y)[o] = T::row(a.n, reinterpret_cast<const typename T::X*>(x));
}

}  // namespace

void TENON_KERNEL(sum_i64_b8)(const ReduceArgs& a) noexcept { reduce<Bytes<true>>(a); }
void TENON_KERNEL(sum_i64_u8)(const ReduceArgs& a) noexcept { reduce<Bytes<false>>(a); }
void TENON_KERNEL(sum_i64_i32)(const ReduceArgs& a) noexcept { reduce<Words>(a); }

}  // namespace tenon

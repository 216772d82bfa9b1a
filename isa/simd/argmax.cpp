// Argmax over xsimd: isa/argmax.h says what it computes.
//
// A row is read once for its maximum, chunk by chunk; only the best chunk is searched for the
// element. A column keeps its best value and that value's row in a tile that stays in L1, and is
// swept eight rows at a time.
#include "isa/argmax.h"

#include "isa/simd/vec.h"

#define UNROLL _Pragma("GCC unroll 8")

namespace tenon {
namespace {

constexpr size_t kChunk = 2048, kTile = 1024;

TENON_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }
TENON_INLINE bool is_nan(float x) { return x != x; }

// The largest of n > 0 elements; NaN if one is.
template <class X>
TENON_INLINE float chunk_max(size_t n, const X* x) {
  const auto join = [](F32 a, F32 b) { return max_or_nan(a, b); };
  if (n < kLanes) {
    float top = to_f32(x[0]);
    for (size_t i = 1; i < n; ++i) {
      const float next = to_f32(x[i]);
      top = top > next || is_nan(top) ? top : next;
    }
    return top;
  }
  constexpr size_t kAccs = 4;
  F32 acc[kAccs];
  UNROLL for (F32& a : acc) a = load(x);
  size_t i = 0;
  for (; i + kAccs * kLanes <= n; i += kAccs * kLanes)
    UNROLL for (size_t g = 0; g < kAccs; ++g) acc[g] = join(acc[g], load(x + i + g * kLanes));
  for (; i + kLanes <= n; i += kLanes) acc[0] = join(acc[0], load(x + i));
  acc[1] = join(acc[1], load(x + n - kLanes));  // twice over some elements, which is no matter
  return fold_vector(join(join(acc[0], acc[1]), join(acc[2], acc[3])), join);
}

// The first of n elements that equals `top`, or is NaN where top is. There is one.
template <class X>
TENON_INLINE size_t find(size_t n, const X* x, float top) {
  const F32 want(top);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const F32 v = load(x + i);
    const uint64_t found = mask_bits(is_nan(top) ? v != v : v == want);
    if (found != 0) return i + static_cast<size_t>(__builtin_ctzll(found)) / kMaskBits;
  }
  while (!(is_nan(top) ? is_nan(to_f32(x[i])) : to_f32(x[i]) == top)) ++i;
  return i;
}

template <class X>
TENON_INLINE size_t row(size_t n, const X* x) {
  size_t best = 0;
  float top = chunk_max(least(n, kChunk), x);
  for (size_t begin = kChunk; begin < n && !is_nan(top); begin += kChunk) {
    const float max = chunk_max(least(n - begin, kChunk), x + begin);
    if (max <= top) continue;  // a NaN is not
    top = max;
    best = begin;
  }
  return best + find(least(n - best, kChunk), x + best, top);
}

template <class X>
TENON_INLINE void rows(const ArgmaxArgs& a) {
  const char* p = static_cast<const char*>(a.x);
  for (size_t o = 0; o < a.outer; ++o, p += a.outer_stride) {
    const X* x = reinterpret_cast<const X*>(p);
    const size_t i = row(a.n, x);
    a.index[o] = static_cast<int64_t>(i);
    if (a.value != nullptr) static_cast<X*>(a.value)[o] = x[i];
  }
}

// Row numbers travel as the bits of a float, so that they blend with the values' mask.
TENON_INLINE F32 row_bits(size_t i) { return F32(float_of(static_cast<uint32_t>(i))); }

TENON_INLINE void store_rows(int64_t* y, const float* row, size_t width) {
  size_t j = 0;
#if defined(__AVX512F__)
  for (; j + 8 <= width; j += 8)
    _mm512_storeu_si512(y + j,
                        _mm512_cvtepu32_epi64(_mm256_castps_si256(_mm256_loadu_ps(row + j))));
#elif defined(__AVX2__)
  for (; j + 4 <= width; j += 4)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(y + j),
                        _mm256_cvtepu32_epi64(_mm_castps_si128(_mm_loadu_ps(row + j))));
#else
  for (; j + 2 <= width; j += 2)
    vst1q_s64(y + j, vreinterpretq_s64_u64(vmovl_u32(vreinterpret_u32_f32(vld1_f32(row + j)))));
#endif
  for (; j < width; ++j) y[j] = static_cast<int64_t>(bits_of(row[j]));
}

// Columns on their way down the rows; fewer than a vector go by load_n, and a last vector may
// overlap the one before: its columns are then computed twice.
struct Columns {
  const char* x;
  ptrdiff_t stride;
  size_t width;
  alignas(64) float top[kTile], row[kTile];
};

template <size_t R, class X>
TENON_INLINE void sweep(Columns& c, size_t i) {
  const bool narrow = c.width < kLanes;
  const char* x = c.x + static_cast<ptrdiff_t>(i) * c.stride;
  for (size_t slot = 0; slot < c.width; slot += kLanes) {
    const size_t j = narrow ? 0 : least(slot, c.width - kLanes);
    const auto at = [&](size_t r) {
      const X* p = reinterpret_cast<const X*>(x + static_cast<ptrdiff_t>(r) * c.stride) + j;
      return narrow ? load_n(p, c.width) : load(p);
    };
    F32 top = i == 0 ? at(0) : load(c.top + slot);
    F32 row = i == 0 ? row_bits(0) : load(c.row + slot);
    UNROLL for (size_t r = 0; r < R; ++r) {
      const F32 v = at(r);
      const Mask better = !(v <= top) & (top == top);
      top = select(better, v, top);
      row = select(better, row_bits(i + r), row);
    }
    store(c.top + slot, top);
    store(c.row + slot, row);
  }
}

template <class X>
TENON_INLINE void finish(const Columns& c, int64_t* index, X* value) {
  const size_t whole = c.width < kLanes ? 0 : c.width / kLanes * kLanes;
  store_rows(index, c.row, c.width < kLanes ? c.width : whole);
  for (size_t j = 0; value != nullptr && j < whole; j += kLanes) store(value + j, load(c.top + j));
  if (c.width < kLanes) {
    if (value != nullptr) store_n(value, load(c.top), c.width);
  } else if (whole < c.width) {
    store_rows(index + c.width - kLanes, c.row + whole, kLanes);
    if (value != nullptr) store(value + c.width - kLanes, load(c.top + whole));
  }
}

template <class X>
TENON_INLINE void columns(const ArgmaxArgs& a) {
  const size_t tiles = (a.inner + kTile - 1) / kTile;
  const size_t width = tiles == 0 ? 0 : ((a.inner + tiles - 1) / tiles + 63) / 64 * 64;
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; j += width) {
      Columns c;
      c.x = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
            static_cast<ptrdiff_t>(j * sizeof(X));
      c.stride = a.stride;
      c.width = least(width, a.inner - j);
      size_t i = 0;
      for (; i + 8 <= a.n; i += 8) sweep<8, X>(c, i);
      for (; i + 2 <= a.n; i += 2) sweep<2, X>(c, i);
      if (i < a.n) sweep<1, X>(c, i);
      const size_t at = o * a.inner + j;
      finish(c, a.index + at, a.value != nullptr ? static_cast<X*>(a.value) + at : nullptr);
    }
}

template <class X>
TENON_INLINE void argmax(const ArgmaxArgs& a) {
  a.inner == 1 && a.stride == sizeof(X) ? rows<X>(a) : columns<X>(a);
}

}  // namespace

void TENON_KERNEL(argmax_i64_f32)(const ArgmaxArgs& a) noexcept { argmax<float>(a); }
void TENON_KERNEL(argmax_i64_bf16)(const ArgmaxArgs& a) noexcept { argmax<bf16>(a); }
void TENON_KERNEL(argmax_i64_f16)(const ArgmaxArgs& a) noexcept { argmax<f16>(a); }

}  // namespace tenon

// Argmax for RVV: isa/argmax.h says what it computes.
//
// A row is read once for its maximum, chunk by chunk; only the best chunk is searched for the
// element. A column keeps its best value and that value's row in a tile that stays in the first
// cache, and is swept eight rows at a time.
#include "isa/argmax.h"

#include "isa/rvv/rows.h"

namespace tenon {
namespace {

constexpr size_t kChunk = 2048, kTile = 1024;

TENON_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }
TENON_INLINE bool is_nan(float x) { return x != x; }

// The largest of n > 0 elements; NaN if one is. vfmax drops a NaN, so those are watched for.
template <class X>
TENON_INLINE float chunk_max(size_t n, const X* x) {
  const size_t vl = least(n, lanes<Wide>());
  const auto watch = [](auto nan, Wide v, size_t vl) __attribute__((always_inline)) {
    return __riscv_vmor(nan, __riscv_vmfne(v, v, vl), vl);
  };
  Wide top = load<Wide>(x, vl);
  auto nan = __riscv_vmfne(top, top, vl);
  size_t i = vl;
  for (; i + vl <= n; i += vl) {
    const Wide v = load<Wide>(x + i, vl);
    top = __riscv_vfmax(top, v, vl);
    nan = watch(nan, v, vl);
  }
  if (i < n) {  // twice over some elements, which is no matter
    const Wide v = load<Wide>(x + n - vl, vl);
    top = __riscv_vfmax(top, v, vl);
    nan = watch(nan, v, vl);
  }
  if (__riscv_vfirst(nan, vl) >= 0) return __builtin_nanf("");
  const auto start = Width<vfloat32m1_t>::splat(-__builtin_inff(), 1);
  return __riscv_vfmv_f(__riscv_vfredmax(top, start, vl));
}

// The first of n elements that equals `top`, or is NaN where top is. There is one.
template <class X>
TENON_INLINE size_t find(size_t n, const X* x, float top) {
  const size_t vl = least(n, lanes<Wide>());
  for (size_t i = 0;; i += vl) {
    const size_t here = least(vl, n - i);
    const Wide v = load<Wide>(x + i, here);
    const long found = is_nan(top) ? __riscv_vfirst(__riscv_vmfne(v, v, here), here)
                                   : __riscv_vfirst(__riscv_vmfeq(v, top, here), here);
    if (found >= 0) return i + static_cast<size_t>(found);
  }
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

// A tile of columns on its way down the rows.
struct Columns {
  const char* x;
  ptrdiff_t stride;
  size_t width;
  float top[kTile];
  uint32_t row[kTile];
};

// Rows i to i + R, i > 0: what is not less or equal is better, a NaN too, than a number.
template <size_t R, class X>
TENON_INLINE void sweep(Columns& c, size_t i) {
  using V = Many;
  const char* x = c.x + static_cast<ptrdiff_t>(i) * c.stride;
  for (size_t j = 0, vl; j < c.width; j += vl, x += vl * sizeof(X)) {
    vl = Width<V>::lanes_of(c.width - j);
    V top = load<V>(c.top + j, vl);
    vuint32m4_t row = __riscv_vle32_v_u32m4(c.row + j, vl);
    const char* p = x;
    _Pragma("GCC unroll 8") for (size_t r = 0; r < R; ++r, p += c.stride) {
      const V v = load<V>(reinterpret_cast<const X*>(p), vl);
      const auto better =
          __riscv_vmandn(__riscv_vmfeq(top, top, vl), __riscv_vmfle(v, top, vl), vl);
      top = __riscv_vmerge(top, v, better, vl);
      row = __riscv_vmerge(row, static_cast<uint32_t>(i + r), better, vl);
    }
    store(c.top + j, top, vl);
    __riscv_vse32(c.row + j, row, vl);
  }
}

template <class X>
TENON_INLINE void finish(const Columns& c, int64_t* index, X* value) {
  for (size_t j = 0, vl; j < c.width; j += vl) {
    vl = __riscv_vsetvl_e64m8(c.width - j);
    const auto wide = __riscv_vzext_vf2(__riscv_vle32_v_u32m4(c.row + j, vl), vl);
    __riscv_vse64(index + j, __riscv_vreinterpret_v_u64m8_i64m8(wide), vl);
  }
  if (value != nullptr)
    map<Wide>(c.width, c.top, value, [](Wide v) __attribute__((always_inline)) { return v; });
}

template <class X>
TENON_INLINE void columns(const ArgmaxArgs& a) {
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; j += kTile) {
      Columns c;
      c.x = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
            static_cast<ptrdiff_t>(j * sizeof(X));
      c.stride = a.stride;
      c.width = least(kTile, a.inner - j);
      map<Wide>(c.width, reinterpret_cast<const X*>(c.x), c.top,
                [](Wide v) __attribute__((always_inline)) { return v; });
      std::memset(c.row, 0, c.width * sizeof *c.row);
      size_t i = 1;
      for (; i + 8 <= a.n; i += 8) sweep<8, X>(c, i);
      for (; i < a.n; ++i) sweep<1, X>(c, i);
      const size_t at = o * a.inner + j;
      finish(c, a.index + at, a.value != nullptr ? static_cast<X*>(a.value) + at : nullptr);
    }
}

template <class X>
TENON_INLINE void argmax(const ArgmaxArgs& a) {
  a.inner == 1 && a.stride == sizeof(X) ? rows<X>(a) : columns<X>(a);
}

}  // namespace

#define ARGMAX(type, T) \
  void TENON_KERNEL(argmax_i64_##type)(const ArgmaxArgs& a) noexcept { argmax<T>(a); }

TENON_STAMP_float(ARGMAX(f32, float)) TENON_STAMP_bf16(ARGMAX(bf16, bf16))
    TENON_STAMP_f16(ARGMAX(f16, f16))

}  // namespace tenon

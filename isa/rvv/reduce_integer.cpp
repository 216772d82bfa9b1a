// Integer sums for RVV: isa/reduce.h says what each computes. Bytes are gathered in 16 bits until
// those might overflow; bools of a row are counted as masks.
#include "isa/reduce.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

constexpr size_t kTile = 512;
constexpr size_t kRows = 256;  // 256 * 255 < 2^16

TENON_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

// The bytes that count: of a bool any bit.
template <bool kIsBool>
TENON_INLINE vuint8m4_t load_bytes(const uint8_t* p, size_t vl) {
  const vuint8m4_t x = __riscv_vle8_v_u8m4(p, vl);
  return kIsBool ? __riscv_vminu(x, 1, vl) : x;
}

TENON_INLINE uint64_t row(size_t n, const uint8_t* x, std::true_type /* bool */) {
  uint64_t sum = 0;
  for (size_t vl; n > 0; n -= vl, x += vl) {
    vl = __riscv_vsetvl_e8m8(n);
    sum += __riscv_vcpop(__riscv_vmsne(__riscv_vle8_v_u8m8(x, vl), 0, vl), vl);
  }
  return sum;
}

// A sum of 16-bit lanes fits 32 bits: there are at most 2^15 of them.
TENON_INLINE uint64_t sum_lanes(vuint16m8_t x) {
  const vuint32m1_t zero = __riscv_vmv_v_x_u32m1(0, 1);
  return __riscv_vmv_x(__riscv_vwredsumu(x, zero, __riscv_vsetvlmax_e16m8()));
}

TENON_INLINE uint64_t row(size_t n, const uint8_t* x, std::false_type) {
  const size_t step = __riscv_vsetvlmax_e8m4();
  uint64_t sum = 0;
  while (n > 0) {
    const size_t steps = least(n / step, kRows), rest = least(n - steps * step, step);
    vuint16m8_t acc = __riscv_vmv_v_x_u16m8(0, step);
    for (const uint8_t* end = x + steps * step; x != end; x += step)
      acc = __riscv_vwaddu_wv(acc, load_bytes<false>(x, step), step);
    n -= steps * step;
    if (steps < kRows && rest > 0) {
      acc = __riscv_vwaddu_wv_tu(acc, acc, load_bytes<false>(x, rest), rest);
      n -= rest;
    }
    sum += sum_lanes(acc);
  }
  return sum;
}

TENON_INLINE uint64_t row(size_t n, const int32_t* x) {
  const size_t step = __riscv_vsetvlmax_e32m4(), rest = n & (step - 1);
  vint64m8_t acc = __riscv_vmv_v_x_i64m8(0, step);
  for (const int32_t* end = x + (n - rest); x != end; x += step)
    acc = __riscv_vwadd_wv(acc, __riscv_vle32_v_i32m4(x, step), step);
  if (rest > 0) acc = __riscv_vwadd_wv_tu(acc, acc, __riscv_vle32_v_i32m4(x, rest), rest);
  const vint64m1_t zero = __riscv_vmv_v_x_i64m1(0, 1);
  return static_cast<uint64_t>(__riscv_vmv_x(__riscv_vredsum(acc, zero, step)));
}

// Adds R rows of bytes to the columns' 16-bit sums.
template <bool kIsBool, size_t R>
TENON_INLINE void sweep(size_t width, const uint8_t* x, ptrdiff_t stride, uint16_t* sum) {
  for (size_t j = 0, vl; j < width; j += vl) {
    vl = __riscv_vsetvl_e8m4(width - j);
    vuint16m8_t acc = __riscv_vle16_v_u16m8(sum + j, vl);
    const uint8_t* p = x + j;
    _Pragma("GCC unroll 8") for (size_t r = 0; r < R; ++r, p += stride) acc =
        __riscv_vwaddu_wv(acc, load_bytes<kIsBool>(p, vl), vl);
    __riscv_vse16(sum + j, acc, vl);
  }
}

// Adds R rows of i32 to the columns' sums.
template <size_t R>
TENON_INLINE void sweep(size_t width, const char* x, ptrdiff_t stride, int64_t* sum) {
  for (size_t j = 0, vl; j < width; j += vl, x += vl * sizeof(int32_t)) {
    vl = __riscv_vsetvl_e32m4(width - j);
    vint64m8_t acc = __riscv_vle64_v_i64m8(sum + j, vl);
    const char* p = x;
    _Pragma("GCC unroll 8") for (size_t r = 0; r < R; ++r, p += stride) acc =
        __riscv_vwadd_wv(acc, __riscv_vle32_v_i32m4(reinterpret_cast<const int32_t*>(p), vl), vl);
    __riscv_vse64(sum + j, acc, vl);
  }
}

// Adds `rows` <= kRows rows of a tile to y.
template <bool kIsBool>
struct Bytes {
  using X = uint8_t;
  TENON_INLINE uint64_t whole_row(size_t n, const X* x) {
    return row(n, x, std::bool_constant<kIsBool>{});
  }
  TENON_INLINE void block(size_t rows, size_t width, const char* x, ptrdiff_t stride, int64_t* y) {
    uint16_t sum[kTile] = {};
    const auto at = [&] { return reinterpret_cast<const uint8_t*>(x); };
    for (; rows >= 8; rows -= 8, x += 8 * stride) sweep<kIsBool, 8>(width, at(), stride, sum);
    for (; rows > 0; --rows, x += stride) sweep<kIsBool, 1>(width, at(), stride, sum);
    for (size_t j = 0, vl; j < width; j += vl) {
      vl = __riscv_vsetvl_e64m8(width - j);
      const auto more = __riscv_vreinterpret_v_u64m8_i64m8(
          __riscv_vzext_vf4(__riscv_vle16_v_u16m2(sum + j, vl), vl));
      __riscv_vse64(y + j, __riscv_vadd(__riscv_vle64_v_i64m8(y + j, vl), more, vl), vl);
    }
  }
};

struct Words {
  using X = int32_t;
  TENON_INLINE uint64_t whole_row(size_t n, const X* x) { return row(n, x); }
  TENON_INLINE void block(size_t rows, size_t width, const char* x, ptrdiff_t stride, int64_t* y) {
    for (; rows >= 8; rows -= 8, x += 8 * stride) sweep<8>(width, x, stride, y);
    for (; rows > 0; --rows, x += stride) sweep<1>(width, x, stride, y);
  }
};

template <class T>
TENON_INLINE void columns(const ReduceArgs& a) {
  int64_t* y = static_cast<int64_t*>(a.y);
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t j = 0; j < a.inner; j += kTile) {
      const size_t width = least(a.inner - j, kTile);
      int64_t* const out = y + o * a.inner + j;
      std::memset(out, 0, width * sizeof *out);
      const char* x = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
                      static_cast<ptrdiff_t>(j * sizeof(typename T::X));
      for (size_t i = 0; i < a.n; i += kRows, x += static_cast<ptrdiff_t>(kRows) * a.stride)
        T::block(least(a.n - i, kRows), width, x, a.stride, out);
    }
}

template <class T>
TENON_INLINE void reduce(const ReduceArgs& a) {
  if (a.inner != 1 || a.stride != sizeof(typename T::X)) return columns<T>(a);
  const char* x = static_cast<const char*>(a.x);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride)
    static_cast<uint64_t*>(a.y)[o] = T::whole_row(a.n, reinterpret_cast<const typename T::X*>(x));
}

}  // namespace

void TENON_KERNEL(sum_i64_b8)(const ReduceArgs& a) noexcept { reduce<Bytes<true>>(a); }
void TENON_KERNEL(sum_i64_u8)(const ReduceArgs& a) noexcept { reduce<Bytes<false>>(a); }
void TENON_KERNEL(sum_i64_i32)(const ReduceArgs& a) noexcept { reduce<Words>(a); }

}  // namespace tenon

// Float reductions for RVV: isa/reduce.h says what each computes, and in which order.
//
// Columns are taken a tile at a time, up to eight rows in one sweep over the tile, so that memory
// is read in a few long streams; the running block and the total of a column wait in the first
// cache. Few columns take their blocks as lanes.
#include "isa/reduce.h"

#include "isa/rvv/rows.h"

namespace tenon {
namespace {

constexpr size_t kTile = 1024;

TENON_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

struct Sum : Add {
  TENON_INLINE float join(float a, float b) { return a + b; }
  using Add::join;
  template <class Wide>
  TENON_INLINE Wide finish(Wide a, float divisor, size_t vl) {
    return __riscv_vfdiv(a, divisor, vl);
  }
  TENON_INLINE float finish(float a, float divisor) { return a / divisor; }
};

struct Max {
  static constexpr float kIdentity = -__builtin_inff();
  // b where it is not less, or NaN; a NaN in a fails both.
  template <class Wide>
  TENON_INLINE Wide join(Wide a, Wide b, size_t vl) {
    const auto later = __riscv_vmor(__riscv_vmfle(a, b, vl), __riscv_vmfne(b, b, vl), vl);
    return __riscv_vmerge(a, b, later, vl);
  }
  TENON_INLINE float join(float a, float b) { return a <= b || b != b ? b : a; }
  template <class Wide>
  TENON_INLINE Wide finish(Wide a, float, size_t vl) {
    return __riscv_vfmerge(a, __builtin_nanf(""), __riscv_vmfne(a, a, vl), vl);
  }
  TENON_INLINE float finish(float a, float) { return a == a ? a : __builtin_nanf(""); }
};

// One row: lanes take blocks of kReduceBlock terms, whose results they join in turn.
template <class Op, class X>
TENON_INLINE float row(size_t n, const X* x) {
  constexpr size_t kBlock = kSumLanes * kReduceBlock;
  const auto step = [=](Wide acc, size_t i, size_t vl) __attribute__((always_inline)) {
    return Op::join(acc, load<Wide>(x + i, vl), vl);
  };
  if (n <= 16) return fold_short<Op>(0, n, step);
  float total[kSumLanes];
  const size_t used = used_lanes(n), vl = window_lanes();
  for (size_t begin = 0; begin < n; begin += kBlock)
    for (size_t l = 0; l < used; l += vl) {
      Wide block = fold_window<Op>(begin + l, least(n, begin + kBlock), vl, step);
      if (begin > 0) block = Op::join(load<Wide>(total + l, vl), block, vl);
      store(total + l, block, vl);
    }
  return fold_lanes<Op>(total, used);
}

template <class Op, class X, class Y>
TENON_INLINE void rows(const ReduceArgs& a) {
  const char* x = static_cast<const char*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride)
    y[o] = from_f32<Y>(Op::finish(row<Op>(a.n, reinterpret_cast<const X*>(x)), a.divisor));
}

// A tile of columns on its way down the rows.
template <class X, class Y>
struct Columns {
  const char* x;
  ptrdiff_t stride;
  size_t width, n;
  float divisor;
  Y* y;
  float block[kTile], total[kTile];
};

// Rows i to i + R of the tile, all in one block.
template <class Op, size_t R, class X, class Y>
TENON_INLINE void sweep(Columns<X, Y>& c, size_t i) {
  const bool opens = i % kReduceBlock == 0, first = i < kReduceBlock, last = i + R == c.n;
  const bool closes = last || (i + R) % kReduceBlock == 0;
  const char* x = c.x + static_cast<ptrdiff_t>(i) * c.stride;
  for (size_t j = 0, vl; j < c.width; j += vl, x += vl * sizeof(X)) {
    vl = Width<Wide>::lanes_of(c.width - j);
    Wide v = opens ? Width<Wide>::splat(Op::kIdentity, vl) : load<Wide>(c.block + j, vl);
    const char* p = x;
    _Pragma("GCC unroll 8") for (size_t r = 0; r < R; ++r, p += c.stride) v =
        Op::join(v, load<Wide>(reinterpret_cast<const X*>(p), vl), vl);
    if (closes && !first) v = Op::join(load<Wide>(c.total + j, vl), v, vl);
    if (!closes) {
      store(c.block + j, v, vl);
    } else if (!last) {
      store(c.total + j, v, vl);
    } else {
      store(c.y + j, Op::finish(v, c.divisor, vl), vl);
    }
  }
}

template <class Op, class X, class Y>
TENON_INLINE void tile(Columns<X, Y>& c) {
  for (size_t i = 0; i < c.n;) {
    const size_t left = least(c.n - i, kReduceBlock - i % kReduceBlock);
    if (left >= 8) {
      sweep<Op, 8>(c, i);
      i += 8;
    } else if (left >= 2) {
      sweep<Op, 2>(c, i);
      i += 2;
    } else {
      sweep<Op, 1>(c, i);
      i += 1;
    }
  }
}

// One column whose blocks are the lanes: lane b takes rows 64 b, 64 b + 1, ... in turn.
template <class Op, class X>
TENON_INLINE float tall_column(size_t n, const char* x, ptrdiff_t stride) {
  const size_t most = window_lanes();
  float total = Op::kIdentity, block[kSumLanes];
  for (size_t blocks; n > 0; n -= least(n, blocks * kReduceBlock)) {
    blocks = least((n + kReduceBlock - 1) / kReduceBlock, most);
    Wide acc = Width<Wide>::splat(Op::kIdentity, blocks);
    const ptrdiff_t block_stride = static_cast<ptrdiff_t>(kReduceBlock) * stride;
    const char* p = x;
    for (size_t t = 0; t < least(n, kReduceBlock); ++t, p += stride) {
      const size_t vl = least((n - t + kReduceBlock - 1) / kReduceBlock, blocks);
      const Wide term = load<Wide>(reinterpret_cast<const X*>(p), block_stride, vl);
      acc = __riscv_vmv_v_tu(acc, Op::join(acc, term, vl), vl);
    }
    store(block, acc, blocks);
    for (size_t b = 0; b < blocks; ++b) total = Op::join(total, block[b]);
    x += static_cast<ptrdiff_t>(blocks) * block_stride;
  }
  return total;
}

template <class Op, class X, class Y>
TENON_INLINE void columns(const ReduceArgs& a) {
  constexpr size_t kTall = 128;  // rows for every column, from which on strided loads take fewer
  const char* x = static_cast<const char*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride, y += a.inner)
    if (a.n / kTall >= a.inner) {
      for (size_t j = 0; j < a.inner; ++j)
        y[j] = from_f32<Y>(
            Op::finish(tall_column<Op, X>(a.n, x + j * sizeof(X), a.stride), a.divisor));
    } else {
      for (size_t j = 0; j < a.inner; j += kTile) {
        Columns<X, Y> c;
        c.x = x + j * sizeof(X);
        c.stride = a.stride;
        c.width = least(kTile, a.inner - j);
        c.n = a.n;
        c.divisor = a.divisor;
        c.y = y + j;
        tile<Op>(c);
      }
    }
}

template <class Op, class X, class Y>
TENON_INLINE void reduce(const ReduceArgs& a) {
  a.inner == 1 && a.stride == sizeof(X) ? rows<Op, X, Y>(a) : columns<Op, X, Y>(a);
}

}  // namespace

// Stamped for the narrower type of the two.
#define STAMP_float_float TENON_STAMP_float
#define STAMP_bf16_float TENON_STAMP_bf16
#define STAMP_float_bf16 TENON_STAMP_bf16
#define STAMP_bf16_bf16 TENON_STAMP_bf16
#define STAMP_f16_float TENON_STAMP_f16
#define STAMP_float_f16 TENON_STAMP_f16
#define STAMP_f16_f16 TENON_STAMP_f16
#define REDUCE_OF(op, X, Y, Op) \
  void TENON_KERNEL(op)(const ReduceArgs& a) noexcept { reduce<Op, X, Y>(a); }
#define REDUCE(op, X, Y, Op) STAMP_##X##_##Y(REDUCE_OF(op, X, Y, Op))
#include "isa/reduce.inc"

}  // namespace tenon

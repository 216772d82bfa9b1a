// Float reductions over xsimd: isa/reduce.h says what each computes, and in which order.
//
// A row keeps its 64 lanes in registers. Columns are taken a tile at a time, up to eight rows in
// one sweep over the tile, so that memory is read in a few long streams; the running block and the
// total of a column wait in L1.
#include "isa/reduce.h"

#include "isa/simd/vec.h"

// Arrays of accumulators live in registers only where their loops are gone.
#define UNROLL _Pragma("GCC unroll 16")

namespace tenon {
namespace {

constexpr size_t kTile = 1024;

TENON_INLINE size_t least(size_t a, size_t b) { return a < b ? a : b; }

struct Sum {
  TENON_INLINE F32 start() { return F32(0.0f); }
  TENON_INLINE F32 join(F32 a, F32 b) { return a + b; }
  TENON_INLINE F32 finish(F32 a, float divisor) { return div(a, F32(divisor)); }
  TENON_INLINE float finish(float a, float divisor) { return a / divisor; }
  template <class X>
  TENON_INLINE F32 load_some(const X* x, size_t n) {
    return load_n(x, n);  // a sum from +0 is never -0, so adding +0 changes nothing
  }
};

struct Max {
  TENON_INLINE F32 start() { return F32(-__builtin_inff()); }
  TENON_INLINE F32 join(F32 a, F32 b) { return max_or_nan(a, b); }
  TENON_INLINE F32 finish(F32 a, float) { return select(a == a, a, F32(__builtin_nanf(""))); }
  TENON_INLINE float finish(float a, float) { return a == a ? a : __builtin_nanf(""); }
  template <class X>
  TENON_INLINE F32 load_some(const X* x, size_t n) {
    alignas(64) static const float lane[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                               8, 9, 10, 11, 12, 13, 14, 15};
    return select(load(lane) < F32(static_cast<float>(n)), load_n(x, n), start());
  }
};

// Adds the last n < 64 terms of a row to its lanes.
template <class Op, class X>
TENON_INLINE void join_tail(F32 (&acc)[kGroups], const X* x, size_t n) {
  UNROLL for (size_t g = 0; g < kGroups; ++g) {
    if (n <= g * kLanes) return;
    const size_t here = least(n - g * kLanes, kLanes);
    acc[g] = Op::join(acc[g],
                      here == kLanes ? load(x + g * kLanes) : Op::load_some(x + g * kLanes, here));
  }
}

template <class Op, class X>
TENON_INLINE float row(size_t n, const X* x) {
  const auto join = [](F32 a, F32 b) { return Op::join(a, b); };
  // Lanes without a term hold the operation's neutral start, so what they would fold is left out.
  if (n <= kLanes) {
    const F32 terms = n == kLanes ? load(x) : Op::load_some(x, n);
    return fold_vector(Op::join(Op::start(), terms), join);
  }
  F32 total[kGroups];
  for (size_t begin = 0; begin < n; begin += kVirtualLanes * kReduceBlock) {
    const size_t terms = least(n - begin, kVirtualLanes * kReduceBlock);
    F32 acc[kGroups];
    UNROLL for (F32& a : acc) a = Op::start();
    size_t i = 0;
    for (; i + kVirtualLanes <= terms; i += kVirtualLanes)
      UNROLL for (size_t g = 0; g < kGroups; ++g) acc[g] =
          Op::join(acc[g], load(x + begin + i + g * kLanes));
    join_tail<Op>(acc, x + begin + i, terms - i);
    UNROLL for (size_t g = 0; g < kGroups; ++g) total[g] =
        begin == 0 ? acc[g] : Op::join(total[g], acc[g]);
  }
  return fold_vector(fold_groups(total, join), join);
}

template <class Op, class X, class Y>
TENON_INLINE void rows(const ReduceArgs& a) {
  const char* x = static_cast<const char*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride)
    y[o] = from_f32<Y>(Op::finish(row<Op>(a.n, reinterpret_cast<const X*>(x)), a.divisor));
}

// A tile of columns on its way down the rows, at least a vector wide. The last vector may overlap
// the one before: its columns are then computed twice, to the same bits.
template <class X, class Y>
struct Columns {
  const char* x;
  ptrdiff_t stride;
  size_t width, n;
  float divisor;
  Y* y;
  alignas(64) float block[kTile], total[kTile];
};

// Rows i to i + R of the tile, all in one block.
template <class Op, size_t R, class X, class Y>
TENON_INLINE void sweep(Columns<X, Y>& c, size_t i) {
  const bool opens = i % kReduceBlock == 0, first = i < kReduceBlock, last = i + R == c.n;
  const bool closes = last || (i + R) % kReduceBlock == 0;
  const char* x = c.x + static_cast<ptrdiff_t>(i) * c.stride;
  for (size_t slot = 0; slot < c.width; slot += kLanes) {
    const size_t j = least(slot, c.width - kLanes);
    F32 v = opens ? Op::start() : load(c.block + slot);
    UNROLL for (size_t r = 0; r < R; ++r) v =
        Op::join(v, load(reinterpret_cast<const X*>(x + static_cast<ptrdiff_t>(r) * c.stride) + j));
    if (closes && !first) v = Op::join(load(c.total + slot), v);
    if (!closes) {
      store(c.block + slot, v);
    } else if (!last) {
      store(c.total + slot, v);
    } else {
      store(c.y + j, Op::finish(v, c.divisor));
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

// 64 columns in registers all the way down: for rows so short that the next row is near.
template <class Op, class X, class Y>
TENON_INLINE void descend(const Columns<X, Y>& c, size_t j) {
  F32 total[kGroups];
  const char* x = c.x + static_cast<ptrdiff_t>(j * sizeof(X));
  for (size_t i = 0; i < c.n;) {
    const bool first = i == 0;
    const size_t end = least(c.n, i + kReduceBlock);
    F32 acc[kGroups];
    UNROLL for (F32& a : acc) a = Op::start();
    for (; i < end; ++i, x += c.stride)
      UNROLL for (size_t g = 0; g < kGroups; ++g) acc[g] =
          Op::join(acc[g], load(reinterpret_cast<const X*>(x) + g * kLanes));
    UNROLL for (size_t g = 0; g < kGroups; ++g) total[g] =
        first ? acc[g] : Op::join(total[g], acc[g]);
  }
  UNROLL for (size_t g = 0; g < kGroups; ++g)
      store(c.y + j + g * kLanes, Op::finish(total[g], c.divisor));
}

template <class Op, class X, class Y>
TENON_INLINE bool descend_all(const Columns<X, Y>& c) {
  constexpr ptrdiff_t kShortRow = 2048;  // bytes
  if (c.stride > kShortRow || c.width < kVirtualLanes || c.n < 8) return false;
  for (size_t j = 0; j < c.width; j += kVirtualLanes)
    descend<Op>(c, least(j, c.width - kVirtualLanes));
  return true;
}

// Fewer columns than a vector. Blocks are independent until they are added to the total, so eight
// of them go down the rows side by side and none waits for its last addition. Whole vectors are
// read where that stays inside x; what is beyond a row lands in lanes that nobody looks at.
template <class Op, class X>
TENON_INLINE F32 few_columns(size_t n, size_t width, const char* x, ptrdiff_t stride) {
  constexpr size_t kChains = 8;
  const auto row = [&](size_t i) {
    return reinterpret_cast<const X*>(x + static_cast<ptrdiff_t>(i) * stride);
  };
  const auto beyond = static_cast<ptrdiff_t>((kLanes - width) * sizeof(X));
  const size_t last = stride > 0 ? static_cast<size_t>((beyond + stride - 1) / stride) : n;
  const size_t whole = n > last ? n - last : 0;  // rows that a whole vector may be read from
  F32 total = Op::start();
  size_t i = 0;
  for (; i + kChains * kReduceBlock <= whole; i += kChains * kReduceBlock) {
    F32 acc[kChains];
    UNROLL for (F32& a : acc) a = Op::start();
    for (size_t t = i; t < i + kReduceBlock; ++t)
      UNROLL for (size_t c = 0; c < kChains; ++c) acc[c] =
          Op::join(acc[c], load(row(t + c * kReduceBlock)));
    UNROLL for (size_t c = 0; c < kChains; ++c) total = Op::join(total, acc[c]);
  }
  while (i < n) {
    const size_t end = least(n, i + kReduceBlock), fast = least(end, whole);
    F32 acc = Op::start();
    for (; i < fast; ++i) acc = Op::join(acc, load(row(i)));
    for (; i < end; ++i) acc = Op::join(acc, load_n(row(i), width));
    total = Op::join(total, acc);
  }
  return total;
}

template <class Op, class X, class Y>
TENON_INLINE void narrow_columns(const ReduceArgs& a) {
  if (a.inner == 0) return;
  const char* x = static_cast<const char*>(a.x);
  Y* y = static_cast<Y*>(a.y);
  for (size_t o = 0; o < a.outer; ++o, x += a.outer_stride, y += a.inner)
    store_n(y, Op::finish(few_columns<Op, X>(a.n, a.inner, x, a.stride), a.divisor), a.inner);
}

template <class Op, class X, class Y>
TENON_INLINE void columns(const ReduceArgs& a) {
  if (a.inner < kLanes) return narrow_columns<Op, X, Y>(a);
  for (size_t o = 0; o < a.outer; ++o)
    for (size_t tile_begin = 0; tile_begin < a.inner; tile_begin += kTile) {
      const size_t j = least(tile_begin, a.inner - kLanes);  // at least a vector is left
      Columns<X, Y> c;
      c.x = static_cast<const char*>(a.x) + static_cast<ptrdiff_t>(o) * a.outer_stride +
            static_cast<ptrdiff_t>(j * sizeof(X));
      c.stride = a.stride;
      c.width = least(kTile, a.inner - j);
      c.n = a.n;
      c.divisor = a.divisor;
      c.y = static_cast<Y*>(a.y) + o * a.inner + j;
      if (!descend_all<Op>(c)) tile<Op>(c);
    }
}

template <class Op, class X, class Y>
TENON_INLINE void reduce(const ReduceArgs& a) {
  a.inner == 1 && a.stride == sizeof(X) ? rows<Op, X, Y>(a) : columns<Op, X, Y>(a);
}

}  // namespace

#define REDUCE(op, X, Y, Op) \
  void TENON_KERNEL(op)(const ReduceArgs& a) noexcept { reduce<Op, X, Y>(a); }
#include "isa/reduce.inc"

}  // namespace tenon

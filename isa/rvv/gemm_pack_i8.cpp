// Packing of bytes for the integer gemm kernels on RVV: isa/gemm_pack.h says what it does.
#include "isa/gemm_pack.h"
#include "isa/rvv/vec.h"

namespace tenon {
namespace {

using Wide = vint16m8_t;

TENON_INLINE size_t steps() { return __riscv_vsetvlmax_e16m8(); }

// n bytes, `stride` apart, as i16.
TENON_INLINE Wide load_i8(const int8_t* p, ptrdiff_t stride, size_t n) {
  const vint8m4_t x = stride == 1 ? __riscv_vle8_v_i8m4(p, n) : __riscv_vlse8_v_i8m4(p, stride, n);
  return __riscv_vwcvt_x(x, n);
}

struct Pack {
  const GemmPackArgs& g;

  const int8_t* from(size_t j, size_t p) const {
    return static_cast<const int8_t*>(g.x) + static_cast<ptrdiff_t>(j) * g.x_row +
           static_cast<ptrdiff_t>(p) * g.x_column;
  }
  int16_t* to(size_t j, size_t p) const {
    return byte_offset(static_cast<int16_t*>(g.y), static_cast<ptrdiff_t>(j) * g.y_row) + p;
  }
};

// Contiguous along the rows' number: a run of rows is read together and stored apart.
TENON_INLINE void from_columns(const Pack& x) {
  for (size_t j = 0, vl; j < x.g.n; j += vl) {
    vl = x.g.n - j < steps() ? x.g.n - j : steps();
    for (size_t p = 0; p < x.g.k; ++p)
      __riscv_vsse16(x.to(j, p), x.g.y_row, load_i8(x.from(j, p), 1, vl), vl);
  }
}

TENON_INLINE void from_rows(const Pack& x) {
  for (size_t j = 0; j < x.g.n; ++j)
    for (size_t p = 0, vl; p < x.g.k; p += vl) {
      vl = x.g.k - p < steps() ? x.g.k - p : steps();
      __riscv_vse16(x.to(j, p), load_i8(x.from(j, p), x.g.x_column, vl), vl);
    }
}

}  // namespace

void TENON_KERNEL(gemm_pack_i16_i8)(const GemmPackArgs& args) noexcept {
  const Pack x{args};
  if (args.x_row == 1 && args.x_column != 1) return from_columns(x);
  from_rows(x);
}

}  // namespace tenon

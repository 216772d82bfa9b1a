// Packing for the gemm kernels on RVV: isa/gemm_pack.h says what each does.
#include "isa/gemm_pack.h"

#include "isa/rvv/strided.h"

namespace tenon {
namespace {

template <class X>
struct Source {
  const GemmPackArgs& g;
  const X* at(size_t j, size_t p) const {
    return byte_offset(static_cast<const X*>(g.x), static_cast<ptrdiff_t>(j) * g.x_row +
                                                       static_cast<ptrdiff_t>(p) * g.x_column);
  }
};

// Contiguous along the rows' number: a run of rows is read together and stored apart.
template <class X>
TENON_INLINE void from_columns(const Source<X>& x, float* y, ptrdiff_t y_row) {
  using V = vfloat32m4_t;
  for (size_t j = 0, vl; j < x.g.n; j += vl) {
    vl = x.g.n - j < lanes<V>() ? x.g.n - j : lanes<V>();
    float* to = byte_offset(y, static_cast<ptrdiff_t>(j) * y_row);
    for (size_t p = 0; p < x.g.k; ++p) __riscv_vsse32(to + p, y_row, load<V>(x.at(j, p), vl), vl);
  }
}

template <class X>
TENON_INLINE void from_rows(const Source<X>& x, float* y, ptrdiff_t y_row) {
  using V = vfloat32m4_t;
  for (size_t j = 0; j < x.g.n; ++j, y = byte_offset(y, y_row))
    for (size_t p = 0, vl; p < x.g.k; p += vl) {
      vl = x.g.k - p < lanes<V>() ? x.g.k - p : lanes<V>();
      store(y + p, load_at(x.at(j, p), x.g.x_column, vl), vl);
    }
}

template <class X>
TENON_INLINE void pack(const GemmPackArgs& g) {
  const Source<X> x{g};
  const bool columns = g.x_row == sizeof(X) && g.x_column != sizeof(X);
  if (columns) return from_columns(x, static_cast<float*>(g.y), g.y_row);
  from_rows(x, static_cast<float*>(g.y), g.y_row);
}

}  // namespace

void TENON_KERNEL(gemm_pack_f32_f32)(const GemmPackArgs& args) noexcept { pack<float>(args); }
void TENON_KERNEL(gemm_pack_f32_bf16)(const GemmPackArgs& args) noexcept { pack<bf16>(args); }
void TENON_KERNEL(gemm_pack_f32_f16)(const GemmPackArgs& args) noexcept { pack<f16>(args); }

}  // namespace tenon

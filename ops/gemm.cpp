// Tensors as a GemmProblem: ops/gemm.h.
#include "ops/gemm.h"

#include <ATen/Context.h>

#include "dispatch/env.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// A tensor's last two dimensions as a matrix, a vector's as one column. Strides of dimensions of
// one element mean nothing and become those of a dense matrix.
struct View {
  const void* data;
  int64_t batch = 1, rows, columns;
  ptrdiff_t batch_stride = 0, row, column;  // bytes
};

View view(const at::Tensor& t) {
  const auto sizes = t.sizes(), strides = t.strides();
  const int64_t dims = t.dim();
  const auto size = static_cast<ptrdiff_t>(t.element_size());
  View v;
  v.data = t.const_data_ptr();
  if (dims == 1) {
    v.rows = sizes[0], v.columns = 1, v.row = strides[0] * size, v.column = size;
    return v;
  }
  if (dims == 3) v.batch = sizes[0], v.batch_stride = strides[0] * size;
  v.rows = sizes[dims - 2], v.columns = sizes[dims - 1];
  v.column = v.columns == 1 ? size : strides[dims - 1] * size;
  v.row = v.rows == 1 ? v.columns * size : strides[dims - 2] * size;
  return v;
}

int64_t dims(ProductKind kind) { return static_cast<int64_t>(kind) + 1; }

// The shape as the plan sees it, from sizes and strides alone: no data is touched before the plan
// has said yes. Sizes that no product has leave a reason.
Reason read_shape(ProductKind kind, const at::Tensor& a, const at::Tensor& b, GemmShape& s) {
  const at::IntArrayRef left = a.sizes(), right = b.sizes();
  const auto b_dims = static_cast<size_t>(dims(kind)), a_dims = b_dims < 2 ? size_t{2} : b_dims;
  if (left.size() != a_dims || right.size() != b_dims) return Reason::kShape;
  const size_t b_rows = b_dims < 2 ? 0 : b_dims - 2;
  s.batch = kind == ProductKind::kBatch ? left[0] : 1;
  s.m = left[a_dims - 2], s.k = left[a_dims - 1], s.n = b_dims < 2 ? 1 : right[b_rows + 1];
  if (right[b_rows] != s.k || (kind == ProductKind::kBatch && right[0] != s.batch))
    return Reason::kShape;
  if (a.numel() == 0 || b.numel() == 0) return Reason::kShape;
  if (gemm_too_short(s)) return Reason::kSize;
  if (!plain(a) || !plain(b)) return Reason::kLayout;
  const int64_t along_k = s.m > s.n ? a.strides()[a_dims - 1] : b.strides()[b_rows];
  s.packed = s.k > 1 && along_k != 1;
  return Reason::kNone;
}

// c's strides as expanded to the result: 0 along what is repeated. False if it does not expand.
bool expand(const at::Tensor& c, ProductKind kind, GemmProblem& p) {
  const int64_t wanted[3] = {p.batch, p.m, p.n};
  ptrdiff_t stride[3] = {0, 0, 0};
  const auto sizes = c.sizes(), strides = c.strides();
  if (c.dim() > dims(kind)) return false;
  for (int64_t d = 0; d < c.dim(); ++d) {
    // A vector's elements are rows of one column.
    const int64_t at = kind == ProductKind::kVector ? 1 : 3 - c.dim() + d;
    if (sizes[d] != wanted[at] && sizes[d] != 1) return false;
    if (sizes[d] != 1) stride[at] = strides[d] * static_cast<ptrdiff_t>(c.element_size());
  }
  p.c = {c.const_data_ptr(), stride[0], stride[1], stride[2]};
  return true;
}

bool real_number(const at::Scalar& s) { return s.isFloatingPoint() || s.isIntegral(false); }

bool shares(const at::Tensor& y, const at::Tensor& x) {
  return y.is_alias_of(x) && !disjoint(y, x);
}

bool same_place(const at::Tensor& y, const at::Tensor& c) {
  return y.const_data_ptr() == c.const_data_ptr() && same_layout(y, c);
}

bool result_shape(const Product& x, const at::Tensor& y) {
  const GemmProblem& p = x.problem;
  if (y.dim() != dims(x.kind)) return false;
  if (x.kind == ProductKind::kVector) return y.size(0) == p.m;
  const bool batch = x.kind == ProductKind::kMatrix || y.size(0) == p.batch;
  return batch && y.size(-2) == p.m && y.size(-1) == p.n;
}

// torch.set_float32_matmul_precision: highest, high, medium. Where a program has also used the
// newer settings by backend, torch's getter throws: then no precision is given away.
int products() {
  try {
    switch (at::globalContext().float32MatmulPrecision()) {
      case at::Float32MatmulPrecision::HIGH:
        return 3;
      case at::Float32MatmulPrecision::MEDIUM:
        return 1;
      default:
        return 6;
    }
  } catch (const c10::Error&) {
    return 6;
  }
}

// Why a product is stock's: its size, or this machine, whose stock kernels are better than those of
// the machines that take it.
Reason refusal(const GemmShape& shape) {
  const Cpu narrow{kAvx2, 0};
  return plan_gemm(shape, narrow) == GemmEngine::kStock ? Reason::kSize : Reason::kMachine;
}

// The part of the gate behind the dtypes.
void fill(Product& x, GemmType type, const at::Tensor& a, const at::Tensor& b) {
  GemmShape shape;
  shape.type = type;
  x.why = read_shape(x.kind, a, b, shape);
  if (!x.ok()) return;
  x.engine = choose_gemm(shape);
  if (x.engine == GemmEngine::kStock) {
    x.why = refusal(shape);
    return;
  }
  const View va = view(a), vb = view(b);
  GemmProblem& p = x.problem = {};
  p.type = type;
  p.batch = shape.batch, p.m = shape.m, p.n = shape.n, p.k = shape.k;
  p.a = {va.data, va.batch_stride, va.row, va.column};
  p.b = {vb.data, vb.batch_stride, vb.row, vb.column};
  if (p.k == 1) p.b.row = static_cast<ptrdiff_t>(b.element_size());
  p.alpha = 1, p.beta = 0;
  if (x.engine == GemmEngine::kTiles && type == GemmType::kF32) p.products = products();
}

}  // namespace

Product product(ProductKind kind, const at::Tensor& a, const at::Tensor& b) {
  Product x;
  x.kind = kind;
  x.result = a.scalar_type();
  const int type = float_type(x.result);
  if (type < 0 || b.scalar_type() != x.result)
    x.why = Reason::kDtype;
  else
    fill(x, static_cast<GemmType>(type), a, b);
  return x;
}

Product int_product(const at::Tensor& a, const at::Tensor& b) {
  Product x;
  x.result = at::kInt;
  if (a.scalar_type() != at::kChar || b.scalar_type() != at::kChar)
    x.why = Reason::kDtype;
  else
    fill(x, GemmType::kI8, a, b);
  return x;
}

Product& Product::plus(const at::Tensor& c, const at::Scalar& beta, const at::Scalar& alpha) {
  if (!ok()) return *this;
  if (!real_number(alpha) || !real_number(beta))
    why = Reason::kArgument;
  else if (c.scalar_type() != result)
    why = Reason::kDtype;
  else if (!plain(c))
    why = Reason::kLayout;
  if (!ok()) return *this;
  problem.alpha = static_cast<float>(alpha.toDouble());
  problem.beta = static_cast<float>(beta.toDouble());
  // Whether NaN gets through alpha = 0 depends on the operator and the dtype in stock.
  if (problem.alpha == 0)
    why = Reason::kArgument;
  else if (!expand(c, kind, problem))
    why = Reason::kShape;
  if (problem.beta == 0) problem.c = {};
  return *this;
}

Product& Product::write_to(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  if (!ok()) return *this;
  if (y.scalar_type() != result)
    why = Reason::kDtype;
  else if (!result_shape(*this, y))
    why = Reason::kShape;  // stock resizes
  else if (!plain(y) || !dense(y))
    why = Reason::kLayout;
  else if (shares(y, a) || shares(y, b))
    why = Reason::kOverlap;
  if (!ok()) return *this;
  const View v = view(y);
  const auto size = static_cast<ptrdiff_t>(y.element_size());
  if (v.column != size && v.row != size) why = Reason::kLayout;
  return *this;
}

Product& Product::write_to(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b,
                           const at::Tensor& c) {
  if (!ok()) return *this;
  if (problem.c.data != nullptr && shares(y, c) && !same_place(y, c)) why = Reason::kOverlap;
  return write_to(y, a, b);
}

void run(const Product& x, const at::Tensor& y) {
  const View v = view(y);
  GemmProblem p = x.problem;
  p.y = y.mutable_data_ptr();
  p.y_batch = v.batch_stride, p.y_row = v.row, p.y_column = v.column;
  run_gemm(x.engine, p);
}

}  // namespace tenon::ops

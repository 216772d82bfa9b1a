// softmax and log_softmax along any dimension, with their gradients. As in stock, strided input is
// made contiguous first and the result is contiguous.
#include <algorithm>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 16384;  // elements worth a thread's while
constexpr int64_t kPiece = 128;    // columns that threads share out

// A contiguous tensor as `outer` matrices of n x inner, reduced along n.
struct View {
  int64_t outer = 1, n = 1, inner = 1;

  View(const Tensor& x, int64_t dim) {
    if (x.dim() == 0) return;
    const auto sizes = x.sizes();
    const int64_t along = dim < 0 ? dim + x.dim() : dim;
    for (int64_t d = 0; d < along; ++d) outer *= sizes[d];
    n = sizes[along];
    for (int64_t d = along + 1; d < x.dim(); ++d) inner *= sizes[d];
  }
  bool rows() const { return inner == 1; }
};

// Calls f(rows, columns, stride, offset) for the matrices a thread is to do: `stride` and `offset`
// in bytes.
template <class F>
void share_out(const View& v, int64_t size, F f) {
  if (v.rows()) {
    parallel_for(v.outer, std::max<int64_t>(1, kGrain / v.n), [&](int64_t begin, int64_t end) {
      f(end - begin, v.n, v.n * size, begin * v.n * size);
    });
    return;
  }
  const int64_t pieces = (v.inner + kPiece - 1) / kPiece;
  const int64_t work = v.n * std::min(v.inner, kPiece);
  parallel_for(v.outer * pieces, std::max<int64_t>(1, kGrain / work), [&](int64_t i, int64_t end) {
    while (i < end) {
      const int64_t first = i % pieces, last = std::min(pieces, first + end - i);
      const int64_t column = first * kPiece, width = std::min(v.inner, last * kPiece) - column;
      f(v.n, width, v.inner * size, (i / pieces * v.n * v.inner + column) * size);
      i += last - first;
    }
  });
}

// Fewer columns than these fill too little of a vector (bench ops softmax columns: x3, x5; Zen 3).
constexpr int64_t kLeastColumns = 4, kLeastColumnsBackward = 6;

Reason gate(const Tensor& x, int64_t dim, int64_t least_columns) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (!plain(x)) return Reason::kLayout;
  const int64_t dims = std::max<int64_t>(1, x.dim());
  if (dim < -dims || dim >= dims) return Reason::kArgument;
  const int64_t columns = View(x, dim).inner;
  const bool narrow = columns != 1 && columns < least_columns;
  return x.numel() == 0 || narrow ? Reason::kSize : Reason::kNone;
}

Reason gate_forward(const Tensor& x, int64_t dim, bool half_to_float) {
  return half_to_float ? Reason::kArgument : gate(x, dim, kLeastColumns);
}

Reason gate_backward(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type) {
  if (dy.scalar_type() != type || y.scalar_type() != type) return Reason::kDtype;
  if (!plain(y)) return Reason::kLayout;
  if (dy.sizes() != y.sizes()) return Reason::kShape;
  return gate(dy, dim, kLeastColumnsBackward);
}

// Whether y can take a result made from x as it stands.
Reason gate_out(const Tensor& x, const Tensor& y) {
  if (y.scalar_type() != x.scalar_type()) return Reason::kDtype;
  if (!plain(y) || !y.is_contiguous()) return Reason::kLayout;
  if (y.sizes() != x.sizes()) return Reason::kShape;
  return may_write(y, x) ? Reason::kNone : Reason::kOverlap;
}

Reason first(Reason a, Reason b) { return a != Reason::kNone ? a : b; }

// The kernels of one operation: by storage type, for rows and for columns.
template <class Fn>
struct Kernels {
  Slot<Fn> rows[3], columns[3];

  const Kernel<Fn>& get(const View& v, ScalarType type) {
    return (v.rows() ? rows : columns)[float_type(type)].get();
  }
};

constinit Kernels<Softmax> softmax_kernels{
    {{kSoftmax, "softmax_f32"}, {kSoftmax, "softmax_bf16"}, {kSoftmax, "softmax_f16"}},
    {{kSoftmax, "softmax_columns_f32"},
     {kSoftmax, "softmax_columns_bf16"},
     {kSoftmax, "softmax_columns_f16"}}};
constinit Kernels<Softmax> log_softmax_kernels{
    {{kSoftmax, "log_softmax_f32"}, {kSoftmax, "log_softmax_bf16"}, {kSoftmax, "log_softmax_f16"}},
    {{kSoftmax, "log_softmax_columns_f32"},
     {kSoftmax, "log_softmax_columns_bf16"},
     {kSoftmax, "log_softmax_columns_f16"}}};
constinit Kernels<SoftmaxBackward> softmax_backward_kernels{
    {{kSoftmaxBackward, "softmax_backward_f32"},
     {kSoftmaxBackward, "softmax_backward_bf16"},
     {kSoftmaxBackward, "softmax_backward_f16"}},
    {{kSoftmaxBackward, "softmax_columns_backward_f32"},
     {kSoftmaxBackward, "softmax_columns_backward_bf16"},
     {kSoftmaxBackward, "softmax_columns_backward_f16"}}};
constinit Kernels<SoftmaxBackward> log_softmax_backward_kernels{
    {{kSoftmaxBackward, "log_softmax_backward_f32"},
     {kSoftmaxBackward, "log_softmax_backward_bf16"},
     {kSoftmaxBackward, "log_softmax_backward_f16"}},
    {{kSoftmaxBackward, "log_softmax_columns_backward_f32"},
     {kSoftmaxBackward, "log_softmax_columns_backward_bf16"},
     {kSoftmaxBackward, "log_softmax_columns_backward_f16"}}};

void run(const Kernel<Softmax>& k, const View& v, const Tensor& x, const Tensor& y) {
  const auto from = x.expect_contiguous();
  const auto* px = data<char>(*from);
  auto* py = mutable_data<char>(y);
  share_out(v, x.element_size(), [&](int64_t rows, int64_t columns, int64_t stride, int64_t at) {
    k.run(static_cast<size_t>(rows), static_cast<size_t>(columns), stride, px + at, py + at);
  });
}

void run(const Kernel<SoftmaxBackward>& k, const View& v, const Tensor& dy, const Tensor& y,
         const Tensor& dx) {
  const auto dyc = dy.expect_contiguous(), yc = y.expect_contiguous();
  const auto *pg = data<char>(*dyc), *py = data<char>(*yc);
  auto* px = mutable_data<char>(dx);
  share_out(v, y.element_size(), [&](int64_t rows, int64_t columns, int64_t stride, int64_t at) {
    k.run(static_cast<size_t>(rows), static_cast<size_t>(columns), stride, pg + at, py + at,
          px + at);
  });
}

template <auto Fn>
Tensor forward(Kernels<Softmax>& kernels, const Tensor& x, int64_t dim, bool half_to_float) {
  if (const Reason why = gate_forward(x, dim, half_to_float); why != Reason::kNone)
    return stock<Fn>(why, x, dim, half_to_float);
  const View v(x, dim);
  const Kernel<Softmax>& k = kernels.get(v, x.scalar_type());
  const auto scope = taken<Fn>(k.name);
  Tensor y = empty_cpu(x.sizes(), x.scalar_type());
  run(k, v, x, y);
  return y;
}

template <auto Fn>
Tensor& forward_out(Kernels<Softmax>& kernels, const Tensor& x, int64_t dim, bool half_to_float,
                    Tensor& y) {
  if (const Reason why = first(gate_forward(x, dim, half_to_float), gate_out(x, y));
      why != Reason::kNone)
    return stock<Fn>(why, x, dim, half_to_float, y);
  const View v(x, dim);
  const Kernel<Softmax>& k = kernels.get(v, x.scalar_type());
  const auto scope = taken<Fn>(k.name);
  run(k, v, x, y);
  return y;
}

template <auto Fn>
Tensor backward(Kernels<SoftmaxBackward>& kernels, const Tensor& dy, const Tensor& y, int64_t dim,
                ScalarType type) {
  if (const Reason why = gate_backward(dy, y, dim, type); why != Reason::kNone)
    return stock<Fn>(why, dy, y, dim, type);
  const View v(y, dim);
  const Kernel<SoftmaxBackward>& k = kernels.get(v, type);
  const auto scope = taken<Fn>(k.name);
  Tensor dx = empty_cpu(y.sizes(), type);
  run(k, v, dy, y, dx);
  return dx;
}

template <auto Fn>
Tensor& backward_out(Kernels<SoftmaxBackward>& kernels, const Tensor& dy, const Tensor& y,
                     int64_t dim, ScalarType type, Tensor& dx) {
  if (const Reason why =
          first(gate_backward(dy, y, dim, type), first(gate_out(dy, dx), gate_out(y, dx)));
      why != Reason::kNone)
    return stock<Fn>(why, dy, y, dim, type, dx);
  const View v(y, dim);
  const Kernel<SoftmaxBackward>& k = kernels.get(v, type);
  const auto scope = taken<Fn>(k.name);
  run(k, v, dy, y, dx);
  return dx;
}

}  // namespace

Tensor softmax(const Tensor& x, int64_t dim, bool half_to_float) {
  return forward<&softmax>(softmax_kernels, x, dim, half_to_float);
}
Tensor& softmax_out(const Tensor& x, int64_t dim, bool half_to_float, Tensor& y) {
  return forward_out<&softmax_out>(softmax_kernels, x, dim, half_to_float, y);
}
Tensor log_softmax(const Tensor& x, int64_t dim, bool half_to_float) {
  return forward<&log_softmax>(log_softmax_kernels, x, dim, half_to_float);
}
Tensor& log_softmax_out(const Tensor& x, int64_t dim, bool half_to_float, Tensor& y) {
  return forward_out<&log_softmax_out>(log_softmax_kernels, x, dim, half_to_float, y);
}
Tensor softmax_backward(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type) {
  return backward<&softmax_backward>(softmax_backward_kernels, dy, y, dim, type);
}
Tensor& softmax_backward_out(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type,
                             Tensor& dx) {
  return backward_out<&softmax_backward_out>(softmax_backward_kernels, dy, y, dim, type, dx);
}
Tensor log_softmax_backward(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type) {
  return backward<&log_softmax_backward>(log_softmax_backward_kernels, dy, y, dim, type);
}
Tensor& log_softmax_backward_out(const Tensor& dy, const Tensor& y, int64_t dim, ScalarType type,
                                 Tensor& dx) {
  return backward_out<&log_softmax_backward_out>(log_softmax_backward_kernels, dy, y, dim, type,
                                                 dx);
}

}  // namespace tenon::ops

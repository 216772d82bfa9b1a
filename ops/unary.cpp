// Element-wise functions of one operand, and pow with the exponents that are one.
#include <c10/util/string_view.h>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// A function's kernels, in the order of float_type(), and how many elements are worth a thread's
// while: few where each takes long.
struct Function {
  Slot<Unary> kernels[3];
  int64_t grain;
  int64_t most[3] = {INT64_MAX, INT64_MAX, INT64_MAX};  // more elements than this are stock's
};
#define FUNCTION(f, grain, ...)                                                           \
  Function f##_function{{{kUnary, #f "_f32"}, {kUnary, #f "_bf16"}, {kUnary, #f "_f16"}}, \
                        grain __VA_OPT__(, ) __VA_ARGS__};
FUNCTION(exp, 8192)
FUNCTION(tanh, 8192)
FUNCTION(sigmoid, 8192)
FUNCTION(silu, 8192)
// Stock runs exact gelu through oneDNN: slow to start, and then faster (bench ops unary: gelu).
FUNCTION(gelu, 8192, {8192, 1024, 1024})
FUNCTION(gelu_tanh, 8192)
FUNCTION(sqrt, 32768)
FUNCTION(rsqrt, 32768)
FUNCTION(reciprocal, 32768)
FUNCTION(square_reciprocal, 32768)
// Out of cache these cost what memory costs, and stock's f32 loops stream it a little better (bench
// ops unary: relu, pow 2; Zen 3, torch 2.13).
FUNCTION(relu, 32768, {65536, INT64_MAX, INT64_MAX})
FUNCTION(square, 32768, {65536, INT64_MAX, INT64_MAX})
FUNCTION(cube, 32768, {65536, INT64_MAX, INT64_MAX})
#undef FUNCTION

Reason gate(const Tensor& x) {
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  return plain(x) && dense(x) ? Reason::kNone : Reason::kLayout;
}

Reason gate(const Tensor& x, const Tensor& y) {
  if (y.scalar_type() != x.scalar_type()) return Reason::kDtype;
  if (!plain(y) || !same_layout(x, y)) return Reason::kLayout;
  return may_write(y, x) ? gate(x) : Reason::kOverlap;
}

void run(const Kernel<Unary>& k, int64_t grain, const Tensor& x, const Tensor& y) {
  const int64_t size = static_cast<int64_t>(x.element_size());
  const auto* from = data<char>(x);
  auto* to = mutable_data<char>(y);
  parallel_for(x.numel(), grain, [&](int64_t begin, int64_t end) {
    k.run(static_cast<size_t>(end - begin), from + begin * size, to + begin * size);
  });
}

Reason gate(const Function* f, const Tensor& x) {
  if (f == nullptr) return Reason::kArgument;
  const Reason why = gate(x);
  if (why != Reason::kNone || stock_is_scalar()) return why;
  return x.numel() <= f->most[float_type(x.scalar_type())] ? why : Reason::kSize;
}

Reason gate(const Function* f, const Tensor& x, const Tensor& y) {
  const Reason why = gate(f, x);
  return why == Reason::kNone ? gate(x, y) : why;
}

// The three forms of an operator; f is null where the arguments ask for what has no kernel. `rest`
// is what the operator takes beside its operand, for stock.
template <auto Fn, class... Rest>
Tensor functional(Function* f, const Tensor& x, const Rest&... rest) {
  const Reason why = gate(f, x);
  if (why != Reason::kNone) return stock<Fn>(why, x, rest...);
  const Kernel<Unary>& k = f->kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<Fn>(k.name);
  Tensor y = empty_like_dense(x);
  run(k, f->grain, x, y);
  return y;
}

template <auto Fn, class... Rest>
Tensor& in_place(Function* f, Tensor& x, const Rest&... rest) {
  const Reason why = gate(f, x);
  if (why != Reason::kNone) return stock<Fn>(why, x, rest...);
  const Kernel<Unary>& k = f->kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<Fn>(k.name);
  run(k, f->grain, x, x);
  return x;
}

template <auto Fn, class... Rest>
Tensor& out(Function* f, const Tensor& x, Tensor& y, const Rest&... rest) {
  const Reason why = gate(f, x, y);
  if (why != Reason::kNone) return stock<Fn>(why, x, rest..., y);
  const Kernel<Unary>& k = f->kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<Fn>(k.name);
  run(k, f->grain, x, y);
  return y;
}

Function* gelu_kind(c10::string_view approximate) {
  if (approximate == "none") return &gelu_function;
  return approximate == "tanh" ? &gelu_tanh_function : nullptr;
}

// The exponents that stock has special cases for.
Function* pow_kind(const Scalar& exponent) {
  if (exponent.isComplex() || exponent.isBoolean()) return nullptr;
  const double e = exponent.toDouble();
  if (e == 2) return &square_function;
  if (e == 3) return &cube_function;
  if (e == 0.5) return &sqrt_function;
  if (e == -0.5) return &rsqrt_function;
  if (e == -1) return &reciprocal_function;
  return e == -2 ? &square_reciprocal_function : nullptr;
}

}  // namespace

#define UNARY(f)                                                         \
  Tensor f(const Tensor& x) { return functional<&f>(&f##_function, x); } \
  Tensor& f##_(Tensor& x) { return in_place<&f##_>(&f##_function, x); }  \
  Tensor& f##_out(const Tensor& x, Tensor& y) { return out<&f##_out>(&f##_function, x, y); }
UNARY(relu)
UNARY(exp)
UNARY(tanh)
UNARY(sigmoid)
UNARY(silu)
UNARY(rsqrt)
#undef UNARY

Tensor gelu(const Tensor& x, c10::string_view approximate) {
  return functional<&gelu>(gelu_kind(approximate), x, approximate);
}
Tensor& gelu_(Tensor& x, c10::string_view approximate) {
  return in_place<&gelu_>(gelu_kind(approximate), x, approximate);
}
Tensor& gelu_out(const Tensor& x, c10::string_view approximate, Tensor& y) {
  return out<&gelu_out>(gelu_kind(approximate), x, y, approximate);
}

Tensor pow(const Tensor& x, const Scalar& exponent) {
  return functional<&pow>(pow_kind(exponent), x, exponent);
}
Tensor& pow_(Tensor& x, const Scalar& exponent) {
  return in_place<&pow_>(pow_kind(exponent), x, exponent);
}
Tensor& pow_out(const Tensor& x, const Scalar& exponent, Tensor& y) {
  return out<&pow_out>(pow_kind(exponent), x, y, exponent);
}

}  // namespace tenon::ops

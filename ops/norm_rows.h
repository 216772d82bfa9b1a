// What layer_norm and rms_norm share on the ATen side: shapes, types, threads.
#pragma once
#include <algorithm>
#include <cstring>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/view.h"

namespace tenon::ops {

constexpr int64_t kNormGrain = 16384;  // elements worth a thread's while

// A contiguous tensor as rows of the normalized shape.
struct NormShape {
  int64_t rows = 1, n = 1, axis = 0;
};

// Whether `shape` is the end of x's sizes; fills `out`.
inline Reason norm_shape(const at::Tensor& x, at::IntArrayRef shape, NormShape& out) {
  out.axis = x.dim() - static_cast<int64_t>(shape.size());
  if (shape.empty() || out.axis < 0) return Reason::kShape;
  const auto sizes = x.sizes();
  if (!sizes.slice(static_cast<size_t>(out.axis)).equals(shape)) return Reason::kShape;
  for (int64_t d = 0; d < out.axis; ++d) out.rows *= sizes[d];
  for (const int64_t size : shape) out.n *= size;
  return out.rows * out.n == 0 ? Reason::kSize : Reason::kNone;
}

// A weight of the normalized shape, of x's type or f32; an undefined one is as good.
inline Reason norm_weight(const at::Tensor& w, at::ScalarType type, at::IntArrayRef shape) {
  if (!w.defined()) return Reason::kNone;
  if (w.scalar_type() != type && w.scalar_type() != at::kFloat) return Reason::kDtype;
  if (!plain(w) || !w.is_contiguous()) return Reason::kLayout;
  return w.sizes() == shape ? Reason::kNone : Reason::kShape;
}

// The index of a kernel by x's type and the weight's: f32, bf16, f16, bf16 with f32, f16 with f32.
inline int norm_types(at::ScalarType x, at::ScalarType weight) {
  return float_type(x) + (x != weight ? 2 : 0);
}

inline const void* data_or_null(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr() : nullptr;
}

struct NormSizes {
  int64_t x, stat;  // bytes of an element of x and of mean and rstd
};

// The norm of each row, threads sharing the rows. The pointers in `args` are those of the first
// row.
inline void run_norm(const Kernel<Norm>& k, const NormShape& s, const NormArgs& args,
                     const NormSizes& sizes) {
  parallel_for(s.rows, std::max<int64_t>(1, kNormGrain / s.n), [&](int64_t begin, int64_t end) {
    const auto at = [&](void* p, int64_t size) -> void* {
      return p != nullptr ? static_cast<char*>(p) + begin * size : nullptr;
    };
    NormArgs part = args;
    part.rows = static_cast<size_t>(end - begin);
    part.x = static_cast<const char*>(args.x) + begin * s.n * sizes.x;
    part.y = at(args.y, s.n * sizes.x);
    part.mean = at(args.mean, sizes.stat);
    part.rstd = at(args.rstd, sizes.stat);
    k.run(part);
  });
}

// The gradients that are wanted; the rest stay undefined.
struct NormGradients {
  at::Tensor dx, dgamma, dbeta;
};

// Fills what is defined of `out`. `args` points at the first row's operands.
void run_norm_backward(const Kernel<NormBackward>& k, const NormShape& s,
                       const NormBackwardArgs& args, const NormSizes& sizes,
                       const NormGradients& out);

}  // namespace tenon::ops

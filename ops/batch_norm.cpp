// batch_norm in inference: one scale and one offset for a channel. Training is stock's.
#include <algorithm>
#include <cmath>
#include <vector>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constinit Slot<Affine> kernels[3] = {
    {kAffine, "affine_f32"}, {kAffine, "affine_bf16"}, {kAffine, "affine_f16"}};

constexpr int64_t kGrain = 16384;      // elements worth a thread's while
constexpr int64_t kShortestPlane = 4;  // shorter ones are stock's, which goes along the channels

// The four vectors of one element a channel; weight and bias may be undefined.
struct Channels {
  const Tensor &weight, &bias, &mean, &var;

  Reason gate(const Tensor& x) const {
    for (const Tensor* t : {&mean, &var})
      if (!t->defined()) return Reason::kArgument;
    for (const Tensor* t : {&weight, &bias, &mean, &var}) {
      if (!t->defined()) continue;
      // Stock takes f32 beside a narrower x where all four are f32.
      if (t->scalar_type() != mean.scalar_type()) return Reason::kDtype;
      if (!plain(*t) || !t->is_contiguous()) return Reason::kLayout;
      if (t->dim() != 1 || t->size(0) != x.size(1)) return Reason::kShape;
    }
    const bool f32 = mean.scalar_type() == at::kFloat;
    return f32 || mean.scalar_type() == x.scalar_type() ? Reason::kNone : Reason::kDtype;
  }
};

float element(const Tensor& t, int64_t i, float otherwise) {
  if (!t.defined()) return otherwise;
  switch (t.scalar_type()) {
    case at::kFloat:
      return data<float>(t)[i];
    case at::kBFloat16:
      return to_f32(data<bf16>(t)[i]);
    default:
      return to_f32(data<f16>(t)[i]);
  }
}

struct Line {
  float scale, offset;
};

std::vector<Line> lines(const Channels& c, double eps) {
  std::vector<Line> all;
  for (int64_t i = 0; i < c.mean.numel(); ++i) {
    const float scale =
        1 / std::sqrt(element(c.var, i, 1) + static_cast<float>(eps)) * element(c.weight, i, 1);
    all.push_back({scale, element(c.bias, i, 0) - element(c.mean, i, 0) * scale});
  }
  return all;
}

Reason gate(const Tensor& x, const Channels& c, bool training) {
  if (training) return Reason::kArgument;
  if (float_type(x.scalar_type()) < 0) return Reason::kDtype;
  if (!plain(x) || !like_new(x)) return Reason::kLayout;
  if (x.dim() < 2) return Reason::kShape;
  if (x.numel() < kShortestPlane * x.size(0) * x.size(1) || x.numel() == 0) return Reason::kSize;
  return c.gate(x);
}

std::tuple<Tensor, Tensor, Tensor> run(const Kernel<Affine>& kernel, const Tensor& x,
                                       const Channels& c, double eps) {
  Tensor y = empty_cpu(x.sizes(), x.scalar_type());
  const std::vector<Line> line = lines(c, eps);
  const int64_t planes = x.size(0) * x.size(1), n = x.numel() / planes;
  const int64_t bytes = n * static_cast<int64_t>(x.element_size());
  const char* from = static_cast<const char*>(x.const_data_ptr());
  char* to = static_cast<char*>(y.mutable_data_ptr());
  parallel_for(planes, std::max<int64_t>(1, kGrain / n), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Line& l = line[static_cast<size_t>(i % x.size(1))];
      kernel.run(static_cast<size_t>(n), l.scale, l.offset, from + i * bytes, to + i * bytes);
    }
  });
  return {std::move(y), empty_cpu({0}, c.mean.scalar_type()), empty_cpu({0}, c.mean.scalar_type())};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> batch_norm(const Tensor& x, const std::optional<Tensor>& weight,
                                              const std::optional<Tensor>& bias,
                                              const std::optional<Tensor>& mean,
                                              const std::optional<Tensor>& var, bool training,
                                              double momentum, double eps) {
  const Channels c{value(weight), value(bias), value(mean), value(var)};
  if (const Reason why = gate(x, c, training); why != Reason::kNone)
    return stock<&batch_norm>(why, x, weight, bias, mean, var, training, momentum, eps);
  const Kernel<Affine>& kernel = kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<&batch_norm>(kernel.name);
  return run(kernel, x, c, eps);
}

std::tuple<Tensor, Tensor, Tensor> batch_norm_no_training(const Tensor& x,
                                                          const std::optional<Tensor>& weight,
                                                          const std::optional<Tensor>& bias,
                                                          const Tensor& mean, const Tensor& var,
                                                          double momentum, double eps) {
  const Channels c{value(weight), value(bias), mean, var};
  if (const Reason why = gate(x, c, false); why != Reason::kNone)
    return stock<&batch_norm_no_training>(why, x, weight, bias, mean, var, momentum, eps);
  const Kernel<Affine>& kernel = kernels[float_type(x.scalar_type())].get();
  const auto scope = taken<&batch_norm_no_training>(kernel.name);
  return run(kernel, x, c, eps);
}

}  // namespace tenon::ops

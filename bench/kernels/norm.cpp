// layer_norm and rms_norm kernels and their gradients.
#include "bench/kernels/rows.h"
#include "dispatch/tables.h"

namespace tenon::bench {
namespace {

const Sizes kShapes = {{1000, 16}, {1024, 384}, {1024, 4096}};

struct Operands {
  size_t rows, n;  // and f32's size, which is room enough for any type
  std::vector<uint32_t> x, y, gamma, beta, mean, rstd;

  explicit Operands(const benchmark::State& state)
      : rows(range(state, 0)),
        n(range(state, 1)),
        x(random_words(4 * rows * n)),
        y(rows * n),
        gamma(random_words(4 * n)),
        beta(random_words(4 * n)),
        mean(random_words(4 * rows)),
        rstd(random_words(4 * rows)) {}
};

void run(benchmark::State& state, const Kernel<Norm>& k) {
  Operands o(state);
  const bool layer = std::string_view(k.op).starts_with("layer");
  const NormArgs args{o.rows,         o.n,
                      1e-5f,          o.x.data(),
                      o.gamma.data(), layer ? o.beta.data() : nullptr,
                      o.y.data(),     layer ? o.mean.data() : nullptr,
                      o.rstd.data()};
  repeat(state, [&] { k.run(args); });
  set_rates(state, o.rows * o.n, 2 * o.rows * o.n * last_size(k.op));
}

void run_backward(benchmark::State& state, const Kernel<NormBackward>& k) {
  Operands o(state);
  std::vector<float> dgamma(o.n), dbeta(o.n);
  const bool layer = std::string_view(k.op).starts_with("layer");
  const NormBackwardArgs args{o.rows,         o.n,
                              o.x.data(),     o.x.data(),
                              o.gamma.data(), layer ? o.mean.data() : nullptr,
                              o.rstd.data(),  o.y.data(),
                              dgamma.data(),  layer ? dbeta.data() : nullptr};
  repeat(state, [&] { k.run(args); });
  set_rates(state, o.rows * o.n, 3 * o.rows * o.n * last_size(k.op));
}

const bool registered =
    add_rows(kNorm, kShapes, run) && add_rows(kNormBackward, kShapes, run_backward);

}  // namespace
}  // namespace tenon::bench

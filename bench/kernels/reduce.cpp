// Reduction and argmax kernels: a row in and out of cache, rows, columns.
#include "bench/kernels/rows.h"
#include "dispatch/tables.h"

namespace tenon::bench {
namespace {

// outer, n, inner
const Sizes kShapes = {{1, 1, 1},        {1, 16, 1},      {1, 1000, 1},    {1, 1 << 16, 1},
                       {64, 1 << 16, 1}, {1000, 16, 1},   {1024, 4096, 1}, {1, 1024, 4096},
                       {2, 1024, 1024},  {1, 2, 1 << 20}, {1000, 16, 64},  {1, 10000, 4}};

struct Operand {
  size_t outer, n, inner, size;
  std::vector<uint32_t> x;
  std::vector<int64_t> y;  // room for any result
  ptrdiff_t outer_stride, stride;

  Operand(const benchmark::State& state, std::string_view op)
      : outer(range(state, 0)),
        n(range(state, 1)),
        inner(range(state, 2)),
        size(last_size(op)),
        x(random_words(outer * n * inner * size)),
        y(outer * inner),
        outer_stride(static_cast<ptrdiff_t>(n * inner * size)),
        stride(static_cast<ptrdiff_t>(inner * size)) {}

  void set_rates(benchmark::State& state) const {
    bench::set_rates(state, outer * n * inner, outer * n * inner * size);
  }
};

void reduce(benchmark::State& state, const Kernel<Reduce>& k) {
  Operand o(state, k.op);
  const ReduceArgs args{o.outer,  o.n,  o.inner,    o.outer_stride,
                        o.stride, 1.0f, o.x.data(), o.y.data()};
  repeat(state, [&] { k.run(args); });
  o.set_rates(state);
}

void argmax(benchmark::State& state, const Kernel<Argmax>& k) {
  Operand o(state, k.op);
  const ArgmaxArgs args{o.outer,  o.n,        o.inner, o.outer_stride,
                        o.stride, o.x.data(), nullptr, o.y.data()};
  repeat(state, [&] { k.run(args); });
  o.set_rates(state);
}

void row_fold(benchmark::State& state, const Kernel<RowFold>& k) {
  const size_t rows = range(state, 0), columns = range(state, 1), bytes = rows * columns * 4;
  const std::vector<uint32_t> x = random_words(bytes);
  std::vector<float> y(columns);
  repeat(state, [&] {
    k.run(rows, columns, columns, reinterpret_cast<const float*>(x.data()), y.data());
  });
  bench::set_rates(state, rows * columns, bytes);
}

const bool registered = add_rows(kReduce, kShapes, reduce) && add_rows(kArgmax, kShapes, argmax) &&
                        add_rows(kRowFold, {{2, 1000}, {16, 4096}, {64, 4096}}, row_fold);

}  // namespace
}  // namespace tenon::bench

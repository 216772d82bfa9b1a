// Softmax kernels and their gradients over the rows and columns of a matrix.
#include "bench/kernels/rows.h"
#include "dispatch/tables.h"

namespace tenon::bench {
namespace {

const Sizes kShapes = {{1, 1000}, {64, 64}, {1024, 4096}};

template <class Call>
void run(benchmark::State& state, std::string_view op, Call call) {
  const size_t rows = range(state, 0), columns = range(state, 1), size = last_size(op);
  const std::vector<uint32_t> x = random_words(rows * columns * size);
  std::vector<uint32_t> y(x.size());
  const auto stride = static_cast<ptrdiff_t>(columns * size);
  repeat(state, [&] { call(rows, columns, stride, x.data(), y.data()); });
  set_rates(state, rows * columns, 2 * rows * columns * size);
}

void softmax(benchmark::State& state, const Kernel<Softmax>& k) { run(state, k.op, k.run); }

void backward(benchmark::State& state, const Kernel<SoftmaxBackward>& k) {
  run(state, k.op, [&k](size_t rows, size_t columns, ptrdiff_t stride, const void* x, void* y) {
    k.run(rows, columns, stride, x, x, y);
  });
}

const bool registered =
    add_rows(kSoftmax, kShapes, softmax) && add_rows(kSoftmaxBackward, kShapes, backward);

}  // namespace
}  // namespace tenon::bench

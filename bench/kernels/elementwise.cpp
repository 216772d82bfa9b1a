// Element-wise kernels in and out of cache: functions of one and two operands, of an operand and a
// number, gradients, conversions.
#include "bench/kernels/rows.h"
#include "dispatch/tables.h"

namespace tenon::bench {
namespace {

const Sizes kElements = {{16}, {1000}, {1 << 20}};

void unary(benchmark::State& state, const Kernel<Unary>& k) {
  const size_t n = range(state, 0), size = last_size(k.op);
  const std::vector<uint32_t> x = random_words(n * size);
  std::vector<uint32_t> y(x.size());
  repeat(state, [&] { k.run(n, x.data(), y.data()); });
  set_rates(state, n, 2 * n * size);
}

void binary(benchmark::State& state, const Kernel<Binary>& k) {
  const size_t n = range(state, 0), size = last_size(k.op);
  const std::vector<uint32_t> a = random_words(n * size), b = a;
  std::vector<uint32_t> y(a.size());
  repeat(state, [&] { k.run(n, 1.5f, a.data(), b.data(), y.data()); });
  set_rates(state, n, 3 * n * size);
}

void binary_scalar(benchmark::State& state, const Kernel<BinaryScalar>& k) {
  const size_t n = range(state, 0), size = last_size(k.op);
  const std::vector<uint32_t> x = random_words(n * size);
  std::vector<uint32_t> y(x.size());
  repeat(state, [&] { k.run(n, 1.5f, x.data(), y.data()); });
  set_rates(state, n, 2 * n * size);
}

void cast(benchmark::State& state, const Kernel<Cast>& k) {
  const size_t n = range(state, 0), from = last_size(k.op), to = size_before(k.op);
  const std::vector<uint32_t> x = random_words(n * from);
  std::vector<uint64_t> y((n * to + 7) / 8);
  repeat(state, [&] { k.run(n, x.data(), y.data()); });
  set_rates(state, n, n * (from + to));
}

void unary_backward(benchmark::State& state, const Kernel<UnaryBackward>& k) {
  const size_t n = range(state, 0), size = last_size(k.op);
  const std::vector<uint32_t> dy = random_words(n * size), saved = dy;
  std::vector<uint32_t> dx(dy.size());
  repeat(state, [&] { k.run(n, dy.data(), saved.data(), dx.data()); });
  set_rates(state, n, 3 * n * size);
}

const bool registered =
    add_rows(kUnary, kElements, unary) && add_rows(kUnaryBackward, kElements, unary_backward) &&
    add_rows(kBinary, kElements, binary) && add_rows(kBinaryScalar, kElements, binary_scalar) &&
    add_rows(kCast, kElements, cast);

}  // namespace
}  // namespace tenon::bench

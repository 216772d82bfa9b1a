// Kernels that move bytes: masked fill, copies of rows, gathers, transposing copies.
#include "bench/kernels/rows.h"
#include "dispatch/tables.h"

namespace tenon::bench {
namespace {

std::vector<uint8_t> random_bytes(size_t n) {
  std::mt19937 rng(1);
  std::vector<uint8_t> bytes(n);
  for (uint8_t& b : bytes) b = static_cast<uint8_t>(rng());
  return bytes;
}

void fill(benchmark::State& state, const Kernel<MaskedFill>& k) {
  const size_t n = range(state, 0), size = last_size(k.op);
  std::vector<uint8_t> mask = random_bytes(n), x = random_bytes(n * size);
  for (uint8_t& m : mask) m &= 1;
  repeat(state, [&] { k.run(n, 0, mask.data(), x.data(), x.data()); });
  set_rates(state, n, n * (1 + 2 * size));
}

void copy(benchmark::State& state, const Kernel<CopyRows>& k) {
  const size_t rows = range(state, 0), bytes = range(state, 1);
  const std::vector<uint8_t> x = random_bytes(rows * bytes);
  std::vector<uint8_t> y(2 * rows * bytes);
  const auto stride = static_cast<ptrdiff_t>(bytes);
  repeat(state, [&] { k.run(rows, bytes, x.data(), stride, y.data(), 2 * stride); });
  set_rates(state, rows, 2 * rows * bytes);
}

void gather(benchmark::State& state, const Kernel<Gather>& k) {
  const size_t rows = range(state, 0), bytes = range(state, 1), table = 40000;
  const std::vector<uint8_t> x = random_bytes(table * bytes);
  std::mt19937 rng(2);
  std::vector<uint32_t> index(2 * rows);  // serves both types: int64 in the low halves
  const size_t step = last_size(k.op) / 4;
  for (size_t r = 0; r < rows; ++r) index[step * r] = rng() % table;
  std::vector<uint8_t> y(rows * bytes);
  repeat(state, [&] {
    k.run(rows, bytes, index.data(), x.data(), static_cast<ptrdiff_t>(bytes), y.data());
  });
  set_rates(state, rows, 2 * rows * bytes);
}

void transpose(benchmark::State& state, const Kernel<Transpose>& k) {
  const size_t rows = range(state, 0), columns = range(state, 1), size = last_size(k.op);
  const std::vector<uint8_t> x = random_bytes(rows * columns * size);
  std::vector<uint8_t> y(x.size());
  const auto from = static_cast<ptrdiff_t>(columns * size);
  const auto to = static_cast<ptrdiff_t>(rows * size);
  repeat(state, [&] { k.run(rows, columns, x.data(), from, y.data(), to); });
  set_rates(state, rows * columns, 2 * x.size());
}

const bool registered =
    add_rows(kMaskedFill, {{16}, {1000}, {1 << 22}}, fill) &&
    add_rows(kCopyRows, {{1, 4}, {1000, 4}, {1000, 128}, {1000, 1000}, {1000, 4096}}, copy) &&
    add_rows(kGather, {{1, 4}, {1000, 4}, {1000, 256}, {1000, 2304}}, gather) &&
    add_rows(kTranspose, {{16, 16}, {100, 100}, {576, 192}, {4096, 1024}}, transpose);

}  // namespace
}  // namespace tenon::bench

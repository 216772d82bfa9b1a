// What the benches of kernels share: one entry per row and size, and operands of any type.
#pragma once
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "dispatch/pick.h"

namespace tenon::bench {

using Sizes = std::vector<std::vector<int64_t>>;

// Registers run(state, row) for every row that this machine can run, at each of
// sizes_of(operation): state.range(0), state.range(1), ... Returns true, so that a constant of the
// file can call it.
template <class Fn, class SizesOf, class Run>
bool add_rows(Table<Fn> table, SizesOf sizes_of, Run run) {
  for (const Kernel<Fn>& k : table) {
    if (k.run == nullptr || !k.fits(host_cpu())) continue;
    auto* bench =
        benchmark::RegisterBenchmark(k.name, [&k, run](benchmark::State& s) { run(s, k); });
    for (const std::vector<int64_t>& size : sizes_of(std::string_view(k.op))) bench->Args(size);
  }
  return true;
}

// The same sizes for every operation.
template <class Fn, class Run>
bool add_rows(Table<Fn> table, const Sizes& sizes, Run run) {
  return add_rows(table, [&sizes](std::string_view) { return sizes; }, run);
}

// The loop of a bench: what `call` writes counts as read.
template <class Call>
void repeat(benchmark::State& state, Call call) {
  for (auto _ : state) {
    call();
    benchmark::ClobberMemory();
  }
}

// What one call handles, for the rates beside the time.
inline void set_rates(benchmark::State& state, size_t items, size_t bytes) {
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(items));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

inline size_t range(const benchmark::State& state, size_t i) {
  return static_cast<size_t>(state.range(i));
}

// Random bits with a middling exponent in every float type, and any bytes for the integers; room
// for `bytes` bytes.
inline std::vector<uint32_t> random_words(size_t bytes) {
  std::mt19937 rng(1);
  std::vector<uint32_t> words((bytes + 3) / 4);
  for (uint32_t& w : words) w = (rng() & 0xbfffbfffu) | 0x30003000u;
  return words;
}

inline size_t type_size(std::string_view type) {
  if (type == "i64" || type == "b64") return 8;
  if (type == "f32" || type == "i32" || type == "b32") return 4;
  return type == "b8" || type == "u8" || type == "i8" ? 1 : 2;
}

// The type at the end of an operation's name, and the one before it: cast_bf16_f32 reads f32 and
// writes bf16.
inline size_t last_size(std::string_view op) { return type_size(op.substr(op.rfind('_') + 1)); }
inline size_t size_before(std::string_view op) { return last_size(op.substr(0, op.rfind('_'))); }

}  // namespace tenon::bench

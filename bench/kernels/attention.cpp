// Attention kernels: decode of one chunk and of a group, prefill of one task, in cache.
#include "isa/attention.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"
#include "isa/types.h"

namespace tenon {
namespace {

struct Operands {
  std::vector<float> q, k, v, out, lse, partial;  // room for any storage type
  float* scratch;
  AttentionTask task{};

  Operands(size_t rows, size_t keys, size_t head, size_t width)
      : q(rows * head),
        k(keys * head),
        v(keys * head),
        out(rows * head),
        lse(rows),
        partial((keys / kDecodeKeys + 1) * attention_partial(rows, head)),
        scratch(static_cast<float*>(std::aligned_alloc(
            64, round_up(attention_prefill_scratch(head) * sizeof(float), 64)))) {
    std::mt19937 rng(1);
    // 16-bit patterns between 0.5 and 2 in bf16 and in f16; as f32 they are as ordinary.
    std::uniform_int_distribution<uint32_t> bits(0x3c00, 0x3fff);
    for (auto* x : {&q, &k, &v})
      for (float& e : *x) e = float_of(bits(rng) << 16 | bits(rng));
    for (float& e : partial) e = 0.5f;
    const auto row = static_cast<ptrdiff_t>(head * width);
    task.group = rows, task.positions = 1, task.keys = keys, task.head = head;
    task.scale = 1.0f / std::sqrt(static_cast<float>(head));
    task.q = q.data(), task.k = k.data(), task.v = v.data(), task.out = out.data();
    task.lse = lse.data(), task.partial = partial.data(), task.scratch = scratch;
    task.q_group = task.out_group = task.k_key = task.v_key = row;
    task.lse_group = sizeof(float);
    task.row_end = rows, task.key_end = keys, task.chunks = keys / kDecodeKeys;
  }
  ~Operands() { std::free(scratch); }
};

void run(benchmark::State& state, const Kernel<Attention>& k, size_t width) {
  const auto rows = static_cast<size_t>(state.range(0)), keys = static_cast<size_t>(state.range(1));
  const auto head = static_cast<size_t>(state.range(2));
  Operands o(rows, keys, head, width);
  for (auto _ : state) {
    k.run(o.task);
    benchmark::ClobberMemory();
  }
  const double pairs = static_cast<double>(rows * keys * head);
  state.counters["flop/s"] =
      benchmark::Counter(4 * pairs, benchmark::Counter::kIsIterationInvariantRate);
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * keys * head * width));
}

const int registered = [] {
  for (const Kernel<Attention>& k : kAttention) {
    if (k.run == nullptr || !k.fits(host_cpu())) continue;
    const std::string_view op = k.op;
    const bool narrow = op.find("f32_f32") == op.npos && op.find("merge") == op.npos;
    auto* b = benchmark::RegisterBenchmark(
        k.name, [&k, narrow](benchmark::State& s) { run(s, k, narrow ? 2 : 4); });
    if (op.find("prefill") != op.npos) {
      b->Args({96, 512, 64})->Args({96, 128, 32})->Args({96, 512, 128});
    } else if (op.find("merge") != op.npos) {
      b->Args({4, 2048, 128});
    } else {
      b->Args({1, 256, 128})->Args({1, 256, 64})->Args({3, 256, 64})->Args({4, 256, 128});
    }
  }
  return 0;
}();

}  // namespace
}  // namespace tenon

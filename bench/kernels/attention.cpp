// Attention kernels: decode of one chunk and of a group, prefill of one task, in cache.
#include <cmath>
#include <cstdlib>

#include "bench/kernels/rows.h"
#include "dispatch/tables.h"
#include "isa/types.h"

namespace tenon::bench {
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

// state: query rows, keys, head size.
void run(benchmark::State& state, const Kernel<Attention>& k) {
  const size_t rows = range(state, 0), keys = range(state, 1), head = range(state, 2);
  const bool merge = std::string_view(k.op).starts_with("attention_merge");
  const size_t width = merge ? 4 : last_size(k.op);  // merge reads partial results, f32 always
  Operands o(rows, keys, head, width);
  repeat(state, [&] { k.run(o.task); });
  state.counters["flop/s"] = benchmark::Counter(4 * static_cast<double>(rows * keys * head),
                                                benchmark::Counter::kIsIterationInvariantRate);
  set_rates(state, rows, 2 * keys * head * width);
}

Sizes sizes_of(std::string_view op) {
  if (op.starts_with("attention_prefill")) return {{96, 512, 64}, {96, 128, 32}, {96, 512, 128}};
  if (op.starts_with("attention_merge")) return {{4, 2048, 128}};
  return {{1, 256, 128}, {1, 256, 64}, {3, 256, 64}, {4, 256, 128}};
}

const bool registered = add_rows(kAttention, sizes_of, run);

}  // namespace
}  // namespace tenon::bench

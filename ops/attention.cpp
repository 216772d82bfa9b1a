// Scaled dot-product attention, forward: the CPU leaf under F.scaled_dot_product_attention. Its
// backward stays stock and reads this forward's output and logsumexp.
#include "isa/attention.h"

#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

// By float_type.
Slot<Attention> prefill_kernel[] = {{kAttention, "attention_prefill_f32_f32"},
                                    {kAttention, "attention_prefill_bf16_bf16"},
                                    {kAttention, "attention_prefill_f16_f16"}};
Slot<Attention> decode_kernel[] = {{kAttention, "attention_decode_f32_f32"},
                                   {kAttention, "attention_decode_f32_bf16"},
                                   {kAttention, "attention_decode_f32_f16"}};
Slot<Attention> merge_kernel[] = {{kAttention, "attention_merge_f32_f32"},
                                  {kAttention, "attention_merge_bf16_f32"},
                                  {kAttention, "attention_merge_f16_f32"}};

// Up to this many query rows per key/value head go the decode way: keys and values are read from
// memory once, nothing is repacked, and threads can share one long sequence. With one position the
// rows are a group's heads, and a long sequence is likely to be all the work there is.
constexpr int64_t kDecodeRows = 8, kDecodeHeads = 128;

// Below this many floating-point operations a second thread costs more than it takes.
constexpr int64_t kSerialFlops = 1 << 18;

struct Call {
  const Tensor &q, &k, &v;
  const Tensor* mask;  // null: none
  bool causal;
  float scale;

  int64_t batch() const { return q.size(0); }
  int64_t heads() const { return q.size(1); }
  int64_t kv_heads() const { return k.size(1); }
  int64_t positions() const { return q.size(2); }
  int64_t keys() const { return k.size(2); }
  int64_t head() const { return q.size(3); }
  int64_t group() const { return kv_heads() == 0 ? 1 : heads() / kv_heads(); }
  int64_t rows() const { return group() * positions(); }
  int64_t flops() const { return 4 * batch() * heads() * positions() * keys() * head(); }
  bool decodes() const {
    return rows() <= kDecodeRows || (positions() == 1 && rows() <= kDecodeHeads);
  }
};

bool last_contiguous(const Tensor& t) { return t.stride(-1) == 1 || t.size(-1) == 1; }

Reason gate_operand(const Tensor& t, const Tensor& q) {
  if (t.scalar_type() != q.scalar_type()) return Reason::kDtype;
  if (t.dim() != 4) return Reason::kShape;
  if (!plain(t) || !last_contiguous(t)) return Reason::kLayout;
  return Reason::kNone;
}

bool broadcasts(int64_t size, int64_t to) { return size == 1 || size == to; }

Reason gate_mask(const Call& c) {
  const Tensor& m = *c.mask;
  if (m.scalar_type() != at::kFloat && m.scalar_type() != c.q.scalar_type()) return Reason::kDtype;
  if (m.dim() != 2 && m.dim() != 4) return Reason::kShape;
  if (!broadcasts(m.size(-2), c.positions()) || m.size(-1) != c.keys()) return Reason::kShape;
  if (m.dim() == 4 && (!broadcasts(m.size(0), c.batch()) || !broadcasts(m.size(1), c.heads())))
    return Reason::kShape;
  return plain(m) && last_contiguous(m) ? Reason::kNone : Reason::kLayout;
}

Reason gate_shape(const Call& c) {
  if (c.k.sizes() != c.v.sizes() || c.k.size(0) != c.batch() || c.k.size(3) != c.head())
    return Reason::kShape;
  if (c.kv_heads() == 0 ? c.heads() != 0 : c.heads() % c.kv_heads() != 0) return Reason::kShape;
  return c.head() >= 1 && c.head() <= static_cast<int64_t>(kMaxHead) ? Reason::kNone
                                                                     : Reason::kShape;
}

// Stock multiplies large blocks on the CPU's own bf16 and f16 instructions where it has them.
bool stock_prefill_wins(at::ScalarType type) {
  const Cpu& cpu = host_cpu();
  if (type == at::kBFloat16) return cpu.has(kAvx512Bf16) || cpu.has(kAmxBf16);
  return type == at::kHalf && (cpu.has(kAvx512Fp16) || cpu.has(kAmxFp16));
}

Reason gate(const Call& c, double dropout_p) {
  if (float_type(c.q.scalar_type()) < 0) return Reason::kDtype;
  for (const Tensor* t : {&c.q, &c.k, &c.v})
    if (const Reason why = gate_operand(*t, c.q); why != Reason::kNone) return why;
  if (dropout_p != 0) return Reason::kArgument;
  if (const Reason why = gate_shape(c); why != Reason::kNone) return why;
  // Without a key stock's kernel divides by zero.
  if (!c.decodes() && c.keys() > 0 && stock_prefill_wins(c.q.scalar_type()))
    return Reason::kMachine;
  return c.mask == nullptr ? Reason::kNone : gate_mask(c);
}

// Output in the layout of q, strides of dimensions of size 1 included, as stock gives it.
Tensor empty_output(const Tensor& q) {
  return dense(q) ? empty_strided_cpu(q.sizes(), q.strides(), q.scalar_type()) : at::empty_like(q);
}

// (B, H, L) in the memory order B, L, H, as stock gives it.
Tensor empty_logsumexp(const Call& c) {
  const int64_t heads = std::max<int64_t>(c.heads(), 1);
  const int64_t positions = std::max<int64_t>(c.positions(), 1);
  return empty_strided_cpu({c.batch(), c.heads(), c.positions()}, {heads * positions, 1, heads},
                           at::kFloat);
}

const char* offset(const Tensor& t, int64_t elements) {
  return static_cast<const char*>(t.const_data_ptr()) + elements * t.itemsize();
}

// Key/value head `head` of batch `b`: everything but rows, keys and memory to work in.
AttentionTask task_of(const Call& c, const Tensor& out, const Tensor& lse, int64_t b,
                      int64_t head) {
  const int64_t first = head * c.group(), item = c.q.itemsize();
  AttentionTask t{};
  t.group = static_cast<size_t>(c.group()), t.positions = static_cast<size_t>(c.positions());
  t.keys = static_cast<size_t>(c.keys()), t.head = static_cast<size_t>(c.head());
  t.scale = c.scale, t.causal = c.causal;
  t.q = offset(c.q, b * c.q.stride(0) + first * c.q.stride(1));
  t.q_group = c.q.stride(1) * item, t.q_position = c.q.stride(2) * item;
  t.k = offset(c.k, b * c.k.stride(0) + head * c.k.stride(1)), t.k_key = c.k.stride(2) * item;
  t.v = offset(c.v, b * c.v.stride(0) + head * c.v.stride(1)), t.v_key = c.v.stride(2) * item;
  t.out = static_cast<char*>(out.mutable_data_ptr()) +
          (b * out.stride(0) + first * out.stride(1)) * item;
  t.out_group = out.stride(1) * item, t.out_position = out.stride(2) * item;
  t.lse = mutable_data<float>(lse) + b * lse.stride(0) + first;
  t.lse_group = sizeof(float), t.lse_position = lse.stride(2) * int64_t{sizeof(float)};
  if (c.mask == nullptr) return t;
  const Tensor& m = *c.mask;
  const auto stride = [&m](int64_t dim) { return m.size(dim) == 1 ? 0 : m.stride(dim); };
  const int64_t in_batch = m.dim() == 4 ? stride(0) : 0, in_head = m.dim() == 4 ? stride(1) : 0;
  t.mask = offset(m, b * in_batch + first * in_head);
  t.mask_f32 = m.scalar_type() == at::kFloat;
  t.mask_group = in_head * m.itemsize(), t.mask_position = stride(-2) * m.itemsize();
  return t;
}

// f(worker, i) for every i in [0, n), each on the next worker that is free; two calls with one
// worker never overlap.
template <class F>
void for_tasks(int64_t n, int64_t workers, F f) {
  std::atomic<int64_t> next{0};
  parallel_for(workers, 1, [&](int64_t begin, int64_t end) {
    for (int64_t worker = begin; worker < end; ++worker)
      for (int64_t i = next++; i < n; i = next++) f(worker, i);
  });
}

int64_t workers_for(const Call& c, int64_t tasks) {
  if (c.flops() < kSerialFlops) return 1;
  return std::min<int64_t>(tasks, max_threads());
}

Tensor floats(int64_t n) { return empty_cpu({n}, at::kFloat); }

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Rows of one task: few enough that every thread has work, many enough to share a packed block.
int64_t rows_per_task(const Call& c) {
  constexpr int64_t kTile = 12, kFewest = 24;  // a tile of every kernel divides 12
  const int64_t kv = c.batch() * c.kv_heads(), wanted = 2 * max_threads();
  int64_t blocks = ceil_div(c.rows(), static_cast<int64_t>(kPrefillRows));
  if (kv * blocks < wanted)
    blocks = std::max(blocks, std::min(ceil_div(wanted, kv), c.rows() / kFewest));
  return ceil_div(ceil_div(c.rows(), blocks), kTile) * kTile;
}

void prefill(const Call& c, const Tensor& out, const Tensor& lse, Attention* run) {
  const int64_t kv = c.batch() * c.kv_heads();
  if (kv == 0) return;
  const int64_t each = rows_per_task(c), blocks = ceil_div(c.rows(), each);
  const int64_t workers = workers_for(c, kv * blocks);
  const auto scratch =
      static_cast<int64_t>(round_up(attention_prefill_scratch(static_cast<size_t>(c.head())), 16));
  const Tensor memory = floats(workers * scratch);
  for_tasks(kv * blocks, workers, [&](int64_t worker, int64_t i) {
    AttentionTask t = task_of(c, out, lse, i / blocks / c.kv_heads(), i / blocks % c.kv_heads());
    const int64_t row = (blocks - 1 - i % blocks) * each;  // causal: the longest first
    t.row_begin = static_cast<size_t>(row);
    t.row_end = static_cast<size_t>(std::min(row + each, c.rows()));
    t.scratch = mutable_data<float>(memory) + worker * scratch;
    run(t);
  });
}

// Keys that any row sees.
int64_t visible_keys(const Call& c) {
  return c.causal ? std::min(c.keys(), c.positions()) : c.keys();
}

void decode(const Call& c, const Tensor& out, const Tensor& lse, Attention* run, Attention* merge) {
  const auto head = static_cast<size_t>(c.head());
  const int64_t kv = c.batch() * c.kv_heads(), keys = visible_keys(c);
  const int64_t chunks = ceil_div(keys, static_cast<int64_t>(kDecodeKeys));
  const int64_t workers = std::max<int64_t>(workers_for(c, kv * chunks), 1);
  const auto partial = static_cast<int64_t>(attention_partial(static_cast<size_t>(c.rows()), head));
  const auto scratch = static_cast<int64_t>(attention_decode_scratch(head));
  const Tensor memory = floats(workers * scratch + kv * chunks * partial);
  const auto start = [&](int64_t worker, int64_t i) {
    AttentionTask t = task_of(c, out, lse, i / c.kv_heads(), i % c.kv_heads());
    t.chunks = static_cast<size_t>(chunks);
    t.scratch = mutable_data<float>(memory) + worker * scratch;
    t.partial = mutable_data<float>(memory) + workers * scratch + i * chunks * partial;
    return t;
  };
  if (chunks == 0) {
    for (int64_t i = 0; i < kv; ++i) merge(start(0, i));
    return;
  }
  // Whoever finishes a head's last chunk merges them all: a second parallel loop would cost a
  // barrier.
  const auto done = std::make_unique<std::atomic<int64_t>[]>(static_cast<size_t>(kv));
  for_tasks(kv * chunks, workers, [&](int64_t worker, int64_t i) {
    AttentionTask t = start(worker, i / chunks);
    t.key_begin = static_cast<size_t>(i % chunks) * kDecodeKeys;
    t.key_end = std::min(t.key_begin + kDecodeKeys, static_cast<size_t>(keys));
    t.partial += i % chunks * partial;
    run(t);
    if (++done[static_cast<size_t>(i / chunks)] == chunks) merge(start(worker, i / chunks));
  });
}

}  // namespace

std::tuple<Tensor, Tensor> _scaled_dot_product_flash_attention_for_cpu(
    const Tensor& q, const Tensor& k, const Tensor& v, double dropout_p, bool is_causal,
    const std::optional<Tensor>& attn_mask, std::optional<double> scale) {
  constexpr auto kThis = &_scaled_dot_product_flash_attention_for_cpu;
  const auto fall_back = [&](Reason why) {
    return stock<kThis>(why, q, k, v, dropout_p, is_causal, attn_mask, scale);
  };
  Call c{q, k, v, attn_mask && attn_mask->defined() ? &*attn_mask : nullptr, is_causal, 0};
  if (const Reason why = gate(c, dropout_p); why != Reason::kNone) return fall_back(why);
  c.scale = static_cast<float>(scale ? *scale : 1 / std::sqrt(static_cast<double>(c.head())));
  Tensor out = empty_output(q);
  if (!last_contiguous(out)) return fall_back(Reason::kLayout);
  Tensor lse = empty_logsumexp(c);
  const auto type = static_cast<size_t>(float_type(q.scalar_type()));
  const Kernel<Attention>& kernel = (c.decodes() ? decode_kernel : prefill_kernel)[type].get();
  const auto scope = taken<kThis>(kernel.name);
  if (out.numel() == 0) return {std::move(out), std::move(lse)};
  if (c.decodes()) {
    decode(c, out, lse, kernel.run, merge_kernel[type].get().run);
  } else {
    prefill(c, out, lse, kernel.run);
  }
  return {std::move(out), std::move(lse)};
}

}  // namespace tenon::ops

// Scaled dot-product attention: softmax(scale * Q K^T + mask) V, one softmax per query row.
//
// Query heads come in groups that share one key/value head. Row r = l * group + g is position l of
// the group's head g. A row's scores are s[k] = sum_d (scale * q[d]) * key[k][d] + mask[k]; with
// `causal` a row at position l sees keys 0..l only. With m = max over k of s[k],
//
//   out[d] = sum_k e^(s[k] - m) v[k][d] / sum_k e^(s[k] - m),   lse = m + ln sum_k e^(s[k] - m).
//
// Nothing of size rows * keys is stored: keys are taken in blocks and the running maximum, sum and
// output are rescaled when the maximum grows (online softmax: Milakov and Gimelshein, 2018; tiled:
// Dao et al., FlashAttention, 2022). All arithmetic is f32, with the storage types widened on load
// and out rounded once to nearest even.
//
// Two ways, three kernels:
//   prefill  many rows: rows [row_begin, row_end) over all keys, blocks of kPrefillKeys, out and
//   lse. decode   few rows: all rows over keys [key_begin, key_end), at most kDecodeKeys of them,
//   to
//            `partial`; so threads can share one long sequence.
//   merge    the partials of all chunks of kDecodeKeys keys, in ascending order, to out and lse.
//
// Order of operations, the same in every row of the table, so that bits depend on neither the ISA
// nor the split into tasks: prefill scores are fused multiply-adds in ascending d; decode scores
// add element d into lane d mod 16 and fold the lanes in halves; sums over k use the same 16 lanes
// within a block; outputs are fused multiply-adds in ascending k within a block.
//
// Special values: a row whose scores are all -infinity (all masked, or no keys) gives zeros and
// lse = 0, as ATen does. NaN and +infinity in a score make the row NaN. Masked by `causal`, a key
// has no score at all.
// Any row, key and head count; any alignment. out overlaps nothing.
//
// Error bound, in units of 2^-24 times sum_k weight[k] |v[k][d]|: attention_error(); and half a
// unit of the storage type where that is narrower.
#pragma once
#include <cstddef>

namespace tenon {

constexpr size_t kPrefillKeys = 128;  // keys of a prefill block
constexpr size_t kPrefillRows = 144;  // the most rows of one prefill task
constexpr size_t kDecodeKeys = 256;   // keys of a decode chunk
constexpr size_t kMaxHead = 512;      // the largest head size

// Strides are bytes. Elements of q, k, v, out are the kernel's storage types, contiguous in a row.
struct AttentionTask {
  size_t group, positions, keys, head;
  float scale;
  bool causal;

  const void *q, *k, *v;
  ptrdiff_t q_position, q_group, k_key, v_key;

  const void* mask;  // or null. Contiguous along keys
  bool mask_f32;     // f32 whatever the storage type
  ptrdiff_t mask_position, mask_group;

  void* out;  // prefill and merge
  float* lse;
  ptrdiff_t out_position, out_group, lse_position, lse_group;

  size_t row_begin, row_end;  // prefill: at most kPrefillRows
  size_t key_begin, key_end;  // decode: one chunk, key_begin a multiple of kDecodeKeys
  float* partial;             // decode: the chunk's. merge: the first chunk's, the others follow
  size_t chunks;              // merge
  float* scratch;  // attention_..._scratch(head) floats, 64-byte aligned. Contents: noise
};

using Attention = void(const AttentionTask& task) noexcept;

constexpr size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// A partial result of one row: `head` sums, then at the rounded-up head the maximum and the sum.
constexpr size_t attention_partial_stride(size_t head) { return round_up(head, 16) + 16; }

// Floats of one chunk's partial results for all rows.
constexpr size_t attention_partial(size_t rows, size_t head) {
  return rows * attention_partial_stride(head);
}

// Prefill: a block of keys, one of values, queries, outputs, scores, row state.
constexpr size_t attention_prefill_scratch(size_t head) {
  const size_t wide = round_up(head, 32), rows = kPrefillRows;
  return kPrefillKeys * (round_up(head, 16) + wide) + rows * (wide + wide) + 24 * kPrefillKeys +
         2 * rows;
}

// Decode: four rows' queries and scores. Merge: one row's output.
constexpr size_t attention_decode_scratch(size_t head) {
  return 4 * (round_up(head, 16) + kDecodeKeys);
}

// max_score: the largest over k of sum_d |scale q[d] key[k][d]| + |mask[k]|, of unmasked keys.
constexpr double attention_error(size_t head, size_t keys, double max_score) {
  return 2 * (static_cast<double>(head) + 4) * max_score + 1.1 * static_cast<double>(keys) + 16;
}

}  // namespace tenon

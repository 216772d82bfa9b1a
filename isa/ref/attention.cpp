// Attention reference kernels: isa/attention.h says what each computes and in which order.
#include "isa/attention.h"

#include "isa/ref/scalar.h"

namespace tenon {
namespace {

TENON_INLINE Scalar at_least(Scalar x, float low) { return {x.v < low ? low : x.v}; }
TENON_INLINE Scalar shift_to_exponent(Scalar x) { return {float_of(bits_of(x.v) << 23)}; }

}  // namespace
}  // namespace tenon

#include "isa/attention_math.h"

namespace tenon {
namespace {

float exp_scalar(float x) { return exp_not_positive(Scalar{x}).v; }

float fold_16(float (&lane)[kSumLanes]) {
  for (size_t half = kSumLanes / 2; half > 0; half /= 2)
    for (size_t i = 0; i < half; ++i) lane[i] = lane[i] + lane[i + half];
  return lane[0];
}

template <class T>
const T* element(const void* p, ptrdiff_t stride, size_t row, size_t i) {
  return reinterpret_cast<const T*>(static_cast<const char*>(p) +
                                    static_cast<ptrdiff_t>(row) * stride) +
         i;
}

// Row r of q, mask, out or lse.
template <class T>
T* row_of(const AttentionTask& t, const void* p, ptrdiff_t position, ptrdiff_t in_group, size_t r) {
  const ptrdiff_t l = static_cast<ptrdiff_t>(r / t.group), g = static_cast<ptrdiff_t>(r % t.group);
  return reinterpret_cast<T*>(const_cast<char*>(static_cast<const char*>(p)) + l * position +
                              g * in_group);
}

template <class T>
float query(const AttentionTask& t, size_t r, size_t d) {
  return to_f32(row_of<const T>(t, t.q, t.q_position, t.q_group, r)[d]) * t.scale;
}

template <class T>
float key_element(const AttentionTask& t, size_t k, size_t d) {
  return to_f32(*element<T>(t.k, t.k_key, k, d));
}

template <class T>
float prefill_score(const AttentionTask& t, size_t r, size_t k) {
  float s = 0.0f;
  for (size_t d = 0; d < t.head; ++d) s = std::fma(query<T>(t, r, d), key_element<T>(t, k, d), s);
  return s;
}

template <class T>
float decode_score(const AttentionTask& t, size_t r, size_t k) {
  float lane[kSumLanes] = {};
  for (size_t d = 0; d < t.head; ++d)
    lane[d % kSumLanes] = std::fma(query<T>(t, r, d), key_element<T>(t, k, d), lane[d % kSumLanes]);
  return fold_16(lane);
}

template <class T>
float mask_of(const AttentionTask& t, size_t r, size_t k) {
  if (t.mask_f32) return row_of<const float>(t, t.mask, t.mask_position, t.mask_group, r)[k];
  return to_f32(row_of<const T>(t, t.mask, t.mask_position, t.mask_group, r)[k]);
}

// One row's running softmax; `o` has the head's elements.
struct RowState {
  float max, sum, *o;
};

// Takes keys [begin, end), at most kDecodeKeys of them, into the row's state.
template <class T, class Score>
void add_block(const AttentionTask& t, size_t r, size_t begin, size_t end, Score score,
               RowState& state) {
  float s[kDecodeKeys], lane[kSumLanes] = {}, max = state.max;
  for (size_t k = begin; k < end; ++k) {
    float& x = s[k - begin];
    x = score(t, r, k);
    if (t.mask != nullptr) x = x + mask_of<T>(t, r, k);
    if (t.causal && k > r / t.group) x = kNoScore;
    if (x > max) max = x;
  }
  for (size_t i = 0; i < end - begin; ++i) {
    s[i] = exp_scalar(s[i] - origin(max));
    lane[i % kSumLanes] += s[i];
  }
  const float shrink = max == state.max ? 1.0f : exp_scalar(state.max - max);
  state.sum = std::fma(state.sum, shrink, fold_16(lane));
  state.max = max;
  for (size_t d = 0; d < t.head; ++d) {
    float o = state.o[d] * shrink;
    for (size_t k = begin; k < end; ++k)
      o = std::fma(s[k - begin], to_f32(*element<T>(t.v, t.v_key, k, d)), o);
    state.o[d] = o;
  }
}

template <class T>
void finish_row(const AttentionTask& t, size_t r, const RowState& state) {
  T* out = row_of<T>(t, t.out, t.out_position, t.out_group, r);
  const bool any = state.max != kNoScore || state.sum != 0.0f;
  const float factor = 1.0f / state.sum;
  for (size_t d = 0; d < t.head; ++d) out[d] = from_f32<T>(any ? state.o[d] * factor : 0.0f);
  *row_of<float>(t, t.lse, t.lse_position, t.lse_group, r) =
      any ? state.max + log_of_sum(state.sum) : 0.0f;
}

template <class T>
void prefill(const AttentionTask& t) {
  for (size_t r = t.row_begin; r < t.row_end; ++r) {
    RowState state{kNoScore, 0.0f, t.scratch};
    for (size_t d = 0; d < t.head; ++d) state.o[d] = 0.0f;
    const size_t seen = t.causal && r / t.group + 1 < t.keys ? r / t.group + 1 : t.keys;
    for (size_t k = 0; k < seen; k += kPrefillKeys)
      add_block<T>(t, r, k, k + kPrefillKeys < seen ? k + kPrefillKeys : seen, prefill_score<T>,
                   state);
    finish_row<T>(t, r, state);
  }
}

template <class T>
void decode(const AttentionTask& t) {
  const size_t stride = attention_partial_stride(t.head);
  for (size_t r = 0; r < t.group * t.positions; ++r) {
    RowState state{kNoScore, 0.0f, t.partial + r * stride};
    for (size_t d = 0; d < stride; ++d) state.o[d] = 0.0f;
    add_block<T>(t, r, t.key_begin, t.key_end, decode_score<T>, state);
    state.o[stride - 16] = state.max;
    state.o[stride - 15] = state.sum;
  }
}

template <class T>
void merge(const AttentionTask& t) {
  const size_t stride = attention_partial_stride(t.head), rows = t.group * t.positions;
  for (size_t r = 0; r < rows; ++r) {
    RowState state{kNoScore, 0.0f, t.scratch};
    const float* first = t.partial + r * stride;
    const size_t chunk = rows * stride, max = stride - 16, sum = max + 1;
    for (size_t d = 0; d < t.head; ++d) state.o[d] = 0.0f;
    for (size_t i = 0; i < t.chunks; ++i)
      if (first[i * chunk + max] > state.max) state.max = first[i * chunk + max];
    for (size_t i = 0; i < t.chunks; ++i) {
      const float weight = exp_scalar(first[i * chunk + max] - origin(state.max));
      state.sum = std::fma(weight, first[i * chunk + sum], state.sum);
      for (size_t d = 0; d < t.head; ++d)
        state.o[d] = std::fma(weight, first[i * chunk + d], state.o[d]);
    }
    finish_row<T>(t, r, state);
  }
}

}  // namespace

#define ATTENTION(name, T)                                                                        \
  void attention_prefill_##name##_##name##_ref(const AttentionTask& task) noexcept {              \
    prefill<T>(task);                                                                             \
  }                                                                                               \
  void attention_decode_f32_##name##_ref(const AttentionTask& task) noexcept { decode<T>(task); } \
  void attention_merge_##name##_f32_ref(const AttentionTask& task) noexcept { merge<T>(task); }

ATTENTION(f32, float)
ATTENTION(bf16, bf16)
ATTENTION(f16, f16)

}  // namespace tenon

// Every row of the attention table against attention in double, within the header's bound; the same
// bits as the reference rows; the same bits however rows are split into tasks; guard pages behind
// every operand; masks, causality, special values.
#include "isa/attention.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

enum class MaskKind { kNone, kF32, kStorage };

struct Shape {
  size_t group, positions, keys, head;
  bool causal = false;
  MaskKind mask = MaskKind::kNone;
  size_t gap = 0;  // elements between rows of q, k, v, out

  size_t rows() const { return group * positions; }
};

std::ostream& operator<<(std::ostream& os, const Shape& s) {
  return os << "group " << s.group << ", positions " << s.positions << ", keys " << s.keys
            << ", head " << s.head << (s.causal ? ", causal" : "") << ", mask "
            << static_cast<int>(s.mask) << ", gap " << s.gap;
}

// n rows of `head` elements, `gap` apart, the last flush with the unreadable page.
template <class T>
struct Rows {
  size_t stride, n;
  Guarded<T> memory;

  Rows(size_t rows, size_t head, size_t gap, Flush flush = Flush::kEnd)
      : stride(head + gap), n(rows), memory(rows == 0 ? 0 : rows * stride - gap, flush) {}
  T* row(size_t i) { return memory.data() + i * stride; }
  ptrdiff_t bytes() const { return static_cast<ptrdiff_t>(stride * sizeof(T)); }
  size_t size_in_bytes() const { return memory.size() * sizeof(T); }
};

template <class T>
struct Problem {
  Shape shape;
  Rows<T> q, k, v;
  Guarded<float> mask_f32;
  Guarded<T> mask;
  AttentionTask task{};

  explicit Problem(const Shape& s, Flush flush = Flush::kEnd)
      : shape(s),
        q(s.rows(), s.head, s.gap, flush),
        k(s.keys, s.head, s.gap, flush),
        v(s.keys, s.head, 2 * s.gap, flush),
        mask_f32(s.mask == MaskKind::kF32 ? s.rows() * s.keys : 0, flush),
        mask(s.mask == MaskKind::kStorage ? s.rows() * s.keys : 0, flush) {
    auto rng = make_rng(s.rows() * 1000 + s.keys);
    for (Rows<T>* x : {&q, &k, &v}) fill_uniform(x->memory.data(), x->memory.size(), rng);
    fill_mask(mask_f32, rng);
    fill_mask(mask, rng);
    task.group = s.group, task.positions = s.positions, task.keys = s.keys, task.head = s.head;
    task.scale = 1.0f / std::sqrt(static_cast<float>(s.head)), task.causal = s.causal;
    task.q = q.memory.data(), task.k = k.memory.data(), task.v = v.memory.data();
    task.q_group = q.bytes(), task.q_position = q.bytes() * static_cast<ptrdiff_t>(s.group);
    task.k_key = k.bytes(), task.v_key = v.bytes();
    set_mask();
  }

  template <class M>
  static void fill_mask(Guarded<M>& m, std::mt19937_64& rng) {
    fill_uniform(m.data(), m.size(), rng, -3, 1);
    for (size_t i = 0; i < m.size(); i += 1 + rng() % 7) m[i] = from_f32<M>(-INFINITY);
  }

  void set_mask() {
    if (shape.mask == MaskKind::kNone) return;
    const bool wide = shape.mask == MaskKind::kF32;
    const size_t row = shape.keys * (wide ? sizeof(float) : sizeof(T));
    task.mask = wide ? static_cast<const void*>(mask_f32.data()) : mask.data();
    task.mask_f32 = wide;
    task.mask_group = static_cast<ptrdiff_t>(row);
    task.mask_position = static_cast<ptrdiff_t>(row * shape.group);
  }

  double mask_at(size_t r, size_t key) const {
    if (shape.mask == MaskKind::kNone) return 0;
    const size_t i = r * shape.keys + key;
    return shape.mask == MaskKind::kF32 ? mask_f32[i] : to_f32(mask[i]);
  }
};

template <class T>
struct Result {
  Rows<T> out;
  Guarded<float> lse;

  explicit Result(const Shape& s) : out(s.rows(), s.head, s.gap), lse(s.rows()) {
    std::fill_n(reinterpret_cast<char*>(out.memory.data()), out.size_in_bytes(), '\x55');
  }
  void attach(AttentionTask& t) {
    t.out = out.memory.data(), t.lse = lse.data();
    t.out_group = out.bytes(), t.out_position = out.bytes() * static_cast<ptrdiff_t>(t.group);
    t.lse_group = sizeof(float), t.lse_position = static_cast<ptrdiff_t>(t.group * sizeof(float));
  }
  bool same_bits(const Result& other) const {
    return std::memcmp(out.memory.data(), other.out.memory.data(), out.size_in_bytes()) == 0 &&
           std::memcmp(lse.data(), other.lse.data(), lse.size() * sizeof(float)) == 0;
  }
};

// 64-byte aligned, and not a line more than the header asks for.
struct ScratchMemory {
  Guarded<float> memory;
  explicit ScratchMemory(size_t floats) : memory(round_up(floats, 16)) {
    std::fill_n(memory.data(), memory.size(), NAN);
  }
};

template <class T>
void prefill(const Kernel<Attention>& k, Problem<T>& p, size_t rows_per_task, Result<T>& result) {
  ScratchMemory scratch(attention_prefill_scratch(p.shape.head));
  AttentionTask t = p.task;
  result.attach(t);
  t.scratch = scratch.memory.data();
  for (size_t r = 0; r < p.shape.rows(); r += rows_per_task) {
    t.row_begin = r, t.row_end = std::min(r + rows_per_task, p.shape.rows());
    k.run(t);
  }
}

template <class T>
void decode(const Kernel<Attention>& chunk_kernel, const Kernel<Attention>& merge_kernel,
            Problem<T>& p, Result<T>& result) {
  ScratchMemory scratch(attention_decode_scratch(p.shape.head));
  AttentionTask t = p.task;
  result.attach(t);
  t.scratch = scratch.memory.data();
  t.chunks = (p.shape.keys + kDecodeKeys - 1) / kDecodeKeys;
  const size_t each = attention_partial(p.shape.rows(), p.shape.head);
  Guarded<float> partial(t.chunks * each);
  for (size_t i = t.chunks; i-- > 0;) {  // in any order
    t.key_begin = i * kDecodeKeys, t.key_end = std::min(t.key_begin + kDecodeKeys, t.keys);
    t.partial = partial.data() + i * each;
    chunk_kernel.run(t);
  }
  t.partial = partial.data();
  merge_kernel.run(t);
}

// One row in double: out, lse, and the error each element may have.
struct Expected {
  std::vector<double> out, error;
  double lse = 0, lse_error = 0;
};

template <class T>
Expected expected(const Problem<T>& p, size_t r) {
  const Shape& s = p.shape;
  auto at = [](const Rows<T>& x, size_t i, size_t d) -> double {
    return to_f32(x.memory[i * x.stride + d]);
  };
  std::vector<double> score(s.keys, -INFINITY);
  double max = -INFINITY, largest = 0, sum = 0;
  for (size_t k = 0; k < s.keys; ++k) {
    if ((s.causal && k > r / s.group) || std::isinf(p.mask_at(r, k))) continue;
    double dot = 0, size = 0;
    for (size_t d = 0; d < s.head; ++d) {
      const double x = at(p.q, r, d) * p.task.scale * at(p.k, k, d);
      dot += x, size += std::fabs(x);
    }
    score[k] = dot + p.mask_at(r, k);
    largest = std::max(largest, size + std::fabs(p.mask_at(r, k)));
    max = std::max(max, score[k]);
  }
  Expected e{std::vector<double>(s.head), std::vector<double>(s.head)};
  if (max == -INFINITY) return e;
  for (double& x : score) sum += x = std::exp(x - max);
  const double unit = attention_error(s.head, s.keys, largest) * 0x1p-24;
  for (size_t d = 0; d < s.head; ++d)
    for (size_t k = 0; k < s.keys; ++k) {
      e.out[d] += score[k] / sum * at(p.v, k, d);
      e.error[d] += score[k] / sum * std::fabs(at(p.v, k, d)) * unit;
    }
  e.lse = max + std::log(sum);
  e.lse_error = unit + std::fabs(e.lse) * 0x1p-23;
  return e;
}

template <class T>
void expect_close(Problem<T>& p, Result<T>& got) {
  for (size_t r = 0; r < p.shape.rows(); ++r) {
    const Expected e = expected(p, r);
    ASSERT_NEAR(got.lse[r], e.lse, e.lse_error) << "row " << r << ", " << p.shape;
    for (size_t d = 0; d < p.shape.head; ++d) {
      const double rounding = std::is_same_v<T, float> ? 0 : 0.5 * ulp_at<T>(e.out[d]) * 1.01;
      ASSERT_NEAR(to_f32(got.out.row(r)[d]), e.out[d], e.error[d] + rounding)
          << "row " << r << ", element " << d << ", " << p.shape;
    }
  }
}

const Kernel<Attention>& reference(std::string_view op) { return *pick(kAttention, op, Cpu{}); }

template <class T>
std::string type_name() {
  return std::is_same_v<T, float> ? "f32" : std::is_same_v<T, bf16> ? "bf16" : "f16";
}

bool is_prefill(const Kernel<Attention>& k) {
  return std::string_view(k.op).find("prefill") != std::string_view::npos;
}
bool is_merge(const Kernel<Attention>& k) {
  return std::string_view(k.op).find("merge") != std::string_view::npos;
}

// The whole operation with row `k` in its place, and reference rows in the others.
template <class T>
void run(const Kernel<Attention>& k, Problem<T>& p, Result<T>& result,
         size_t rows_per_task = kPrefillRows) {
  const std::string type = type_name<T>();
  const auto& chunk = reference("attention_decode_f32_" + type);
  const auto& merge = reference("attention_merge_" + type + "_f32");
  if (is_prefill(k)) return prefill(k, p, rows_per_task, result);
  if (is_merge(k)) return decode(chunk, k, p, result);
  decode(k, merge, p, result);
}

template <class T>
void check(const Kernel<Attention>& k, const Shape& s, Flush flush) {
  Problem<T> p(s, flush);
  Result<T> got(s), reference_result(s);
  run(k, p, got);
  expect_close(p, got);
  run(reference(k.op), p, reference_result);
  ASSERT_TRUE(got.same_bits(reference_result)) << "not the reference's bits: " << s;
  if (!is_prefill(k)) return;
  Result<T> split(s);
  run(k, p, split, 7);
  ASSERT_TRUE(got.same_bits(split)) << "bits depend on the split into tasks: " << s;
}

// f(T{}) for the storage type of a row.
template <class F>
void with_type(const Kernel<Attention>& k, F f) {
  const std::string_view op = k.op;
  if (op.find("bf16") != op.npos) return f(bf16{});
  if (op.find("_f16") != op.npos) return f(f16{});
  f(float{});
}

std::vector<Shape> shapes() {
  constexpr auto kNone = MaskKind::kNone, kF32 = MaskKind::kF32, kStorage = MaskKind::kStorage;
  std::vector<Shape> all = {
      {1, 1, 0, 64},
      {3, 2, 0, 8, true},
      {1, 1, 1, 1},
      {1, 1, 1, 64},
      {1, 1, 257, 64},
      {1, 1, 600, 128},
      {3, 1, 300, 64},
      {4, 1, 70, 128},
      {8, 1, 40, 64},
      {5, 2, 140, 24, true},
      {2, 3, 33, 80, true, kF32, 3},
      {1, 40, 40, 32, false, kStorage},
      {1, 128, 128, 32, false, kF32},
      {1, 130, 130, 64, true},
      {3, 35, 260, 16, true, kNone, 5},
      {2, 50, 20, 72, true, kStorage},
      {1, 7, 129, 256, false, kF32},
      {1, 13, 15, 33, true, kStorage, 1},
  };
  for (size_t head = 1; head < 36; ++head) all.push_back({2, 3, head, head, false, kStorage});
  for (size_t keys = 1; keys < 50; ++keys)
    all.push_back({1, keys % 14, keys, 8, keys % 2 == 0, kF32, 1});
  return all;
}

class AttentionTest : public ::testing::TestWithParam<Kernel<Attention>> {};

TEST_P(AttentionTest, MatchesDoubleAndReference) {
  const auto& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  size_t turn = 0;
  for (const Shape& s : shapes()) {
    const Flush flush = turn++ % 3 == 2 ? Flush::kBegin : Flush::kEnd;
    with_type(k, [&](auto t) { check<decltype(t)>(k, s, flush); });
  }
}

// A row gives the same bits alone and among others; position 0 of a causal problem sees one key.
TEST_P(AttentionTest, RowsDoNotInfluenceEachOther) {
  const auto& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  with_type(k, [&](auto t) {
    using T = decltype(t);
    const Shape s{1, 11, 70, 40}, one{1, 1, 70, 40};
    Problem<T> p(s), alone(one);
    Result<T> all(s);
    run(k, p, all);
    for (size_t r = 0; r < s.rows(); ++r) {
      alone.task.q = p.q.row(r), alone.task.k = p.task.k, alone.task.v = p.task.v;
      Result<T> result(one);
      run(k, alone, result);
      ASSERT_EQ(std::memcmp(result.out.row(0), all.out.row(r), s.head * sizeof(T)), 0) << r;
      ASSERT_EQ(bits_of(result.lse[0]), bits_of(all.lse[r])) << r;
    }
  });
}

template <class T>
bool zeros(Result<T>& x, size_t r, size_t head) {
  return std::all_of(x.out.row(r), x.out.row(r) + head, [](T e) { return to_f32(e) == 0; }) &&
         x.lse[r] == 0;
}

template <class T>
bool nans(Result<T>& x, size_t r, size_t head) {
  return std::all_of(x.out.row(r), x.out.row(r) + head, [](T e) { return std::isnan(to_f32(e)); });
}

TEST_P(AttentionTest, SpecialValues) {
  const auto& k = GetParam();
  TENON_SKIP_UNLESS_RUNNABLE(k);
  with_type(k, [&](auto t) {
    using T = decltype(t);
    const Shape s{1, 4, 300, 64, false, MaskKind::kF32};
    Problem<T> p(s);
    std::fill_n(p.mask_f32.data(), p.mask_f32.size(), 0.0f);
    std::fill_n(p.mask_f32.data(), 300, -INFINITY);        // row 0: all masked
    std::fill_n(p.mask_f32.data() + 300, 299, -INFINITY);  // row 1: the last key only
    std::fill_n(p.mask_f32.data() + 600, 300, std::numeric_limits<float>::lowest());  // row 2: even
    p.q.row(3)[5] = from_f32<T>(NAN);  // row 3: NaN in q
    Result<T> got(s);
    run(k, p, got);
    EXPECT_TRUE(zeros(got, 0, s.head));
    EXPECT_TRUE(nans(got, 3, s.head));
    double mean = 0;
    for (size_t i = 0; i < 300; ++i) mean += to_f32(p.v.row(i)[9]) / 300.0;
    EXPECT_NEAR(to_f32(got.out.row(2)[9]), mean, 300 * 0x1p-23 + kEpsilon<T>);
    for (size_t d = 0; d < s.head; ++d)
      EXPECT_EQ(to_f32(got.out.row(1)[d]), to_f32(p.v.row(299)[d]));

    p.k.row(270)[0] = from_f32<T>(NAN);
    p.mask_f32[2 * 300 + 100] = INFINITY;
    p.q.row(3)[5] = from_f32<T>(1);
    run(k, p, got);
    for (size_t r = 0; r < 4; ++r) EXPECT_TRUE(nans(got, r, s.head)) << r;
  });
}

TENON_TEST_ROWS(AttentionTest, kAttention);

}  // namespace
}  // namespace tenon::test

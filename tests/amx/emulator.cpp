// The tile state and the instructions, after the pseudocode of the Intel SDM. Compiled with AVX2,
// so nothing here runs before the caller knows of it.
#include "tests/amx/emulator.h"

#include <immintrin.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace tenon::amx {
namespace {

constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

struct alignas(64) Tile {
  uint8_t row[kRows][kRowBytes];
};

struct State {
  uint8_t palette = 0, start_row = 0;
  uint16_t row_bytes[kTiles] = {};
  uint8_t rows[kTiles] = {};
  Tile tile[kTiles] = {};
};

// A signal handler may not allocate, as the first access to other models of TLS does.
__attribute__((tls_model("initial-exec"))) thread_local State g_state;

Outcome undefined(const char* why) { return {Fault::kUndefined, why}; }
Outcome protection(const char* why) { return {Fault::kProtection, why}; }

// The 64 bytes that ldtilecfg reads.
struct Config {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[kTiles];
  uint8_t reserved_row_bytes[16];
  uint8_t rows[kTiles];
  uint8_t reserved_rows[8];
};
static_assert(sizeof(Config) == 64);

template <size_t N>
bool all_zero(const uint8_t (&bytes)[N]) {
  for (uint8_t b : bytes)
    if (b != 0) return false;
  return true;
}

Outcome usable(int t) {
  if (t >= kTiles) return undefined("tile number above 7");
  if (g_state.palette == 0) return undefined("tiles not configured");
  if (g_state.rows[t] == 0) return undefined("tile configured with 0 rows");
  return {};
}

Outcome usable_memory(int t) {
  const Outcome o = usable(t);
  if (!o.ok()) return o;
  return g_state.start_row < g_state.rows[t] ? Outcome{} : undefined("start_row beyond the tile");
}

Outcome check_dot(int sum, int left, int right) {
  if (sum == left || sum == right || left == right) return undefined("dot: tiles not distinct");
  for (int t : {sum, left, right}) {
    const Outcome o = usable(t);
    if (!o.ok()) return o;
  }
  const State& s = g_state;
  if ((s.row_bytes[sum] | s.row_bytes[left] | s.row_bytes[right]) & 3)
    return undefined("dot: row bytes not a multiple of 4");
  if (s.rows[sum] != s.rows[left]) return undefined("dot: rows of sum and left differ");
  if (s.row_bytes[left] / 4 != s.rows[right])
    return undefined("dot: depth of left and right differ");
  if (s.row_bytes[sum] != s.row_bytes[right])
    return undefined("dot: columns of sum and right differ");
  return {};
}

// The size of one dot: rows, dwords along k, columns.
struct Shape {
  int m, k, n;
};

// Bytes 0 and 2 of each dword as 16-bit numbers, or bytes 1 and 3.
template <bool odd>
__m256i widen_bytes(__m256i dwords, bool is_signed) {
  const __m256i upper = odd ? dwords : _mm256_slli_epi16(dwords, 8);
  return is_signed ? _mm256_srai_epi16(upper, 8) : _mm256_srli_epi16(upper, 8);
}

// Sums wrap: a dot of four products fits in 32 bits, and no instruction here saturates.
__m256i dot4(__m256i a, __m256i b, bool a_signed, bool b_signed) {
  return _mm256_add_epi32(
      _mm256_madd_epi16(widen_bytes<false>(a, a_signed), widen_bytes<false>(b, b_signed)),
      _mm256_madd_epi16(widen_bytes<true>(a, a_signed), widen_bytes<true>(b, b_signed)));
}

void dot_int(const Shape& s, bool a_signed, bool b_signed, Tile& c, const Tile& a, const Tile& b) {
  for (int m = 0; m < s.m; ++m) {
    __m256i sum[2];
    std::memcpy(sum, c.row[m], kRowBytes);
    for (int k = 0; k < s.k; ++k) {
      int32_t four;
      std::memcpy(&four, &a.row[m][4 * k], 4);
      __m256i right[2];
      std::memcpy(right, b.row[k], kRowBytes);
      for (int i = 0; i < 2; ++i)
        sum[i] =
            _mm256_add_epi32(sum[i], dot4(_mm256_set1_epi32(four), right[i], a_signed, b_signed));
    }
    std::memset(c.row[m], 0, kRowBytes);
    std::memcpy(c.row[m], sum, 4 * static_cast<size_t>(s.n));
  }
}

struct Lanes {  // 16 f32
  __m256 low, high;
};

Lanes operator+(Lanes x, Lanes y) {
  return {_mm256_add_ps(x.low, y.low), _mm256_add_ps(x.high, y.high)};
}

Lanes load_lanes(const void* p) {
  const float* f = static_cast<const float*>(p);
  return {_mm256_loadu_ps(f), _mm256_loadu_ps(f + 8)};
}

// sum + x * (the even, or odd, bf16 of each dword of `row`).
template <bool odd>
Lanes multiply_add(uint32_t x_bits, const uint8_t* row, Lanes sum) {
  const __m256 x = _mm256_castsi256_ps(_mm256_set1_epi32(static_cast<int>(x_bits)));
  const auto* p = reinterpret_cast<const __m256i*>(row);
  const auto widen = [](__m256i v) {
    const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xffff0000u));
    return _mm256_castsi256_ps(odd ? _mm256_and_si256(v, upper) : _mm256_slli_epi32(v, 16));
  };
  return {_mm256_fmadd_ps(x, widen(_mm256_loadu_si256(p)), sum.low),
          _mm256_fmadd_ps(x, widen(_mm256_loadu_si256(p + 1)), sum.high)};
}

// Two chains of fused multiply-adds from 0 (even and odd elements), their sum, then + C.
void dot_bf16(const Shape& s, Tile& c, const Tile& a, const Tile& b) {
  const unsigned caller = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x8040);  // to nearest, no exceptions, denormals are zeros both ways
  for (int m = 0; m < s.m; ++m) {
    Lanes even = {_mm256_setzero_ps(), _mm256_setzero_ps()}, odd = even;
    for (int k = 0; k < s.k; ++k) {
      uint32_t pair;
      std::memcpy(&pair, &a.row[m][4 * k], 4);
      even = multiply_add<false>(pair << 16, b.row[k], even);
      odd = multiply_add<true>(pair & 0xffff0000u, b.row[k], odd);
    }
    const Lanes sum = load_lanes(c.row[m]) + (even + odd);
    uint8_t row[kRowBytes];
    _mm256_storeu_ps(reinterpret_cast<float*>(row), sum.low);
    _mm256_storeu_ps(reinterpret_cast<float*>(row) + 8, sum.high);
    std::memset(c.row[m], 0, kRowBytes);
    std::memcpy(c.row[m], row, 4 * static_cast<size_t>(s.n));
  }
  _mm_setcsr(caller);
}

}  // namespace

Outcome release() {
  g_state = State();
  return {};
}

Outcome load_config(const void* config) {
  Config c;
  std::memcpy(&c, config, sizeof c);
  if (c.palette == 0) return release();
  if (c.palette > 1) return protection("ldtilecfg: palette above 1");
  if (!all_zero(c.reserved) || !all_zero(c.reserved_row_bytes) || !all_zero(c.reserved_rows))
    return protection("ldtilecfg: a reserved byte is set");
  for (int t = 0; t < kTiles; ++t) {
    if (c.row_bytes[t] > kRowBytes) return protection("ldtilecfg: more than 64 bytes a row");
    if (c.rows[t] > kRows) return protection("ldtilecfg: more than 16 rows");
    if ((c.row_bytes[t] == 0) != (c.rows[t] == 0))
      return protection("ldtilecfg: one of rows and row bytes is 0");
  }
  g_state = State();
  g_state.palette = 1;
  g_state.start_row = c.start_row;
  std::memcpy(g_state.row_bytes, c.row_bytes, sizeof c.row_bytes);
  std::memcpy(g_state.rows, c.rows, sizeof c.rows);
  return {};
}

Outcome store_config(void* config) {
  Config c = {};
  if (g_state.palette != 0) {
    c.palette = g_state.palette;
    c.start_row = g_state.start_row;
    std::memcpy(c.row_bytes, g_state.row_bytes, sizeof c.row_bytes);
    std::memcpy(c.rows, g_state.rows, sizeof c.rows);
  }
  std::memcpy(config, &c, sizeof c);
  return {};
}

Outcome zero(int t) {
  const Outcome o = usable(t);
  if (!o.ok()) return o;
  g_state.tile[t] = {};
  g_state.start_row = 0;
  return {};
}

Outcome load(int t, const void* p, long stride) {
  const Outcome o = usable_memory(t);
  if (!o.ok()) return o;
  State& s = g_state;
  if (s.start_row == 0) s.tile[t] = {};
  for (int r = s.start_row; r < s.rows[t]; ++r)
    std::memcpy(s.tile[t].row[r], static_cast<const char*>(p) + r * stride, s.row_bytes[t]);
  s.start_row = 0;
  return {};
}

Outcome store(int t, void* p, long stride) {
  const Outcome o = usable_memory(t);
  if (!o.ok()) return o;
  State& s = g_state;
  for (int r = s.start_row; r < s.rows[t]; ++r)
    std::memcpy(static_cast<char*>(p) + r * stride, s.tile[t].row[r], s.row_bytes[t]);
  s.start_row = 0;
  return {};
}

Outcome dot(Dot op, int sum, int left, int right) {
  const Outcome o = check_dot(sum, left, right);
  if (!o.ok()) return o;
  State& s = g_state;
  const Shape shape{s.rows[sum], s.rows[right], s.row_bytes[sum] / 4};
  Tile &c = s.tile[sum], &a = s.tile[left], &b = s.tile[right];
  if (op == Dot::kBf16) {
    dot_bf16(shape, c, a, b);
  } else {
    dot_int(shape, op == Dot::kSignedSigned || op == Dot::kSignedUnsigned,
            op == Dot::kSignedSigned || op == Dot::kUnsignedSigned, c, a, b);
  }
  for (int m = shape.m; m < kRows; ++m) std::memset(c.row[m], 0, kRowBytes);
  s.start_row = 0;
  return {};
}

void must(Outcome outcome) {
  if (outcome.ok()) return;
  std::fprintf(stderr, "amx: #%s: %s\n", outcome.fault == Fault::kUndefined ? "UD" : "GP",
               outcome.why);
  std::abort();
}

}  // namespace tenon::amx

// Every AMX instruction against a scalar reference. Compiled twice: with the real instructions, for
// silicon or the signal handler (suite AmxInstructions), and over shim.h (suite AmxShim). On
// silicon this checks the reference, and with it the emulator.
#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "dispatch/env.h"
#include "tests/amx/tiles.h"
#include "tests/support/values.h"

#if defined(__has_feature)
#define TENON_HAS_FEATURE(name) __has_feature(name)
#else
#define TENON_HAS_FEATURE(name) 0
#endif

namespace tenon::test {
namespace {

class TENON_AMX_SUITE : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!detect_cpu().has(TENON_AMX_NEED)) GTEST_SKIP() << "neither AMX nor AVX2 to emulate it";
  }
  std::mt19937_64 rng = make_rng();
};

// Rows of the left tile, dwords along k, columns of the right one.
struct Shape {
  int m, k, n;
};
constexpr Shape kShapes[] = {{16, 16, 16}, {1, 1, 1},   {3, 5, 7},  {16, 1, 16},
                             {1, 16, 16},  {16, 16, 1}, {9, 16, 13}};

// C (tile 0) += A (tile 1) times B (tile 2), by `dot`.
template <class F>
void run_dot(const Shape& s, const void* a, const void* b, void* c, F dot) {
  TileConfig config = {};
  config.palette = 1;
  set_tile(config, 0, s.m, s.n * 4);
  set_tile(config, 1, s.m, s.k * 4);
  set_tile(config, 2, s.k, s.n * 4);
  load_tile_config(config);
  _tile_loadd(0, c, s.n * 4);
  _tile_loadd(1, a, s.k * 4);
  _tile_stream_loadd(2, b, s.n * 4);
  dot();
  _tile_stored(0, c, s.n * 4);
  _tile_release();
  order_memory();
}

template <class A, class B>
uint32_t dot4(const uint8_t* a, const uint8_t* b) {
  uint32_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += static_cast<uint32_t>(int32_t{static_cast<A>(a[i])} * int32_t{static_cast<B>(b[i])});
  return sum;
}

template <class A, class B, class F>
void expect_int(std::mt19937_64& rng, F dot) {
  for (const Shape& s : kShapes) {
    std::vector<uint8_t> a(static_cast<size_t>(s.m * s.k) * 4),
        b(static_cast<size_t>(s.k * s.n) * 4);
    std::vector<uint32_t> c(static_cast<size_t>(s.m * s.n));
    for (auto& x : a) x = static_cast<uint8_t>(rng());
    for (auto& x : b) x = static_cast<uint8_t>(rng());
    for (auto& x : c) x = static_cast<uint32_t>(rng());
    std::vector<uint32_t> want = c;
    for (int m = 0; m < s.m; ++m)
      for (int n = 0; n < s.n; ++n)
        for (int k = 0; k < s.k; ++k)
          want[m * s.n + n] += dot4<A, B>(&a[(m * s.k + k) * 4], &b[(k * s.n + n) * 4]);
    run_dot(s, a.data(), b.data(), c.data(), dot);
    EXPECT_EQ(c, want) << s.m << "x" << s.k << "x" << s.n;
  }
}

TEST_F(TENON_AMX_SUITE, MultipliesBytes) {
  expect_int<int8_t, int8_t>(rng, [] { _tile_dpbssd(0, 1, 2); });
  expect_int<int8_t, uint8_t>(rng, [] { _tile_dpbsud(0, 1, 2); });
  expect_int<uint8_t, int8_t>(rng, [] { _tile_dpbusd(0, 1, 2); });
  expect_int<uint8_t, uint8_t>(rng, [] { _tile_dpbuud(0, 1, 2); });
}

// The SDM's order: two chains of fused multiply-adds, even and odd, their sum, then + C.
float dot_bf16(const Shape& s, const bf16* a, const bf16* b, int m, int n, float c) {
  float even = 0, odd = 0;
  for (int k = 0; k < s.k; ++k) {
    even = std::fma(to_f32(a[(m * s.k + k) * 2]), to_f32(b[(k * s.n + n) * 2]), even);
    odd = std::fma(to_f32(a[(m * s.k + k) * 2 + 1]), to_f32(b[(k * s.n + n) * 2 + 1]), odd);
  }
  return c + (even + odd);
}

TEST_F(TENON_AMX_SUITE, MultipliesBf16) {
  for (const Shape& s : kShapes) {
    std::vector<bf16> a(static_cast<size_t>(s.m * s.k) * 2), b(static_cast<size_t>(s.k * s.n) * 2);
    std::vector<float> c(static_cast<size_t>(s.m * s.n)), want;
    fill_uniform(a.data(), a.size(), rng);
    fill_uniform(b.data(), b.size(), rng);
    fill_uniform(c.data(), c.size(), rng);
    for (int m = 0; m < s.m; ++m)
      for (int n = 0; n < s.n; ++n)
        want.push_back(dot_bf16(s, a.data(), b.data(), m, n, c[m * s.n + n]));
    run_dot(s, a.data(), b.data(), c.data(), [] { _tile_dpbf16ps(0, 1, 2); });
    EXPECT_EQ(std::memcmp(c.data(), want.data(), c.size() * sizeof c[0]), 0)
        << s.m << "x" << s.k << "x" << s.n;
  }
}

float product(uint16_t a, uint16_t b, float c) {
  const uint16_t left[2] = {a, 0}, right[2] = {b, 0};
  run_dot({1, 1, 1}, left, right, &c, [] { _tile_dpbf16ps(0, 1, 2); });
  return c;
}

TEST_F(TENON_AMX_SUITE, FlushesDenormalsAndKeepsNaN) {
  EXPECT_EQ(product(0x0001, 0x7f00, 0), 0) << "a denormal operand is zero";
  EXPECT_EQ(product(0x0080, 0x3f00, 0), 0) << "a denormal result is zero";
  EXPECT_TRUE(std::isnan(product(0x7f80, 0, 1))) << "infinity times zero";
  EXPECT_EQ(product(0x3f80, 0x3f80, 0x1p24f), 0x1p24f) << "to nearest even";
}

TEST_F(TENON_AMX_SUITE, ConfigurationComesBack) {
  TileConfig config = {}, stored, cleared = {};
  config.palette = 1;
  for (int i = 0; i < 8; ++i) set_tile(config, i, 1 + 2 * i, 4 * (2 * i + 1));
  load_tile_config(config);
  std::memset(&stored, 0xff, sizeof stored);
  _tile_storeconfig(&stored);
  order_memory();
  EXPECT_EQ(std::memcmp(&config, &stored, sizeof config), 0);
  _tile_release();
  _tile_storeconfig(&stored);
  order_memory();
  EXPECT_EQ(std::memcmp(&cleared, &stored, sizeof config), 0);
}

// Tile 7: 15 rows of 60 bytes, 100 bytes apart.
TEST_F(TENON_AMX_SUITE, MovesPartsOfTiles) {
  constexpr int kRows = 15, kBytes = 60, kStride = 100;
  TileConfig config = {};
  config.palette = 1;
  set_tile(config, 7, kRows, kBytes);
  load_tile_config(config);
  std::vector<uint8_t> in(16 * kStride), out(16 * kStride, 0xee), want = out;
  for (auto& x : in) x = static_cast<uint8_t>(rng());
  for (int r = 0; r < kRows; ++r) std::memcpy(&want[r * kStride], &in[r * kStride], kBytes);
  _tile_loadd(7, in.data(), kStride);
  _tile_stored(7, out.data(), kStride);
  order_memory();
  EXPECT_EQ(out, want);
  for (int r = 0; r < kRows; ++r)
    std::memcpy(&want[r * kStride], &in[(kRows - 1 - r) * kStride], kBytes);
  _tile_loadd(7, &in[(kRows - 1) * kStride], -kStride);
  _tile_stored(7, out.data(), kStride);
  order_memory();
  EXPECT_EQ(out, want) << "negative stride";
  _tile_zero(7);
  _tile_stored(7, out.data(), kStride);
  _tile_release();
  order_memory();
  for (int r = 0; r < kRows; ++r) std::memset(&want[r * kStride], 0, kBytes);
  EXPECT_EQ(out, want) << "tilezero";
}

// What the shim is for in a sanitized build; hardware and the signal handler would not notice.
TEST_F(TENON_AMX_SUITE, SanitizerSeesTileLoads) {
#if defined(__SANITIZE_ADDRESS__) || TENON_HAS_FEATURE(address_sanitizer)
  if (!TENON_AMX_IS_SHIM) GTEST_SKIP() << "tile loads are instructions here";
  TileConfig config = {};
  config.palette = 1;
  set_tile(config, 0, 16, 64);
  load_tile_config(config);
  const std::vector<uint8_t> heap(1000);
  EXPECT_DEATH(_tile_loadd(0, heap.data(), 64), "heap-buffer-overflow");
  _tile_release();
#else
  GTEST_SKIP() << "not built with AddressSanitizer";
#endif
}

}  // namespace
}  // namespace tenon::test

// Loops of one instruction each, with enough independent accumulators to hide its latency, and a
// loop that reads memory. Instructions beyond the baseline stand in functions with a target
// attribute, so that this file needs no flags. Of other architectures only the memory is measured.
#include "bench/peaks.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "isa/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::bench {
namespace {

// As if what `sums` points to were read, so that no loop is dead.
void keep(const void* sums) { __asm__ volatile("" ::"r"(sums) : "memory"); }

#if defined(__x86_64__)

// Latency 4, two a cycle: 8 would do; 12 where latency is 5 or 6.
constexpr size_t kChains = 12;

// One step of every chain, in registers whatever the compiler makes of the code around it:
// STEP(chain) is the assembly for accumulator `chain`, s[chain], with %12 and %13 for x and y.
#define TENON_STEP_CHAINS(STEP, s, x, y)                                                           \
  __asm__ volatile(STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7) STEP(8) STEP(9) \
                       STEP(10) STEP(11)                                                           \
                   : "+v"(s[0]), "+v"(s[1]), "+v"(s[2]), "+v"(s[3]), "+v"(s[4]), "+v"(s[5]),       \
                     "+v"(s[6]), "+v"(s[7]), "+v"(s[8]), "+v"(s[9]), "+v"(s[10]), "+v"(s[11])      \
                   : "v"(x), "v"(y))
#define TENON_MULTIPLY_ADD(chain) "mulps %12, %" #chain "\n\taddps %13, %" #chain "\n\t"
#define TENON_FMA(chain) "vfmadd213ps %13, %12, %" #chain "\n\t"
#define TENON_INT8_DOT(chain) "vpdpbusd %13, %12, %" #chain "\n\t"
#define TENON_BF16_DOT(chain) "vdpbf16ps %13, %12, %" #chain "\n\t"

void fma_baseline(size_t n) {
  __m128 s[kChains] = {};
  const __m128 x = _mm_set1_ps(0.5f), y = _mm_set1_ps(1.0f);
  for (size_t i = 0; i < n; ++i) TENON_STEP_CHAINS(TENON_MULTIPLY_ADD, s, x, y);
}

__attribute__((target("avx2,fma"))) void fma_avx2(size_t n) {
  __m256 s[kChains] = {};
  const __m256 x = _mm256_set1_ps(0.5f), y = _mm256_set1_ps(1.0f);
  for (size_t i = 0; i < n; ++i) TENON_STEP_CHAINS(TENON_FMA, s, x, y);
}

__attribute__((target("avx512f"))) void fma_avx512(size_t n) {
  __m512 s[kChains] = {};
  const __m512 x = _mm512_set1_ps(0.5f), y = _mm512_set1_ps(1.0f);
  for (size_t i = 0; i < n; ++i) TENON_STEP_CHAINS(TENON_FMA, s, x, y);
}

__attribute__((target("avx512f,avx512vnni"))) void int8_dot_avx512(size_t n) {
  __m512i s[kChains] = {};
  const __m512i x = _mm512_set1_epi32(0x01010101);
  for (size_t i = 0; i < n; ++i) TENON_STEP_CHAINS(TENON_INT8_DOT, s, x, x);
}

__attribute__((target("avx512f,avx512bf16"))) void bf16_dot_avx512(size_t n) {
  __m512 s[kChains] = {};
  const __m512i ones = _mm512_set1_epi32(0x3f803f80);
  for (size_t i = 0; i < n; ++i) TENON_STEP_CHAINS(TENON_BF16_DOT, s, ones, ones);
}

// The hardware's tile configuration: all tiles 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

#define TENON_TILES __attribute__((target("amx-tile,amx-bf16,amx-int8")))

TENON_TILES void configure_tiles() {
  const TileConfig config;
  __asm__ volatile("" ::"m"(config) : "memory");  // GCC 12 says too little about the next line
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
  _tile_zero(6);
  _tile_zero(7);
}

// Four products in flight: 16 cycles each, 52 until the next may add to the same tile.
TENON_TILES void bf16_amx(size_t n) {
  configure_tiles();
  for (size_t i = 0; i < n; ++i) {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_release();
}

TENON_TILES void int8_amx(size_t n) {
  configure_tiles();
  for (size_t i = 0; i < n; ++i) {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  _tile_release();
}

__attribute__((target("avx2"))) void read_avx2(const char* p, size_t bytes) {
  __m256i sum[4] = {};
  for (size_t i = 0; i < bytes; i += sizeof sum)
    for (size_t j = 0; j < 4; ++j)
      sum[j] =
          _mm256_or_si256(sum[j], _mm256_load_si256(reinterpret_cast<const __m256i*>(p + i) + j));
  keep(sum);
}

#endif

void read_baseline(const char* p, size_t bytes) {
  uint64_t sum[8] = {};
  for (size_t i = 0; i < bytes; i += sizeof sum) {
    uint64_t line[8];
    std::memcpy(line, p + i, sizeof line);
    for (size_t j = 0; j < 8; ++j) sum[j] |= line[j];
  }
  keep(sum);
}

struct Probe {
  const char* name;
  uint64_t need;
  double operations;  // of one iteration
  void (*run)(size_t iterations);
};

// Best first for each name.
std::vector<Probe> probes() {
  return {
#if defined(__x86_64__)
      {"fma_f32", kAvx512, kChains * 16 * 2, fma_avx512},
      {"fma_f32", kAvx2, kChains * 8 * 2, fma_avx2},
      {"fma_f32", kNone, kChains * 4 * 2, fma_baseline},
      {"bf16_dot", kAvx512 | kAvx512Bf16, kChains * 32 * 2, bf16_dot_avx512},
      {"int8_dot", kAvx512 | kAvx512Vnni, kChains * 64 * 2, int8_dot_avx512},
      {"amx_bf16", kAmxBf16, 4 * 16 * 16 * 32 * 2, bf16_amx},
      {"amx_int8", kAmxInt8, 4 * 16 * 16 * 64 * 2, int8_amx},
#endif
  };
}

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds from a common start until the last of `threads` threads has done work(thread).
template <class F>
double time_together(int threads, F work) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      ++ready;
      while (!go) std::this_thread::yield();
      work(t);
    });
  while (ready < threads) std::this_thread::yield();
  const Clock::time_point start = Clock::now();
  go = true;
  for (std::thread& t : pool) t.join();
  return seconds_since(start);
}

constexpr int kRepeats = 5;
constexpr double kRunSeconds = 0.02;

double measure(const Probe& probe, int threads) {
  size_t n = 1000;
  for (double t = 0; t < kRunSeconds / 2; n *= 2) {
    const Clock::time_point start = Clock::now();
    probe.run(n);
    t = seconds_since(start);
  }
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    const double t = time_together(threads, [&](int) { probe.run(n); });
    best = std::max(best, probe.operations * static_cast<double>(n) * threads / t);
  }
  return best;
}

// Twice the last cache, at least 256 MB, at most a quarter of memory or 2 GB.
size_t bytes_out_of_cache() {
  const auto value = [](int name) { return static_cast<size_t>(std::max(0L, sysconf(name))); };
  const size_t memory = value(_SC_PHYS_PAGES) * value(_SC_PAGESIZE);
  const size_t wanted = std::max(size_t{256} << 20, 2 * value(_SC_LEVEL3_CACHE_SIZE));
  return std::min({wanted, memory / 4, size_t{2} << 30}) >> 21 << 21;
}

double measure_read(int threads, bool huge_pages, [[maybe_unused]] const Cpu& cpu) {
  const size_t bytes = bytes_out_of_cache();
  void* map = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 0;
  madvise(map, bytes, huge_pages ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  std::memset(map, 1, bytes);  // untouched pages would all be the same page of zeros
  auto* read = &read_baseline;
#if defined(__x86_64__)
  if (cpu.has(kAvx2)) read = &read_avx2;
#endif
  const size_t share = bytes / static_cast<size_t>(threads) / 4096 * 4096;
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    const double t = time_together(threads, [&](int i) {
      read(static_cast<const char*>(map) + static_cast<size_t>(i) * share, share);
    });
    best = std::max(best, static_cast<double>(share) * threads / t);
  }
  munmap(map, bytes);
  return best;
}

}  // namespace

std::vector<Peak> measure_peaks(int threads) {
  const Cpu cpu = detect_cpu();
  std::vector<Peak> peaks = {{"read_gbs", measure_read(threads, false, cpu)},
                             {"read_huge_gbs", measure_read(threads, true, cpu)}};
  for (const Probe& probe : probes())
    if (cpu.has(probe.need) && peaks.back().name != probe.name)
      peaks.push_back({probe.name, measure(probe, threads)});
  return peaks;
}

}  // namespace tenon::bench

// Which engine runs a matrix product. Boundaries are measured break-evens against the stock kernel.
#include "dispatch/gemm.h"

namespace tenon {
namespace {

// f32, Zen 3, torch 2.13 (MKL), one thread, November 2026; ratio of stock's time to ours:
//   larger operand along k:  1x4096x4096 1.06-1.19, 2x 2.2, 3x 3.0, 8x 1.7, 16x 1.6, 32x 1.5;
//                            8x64x64 1.27, 12x64x64 1.03, 16x64x64 0.97, 32x64x64 0.95;
//                            8x64x4 0.94, 32x64x4 0.60; 32x576x576 1.12
//   along its rows:          1x4096x4096 1.2, 2x 2.0, 4x 2.1; 4x576x576 1.4; 8x576x576 0.46
//   tiny, in any layout:     2x2x2 1.2, 4x16x8 1.2, 64x4x2 1.3, 1x16x16 1.14; addmm 2x2x2 1.85
bool f32_wins(const GemmShape& s) {
  const int64_t few = s.m < s.n ? s.m : s.n, many = s.m < s.n ? s.n : s.m;
  if (gemm_tiny(s)) return true;
  if (s.packed) return few <= 6 && s.k >= 64 && many >= 16;
  if (few <= 4) return !gemm_too_short(s);
  if (few <= 8) return s.k >= 16;
  return few <= 32 && s.k >= 128 && many >= 128;
}

// bf16 and f16, the same machine: stock has no kernel of its own for products there.
//   1024x1024x1024 5-6.6 (b along k), 55-72 (along its rows); 1x4096x4096 1.7, 1x576x576 1.2-1.6;
//   along rows: 1x4x64 0.8-0.98, 1x64x4 0.8-1.1, 32x4x1 0.9; 1x16x16 1.1, 32x64x64 10;
//   batch of 16, 1x1x1: 0.7
bool half_wins(const GemmShape& s) {
  const int64_t many = s.m < s.n ? s.n : s.m;
  if (gemm_tiny(s)) return true;
  if (s.packed) return s.k >= 32 && many >= 16;
  return s.batch == 1 || s.k >= 8;
}

// Where a tile unit wins. From shared measurements on Granite Rapids (torch 2.13, one thread): f32
// 1024x1024x1024 2x, 128x4096x4096 2.5x; bf16 with the weight out of cache, M from 16, 3x.
// The boundaries are to be confirmed on such a machine by `bench ops mm`.
bool tiles_win(const GemmShape& s, const Cpu& cpu) {
  const int64_t few = s.m < s.n ? s.m : s.n, many = s.m < s.n ? s.n : s.m;
  if (s.type == GemmType::kI8) return cpu.has(kAvx512 | kAmxInt8) && few >= 16 && s.k >= 64;
  if (!cpu.has(kAvx512 | kAmxBf16 | kOwnBits)) return false;
  if (s.type == GemmType::kF32) return few > 32 && s.k >= 64;
  const bool cold = many * s.k > 4 << 20;
  return s.type == GemmType::kBf16 && few >= 16 && few <= 1024 && cold;
}

// Skinny products are bound by memory: f32 arithmetic keeps up, with bits that every machine of the
// same vector length repeats. Beyond, stock has oneDNN's bf16 kernels from AVX-512 on, which are
// slow where the weight does not stay in cache.
GemmEngine bf16_engine(const GemmShape& s, const Cpu& cpu) {
  constexpr int64_t kCacheElements = 16 << 20;
  const int64_t few = s.m < s.n ? s.m : s.n, many = s.m < s.n ? s.n : s.m;
  if (!half_wins(s)) return GemmEngine::kStock;
  if (few <= 4 || !cpu.has(kAvx512)) return GemmEngine::kF32;
  const bool cold = few <= 1024 && many * s.k > kCacheElements;
  if (few > 32 && !cold) return GemmEngine::kStock;
  if (cpu.has(kAvx512Bf16 | kOwnBits)) return GemmEngine::kBf16;
  return few <= 32 ? GemmEngine::kF32 : GemmEngine::kStock;
}

// oneDNN has f16 kernels where the machine has FP16 arithmetic, and nowhere else.
GemmEngine f16_engine(const GemmShape& s, const Cpu& cpu) {
  const int64_t few = s.m < s.n ? s.m : s.n;
  if (!half_wins(s) || (cpu.has(kAvx512Fp16) && few > 32)) return GemmEngine::kStock;
  return GemmEngine::kF32;
}

// riscv64: stock has OpenBLAS's RVV kernels for f32, and scalar loops for the rest
// (./ci/run bench rv mm, linear, bmm).
//   f32, instructions to stock's at VLEN 128: linear 1x1024x1024 0.09; bmm 16x64x64x64 1.09, 0.34 at
//   VLEN 1024; int8 waits for a kernel
GemmEngine rvv_engine(const GemmShape& s, const Cpu& cpu) {
  const int64_t few = s.m < s.n ? s.m : s.n;
  if (s.type == GemmType::kI8) return GemmEngine::kStock;
  const bool batched = s.batch > 1 && cpu.vlen > 128;
  if (s.type == GemmType::kF32 && few > 4 && !gemm_tiny(s) && !batched) return GemmEngine::kStock;
  return GemmEngine::kF32;
}

}  // namespace

GemmEngine plan_gemm(const GemmShape& shape, const Cpu& cpu) {
  if (cpu.has(kRvv)) return rvv_engine(shape, cpu);
  if (!cpu.has(kAvx2)) return GemmEngine::kStock;
  if (tiles_win(shape, cpu)) return GemmEngine::kTiles;
  switch (shape.type) {
    case GemmType::kF32:
      return f32_wins(shape) ? GemmEngine::kF32 : GemmEngine::kStock;
    case GemmType::kBf16:
      return bf16_engine(shape, cpu);
    case GemmType::kF16:
      return f16_engine(shape, cpu);
    case GemmType::kI8:
      return cpu.has(kAvx512 | kAvx512Vnni) ? GemmEngine::kVnni : GemmEngine::kI16;
  }
  return GemmEngine::kStock;
}

}  // namespace tenon

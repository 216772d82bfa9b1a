// What a machine can do, as plain bits. Knows nothing of tensors, operators or threads.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

enum Feature : uint64_t {
  kNone = 0,
  kAvx2 = 1u << 0,        // AVX2 + FMA + F16C + BMI1/2 + LZCNT + MOVBE (x86-64-v3)
  kAvx512 = 1u << 1,      // kAvx2 + AVX-512 F, CD, BW, DQ, VL (x86-64-v4)
  kAvx512Vnni = 1u << 2,  // vpdpbusd
  kAvx512Bf16 = 1u << 3,  // vdpbf16ps
  kAvx512Fp16 = 1u << 4,
  kAvx512Vbmi = 1u << 5,
  kAmxInt8 = 1u << 6,  // with AMX-TILE, and the kernel's permission to use it
  kAmxBf16 = 1u << 7,
  kAmxFp16 = 1u << 8,
  // Not of a machine but of a user's wish: kernels whose bits another machine cannot repeat are
  // welcome. TENON_REPRODUCIBLE=1 takes it away from the host's Cpu.
  kOwnBits = 1u << 9,

  kRvv = 1u << 16,      // RISC-V V 1.0: VLEN of 128 or more, elements of up to 64 bits
  kZvfhmin = 1u << 17,  // f16 to and from f32
  kZvfh = 1u << 18,     // arithmetic in f16, products of f16 added in f32
  kZvfbfmin = 1u << 19,
  kZvfbfwma = 1u << 20,  // products of bf16 added in f32
  kZvbb = 1u << 21,
  kZicbop = 1u << 22,

  kNeon = 1ull << 32,     // AArch64's Advanced SIMD
  kDotProd = 1ull << 33,  // sdot, udot
  kArmFp16 = 1ull << 34,  // arithmetic in f16
  kArmFhm = 1ull << 35,   // fmlal: products of f16 added in f32
  kI8mm = 1ull << 36,     // smmla
  kArmBf16 = 1ull << 37,  // bfdot, bfmmla, bfmlal
  kSve = 1ull << 38,
  kSve2 = 1ull << 39,
};

struct Cpu {
  uint64_t features = kNone;
  uint32_t vlen = 0;           // bits, of RVV or SVE; 0 where vectors have a fixed width only
  const char* note = nullptr;  // what a user should know: why there is no vector unit

  constexpr bool has(uint64_t need) const { return (features & need) == need; }
};

struct FeatureName {
  const char* name;  // the word TENON_ISA takes
  uint64_t bit;
};

// Every feature bit with its word, least first. Architectures share a word for what is alike, and a
// machine has one architecture.
inline constexpr FeatureName kFeatureNames[] = {
    {"avx2", kAvx2},         {"avx512", kAvx512},     {"vnni", kAvx512Vnni},
    {"bf16", kAvx512Bf16},   {"fp16", kAvx512Fp16},   {"vbmi", kAvx512Vbmi},
    {"amx_int8", kAmxInt8},  {"amx_bf16", kAmxBf16},  {"amx_fp16", kAmxFp16},
    {"rvv", kRvv},           {"zvfhmin", kZvfhmin},   {"zvfh", kZvfh},
    {"zvfbfmin", kZvfbfmin}, {"zvfbfwma", kZvfbfwma}, {"zvbb", kZvbb},
    {"zicbop", kZicbop},     {"neon", kNeon},         {"dotprod", kDotProd},
    {"fp16", kArmFp16},      {"fhm", kArmFhm},        {"i8mm", kI8mm},
    {"bf16", kArmBf16},      {"sve", kSve},           {"sve2", kSve2},
};

// What the hardware and the operating system offer, unnarrowed. kOwnBits is always set.
// Asks the kernel for permission to use AMX tiles where there are any. VLEN is that of the hart
// that asks: others of the machine may have another, so kernels read it again and are right at any.
Cpu detect_cpu() noexcept;

}  // namespace tenon

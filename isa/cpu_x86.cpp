// Detection on x86-64: CPUID for the instructions, XGETBV for the registers the kernel saves,
// arch_prctl for the permission to use AMX tiles.
#include <cpuid.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "isa/cpu.h"

namespace tenon {
namespace {

struct Leaf {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Leaf cpuid(unsigned leaf, unsigned subleaf) {
  Leaf r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

// XCR0: which register files the operating system saves and restores.
uint32_t saved_state() {
  if ((cpuid(1, 0).ecx & bit_OSXSAVE) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// State components of the Intel SDM, volume 1, 13.1.
constexpr uint32_t kXcr0Sse = 1u << 1, kXcr0Avx = 1u << 2;
constexpr uint32_t kXcr0Opmask = 1u << 5, kXcr0ZmmHi256 = 1u << 6, kXcr0Hi16Zmm = 1u << 7;
constexpr uint32_t kXcr0TileConfig = 1u << 17, kXcr0TileData = 1u << 18;
constexpr uint32_t kXcr0Ymm = kXcr0Sse | kXcr0Avx;
constexpr uint32_t kXcr0Zmm = kXcr0Ymm | kXcr0Opmask | kXcr0ZmmHi256 | kXcr0Hi16Zmm;
constexpr uint32_t kXcr0Tile = kXcr0TileConfig | kXcr0TileData;

constexpr bool all(uint32_t value, uint32_t bits) { return (value & bits) == bits; }

uint64_t avx_features(uint32_t saved) {
  const Leaf l1 = cpuid(1, 0), l7 = cpuid(7, 0), l71 = cpuid(7, 1);
  const Leaf ext = cpuid(0x80000001u, 0);
  constexpr uint32_t kNeed1 = bit_AVX | bit_FMA | bit_F16C | bit_MOVBE;
  constexpr uint32_t kNeed7 = bit_AVX2 | bit_BMI | bit_BMI2;
  if (!all(saved, kXcr0Ymm) || !all(l1.ecx, kNeed1) || !all(l7.ebx, kNeed7) ||
      !all(ext.ecx, bit_LZCNT))
    return kNone;
  constexpr uint32_t kNeed512 =
      bit_AVX512F | bit_AVX512CD | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL;
  if (!all(saved, kXcr0Zmm) || !all(l7.ebx, kNeed512)) return kAvx2;
  uint64_t found = kAvx2 | kAvx512;
  if (l7.ecx & bit_AVX512VNNI) found |= kAvx512Vnni;
  if (l7.ecx & bit_AVX512VBMI) found |= kAvx512Vbmi;
  if (l71.eax & bit_AVX512BF16) found |= kAvx512Bf16;
  if (l7.edx & (1u << 23)) found |= kAvx512Fp16;  // AVX512_FP16, CPUID.7.0:EDX[23]
  return found;
}

// asm/prctl.h of Linux 5.16; older headers lack both names.
constexpr long kArchReqXcompPerm = 0x1023, kXfeatureXtileData = 18;

// Asked once per process, before any thread touches a tile.
bool kernel_permits_tiles() {
  return syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtileData) == 0;
}

// CPUID cannot be faked, so the AMX emulator of the tests announces itself by a symbol.
bool tiles_are_emulated() {
  const auto* active = static_cast<const int*>(dlsym(RTLD_DEFAULT, "amxemu_active"));
  return active != nullptr && *active != 0;
}

uint64_t amx_features(uint32_t saved) {
  constexpr uint32_t kAmxBf16Bit = 1u << 22, kAmxTileBit = 1u << 24, kAmxInt8Bit = 1u << 25;
  if (tiles_are_emulated()) return kernel_permits_tiles() ? kAmxInt8 | kAmxBf16 : kNone;
  const Leaf l7 = cpuid(7, 0), l71 = cpuid(7, 1);
  if (!all(saved, kXcr0Tile) || (l7.edx & kAmxTileBit) == 0 || !kernel_permits_tiles())
    return kNone;
  uint64_t found = kNone;
  if (l7.edx & kAmxInt8Bit) found |= kAmxInt8;
  if (l7.edx & kAmxBf16Bit) found |= kAmxBf16;
  if (l71.eax & (1u << 21)) found |= kAmxFp16;  // AMX-FP16, CPUID.7.1:EAX[21]
  return found;
}

}  // namespace

Cpu detect_cpu() noexcept {
  const uint32_t saved = saved_state();
  Cpu cpu;
  cpu.features = kOwnBits | avx_features(saved);
  if (cpu.has(kAvx2)) cpu.features |= amx_features(saved);
  return cpu;
}

}  // namespace tenon

// Detection on AArch64: AT_HWCAP and AT_HWCAP2 for the instructions, prctl for SVE's length.
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "isa/cpu.h"

namespace tenon {
namespace {

struct Extension {
  uint64_t feature;
  unsigned long hwcap, hwcap2;
};

constexpr Extension kExtensions[] = {
    {kNeon, HWCAP_ASIMD, 0},      {kDotProd, HWCAP_ASIMDDP, 0},
    {kArmFhm, HWCAP_ASIMDFHM, 0}, {kArmFp16, HWCAP_FPHP | HWCAP_ASIMDHP, 0},
    {kI8mm, 0, HWCAP2_I8MM},      {kArmBf16, 0, HWCAP2_BF16},
    {kSve, HWCAP_SVE, 0},         {kSve2, HWCAP_SVE, HWCAP2_SVE2},
};

constexpr bool all(unsigned long value, unsigned long bits) { return (value & bits) == bits; }

}  // namespace

Cpu detect_cpu() noexcept {
  const unsigned long hwcap = getauxval(AT_HWCAP), hwcap2 = getauxval(AT_HWCAP2);
  Cpu cpu{kOwnBits, 0};
  for (const Extension& e : kExtensions)
    if (all(hwcap, e.hwcap) && all(hwcap2, e.hwcap2)) cpu.features |= e.feature;
  if (!cpu.has(kNeon)) cpu.note = "this kernel reports no Advanced SIMD";
  if (cpu.has(kSve))
    cpu.vlen = static_cast<uint32_t>(prctl(PR_SVE_GET_VL, 0, 0, 0, 0) & PR_SVE_VL_LEN_MASK) * 8;
  return cpu;
}

}  // namespace tenon

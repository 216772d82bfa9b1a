// Which forms of the tile_mm rows the tests run.
#include "tests/kernels/tile_mm_support.h"

#if defined(TENON_AMX_SHIM)
namespace tenon {
TileMm mm_f32_amx_shim, mm_bf16_amx_shim, mm_i32_i8_i8_amx_shim;
}
#endif

namespace tenon::test {

std::vector<Kernel<TileMm>> tile_mm_rows(std::string_view op) {
  std::vector<Kernel<TileMm>> rows;
  for (const Kernel<TileMm>& k : wanted_rows(kTileMm))
    if (op == k.op) rows.push_back(k);
#if defined(TENON_AMX_SHIM)
  static constexpr Kernel<TileMm> kShim[] = {
      {"mm_f32", "mm_f32_amx_shim", kAvx2, 0, &mm_f32_amx_shim},
      {"mm_bf16", "mm_bf16_amx_shim", kAvx2, 0, &mm_bf16_amx_shim},
      {"mm_i32_i8_i8", "mm_i32_i8_i8_amx_shim", kAvx2, 0, &mm_i32_i8_i8_amx_shim}};
  for (const Kernel<TileMm>& k : kShim)
    if (op == k.op) rows.push_back(k);
#endif
  return rows;
}

void note_execution(const Kernel<TileMm>& form) {
  const std::string name = form.name, shim = "_shim";
  if (name.ends_with(shim))
    executed_in_another_form().insert(name.substr(0, name.size() - shim.size()));
}

}  // namespace tenon::test

// bf16 matrix product on AMX: isa/tile_mm.h says what it computes, isa/amx/chunks.h how.
#include "isa/amx/chunks.h"

namespace tenon {

void TENON_KERNEL(mm_bf16)(const TileMmArgs& args) noexcept {
  const Tiles tiles;
  multiply_all<bf16>(args, [&](Place at, const ChunkBuffers& buffers, bool turned) {
    const char* sums = take_sums(buffers, turned, at);
    store_block<bf16>(args, at, reinterpret_cast<const float*>(sums), false, true);
  });
}

}  // namespace tenon

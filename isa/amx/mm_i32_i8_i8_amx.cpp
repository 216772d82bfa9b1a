// int8 matrix product on AMX: isa/tile_mm.h says what it computes, isa/amx/chunks.h how.
#include "isa/amx/chunks.h"

namespace tenon {

void TENON_KERNEL(mm_i32_i8_i8)(const TileMmArgs& args) noexcept {
  const Tiles tiles;
  multiply_all<int8_t>(args, [&](Place at, const ChunkBuffers& buffers, bool turned) {
    if (!turned && at.rows == 32 && at.cols == 32)
      return store_sums(result_row<int32_t>(args, at, 0), args.c_row);
    const char* sums = take_sums(buffers, turned, at);
    for (size_t r = 0; r < at.rows; ++r)
      std::memcpy(result_row<int32_t>(args, at, r), sums + r * 128, at.cols * sizeof(int32_t));
  });
}

}  // namespace tenon

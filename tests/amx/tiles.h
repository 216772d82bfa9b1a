// What the AMX tests share: tile configurations and the compiler barrier around them.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace tenon::test {

struct alignas(64) TileConfig {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};
static_assert(sizeof(TileConfig) == 64, "the layout the hardware reads");

inline void set_tile(TileConfig& config, int tile, int rows, int row_bytes) {
  config.rows[tile] = static_cast<uint8_t>(rows);
  config.row_bytes[tile] = static_cast<uint16_t>(row_bytes);
}

// GCC 12's tile intrinsics do not say what memory they read.
inline void order_memory() { __asm__ volatile("" ::: "memory"); }

}  // namespace tenon::test

// A macro, because the shim gives _tile_loadconfig another meaning in some files.
#define load_tile_config(config) (::tenon::test::order_memory(), _tile_loadconfig(&(config)))

// Matrix products on a tile unit: isa/tile_mm.h's kernels over threads and batches.
#include "dispatch/gemm_tiles.h"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<TileMm> f32_tiles{kTileMm, "mm_f32"}, bf16_tiles{kTileMm, "mm_bf16"},
    i8_tiles{kTileMm, "mm_i32_i8_i8"};

void raise(std::atomic<uint32_t>& largest, uint32_t x) {
  uint32_t seen = largest.load(std::memory_order_relaxed);
  while (seen < x && !largest.compare_exchange_weak(seen, x, std::memory_order_relaxed)) {
  }
}

const char* offset(const void* base, ptrdiff_t bytes) {
  return base == nullptr ? nullptr : static_cast<const char*>(base) + bytes;
}

// Batch b of the problem as the kernel's arguments, without workspace and range.
TileMmArgs arguments(const GemmProblem& p, int64_t b) {
  TileMmArgs args{};
  args.m = static_cast<size_t>(p.m), args.n = static_cast<size_t>(p.n);
  args.k = static_cast<size_t>(p.k);
  args.a = offset(p.a.data, b * p.a.batch), args.a_row = p.a.row, args.a_col = p.a.column;
  args.b = offset(p.b.data, b * p.b.batch), args.b_row = p.b.row, args.b_col = p.b.column;
  args.c = static_cast<char*>(p.y) + b * p.y_batch, args.c_row = p.y_row;
  args.d = offset(p.c.data, b * p.c.batch), args.d_row = p.c.row, args.d_col = p.c.column;
  args.alpha = p.alpha, args.beta = p.beta, args.products = p.products;
  return args;
}

// Rows [begin, end) of the longer side of C.
TileMmArgs part(TileMmArgs args, bool columns, int64_t begin, int64_t end, ptrdiff_t out) {
  const auto count = static_cast<size_t>(end - begin);
  if (columns) {
    args.n = count;
    args.b = offset(args.b, begin * args.b_col);
    args.c = static_cast<char*>(args.c) + begin * out;
    args.d = offset(args.d, begin * args.d_col);
  } else {
    args.m = count;
    args.a = offset(args.a, begin * args.a_row);
    args.c = static_cast<char*>(args.c) + begin * args.c_row;
    args.d = offset(args.d, begin * args.d_row);
  }
  return args;
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

const Kernel<TileMm>& gemm_tiles_kernel(GemmType type) {
  return (type == GemmType::kF32    ? f32_tiles
          : type == GemmType::kBf16 ? bf16_tiles
                                    : i8_tiles)
      .get();
}

bool run_gemm_tiles(const GemmProblem& p) {
  const size_t element = gemm_size(p.type);
  const auto out = static_cast<ptrdiff_t>(p.type == GemmType::kI8 ? 4 : element);
  if (!tile_mm_takes(arguments(p, 0), element)) return false;
  if (p.c.data != nullptr && p.c.column != 0 && p.c.column != out) return false;
  const Kernel<TileMm>& kernel = gemm_tiles_kernel(p.type);
  const bool columns = p.n >= p.m;
  const int64_t longer = columns ? p.n : p.m, units = (longer + 31) / 32;
  std::atomic<uint32_t> largest_a{0}, largest_b{0};
  for (int64_t b = 0; b < p.batch; ++b) {
    const TileMmArgs whole = arguments(p, b);
    parallel_for(units, 1, [&](int64_t first, int64_t last) {
      TileMmArgs args =
          part(whole, columns, first * 32, last * 32 < longer ? last * 32 : longer, out);
      const size_t bytes = tile_mm_workspace(args.m, args.n, args.k, element);
      const std::unique_ptr<void, Free> memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
      if (memory == nullptr) throw std::bad_alloc();
      TileRange range;
      args.workspace = memory.get(), args.range = &range;
      kernel.run(args);
      raise(largest_a, range.a), raise(largest_b, range.b);
    });
  }
  return p.type != GemmType::kF32 ||
         tile_mm_f32_in_range({largest_a.load(), largest_b.load()}, static_cast<size_t>(p.k));
}

}  // namespace tenon

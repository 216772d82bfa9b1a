// The loops around the gemm kernels. Of the two operands the one with more rows (columns of b are
// rows here) is `many`: it is split over threads and read once, as it lies where it can be; `few`
// is widened and packed whole beforehand. Neither choice changes a bit of the result: a product
// does not mind its factors' order, and nothing splits k.
#include "dispatch/gemm.h"

#include <utility>

#include "dispatch/gemm_panels.h"
#include "dispatch/gemm_parts.h"
#include "dispatch/gemm_tiles.h"
#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

// The kernels of one engine for one storage type.
struct Kernels {
  Slot<Gemm> direct;          // many as it lies, few packed
  Slot<GemmColumns> columns;  // few rows, many contiguous along its rows' other dimension
  Slot<Gemm> packed;          // both packed
  Slot<GemmPack> pack_few;
  Slot<GemmPack> pack_many;
  size_t element;       // bytes of a packed element
  int64_t direct_rows;  // up to so many rows of `few`, many is read as it lies
  bool has_columns;
};

Kernels f32_engine[] = {
    {{kGemm, "gemm_f32_f32_f32"},
     {kGemmColumns, "gemm_columns_f32_f32_f32"},
     {kGemm, "gemm_f32_f32_f32"},
     {kGemmPack, "gemm_pack_f32_f32"},
     {kGemmPack, "gemm_pack_f32_f32"},
     4,
     32,
     true},
    {{kGemm, "gemm_f32_f32_bf16"},
     {kGemmColumns, "gemm_columns_f32_f32_bf16"},
     {kGemm, "gemm_f32_f32_f32"},
     {kGemmPack, "gemm_pack_f32_bf16"},
     {kGemmPack, "gemm_pack_f32_bf16"},
     4,
     4,
     true},
    {{kGemm, "gemm_f32_f32_f16"},
     {kGemmColumns, "gemm_columns_f32_f32_f16"},
     {kGemm, "gemm_f32_f32_f32"},
     {kGemmPack, "gemm_pack_f32_f16"},
     {kGemmPack, "gemm_pack_f32_f16"},
     4,
     4,
     true},
};

Kernels bf16_engine{{kGemm, "gemm_f32_bf16_bf16"},
                    {kGemmColumns, ""},
                    {kGemm, "gemm_f32_bf16_bf16"},
                    {kGemmPack, "gemm_pack_bf16_bf16"},
                    {kGemmPack, "gemm_pack_bf16_bf16"},
                    2,
                    32,
                    false};
Kernels i16_engine{{kGemm, "gemm_i32_i16_i16"},
                   {kGemmColumns, ""},
                   {kGemm, "gemm_i32_i16_i16"},
                   {kGemmPack, "gemm_pack_i16_i8"},
                   {kGemmPack, "gemm_pack_i16_i8"},
                   2,
                   0,
                   false};
Kernels vnni_engine{{kGemm, "gemm_i32_u8_i8"},
                    {kGemmColumns, ""},
                    {kGemm, "gemm_i32_u8_i8"},
                    {kGemmPack, "gemm_pack_u8_i8"},
                    {kGemmPack, "gemm_pack_i8_i8"},
                    1,
                    32,
                    false};

Kernels& kernels_of(GemmEngine engine, GemmType type) {
  switch (engine) {
    case GemmEngine::kBf16:
      return bf16_engine;
    case GemmEngine::kI16:
      return i16_engine;
    case GemmEngine::kVnni:
      return vnni_engine;
    default:
      return f32_engine[static_cast<size_t>(type)];
  }
}

// How a kernel gets at the rows of many.
enum class Reading : uint8_t {
  kRows,     // as they lie, contiguous along k
  kColumns,  // as they lie, contiguous along the other dimension
  kPacked,   // a block of them packed in cache
};

struct Job {
  const GemmProblem& p;
  Kernels& kernels;
  Rows few, many;
  bool swapped;  // few are columns of b
  bool few_packed;
  Reading many_read;
  ptrdiff_t row;    // bytes of a packed row
  int64_t chunk;    // rows of many at a time
  bool direct_out;  // the kernel writes y itself

  size_t k() const { return static_cast<size_t>(p.k); }
};

constexpr int64_t kTileRows = 64;  // rows of few per kernel call
constexpr int64_t kMaxChunk = 96;
constexpr size_t kPanelBytes = 384 << 10;    // packed rows of many that stay in L2
constexpr size_t kWidePanelBytes = 4 << 20;  // the same in L3

// A packed row: whole cache lines, and an odd number of them, so that equal offsets in neighbouring
// rows do not fall into one cache set.
ptrdiff_t packed_row(int64_t k, size_t element) {
  const size_t lines = (static_cast<size_t>(k) * element + 63) / 64;
  return static_cast<ptrdiff_t>((lines | 1) * 64);
}

Reading reading(const Rows& few, const Rows& many, ptrdiff_t size, const Kernels& kernels) {
  if (many.column == size && few.count <= kernels.direct_rows) return Reading::kRows;
  const bool columns = kernels.has_columns && few.count <= int64_t{kGemmColumnsMost};
  return columns && many.row == size ? Reading::kColumns : Reading::kPacked;
}

int64_t chunk_of(const Rows& few, const Rows& many, Reading read, ptrdiff_t size, ptrdiff_t row) {
  if (read == Reading::kColumns || (read == Reading::kRows && few.count <= 4))
    return kTileRows * kMaxChunk / few.count;  // as large a tile of outputs
  // Rows that have to be transposed are wanted wide: each line of memory is then read once.
  const bool wide = read == Reading::kPacked && many.column != size;
  const int64_t fits = static_cast<int64_t>(wide ? kWidePanelBytes : kPanelBytes) / row / 24 * 24;
  return fits < 24 ? 24 : fits > kMaxChunk ? kMaxChunk : fits;
}

Job make_job(GemmEngine engine, const GemmProblem& p) {
  Kernels& kernels = kernels_of(engine, p.type);
  const auto size = static_cast<ptrdiff_t>(gemm_size(p.type));
  Rows few{static_cast<const char*>(p.a.data), p.a.batch, p.a.row, p.a.column, p.m};
  Rows many{static_cast<const char*>(p.b.data), p.b.batch, p.b.column, p.b.row, p.n};
  const bool swapped = p.m > p.n;
  if (swapped) std::swap(few, many);
  const bool few_packed = p.type != GemmType::kF32 || few.column != size || few.count > 4;
  const Reading read = reading(few, many, size, kernels);
  const ptrdiff_t row = packed_row(p.k, kernels.element);
  return {p,           kernels, few,
          many,        swapped, few_packed,
          read,        row,     chunk_of(few, many, read, size, row),
          plain_end(p)};
}

void pack(Slot<GemmPack>& kernel, const Rows& rows, int64_t b, int64_t begin, int64_t end, size_t k,
          void* to, ptrdiff_t row) {
  kernel.get().run(
      {static_cast<size_t>(end - begin), k, rows.at(b, begin), rows.row, rows.column, to, row});
}

struct Panel {
  const char* data;
  ptrdiff_t row;
};

// Outputs of f rows of few from f0 on, which lie at `few`, and m rows of many from m0 on, at
// `many`.
template <class Kernel>
void block(const Job& job, int64_t b, const Kernel& gemm, int64_t f0, int64_t f, Panel few,
           int64_t m0, int64_t m, Panel many) {
  const GemmProblem& p = job.p;
  const int64_t i = job.swapped ? m0 : f0, j = job.swapped ? f0 : m0;
  const int64_t rows = job.swapped ? m : f, columns = job.swapped ? f : m;
  alignas(64) float tile[kTileRows * kMaxChunk];
  GemmArgs args{static_cast<size_t>(f),
                static_cast<size_t>(m),
                job.k(),
                few.data,
                few.row,
                many.data,
                many.row,
                tile,
                static_cast<ptrdiff_t>(columns * sizeof(float)),
                sizeof(float)};
  if (job.direct_out) {
    args.y = static_cast<char*>(p.y) + b * p.y_batch + i * p.y_row + j * p.y_column;
    args.y_row = p.y_row, args.y_column = p.y_column;
  }
  if (job.swapped) std::swap(args.y_row, args.y_column);
  gemm.run(args);
  if (!job.direct_out) finish(p, b, i, j, rows, columns, tile);
}

// Rows [begin, end) of many against rows [f0, f1) of few, packed at `few` or null.
void sweep(const Job& job, int64_t b, int64_t f0, int64_t f1, const char* few, int64_t begin,
           int64_t end) {
  Scratch scratch;
  Kernels& kernels = job.kernels;
  char* panel = nullptr;
  if (job.many_read == Reading::kPacked)
    panel = static_cast<char*>(scratch.get(static_cast<size_t>(job.chunk * job.row)));
  for (int64_t m0 = begin; m0 < end; m0 += job.chunk) {
    const int64_t m = end - m0 < job.chunk ? end - m0 : job.chunk;
    Panel many{job.many.at(b, m0), job.many.row};
    if (job.many_read == Reading::kColumns) many.row = job.many.column;
    if (panel != nullptr) {
      pack(kernels.pack_many, job.many, b, m0, m0 + m, job.k(), panel, job.row);
      many = {panel, job.row};
    }
    for (int64_t f = f0; f < f1; f += kTileRows) {
      const int64_t rows = f1 - f < kTileRows ? f1 - f : kTileRows;
      const Panel from = few != nullptr ? Panel{few + (f - f0) * job.row, job.row}
                                        : Panel{job.few.at(b, f), job.few.row};
      if (job.many_read == Reading::kColumns)
        block(job, b, kernels.columns.get(), f, rows, from, m0, m, many);
      else
        block(job, b, (panel != nullptr ? kernels.packed : kernels.direct).get(), f, rows, from, m0,
              m, many);
    }
  }
}

// Rows of many that one thread should at least have.
int64_t grain(const Job& job, int64_t few) { return kGrainProducts / (job.p.k * few) + 1; }

// One product: few is packed once, by all threads, then each takes its share of many.
void run_one(const Job& job, int64_t b) {
  const int64_t fits = kFewBytes / job.row / kTileRows * kTileRows;
  const int64_t most = !job.few_packed ? job.few.count : fits < kTileRows ? kTileRows : fits;
  Scratch scratch;
  for (int64_t f0 = 0; f0 < job.few.count; f0 += most) {
    const int64_t f1 = job.few.count - f0 < most ? job.few.count : f0 + most;
    char* few = nullptr;
    if (job.few_packed) {
      few = static_cast<char*>(scratch.get(static_cast<size_t>((f1 - f0) * job.row)));
      parallel_for(f1 - f0, kGrainProducts / job.p.k + 1, [&](int64_t begin, int64_t end) {
        pack(job.kernels.pack_few, job.few, b, f0 + begin, f0 + end, job.k(), few + begin * job.row,
             job.row);
      });
    }
    // Whole register tiles for each thread.
    const int64_t unit = job.many_read == Reading::kColumns ? 64 : job.many.count >= 96 ? 24 : 8;
    const int64_t units = (job.many.count + unit - 1) / unit;
    parallel_for(units, (grain(job, f1 - f0) + unit - 1) / unit, [&](int64_t begin, int64_t end) {
      const int64_t last = end * unit < job.many.count ? end * unit : job.many.count;
      sweep(job, b, f0, f1, few, begin * unit, last);
    });
  }
}

// Many products: threads take rows of many counted through the whole batch.
void run_batch(const Job& job) {
  const int64_t rows = job.many.count;
  parallel_for(job.p.batch * rows, grain(job, job.few.count), [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t at = begin; at < end;) {
      const int64_t b = at / rows, first = at % rows;
      const int64_t last = end - at < rows - first ? first + end - at : rows;
      char* few = nullptr;
      if (job.few_packed) {
        few = static_cast<char*>(scratch.get(static_cast<size_t>(job.few.count * job.row)));
        pack(job.kernels.pack_few, job.few, b, 0, job.few.count, job.k(), few, job.row);
      }
      sweep(job, b, 0, job.few.count, few, first, last);
      at += last - first;
    }
  });
}

}  // namespace

const char* gemm_kernel_name(GemmEngine engine, GemmType type) {
  return engine == GemmEngine::kTiles ? gemm_tiles_kernel(type).name
                                      : kernels_of(engine, type).direct.get().name;
}

GemmEngine choose_gemm(const GemmShape& shape) {
  // A disabled kernel's slot holds the reference, which needs nothing and beats nobody.
  const auto usable = [&](GemmEngine engine) {
    return engine == GemmEngine::kTiles ? gemm_tiles_kernel(shape.type).need != kNone
                                        : kernels_of(engine, shape.type).direct.get().need != kNone;
  };
  for (const uint64_t features : {~uint64_t{0}, uint64_t{kAvx2 | kAvx512}}) {
    Cpu cpu = host_cpu();
    cpu.features &= features;
    const GemmEngine engine = plan_gemm(shape, cpu);
    if (engine == GemmEngine::kStock || usable(engine)) return engine;
  }
  return GemmEngine::kStock;
}

void run_gemm(GemmEngine engine, const GemmProblem& given) {
  const auto size = static_cast<ptrdiff_t>(given.type == GemmType::kI8 ? 4 : gemm_size(given.type));
  GemmProblem p = given;
  if (p.y_column != size && p.n > 1) {  // y^T = b^T a^T has contiguous rows
    std::swap(p.m, p.n);
    p.a = {given.b.data, given.b.batch, given.b.column, given.b.row};
    p.b = {given.a.data, given.a.batch, given.a.column, given.a.row};
    std::swap(p.c.row, p.c.column);
    std::swap(p.y_row, p.y_column);
  }
  if (engine == GemmEngine::kTiles) {
    if (run_gemm_tiles(p)) return;
    engine = p.type == GemmType::kI8 ? GemmEngine::kI16 : GemmEngine::kF32;
  }
  if (engine == GemmEngine::kF32 && panels_take(p, kernels_of(engine, p.type).packed.get().need))
    return run_gemm_panels(p);
  const Job job = make_job(engine, p);
  if (p.batch > 1 && p.m * p.n * p.k < kLargeProducts) return run_batch(job);
  for (int64_t b = 0; b < p.batch; ++b) run_one(job, b);
}

}  // namespace tenon

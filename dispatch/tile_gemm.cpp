// Threads and workspaces around the tile kernels.
#include "dispatch/tile_gemm.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

constexpr int64_t kUnit = 32;                // rows or columns of a block of tiles
constexpr int64_t kGrainProducts = 1 << 21;  // multiply-adds worth a thread

ptrdiff_t element(GemmType type) { return static_cast<ptrdiff_t>(gemm_size(type)); }
ptrdiff_t result_element(GemmType type) { return type == GemmType::kI8 ? 4 : element(type); }

// The problem with contiguous rows of y: y^T = b^T a^T where its columns are contiguous.
GemmProblem by_rows(const GemmProblem& given) {
  GemmProblem p = given;
  if (p.y_column == result_element(p.type) || p.n == 1) return p;
  std::swap(p.m, p.n);
  p.a = {given.b.data, given.b.batch, given.b.column, given.b.row};
  p.b = {given.a.data, given.a.batch, given.a.column, given.a.row};
  std::swap(p.c.row, p.c.column);
  std::swap(p.y_row, p.y_column);
  return p;
}

// Memory that stays with its thread from call to call: the kernels want megabytes, and fresh pages
// would cost as much as a small product.
class Workspace {
 public:
  void* get(size_t bytes) {
    if (bytes > size_) {
      memory_.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
      size_ = memory_ != nullptr ? bytes : 0;
    }
    return memory_.get();
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  std::unique_ptr<void, Free> memory_;
  size_t size_ = 0;
};

// Part i of `parts` of n, cut between units.
std::pair<int64_t, int64_t> part(int64_t n, int64_t i, int64_t parts) {
  const int64_t units = (n + kUnit - 1) / kUnit;
  return {std::min(n, units * i / parts * kUnit), std::min(n, units * (i + 1) / parts * kUnit)};
}

// One task: a part of one product of the batch.
struct Task {
  int64_t batch, row, column;
};

TileMmArgs task_args(const GemmProblem& p, const TileParts& parts, const Task& t) {
  const auto [i, i_end] = part(p.m, t.row, parts.rows);
  const auto [j, j_end] = part(p.n, t.column, parts.columns);
  const auto at = [&](const GemmMatrix& x, int64_t row, int64_t column) -> const void* {
    if (x.data == nullptr) return nullptr;
    return static_cast<const char*>(x.data) + t.batch * x.batch + row * x.row + column * x.column;
  };
  TileMmArgs args{};
  args.m = static_cast<size_t>(i_end - i);
  args.n = static_cast<size_t>(j_end - j);
  args.k = static_cast<size_t>(p.k);
  args.a = at(p.a, i, 0), args.a_row = p.a.row, args.a_col = p.a.column;
  args.b = at(p.b, 0, j), args.b_row = p.b.row, args.b_col = p.b.column;
  args.c = static_cast<char*>(p.y) + t.batch * p.y_batch + i * p.y_row + j * result_element(p.type);
  args.c_row = p.y_row;
  args.d = at(p.c, i, j), args.d_row = p.c.row, args.d_col = p.c.column;
  args.alpha = p.alpha, args.beta = p.beta;
  return args;
}

// What a task leaves behind.
struct Done {
  TileRange range;
  bool no_memory = false;
};

Done run_task(const Kernel<TileMm>& kernel, const GemmProblem& p, TileMmArgs args, int products) {
  thread_local Workspace workspace;
  Done done;
  if (args.m == 0 || args.n == 0) return done;
  args.workspace = workspace.get(tile_mm_workspace(args.m, args.n, args.k, gemm_size(p.type)));
  done.no_memory = args.workspace == nullptr;
  if (done.no_memory) return done;
  args.products = products;
  args.range = &done.range;
  kernel.run(args);
  return done;
}

}  // namespace

const Kernel<TileMm>& tile_kernel(GemmType type) {
  static Slot<TileMm> f32(kTileMm, "mm_f32"), bf16(kTileMm, "mm_bf16"), i8(kTileMm, "mm_i32_i8_i8");
  return type == GemmType::kF32 ? f32.get() : type == GemmType::kI8 ? i8.get() : bf16.get();
}

bool tile_gemm_takes(const GemmProblem& given) {
  if (given.type == GemmType::kF16) return false;
  const GemmProblem p = by_rows(given);
  const ptrdiff_t size = element(p.type);
  const auto contiguous = [&](const GemmMatrix& x) { return x.row == size || x.column == size; };
  if (!contiguous(p.a) || !contiguous(p.b)) return false;
  if (p.y_column != result_element(p.type) && p.n != 1) return false;
  if (p.c.data == nullptr) return true;
  if (p.type == GemmType::kI8 || (p.c.column != size && p.c.column != 0)) return false;
  return p.type != GemmType::kF32 || p.c.data != p.y;
}

TileParts tile_parts(int64_t m, int64_t n, int64_t k, int64_t threads) {
  const int64_t worth = std::max<int64_t>(
      1, m * n / kGrainProducts * k + m * n % kGrainProducts * k / kGrainProducts);
  const int64_t rows = (m + kUnit - 1) / kUnit, columns = (n + kUnit - 1) / kUnit;
  const int64_t wanted = std::min({threads, worth, rows * columns});
  TileParts best{1, 1};
  int64_t least = m + n, most = 1;  // a thread packs its part of a and of b: m / rows + n / columns
  for (int64_t r = 1; r <= std::min(rows, wanted); ++r) {
    const int64_t c = std::min(columns, wanted / r), cost = m / r + n / c;
    if (r * c < most || (r * c == most && cost >= least)) continue;
    best = {r, c};
    most = r * c;
    least = cost;
  }
  return best;
}

bool run_tile_gemm(const Kernel<TileMm>& kernel, const GemmProblem& given, int products) {
  const GemmProblem p = by_rows(given);
  const int64_t threads = max_threads();
  const TileParts parts =
      p.batch >= 4 * threads ? TileParts{1, 1} : tile_parts(p.m, p.n, p.k, threads);
  const int64_t each = parts.rows * parts.columns;
  std::vector<Done> done(static_cast<size_t>(p.batch * each));
  const int64_t grain = kGrainProducts / std::max<int64_t>(1, p.m * p.n / each * p.k) + 1;
  parallel_for(p.batch * each, grain, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) {
      const Task task{t / each, t % each / parts.columns, t % parts.columns};
      done[static_cast<size_t>(t)] = run_task(kernel, p, task_args(p, parts, task), products);
    }
  });
  TileRange range;
  for (const Done& d : done) {
    if (d.no_memory) throw std::bad_alloc();
    range.a = std::max(range.a, d.range.a);
    range.b = std::max(range.b, d.range.b);
  }
  return p.type != GemmType::kF32 || tile_mm_f32_in_range(range, static_cast<size_t>(p.k));
}

}  // namespace tenon

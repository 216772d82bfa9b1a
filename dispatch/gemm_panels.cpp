// The loops around the panel kernels. As in gemm.cpp the shorter operand, `few`, is packed whole
// beforehand and `many` is split over threads and packed a block at a time.
#include "dispatch/gemm_panels.h"

#include <utility>

#include "dispatch/gemm_parts.h"
#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<GemmPanels> panels{kGemmPanels, "gemm_panels_f32_f32_f32"};
Slot<GemmPanelPack> packs[] = {{kGemmPanelPack, "gemm_panel_pack_f32_f32"},
                               {kGemmPanelPack, "gemm_panel_pack_f32_bf16"},
                               {kGemmPanelPack, "gemm_panel_pack_f32_f16"}};

struct Side {
  Rows rows;
  PanelLayout layout;
  int64_t block;  // rows of one kernel call
  size_t panel;   // elements of one panel

  int64_t width() const { return static_cast<int64_t>(layout.width); }
  int64_t count() const { return (rows.count + width() - 1) / width(); }  // panels
  size_t elements(int64_t begin, int64_t end) const {
    return static_cast<size_t>((end - begin + width() - 1) / width()) * panel;
  }
};

struct Job {
  const GemmProblem& p;
  const Kernel<GemmPanels>& kernel;
  const Kernel<GemmPanelPack>& pack_kernel;
  Side few, many;
  bool swapped;  // few are columns of b

  size_t k() const { return static_cast<size_t>(p.k); }
};

Job make_job(const GemmProblem& p) {
  const Kernel<GemmPanels>& kernel = panels.get();
  const PanelShape shape = panel_shape(kernel.need);
  const PanelLayout a{shape.lanes, shape.rows}, b{shape.lanes, shape.columns};
  const auto k = static_cast<size_t>(p.k);
  Side few{{static_cast<const char*>(p.a.data), p.a.batch, p.a.row, p.a.column, p.m},
           a,
           kPanelsRows,
           a.size(k)};
  Side many{{static_cast<const char*>(p.b.data), p.b.batch, p.b.column, p.b.row, p.n},
            b,
            static_cast<int64_t>(kPanelsColumns / b.width * b.width),
            b.size(k)};
  const bool swapped = p.m > p.n;
  if (swapped) std::swap(few, many);
  return {p, kernel, packs[static_cast<size_t>(p.type)].get(), few, many, swapped};
}

// Rows [begin, end) of a side; begin is a multiple of its width.
void pack(const Job& job, const Side& side, int64_t b, int64_t begin, int64_t end, float* to) {
  job.pack_kernel.run({static_cast<size_t>(end - begin), job.k(), side.rows.at(b, begin),
                       side.rows.row, side.rows.column, side.layout, to});
}

// The outputs of one block of either side.
void block(const Job& job, int64_t b, int64_t f0, int64_t f, const float* few, int64_t m0,
           int64_t m, const float* many) {
  const GemmProblem& p = job.p;
  const int64_t i = job.swapped ? m0 : f0, j = job.swapped ? f0 : m0;
  const int64_t rows = job.swapped ? m : f, columns = job.swapped ? f : m;
  alignas(64) float tile[kPanelsRows * kPanelsColumns];
  GemmPanelsArgs args{static_cast<size_t>(rows),
                      static_cast<size_t>(columns),
                      job.k(),
                      job.swapped ? many : few,
                      job.swapped ? few : many,
                      tile,
                      columns * static_cast<ptrdiff_t>(sizeof(float))};
  const bool direct = plain_end(p);
  if (direct) {
    args.y = reinterpret_cast<float*>(static_cast<char*>(p.y) + b * p.y_batch + i * p.y_row) + j;
    args.y_row = p.y_row;
  }
  job.kernel.run(args);
  if (!direct) finish(p, b, i, j, rows, columns, tile);
}

// Rows [begin, end) of many against rows [f0, f1) of few, packed at `few`.
void sweep(const Job& job, int64_t b, int64_t f0, int64_t f1, const float* few, int64_t begin,
           int64_t end) {
  Scratch scratch;
  const Side& many = job.many;
  auto* packed = static_cast<float*>(scratch.get(
      many.elements(0, end - begin < many.block ? end - begin : many.block) * sizeof(float)));
  for (int64_t m0 = begin; m0 < end; m0 += many.block) {
    const int64_t m = end - m0 < many.block ? end - m0 : many.block;
    pack(job, many, b, m0, m0 + m, packed);
    for (int64_t f = f0; f < f1; f += job.few.block)
      block(job, b, f, f1 - f < job.few.block ? f1 - f : job.few.block,
            few + job.few.elements(f0, f), m0, m, packed);
  }
}

void run_one(const Job& job, int64_t b) {
  const Side &few = job.few, &many = job.many;
  const int64_t products = job.p.k * few.rows.count;
  int64_t most = kFewBytes / static_cast<int64_t>(few.panel * sizeof(float)) * few.width();
  most = most / few.block * few.block;
  if (most < few.block) most = few.block;
  Scratch scratch;
  for (int64_t f0 = 0; f0 < few.rows.count; f0 += most) {
    const int64_t f1 = few.rows.count - f0 < most ? few.rows.count : f0 + most;
    auto* packed = static_cast<float*>(scratch.get(few.elements(f0, f1) * sizeof(float)));
    const int64_t f_panels = (f1 - f0 + few.width() - 1) / few.width();
    parallel_for(f_panels, kGrainProducts / (job.p.k * few.width()) + 1,
                 [&](int64_t begin, int64_t end) {
                   const int64_t first = f0 + begin * few.width(), last = f0 + end * few.width();
                   pack(job, few, b, first, last < f1 ? last : f1,
                        packed + static_cast<size_t>(begin) * few.panel);
                 });
    parallel_for(many.count(), kGrainProducts / (products * many.width()) + 1,
                 [&](int64_t begin, int64_t end) {
                   const int64_t last = end * many.width();
                   sweep(job, b, f0, f1, packed, begin * many.width(),
                         last < many.rows.count ? last : many.rows.count);
                 });
  }
}

}  // namespace

// Zen 3, one thread, November 2026; ratio of the dot form's time to the panels', bf16:
//   many along k:     12x1024x1024 0.67, 48x 0.80, 96x 1.14, 1024x 1.09; 1024x64x576 0.84
//   along its rows:   12x1024x1024 1.5, 32x 1.2, 96x 1.3, 1024x 1.14; 33x128x128 1.0
bool panels_take(const GemmProblem& p, uint64_t dot_need) {
  const bool swapped = p.m > p.n;
  const int64_t few = swapped ? p.n : p.m;
  const bool along_k =
      (swapped ? p.a.column : p.b.row) == static_cast<ptrdiff_t>(gemm_size(p.type));
  return few >= (along_k ? 96 : 12) && panels.get().need == dot_need;
}

void run_gemm_panels(const GemmProblem& p) {
  const Job job = make_job(p);
  const auto range = [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) run_one(job, b);
  };
  const int64_t products = p.m * p.n * p.k;
  if (products >= kLargeProducts) return range(0, p.batch);
  parallel_for(p.batch, kGrainProducts / products + 1, range);  // regions within are serial
}

}  // namespace tenon

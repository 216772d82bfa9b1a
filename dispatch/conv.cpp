// The loops around the convolution kernel. Weights are packed once; a unit of work is a band of
// output rows of one group of one image, whose input planes are packed into the second cache (or
// read as they lie), or where there are few of those, a share of its channels.
#include "dispatch/conv.h"

#include <algorithm>

#include "dispatch/gemm_parts.h"
#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<Conv> kernel_slot{kConv, "conv_f32_f32_f32"};
Slot<GemmPanelPack> packs[] = {{kGemmPanelPack, "gemm_panel_pack_f32_f32"},
                               {kGemmPanelPack, "gemm_panel_pack_f32_bf16"},
                               {kGemmPanelPack, "gemm_panel_pack_f32_f16"}};
Slot<Cast> widen[] = {{kCast, ""}, {kCast, "cast_f32_bf16"}, {kCast, "cast_f32_f16"}};
Slot<Cast> narrow[] = {{kCast, ""}, {kCast, "cast_bf16_f32"}, {kCast, "cast_f16_f32"}};
Slot<CopyRows> copies{kCopyRows, "copy_rows_b8"};

constexpr int64_t kBandBytes = 256 << 10;   // packed planes of a band that stay in L2
constexpr int64_t kFewPositions = 128;      // of a band: fewer leave long vectors empty
constexpr int64_t kMostPositions = 1024;    // outputs that wait to be copied are as wide
constexpr int64_t kBlock = 8 * kConvPanel;  // rows of weights of one kernel call
constexpr int64_t kPanel = kConvPanel;
constexpr int64_t kSizes[] = {4, 2, 2};

struct Job {
  const ConvProblem& p;
  Windows windows;
  bool as_it_lies;      // planes of x are read in place
  bool direct;          // the kernel writes y itself
  int64_t band, bands;  // rows of outputs
  int64_t parts;        // shares of a group's rows of weights
  int64_t size;         // bytes of an element of x and y
  std::vector<size_t> shifts;
  const float* weights = nullptr;
  size_t tap = 0, panel = 0, group = 0;  // elements from one to the next
  const float* bias = nullptr;

  int64_t taps() const { return p.height.taps * p.width.taps; }
  int64_t outputs() const { return p.height.out * p.width.out; }
  int64_t inputs() const { return p.height.in * p.width.in; }
  int64_t units() const { return p.batch * p.groups * bands * parts; }
};

// Rows of outputs of one band: as many as fit, but no vector is to be left half empty for that.
int64_t band_of(const ConvProblem& p, const Windows& windows) {
  const int64_t columns = windows.columns();
  const int64_t plane_row = (windows.plane(2) - windows.plane(1)) * p.channels * 4;
  const int64_t fits = kBandBytes / plane_row - windows.height().reach();
  const int64_t least = (kFewPositions + columns - 1) / columns;
  const int64_t most = std::max<int64_t>(1, kMostPositions / columns);
  const int64_t rows = std::min(p.height.out, std::min(std::max(fits, least), most));
  const int64_t bands = (p.height.out + rows - 1) / rows;
  return (p.height.out + bands - 1) / bands;
}

// Shares of the rows of weights, whole panels, so that every thread has work.
int64_t parts_of(const ConvProblem& p, int64_t units) {
  const int64_t threads = max_threads(), panels = (p.rows + kPanel - 1) / kPanel;
  if (units >= threads) return 1;
  return std::min(panels, (threads + units - 1) / units);
}

Job make_job(const ConvProblem& p) {
  const Windows windows(p.height, p.width);
  const bool f32 = p.type == 0;
  const int64_t band = band_of(p, windows), bands = (p.height.out + band - 1) / band;
  return {p,
          windows,
          f32 && windows.as_it_lies(),
          f32 && windows.columns() == p.width.out,
          band,
          bands,
          parts_of(p, p.batch * p.groups * bands),
          kSizes[p.type],
          windows.shifts(band)};
}

// A depthwise filter is read as it lies, or widened.
void widen_filters(Job& job, Scratch& memory) {
  const ConvProblem& p = job.p;
  job.tap = 1, job.panel = job.group = static_cast<size_t>(job.taps());
  job.weights = static_cast<const float*>(p.w);
  if (p.type == 0) return;
  const auto n = static_cast<size_t>(p.groups) * job.group;
  auto* to = static_cast<float*>(memory.get(n * sizeof(float)));
  widen[p.type].get().run(n, p.w, to);
  job.weights = to;
}

void pack_weights(Job& job, Scratch& memory) {
  const ConvProblem& p = job.p;
  if (p.rows == 1 && p.channels == 1) return widen_filters(job, memory);
  const PanelLayout layout{1, kConvPanel};
  const int64_t panels = (p.rows + kPanel - 1) / kPanel, taps = job.taps();
  job.panel = layout.size(static_cast<size_t>(p.channels));
  job.tap = static_cast<size_t>(panels) * job.panel;
  job.group = static_cast<size_t>(taps) * job.tap;
  auto* to =
      static_cast<float*>(memory.get(static_cast<size_t>(p.groups) * job.group * sizeof(float)));
  const int64_t row = p.channels * taps * job.size;
  const auto& kernel = packs[p.type].get();
  parallel_for(p.groups * taps, kGrainProducts / (p.rows * p.channels) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const char* from = static_cast<const char*>(p.w) + i / taps * p.rows * row;
                   kernel.run({static_cast<size_t>(p.rows), static_cast<size_t>(p.channels),
                               from + i % taps * job.size, row, taps * job.size, layout,
                               to + static_cast<size_t>(i) * job.tap});
                 }
               });
  job.weights = to;
}

const float* widen_bias(const ConvProblem& p, Scratch& memory) {
  if (p.bias == nullptr || p.type == 0) return static_cast<const float*>(p.bias);
  const auto n = static_cast<size_t>(p.groups * p.rows);
  auto* to = static_cast<float*>(memory.get(n * sizeof(float)));
  widen[p.type].get().run(n, p.bias, to);
  return to;
}

// A band of a group of an image.
struct Place {
  int64_t image, group, first, rows;  // rows of outputs from `first` on
};

// The planes of all channels, as the kernel reads them.
const float* planes_of(const Job& job, const Place& at, float* packed) {
  const ConvProblem& p = job.p;
  const int64_t channel = (at.image * p.groups + at.group) * p.channels;
  const char* x = static_cast<const char*>(p.x) + channel * job.inputs() * job.size;
  if (job.as_it_lies) return reinterpret_cast<const float*>(x) + at.first * p.width.in;
  for (int64_t c = 0; c < p.channels; ++c)
    job.windows.pack(p.type, x + c * job.inputs() * job.size, at.first, job.band,
                     packed + c * job.windows.plane(job.band));
  return packed;
}

// Outputs of `m` channels from `i` on, out of the rows with gaps in which the kernel left them.
void copy_out(const Job& job, const Place& at, int64_t i, int64_t m, const float* from) {
  const ConvProblem& p = job.p;
  const int64_t n = p.width.out, columns = job.windows.columns();
  for (int64_t r = 0; r < m; ++r, from += job.windows.positions(job.band)) {
    const int64_t channel = (at.image * p.groups + at.group) * p.rows + i + r;
    char* to = static_cast<char*>(p.y) + (channel * job.outputs() + at.first * n) * job.size;
    if (p.type == 0) {
      copies.get().run(static_cast<size_t>(at.rows), static_cast<size_t>(n) * sizeof(float), from,
                       columns * static_cast<ptrdiff_t>(sizeof(float)), to,
                       n * static_cast<ptrdiff_t>(sizeof(float)));
      continue;
    }
    for (int64_t row = 0; row < at.rows; ++row)
      narrow[p.type].get().run(static_cast<size_t>(n), from + row * columns,
                               to + row * n * job.size);
  }
}

// Rows [begin, end) of a group's weights against the planes.
void sweep(const Job& job, const Place& at, const float* planes, int64_t begin, int64_t end,
           float* buffer) {
  const ConvProblem& p = job.p;
  const int64_t plane = job.as_it_lies ? job.inputs() : job.windows.plane(job.band);
  const int64_t positions = job.windows.positions(at.rows);
  const int64_t first = at.group * p.rows;
  ConvArgs args{0,
                static_cast<size_t>(positions),
                static_cast<size_t>(job.taps()),
                static_cast<size_t>(p.channels),
                nullptr,
                job.tap,
                job.panel,
                planes,
                static_cast<size_t>(plane),
                job.shifts.data(),
                nullptr,
                buffer,
                static_cast<size_t>(job.windows.positions(job.band))};
  if (job.direct) args.y_row = static_cast<size_t>(job.outputs());
  for (int64_t i = begin; i < end; i += kBlock) {
    args.m = static_cast<size_t>(std::min(kBlock, end - i));
    args.a = job.weights + static_cast<size_t>(at.group) * job.group +
             static_cast<size_t>(i / kPanel) * job.panel;
    if (job.bias != nullptr) args.bias = job.bias + first + i;
    if (job.direct)
      args.y =
          static_cast<float*>(p.y) +
          ((at.image * p.groups * p.rows + first + i) * job.outputs() + at.first * p.width.out);
    kernel_slot.get().run(args);
    if (!job.direct) copy_out(job, at, i, static_cast<int64_t>(args.m), buffer);
  }
}

void run_units(const Job& job, int64_t begin, int64_t end) {
  const ConvProblem& p = job.p;
  const int64_t planes = job.as_it_lies ? 0 : p.channels * job.windows.plane(job.band);
  const int64_t outputs =
      job.direct ? 0 : std::min(kBlock, p.rows) * job.windows.positions(job.band);
  Scratch memory;
  auto* const buffer =
      static_cast<float*>(memory.get(static_cast<size_t>(planes + outputs) * sizeof(float)));
  const int64_t panels = (p.rows + kPanel - 1) / kPanel;
  for (int64_t unit = begin; unit < end; ++unit) {
    const int64_t part = unit % job.parts, band = unit / job.parts % job.bands;
    const int64_t group = unit / job.parts / job.bands;
    const int64_t first = band * job.band;
    const Place at{group / p.groups, group % p.groups, first,
                   std::min(job.band, p.height.out - first)};
    const float* from = planes_of(job, at, buffer);
    sweep(job, at, from, panels * part / job.parts * kPanel,
          std::min(p.rows, panels * (part + 1) / job.parts * kPanel), buffer + planes);
  }
}

}  // namespace

const char* conv_kernel_name() { return kernel_slot.get().name; }

void run_conv(const ConvProblem& p) {
  Job job = make_job(p);
  Scratch weights, bias;
  pack_weights(job, weights);
  job.bias = widen_bias(p, bias);
  const int64_t products = p.rows * p.channels * job.taps() * job.band * p.width.out / job.parts;
  parallel_for(job.units(), kGrainProducts / (products + 1) + 1,
               [&](int64_t begin, int64_t end) { run_units(job, begin, end); });
}

}  // namespace tenon

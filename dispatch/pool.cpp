// The loops around the pooling kernels. A thread pads and widens a plane at a time, or reads it as
// it lies.
#include "dispatch/pool.h"

#include <algorithm>
#include <cmath>

#include "dispatch/gemm_parts.h"
#include "dispatch/parallel.h"
#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<MaxPool> max_kernels[] = {{kMaxPool, "max_pool_f32_f32"},
                               {kMaxPool, "max_pool_bf16_f32"},
                               {kMaxPool, "max_pool_f16_f32"}};
Slot<AvgPool> avg_kernels[] = {{kAvgPool, "avg_pool_f32_f32"},
                               {kAvgPool, "avg_pool_bf16_f32"},
                               {kAvgPool, "avg_pool_f16_f32"}};
Slot<Pad> pads[] = {{kPad, "pad_f32_f32"}, {kPad, "pad_f32_bf16"}, {kPad, "pad_f32_f16"}};

constexpr int64_t kSizes[] = {4, 2, 2};
constexpr int64_t kGrain = 16384;  // elements worth a thread's while

int64_t outputs(const PoolProblem& p) { return p.height.out * p.width.out; }

// From the first element of the first window to the last of the last, padding included.
int64_t extent(const Axis& a) { return (a.out - 1) * a.stride + a.taps; }

bool inside(const Axis& a) { return a.padding == 0 && extent(a) <= a.in; }

struct Plane {
  const float* x;
  int64_t row;  // elements from row to row
};

// Plane i, with `fill` where its windows stand out.
Plane plane_of(const PoolProblem& p, int64_t i, float fill, float* to) {
  const int64_t size = kSizes[p.type], in = p.height.in * p.width.in;
  const char* x = static_cast<const char*>(p.x) + i * in * size;
  if (to == nullptr) return {reinterpret_cast<const float*>(x), p.width.in};
  const int64_t rows = extent(p.height), columns = extent(p.width);
  const auto held = [](const Axis& a, int64_t n) { return std::min(a.in, n - a.padding); };
  pads[p.type].get().run(
      {static_cast<size_t>(rows), static_cast<size_t>(columns),
       static_cast<size_t>(p.height.padding), static_cast<size_t>(held(p.height, rows)),
       static_cast<size_t>(p.width.padding), static_cast<size_t>(held(p.width, columns)), x,
       p.width.in * size, size, fill, to});
  return {to, columns};
}

// pool(plane, i) for every plane i, on all threads.
template <class F>
void each_plane(const PoolProblem& p, float fill, F pool) {
  const bool as_it_lies = p.type == 0 && inside(p.height) && inside(p.width);
  const int64_t work = outputs(p) * p.height.taps * p.width.taps;
  parallel_for(p.planes, kGrain / work + 1, [&](int64_t begin, int64_t end) {
    Scratch memory;
    const auto bytes = static_cast<size_t>(extent(p.height) * extent(p.width)) * sizeof(float);
    float* to = as_it_lies ? nullptr : static_cast<float*>(memory.get(bytes));
    for (int64_t i = begin; i < end; ++i) pool(plane_of(p, i, fill, to), i);
  });
}

// How many elements of window i along an axis are in the plane, or not behind its padding.
int64_t held(const Axis& a, int64_t i, bool count_padding) {
  const int64_t begin = i * a.stride - a.padding, end = std::min(begin + a.taps, a.in + a.padding);
  return count_padding ? end - begin : std::min(end, a.in) - std::max<int64_t>(begin, 0);
}

}  // namespace

const char* max_pool_kernel_name(int type) { return max_kernels[type].get().name; }
const char* avg_pool_kernel_name(int type) { return avg_kernels[type].get().name; }

void run_max_pool(const PoolProblem& p, int64_t* index) {
  const Axis &h = p.height, &w = p.width;
  std::vector<int64_t> first;  // the first element of each window that is in the plane
  for (int64_t r = 0; r < h.out; ++r)
    for (int64_t c = 0; c < w.out; ++c)
      first.push_back(std::max<int64_t>(0, r * h.stride - h.padding) * w.in +
                      std::max<int64_t>(0, c * w.stride - w.padding));
  const auto& kernel = max_kernels[p.type].get();
  each_plane(p, -INFINITY, [&](const Plane& plane, int64_t i) {
    const int64_t at = i * outputs(p);
    kernel.run({static_cast<size_t>(h.out), static_cast<size_t>(w.out), static_cast<size_t>(h.taps),
                static_cast<size_t>(w.taps), static_cast<size_t>(h.stride),
                static_cast<size_t>(w.stride), plane.x, static_cast<size_t>(plane.row),
                -h.padding * w.in - w.padding, w.in, first.data(),
                static_cast<char*>(p.y) + at * kSizes[p.type], index + at});
  });
}

void run_avg_pool(const PoolProblem& p, const PoolDivisor& divisor) {
  const Axis &h = p.height, &w = p.width;
  std::vector<float> divisors;
  for (int64_t r = 0; r < h.out; ++r)
    for (int64_t c = 0; c < w.out; ++c)
      divisors.push_back(static_cast<float>(divisor.given != 0
                                                ? divisor.given
                                                : held(h, r, divisor.count_padding) *
                                                      held(w, c, divisor.count_padding)));
  const auto& kernel = avg_kernels[p.type].get();
  each_plane(p, 0, [&](const Plane& plane, int64_t i) {
    kernel.run({static_cast<size_t>(h.out), static_cast<size_t>(w.out), static_cast<size_t>(h.taps),
                static_cast<size_t>(w.taps), static_cast<size_t>(h.stride),
                static_cast<size_t>(w.stride), plane.x, static_cast<size_t>(plane.row),
                divisors.data(), static_cast<char*>(p.y) + i * outputs(p) * kSizes[p.type]});
  });
}

}  // namespace tenon

// Planes packed for windows that overlap.
#include "dispatch/windows.h"

#include <algorithm>

#include "dispatch/tables.h"

namespace tenon {
namespace {

Slot<Pad> pads[] = {{kPad, "pad_f32_f32"}, {kPad, "pad_f32_bf16"}, {kPad, "pad_f32_f16"}};
constexpr int64_t kSizes[] = {4, 2, 2};

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<int64_t> phases_of(const Axis& axis) {
  std::vector<int64_t> all;
  for (int64_t t = 0; t < axis.taps; ++t)
    if (std::find(all.begin(), all.end(), axis.phase_of(t)) == all.end())
      all.push_back(axis.phase_of(t));
  return all;
}

size_t index_of(const std::vector<int64_t>& all, int64_t phase) {
  return static_cast<size_t>(std::find(all.begin(), all.end(), phase) - all.begin());
}

}  // namespace

Axis::Run Axis::run(int64_t phase, int64_t first, int64_t size) const {
  const int64_t begin = first * stride + phase - padding;  // of the input; may be negative
  const int64_t before = begin >= 0 ? 0 : std::min(size, ceil_divide(-begin, stride));
  const int64_t from = begin + before * stride;
  const int64_t left = from < in ? ceil_divide(in - from, stride) : 0;
  return {before, std::min(left, size - before), from};
}

Windows::Windows(const Axis& height, const Axis& width)
    : height_(height),
      width_(width),
      row_phases_(phases_of(height)),
      column_phases_(phases_of(width)) {
  phases_ = static_cast<int64_t>(row_phases_.size() * column_phases_.size());
}

bool Windows::as_it_lies() const {
  const auto whole = [](const Axis& a) { return a.stride == 1 && a.padding == 0; };
  return whole(height_) && whole(width_) && columns() == width_.in;
}

std::vector<size_t> Windows::shifts(int64_t rows) const {
  std::vector<size_t> all;
  for (int64_t r = 0; r < height_.taps; ++r)
    for (int64_t c = 0; c < width_.taps; ++c) {
      const size_t phase = index_of(row_phases_, height_.phase_of(r)) * column_phases_.size() +
                           index_of(column_phases_, width_.phase_of(c));
      all.push_back(phase * static_cast<size_t>(phase_size(rows)) +
                    static_cast<size_t>(height_.shift_of(r) * columns() + width_.shift_of(c)));
    }
  return all;
}

void Windows::pack(int type, const void* x, int64_t first, int64_t rows, float* to) const {
  const Kernel<Pad>& kernel = pads[type].get();
  const int64_t size = kSizes[type], row = width_.in * size;
  for (const int64_t row_phase : row_phases_) {
    const Axis::Run down = height_.run(row_phase, first, rows + height_.reach());
    for (const int64_t column_phase : column_phases_) {
      const Axis::Run along = width_.run(column_phase, 0, columns());
      const char* from = static_cast<const char*>(x) + down.from * row + along.from * size;
      kernel.run({static_cast<size_t>(rows + height_.reach()), static_cast<size_t>(columns()),
                  static_cast<size_t>(down.before), static_cast<size_t>(down.count),
                  static_cast<size_t>(along.before), static_cast<size_t>(along.count), from,
                  height_.stride * row, width_.stride * size, 0.0f, to});
      to += phase_size(rows);
    }
  }
}

}  // namespace tenon

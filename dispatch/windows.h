// Windows of a plane, as convolution and pooling see them: the padded copy of a band of rows, split
// by the phases of the stride, and where each tap of a window begins in it (isa/conv.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon {

// One of the two dimensions of a plane; `out` windows of `taps` elements each.
struct Axis {
  int64_t in, out, taps, stride, padding, dilation;

  // How far behind the first tap the last one begins, within a phase.
  int64_t reach() const { return (taps - 1) * dilation / stride; }
  int64_t phase_of(int64_t tap) const { return tap * dilation % stride; }
  int64_t shift_of(int64_t tap) const { return tap * dilation / stride; }
  // The elements a phase has from window `first` on: `before` in the padding, then `count` of the
  // input from `from` on, a stride apart, `size` at most in all.
  struct Run {
    int64_t before, count, from;
  };
  Run run(int64_t phase, int64_t first, int64_t size) const;
};

class Windows {
 public:
  Windows(const Axis& height, const Axis& width);

  // A window's row of a band's plane has so many places; those from width.out on are nobody's.
  int64_t columns() const { return width_.out + width_.reach(); }
  // f32 elements of a packed plane, all its phases, for a band of `rows` rows of outputs.
  int64_t plane(int64_t rows) const { return phases_ * phase_size(rows); }
  // The places from the first output of a band to its last.
  int64_t positions(int64_t rows) const { return (rows - 1) * columns() + width_.out; }
  // True where a plane as it lies is a packed one.
  bool as_it_lies() const;
  // Where each tap begins in the plane of a band.
  std::vector<size_t> shifts(int64_t rows) const;
  // The plane at x, of type f32, bf16 or f16 (0, 1, 2), for the windows of rows [first, first +
  // rows).
  void pack(int type, const void* x, int64_t first, int64_t rows, float* to) const;

  const Axis& height() const { return height_; }
  const Axis& width() const { return width_; }

 private:
  int64_t phase_size(int64_t rows) const { return (rows + height_.reach()) * columns(); }

  Axis height_, width_;
  int64_t phases_;
  std::vector<int64_t> row_phases_, column_phases_;  // in the order of their planes
};

}  // namespace tenon

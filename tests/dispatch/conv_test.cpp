// Convolutions of whole tensors against their definition in double: strides, padding, dilation,
// groups, every storage type, with unreadable pages around the input and the output.
#include "dispatch/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "isa/gemm.h"
#include "tests/support/stored.h"
#include "tests/support/values.h"

namespace tenon::test {
namespace {

const char* const kTypes[] = {"f32", "bf16", "f16"};

Axis axis(int64_t in, int64_t taps, int64_t stride = 1, int64_t padding = 0, int64_t dilation = 1) {
  return {in,      (in + 2 * padding - dilation * (taps - 1) - 1) / stride + 1,
          taps,    stride,
          padding, dilation};
}

// Batch, groups, channels and rows of a group, then the axes.
struct Shape {
  int64_t batch, groups, channels, rows;
  Axis height, width;
  bool bias = true;

  int64_t outputs() const { return height.out * width.out; }
  int64_t inputs() const { return height.in * width.in; }
  int64_t taps() const { return height.taps * width.taps; }
};
std::ostream& operator<<(std::ostream& os, const Shape& s) {
  const auto print = [&](const Axis& a) {
    os << " " << a.in << "->" << a.out << " taps " << a.taps << " stride " << a.stride
       << " padding " << a.padding << " dilation " << a.dilation;
  };
  os << s.batch << " x " << s.groups << " x " << s.channels << " to " << s.rows;
  print(s.height), print(s.width);
  return os;
}

size_t count(int64_t n) { return static_cast<size_t>(n); }

struct Operands {
  Stored x, w, bias, y;

  Operands(const Shape& s, const char* type)
      : x(type, count(s.batch * s.groups * s.channels * s.inputs())),
        w(type, count(s.groups * s.rows * s.channels * s.taps()), Flush::kBegin),
        bias(type, count(s.groups * s.rows)),
        y(type, count(s.batch * s.groups * s.rows * s.outputs()), Flush::kBegin) {
    auto rng = make_rng(x.size());
    std::uniform_real_distribution<float> number(-1, 1);
    for (Stored* t : {&x, &w, &bias})
      for (size_t i = 0; i < t->size(); ++i) t->set(i, number(rng));
  }
};

struct Exact {
  double value, scale;
};

// Output (row, column) of channel o of group g of image b.
Exact output(const Shape& s, const Operands& t, int64_t b, int64_t g, int64_t o, int64_t row,
             int64_t column) {
  const int64_t channel = g * s.rows + o;
  Exact e{s.bias ? t.bias[count(channel)] : 0, 0};
  e.scale = std::fabs(e.value);
  for (int64_t c = 0; c < s.channels; ++c)
    for (int64_t p = 0; p < s.taps(); ++p) {
      const Axis &h = s.height, &w = s.width;
      const int64_t i = row * h.stride - h.padding + p / w.taps * h.dilation;
      const int64_t j = column * w.stride - w.padding + p % w.taps * w.dilation;
      if (i < 0 || i >= h.in || j < 0 || j >= w.in) continue;
      const int64_t plane = (b * s.groups + g) * s.channels + c;
      const double product = t.x[count(plane * s.inputs() + i * w.in + j)] *
                             t.w[count((channel * s.channels + c) * s.taps() + p)];
      e.value += product, e.scale += std::fabs(product);
    }
  return e;
}

void check(const Shape& s, int type) {
  Operands t(s, kTypes[type]);
  run_conv({type, s.batch, s.groups, s.channels, s.rows, s.height, s.width, t.x.at(0), t.w.at(0),
            s.bias ? t.bias.at(0) : nullptr, t.y.at(0)});
  const double units[] = {0, 0x1p-8, 0x1p-11};  // half a unit of the type
  size_t at = 0;
  for (int64_t b = 0; b < s.batch; ++b)
    for (int64_t o = 0; o < s.groups * s.rows; ++o)
      for (int64_t i = 0; i < s.outputs(); ++i, ++at) {
        const Exact e = output(s, t, b, o / s.rows, o % s.rows, i / s.width.out, i % s.width.out);
        const double sum = static_cast<double>(s.taps() * s.channels + 1) * kGemmUnit * e.scale;
        ASSERT_LE(std::fabs(t.y[at] - e.value), sum + units[type] * (std::fabs(e.value) + sum))
            << s << ", " << kTypes[type] << ", image " << b << ", channel " << o << ", place " << i;
      }
}

TEST(Conv, OneByOne) {
  for (int type : {0, 1, 2}) {
    check({2, 1, 5, 7, axis(6, 1), axis(9, 1)}, type);
    check({1, 1, 3, 4, axis(9, 1, 2), axis(8, 1, 2)}, type);
    check({1, 2, 4, 3, axis(5, 1, 1, 1), axis(5, 1, 1, 1), false}, type);
    check({1, 1, 40, 30, axis(7, 1), axis(7, 1)}, type);
  }
}

TEST(Conv, Windows) {
  for (int type : {0, 1, 2}) {
    check({2, 1, 3, 5, axis(8, 3, 1, 1), axis(10, 3, 1, 1)}, type);
    check({1, 1, 3, 4, axis(12, 7, 2, 3), axis(13, 7, 2, 3)}, type);
    check({1, 1, 2, 4, axis(9, 3), axis(9, 3)}, type);  // read as it lies
    check({1, 1, 2, 2, axis(11, 3, 1, 2, 2), axis(9, 2, 3, 1, 3)}, type);
    check({1, 2, 3, 4, axis(6, 3, 3, 1), axis(7, 5, 2, 4), false}, type);
    check({3, 1, 2, 2, axis(1, 1), axis(30, 3, 1, 1)}, type);  // one dimension
  }
}

TEST(Conv, StridesPastTheWindow) {
  check({1, 1, 2, 3, axis(9, 2, 4), axis(11, 1, 5, 2)}, 0);
  check({1, 1, 2, 3, axis(2, 5, 1, 3), axis(1, 1, 1, 4)}, 0);  // windows that see padding alone
}

TEST(Conv, Depthwise) {
  for (int type : {0, 1, 2})
    for (int64_t taps : {3, 5})
      for (int64_t stride : {1, 2})
        for (int64_t dilation : {1, 2}) {
          const int64_t padding = taps / 2 * dilation;
          check({2, 4, 1, 1, axis(13, taps, stride, padding, dilation),
                 axis(14, taps, stride, padding, dilation)},
                type);
        }
  check({1, 3, 1, 2, axis(8, 3, 1, 1), axis(8, 3, 1, 1)}, 0);
}

TEST(Conv, ManyBands) { check({1, 1, 40, 4, axis(60, 3, 1, 1), axis(70, 3, 1, 1)}, 0); }

}  // namespace
}  // namespace tenon::test

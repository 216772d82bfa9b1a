// copy_ and _to_copy: conversion among f32, bf16, f16 and int64, and copies of one dtype between
// equal layouts or into a transposed one.
#include <ATen/DimVector.h>

#include <algorithm>
#include <cstring>

#include "dispatch/parallel.h"
#include "dispatch/tables.h"
#include "ops/override.h"
#include "ops/overrides.h"
#include "ops/view.h"

namespace tenon::ops {
namespace {

constexpr int64_t kGrain = 32768;  // elements worth a thread's while
constexpr int64_t kPiece = 64;     // rows or columns of a matrix that threads share out
constexpr int64_t kLeastSide = 8;  // a matrix with a shorter side is a matter of strided loops

// From row to column: f32, bf16, f16, int64, in the order of float_type().
Slot<Cast> cast_kernels[4][4] = {
    {{kCast, ""}, {kCast, "cast_bf16_f32"}, {kCast, "cast_f16_f32"}, {kCast, "cast_i64_f32"}},
    {{kCast, "cast_f32_bf16"}, {kCast, ""}, {kCast, "cast_f16_bf16"}, {kCast, "cast_i64_bf16"}},
    {{kCast, "cast_f32_f16"}, {kCast, "cast_bf16_f16"}, {kCast, ""}, {kCast, "cast_i64_f16"}},
    {{kCast, "cast_f32_i64"}, {kCast, "cast_bf16_i64"}, {kCast, "cast_f16_i64"}, {kCast, ""}}};

Slot<Transpose> transpose_kernels[] = {
    {kTranspose, "transpose_b16"}, {kTranspose, "transpose_b32"}, {kTranspose, "transpose_b64"}};

int cast_type(ScalarType type) { return type == at::kLong ? 3 : float_type(type); }

// What a copy of x's elements into y's dtype runs: null for memcpy.
struct Flat {
  Reason why = Reason::kNone;
  const Kernel<Cast>* kernel = nullptr;

  const char* name() const { return kernel == nullptr ? "memcpy" : kernel->name; }
};

Flat plan_flat(ScalarType from, ScalarType to) {
  if (from == to) return {};
  const int x = cast_type(from), y = cast_type(to);
  if (x < 0 || y < 0) return {Reason::kDtype};
  return {Reason::kNone, &cast_kernels[x][y].get()};
}

void run_flat(const Flat& flat, const Tensor& x, const Tensor& y) {
  const auto from_size = static_cast<int64_t>(x.element_size());
  const auto to_size = static_cast<int64_t>(y.element_size());
  const auto* from = data<char>(x);
  auto* to = mutable_data<char>(y);
  parallel_for(x.numel(), kGrain, [&](int64_t begin, int64_t end) {
    const auto n = static_cast<size_t>(end - begin);
    if (flat.kernel == nullptr)
      std::memcpy(to + begin * to_size, from + begin * from_size, n * x.element_size());
    else
      flat.kernel->run(n, from + begin * from_size, to + begin * to_size);
  });
}

// A dimension of a copy: its extent and both strides, in elements.
struct Dim {
  int64_t size, x, y;
};
using Dims = c10::SmallVector<Dim, at::kDimVectorStaticSize>;

// The dimensions by falling stride in y; those that lie alike in x and y become one.
Dims merged(const Tensor& x, const Tensor& y) {
  Dims dims;
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.size(d) != 1) dims.push_back({x.size(d), x.stride(d), y.stride(d)});
  std::sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) { return a.y > b.y; });
  Dims merged;
  for (const Dim& d : dims) {
    if (!merged.empty() && merged.back().x == d.x * d.size && merged.back().y == d.y * d.size)
      merged.back() = {merged.back().size * d.size, d.x, d.y};
    else
      merged.push_back(d);
  }
  return merged;
}

// A copy as transposes of `rows` x `cols` matrices: rows run along y's contiguous dimension,
// columns along x's. Every combination of the outer dimensions has one, further dimensions of x
// with stride 1 included: the windows of unfold have two.
struct Matrices {
  Reason why = Reason::kNone;
  int64_t count = 1;
  Dim rows{}, cols{};
  Dims outer;

  explicit Matrices(Reason r) : why(r) {}
  Matrices(const Tensor& x, const Tensor& y) {
    for (const Dim& d : merged(x, y)) {
      if (d.y == 1 && d.x != 1) {
        rows = d;
      } else if (d.x == 1 && d.y != 1 && cols.size == 0) {
        cols = d;
      } else {
        outer.push_back(d);
        count *= d.size;
      }
    }
    if (rows.size < kLeastSide || cols.size < kLeastSide) why = Reason::kLayout;
  }

  // Where matrix i begins, in elements of x and y.
  std::pair<int64_t, int64_t> offset(int64_t i) const {
    int64_t x = 0, y = 0;
    for (size_t d = outer.size(); d-- > 0; i /= outer[d].size) {
      x += i % outer[d].size * outer[d].x;
      y += i % outer[d].size * outer[d].y;
    }
    return {x, y};
  }
};

int transpose_type(const Tensor& x) {
  switch (x.element_size()) {
    case 2:
      return 0;
    case 4:
      return 1;
    case 8:
      return 2;
    default:
      return -1;
  }
}

void run_transpose(const Kernel<Transpose>& k, const Matrices& m, const Tensor& x,
                   const Tensor& y) {
  const auto size = static_cast<int64_t>(x.element_size());
  const bool by_rows = m.rows.size > m.cols.size;
  const int64_t extent = by_rows ? m.rows.size : m.cols.size;
  const int64_t across = by_rows ? m.cols.size : m.rows.size;
  const int64_t pieces = (extent + kPiece - 1) / kPiece;
  const auto* from = data<char>(x);
  auto* to = mutable_data<char>(y);
  const int64_t grain = std::max<int64_t>(1, kGrain / (across * kPiece));
  parallel_for(m.count * pieces, grain, [&](int64_t i, int64_t end) {
    while (i < end) {
      const int64_t first = i % pieces, last = std::min(pieces, first + end - i);
      const int64_t begin = first * kPiece, n = std::min(extent, last * kPiece) - begin;
      const int64_t r = by_rows ? begin : 0, c = by_rows ? 0 : begin;
      const auto [at_x, at_y] = m.offset(i / pieces);
      k.run(static_cast<size_t>(by_rows ? n : m.rows.size),
            static_cast<size_t>(by_rows ? m.cols.size : n), from + (at_x + r * m.rows.x + c) * size,
            m.rows.x * size, to + (at_y + r + c * m.cols.y) * size, m.cols.y * size);
      i += last - first;
    }
  });
}

bool equal_layout(const Tensor& x, const Tensor& y) {
  return (x.is_contiguous() && y.is_contiguous()) || (same_layout(x, y) && dense(x));
}

Reason gate(const Tensor& y, const Tensor& x) {
  if (!plain(x) || !plain(y) || !dense(y)) return Reason::kLayout;
  if (x.sizes() != y.sizes()) return Reason::kShape;
  if (x.numel() == 0) return Reason::kSize;
  return x.is_alias_of(y) && !disjoint(y, x) ? Reason::kOverlap : Reason::kNone;
}

// What stock's copy streams out of cache at least as well: one dtype, and f32 to bf16 (bench ops
// copy; Zen 3, torch 2.13).
bool is_streamed(const Tensor& x, ScalarType to) {
  constexpr int64_t kMost = 65536;
  const bool moved = x.scalar_type() == to;
  if (x.numel() <= kMost || stock_is_scalar()) return false;
  return moved || (x.scalar_type() == at::kFloat && to == at::kBFloat16);
}

// Whether options ask for more than another dtype on the same device.
bool asks_for_more(const Tensor& x, std::optional<at::Layout> layout,
                   std::optional<at::Device> device, std::optional<bool> pin_memory,
                   std::optional<at::MemoryFormat> format) {
  if (layout.value_or(at::kStrided) != at::kStrided || pin_memory.value_or(false)) return true;
  if (device && !device->is_cpu()) return true;
  const auto wanted = format.value_or(at::MemoryFormat::Preserve);
  return wanted != at::MemoryFormat::Preserve &&
         !(wanted == at::MemoryFormat::Contiguous && x.is_contiguous());
}

}  // namespace

Tensor& copy_(Tensor& y, const Tensor& x, bool non_blocking) {
  Reason why = gate(y, x);
  if (why == Reason::kNone && equal_layout(x, y)) {
    Flat flat = plan_flat(x.scalar_type(), y.scalar_type());
    if (flat.why == Reason::kNone && is_streamed(x, y.scalar_type())) flat.why = Reason::kSize;
    if (flat.why != Reason::kNone) return stock<&copy_>(flat.why, y, x, non_blocking);
    const auto scope = taken<&copy_>(flat.name());
    run_flat(flat, x, y);
    return y;
  }
  const int type = transpose_type(x);
  if (why == Reason::kNone && (x.scalar_type() != y.scalar_type() || type < 0))
    why = Reason::kDtype;
  const Matrices m = why == Reason::kNone ? Matrices(x, y) : Matrices(why);
  if (m.why != Reason::kNone) return stock<&copy_>(m.why, y, x, non_blocking);
  const Kernel<Transpose>& k = transpose_kernels[type].get();
  const auto scope = taken<&copy_>(k.name);
  run_transpose(k, m, x, y);
  return y;
}

Tensor to_copy(const Tensor& x, std::optional<ScalarType> type, std::optional<at::Layout> layout,
               std::optional<at::Device> device, std::optional<bool> pin_memory, bool non_blocking,
               std::optional<at::MemoryFormat> format) {
  const ScalarType to = type.value_or(x.scalar_type());
  Flat flat = plan_flat(x.scalar_type(), to);
  if (asks_for_more(x, layout, device, pin_memory, format))
    flat.why = Reason::kArgument;
  else if (!plain(x) || !dense(x))
    flat.why = Reason::kLayout;
  else if (flat.why == Reason::kNone && is_streamed(x, to))
    flat.why = Reason::kSize;
  if (flat.why != Reason::kNone)
    return stock<&to_copy>(flat.why, x, type, layout, device, pin_memory, non_blocking, format);
  const auto scope = taken<&to_copy>(flat.name());
  Tensor y = like_new(x) ? empty_cpu(x.sizes(), to) : empty_strided_cpu(x.sizes(), x.strides(), to);
  run_flat(flat, x, y);
  return y;
}

}  // namespace tenon::ops

// A matrix product to run on any row of the tile_mm table: operands between guard pages in any
// layout, a workspace of exactly the promised size, and the result beside canaries.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "dispatch/tables.h"
#include "tests/support/guarded.h"
#include "tests/support/rows.h"
#include "tests/support/values.h"

namespace tenon::test {

struct Size {
  size_t m, n, k;
};

enum class Layout { kRows, kColumns };  // which of a matrix's lines are contiguous

// A matrix of rows x cols whose lines are `extra` elements apart.
template <class T>
class Matrix {
 public:
  Matrix(size_t rows, size_t cols, Layout layout, Flush flush = Flush::kEnd, size_t extra = 0)
      : rows_(rows), cols_(cols), by_rows_(layout == Layout::kRows) {
    line_ = (by_rows_ ? cols : rows) + extra;
    const size_t lines = by_rows_ ? rows : cols;
    const size_t size = lines == 0 || line_ == extra ? 0 : lines * line_ - extra;
    memory_ = std::make_unique<Guarded<T>>(size, flush);
  }
  T* data() { return memory_->data(); }
  Guarded<T>& memory() { return *memory_; }
  T& at(size_t i, size_t j) { return (*memory_)[by_rows_ ? i * line_ + j : j * line_ + i]; }
  ptrdiff_t row() const { return static_cast<ptrdiff_t>((by_rows_ ? line_ : 1) * sizeof(T)); }
  ptrdiff_t col() const { return static_cast<ptrdiff_t>((by_rows_ ? 1 : line_) * sizeof(T)); }
  size_t rows() const { return rows_; }
  size_t cols() const { return cols_; }

  template <class F>
  void fill(F f) {
    for (size_t i = 0; i < memory_->size(); ++i) (*memory_)[i] = f();
  }

 private:
  size_t rows_, cols_, line_ = 0;
  bool by_rows_;
  std::unique_ptr<Guarded<T>> memory_;
};

// A: T, C: R.
template <class T, class R>
struct Mm {
  Size size;
  Matrix<T> a, b;
  Matrix<R> c;
  TileRange range;
  TileMmArgs args{};

  Mm(Size s, Layout left, Layout right, Flush flush = Flush::kEnd, size_t extra = 0)
      : size(s),
        a(s.m, s.k, left, flush, extra),
        b(s.k, s.n, right, flush, extra),
        c(s.m, s.n, Layout::kRows, flush, extra) {
    args = {.m = s.m,
            .n = s.n,
            .k = s.k,
            .a = a.data(),
            .a_row = a.row(),
            .a_col = a.col(),
            .b = b.data(),
            .b_row = b.row(),
            .b_col = b.col(),
            .c = c.data(),
            .c_row = c.row()};
  }

  // Runs rows i.. and columns j.. of the product only.
  void run(const Kernel<TileMm>& kernel, size_t i, size_t j, size_t m, size_t n) {
    TileMmArgs part = args;
    Guarded<char> workspace(tile_mm_workspace(m, n, size.k, sizeof(T)));
    part.m = m, part.n = n;
    part.a = static_cast<const char*>(args.a) + static_cast<ptrdiff_t>(i) * args.a_row;
    part.b = static_cast<const char*>(args.b) + static_cast<ptrdiff_t>(j) * args.b_col;
    part.c = static_cast<char*>(args.c) + static_cast<ptrdiff_t>(i) * args.c_row + j * sizeof(R);
    if (args.d != nullptr)
      part.d = static_cast<const char*>(args.d) + static_cast<ptrdiff_t>(i) * args.d_row +
               static_cast<ptrdiff_t>(j) * args.d_col;
    part.workspace = workspace.data();
    part.range = &range;
    kernel.run(part);
  }
  void run(const Kernel<TileMm>& kernel) { run(kernel, 0, 0, size.m, size.n); }

  // The exact sum and the sum of magnitudes at (i, j).
  void exact(size_t i, size_t j, double& sum, double& magnitude) {
    sum = magnitude = 0;
    for (size_t p = 0; p < size.k; ++p) {
      const double term = double{to_f32(a.at(i, p))} * to_f32(b.at(p, j));
      sum += term;
      magnitude += std::fabs(term);
    }
  }
};

// The rows of the table for one operation, and the AMX rows in the form compiled for AVX2.
std::vector<Kernel<TileMm>> tile_mm_rows(std::string_view op);

// Both ends of memory, or one for the reference, which is slow under emulation.
inline std::vector<Flush> flushes_for(const Kernel<TileMm>& k) {
  if (k.need == kNone) return {Flush::kEnd};
  return {Flush::kEnd, Flush::kBegin};
}

// Counts the row as executed on this machine, whichever form ran.
void note_execution(const Kernel<TileMm>& form);

inline constexpr Layout kLayouts[] = {Layout::kRows, Layout::kColumns};

}  // namespace tenon::test

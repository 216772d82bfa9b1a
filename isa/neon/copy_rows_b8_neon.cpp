// Copies of rows in vectors of 16 bytes: isa/copy_rows.h.
#include "isa/copy_rows.h"
#include "isa/neon/copy.h"

namespace tenon {

void copy_rows_b8_neon(size_t rows, size_t bytes, const void* x, ptrdiff_t x_stride, void* y,
                       ptrdiff_t y_stride) noexcept {
  const char* from = static_cast<const char*>(x);
  char* to = static_cast<char*>(y);
  with_size(bytes, [&](auto size) {
    for (size_t r = 0; r < rows; ++r, from += x_stride, to += y_stride) copy(size, from, to);
  });
}

}  // namespace tenon

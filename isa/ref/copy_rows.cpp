// Reference copies of rows: isa/copy_rows.h and isa/gather.h say what they do.
#include "isa/copy_rows.h"

#include "isa/gather.h"
#include "isa/types.h"

namespace tenon {
namespace {

const char* at(const void* x, ptrdiff_t offset) { return static_cast<const char*>(x) + offset; }
char* at(void* y, ptrdiff_t offset) { return static_cast<char*>(y) + offset; }

template <class Index>
void gather(size_t rows, size_t bytes, const Index* index, const void* x, ptrdiff_t x_stride,
            void* y) {
  for (size_t r = 0; r < rows && bytes > 0; ++r)
    std::memcpy(at(y, static_cast<ptrdiff_t>(r * bytes)), at(x, index[r] * x_stride), bytes);
}

}  // namespace

void copy_rows_b8_ref(size_t rows, size_t bytes, const void* x, ptrdiff_t x_stride, void* y,
                      ptrdiff_t y_stride) noexcept {
  for (ptrdiff_t r = 0; r < static_cast<ptrdiff_t>(rows) && bytes > 0; ++r)
    std::memcpy(at(y, r * y_stride), at(x, r * x_stride), bytes);
}

void gather_b8_i64_ref(size_t rows, size_t bytes, const void* index, const void* x,
                       ptrdiff_t x_stride, void* y) noexcept {
  gather(rows, bytes, static_cast<const int64_t*>(index), x, x_stride, y);
}

void gather_b8_i32_ref(size_t rows, size_t bytes, const void* index, const void* x,
                       ptrdiff_t x_stride, void* y) noexcept {
  gather(rows, bytes, static_cast<const int32_t*>(index), x, x_stride, y);
}

}  // namespace tenon

// Rows picked by int64 indices: isa/gather.h.
#include "isa/gather.h"
#include "isa/neon/copy.h"

namespace tenon {

void gather_b8_i64_neon(size_t rows, size_t bytes, const void* index, const void* x,
                        ptrdiff_t x_stride, void* y) noexcept {
  gather(rows, bytes, static_cast<const int64_t*>(index), static_cast<const char*>(x), x_stride,
         static_cast<char*>(y));
}

}  // namespace tenon

// Reference padding: isa/pad.h says what it computes.
#include "isa/pad.h"

#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
const T* at(const PadArgs& g, size_t r, size_t c) {
  return reinterpret_cast<const T*>(static_cast<const char*>(g.x) +
                                    static_cast<ptrdiff_t>(r) * g.x_row +
                                    static_cast<ptrdiff_t>(c) * g.x_column);
}

template <class T>
void pad(const PadArgs& g) {
  for (size_t i = 0; i < g.rows; ++i)
    for (size_t j = 0; j < g.columns; ++j) {
      const size_t r = i - g.top, c = j - g.left;  // large where they lie before the beginning
      const bool inside = r < g.height && c < g.width;
      g.y[i * g.columns + j] = inside ? to_f32(*at<T>(g, r, c)) : g.fill;
    }
}

}  // namespace

void pad_f32_f32_ref(const PadArgs& args) noexcept { pad<float>(args); }
void pad_f32_bf16_ref(const PadArgs& args) noexcept { pad<bf16>(args); }
void pad_f32_f16_ref(const PadArgs& args) noexcept { pad<f16>(args); }

}  // namespace tenon

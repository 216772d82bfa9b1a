// Reference pooling: isa/max_pool.h and isa/avg_pool.h say what each computes.
#include <cmath>

#include "isa/avg_pool.h"
#include "isa/max_pool.h"
#include "isa/types.h"

namespace tenon {
namespace {

template <class T>
void max_window(const MaxPoolArgs& g, size_t i, size_t j) {
  float value = -INFINITY;
  int64_t place = g.first[i * g.n + j];
  for (size_t r = i * g.row_step; r < i * g.row_step + g.height; ++r)
    for (size_t c = j * g.step; c < j * g.step + g.width; ++c) {
      const float e = g.x[r * g.x_row + c];
      if (!(e > value || std::isnan(e))) continue;
      value = e;
      place = g.origin + static_cast<int64_t>(r) * g.plane_row + static_cast<int64_t>(c);
    }
  static_cast<T*>(g.y)[i * g.n + j] = from_f32<T>(value);
  g.index[i * g.n + j] = place;
}

template <class T>
void max_pool(const MaxPoolArgs& g) {
  for (size_t i = 0; i < g.rows; ++i)
    for (size_t j = 0; j < g.n; ++j) max_window<T>(g, i, j);
}

template <class T>
void avg_pool(const AvgPoolArgs& g) {
  for (size_t i = 0; i < g.rows; ++i)
    for (size_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (size_t r = i * g.row_step; r < i * g.row_step + g.height; ++r)
        for (size_t c = 0; c < g.width; ++c) sum += g.x[r * g.x_row + j * g.step + c];
      static_cast<T*>(g.y)[i * g.n + j] = from_f32<T>(sum / g.divisor[i * g.n + j]);
    }
}

}  // namespace

#define POOL(type, T)                                                                     \
  void max_pool_##type##_f32_ref(const MaxPoolArgs& args) noexcept { max_pool<T>(args); } \
  void avg_pool_##type##_f32_ref(const AvgPoolArgs& args) noexcept { avg_pool<T>(args); }
POOL(f32, float)
POOL(bf16, bf16)
POOL(f16, f16)

}  // namespace tenon

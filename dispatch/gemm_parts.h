// What the loops around different gemm kernels share.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "dispatch/gemm.h"

namespace tenon {

// Memory of one call: small needs come from the stack.
class Scratch {
 public:
  void* get(size_t bytes) {
    if (bytes <= sizeof local_) return local_;
    heap_.reset(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (heap_ == nullptr) throw std::bad_alloc();
    return heap_.get();
  }

 private:
  struct Free {
    void operator()(void* p) const { std::free(p); }
  };
  alignas(64) char local_[8192];
  std::unique_ptr<void, Free> heap_;
};

// An operand as rows along k.
struct Rows {
  const char* data;
  ptrdiff_t batch, row, column;
  int64_t count;

  const char* at(int64_t b, int64_t i) const { return data + b * batch + i * row; }
};

constexpr int64_t kFewBytes = 16 << 20;      // packed rows of the shorter operand at a time
constexpr int64_t kGrainProducts = 1 << 16;  // multiply-adds worth a thread
constexpr int64_t kLargeProducts = int64_t{1} << 24;  // of a product that has threads to itself

// True when a kernel's f32 or i32 output is the result as it stands.
bool plain_end(const GemmProblem& p);

// y = round(alpha * tile + beta * c) for the m x n outputs of batch b from (i, j) on; tile is
// dense.
void finish(const GemmProblem& p, int64_t b, int64_t i, int64_t j, int64_t m, int64_t n,
            const float* tile);

}  // namespace tenon

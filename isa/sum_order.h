// The order in which softmax and the norms sum a row, the same on every ISA and for any split of
// the work: blocks of kSumBlock elements, added in turn; within a block element i belongs to lane
// i mod kSumLanes, each lane adds its elements in turn, and lanes fold in halves (64 to 32 ... to
// 1).
#pragma once
#include <cstddef>

namespace tenon {

constexpr size_t kSumLanes = 64;
constexpr size_t kSumBlock = 2048;

}  // namespace tenon

// Every kernel table as a constant, with the declarations of its kernels: kUnary, ...
// A family here is also a line of families.inc.
#pragma once
#include "dispatch/pick.h"
#include "isa/softmax.h"
#include "isa/softmax_backward.h"
#include "isa/unary.h"

namespace tenon {

#define TENON_FN Unary
#define TENON_CONSTANT kUnary
#define TENON_ROWS "isa/tables/unary.inc"
#include "dispatch/table.inc"

#define TENON_FN Softmax
#define TENON_CONSTANT kSoftmax
#define TENON_ROWS "isa/tables/softmax.inc"
#include "dispatch/table.inc"

#define TENON_FN SoftmaxBackward
#define TENON_CONSTANT kSoftmaxBackward
#define TENON_ROWS "isa/tables/softmax_backward.inc"
#include "dispatch/table.inc"

}  // namespace tenon

// Every kernel table as a constant, with the declarations of its kernels: kUnary, ...
// A family here is also a line of families.inc.
#pragma once
#include "dispatch/pick.h"
#include "isa/gemm.h"
#include "isa/gemm_columns.h"
#include "isa/gemm_end.h"
#include "isa/gemm_pack.h"
#include "isa/unary.h"

namespace tenon {

#define TENON_FN Unary
#define TENON_CONSTANT kUnary
#define TENON_ROWS "isa/tables/unary.inc"
#include "dispatch/table.inc"

#define TENON_FN Gemm
#define TENON_CONSTANT kGemm
#define TENON_ROWS "isa/tables/gemm.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmPack
#define TENON_CONSTANT kGemmPack
#define TENON_ROWS "isa/tables/gemm_pack.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmEnd
#define TENON_CONSTANT kGemmEnd
#define TENON_ROWS "isa/tables/gemm_end.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmColumns
#define TENON_CONSTANT kGemmColumns
#define TENON_ROWS "isa/tables/gemm_columns.inc"
#include "dispatch/table.inc"

}  // namespace tenon

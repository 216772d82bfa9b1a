// Every kernel table as a constant, with the declarations of its kernels: kUnary, ...
// A family here is also a line of families.inc.
#pragma once
#include "dispatch/pick.h"
#include "isa/tile_mm.h"
#include "isa/unary.h"

namespace tenon {

#define TENON_FN Unary
#define TENON_CONSTANT kUnary
#define TENON_ROWS "isa/tables/unary.inc"
#include "dispatch/table.inc"

#define TENON_FN TileMm
#define TENON_CONSTANT kTileMm
#define TENON_ROWS "isa/tables/tile_mm.inc"
#include "dispatch/table.inc"

}  // namespace tenon

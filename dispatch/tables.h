// Every kernel table as a constant, with the declarations of its kernels: kUnary, ...
// A family here is also a line of families.inc.
#pragma once
#include "dispatch/pick.h"
#include "isa/affine.h"
#include "isa/argmax.h"
#include "isa/attention.h"
#include "isa/avg_pool.h"
#include "isa/binary.h"
#include "isa/binary_scalar.h"
#include "isa/cast.h"
#include "isa/conv.h"
#include "isa/copy_rows.h"
#include "isa/dot.h"
#include "isa/gather.h"
#include "isa/gemm.h"
#include "isa/gemm_columns.h"
#include "isa/gemm_end.h"
#include "isa/gemm_pack.h"
#include "isa/gemm_panel_pack.h"
#include "isa/gemm_panels.h"
#include "isa/masked_fill.h"
#include "isa/max_pool.h"
#include "isa/norm.h"
#include "isa/norm_backward.h"
#include "isa/pad.h"
#include "isa/reduce.h"
#include "isa/row_fold.h"
#include "isa/softmax.h"
#include "isa/softmax_backward.h"
#include "isa/tile_mm.h"
#include "isa/transpose.h"
#include "isa/unary.h"
#include "isa/unary_backward.h"

namespace tenon {

#define TENON_FN Unary
#define TENON_CONSTANT kUnary
#define TENON_ROWS "isa/tables/unary.inc"
#include "dispatch/table.inc"

#define TENON_FN UnaryBackward
#define TENON_CONSTANT kUnaryBackward
#define TENON_ROWS "isa/tables/unary_backward.inc"
#include "dispatch/table.inc"

#define TENON_FN Softmax
#define TENON_CONSTANT kSoftmax
#define TENON_ROWS "isa/tables/softmax.inc"
#include "dispatch/table.inc"

#define TENON_FN SoftmaxBackward
#define TENON_CONSTANT kSoftmaxBackward
#define TENON_ROWS "isa/tables/softmax_backward.inc"
#include "dispatch/table.inc"

#define TENON_FN Reduce
#define TENON_CONSTANT kReduce
#define TENON_ROWS "isa/tables/reduce.inc"
#include "dispatch/table.inc"

#define TENON_FN Argmax
#define TENON_CONSTANT kArgmax
#define TENON_ROWS "isa/tables/argmax.inc"
#include "dispatch/table.inc"

#define TENON_FN MaskedFill
#define TENON_CONSTANT kMaskedFill
#define TENON_ROWS "isa/tables/masked_fill.inc"
#include "dispatch/table.inc"

#define TENON_FN CopyRows
#define TENON_CONSTANT kCopyRows
#define TENON_ROWS "isa/tables/copy_rows.inc"
#include "dispatch/table.inc"

#define TENON_FN Gather
#define TENON_CONSTANT kGather
#define TENON_ROWS "isa/tables/gather.inc"
#include "dispatch/table.inc"

#define TENON_FN Attention
#define TENON_CONSTANT kAttention
#define TENON_ROWS "isa/tables/attention.inc"
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

#define TENON_FN TileMm
#define TENON_CONSTANT kTileMm
#define TENON_ROWS "isa/tables/tile_mm.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmColumns
#define TENON_CONSTANT kGemmColumns
#define TENON_ROWS "isa/tables/gemm_columns.inc"
#include "dispatch/table.inc"

#define TENON_FN Binary
#define TENON_CONSTANT kBinary
#define TENON_ROWS "isa/tables/binary.inc"
#include "dispatch/table.inc"

#define TENON_FN BinaryScalar
#define TENON_CONSTANT kBinaryScalar
#define TENON_ROWS "isa/tables/binary_scalar.inc"
#include "dispatch/table.inc"

#define TENON_FN Cast
#define TENON_CONSTANT kCast
#define TENON_ROWS "isa/tables/cast.inc"
#include "dispatch/table.inc"

#define TENON_FN Transpose
#define TENON_CONSTANT kTranspose
#define TENON_ROWS "isa/tables/transpose.inc"
#include "dispatch/table.inc"

#define TENON_FN Norm
#define TENON_CONSTANT kNorm
#define TENON_ROWS "isa/tables/norm.inc"
#include "dispatch/table.inc"

#define TENON_FN NormBackward
#define TENON_CONSTANT kNormBackward
#define TENON_ROWS "isa/tables/norm_backward.inc"
#include "dispatch/table.inc"

#define TENON_FN Dot
#define TENON_CONSTANT kDot
#define TENON_ROWS "isa/tables/dot.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmPanels
#define TENON_CONSTANT kGemmPanels
#define TENON_ROWS "isa/tables/gemm_panels.inc"
#include "dispatch/table.inc"

#define TENON_FN GemmPanelPack
#define TENON_CONSTANT kGemmPanelPack
#define TENON_ROWS "isa/tables/gemm_panel_pack.inc"
#include "dispatch/table.inc"

#define TENON_FN RowFold
#define TENON_CONSTANT kRowFold
#define TENON_ROWS "isa/tables/row_fold.inc"
#include "dispatch/table.inc"

#define TENON_FN Pad
#define TENON_CONSTANT kPad
#define TENON_ROWS "isa/tables/pad.inc"
#include "dispatch/table.inc"

#define TENON_FN Conv
#define TENON_CONSTANT kConv
#define TENON_ROWS "isa/tables/conv.inc"
#include "dispatch/table.inc"

#define TENON_FN Affine
#define TENON_CONSTANT kAffine
#define TENON_ROWS "isa/tables/affine.inc"
#include "dispatch/table.inc"

#define TENON_FN MaxPool
#define TENON_CONSTANT kMaxPool
#define TENON_ROWS "isa/tables/max_pool.inc"
#include "dispatch/table.inc"

#define TENON_FN AvgPool
#define TENON_CONSTANT kAvgPool
#define TENON_ROWS "isa/tables/avg_pool.inc"
#include "dispatch/table.inc"

}  // namespace tenon

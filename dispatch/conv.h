// Convolution of planes on raw memory: packing, blocking and threads around the kernels of
// isa/conv.h.
//
// Operation: y[b][o] = bias[o] + sum over the channels c of o's group and the taps of w[o][c] * the
// window of x[b][c], rounded once. All tensors are contiguous: x is batch x (groups * channels) x
// height.in x width.in, w (groups * rows) x channels x height.taps x width.taps, y batch x (groups
// * rows) x height.out x width.out. One output's bits do not depend on the batch, threads, or where
// its window lies: the order is that of isa/conv.h.
//
// Not through oneDNN: Debian's torch for riscv64 is built without it, and Debian 13's libdnnl
// (3.7), which could be called beside it, holds no vector instruction; its rv64 kernels came later.
#pragma once
#include "dispatch/windows.h"

namespace tenon {

struct ConvProblem {
  int type;                               // 0 f32, 1 bf16, 2 f16: of x, w, bias and y
  int64_t batch, groups, channels, rows;  // channels and rows of one group
  Axis height, width;
  const void *x, *w, *bias;  // bias may be null
  void* y;
};

const char* conv_kernel_name();

// Runs the problem; every size is at least 1. Takes scratch memory from the C library and throws
// std::bad_alloc without it.
void run_conv(const ConvProblem& p);

}  // namespace tenon

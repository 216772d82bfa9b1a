// `tenon info`: the machine, the torch it would serve, and the kernel per operation.
#pragma once

namespace tenon {

// Prints to stdout. Returns 2, after one line on stderr, when the environment makes no sense.
int info();

}  // namespace tenon

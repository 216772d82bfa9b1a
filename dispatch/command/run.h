// `tenon run`: a program with the preload shim in front of it.
#pragma once
#include <string>
#include <vector>

namespace tenon {

// The folder of this executable, without a slash at its end.
std::string own_folder();

// Replaces this process by `command` (program and arguments) with libtenon.so, which lies beside
// this executable, at the head of LD_PRELOAD, and THP_MEM_ALLOC_ENABLE=1 unless it is set. Returns
// only on failure, with the exit status a shell would give, after one line on stderr.
int run(const std::vector<std::string>& command);

}  // namespace tenon

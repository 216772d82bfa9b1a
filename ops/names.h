// The words that TENON_OPS and TENON_DISABLE know.
#pragma once
#include <string>

#include "dispatch/env.h"

namespace tenon::ops {

// Empty, or one line that names the first unknown word and the known ones.
std::string unknown_name(const Environment& environment);

}  // namespace tenon::ops

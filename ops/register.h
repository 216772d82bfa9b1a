// The overrides of this process: putting them into the dispatcher and taking them out.
#pragma once
#include <vector>

#include "ops/override.h"

namespace tenon::ops {

enum class State { kRegistered, kAbsent, kDisabled, kMachine };

struct Registration {
  Override* override;
  State state;
};

// This copy of the library put its overrides into the dispatcher: false where the environment said
// no, or another copy was first.
bool active();

// Every row of overrides.inc with what became of it, in the order of the file.
const std::vector<Registration>& registrations();

// Takes all registered overrides out of the dispatcher, or puts them back.
void set_enabled(bool enabled);

}  // namespace tenon::ops

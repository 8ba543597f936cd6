// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tasks of a cluster as TensorFlow has them, which TF_CONFIG tells each.
#pragma once

#include "Task.h"

#include "meshloom/Core/Result.h"

namespace meshloom::launch {

/// How many tasks of each job the command line asks for.
struct Roles {
  int64_t workers = 0;
  int64_t servers = 0; ///< "ps"
  bool chief = false;
  bool evaluator = false;

  bool any() const { return workers > 0 || servers > 0 || chief || evaluator; }
};

/// The tasks, all on this machine, each with an address of its own at a port
/// that is free now. Fails where nothing trains, and where no port is free.
Result<std::vector<Task>> tasksOf(const Roles &roles);

} // namespace meshloom::launch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of a step by the number of cores, also of more than this machine has.
#pragma once

#include "SavedProgram.h"

#include <span>

namespace meshloom::sim {

/// Prints a row for each number of workers, whose devices share memory: how
/// long a step would take with a core for each (see WorkerClocks), and how much
/// of it the cores work.
Status printTimesByCores(const SavedProgram &program,
                         std::span<const int64_t> workers);

} // namespace meshloom::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The example's report on a compiled step: layouts, collectives, and the
// changes that another mesh makes to them.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>

namespace mnist {

/// The layouts of the step's arguments and of the model's variables.
void printLayouts(const meshloom::ConcreteFunction &step);

/// The collectives that the step has on as many separate devices, with bytes
/// and reasons, and what shared memory makes of them.
void printCollectives(const meshloom::ConcreteFunction &step);

/// Which collectives `step` has more or fewer of than `dataParallel`, and why.
void printDifference(const meshloom::ConcreteFunction &step,
                     const meshloom::ConcreteFunction &dataParallel,
                     const std::string &mesh);

} // namespace mnist

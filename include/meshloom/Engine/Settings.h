// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings that the compiler gets beside a program.
#pragma once

#include "meshloom/Core/MachineModel.h"

#include <functional>
#include <memory>

namespace meshloom::detail {

struct Settings {
  std::shared_ptr<const MachineModel> machine;
  bool refine = true;
  bool checkNumerics = false;
  bool deterministic = false;
  int64_t generation = 0; ///< counts the changes
};
/// The settings of this thread.
Settings settings();
/// Changes the settings of all threads.
void changeSettings(const std::function<void(Settings &)> &change);

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings of the process.
#include "meshloom/Engine/Settings.h"
#include "meshloom/Engine/ThreadState.h"

#include <mutex>

namespace meshloom::detail {

namespace {
struct SharedSettings {
  std::mutex mutex;
  Settings value{
      std::make_shared<MachineModel>(*MachineModel::preset("shared-memory")),
      true, false, 0};
};
SharedSettings &sharedSettings() {
  static SharedSettings &shared = *new SharedSettings;
  return shared;
}
} // namespace

Settings settings() {
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  Settings now = shared.value;
  now.checkNumerics = threadState().checksNumerics.value_or(now.checkNumerics);
  // The programs with checks and without them are different ones.
  now.generation = 2 * now.generation + int64_t(now.checkNumerics);
  return now;
}

void changeSettings(const std::function<void(Settings &)> &change) {
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  change(shared.value);
  ++shared.value.generation;
}

} // namespace meshloom::detail

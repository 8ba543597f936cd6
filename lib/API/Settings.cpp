// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The settings that users give the compiler: the machine, determinism, checks
// of numbers.
#include "meshloom/Engine/Settings.h"
#include "meshloom/Engine/Errors.h"
#include "meshloom/Engine/ThreadState.h"

#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/ConcreteFunction.h"

namespace meshloom {
using namespace detail;

CheckNumericsScope::CheckNumericsScope(bool enable)
    : before(std::exchange(threadState().checksNumerics, enable)) {}
CheckNumericsScope::~CheckNumericsScope() {
  threadState().checksNumerics = before;
}

void set_machine_model(MachineModel machine, bool refine,
                       std::source_location where) {
  const UserLine line(where);
  check(machine.verify(), "set_machine_model");
  changeSettings([&](Settings &settings) {
    settings.machine = std::make_shared<MachineModel>(std::move(machine));
    settings.refine = refine;
  });
}

void set_machine_model(std::string_view preset, bool refine,
                       std::source_location where) {
  const UserLine line(where);
  set_machine_model(check(MachineModel::preset(preset), "set_machine_model"),
                    refine);
}

MachineModel get_machine_model() {
  return *settings().machine;
}

void enable_op_determinism(bool enable) {
  changeSettings([&](Settings &settings) { settings.deterministic = enable; });
}

void enable_check_numerics(bool enable) {
  changeSettings([&](Settings &settings) { settings.checkNumerics = enable; });
}

} // namespace meshloom

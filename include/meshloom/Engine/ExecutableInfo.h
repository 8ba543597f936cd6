// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of functions and saved functions on what runs.
#pragma once

#include "DeviceProgram.h"

#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/Runtime/Client.h"

namespace meshloom::detail {

ValueInfo infoOf(const ArrayType &type, std::string name, ValueInfo::Role role);
std::vector<CollectiveInfo> collectivesOf(const Compiled &compiled);
FunctionStatistics statisticsOf(const Executable &executable);
/// Returns the statistics of all parts together.
FunctionStatistics statisticsOf(const DeviceProgram &program);

} // namespace meshloom::detail

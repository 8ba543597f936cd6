// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The platforms that the user connected, by the type of their devices.
#pragma once

#include "meshloom/API/Devices.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Runtime/Platform.h"

#include <atomic>

namespace meshloom::detail {

/// The platform of devices of that type; connects a plug-in that the
/// environment names so. Throws where there is none, saying what there is.
std::shared_ptr<Platform> platformOf(const std::string &deviceType,
                                     std::string_view op);

/// Whether the platform of that type knows devices of other processes, too.
bool isOfSeveralProcesses(const std::string &deviceType, std::string_view op);

/// What programs on `mesh` are made for: `machine`, but where that shares
/// memory and the devices do not, their own.
MachineModel machineFor(const Mesh &mesh, const MachineModel &machine);

/// The first device that was used in this process, "CPU:0"; empty: none was.
std::string firstUsedDevice();

/// Virtual CPUs of this process, as set_logical_device_configuration said; 1
/// before.
std::atomic<int64_t> &configuredDevices();

} // namespace meshloom::detail

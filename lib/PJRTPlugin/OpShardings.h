// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts as the messages in which XLA's users read them.
#pragma once

#include "meshloom/Core/Layout.h"

#include <string>
#include <vector>

namespace meshloom::plugin {

/// The bytes of the xla.OpSharding of a layout. `partitionOf` says which
/// partition of the program an index of the layout's mesh is.
std::string opShardingOf(const Layout &layout,
                         const std::vector<int64_t> &partitionOf);

/// The bytes of the xla.OpSharding of a value that each device has its own of.
std::string manualSharding();

/// The bytes of the xla.OpSharding of a program's results: that of the result
/// where there is one, else a tuple's.
std::string resultShardingOf(const std::vector<std::string> &results);

/// The bytes of the xla.DeviceAssignmentProto of one replica with these
/// devices.
std::string deviceAssignmentOf(const std::vector<int64_t> &devices);

} // namespace meshloom::plugin

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The client of devices that other processes drive. Its arrays have a type and
// no memory, and its executables give such arrays: a process follows with them
// what happens on those devices.
#pragma once

#include "meshloom/Runtime/Client.h"

namespace meshloom {

/// One for all such devices.
const std::shared_ptr<Client> &remoteClient();

/// A value on devices that this process has none of.
Array remoteArray(ArrayType type);

} // namespace meshloom

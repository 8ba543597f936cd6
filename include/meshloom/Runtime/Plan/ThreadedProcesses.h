// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several processes of a mesh as threads of this one, behind one client.
#pragma once

#include "meshloom/Runtime/Client.h"

#include <functional>

namespace meshloom::plan {

/// A client of all devices of `clients`, as many in each: every one of them is
/// a process by its communicator, and runs programs in a thread of its own. A
/// program whose mesh cannot be split evenly among them runs on `alone`, which
/// has as many devices. While a process runs a program it holds the result of
/// `working`; all processes have theirs before the first one begins.
std::shared_ptr<Client>
joinProcesses(std::vector<std::shared_ptr<Client>> clients,
              std::shared_ptr<Client> alone,
              std::function<std::shared_ptr<void>(int process)> working = {});

} // namespace meshloom::plan

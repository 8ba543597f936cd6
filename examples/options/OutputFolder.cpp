// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See OutputFolder.h.
#include "OutputFolder.h"

#include <meshloom/Meshloom.h>

namespace example {

using namespace meshloom;

void clearFolder(const std::filesystem::path &folder) {
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
  barrier(create_distributed_mesh({{"process", num_clients()}}),
          "cleared " + folder.string());
}

} // namespace example

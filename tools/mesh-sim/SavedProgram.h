// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SavedProgram: what mesh-sim runs, and the values that it begins with.
#pragma once

#include "../mesh-run/Values.h"

namespace meshloom::sim {

struct SavedProgram {
  /// Reads a file of mesh-run --emit-program; inputs are those of mesh-run.
  static Result<SavedProgram> load(const run::Options &options);
  /// The inputs as arrays of a client.
  Result<std::vector<Array>> place(const std::shared_ptr<Client> &client) const;

  Compiled compiled;
  std::vector<HostBytes> inputs;
};

} // namespace meshloom::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two meshes that share no device.
#pragma once

#include "Testing.h"

namespace meshloom {

inline Mesh lowerFour() {
  return create_mesh({{"low", 4}}, {"CPU:0", "CPU:1", "CPU:2", "CPU:3"});
}
inline Mesh upperFour() {
  return create_mesh({{"high", 4}}, {"CPU:4", "CPU:5", "CPU:6", "CPU:7"});
}
/// The layout of a matrix whose rows are cut over the first axis of `mesh`.
inline Layout rowsOf(const Mesh &mesh) {
  return Layout::batch_sharded(mesh, mesh.axis_names().front(), 2);
}

} // namespace meshloom

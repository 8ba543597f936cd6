// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The clients of the runtime that meshes run on.
#pragma once

#include "meshloom/API/Mesh.h"
#include "meshloom/Runtime/Platform.h"

namespace meshloom::detail {

/// The mesh of plain host tensors: one device.
const Mesh &hostMesh();
/// The client whose devices a mesh of that many devices runs on.
std::shared_ptr<Platform> platformFor(const Mesh &mesh);
std::shared_ptr<Client> clientFor(const Mesh &mesh);

/// The first device that was used in this process, "CPU:0"; empty: none was.
std::string firstUsedDevice();

/// Returns whether index i of both meshes is the same device.
bool onSameDevices(const Mesh &mesh, const Mesh &other);

} // namespace meshloom::detail

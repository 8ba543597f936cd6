// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the layers above that make and read tensors of the host on threads of
// their own: data pipelines.
#pragma once

#include "meshloom/API/Function.h"
#include "meshloom/API/Mesh.h"

#include <span>

namespace meshloom::detail {

/// The mesh of plain host tensors: one device.
const Mesh &hostMesh();

/// A plain host tensor, whatever the thread's default mesh. Copies.
Tensor hostTensor(DType type, const Shape &shape, std::span<const char> bytes);

/// The global value, row-major. Throws under the tag [op] where it is a value
/// of a trace.
std::vector<char> bytesOf(const Tensor &tensor, std::string_view op);

/// While it lives, this thread computes on the host: outside of the trace in
/// progress, with no default mesh, and without waiting for programs that were
/// called before, which may be waiting for this thread.
class [[nodiscard]] HostScope {
public:
  HostScope();

private:
  InitScope outside;
  DefaultMeshScope plain;
  std::shared_ptr<const void> working;
};

} // namespace meshloom::detail

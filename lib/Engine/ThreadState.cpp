// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of a thread.
#include "meshloom/Engine/ThreadState.h"
#include "meshloom/Engine/Clients.h"

#include "meshloom/Core/ThreadLocal.h"

namespace meshloom::detail {

const std::shared_ptr<Trace> &ThreadState::trace() const {
  static const auto &none = *new std::shared_ptr<Trace>;
  return traces.empty() ? none : traces.back();
}

ThreadState &threadState() {
  return threadLocal<ThreadState>();
}

std::optional<Mesh> defaultMesh() {
  const auto &meshes = threadState().meshes;
  for (auto held = meshes.rbegin(); held != meshes.rend(); ++held)
    if (std::shared_ptr<const Mesh> mesh = held->lock())
      // On the mesh of plain tensors they stay plain.
      return *mesh == hostMesh() ? std::nullopt : std::optional(*mesh);
  return std::nullopt;
}

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where variables go that nobody gave a layout: on the default mesh, else where
// the values are that they are used with.
#pragma once

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"

namespace meshloom::nn {

/// The mesh of `like` (which may be empty), else that of the function that is
/// being traced.
inline std::optional<Mesh> meshNear(const Tensor &like) {
  return like.defined() && !like.is_traced() && is_dtensor(like)
             ? std::optional(like.mesh())
             : detail::meshOfTrace();
}

/// A variable of what `fill` gives, replicated: on the default mesh, else on
/// that of `like` (which may be empty), else on that of the function that is
/// being traced. Made outside of the trace.
template <typename F>
DVariable makeVariableNear(const Tensor &like, F &&fill,
                           VariableOptions options) {
  const std::optional<Mesh> mesh = meshNear(like);
  return init_scope([&] {
    Tensor value = fill();
    if (mesh && !is_dtensor(value))
      value = copy_to_mesh(value, *mesh);
    return DVariable(value, std::move(options));
  });
}

} // namespace meshloom::nn

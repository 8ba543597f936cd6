// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eval_shape: shapes and types of what a function would give, which computes
// nothing.
#pragma once

#include "meshloom/API/Tensor.h"

#include <functional>
#include <vector>

namespace meshloom {

/// Shape and type of a tensor.
struct TensorSpec {
  Shape shape;              ///< global extents
  DType dtype = DType::F32; ///< of the elements
  /// Returns whether both are equal.
  bool operator==(const TensorSpec &) const = default;
};

/// The shapes and types of `body`'s results for tensors of such shapes and
/// types. The body is traced and not compiled, and its assignments are not
/// made. Variables that it makes in init_scope are made. Throws meshloom::Error
/// as the body does.
std::vector<TensorSpec> eval_shape(
    const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
    const std::vector<TensorSpec> &inputs);

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph: what a SymbolicTensor points to, and what a model is made of.
#pragma once

#include "meshloom/API/EvalShape.h"
#include "meshloom/NN/Layers/Layer.h"

namespace meshloom::detail {

/// An input, or one call of a layer. Calls point to what they are called on, so
/// there are no circles.
struct GraphNode {
  std::string name;        ///< of an input
  bool isNumbered = false; ///< ... that the user or a model has named
  Layer layer;             ///< empty: an input
  std::vector<SymbolicTensor> inputs;
  CallOptions options;
  std::source_location where;
  /// Sizes that are not known are -1.
  std::vector<TensorSpec> results;

  bool isInput() const { return !layer.defined(); }
};

/// All nodes that `outputs` are computed from, given `inputs`, each after those
/// that it needs; in the order in which they are found from the first output
/// on.
std::vector<std::shared_ptr<GraphNode>>
sortedNodes(const std::vector<SymbolicTensor> &inputs,
            const std::vector<SymbolicTensor> &outputs);

/// Returns the specs of the results of `body` for inputs of these shapes, where
/// sizes may be -1.
std::vector<TensorSpec> inferSpecs(
    const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
    const std::vector<TensorSpec> &inputs);

/// "[None, 784]".
std::string sizesText(const Shape &shape);

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configs that models are saved as, and created from again.
#pragma once

#include "Graph.h"

namespace meshloom::detail {

/// Adds the graph between inputs and outputs to a model's config.
void writeGraph(nn::Config &config, const std::vector<SymbolicTensor> &inputs,
                const std::vector<SymbolicTensor> &outputs,
                const std::vector<std::shared_ptr<GraphNode>> &nodes);
/// Models of their configs.
Layer makeFunctional(const nn::Config &config);
Layer makeSequential(const nn::Config &config);
/// The type that a text names.
DType dtypeOf(const nn::Config &name);

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The configs that models are saved as, and created from again.
#pragma once

#include "Graph.h"

namespace meshloom::detail {

/// Adds the graph between inputs and outputs to a model's config.
void writeGraph(Config &config, const std::vector<SymbolicTensor> &inputs,
                const std::vector<SymbolicTensor> &outputs,
                const std::vector<std::shared_ptr<GraphNode>> &nodes);
/// Models of their configs.
Layer makeFunctional(const Config &config);
Layer makeSequential(const Config &config);
/// The type that a text names.
DType dtypeOf(const Config &name);

} // namespace meshloom::detail

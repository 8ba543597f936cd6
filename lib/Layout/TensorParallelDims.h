// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TensorParallelDims: the dims of weights that tensor parallelism cuts.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <optional>
#include <vector>

namespace meshloom {

/// Returns the dim of each argument that an axis cuts by Megatron's tensor
/// parallelism (Shoeybi et al., "Megatron-LM", 2019), if it cuts any.
///
/// Weights follow one another on the way from the inputs to the loss: a weight
/// is as many products away from the inputs as there are weights in front of
/// it. The first, third, ... one has its columns cut and the ones between them
/// their rows, so that what one product gives is cut as the next one takes it:
/// its sum is the only collective of the two. A table that is looked up in has
/// its rows cut. Weights are what `isWeight` says; an argument whose elements
/// only the next value of a weight needs, a moment, is cut as the weight is.
///
/// Weights that loops take parts of have no dim.
std::vector<std::optional<unsigned>>
tensorParallelDims(mlir::func::FuncOp function,
                   const std::vector<bool> &isWeight);

} // namespace meshloom

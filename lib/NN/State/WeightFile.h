// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of weights that other programs wrote, and what does not fit in them.
#pragma once

#include "meshloom/Data/Safetensors.h"
#include "meshloom/NN/Layers/Layer.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace meshloom::detail {

/// Returns the weights of a built model with their paths, without other state.
std::vector<NamedVariable> namedWeights(const Layer &model);

/// Reads a .safetensors or .npz file, by its first bytes; `call` is for
/// messages.
data::NamedTensors readWeightFile(std::string_view call,
                                  const std::filesystem::path &path);

/// Returns the problems as one text, of which the first ones stand for many.
std::string listed(const std::vector<std::string> &problems);

/// Assigns the values, cast to the weights' types, unless there are problems:
/// then it throws an Error that lists them. `source`: where values come from.
void assignWeights(std::string_view call, std::string_view source,
                   const Layer &model,
                   const std::vector<std::pair<DVariable, Tensor>> &values,
                   const std::vector<std::string> &problems);

} // namespace meshloom::detail

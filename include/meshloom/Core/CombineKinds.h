// How the values that a step's outputs have after parts of its reduction loops
// combine into those after all of them: an option of the step, so that a
// backend may cut a reduction that no layout cuts.
#pragma once

#include "meshloom/Core/Program.h"

namespace meshloom {

/// Its name. The option is a list with an entry an output: a ReduceKind's
/// number, or -1 where parts do not combine.
inline constexpr std::string_view COMBINE_KINDS = "combine_kinds";

inline void setCombineKinds(KernelStep &step,
                            std::span<const std::optional<ReduceKind>> kinds) {
  std::vector<int64_t> numbers;
  numbers.reserve(kinds.size());
  for (std::optional<ReduceKind> kind : kinds)
    numbers.push_back(kind ? int64_t(*kind) : -1);
  step.options.insert_or_assign(std::string(COMBINE_KINDS), std::move(numbers));
}

/// The kind of each output; nothing unless all of them combine.
inline std::optional<std::vector<ReduceKind>>
combineKinds(const KernelStep &step) {
  auto option = step.options.find(std::string(COMBINE_KINDS));
  if (option == step.options.end())
    return std::nullopt;
  auto *numbers = std::get_if<std::vector<int64_t>>(&option->second);
  if (!numbers || numbers->size() != step.outputs.size())
    return std::nullopt;
  std::vector<ReduceKind> kinds;
  kinds.reserve(numbers->size());
  for (int64_t number : *numbers) {
    if (number < 0 || number > int64_t(ReduceKind::Or))
      return std::nullopt;
    kinds.push_back(ReduceKind(number));
  }
  return kinds;
}

} // namespace meshloom

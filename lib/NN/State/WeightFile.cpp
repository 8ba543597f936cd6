// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of weights that other programs wrote; see WeightFile.h.
#include "WeightFile.h"

#include "meshloom/API/Ops.h"
#include "meshloom/Data/Npz.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::detail {

std::vector<NamedVariable> namedWeights(const Layer &model) {
  const std::vector<DVariable> weights = model.weights();
  std::vector<NamedVariable> named = model.named_variables();
  std::erase_if(named, [&](const NamedVariable &entry) {
    return std::ranges::none_of(weights, [&](const DVariable &weight) {
      return weight.is(entry.variable);
    });
  });
  return named;
}

std::string listed(const std::vector<std::string> &problems) {
  constexpr size_t most = 20;
  std::string text = fmt::format(
      "{}",
      fmt::join(problems.begin(),
                problems.begin() + ptrdiff_t(std::min(most, problems.size())),
                "; "));
  if (problems.size() > most)
    text += fmt::format("; and {} more", problems.size() - most);
  return text;
}

data::NamedTensors readWeightFile(std::string_view call,
                                  const std::filesystem::path &path) {
  const std::string bytes = readFile(path.string()).value_or_throw();
  if (bytes.starts_with("\x89HDF"))
    Error(fmt::format("[{}] '{}' is an HDF5 file, which is not read: write the "
                      "weights with numpy.savez or safetensors, as the "
                      "documentation of load_keras_weights shows",
                      call, path.string()),
          ErrorCode::UNIMPLEMENTED)
        .raise();
  return bytes.starts_with("PK")
             ? data::parse_npz(bytes, path.string())
             : data::parse_safetensors(bytes, path.string());
}

void assignWeights(std::string_view call, std::string_view source,
                   const Layer &model,
                   const std::vector<std::pair<DVariable, Tensor>> &values,
                   const std::vector<std::string> &problems) {
  if (!problems.empty())
    Error(fmt::format("[{}] {} is not of the model '{}': {}", call, source,
                      model.name(), listed(problems)))
        .raise();
  for (const auto &[variable, value] : values)
    variable.assign(cast(value, variable.dtype()));
}

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that Keras wrote, by its paths; see KerasModel.h.
#include "../Layers/LayerState.h"
#include "meshloom/NN/State/KerasModel.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/Data/Npz.h"
#include "meshloom/Support/File.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace meshloom {
using namespace detail;

/// Keras's path as ours: cells of recurrent layers and parts of attention have
/// no names of their own here.
static std::string ourPath(const std::string &keras) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= keras.size();) {
    const size_t end = std::min(keras.find('/', begin), keras.size());
    parts.push_back(keras.substr(begin, end - begin));
    begin = end + 1;
  }
  std::erase_if(parts, [](const std::string &part) {
    static const auto &cells = *new std::set<std::string>{
        "lstm_cell", "gru_cell", "simple_rnn_cell", "conv_lstm_cell"};
    return cells.contains(part);
  });
  static const auto &projections =
      *new std::map<std::string, std::string>{{"query", "query"},
                                              {"key", "key"},
                                              {"value", "value"},
                                              {"attention_output", "output"},
                                              {"output_dense", "output"}};
  if (parts.size() >= 3)
    if (auto found = projections.find(parts[parts.size() - 2]);
        found != projections.end()) {
      const std::string last = parts.back();
      parts.resize(parts.size() - 2);
      parts.push_back(found->second + (last == "bias" ? "_bias" : ""));
    }
  return fmt::format("{}", fmt::join(parts, "/"));
}

/// Reads either format, by the beginning of the file.
static data::NamedTensors tensorsIn(const std::filesystem::path &path) {
  const std::string bytes = readFile(path.string()).value_or_throw();
  if (bytes.starts_with("\x89HDF"))
    Error(
        fmt::format("[load_keras_weights] '{}' is an HDF5 file, which is not "
                    "read: write the weights with numpy.savez or safetensors, "
                    "as the documentation of load_keras_weights shows",
                    path.string()),
        ErrorCode::UNIMPLEMENTED)
        .raise();
  return bytes.starts_with("PK")
             ? data::parse_npz(bytes, path.string())
             : data::parse_safetensors(bytes, path.string());
}

void load_keras_weights(const Layer &model, const std::filesystem::path &path,
                        std::source_location where) {
  return detail::atLine(where, [&]() -> void {
    // Weights of a Sequential begin with its name in Keras.
    const std::string prefix = model.name() + "/";
    std::set<std::string> paths;
    for (const NamedVariable &named : model.named_variables())
      paths.insert({named.path, prefix + named.path});
    data::NamedTensors renamed;
    for (auto &[name, value] : tensorsIn(path))
      if (name.find("seed_generator") == std::string::npos)
        renamed.emplace(paths.contains(name) ? name : ourPath(name), value);
    std::vector<std::string> problems;
    std::vector<std::pair<DVariable, Tensor>> values;
    const std::vector<DVariable> weights = model.weights();
    for (const NamedVariable &named : model.named_variables()) {
      if (std::ranges::none_of(weights, [&](const DVariable &weight) {
            return weight.is(named.variable);
          }))
        continue;
      auto found = renamed.find(named.path);
      if (found == renamed.end())
        found = renamed.find(prefix + named.path);
      if (found == renamed.end()) {
        problems.push_back(fmt::format("'{}' is missing", named.path));
        continue;
      }
      if (found->second.shape() != named.variable.shape())
        problems.push_back(fmt::format("'{}' is {}, expected {}", named.path,
                                       sizesText(found->second.shape()),
                                       sizesText(named.variable.shape())));
      else
        values.emplace_back(named.variable, found->second);
      renamed.erase(found);
    }
    for (auto &[name, value] : renamed)
      problems.push_back(fmt::format("'{}' is of no weight", name));
    if (!problems.empty())
      Error(fmt::format("[load_keras_weights] '{}' is not of the model "
                        "'{}': {}",
                        path.string(), model.name(), fmt::join(problems, "; ")))
          .raise();
    for (auto &[variable, value] : values)
      variable.assign(cast(value, variable.dtype()));
  });
}

} // namespace meshloom

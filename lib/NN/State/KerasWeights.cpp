// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that Keras wrote, by its paths; see KerasModel.h.
#include "../Models/Graph.h"
#include "WeightFile.h"

#include "meshloom/NN/State/KerasModel.h"

#include "meshloom/API/NameScope.h"

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

/// Finds the tensor of a weight that is nested in functional models. Their
/// names are in no path in Keras, as their layers had weights before them.
static data::NamedTensors::iterator findNested(data::NamedTensors &tensors,
                                               std::string_view path) {
  auto found = tensors.end();
  for (size_t slash = path.find('/');
       found == tensors.end() && slash != path.npos; slash = path.find('/')) {
    path.remove_prefix(slash + 1);
    found = tensors.find(std::string(path));
  }
  return found;
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
    for (auto &[name, value] : readWeightFile("load_keras_weights", path))
      if (name.find("seed_generator") == std::string::npos)
        renamed.emplace(paths.contains(name) ? name : ourPath(name), value);
    std::vector<std::string> problems;
    std::vector<std::pair<DVariable, Tensor>> values;
    std::vector<NamedVariable> nested;
    auto take = [&](const NamedVariable &named,
                    data::NamedTensors::iterator found) {
      if (found->second.shape() != named.variable.shape())
        problems.push_back(fmt::format("'{}' is {}, expected {}", named.path,
                                       sizesText(found->second.shape()),
                                       sizesText(named.variable.shape())));
      else
        values.emplace_back(named.variable, found->second);
      renamed.erase(found);
    };
    for (const NamedVariable &named : namedWeights(model)) {
      auto found = renamed.find(named.path);
      if (found == renamed.end())
        found = renamed.find(prefix + named.path);
      if (found != renamed.end())
        take(named, found);
      else
        nested.push_back(named);
    }
    for (const NamedVariable &named : nested)
      if (auto found = findNested(renamed, named.path); found != renamed.end())
        take(named, found);
      else
        problems.push_back(fmt::format("'{}' is missing", named.path));
    for (auto &[name, value] : renamed)
      problems.push_back(fmt::format("'{}' is of no weight", name));
    assignWeights("load_keras_weights", fmt::format("'{}'", path.string()),
                  model, values, problems);
  });
}

} // namespace meshloom

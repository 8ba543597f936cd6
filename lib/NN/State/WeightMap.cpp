// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights under the names and in the shapes of another program's files; see
// WeightMap.h.
#include "meshloom/NN/State/WeightMap.h"

#include "../Models/Graph.h"
#include "WeightFile.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/API/Ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace meshloom {
using namespace detail;

namespace {

using Problems = std::vector<std::string>;

/// The numbers in `text` where `pattern` has '*'; none if it does not fit.
std::optional<std::vector<std::string>> numbersIn(std::string_view pattern,
                                                  std::string_view text) {
  std::vector<std::string> numbers;
  size_t position = 0;
  for (char letter : pattern) {
    if (letter != '*') {
      if (position == text.size() || text[position++] != letter)
        return std::nullopt;
      continue;
    }
    const size_t end =
        std::min(text.find_first_not_of("0123456789", position), text.size());
    if (end == position)
      return std::nullopt;
    numbers.emplace_back(text.substr(position, end - position));
    position = end;
  }
  if (position != text.size())
    return std::nullopt;
  return numbers;
}

/// The pattern with its '*' replaced by numbers.
std::string filledIn(std::string_view pattern,
                     const std::vector<std::string> &numbers) {
  std::string text;
  size_t next = 0;
  for (char letter : pattern)
    text += letter == '*' ? numbers[next++] : std::string(1, letter);
  return text;
}

/// WeightMapping::dims, read.
class DimRule {
public:
  /// Throws Error if the text is not a rule.
  explicit DimRule(const std::string &text) {
    const size_t arrow = text.find("->");
    if (text.empty())
      return;
    std::vector<std::string> names;
    std::istringstream weight(text.substr(0, arrow));
    for (std::string name; weight >> name;)
      names.push_back(name);
    bool isInGroup = false, isRule = arrow != std::string::npos;
    for (const std::string &token : tokens(text.substr(arrow + 2))) {
      if (token == "(" || token == ")") {
        isRule &= isInGroup == (token == ")");
        isInGroup = token == "(";
        if (isInGroup)
          groupSizes.push_back(0);
        continue;
      }
      auto found = std::ranges::find(names, token);
      isRule &= found != names.end();
      order.push_back(found - names.begin());
      if (isInGroup)
        ++groupSizes.back();
      else
        groupSizes.push_back(1);
    }
    std::vector<int64_t> sorted = order;
    std::ranges::sort(sorted);
    for (size_t dim = 0; dim < sorted.size(); ++dim)
      isRule &= sorted[dim] == int64_t(dim);
    if (!isRule || isInGroup || sorted.size() != names.size())
      Error(fmt::format("[WeightMap] expected dims as \"i h d -> (h d) i\", "
                        "which name each dim of the weight once on both "
                        "sides, got \"{}\"",
                        text))
          .raise();
  }

  /// Returns whether it is about weights of that rank.
  bool fits(const Shape &weight) const {
    return order.empty() || order.size() == weight.size();
  }
  Shape fileShape(const Shape &weight) const {
    if (order.empty())
      return weight;
    Shape shape;
    auto dim = order.begin();
    for (int64_t count : groupSizes) {
      shape.push_back(1);
      for (int64_t i = 0; i < count; ++i)
        shape.back() *= weight[size_t(*dim++)];
    }
    return shape;
  }
  Tensor toFile(const Tensor &weight) const {
    if (order.empty())
      return weight;
    return reshape(transpose(weight, order), fileShape(weight.shape()));
  }
  Tensor toWeight(const Tensor &part, const Shape &weight) const {
    if (order.empty())
      return part;
    Shape ordered;
    std::vector<int64_t> back(order.size());
    for (size_t dim = 0; dim < order.size(); ++dim) {
      ordered.push_back(weight[size_t(order[dim])]);
      back[size_t(order[dim])] = int64_t(dim);
    }
    return transpose(reshape(part, ordered), back);
  }

private:
  static std::vector<std::string> tokens(const std::string &text) {
    std::string spaced;
    for (char letter : text)
      spaced += letter == '(' || letter == ')' ? fmt::format(" {} ", letter)
                                               : std::string(1, letter);
    std::istringstream stream(spaced);
    std::vector<std::string> result;
    for (std::string token; stream >> token;)
      result.push_back(token);
    return result;
  }

  /// The weight's dims in the order of the file, and how many of them are one
  /// dim there.
  std::vector<int64_t> order, groupSizes;
};

} // namespace

/// Tensors of a file and the weights that they hold.
struct WeightMap::Group {
  const WeightMapping *mapping = nullptr;
  std::vector<std::string> names;
  std::vector<NamedVariable> weights; ///< in the order of the mapping's paths

  std::string title() const { return fmt::format("'{}'", names.front()); }

  /// The shape of all weights together in the file; empty, with a problem, if
  /// they do not fit together.
  Shape joinedShape(Problems &problems) const {
    const DimRule rule(mapping->dims);
    const auto axis = size_t(mapping->axis);
    Shape joined;
    for (const NamedVariable &weight : weights) {
      if (!rule.fits(weight.variable.shape())) {
        problems.push_back(
            fmt::format("'{}' is {}, which \"{}\" does not fit", weight.path,
                        sizesText(weight.variable.shape()), mapping->dims));
        return {};
      }
      Shape part = rule.fileShape(weight.variable.shape());
      if (joined.empty() && weights.size() == 1 && names.size() == 1)
        return part;
      if (axis >= part.size()) {
        problems.push_back(fmt::format("{} has no axis {}: its weight '{}' is "
                                       "{} there",
                                       title(), axis, weight.path,
                                       sizesText(part)));
        return {};
      }
      if (joined.empty()) {
        joined = part;
        continue;
      }
      part[axis] += joined[axis];
      joined[axis] = part[axis];
      if (part != joined) {
        problems.push_back(fmt::format("'{}' does not lie beside '{}' in {}: "
                                       "their sizes differ in more than axis "
                                       "{}",
                                       weight.path, weights[0].path, title(),
                                       axis));
        return {};
      }
    }
    return joined;
  }
  /// The shape of each tensor in the file; see joinedShape.
  std::optional<Shape> tensorShape(Problems &problems) const {
    const size_t before = problems.size();
    Shape shape = joinedShape(problems);
    if (problems.size() != before)
      return std::nullopt;
    if (names.size() == 1 || mapping->sum)
      return shape;
    int64_t &size = shape[size_t(mapping->axis)];
    if (size % int64_t(names.size()) != 0) {
      problems.push_back(fmt::format("{} and {} more tensors cannot share {} "
                                     "equally along axis {}",
                                     title(), names.size() - 1,
                                     sizesText(shape), mapping->axis));
      return std::nullopt;
    }
    size /= int64_t(names.size());
    return shape;
  }

  /// Adds the tensors of the file.
  void write(data::NamedTensors &tensors) const {
    const DimRule rule(mapping->dims);
    std::vector<Tensor> parts;
    for (const NamedVariable &weight : weights)
      parts.push_back(rule.toFile(weight.variable));
    const Tensor joined =
        parts.size() == 1 ? parts[0] : concat(parts, mapping->axis);
    if (names.size() == 1) {
      tensors.emplace(names[0], joined);
      return;
    }
    const std::vector<Tensor> pieces =
        mapping->sum ? std::vector(names.size(), zeros_like(joined))
                     : split(joined, int64_t(names.size()), mapping->axis);
    for (size_t i = 0; i < names.size(); ++i)
      tensors.emplace(names[i], mapping->sum && i == 0 ? joined : pieces[i]);
  }
  /// The value of each weight. The tensors are there, with their shape.
  std::vector<std::pair<DVariable, Tensor>>
  read(const data::NamedTensors &tensors) const {
    std::vector<Tensor> pieces;
    for (const std::string &name : names)
      pieces.push_back(tensors.at(name));
    Tensor joined = pieces[0];
    if (pieces.size() > 1 && !mapping->sum)
      joined = concat(pieces, mapping->axis);
    else
      for (size_t i = 1; i < pieces.size(); ++i)
        joined = joined + pieces[i];
    const DimRule rule(mapping->dims);
    std::vector<std::pair<DVariable, Tensor>> values;
    Shape begin(joined.shape().size(), 0);
    for (const NamedVariable &weight : weights) {
      const Shape &shape = weight.variable.shape();
      Tensor part = joined;
      if (weights.size() > 1) {
        const Shape size = rule.fileShape(shape);
        part = slice(joined, begin, size);
        begin[size_t(mapping->axis)] += size[size_t(mapping->axis)];
      }
      values.emplace_back(weight.variable, rule.toWeight(part, shape));
    }
    return values;
  }
};

WeightMap::WeightMap(std::vector<WeightMapping> mappings, Where where)
    : mappings(std::move(mappings)) {
  atLine(where, [&] {
    for (const WeightMapping &mapping : this->mappings) {
      if (mapping.names.empty())
        Error("[WeightMap] expected a mapping with names of tensors, got none")
            .raise();
      const std::string &first = mapping.names[0];
      for (const auto &patterns : {mapping.names, mapping.paths})
        for (const std::string &pattern : patterns)
          if (std::ranges::count(pattern, '*') !=
              std::ranges::count(first, '*'))
            Error(fmt::format("[WeightMap] expected as many '*' in '{}' as in "
                              "'{}'",
                              pattern, first))
                .raise();
      if (mapping.axis < 0)
        Error(fmt::format("[WeightMap] expected an axis of at least 0 for "
                          "'{}', got {}",
                          first, mapping.axis))
            .raise();
      DimRule(mapping.dims);
    }
  });
}

std::vector<WeightMap::Group> WeightMap::groups(const Layer &model) const {
  std::vector<Group> groups;
  std::map<std::pair<const WeightMapping *, std::vector<std::string>>, size_t>
      indices;
  std::set<const WeightMapping *> used;
  Problems problems;
  for (const NamedVariable &weight : namedWeights(model)) {
    size_t fitting = 0;
    for (const WeightMapping &mapping : mappings)
      for (size_t i = 0; i < mapping.paths.size(); ++i) {
        const auto numbers = numbersIn(mapping.paths[i], weight.path);
        if (!numbers)
          continue;
        ++fitting;
        used.insert(&mapping);
        const auto [index, isNew] =
            indices.try_emplace({&mapping, *numbers}, groups.size());
        if (isNew) {
          Group group{&mapping, {}, {}};
          for (const std::string &name : mapping.names)
            group.names.push_back(filledIn(name, *numbers));
          for (const std::string &path : mapping.paths)
            group.weights.push_back({filledIn(path, *numbers), {}});
          groups.push_back(std::move(group));
        }
        groups[index->second].weights[i].variable = weight.variable;
      }
    if (fitting != 1)
      problems.push_back(
          fmt::format("the weight '{}' has {}", weight.path,
                      fitting ? "several mappings" : "no mapping"));
  }
  for (const WeightMapping &mapping : mappings)
    if (!mapping.paths.empty() && !used.contains(&mapping))
      problems.push_back(fmt::format("no weight has the path '{}' of '{}'",
                                     mapping.paths[0], mapping.names[0]));
  for (const Group &group : groups)
    for (const NamedVariable &weight : group.weights)
      if (!weight.variable.defined())
        problems.push_back(fmt::format("there is no weight '{}', which {} has",
                                       weight.path, group.title()));
  if (!problems.empty())
    Error(fmt::format("[WeightMap] the map does not fit the model '{}': {}",
                      model.name(), listed(problems)))
        .raise();
  return groups;
}

std::vector<std::string> WeightMap::names(const Layer &model,
                                          Where where) const {
  return atLine(where, [&] {
    std::vector<std::string> names;
    for (const Group &group : groups(model))
      names.insert(names.end(), group.names.begin(), group.names.end());
    return names;
  });
}

data::NamedTensors WeightMap::tensors(const Layer &model, Where where) const {
  return atLine(where, [&] {
    const std::vector<Group> allGroups = groups(model);
    Problems problems;
    for (const Group &group : allGroups)
      (void)group.tensorShape(problems);
    if (!problems.empty())
      Error(fmt::format("[WeightMap] the map does not fit the model '{}': {}",
                        model.name(), listed(problems)))
          .raise();
    data::NamedTensors tensors;
    for (const Group &group : allGroups)
      group.write(tensors);
    return tensors;
  });
}

void WeightMap::assignFrom(std::string_view call, std::string_view source,
                           const Layer &model,
                           const data::NamedTensors &tensors) const {
  Problems problems;
  std::set<std::string> expected;
  std::vector<std::pair<DVariable, Tensor>> values;
  for (const Group &group : groups(model)) {
    const std::optional<Shape> shape = group.tensorShape(problems);
    const size_t before = problems.size();
    for (const std::string &name : group.names) {
      expected.insert(name);
      auto found = tensors.find(name);
      if (found == tensors.end())
        problems.push_back(fmt::format("'{}' is missing", name));
      else if (shape && found->second.shape() != *shape)
        problems.push_back(fmt::format("'{}' is {}, expected {}", name,
                                       sizesText(found->second.shape()),
                                       sizesText(*shape)));
    }
    if (!shape || problems.size() != before)
      continue;
    for (auto &value : group.read(tensors))
      values.push_back(std::move(value));
  }
  auto isLeftOut = [&](const std::string &name) {
    return std::ranges::any_of(mappings, [&](const WeightMapping &mapping) {
      return mapping.paths.empty() &&
             std::ranges::any_of(mapping.names,
                                 [&](const std::string &ignored) {
                                   return numbersIn(ignored, name).has_value();
                                 });
    });
  };
  for (const auto &[name, value] : tensors)
    if (!expected.contains(name) && !isLeftOut(name))
      problems.push_back(fmt::format("'{}' is of no weight", name));
  assignWeights(call, source, model, values, problems);
}

void WeightMap::assign(const Layer &model, const data::NamedTensors &tensors,
                       Where where) const {
  atLine(where,
         [&] { assignFrom("WeightMap", "a set of tensors", model, tensors); });
}

void save_weights(const Layer &model, const std::filesystem::path &path,
                  const WeightMap &map, Where where) {
  data::save_safetensors(path, map.tensors(model, where), where);
}

void load_weights(const Layer &model, const std::filesystem::path &path,
                  const WeightMap &map, Where where) {
  atLine(where, [&] {
    map.assignFrom("load_weights", fmt::format("'{}'", path.string()), model,
                   readWeightFile("load_weights", path));
  });
}

} // namespace meshloom

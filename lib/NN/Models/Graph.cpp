// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic tensors and the graph behind them; see Symbolic.h.
#include "Graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace meshloom {
namespace detail {

std::vector<std::shared_ptr<GraphNode>>
sortedNodes(const std::vector<SymbolicTensor> &inputs,
            const std::vector<SymbolicTensor> &outputs) {
  std::vector<std::shared_ptr<GraphNode>> sorted;
  std::set<const GraphNode *> seen;
  // Nodes whose inputs have been looked at up to `next`. A stack of our own:
  // graphs may be deep.
  struct Visit {
    std::shared_ptr<GraphNode> node;
    size_t next = 0;
  };
  std::vector<Visit> stack;
  auto enter = [&](const SymbolicTensor &tensor) {
    const bool isInput = std::ranges::any_of(
        inputs, [&](const SymbolicTensor &input) { return input.is(tensor); });
    if (!isInput && seen.insert(tensor.node().get()).second)
      stack.push_back({tensor.node()});
  };
  for (const SymbolicTensor &output : outputs) {
    enter(output);
    while (!stack.empty()) {
      Visit &visit = stack.back();
      if (visit.next < visit.node->inputs.size()) {
        enter(visit.node->inputs[visit.next++]);
        continue;
      }
      sorted.push_back(visit.node);
      stack.pop_back();
    }
  }
  return sorted;
}

namespace {

// The two sizes that stand for a size that is not known, in turn: a size of the
// result that differs between both is not known either. Common sizes
// of batches divide both.
constexpr int64_t sizesForUnknown[] = {840, 1680};

std::vector<TensorSpec> withSize(std::vector<TensorSpec> specs, int64_t size) {
  for (TensorSpec &spec : specs)
    std::ranges::replace(spec.shape, -1, size);
  return specs;
}

/// The text with None for these sizes where they are in shapes.
std::string withNone(std::string text) {
  for (int64_t size : sizesForUnknown) {
    const std::string digits = std::to_string(size);
    for (size_t place = text.find(digits); place != std::string::npos;
         place = text.find(digits, place)) {
      const size_t end = place + digits.size();
      const bool begins =
          place >= 1 &&
          (text[place - 1] == '[' ||
           (place >= 2 && text[place - 1] == ' ' && text[place - 2] == ','));
      const bool ends =
          end < text.size() && (text[end] == ',' || text[end] == ']');
      if (begins && ends)
        text.replace(place, digits.size(), "None");
      else
        place = end;
    }
  }
  return text;
}

/// Returns whether numbers of the text come from those sizes.
bool namesMultiples(const std::string &text) {
  int64_t number = 0;
  for (const char letter : text + ' ') {
    if (letter >= '0' && letter <= '9' && number < (int64_t(1) << 59)) {
      number = number * 10 + (letter - '0');
      continue;
    }
    if (number != 0 && number % sizesForUnknown[0] == 0)
      return true;
    number = 0;
  }
  return false;
}

} // namespace

std::vector<TensorSpec> inferSpecs(
    const std::function<std::vector<Tensor>(const std::vector<Tensor> &)> &body,
    const std::vector<TensorSpec> &inputs) {
  const bool isStatic = std::ranges::all_of(inputs, [](const TensorSpec &spec) {
    return std::ranges::find(spec.shape, -1) == spec.shape.end();
  });
  if (isStatic)
    return eval_shape(body, inputs);
  try {
    std::vector<TensorSpec> results =
        eval_shape(body, withSize(inputs, sizesForUnknown[0]));
    const std::vector<TensorSpec> others =
        eval_shape(body, withSize(inputs, sizesForUnknown[1]));
    for (size_t i = 0; i < results.size(); ++i)
      for (size_t d = 0; d < results[i].shape.size(); ++d)
        if (results[i].shape[d] != others.at(i).shape.at(d))
          results[i].shape[d] = -1;
    return results;
  } catch (const Error &error) {
    std::string text = withNone(error.message());
    if (namesMultiples(text))
      text += fmt::format(
          "; a size that is not known yet, None, counts as {} or {}",
          sizesForUnknown[0], sizesForUnknown[1]);
    error.withMessage(text).raise();
  }
}

std::string sizesText(const Shape &shape) {
  std::string text = "[";
  for (size_t d = 0; d < shape.size(); ++d)
    text += (d ? ", " : "") +
            (shape[d] < 0 ? std::string("None") : std::to_string(shape[d]));
  return text + "]";
}

} // namespace detail

static const detail::GraphNode &nodeOf(const SymbolicTensor &tensor) {
  if (!tensor.defined())
    Error("[SymbolicTensor] expected a result of Input or of a layer, got an "
          "empty one")
        .raise();
  return *tensor.node();
}

const Shape &SymbolicTensor::shape() const {
  return nodeOf(*this).results[resultIndex].shape;
}
DType SymbolicTensor::dtype() const {
  return nodeOf(*this).results[resultIndex].dtype;
}
const std::string &SymbolicTensor::name() const {
  const detail::GraphNode &node = nodeOf(*this);
  return node.isInput() ? node.name : node.layer.name();
}

SymbolicTensor Input(const Shape &shape, InputLayerOptions options) {
  Shape full{options.batch_size};
  full.insert(full.end(), shape.begin(), shape.end());
  for (int64_t size : full)
    if (size < -1)
      Error("[Input] expected sizes of at least 0, or -1 for any, got " +
            detail::sizesText(full))
          .raise();
  auto node = std::make_shared<detail::GraphNode>();
  node->isNumbered = !options.name.empty();
  node->name = options.name.empty() ? "input" : std::move(options.name);
  node->results = {{std::move(full), options.dtype}};
  return {std::move(node), 0};
}

std::string to_string(const SymbolicTensor &tensor) {
  return std::string(name(tensor.dtype())) + " " +
         detail::sizesText(tensor.shape());
}

} // namespace meshloom

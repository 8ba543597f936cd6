// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing records forwards and backwards, and numbering their values.
#include "meshloom/Engine/TapeSlice.h"

#include <algorithm>
#include <unordered_set>

namespace meshloom::detail {

using Nodes = std::unordered_set<const TensorNode *>;

static const TensorNode *nodeOf(const Tensor &tensor) {
  return tensor.internal().get();
}

static bool containsAny(const Nodes &nodes,
                        const std::vector<Tensor> &tensors) {
  return std::ranges::any_of(tensors, [&](const Tensor &tensor) {
    return nodes.contains(nodeOf(tensor));
  });
}

static void addAll(Nodes &nodes, const std::vector<Tensor> &tensors) {
  for (const Tensor &tensor : tensors)
    nodes.insert(nodeOf(tensor));
}

/// Per record: whether it depends on a source. `reached` gets the sources and
/// all that was computed from one.
static std::vector<bool>
dependentOn(std::span<const std::vector<Tensor>> sources,
            std::span<const TapeRecord> tape, Nodes &reached) {
  for (const std::vector<Tensor> &source : sources)
    addAll(reached, source);
  std::vector<bool> dependent;
  for (const TapeRecord &record : tape) {
    dependent.push_back(containsAny(reached, record.operands));
    if (dependent.back())
      addAll(reached, record.results);
  }
  return dependent;
}

bool isComputedFrom(std::span<const std::vector<Tensor>> sources,
                    std::span<const TapeRecord> tape, const Tensor &tensor) {
  Nodes reached;
  dependentOn(sources, tape, reached);
  return reached.contains(nodeOf(tensor));
}

TapeSlice::TapeSlice(std::span<const TapeRecord> tape,
                     std::span<const Tensor> targets,
                     std::span<const std::vector<Tensor>> sources) {
  Nodes reached, needed, made;
  const std::vector<bool> dependent = dependentOn(sources, tape, reached);
  for (const Tensor &target : targets)
    needed.insert(nodeOf(target));
  for (size_t r = tape.size(); r-- > 0;) {
    if (!dependent[r] || !containsAny(needed, tape[r].results))
      continue;
    addAll(needed, tape[r].operands);
    addAll(made, tape[r].results);
    chosen.push_back(&tape[r]);
  }
  std::ranges::reverse(chosen);

  auto number = [&](const Tensor &tensor) {
    numbers.try_emplace(nodeOf(tensor), int64_t(numbered.size()));
    numbered.push_back(tensor);
  };
  for (const TapeRecord *record : chosen)
    for (const Tensor &operand : record->operands)
      if (!made.contains(nodeOf(operand)) && !numbers.contains(nodeOf(operand)))
        number(operand);
  leaves = numbered.size();
  for (const TapeRecord *record : chosen)
    for (const Tensor &result : record->results)
      number(result);
}

int64_t TapeSlice::numberOf(const Tensor &tensor) const {
  auto number = numbers.find(nodeOf(tensor));
  return number == numbers.end() ? -1 : number->second;
}

std::vector<int64_t>
TapeSlice::numbersOf(std::span<const Tensor> tensors) const {
  std::vector<int64_t> found;
  for (const Tensor &tensor : tensors)
    found.push_back(numberOf(tensor));
  return found;
}

std::vector<int64_t>
TapeSlice::presentOf(std::span<const Tensor> tensors) const {
  std::vector<int64_t> found;
  for (int64_t number : numbersOf(tensors))
    if (number >= 0 && std::ranges::find(found, number) == found.end())
      found.push_back(number);
  return found;
}

bool TapeSlice::hasUserGradients() const {
  return std::ranges::any_of(chosen, &TapeRecord::hasUserGradients);
}

std::shared_ptr<MLIRContext> TapeSlice::context() const {
  std::shared_ptr<MLIRContext> context;
  for (const TapeRecord *record : chosen) {
    if (!record->context)
      continue;
    assert((!context || context == record->context) &&
           "functions that are there at the same time share a context");
    context = record->context;
  }
  return context;
}

} // namespace meshloom::detail

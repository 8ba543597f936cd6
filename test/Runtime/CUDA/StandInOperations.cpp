// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StandInOperations.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace meshloom::cuda {
namespace {

using Tensor = StandInOperation::Tensor;
using Index = std::vector<int64_t>;

/// Calls `body` for each index of these extents.
void forEach(const Index &extents,
             const std::function<void(const Index &)> &body) {
  Index index(extents.size(), 0);
  while (true) {
    body(index);
    size_t dim = extents.size();
    while (dim > 0 && ++index[dim - 1] == extents[dim - 1])
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

int64_t placeOf(const Tensor &tensor, const Index &index) {
  int64_t place = 0;
  for (size_t dim = 0; dim < index.size(); ++dim)
    if (tensor.extents[dim] != 1)
      place += index[dim] * tensor.strides[dim];
  return place;
}

/// Returns whether each extent of a tensor is 1 or that of the indices.
bool isBroadcast(const Tensor &tensor, const Index &extents) {
  if (tensor.extents.size() != extents.size())
    return false;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    if (tensor.extents[dim] != 1 && tensor.extents[dim] != extents[dim])
      return false;
  return true;
}

class Graph : public StandInOperations {
public:
  explicit Graph(std::vector<StandInOperation> operations)
      : operations(std::move(operations)) {
    std::vector<Tensor> results;
    for (const StandInOperation &operation : this->operations)
      if (!operation.result.isVirtual)
        results.push_back(operation.result);
    for (const StandInOperation &operation : this->operations)
      for (const Tensor &tensor : operation.operands)
        if (!tensor.isVirtual &&
            std::ranges::count(results, tensor.id, &Tensor::id) == 0 &&
            std::ranges::count(placed, tensor.id, &Tensor::id) == 0)
          placed.push_back(tensor);
    count = results.size();
    placed.insert(placed.end(), results.begin(), results.end());
  }

  std::vector<ConvolutionTensor> tensors() const override {
    return {placed.begin(), placed.end()};
  }
  size_t numResults() const override { return count; }
  bool isByValue(size_t tensor) const override {
    return placed[tensor].isByValue;
  }
  /// The engines are those of attention: they compute two products, and look
  /// for the logarithm of a row's sum; those of its gradient compute five, and
  /// look for the views of three factors.
  bool isPossible() const override {
    auto isLogarithm = [](const StandInOperation &operation) {
      return operation.kind == DnnObject::PointwiseOperation &&
             operation.pointwise == DnnPointwise::Logarithm;
    };
    auto countOf = [&](DnnObject kind) {
      return std::ranges::count(operations, kind, &StandInOperation::kind);
    };
    const auto products = countOf(DnnObject::MatmulOperation);
    return (products == 2 &&
            std::ranges::count_if(operations, isLogarithm) == 1) ||
           (products == 5 && countOf(DnnObject::ReshapeOperation) == 3);
  }

  void run(std::span<char *const> arrays, bool isRounded) const override {
    std::map<int64_t, std::vector<float>> values;
    auto read = [&](const Tensor &tensor, const Index &index) -> double {
      const int64_t place = placeOf(tensor, index);
      if (tensor.isVirtual)
        return double(values.at(tensor.id)[size_t(place)]);
      const char *array = arrayOf(arrays, tensor);
      if (tensor.element == DnnType::I32)
        return reinterpret_cast<const int32_t *>(array)[place];
      const double value = loadNumber(array, place, tensor.type);
      return isRounded && !tensor.isByValue
                 ? double(std::bit_cast<float>(
                       uint32_t(roundToBF16(float(value))) << 16))
                 : value;
    };
    for (const StandInOperation &operation : operations) {
      const Tensor &result = operation.result;
      if (result.isVirtual)
        values[result.id].resize(result.span());
      forEach(result.extents, [&](const Index &index) {
        const double value = compute(operation, index, read);
        const int64_t place = placeOf(result, index);
        if (!result.isVirtual) {
          storeNumber(arrayOf(arrays, result), place, result.type, value);
          return;
        }
        // An intermediate value is rounded to its type.
        std::array<char, sizeof(double)> bytes{};
        storeNumber(bytes.data(), 0, result.type, value);
        values[result.id][size_t(place)] =
            float(loadNumber(bytes.data(), 0, result.type));
      });
    }
  }

private:
  char *arrayOf(std::span<char *const> arrays, const Tensor &tensor) const {
    const auto found = std::ranges::find(placed, tensor.id, &Tensor::id);
    return arrays[size_t(found - placed.begin())];
  }

  using Read = std::function<double(const Tensor &, const Index &)>;
  static double compute(const StandInOperation &operation, const Index &index,
                        const Read &read) {
    const std::vector<Tensor> &operands = operation.operands;
    if (operation.kind == DnnObject::MatmulOperation) {
      Index lhs = index, rhs = index;
      rhs[1] = index[1] * operands[1].extents[1] / operation.result.extents[1];
      double sum = 0;
      for (int64_t k = 0; k < operands[0].extents.back(); ++k) {
        lhs.back() = rhs[rhs.size() - 2] = k;
        sum += read(operands[0], lhs) * read(operands[1], rhs);
      }
      return sum;
    }
    if (operation.kind == DnnObject::ReductionOperation) {
      const bool isSum = operation.reduction == DnnReduction::Sum;
      double result = isSum ? 0 : -std::numeric_limits<double>::infinity();
      // The terms are neighbours.
      Index counts = operands[0].extents;
      for (size_t dim = 0; dim < counts.size(); ++dim)
        counts[dim] /= operation.result.extents[dim];
      forEach(counts, [&](const Index &number) {
        Index place = index;
        for (size_t dim = 0; dim < place.size(); ++dim)
          place[dim] = place[dim] * counts[dim] + number[dim];
        const double term = read(operands[0], place);
        result = isSum ? result + term : std::max(result, term);
      });
      return result;
    }
    if (operation.kind == DnnObject::ReshapeOperation) {
      Index turned = index;
      std::swap(turned[turned.size() - 2], turned.back());
      return read(operands[0], turned);
    }
    auto operand = [&](size_t number) { return read(operands[number], index); };
    switch (operation.pointwise) {
    case DnnPointwise::Add:
      return operand(0) + operand(1);
    case DnnPointwise::Multiply:
      return operand(0) * operand(1);
    case DnnPointwise::Divide:
      return operand(0) / operand(1);
    case DnnPointwise::Subtract:
      return operand(0) - operand(1);
    case DnnPointwise::Exponential:
      return std::exp(operand(0));
    case DnnPointwise::Logarithm:
      return std::log(operand(0));
    case DnnPointwise::IsGreaterOrEqual:
      return operand(0) >= operand(1);
    case DnnPointwise::IsLess:
      return operand(0) < operand(1);
    case DnnPointwise::Index:
      return double(index[operation.axis]);
    case DnnPointwise::Select:
      return operand(2) != 0 ? operand(0) : operand(1);
    }
    return 0;
  }

  const std::vector<StandInOperation> operations;
  std::vector<Tensor> placed; ///< the last ones are results
  size_t count = 0;           ///< of the results
};
} // namespace

/// Returns whether a view has the last two dims of a tensor swapped. Views of
/// other shapes are not ours.
static bool isTurned(const Tensor &tensor, Tensor view) {
  const size_t rank = view.extents.size();
  std::swap(view.extents[rank - 1], view.extents[rank - 2]);
  std::swap(view.strides[rank - 1], view.strides[rank - 2]);
  return view.extents == tensor.extents && view.strides == tensor.strides;
}

bool fits(const StandInOperation &operation) {
  const std::vector<Tensor> &operands = operation.operands;
  const Index &extents = operation.result.extents;
  if (operation.kind == DnnObject::MatmulOperation) {
    Index lhs = extents, rhs = extents;
    lhs.back() = rhs[rhs.size() - 2] = operands[0].extents.back();
    // Heads of the right factor may be shared.
    const int64_t heads = operands[1].extents[1];
    if (extents[1] % heads == 0)
      rhs[1] = heads;
    return operands[0].extents == lhs && operands[1].extents == rhs &&
           (operands[0].type == operands[1].type || operands[0].isVirtual);
  }
  if (operation.kind == DnnObject::ReductionOperation) {
    // It reduces a row, or the heads of a group.
    Index row = operands[0].extents, group = row;
    row.back() = 1;
    if (group[1] % extents[1] == 0)
      group[1] = extents[1];
    return extents == row || extents == group;
  }
  if (operation.kind == DnnObject::ReshapeOperation)
    return isTurned(operands[0], operation.result);
  size_t count = operation.pointwise == DnnPointwise::Exponential ||
                         operation.pointwise == DnnPointwise::Logarithm ||
                         operation.pointwise == DnnPointwise::Index
                     ? 1
                 : operation.pointwise == DnnPointwise::Select ? 3
                                                               : 2;
  return operands.size() == count && operation.hasCondition == (count == 3) &&
         operation.axis < extents.size() &&
         std::ranges::all_of(
             operands,
             [&](const Tensor &tensor) {
               return isBroadcast(tensor, extents);
             });
}

std::shared_ptr<const StandInOperations>
standInGraph(std::vector<StandInOperation> operations) {
  std::vector<int64_t> computed;
  for (const StandInOperation &operation : operations) {
    for (const Tensor &tensor : operation.operands)
      if (tensor.isVirtual && std::ranges::count(computed, tensor.id) == 0)
        return nullptr;
    computed.push_back(operation.result.id);
  }
  if (!operations.empty() && operations.back().result.isVirtual)
    return nullptr;
  return operations.empty() ? nullptr
                            : std::make_shared<Graph>(std::move(operations));
}

} // namespace meshloom::cuda

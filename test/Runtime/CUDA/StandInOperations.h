// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of graphs of the stand-in cuDNN, in plain loops: a convolution, or
// products, reductions and operations on elements.
#pragma once

#include "../../../lib/Runtime/Backends/CUDA/DnnFacts.h"
#include "StandInConvolution.h"

#include <memory>
#include <optional>
#include <span>

namespace meshloom::cuda {

/// The work of an execution on tensors that lie somewhere, the last ones of
/// which are results.
class StandInOperations {
public:
  virtual ~StandInOperations() = default;
  virtual std::vector<ConvolutionTensor> tensors() const = 0;
  virtual size_t numResults() const { return 1; }
  /// Returns whether the tensor is a number that the host has.
  virtual bool isByValue(size_t /*tensor*/) const { return false; }
  /// `isRounded`: from numbers as bf16 has them.
  virtual void run(std::span<char *const> arrays, bool isRounded) const = 0;
  /// Returns whether some engine computes it.
  virtual bool isPossible() const { return true; }
};

/// An operation of a graph on tensors of as many dims each. Where a tensor has
/// one element along a dim, this is that of all places.
struct StandInOperation {
  struct Tensor : ConvolutionTensor {
    DnnType element{};
    bool isVirtual = false, isByValue = false;
  };
  DnnObject kind{}; ///< of the operation
  /// A product's factors, or x, b and the condition, where these are there.
  std::vector<Tensor> operands;
  Tensor result;
  DnnPointwise pointwise{};
  bool hasCondition = false;
  DnnReduction reduction{};
  size_t axis = 0; ///< of an index
};

/// Returns whether the extents of the tensors fit each other.
bool fits(const StandInOperation &operation);
/// Null: the last operation's result lies nowhere, or an operand is not there.
std::shared_ptr<const StandInOperations>
standInGraph(std::vector<StandInOperation> operations);

} // namespace meshloom::cuda

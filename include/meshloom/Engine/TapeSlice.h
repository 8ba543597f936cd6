// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TapeSlice: what of a tape's records a gradient is made of.
#pragma once

#include "meshloom/Engine/OpCall.h"

#include <span>
#include <unordered_map>

namespace meshloom::detail {

/// One op that ran while a tape was recording.
struct TapeRecord {
  /// The key of all that `body` depends on besides its operands' types.
  std::string key;
  std::vector<Tensor> operands, results;
  OpBody body; ///< gives as many values as there are results
  std::shared_ptr<MLIRContext> context; ///< see OpCall
  bool hasUserGradients = false;        ///< see OpCall
};

/// Returns whether `tensor` is one of `sources` or was computed from one.
bool isComputedFrom(std::span<const std::vector<Tensor>> sources,
                    std::span<const TapeRecord> tape, const Tensor &tensor);

/// The records that lie on a path from some source to a target, and their
/// values by number: first the leaves (operands that none of these records
/// makes), then all results. For example, take x -> a = exp(x), b = a * w, c =
/// log(w), with the target b and the source x: the records of a and b; leaves
/// x, w; results a, b; so x is 0, w is 1, a is 2, b is 3. Two tapes with equal
/// keys and equally numbered operands have the same gradient program.
///
/// Linear in the tape. The records must outlive it.
class TapeSlice {
public:
  /// `sources`: each a list of tensors that stand for one value.
  TapeSlice(std::span<const TapeRecord> tape, std::span<const Tensor> targets,
            std::span<const std::vector<Tensor>> sources);

  const std::vector<const TapeRecord *> &records() const { return chosen; }
  /// By number: leaves, then results.
  const std::vector<Tensor> &values() const { return numbered; }
  size_t leafCount() const { return leaves; }
  /// -1: it is not in the slice.
  int64_t numberOf(const Tensor &tensor) const;
  std::vector<int64_t> numbersOf(std::span<const Tensor> tensors) const;
  /// The numbers of those that are in it, each once.
  std::vector<int64_t> presentOf(std::span<const Tensor> tensors) const;
  /// The context that all of its records need; null: none needs one.
  std::shared_ptr<MLIRContext> context() const;
  /// Returns whether a gradient through its records runs rules of the user's.
  bool hasUserGradients() const;

private:
  std::vector<const TapeRecord *> chosen;
  std::vector<Tensor> numbered;
  size_t leaves = 0;
  std::unordered_map<const TensorNode *, int64_t> numbers;
};

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The builder that gradient rules are written with: it knows the gradients that
// flow into and out of one op.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"
#include "meshloom/Support/LLVM.h"

namespace meshloom {

/// The gradients around one op, as its rule sees them.
class OpGradient : public dtensor::TensorBuilder {
public:
  /// `reaches(value, past)`: whether `value` takes gradients, and none of
  /// `past` is asked for.
  using Reaches = llvm::function_ref<bool(Value, ArrayRef<Value>)>;

  OpGradient(const OpBuilder &builder, Operation *op,
             SmallVector<Value> results, SmallVector<bool> wanted,
             Reaches reaches)
      : TensorBuilder(builder, op->getLoc()), results(std::move(results)),
        wanted(std::move(wanted)), operands(op->getNumOperands()),
        reaches(reaches) {}

  /// The gradient of result `i`; null where nothing depends on it.
  Value of(unsigned i = 0) const { return results[i]; }
  /// Returns whether the gradient of operand `i` is used.
  bool wants(unsigned i) const { return wanted[i]; }
  void give(unsigned i, Value gradient) { operands[i] = gradient; }
  Value gradientOf(unsigned i) const { return operands[i]; }
  /// Gives to a value that the operands are computed from, instead of to the
  /// ones on the way, `past`; where that may be.
  void giveTo(Value value, Value gradient) { further = {value, gradient}; }
  bool mayGiveTo(Value value, ArrayRef<Value> past) const {
    return reaches(value, past);
  }
  std::pair<Value, Value> furtherGradient() const { return further; }
  /// The op has no gradient as it stands, and why: "a product over ...".
  void refuse(std::string why) { reason = std::move(why); }
  const std::string &refusal() const { return reason; }
  /// Conjugates the gradients of the results before, or of the operands after,
  /// a rule that multiplies by f' as real functions do: for a holomorphic f it
  /// is the conjugate of f' that the gradient is multiplied by.
  void conjugateResults();
  void conjugateOperands();

private:
  SmallVector<Value> results;
  SmallVector<bool> wanted;
  SmallVector<Value> operands;
  std::pair<Value, Value> further;
  Reaches reaches;
  std::string reason;
};

} // namespace meshloom

#include "meshloom/Autodiff/DifferentiableOpInterface.h.inc"

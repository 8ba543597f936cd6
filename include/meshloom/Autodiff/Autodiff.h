// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverse-mode gradients of dtensor programs. There is one implementation, this
// one: GradientTape and --dtensor-gradient both call buildGradients.
//
// Everything a gradient needs is built from ordinary dtensor ops without
// layouts, so a gradient can be partitioned, printed and differentiated again.
#pragma once

#include "meshloom/Autodiff/OpGradient.h"
#include "meshloom/Core/Result.h"

#include <functional>
#include <memory>

namespace meshloom {

/// An op that carries this unit attribute counts as a constant: no gradient
/// passes through it. For what the result does not really depend on, such as
/// the maximum that softmax subtracts.
inline constexpr llvm::StringLiteral stopGradientAttrName =
    "dtensor.stop_gradient";

/// Gradients of sum_i <seeds[i], outputs[i]> with respect to each of `wrt`,
/// built at `builder`'s insertion point, which must come after all outputs in
/// their block. `seeds` may be empty: ones. A `wrt` value may be a block
/// argument, the result of an op, or a variable (then: of all its reads).
///
/// A gradient is null where no output depends on the value through ops that
/// carry gradients. Fails on an op on the way that has no gradient rule.
///
/// Each op is visited once, after all of its users: the time is linear in the
/// ops that lead to `outputs`. They are those of `block`, by default the
/// builder's: of one around it, the ops of that one alone.
Result<SmallVector<Value>> buildGradients(OpBuilder &builder,
                                          ValueRange outputs, ValueRange seeds,
                                          ValueRange wrt,
                                          Block *block = nullptr);

/// No gradient flows into the operands of an op that has this unit attribute.
inline constexpr llvm::StringLiteral stopGradientAttr = "dtensor.stop_gradient";

/// The gradient that a user gives: of the inputs, null for those that have
/// none, for gradients of all results. Ops are built at the builder's insertion
/// point.
using CustomGradient = std::function<Result<SmallVector<Value>>(
    OpBuilder &, ArrayRef<Value> inputs, ArrayRef<Value> results,
    ArrayRef<Value> gradients)>;

/// A case of one branch whose gradient is the user's has this attribute: the
/// number that registerCustomGradient gave, and how many of its results are the
/// function's; the others are its inputs, handed through. The rule is of this
/// process: only what is differentiated while it is traced has it.
inline constexpr llvm::StringLiteral customGradientAttr =
    "dtensor.custom_gradient";
/// The rule's number, under which it is known while the pointer or a copy of it
/// lives; no other rule gets it. Safe from any thread.
std::shared_ptr<const int64_t> registerCustomGradient(CustomGradient rule);
/// The rule of that number, or null.
std::shared_ptr<const CustomGradient> findCustomGradient(int64_t number);

/// Why no gradient passes through an op that has none: "it gives integers".
/// Every op of the dialect has a gradient, runs regions, or is in this list.
StringRef whyNoGradient(mlir::OperationName op);

/// Attaches DifferentiableOpInterface to the ops of the dtensor dialect.
void registerGradients(mlir::DialectRegistry &registry);

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Deterministic functions: their results have the same bits for every mesh,
// layout and way of running. docs/Threads.md says what holds; here is what a
// pass has to ask.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// A unit attribute of a function that is deterministic.
inline constexpr llvm::StringLiteral deterministicAttr =
    "dtensor.deterministic";

/// Returns whether the function that `op` is or is in is deterministic.
bool isDeterministic(Operation *op);

/// Returns whether the op combines floats in an order that changes the result:
/// a sum or product of them, over what its rule reduces.
bool isOrderedReduction(Operation *op, const ShardingRule &rule);

/// The rule that layouts are chosen by: the op's own, but that in a
/// deterministic function what it combines in some order is needed whole by
/// whoever combines it. So no sum is partial, and relayouts come before it.
ShardingRule layoutRule(dtensor::ShardedOpInterface op);

} // namespace meshloom

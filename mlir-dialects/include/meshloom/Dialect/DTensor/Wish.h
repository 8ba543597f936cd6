// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wishes: what a user says about a layout without deciding it. A constraint
// whose result has no layout carries one as its attribute `dtensor.wish`, and
// propagation decides.
//
// %1 = dtensor.constraint %0 {dtensor.wish = {
//        layout = #dtensor.layout<#mesh, [x, *]>, open = array<i1: false,
//        true>, priorities = array<i64: 0, 1>, replicated = ["z"], direction =
//        "forward", group = 2 : i64, released}} : (tensor<8x4xf32>) ->
//        tensor<8x4xf32>
//
// All entries but `layout` may be missing.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// Which way axes may pass through the constraint.
enum class WishDirection : uint8_t { Both, Forward, Backward, None };

struct Wish {
  static constexpr llvm::StringLiteral attrName = "dtensor.wish";

  /// The axes that each dim is to have, as major ones. Not partial.
  Layout layout;
  /// Per dim: further axes may come, as minor ones. Empty: all dims are closed.
  SmallVector<bool> open = {};
  /// Per dim; 0 is the most important. A dim's axes are not seen, and those of
  /// other values not taken, before all dims of smaller numbers have
  /// propagated. Empty: all 0.
  SmallVector<int64_t> priorities = {};
  /// Axes that no dim may have.
  SmallVector<unsigned> replicated = {};
  WishDirection direction = WishDirection::Both;
  /// Values of one group are laid out alike.
  std::optional<int64_t> group = std::nullopt;
  /// Where propagation begins, and no more: the constraint goes with it, and
  /// refinement may lay out the value otherwise.
  bool released = false;

  bool isOpen(unsigned dim) const { return !open.empty() && open[dim]; }
  int64_t priority(unsigned dim) const {
    return priorities.empty() ? 0 : priorities[dim];
  }
  DictionaryAttr toAttr(MLIRContext *context) const;
};

/// The wish of a constraint; none where it decides a layout.
std::optional<Wish> wishOf(ConstraintOp op);

/// Fails, with a diagnostic on `op`, where its wish cannot be read or does not
/// fit its operand.
LogicalResult verifyWish(ConstraintOp op);

/// On a constraint that wishes for nothing: once its layout is decided, it is
/// told in a remark (--dtensor-insert-relayouts). The value is what the entry
/// says; its first dims may be the places along axes, whose names are listed;
/// `config` is the backend_config of the custom call that asks:
///
/// {dtensor.inspected = {value = "%arg0", axes = ["x"], config = ""}}
///
/// The remark's location has this dictionary as its metadata, with an entry
/// `layout` where there are no axes.
inline constexpr llvm::StringLiteral inspectedAttr = "dtensor.inspected";

/// `value` with a wish about it, at the builder's insertion point.
Value addWish(OpBuilder &builder, Location location, Value value,
              const Wish &wish);

} // namespace meshloom::dtensor

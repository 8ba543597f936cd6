// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RuleBuilder: sharding rules of ops whose attributes decide them, dim by dim.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom::dtensor {

/// Makes the factors of one op's rule, then binds it to the op's shapes.
class RuleBuilder {
public:
  explicit RuleBuilder(Operation *op) : op(op) {}

  /// A new factor. Whole: every device needs all of it.
  unsigned factor(FactorKind kind = FactorKind::Parallel);
  /// The same with a size, for rules whose compound dims do not tell it; then
  /// every factor of the rule needs one.
  unsigned factorOfSize(int64_t size, FactorKind kind = FactorKind::Parallel);
  unsigned whole() { return factor(FactorKind::Whole); }
  /// `rank` dims of one new factor each.
  ShardingRule::Tensor dims(unsigned rank);

  void operand(ShardingRule::Tensor dims) {
    rule.operands.push_back(std::move(dims));
  }
  void result(ShardingRule::Tensor dims) {
    rule.results.push_back(std::move(dims));
  }
  /// An operand's dim is read through a window over its one factor.
  void window(ShardingRule::Window window) {
    rule.windows.push_back(std::move(window));
  }
  ShardingRule finish(PartialFlow flow = PartialFlow::None,
                      ArrayRef<unsigned> carriers = {},
                      ReduceKind kind = ReduceKind::Sum);

private:
  Operation *op;
  ShardingRule rule;
  bool sized = false;
};

/// The factors of `tensor` that are not in `other`.
std::vector<unsigned> onlyIn(const ShardingRule::Tensor &tensor,
                             const ShardingRule::Tensor &other);
/// Both lists, for OpCost::flat.
std::vector<unsigned> joined(std::vector<unsigned> a,
                             const std::vector<unsigned> &b);
/// Rounded up, at least 1.
int64_t logOf(int64_t n);

} // namespace meshloom::dtensor

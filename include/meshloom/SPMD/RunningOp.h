// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How an op of a local program runs: its rule, and what the types of its
// operands and results say about it.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

namespace meshloom {

struct RunningOp {
  ShardingRule rule;
  std::vector<Layout> operands, results;
  OpSharding sharding;

  RunningOp(Operation *op, ShardingRule opRule)
      : rule(std::move(opRule)), operands(layoutsOf(op->getOperandTypes())),
        results(layoutsOf(op->getResultTypes())),
        sharding(opSharding(rule, operands, results)) {}

private:
  static std::vector<Layout> layoutsOf(TypeRange types) {
    std::vector<Layout> layouts;
    for (Type type : types)
      layouts.push_back(spmd::layoutOf(type));
    return layouts;
  }
};

} // namespace meshloom

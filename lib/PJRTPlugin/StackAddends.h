// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments that are sums of addends on devices (unreduced axes), and that
// enter jax.shard_map as the addends that they are.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace meshloom::plugin {

/// Gives each argument of `main` whose addends a manual computation takes a
/// first dim of addends, which its unreduced axes cut. Uses elsewhere get their
/// sum. Returns which arguments have such a dim.
///
/// %a: tensor<4xf32>, sharding <@mesh, [{}], unreduced={"x"}>, becomes
/// %a: tensor<2x4xf32>, sharding <@mesh, [{"x"}, {}]>, where "x" has 2 devices.
std::vector<bool> stackAddends(mlir::func::FuncOp main);

} // namespace meshloom::plugin

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of replicas: each device has arguments of its own, and runs the
// program on these (a PJRT client that partitions programs by itself, such as
// Meshloom's, sends such programs).
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

namespace meshloom::plugin {

/// Makes a program on global values of `main`: arguments and results get a
/// first dim on a mesh axis of `replicas` devices, and the body becomes a
/// manual computation over that axis.
Status joinReplicas(ModuleOp module, int64_t replicas);

} // namespace meshloom::plugin

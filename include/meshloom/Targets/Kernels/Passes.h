// One device's function becomes the steps of a Program.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace meshloom {

#define GEN_PASS_DECL
#include "meshloom/Targets/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "meshloom/Targets/Kernels/Passes.h.inc"

} // namespace meshloom

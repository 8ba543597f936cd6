// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's side of the target cuda: kernels to one module of PTX.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace meshloom {

/// The oldest GPU that the code runs on, in NVIDIA's words.
constexpr const char *ptxArchitecture = "sm_80";

/// Code that is not of one kernel of a program: whatever has the same kind is
/// the same.
struct CommonCode {
  std::set<ProductKind> products;
  std::set<CombinationKind> combinations;
  std::set<FourierKind> lines;
};

/// Compiles kernels, each an spmd.kernel or a call of `rows` with the name of
/// its entry point, and common code. Fails with diagnostics at ops that have no
/// code on GPUs, or with an Error.
FailureOr<Result<DeviceCode>>
compileToPtx(ArrayRef<std::pair<std::string, Operation *>> kernels,
             const CommonCode &common, MLIRContext *context, bool optimize);

} // namespace meshloom

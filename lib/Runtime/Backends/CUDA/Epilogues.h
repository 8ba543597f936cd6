// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that cuBLASLt computes together with the kernels behind them.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

namespace meshloom::cuda {

/// A product and the kernel of elements that reads its result, as one piece of
/// work. Accesses are lhs, rhs and the kernel's result; then the bias, where
/// there is one; then the matrix of gelu's operands, which Gelu writes and
/// GeluGradient reads.
struct JoinedProduct {
  unsigned product, kernel; ///< actions of the plan
  plan::Work work;
  ProductEpilogue::Form form;
  bool hasBias = false, hasAuxiliary = false;
};

/// Finds the products whose results nobody but such kernels needs. The products
/// of a list are joined all or not at all: where gelu writes its operands in
/// place of the product, its gradient has to read them.
std::vector<std::vector<JoinedProduct>>
findEpilogues(const Program &program, const plan::StepGraph &graph,
              std::span<const ProductEpilogue> epilogues);

} // namespace meshloom::cuda

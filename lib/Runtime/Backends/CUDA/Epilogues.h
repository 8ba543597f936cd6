// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that cuBLASLt computes together with the kernels behind them or
// beside them.
#pragma once

#include "meshloom/Core/DeviceCode.h"
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include <optional>

namespace meshloom::cuda {

/// A product, the kernel of elements that reads its result, and those of a
/// bias's gradient, as one piece of work. Accesses are lhs, rhs and the result;
/// then the bias, where there is one; then the matrix of gelu's operands, which
/// Gelu writes and GeluGradient reads; then the gradient of a bias.
struct JoinedProduct {
  unsigned product;                   ///< action of the plan
  std::vector<unsigned> kernels = {}; ///< actions that it takes the place of
  plan::Work work;
  ProductEpilogue::Form form;
  bool hasBias = false, hasAuxiliary = false;
  /// The access whose elements a bias's gradient adds up.
  std::optional<unsigned> summed = {};
};

/// Returns whether each result lies in the memory of no operand but the product
/// that it takes the place of, nor in that of another result.
bool isApart(const plan::StepGraph &graph, const JoinedProduct &joined);

/// Finds the products whose results nobody but such kernels needs. The products
/// of a list are joined all or not at all: where gelu writes its operands in
/// place of the product, its gradient has to read them.
std::vector<std::vector<JoinedProduct>>
findEpilogues(const Program &program, const plan::StepGraph &graph,
              std::span<const ProductEpilogue> epilogues);

} // namespace meshloom::cuda

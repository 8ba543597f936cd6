// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the files of gradients: each has overloads of gradientOf,
// one for each of its ops, which call OpGradient::give for the operands that
// want one, and ends by attaching them.
#pragma once

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom {

/// The interface, by the op's overload of gradientOf. The gradient of a real L
/// with respect to a complex z = x + iy is dL/dx + i dL/dy (TensorFlow's and
/// PyTorch's; JAX gives its conjugate), so for a holomorphic f it is multiplied
/// by the conjugate of f': with `conjugates`, the overload may take all numbers
/// for real.
template <typename Op, bool conjugates>
struct GradientModel
    : DifferentiableOpInterface::ExternalModel<GradientModel<Op, conjugates>,
                                               Op> {
  void buildGradient(Operation *op, OpGradient &gradient) const {
    if (conjugates)
      gradient.conjugateResults();
    gradientOf(cast<Op>(op), gradient);
    if (conjugates)
      gradient.conjugateOperands();
  }
};

/// Ops that are linear with real coefficients, or have no complex operands, or
/// look after those themselves.
template <typename... Ops> void attachGradients(MLIRContext *context) {
  (Ops::template attachInterface<GradientModel<Ops, false>>(*context), ...);
}
/// Ops whose overload multiplies by the derivative.
template <typename... Ops> void attachDerivatives(MLIRContext *context) {
  (Ops::template attachInterface<GradientModel<Ops, true>>(*context), ...);
}

// The files.
void attachConvolutionGradients(MLIRContext *context);
void attachDecompositionGradients(MLIRContext *context);
void attachElementwiseGradients(MLIRContext *context);
void attachFactorizationGradients(MLIRContext *context);
void attachIndexGradients(MLIRContext *context);
void attachLinalgGradients(MLIRContext *context);
void attachMapGradients(MLIRContext *context);
void attachRegionGradients(MLIRContext *context);
void attachScatterGradients(MLIRContext *context);
void attachStructuralGradients(MLIRContext *context);
void attachWindowGradients(MLIRContext *context);

/// `from`, `from` + 1, ..., `to` - 1.
inline SmallVector<int64_t> range(int64_t from, int64_t to) {
  return llvm::to_vector(llvm::seq<int64_t>(from, to));
}

/// The gradient of what a window's region or kinds make of its elements, one
/// after the other.
void gradientInTurn(dtensor::ReduceWindowOp op, OpGradient &g);
void gradientInTurn(dtensor::SelectAndScatterOp op, OpGradient &g);

} // namespace meshloom

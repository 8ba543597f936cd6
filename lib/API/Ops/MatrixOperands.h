// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the API's linear algebra: matrices as operands, and pieces
// of its ops' bodies.
#pragma once

#include "Elementwise.h"
#include "meshloom/API/Linalg.h"
#include "meshloom/Autodiff/MatrixBuilder.h"

namespace meshloom::detail {

/// Throws unless the last two dims are (square) matrices of floats or complex
/// numbers.
void expectMatrices(const Tensor &a, bool square, std::string_view op,
                    const std::source_location &where);

/// Throws unless b is a vector for the one matrix a, or has the batch dims of
/// a, and in both cases as many rows.
void expectRightSide(const Tensor &a, const Tensor &b, std::string_view op,
                     const std::source_location &where);

/// One result: Body{}(Emitter &, MatrixBuilder &, operands, options...), see
/// OpCall::setBody.
template <typename Body, typename... Options>
Tensor matrixOp(std::string_view op, std::vector<Tensor> operands,
                const std::source_location &where, Body,
                const Options &...options) {
  OpCall call = callOf(op, std::move(operands), where);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &...values) {
        MatrixBuilder matrices(e);
        return one(Body{}(e, matrices, operands, values...));
      },
      options...);
  return runOp(std::move(call));
}

/// The value as a column where it is a vector.
inline Value asColumn(Emitter &e, Value b, bool isVector) {
  return isVector ? e.reshape(b, {e.shape(b).back(), 1}) : b;
}
inline Value fromColumn(Emitter &e, Value x, bool isVector) {
  return isVector ? e.reshape(x, {e.shape(x).front()}) : x;
}

/// Returns the diagonal of square matrices.
Value diagonalOf(Emitter &e, Value matrix);

/// The spacing of numbers at 1, of the type's parts.
double spacingOf(DType type);

} // namespace meshloom::detail

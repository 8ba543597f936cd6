// What the API's linear algebra shares: matrices as operands, and pieces of its
// ops' bodies.
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

/// One result, made by `body(Emitter &, MatrixBuilder &, operands)`.
/// `attributes` and `extraKey`: see OpCall.
template <typename Body>
Tensor matrixOp(std::string_view op, std::vector<Tensor> operands,
                std::vector<int64_t> attributes, std::string extraKey,
                const std::source_location &where, Body body) {
  OpCall call = callOf(op, std::move(operands), std::move(attributes), where);
  call.extraKey = std::move(extraKey);
  call.body = [body = std::move(body)](Emitter &e, ArrayRef<Value> operands) {
    MatrixBuilder matrices(e);
    return one(body(e, matrices, operands));
  };
  return runOp(std::move(call));
}

/// The value as a column where it is a vector.
inline Value asColumn(Emitter &e, Value b, bool isVector) {
  return isVector ? e.reshape(b, {e.shape(b).back(), 1}) : b;
}
inline Value fromColumn(Emitter &e, Value x, bool isVector) {
  return isVector ? e.reshape(x, {e.shape(x).front()}) : x;
}

/// What is on the diagonal of square matrices.
Value diagonalOf(Emitter &e, Value matrix);

/// The spacing of numbers at 1, of the type's parts.
double spacingOf(DType type);

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// lu and tridiagonal_solve by LAPACK: elimination with row exchanges, matrix by
// matrix.
#include "BlockedFactorizations.h"
#include "LibraryTable.h"
#include "Matrices.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// lu
//===----------------------------------------------------------------------===//

/// How LAPACK compares elements to pick a pivot.
template <typename T> RealOf<T> weight(const T &value) {
  return std::abs(std::real(value)) + std::abs(std::imag(value));
}

/// Rows and columns up to which a call of LAPACK takes longer than what it
/// does.
constexpr int fewRows = 16;

/// Does what getrf does, step by step: where an element is not finite, OpenBLAS
/// may take any element for a pivot, and loses nans in products with zero.
template <typename T>
void eliminate(Matrix<T> &a, std::vector<int32_t> &pivots) {
  for (int i = 0; i < int(pivots.size()); ++i) {
    int pivot = i;
    for (int r = i + 1; r < a.rows; ++r)
      if (weight(a(r, i)) > weight(a(pivot, i)))
        pivot = r;
    pivots[size_t(i)] = pivot + 1;
    if (pivot != i)
      for (int c = 0; c < a.columns; ++c)
        std::swap(a(i, c), a(pivot, c));
    if (a(i, i) == T(0))
      continue;
    for (int r = i + 1; r < a.rows; ++r)
      a(r, i) /= a(i, i);
    for (int c = i + 1; c < a.columns; ++c)
      for (int r = i + 1; r < a.rows; ++r)
        a(r, c) -= a(r, i) * a(i, c);
  }
}

template <typename T> struct LuOf {
  static void run(const LibraryArguments &arguments, bool deterministic) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1],
        &arguments.outputs[2]};
    const size_t dims[] = {2, 2, 1, 1};
    std::vector<int32_t> pivots, permutation;
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      pivots.resize(size_t(std::min(a.rows, a.columns)));
      const bool isFew = std::max(a.rows, a.columns) <= fewRows;
      if (isFew || !a.isFinite())
        eliminate(a, pivots);
      else if (BlockedLu<T>::hasPanels(a, deterministic))
        BlockedLu<T>(a, pivots).run();
      else
        lapack<"getrf", T>(a.rows, a.columns, a.data(), a.stride(),
                           pivots.data());
      permutation.resize(size_t(a.rows));
      std::iota(permutation.begin(), permutation.end(), 0);
      for (size_t i = 0; i < pivots.size(); ++i)
        std::swap(permutation[i], permutation[size_t(--pivots[i])]);
      writeMatrix<T>(*matrices[1], offsets[1], a);
      writeIntegers(*matrices[2], offsets[2], pivots);
      writeIntegers(*matrices[3], offsets[3], permutation);
    });
  }
};

//===----------------------------------------------------------------------===//
// tridiagonal_solve
//===----------------------------------------------------------------------===//

template <typename T> struct TridiagonalOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[3], &arguments.inputs[0], &arguments.inputs[1],
        &arguments.inputs[2], &arguments.outputs[0]};
    const size_t dims[] = {2, 1, 1, 1, 2};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> b = readMatrix<T>(*matrices[0], offsets[0]);
      Matrix<T> lower = readMatrix<T>(*matrices[1], offsets[1], 1);
      Matrix<T> diagonal = readMatrix<T>(*matrices[2], offsets[2], 1);
      Matrix<T> upper = readMatrix<T>(*matrices[3], offsets[3], 1);
      Matrix<T> second(b.rows, 1);
      std::vector<int32_t> pivots(size_t(b.rows));
      if (b.rows > 0) {
        const int zero =
            lapack<"gttrf", T>(b.rows, lower.data() + 1, diagonal.data(),
                               upper.data(), second.data(), pivots.data());
        lapack<"gttrs", T>('N', b.rows, b.columns, lower.data() + 1,
                           diagonal.data(), upper.data(), second.data(),
                           pivots.data(), b.data(), b.stride());
        // The next rows would be multiplied by 0 / 0.
        if (zero > 0 && zero < b.rows)
          b = Matrix<T>(b.rows, b.columns, notANumber<T>);
      }
      writeMatrix<T>(*matrices[4], offsets[4], b);
    });
  }
};

} // namespace

static RoutineOrError makeLu(const LibraryStep &step) {
  const size_t dims[] = {2, 2, 1, 1};
  if (!step.step.options.empty() || step.inputs.size() != 1 ||
      step.outputs.size() != 3)
    return Error("expected one operand and three results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1], step.outputs[2]};
  const Shape &shape = tensors[0]->shape;
  if (!haveBatch(tensors, dims) || tensors[1]->shape != shape ||
      tensors[1]->type != tensors[0]->type || tensors[2]->type != DType::I32 ||
      tensors[3]->type != DType::I32 ||
      tensors[2]->shape.back() !=
          std::min(shape.back(), shape[shape.size() - 2]) ||
      tensors[3]->shape.back() != shape[shape.size() - 2])
    return Error("its operands do not fit");
  return makeMatrixRoutine<LuOf>(step, step.deterministic);
}

static RoutineOrError makeTridiagonalSolve(const LibraryStep &step) {
  const size_t dims[] = {2, 1, 1, 1, 2};
  if (!step.step.options.empty() || step.inputs.size() != 4 ||
      step.outputs.size() != 1)
    return Error("expected four operands and one result");
  const BufferDecl *tensors[] = {step.inputs[3], step.inputs[0], step.inputs[1],
                                 step.inputs[2], step.outputs[0]};
  const Shape &shape = tensors[0]->shape;
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      tensors[4]->shape != shape)
    return Error("its operands do not fit");
  for (size_t k : {size_t(1), size_t(2), size_t(3)})
    if (tensors[k]->shape.back() != shape[shape.size() - 2])
      return Error("its operands do not fit");
  return makeMatrixRoutine<TridiagonalOf>(step);
}

namespace meshloom::library {
LibraryRows functionsOfLuFactorization() {
  static constexpr LibraryRow rows[] = {
      {"lu", makeLu, {.usesTeam = true}},
      {"tridiagonal_solve", makeTridiagonalSolve}};
  return rows;
}
} // namespace meshloom::library

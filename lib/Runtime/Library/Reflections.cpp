// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// pivoted_qr and hessenberg by LAPACK, matrix by matrix.
#include "LibraryTable.h"
#include "Matrices.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// pivoted_qr
//===----------------------------------------------------------------------===//

template <typename T> struct PivotedQrOf {
  static void run(const LibraryArguments &arguments) {
    const bool hasLeading = arguments.inputs.size() == 2;
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1],
        &arguments.outputs[2],
        hasLeading ? &arguments.inputs[1] : &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1, 1, 1};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      Matrix<T> taus(std::min(a.rows, a.columns), 1, notANumber<T>);
      // Geqp3 counts from 1; a zero lets it move the column.
      std::vector<int32_t> permutation(size_t(a.columns));
      if (hasLeading)
        readIntegers(*matrices[4], offsets[4], permutation);
      std::vector<RealOf<T>> reals(2 * permutation.size());
      if (taus.rows > 0 && a.isFinite()) {
        withWorkspace<T>([&](T *work, int size) {
          return lapack<"geqp3", T>(a.rows, a.columns, a.data(), a.stride(),
                                    permutation.data(), taus.data(), work, size,
                                    onlyComplex(reals.data()));
        });
      } else {
        a = Matrix<T>(a.rows, a.columns, notANumber<T>);
        std::iota(permutation.begin(), permutation.end(), 1);
      }
      for (int32_t &column : permutation)
        --column;
      writeMatrix<T>(*matrices[1], offsets[1], a);
      writeIntegers(*matrices[2], offsets[2], permutation);
      writeMatrix<T>(*matrices[3], offsets[3], taus, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// hessenberg
//===----------------------------------------------------------------------===//

template <typename T> struct HessenbergOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      Matrix<T> taus(std::max(a.rows - 1, 0), 1, notANumber<T>);
      if (a.isFinite())
        withWorkspace<T>([&](T *work, int size) {
          return lapack<"gehrd", T>(a.rows, 1, a.rows, a.data(), a.stride(),
                                    taus.data(), work, size);
        });
      else
        a = Matrix<T>(a.rows, a.columns, notANumber<T>);
      writeMatrix<T>(*matrices[1], offsets[1], a);
      writeMatrix<T>(*matrices[2], offsets[2], taus, 1);
    });
  }
};

} // namespace

static RoutineOrError makePivotedQr(const LibraryStep &step) {
  const OptionReader options(step.step);
  const size_t dims[] = {2, 2, 1, 1, 1};
  if (!options.ok() || step.inputs.empty() || step.inputs.size() > 2 ||
      step.outputs.size() != 3)
    return Error("expected one or two operands and three results");
  const BufferDecl *tensors[] = {
      step.inputs[0], step.outputs[0], step.outputs[1], step.outputs[2],
      step.inputs.size() == 2 ? step.inputs[1] : step.outputs[1]};
  if (!haveBatch(tensors, dims))
    return Error("its operands do not fit");
  const Shape &shape = tensors[0]->shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (tensors[1]->shape != shape || tensors[1]->type != tensors[0]->type ||
      tensors[2]->shape.back() != columns || tensors[2]->type != DType::I32 ||
      tensors[3]->shape.back() != std::min(rows, columns) ||
      tensors[3]->type != tensors[0]->type ||
      tensors[4]->shape != tensors[2]->shape || tensors[4]->type != DType::I32)
    return Error("its operands do not fit");
  if (Status fits = checkWorkspace(64. * columns); !fits)
    return fits.error();
  return makeMatrixRoutine<PivotedQrOf>(step);
}

static RoutineOrError makeHessenberg(const LibraryStep &step) {
  const OptionReader options(step.step);
  const size_t dims[] = {2, 2, 1};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[1]->shape != tensors[0]->shape ||
      tensors[2]->shape.back() !=
          std::max<int64_t>(tensors[0]->shape.back() - 1, 0))
    return Error("its operands do not fit");
  return makeMatrixRoutine<HessenbergOf>(step);
}

namespace meshloom::library {
LibraryRows functionsOfReflections() {
  static constexpr LibraryRow rows[] = {{"hessenberg", makeHessenberg},
                                        {"pivoted_qr", makePivotedQr}};
  return rows;
}
} // namespace meshloom::library

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// geqrf and householder_product: small real matrices several at a time, and
// the others by LAPACK, matrix by matrix. pivoted_qr and hessenberg by LAPACK.
#include "BlockedFactorizations.h"
#include "LibraryTable.h"
#include "ReflectionLanes.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// geqrf
//===----------------------------------------------------------------------===//

template <typename T> struct GeqrfOf {
  static constexpr size_t dims[] = {2, 2, 1};
  const std::array<const LibraryOperand *, 3> matrices;

  explicit GeqrfOf(const LibraryArguments &arguments)
      : matrices{&arguments.inputs[0], &arguments.outputs[0],
                 &arguments.outputs[1]} {}
  static void run(const LibraryArguments &arguments) {
    runOnMatrices<T>(GeqrfOf(arguments));
  }

  void write(const std::vector<int64_t> &offsets, Matrix<T> &factors,
             Matrix<T> &taus, bool isFinite) const {
    if (!isFinite) {
      std::ranges::fill(factors.elements, notANumber<T>);
      std::ranges::fill(taus.elements, notANumber<T>);
    }
    writeMatrix<T>(*matrices[1], offsets[1], factors);
    writeMatrix<T>(*matrices[2], offsets[2], taus, 1);
  }

  void runMatrix(const std::vector<int64_t> &offsets) const {
    Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
    Matrix<T> taus(std::min(a.rows, a.columns), 1);
    const bool isFinite = a.isFinite();
    if (isFinite)
      taus = factorQr(a);
    write(offsets, a, taus, isFinite);
  }

  void runLanes(int rows, int columns, const LaneOffsets &offsets) const
    requires(!isComplexType<T>)
  {
    const int k = std::min(rows, columns);
    MatrixLanes a{rows, columns}, tauLanes{k, 1};
    std::array<double, MatrixLanes::lanes> scales{};
    for (size_t l = 0; l < offsets.size(); ++l)
      scales[l] =
          setScaledLane(a, int(l), readMatrix<T>(*matrices[0], offsets[l][0]));
    factorQr(a, tauLanes);
    Matrix<T> factors(rows, columns), taus(k, 1);
    for (size_t l = 0; l < offsets.size(); ++l) {
      readLane(a, int(l), factors);
      readLane(tauLanes, int(l), taus);
      for (int c = 0; c < columns; ++c)
        scale(factors.column(c).first(size_t(std::min(c + 1, rows))),
              T(scales[l]));
      write(offsets[l], factors, taus, !std::isnan(scales[l]));
    }
  }
};

//===----------------------------------------------------------------------===//
// householder_product
//===----------------------------------------------------------------------===//

template <typename T> struct HouseholderProductOf {
  static constexpr size_t dims[] = {2, 1, 2};
  const std::array<const LibraryOperand *, 3> matrices;

  explicit HouseholderProductOf(const LibraryArguments &arguments)
      : matrices{&arguments.inputs[0], &arguments.inputs[1],
                 &arguments.outputs[0]} {}
  static void run(const LibraryArguments &arguments) {
    runOnMatrices<T>(HouseholderProductOf(arguments));
  }

  /// Returns the vectors of the reflections. Neither R nor the columns without
  /// a tau are read: they are zeros.
  Matrix<T> readVectors(int64_t offset, int taus) const {
    Matrix<T> vectors = readMatrix<T>(*matrices[0], offset);
    for (int c = 0; c < vectors.columns; ++c)
      std::ranges::fill(
          vectors.column(c).first(size_t(c < taus ? c + 1 : vectors.rows)),
          T(0));
    return vectors;
  }

  void runMatrix(const std::vector<int64_t> &offsets) const {
    Matrix<T> taus = readMatrix<T>(*matrices[1], offsets[1], 1);
    Matrix<T> q = readVectors(offsets[0], taus.rows);
    if (q.isFinite() && taus.isFinite())
      multiplyReflections(q, taus);
    else
      std::ranges::fill(q.elements, notANumber<T>);
    writeMatrix<T>(*matrices[2], offsets[2], q);
  }

  void runLanes(int rows, int columns, const LaneOffsets &offsets) const
    requires(!isComplexType<T>)
  {
    MatrixLanes q{rows, columns}, tauLanes{int(matrices[1]->extent.back()), 1};
    std::array<bool, MatrixLanes::lanes> isFinite{};
    for (size_t l = 0; l < offsets.size(); ++l) {
      const Matrix<T> taus = readMatrix<T>(*matrices[1], offsets[l][1], 1);
      const Matrix<T> vectors = readVectors(offsets[l][0], taus.rows);
      isFinite[l] = vectors.isFinite() && taus.isFinite();
      setLane(q, int(l), vectors);
      setLane(tauLanes, int(l), taus);
    }
    multiplyReflections(q, tauLanes);
    Matrix<T> result(rows, columns);
    for (size_t l = 0; l < offsets.size(); ++l) {
      if (isFinite[l])
        readLane(q, int(l), result);
      else
        std::ranges::fill(result.elements, notANumber<T>);
      writeMatrix<T>(*matrices[2], offsets[l][2], result);
    }
  }
};

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

static RoutineOrError makeGeqrf(const LibraryStep &step) {
  const size_t dims[] = {2, 2, 1};
  if (!step.step.options.empty() || step.inputs.size() != 1 ||
      step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  const Shape &shape = tensors[0]->shape;
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      tensors[1]->shape != shape ||
      tensors[2]->shape.back() !=
          std::min(shape.back(), shape[shape.size() - 2]))
    return Error("its operands do not fit");
  if (Status fits = checkWorkspace(64. * shape.back()); !fits)
    return fits.error();
  return makeMatrixRoutine<GeqrfOf>(step);
}

static RoutineOrError makeHouseholderProduct(const LibraryStep &step) {
  const size_t dims[] = {2, 1, 2};
  if (!step.step.options.empty() || step.inputs.size() != 2 ||
      step.outputs.size() != 1)
    return Error("expected two operands and one result");
  const BufferDecl *tensors[] = {step.inputs[0], step.inputs[1],
                                 step.outputs[0]};
  const Shape &shape = tensors[0]->shape;
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      tensors[2]->shape != shape || shape.back() > shape[shape.size() - 2] ||
      tensors[1]->shape.back() > shape.back())
    return Error("its operands do not fit");
  return makeMatrixRoutine<HouseholderProductOf>(step);
}

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
  static constexpr LibraryRow rows[] = {
      {"geqrf", makeGeqrf, {.usesTeam = true}},
      {"hessenberg", makeHessenberg},
      {"householder_product", makeHouseholderProduct, {.usesTeam = true}},
      {"pivoted_qr", makePivotedQr}};
  return rows;
}
} // namespace meshloom::library

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eigh and svd by LAPACK, matrix by matrix. Vectors are unique only up to
// phases: the ones taken are those that the ops define.
#include "LibraryTable.h"
#include "Matrices.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// eigh
//===----------------------------------------------------------------------===//

/// Puts the eigenvectors in place of `a`, of which the lower triangle counts.
template <typename T> bool decompose(Matrix<T> &a, Matrix<RealOf<T>> &values) {
  const int n = a.rows;
  std::vector<RealOf<T>> reals(2 * a.elements.size() + 5 * size_t(n) + 1);
  std::vector<int32_t> integers(5 * size_t(n) + 3);
  return withWorkspace<T>([&](T *work, int size) {
           return lapack<isComplexType<T> ? "heevd" : "syevd", T>(
               'V', 'L', n, a.data(), n, values.data(), work, size,
               onlyComplex(reals.data()), onlyComplex(int(reals.size())),
               integers.data(), int(integers.size()));
         }) == 0;
}

template <typename T> struct EighOf {
  static void run(const LibraryArguments &arguments, bool lower) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      const int n = a.rows;
      if (n == 0)
        return;
      if (!lower)
        a = a.adjoint();
      // The triangle that the op does not read may hold anything.
      for (int c = 0; c < n; ++c) {
        std::ranges::fill(a.column(c).first(size_t(c)), T(0));
        a(c, c) = T(std::real(a(c, c)));
      }
      Matrix<RealOf<T>> values(n, 1);
      if (a.isFinite() && decompose(a, values)) {
        for (int c = 0; c < n; ++c)
          scale(a.column(c), phaseOf(a.column(c)));
      } else {
        a = Matrix<T>(n, n, notANumber<T>);
        values = Matrix<RealOf<T>>(n, 1, notANumber<RealOf<T>>);
      }
      writeMatrix<T>(*matrices[1], offsets[1], a);
      writeMatrix<RealOf<T>>(*matrices[2], offsets[2], values, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// svd
//===----------------------------------------------------------------------===//

/// The orthonormal columns `thin`, and as many more as there are rows for.
template <typename T> Matrix<T> completed(const Matrix<T> &thin) {
  Matrix<T> factors = thin, all(thin.rows, thin.rows);
  Matrix<T> taus = factorQr(factors);
  std::ranges::copy(factors.elements, all.elements.begin());
  multiplyReflections(all, taus);
  std::ranges::copy(thin.elements, all.elements.begin());
  return all;
}

/// a = u diag(values) vh, with as many vectors as values. Overwrites `a`.
template <typename T>
bool decompose(Matrix<T> &a, Matrix<T> &u, Matrix<RealOf<T>> &values,
               Matrix<T> &vh) {
  const size_t k = values.elements.size();
  std::vector<RealOf<T>> reals(5 * (a.elements.size() + k));
  std::vector<int32_t> integers(8 * k);
  return withWorkspace<T>([&](T *work, int size) {
           return lapack<"gesdd", T>(
               'S', a.rows, a.columns, a.data(), a.stride(), values.data(),
               u.data(), u.stride(), vh.data(), vh.stride(), work, size,
               onlyComplex(reals.data()), integers.data());
         }) == 0;
}

template <typename T> struct SvdOf {
  static void run(const LibraryArguments &arguments, bool full) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1],
        &arguments.outputs[2]};
    const size_t dims[] = {2, 2, 1, 2};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      const int k = std::min(a.rows, a.columns);
      Matrix<T> u(a.rows, k), vh(k, a.columns);
      Matrix<RealOf<T>> values(k, 1);
      const bool found = a.isFinite() && decompose(a, u, values, vh);
      Matrix<T> v = vh.adjoint();
      for (int c = 0; c < k; ++c) {
        const T phase = phaseOf(u.column(c));
        scale(u.column(c), phase);
        scale(v.column(c), phase);
      }
      if (full) {
        u = completed(u);
        v = completed(v);
      }
      if (!found) {
        u = Matrix<T>(u.rows, u.columns, notANumber<T>);
        v = Matrix<T>(v.rows, v.columns, notANumber<T>);
        values = Matrix<RealOf<T>>(k, 1, notANumber<RealOf<T>>);
      }
      writeMatrix<T>(*matrices[1], offsets[1], u);
      writeMatrix<RealOf<T>>(*matrices[2], offsets[2], values, 1);
      writeMatrix<T>(*matrices[3], offsets[3], v.adjoint());
    });
  }
};

} // namespace

static RoutineOrError makeEigh(const LibraryStep &step) {
  OptionReader options(step.step);
  const bool lower = options.flag("lower");
  const size_t dims[] = {2, 2, 1};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  const Shape &shape = tensors[0]->shape;
  if (!haveBatch(tensors, dims) || !isSquare(shape) ||
      tensors[1]->shape != shape || tensors[1]->type != tensors[0]->type ||
      tensors[2]->type != partOf(tensors[0]->type) ||
      tensors[2]->shape.back() != shape.back())
    return Error("its operands do not fit");
  const double n = shape.back();
  if (Status fits = checkWorkspace((2 * n + 64) * n); !fits)
    return fits.error();
  return makeMatrixRoutine<EighOf, Precision::Double>(step, lower);
}

static RoutineOrError makeSvd(const LibraryStep &step) {
  OptionReader options(step.step);
  const bool full = options.flag("full_matrices");
  const size_t dims[] = {2, 2, 1, 2};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 3)
    return Error("expected one operand and three results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1], step.outputs[2]};
  if (!haveBatch(tensors, dims))
    return Error("its operands do not fit");
  auto sizes = [&](size_t i) {
    const Shape &shape = tensors[i]->shape;
    return std::pair(shape[shape.size() - 2], shape.back());
  };
  const auto [rows, columns] = sizes(0);
  const int64_t k = std::min(rows, columns);
  if (sizes(1) != std::pair(rows, full ? rows : k) ||
      sizes(3) != std::pair(full ? columns : k, columns) ||
      tensors[2]->shape.back() != k || tensors[1]->type != tensors[0]->type ||
      tensors[3]->type != tensors[0]->type ||
      tensors[2]->type != partOf(tensors[0]->type))
    return Error("its operands do not fit");
  if (Status fits = checkWorkspace((5. * k + 64) * std::max(rows, columns));
      !fits)
    return fits.error();
  return makeMatrixRoutine<SvdOf, Precision::Double>(step, full);
}

namespace meshloom::library {
LibraryRows functionsOfOrthogonalDecompositions() {
  static constexpr LibraryRow rows[] = {{"eigh", makeEigh}, {"svd", makeSvd}};
  return rows;
}
} // namespace meshloom::library

// eigh and svd by Eigen, matrix by matrix. Vectors are unique only up to
// phases: the ones taken are those that the ops define.
#include "LibraryTable.h"
#include "Matrices.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

using namespace meshloom;
using namespace meshloom::library;

namespace {

//===----------------------------------------------------------------------===//
// eigh
//===----------------------------------------------------------------------===//

template <typename T> struct EighOf {
  static void run(const LibraryArguments &arguments, bool lower) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t n = a.rows();
      if (n == 0)
        return;
      if (!lower)
        a.adjointInPlace();
      // What is not read may be anything.
      a.template triangularView<Eigen::StrictlyUpper>().setZero();
      a.diagonal() = a.diagonal().real().template cast<T>().eval();
      Matrix<T> vectors = nans<T>(n, n);
      Matrix<RealOf<T>> values = nans<RealOf<T>>(n, 1);
      if (a.allFinite()) {
        const Eigen::SelfAdjointEigenSolver<Matrix<T>> solver(a);
        if (solver.info() == Eigen::Success) {
          vectors = solver.eigenvectors();
          values = solver.eigenvalues();
          for (int64_t c = 0; c < n; ++c)
            vectors.col(c) *= phaseOf<T>(vectors.col(c));
        }
      }
      writeMatrix<T>(*all[1], at[1], vectors);
      writeMatrix<RealOf<T>>(*all[2], at[2], values, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// svd
//===----------------------------------------------------------------------===//

/// The orthonormal columns `thin`, and as many more as there are rows for.
template <typename T> Matrix<T> completed(const Matrix<T> &thin) {
  Matrix<T> all(thin.rows(), thin.rows());
  if (thin.cols() == 0)
    return Matrix<T>::Identity(thin.rows(), thin.rows());
  const Eigen::HouseholderQR<Matrix<T>> qr(thin);
  all = qr.householderQ();
  all.leftCols(thin.cols()) = thin;
  return all;
}

template <typename T> struct SvdOf {
  static void run(const LibraryArguments &arguments, bool full) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1],
                                   &arguments.outputs[2]};
    const size_t dims[] = {2, 2, 1, 2};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      const Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t k = std::min(a.rows(), a.cols());
      Matrix<T> u = Matrix<T>::Zero(a.rows(), k),
                v = Matrix<T>::Zero(a.cols(), k);
      Matrix<RealOf<T>> values(k, 1);
      const bool finite = a.allFinite();
      if (k > 0 && finite) {
        const Eigen::BDCSVD<Matrix<T>> svd(a, Eigen::ComputeThinU |
                                                  Eigen::ComputeThinV);
        u = svd.matrixU();
        v = svd.matrixV();
        values = svd.singularValues();
        for (int64_t c = 0; c < k; ++c) {
          const T phase = phaseOf<T>(u.col(c));
          u.col(c) *= phase;
          v.col(c) *= phase;
        }
      }
      if (full) {
        u = completed(u);
        v = completed(v);
      }
      if (!finite) {
        u = nans<T>(u.rows(), u.cols());
        v = nans<T>(v.rows(), v.cols());
        values = nans<RealOf<T>>(k, 1);
      }
      v.adjointInPlace();
      writeMatrix<T>(*all[1], at[1], u);
      writeMatrix<RealOf<T>>(*all[2], at[2], values, 1);
      writeMatrix<T>(*all[3], at[3], v);
    });
  }
};

} // namespace

static MadeRoutine makeEigh(const LibraryStep &step) {
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
  return madeRoutine<EighOf, Precision::Double>(lower);
}

static MadeRoutine makeSvd(const LibraryStep &step) {
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
  return madeRoutine<SvdOf, Precision::Double>(full);
}

namespace meshloom::library {
LibraryRows orthogonalFunctions() {
  static constexpr LibraryRow rows[] = {{"eigh", makeEigh}, {"svd", makeSvd}};
  return rows;
}
} // namespace meshloom::library

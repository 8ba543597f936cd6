// cholesky, triangular_solve, geqrf and householder_product by Eigen, matrix by
// matrix.
#include "LibraryTable.h"
#include "Matrices.h"

#include <Eigen/Cholesky>
#include <Eigen/QR>

using namespace meshloom;
using namespace meshloom::library;

namespace {
//===----------------------------------------------------------------------===//
// cholesky
//===----------------------------------------------------------------------===//

template <typename T> struct CholeskyOf {
  static void run(const LibraryArguments &arguments, bool lower) {
    const LibraryOperand *both[] = {&arguments.inputs[0],
                                    &arguments.outputs[0]};
    const size_t dims[] = {2, 2};
    forEachMatrix(both, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*both[0], at[0]);
      // Eigen reads the lower triangle of what is then its own copy.
      if (!lower)
        a.adjointInPlace();
      Eigen::LLT<Eigen::Ref<Matrix<T>>, Eigen::Lower> factor(a);
      // A nan in the matrix ends up on the diagonal.
      const bool ok = a.size() == 0 || (factor.info() == Eigen::Success &&
                                        !a.diagonal().hasNaN());
      using Real = typename Eigen::NumTraits<T>::Real;
      const T nan = T(std::numeric_limits<Real>::quiet_NaN());
      for (int64_t r = 0; r < a.rows(); ++r)
        for (int64_t c = 0; c < a.cols(); ++c)
          a(r, c) = c > r ? T(0) : ok ? a(r, c) : nan;
      if (!lower)
        a.adjointInPlace();
      writeMatrix<T>(*both[1], at[1], a);
    });
  }
};

//===----------------------------------------------------------------------===//
// triangular_solve
//===----------------------------------------------------------------------===//

enum class Transpose : uint8_t { None, Transpose, Adjoint };
std::optional<Transpose> parseTranspose(std::string_view name) {
  return name == "NO_TRANSPOSE" ? std::optional(Transpose::None)
         : name == "TRANSPOSE"  ? std::optional(Transpose::Transpose)
         : name == "ADJOINT"    ? std::optional(Transpose::Adjoint)
                                : std::nullopt;
}

struct SolveOptions {
  bool left, lower, unit;
  Transpose transpose;
};

template <typename T> struct SolveOf {
  static void run(const LibraryArguments &arguments,
                  const SolveOptions &options) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.inputs[1],
                                   &arguments.outputs[0]};
    const size_t dims[] = {2, 2, 2};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      Matrix<T> b = readMatrix<T>(*all[1], at[1]);
      bool lower = options.lower;
      if (options.transpose != Transpose::None) {
        a.transposeInPlace();
        lower = !lower;
      }
      if (options.transpose == Transpose::Adjoint)
        a = a.conjugate().eval();
      // x a = b is a^T x^T = b^T.
      if (!options.left) {
        a.transposeInPlace();
        b.transposeInPlace();
        lower = !lower;
      }
      if (lower && options.unit)
        a.template triangularView<Eigen::UnitLower>().solveInPlace(b);
      else if (lower)
        a.template triangularView<Eigen::Lower>().solveInPlace(b);
      else if (options.unit)
        a.template triangularView<Eigen::UnitUpper>().solveInPlace(b);
      else
        a.template triangularView<Eigen::Upper>().solveInPlace(b);
      if (!options.left)
        b.transposeInPlace();
      writeMatrix<T>(*all[2], at[2], b);
    });
  }
};

//===----------------------------------------------------------------------===//
// geqrf, householder_product
//===----------------------------------------------------------------------===//

template <typename T> struct GeqrfOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      Matrix<T> taus(std::min(a.rows(), a.cols()), 1);
      if (a.size() != 0) {
        Eigen::HouseholderQR<Matrix<T>> qr(a);
        a = qr.matrixQR();
        // Eigen's reflections are LAPACK's, conjugated.
        taus = qr.hCoeffs().conjugate();
      } else {
        taus.setZero();
      }
      writeMatrix<T>(*all[1], at[1], a);
      writeMatrix<T>(*all[2], at[2], taus, 1);
    });
  }
};

template <typename T> struct HouseholderProductOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.inputs[1],
                                   &arguments.outputs[0]};
    const size_t dims[] = {2, 1, 2};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      const Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const Matrix<T> taus = readMatrix<T>(*all[1], at[1], 1);
      Matrix<T> q = Matrix<T>::Identity(a.rows(), a.cols());
      for (int64_t i = taus.rows(); i-- > 0;) {
        const int64_t below = a.rows() - i;
        Vector<T> v = a.col(i).tail(below);
        v(0) = T(1);
        // Rows above i and columns left of i are still those of the identity.
        auto block = q.bottomRightCorner(below, a.cols() - i);
        const Eigen::Matrix<T, 1, Eigen::Dynamic> product = v.adjoint() * block;
        block.noalias() -= (taus(i, 0) * v) * product;
      }
      writeMatrix<T>(*all[2], at[2], q);
    });
  }
};

} // namespace

static MadeRoutine makeCholesky(const LibraryStep &step) {
  OptionReader options(step.step);
  const bool lower = options.flag("lower");
  const size_t dims[] = {2, 2};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 1)
    return Error("expected one operand and one result");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[1]->shape != tensors[0]->shape)
    return Error("its operands do not fit");
  return madeRoutine<CholeskyOf>(lower);
}

static MadeRoutine makeTriangularSolve(const LibraryStep &step) {
  OptionReader read(step.step);
  SolveOptions options{};
  options.left = read.flag("left_side");
  options.lower = read.flag("lower");
  options.unit = read.flag("unit_diagonal");
  options.transpose = read.named<Transpose>("transpose_a", parseTranspose);
  const size_t dims[] = {2, 2, 2};
  if (!read.ok() || step.inputs.size() != 2 || step.outputs.size() != 1)
    return Error("expected two operands and one result");
  const BufferDecl *tensors[] = {step.inputs[0], step.inputs[1],
                                 step.outputs[0]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[2]->shape != tensors[1]->shape)
    return Error("its operands do not fit");
  const Shape &b = tensors[1]->shape;
  if (b[b.size() - (options.left ? 2 : 1)] != tensors[0]->shape.back())
    return Error("its operands do not fit");
  return madeRoutine<SolveOf>(options);
}

static MadeRoutine makeGeqrf(const LibraryStep &step) {
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
  return madeRoutine<GeqrfOf>();
}

static MadeRoutine makeHouseholderProduct(const LibraryStep &step) {
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
  return madeRoutine<HouseholderProductOf>();
}

namespace meshloom::library {
LibraryRows factorizationFunctions() {
  static constexpr LibraryRow rows[] = {
      {"cholesky", makeCholesky},
      {"geqrf", makeGeqrf},
      {"householder_product", makeHouseholderProduct},
      {"triangular_solve", makeTriangularSolve}};
  return rows;
}
} // namespace meshloom::library

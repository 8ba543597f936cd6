// eig and schur by Eigen, matrix by matrix. Eigenvalues come out of it in any
// order and vectors with any phase: the ones taken are those that the ops
// define.
#include "LibraryTable.h"
#include "Matrices.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>

#include <cmath>
#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// Their indices with rising real part; those whose real parts are the same but
/// for rounding with falling imaginary part.
template <typename Real>
std::vector<int64_t>
orderOf(const std::vector<std::complex<Real>> &eigenvalues) {
  std::vector<int64_t> order(eigenvalues.size());
  std::iota(order.begin(), order.end(), 0);
  auto at = [&](int64_t i) { return eigenvalues[size_t(i)]; };
  std::ranges::sort(order, [&](int64_t i, int64_t j) {
    return std::pair(at(i).real(), i) < std::pair(at(j).real(), j);
  });
  Real greatest = 0;
  for (const std::complex<Real> &value : eigenvalues)
    greatest = std::max(greatest, std::abs(value));
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() &&
           at(*last).real() - at(last[-1]).real() <= greatest * Real(1e-5))
      ++last;
    std::sort(first, last, [&](int64_t i, int64_t j) {
      return std::pair(-at(i).imag(), i) < std::pair(-at(j).imag(), j);
    });
    first = last;
  }
  return order;
}

//===----------------------------------------------------------------------===//
// eig
//===----------------------------------------------------------------------===//

template <typename T>
using EigenSolver = std::conditional_t<Eigen::NumTraits<T>::IsComplex,
                                       Eigen::ComplexEigenSolver<Matrix<T>>,
                                       Eigen::EigenSolver<Matrix<T>>>;

template <typename T> struct EigOf {
  static void run(const LibraryArguments &arguments) {
    using Complex = std::complex<RealOf<T>>;
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[1],
                                   &arguments.outputs[0]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      const Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t n = a.rows();
      if (n == 0)
        return;
      Matrix<Complex> vectors = nans<Complex>(n, n);
      Matrix<Complex> values = nans<Complex>(n, 1);
      if (a.allFinite()) {
        const EigenSolver<T> solver(a);
        if (solver.info() == Eigen::Success) {
          const Matrix<Complex> &found = solver.eigenvectors();
          const Matrix<Complex> &eigenvalues = solver.eigenvalues();
          const std::vector<int64_t> order =
              orderOf<RealOf<T>>({eigenvalues.data(), eigenvalues.data() + n});
          for (int64_t c = 0; c < n; ++c) {
            const int64_t from = order[size_t(c)];
            values(c) = eigenvalues(from);
            vectors.col(c) = found.col(from).normalized();
            vectors.col(c) *= phaseOf<Complex>(vectors.col(c));
          }
        }
      }
      writeMatrix<Complex>(*all[1], at[1], vectors);
      writeMatrix<Complex>(*all[2], at[2], values, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// schur
//===----------------------------------------------------------------------===//

template <typename T>
using SchurSolver = std::conditional_t<Eigen::NumTraits<T>::IsComplex,
                                       Eigen::ComplexSchur<Matrix<T>>,
                                       Eigen::RealSchur<Matrix<T>>>;

/// A Schur form whose blocks are put in order. Invariant: t = q^H a q.
template <typename T> struct SchurForm {
  Matrix<T> t, q;

  /// Rows and columns from `first` on change by the unitary `by`.
  void rotate(int64_t first, const Matrix<T> &by) {
    t.middleRows(first, by.rows()) =
        (by.adjoint() * t.middleRows(first, by.rows())).eval();
    t.middleCols(first, by.rows()) =
        (t.middleCols(first, by.rows()) * by).eval();
    q.middleCols(first, by.rows()) =
        (q.middleCols(first, by.rows()) * by).eval();
  }

  /// The block of p rows at `first` and the next one, of r rows, change places.
  /// With t11 x - x t22 = t12, the columns of [-x; 1] span what belongs to t22
  /// (Bai and Demmel, "On swapping diagonal blocks in real Schur form", 1993).
  void swap(int64_t first, int64_t p, int64_t r) {
    const Matrix<T> t11 = t.block(first, first, p, p),
                    t22 = t.block(first + p, first + p, r, r),
                    t12 = t.block(first, first + p, p, r);
    // Column by column of x.
    Matrix<T> equations = Matrix<T>::Zero(p * r, p * r);
    for (int64_t j = 0; j < r; ++j) {
      equations.block(j * p, j * p, p, p) += t11;
      for (int64_t k = 0; k < r; ++k)
        equations.block(j * p, k * p, p, p).diagonal().array() -= t22(k, j);
    }
    const Vector<T> right = t12.reshaped();
    const Vector<T> x = equations.fullPivLu().solve(right);
    Matrix<T> spanning(p + r, r);
    spanning.topRows(p) = -x.reshaped(p, r);
    spanning.bottomRows(r).setIdentity();
    Matrix<T> by = Eigen::HouseholderQR<Matrix<T>>(spanning).householderQ();
    rotate(first, by);
    t.block(first + r, first, p, r).setZero();
  }

  /// Gives the block of two rows at `first`, of real numbers, equal elements on
  /// its diagonal.
  void balance(int64_t first) {
    if constexpr (!Eigen::NumTraits<T>::IsComplex) {
      const T a = t(first, first), b = t(first, first + 1),
              c = t(first + 1, first), d = t(first + 1, first + 1);
      const T angle = std::atan2(d - a, b + c) / 2;
      Matrix<T> by(2, 2);
      by << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
      rotate(first, by);
      if (std::abs(t(first, first + 1)) < std::abs(t(first + 1, first))) {
        by << 0, -1, 1, 0;
        rotate(first, by);
      }
      t(first, first) = t(first + 1, first + 1) = (a + d) / 2;
    }
  }

  /// The eigenvalue of the block at `first`, that of two with no negative
  /// imaginary part.
  std::complex<RealOf<T>> eigenvalue(int64_t first, int64_t rows) const {
    if (rows == 1)
      return t(first, first);
    const RealOf<T> a = std::real(t(first, first)),
                    d = std::real(t(first + 1, first + 1)), half = (a - d) / 2;
    const RealOf<T> root =
        half * half + std::real(t(first, first + 1) * t(first + 1, first));
    return {(a + d) / 2, std::sqrt(std::max(-root, RealOf<T>(0)))};
  }

  void putInOrder() {
    struct Part {
      int64_t rows;
      int64_t place;
    };
    std::vector<Part> parts;
    std::vector<std::complex<RealOf<T>>> values;
    for (int64_t at = 0; at < t.rows();) {
      const bool two = !Eigen::NumTraits<T>::IsComplex && at + 1 < t.rows() &&
                       t(at + 1, at) != T(0);
      values.push_back(eigenvalue(at, two ? 2 : 1));
      parts.push_back({two ? 2 : 1, 0});
      at += two ? 2 : 1;
    }
    const std::vector<int64_t> order = orderOf(values);
    for (size_t i = 0; i < order.size(); ++i)
      parts[size_t(order[i])].place = int64_t(i);
    // Each pass takes the greatest place so far to the end.
    for (size_t end = parts.size(); end > 1; --end) {
      int64_t at = 0;
      for (size_t i = 0; i + 1 < end; ++i) {
        if (parts[i].place > parts[i + 1].place) {
          swap(at, parts[i].rows, parts[i + 1].rows);
          std::swap(parts[i], parts[i + 1]);
        }
        at += parts[i].rows;
      }
    }
    int64_t at = 0;
    for (const Part &part : parts) {
      if (part.rows == 2)
        balance(at);
      at += part.rows;
    }
    for (int64_t c = 0; c < t.rows(); ++c) {
      const T phase = phaseOf<T>(q.col(c));
      q.col(c) *= phase;
      t.col(c) *= phase;
      t.row(c) *= Eigen::numext::conj(phase);
    }
  }
};

template <typename T> struct SchurOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 2};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      const Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t n = a.rows();
      if (n == 0)
        return;
      SchurForm<T> form{nans<T>(n, n), nans<T>(n, n)};
      if (a.allFinite()) {
        const SchurSolver<T> solver(a);
        if (solver.info() == Eigen::Success) {
          form.t = solver.matrixT();
          form.q = solver.matrixU();
          // What is below is left over from the iteration.
          const int64_t diagonals = Eigen::NumTraits<T>::IsComplex ? 0 : 1;
          for (int64_t c = 0; c < n; ++c)
            for (int64_t r = c + diagonals + 1; r < n; ++r)
              form.t(r, c) = T(0);
          form.putInOrder();
        }
      }
      writeMatrix<T>(*all[1], at[1], form.t);
      writeMatrix<T>(*all[2], at[2], form.q);
    });
  }
};

} // namespace

static MadeRoutine makeEig(const LibraryStep &step) {
  const size_t dims[] = {2, 1, 2};
  if (!step.step.options.empty() || step.inputs.size() != 1 ||
      step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  const DType part = partOf(tensors[0]->type);
  const DType expected = part == DType::F64 ? DType::C128 : DType::C64;
  if (!haveBatch(tensors, dims) || !isSquare(tensors[0]->shape) ||
      tensors[2]->shape != tensors[0]->shape ||
      tensors[1]->shape.back() != tensors[0]->shape.back() ||
      (part != DType::F32 && part != DType::F64) ||
      tensors[1]->type != expected || tensors[2]->type != expected)
    return Error("its operands do not fit");
  return madeRoutine<EigOf, Precision::Double>();
}

static MadeRoutine makeSchur(const LibraryStep &step) {
  const size_t dims[] = {2, 2, 2};
  if (!step.step.options.empty() || step.inputs.size() != 1 ||
      step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[1]->shape != tensors[0]->shape ||
      tensors[2]->shape != tensors[0]->shape)
    return Error("its operands do not fit");
  return madeRoutine<SchurOf, Precision::Double>();
}

namespace meshloom::library {
LibraryRows eigenvalueFunctions() {
  static constexpr LibraryRow rows[] = {{"eig", makeEig}, {"schur", makeSchur}};
  return rows;
}
} // namespace meshloom::library

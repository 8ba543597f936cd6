// lu and tridiagonal_solve: elimination with row exchanges, matrix by matrix,
// as LAPACK's getrf and gtsv do it.
#include "LibraryTable.h"
#include "Matrices.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// How LAPACK compares elements to pick a pivot.
template <typename T> RealOf<T> weight(const T &value) {
  return std::abs(Eigen::numext::real(value)) +
         std::abs(Eigen::numext::imag(value));
}

//===----------------------------------------------------------------------===//
// lu
//===----------------------------------------------------------------------===//

/// Factors columns [first, last) from row `first` on, and exchanges whole rows.
template <typename T>
void factorPanel(Matrix<T> &a, int64_t first, int64_t last,
                 std::vector<int32_t> &pivots) {
  for (int64_t i = first; i < last; ++i) {
    int64_t pivot = i;
    for (int64_t r = i + 1; r < a.rows(); ++r)
      if (weight<T>(a(r, i)) > weight<T>(a(pivot, i)))
        pivot = r;
    pivots[size_t(i)] = int32_t(pivot);
    if (pivot != i)
      a.row(i).swap(a.row(pivot));
    const int64_t below = a.rows() - i - 1;
    if (a(i, i) == T(0))
      continue;
    a.col(i).tail(below) /= a(i, i);
    a.block(i + 1, i + 1, below, last - i - 1).noalias() -=
        a.col(i).tail(below) * a.row(i).segment(i + 1, last - i - 1);
  }
}

/// In blocks of columns, so that most of the work is products of matrices.
template <typename T> std::vector<int32_t> factor(Matrix<T> &a) {
  constexpr int64_t block = 32;
  const int64_t count = std::min(a.rows(), a.cols());
  std::vector<int32_t> pivots(size_t(count), 0);
  for (int64_t first = 0; first < count; first += block) {
    const int64_t last = std::min(first + block, count), width = last - first;
    factorPanel(a, first, last, pivots);
    const int64_t right = a.cols() - last, below = a.rows() - last;
    auto upper = a.block(first, last, width, right);
    a.block(first, first, width, width)
        .template triangularView<Eigen::UnitLower>()
        .solveInPlace(upper);
    a.block(last, last, below, right).noalias() -=
        a.block(last, first, below, width) * upper;
  }
  return pivots;
}

template <typename T> struct LuOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1],
                                   &arguments.outputs[2]};
    const size_t dims[] = {2, 2, 1, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const std::vector<int32_t> pivots = factor(a);
      std::vector<int32_t> permutation(size_t(a.rows()));
      std::iota(permutation.begin(), permutation.end(), 0);
      for (size_t i = 0; i < pivots.size(); ++i)
        std::swap(permutation[i], permutation[size_t(pivots[i])]);
      writeMatrix<T>(*all[1], at[1], a);
      writeIntegers(*all[2], at[2], pivots);
      writeIntegers(*all[3], at[3], permutation);
    });
  }
};

//===----------------------------------------------------------------------===//
// tridiagonal_solve
//===----------------------------------------------------------------------===//

/// Eliminates the lower diagonal. An exchange of rows i and i + 1 fills in an
/// element of a second upper diagonal.
template <typename T>
void solveTridiagonal(Matrix<T> &lower, Matrix<T> &diagonal, Matrix<T> &upper,
                      Matrix<T> &b) {
  const int64_t n = b.rows();
  Matrix<T> second = Matrix<T>::Zero(n, 1);
  for (int64_t i = 0; i + 1 < n; ++i) {
    if (weight<T>(diagonal(i)) < weight<T>(lower(i + 1))) {
      std::swap(diagonal(i), lower(i + 1));
      std::swap(upper(i), diagonal(i + 1));
      if (i + 2 < n)
        std::swap(second(i), upper(i + 1));
      b.row(i).swap(b.row(i + 1));
    }
    const T ratio = lower(i + 1) / diagonal(i);
    diagonal(i + 1) -= ratio * upper(i);
    if (i + 2 < n)
      upper(i + 1) -= ratio * second(i);
    b.row(i + 1) -= ratio * b.row(i);
  }
  for (int64_t i = n; i-- > 0;) {
    if (i + 1 < n)
      b.row(i) -= upper(i) * b.row(i + 1);
    if (i + 2 < n)
      b.row(i) -= second(i) * b.row(i + 2);
    b.row(i) /= diagonal(i);
  }
}

template <typename T> struct TridiagonalOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[3], &arguments.inputs[0],
                                   &arguments.inputs[1], &arguments.inputs[2],
                                   &arguments.outputs[0]};
    const size_t dims[] = {2, 1, 1, 1, 2};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> b = readMatrix<T>(*all[0], at[0]);
      Matrix<T> lower = readMatrix<T>(*all[1], at[1], 1);
      Matrix<T> diagonal = readMatrix<T>(*all[2], at[2], 1);
      Matrix<T> upper = readMatrix<T>(*all[3], at[3], 1);
      solveTridiagonal(lower, diagonal, upper, b);
      writeMatrix<T>(*all[4], at[4], b);
    });
  }
};

} // namespace

static MadeRoutine makeLu(const LibraryStep &step) {
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
  return madeRoutine<LuOf>();
}

static MadeRoutine makeTridiagonalSolve(const LibraryStep &step) {
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
  return madeRoutine<TridiagonalOf>();
}

namespace meshloom::library {
LibraryRows luFunctions() {
  static constexpr LibraryRow rows[] = {
      {"lu", makeLu}, {"tridiagonal_solve", makeTridiagonalSolve}};
  return rows;
}
} // namespace meshloom::library

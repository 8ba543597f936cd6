// pivoted_qr and hessenberg: Householder's reflections, one column after the
// other, as LAPACK's geqp3 and gehrd make and store them.
#include "LibraryTable.h"
#include "Matrices.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// 1 - tau v v^H, whose adjoint brings a vector to (beta, 0, ...), with real
/// beta and v(0) = 1.
template <typename T> struct Reflection {
  T tau = T(0), beta;
  Vector<T> v;

  explicit Reflection(Vector<T> column) : beta(column(0)), v(column) {
    const T alpha = column(0);
    const int64_t below = column.size() - 1;
    const RealOf<T> rest =
        below > 0 ? column.tail(below).stableNorm() : RealOf<T>(0);
    if (rest != 0 || Eigen::numext::imag(alpha) != 0) {
      const RealOf<T> length =
          std::hypot(Eigen::numext::real(alpha),
                     std::hypot(Eigen::numext::imag(alpha), rest));
      beta = T(-std::copysign(length, Eigen::numext::real(alpha)));
      tau = (beta - alpha) / beta;
      v /= alpha - beta;
    }
    v(0) = T(1);
  }

  /// `block` times the adjoint, from the left.
  template <typename Block> void applyLeft(Block block) const {
    const Eigen::Matrix<T, 1, Eigen::Dynamic> product = v.adjoint() * block;
    block.noalias() -= (Eigen::numext::conj(tau) * v) * product;
  }
  /// `block` times the reflection, from the right.
  template <typename Block> void applyRight(Block block) const {
    const Vector<T> product = block * v;
    block.noalias() -= (tau * product) * v.adjoint();
  }
  /// Stores what column `c` holds from row `r` on.
  void store(Matrix<T> &a, int64_t r, int64_t c) const {
    a.col(c).tail(v.size()) = v;
    a(r, c) = beta;
  }
};

//===----------------------------------------------------------------------===//
// pivoted_qr
//===----------------------------------------------------------------------===//

template <typename T> struct PivotedQrOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1],
                                   &arguments.outputs[2]};
    const size_t dims[] = {2, 2, 1, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t count = std::min(a.rows(), a.cols());
      std::vector<int32_t> permutation(size_t(a.cols()));
      std::iota(permutation.begin(), permutation.end(), 0);
      Matrix<T> taus(count, 1);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t below = a.rows() - i, right = a.cols() - i - 1;
        // The norms of what is left are taken anew: this costs as much as the
        // reflection, and none of them loses digits.
        int64_t pivot = i;
        RealOf<T> greatest(-1);
        for (int64_t c = i; c < a.cols(); ++c)
          if (const RealOf<T> norm = a.col(c).tail(below).stableNorm();
              norm > greatest) {
            greatest = norm;
            pivot = c;
          }
        if (pivot != i) {
          a.col(i).swap(a.col(pivot));
          std::swap(permutation[size_t(i)], permutation[size_t(pivot)]);
        }
        const Reflection<T> reflection(a.col(i).tail(below));
        reflection.applyLeft(a.bottomRightCorner(below, right));
        reflection.store(a, i, i);
        taus(i) = reflection.tau;
      }
      writeMatrix<T>(*all[1], at[1], a);
      writeIntegers(*all[2], at[2], permutation);
      writeMatrix<T>(*all[3], at[3], taus, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// hessenberg
//===----------------------------------------------------------------------===//

template <typename T> struct HessenbergOf {
  static void run(const LibraryArguments &arguments) {
    const LibraryOperand *all[] = {&arguments.inputs[0], &arguments.outputs[0],
                                   &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(all, dims, [&](const std::vector<int64_t> &at) {
      Matrix<T> a = readMatrix<T>(*all[0], at[0]);
      const int64_t count = std::max<int64_t>(a.rows() - 1, 0);
      Matrix<T> taus(count, 1);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t below = a.rows() - i - 1;
        const Reflection<T> reflection(a.col(i).tail(below));
        reflection.applyRight(a.rightCols(below));
        reflection.applyLeft(a.bottomRightCorner(below, below));
        reflection.store(a, i + 1, i);
        taus(i) = reflection.tau;
      }
      writeMatrix<T>(*all[1], at[1], a);
      writeMatrix<T>(*all[2], at[2], taus, 1);
    });
  }
};

} // namespace

static MadeRoutine makePivotedQr(const LibraryStep &step) {
  const OptionReader options(step.step);
  const size_t dims[] = {2, 2, 1, 1};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 3)
    return Error("expected one operand and three results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1], step.outputs[2]};
  if (!haveBatch(tensors, dims))
    return Error("its operands do not fit");
  const Shape &shape = tensors[0]->shape;
  const int64_t rows = shape[shape.size() - 2], columns = shape.back();
  if (tensors[1]->shape != shape || tensors[1]->type != tensors[0]->type ||
      tensors[2]->shape.back() != columns || tensors[2]->type != DType::I32 ||
      tensors[3]->shape.back() != std::min(rows, columns) ||
      tensors[3]->type != tensors[0]->type)
    return Error("its operands do not fit");
  return madeRoutine<PivotedQrOf>();
}

static MadeRoutine makeHessenberg(const LibraryStep &step) {
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
  return madeRoutine<HessenbergOf>();
}

namespace meshloom::library {
LibraryRows reflectionFunctions() {
  static constexpr LibraryRow rows[] = {{"hessenberg", makeHessenberg},
                                        {"pivoted_qr", makePivotedQr}};
  return rows;
}
} // namespace meshloom::library

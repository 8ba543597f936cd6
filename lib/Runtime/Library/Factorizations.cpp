// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cholesky and triangular_solve by LAPACK, matrix by matrix.
#include "BlockedFactorizations.h"
#include "LibraryTable.h"
#include "Matrices.h"
#include "PanelProduct.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
//===----------------------------------------------------------------------===//
// cholesky
//===----------------------------------------------------------------------===//

/// Factors a small real matrix in its lower triangle, column by column, and
/// returns whether it is positive definite. LAPACK takes longer to begin.
template <typename T> bool factorFew(Matrix<T> &a) {
  const int n = a.rows;
  for (int c = 0; c < n; ++c) {
    T *column = &a(0, c);
    if (!(column[c] > T(0)))
      return false;
    column[c] = std::sqrt(column[c]);
    const T inverse = T(1) / column[c];
    for (int r = c + 1; r < n; ++r)
      column[r] *= inverse;
    for (int k = c + 1; k < n; ++k) {
      T *target = &a(0, k);
      const T factor = column[k];
      for (int r = k; r < n; ++r)
        target[r] -= factor * column[r];
    }
  }
  return true;
}

/// Factors the triangle that `lower` says, in place.
template <typename T>
bool factorCholesky(Matrix<T> &a, bool lower, bool deterministic) {
  constexpr int few = 16;
  if constexpr (!isComplexType<T>)
    if (lower && a.rows <= few)
      return factorFew(a);
  if (lower && BlockedCholesky<T>::hasPanels(a, deterministic))
    return BlockedCholesky<T>(a).run();
  return lapack<"potrf", T>(lower ? 'L' : 'U', a.rows, a.data(), a.stride()) ==
         0;
}

template <typename T> struct CholeskyOf {
  static void run(const LibraryArguments &arguments, bool lower,
                  bool deterministic) {
    const LibraryOperand *both[] = {&arguments.inputs[0],
                                    &arguments.outputs[0]};
    const size_t dims[] = {2, 2};
    forEachMatrix(both, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*both[0], offsets[0]);
      const int n = a.rows;
      // The triangle that the op does not read may hold anything.
      for (int c = 0; c < n; ++c) {
        const auto column = a.column(c);
        std::ranges::fill(lower ? column.first(size_t(c))
                                : column.subspan(size_t(c) + 1),
                          T(0));
        a(c, c) = T(std::real(a(c, c)));
      }
      if (!a.isFinite() || !factorCholesky(a, lower, deterministic))
        for (int c = 0; c < n; ++c)
          std::ranges::fill(lower ? a.column(c).subspan(size_t(c))
                                  : a.column(c).first(size_t(c) + 1),
                            notANumber<T>);
      writeMatrix<T>(*both[1], offsets[1], a);
    });
  }
};

//===----------------------------------------------------------------------===//
// triangular_solve
//===----------------------------------------------------------------------===//

/// LAPACK's letter for it.
enum class Transpose : char { None = 'N', Transpose = 'T', Adjoint = 'C' };
std::optional<Transpose> parseTranspose(std::string_view name) {
  return name == "NO_TRANSPOSE" ? std::optional(Transpose::None)
         : name == "TRANSPOSE"  ? std::optional(Transpose::Transpose)
         : name == "ADJOINT"    ? std::optional(Transpose::Adjoint)
                                : std::nullopt;
}

struct SolveOptions {
  bool onLeft, lower, unit;
  Transpose transpose;
};

/// A matrix in memory, row by row.
template <typename T> struct RowMatrix {
  T *data;
  int64_t rows, columns, stride;

  T *row(int64_t r) const { return data + r * stride; }
};

/// op(A) X = B or X op(A) = B, X in place of B, with A and B row by row.
template <typename T> class TriangularSystem {
public:
  TriangularSystem(const SolveOptions &options, const T *a, int64_t stride)
      : options(options), a(a), stride(stride),
        isTransposed(options.transpose != Transpose::None),
        isForward(options.onLeft == (options.lower != isTransposed)) {}

  /// Large real systems are solved block after block: what the blocks solved
  /// before add to one is a matrix product.
  void solve(RowMatrix<T> b) const {
    const int64_t order = options.onLeft ? b.rows : b.columns;
    if constexpr (!isComplexType<T>) {
      if (order <= fewRows)
        return solveFew(b, order);
      if (order > BLOCK)
        return solveBlocks(b, order);
    }
    solveByLibrary(b, 0, order, T(1));
  }

private:
  static constexpr int64_t BLOCK = 64, fewRows = 16;

  /// The strides of op(A).
  MatrixStrides strides() const {
    return isTransposed ? MatrixStrides{1, stride} : MatrixStrides{stride, 1};
  }

  /// The rows (or columns) [begin, end) of X times the diagonal block of A are
  /// `factor` times those of B. For LAPACK rows are columns: the transposed
  /// system.
  void solveByLibrary(RowMatrix<T> b, int64_t begin, int64_t end,
                      T factor) const {
    const int64_t count = end - begin;
    T *first = options.onLeft ? b.row(begin) : b.data + begin;
    fortran<"trsm", T>(options.onLeft ? 'R' : 'L', options.lower ? 'U' : 'L',
                       char(options.transpose), options.unit ? 'U' : 'N',
                       int(options.onLeft ? b.columns : count),
                       int(options.onLeft ? count : b.rows), factor,
                       const_cast<T *>(a + begin * (stride + 1)),
                       int(std::max<int64_t>(stride, 1)), first,
                       int(std::max<int64_t>(b.stride, 1)));
  }

  void solveBlocks(RowMatrix<T> b, int64_t order) const
    requires(!isComplexType<T>)
  {
    // Sums of products are added to -B.
    for (int64_t r = 0; r < b.rows; ++r)
      for (T &value : std::span(b.row(r), size_t(b.columns)))
        value = -value;
    const MatrixStrides of = strides();
    const int64_t blocks = (order + BLOCK - 1) / BLOCK;
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t block = isForward ? i : blocks - 1 - i;
      const int64_t begin = block * BLOCK, end = std::min(begin + BLOCK, order),
                    solved = isForward ? 0 : end,
                    terms = isForward ? begin : order - end;
      if (terms > 0 && options.onLeft)
        panelProduct<T>(end - begin, b.columns, terms,
                        a + begin * of.rowStride + solved * of.columnStride, of,
                        b.row(solved), {b.stride, 1}, /*accumulate=*/true,
                        b.row(begin), b.stride);
      else if (terms > 0)
        panelProduct<T>(b.rows, end - begin, terms, b.data + solved,
                        {b.stride, 1},
                        a + solved * of.rowStride + begin * of.columnStride, of,
                        /*accumulate=*/true, b.data + begin, b.stride);
      solveByLibrary(b, begin, end, T(-1));
    }
  }

  void solveFew(RowMatrix<T> b, int64_t order) const {
    const MatrixStrides of = strides();
    for (int64_t n = 0; n < order; ++n) {
      const int64_t i = isForward ? n : order - 1 - n;
      const T *diagonal = a + i * (stride + 1);
      for (int64_t m = 0; m < n; ++m) {
        const int64_t k = isForward ? m : order - 1 - m;
        if (options.onLeft) {
          const T factor = a[i * of.rowStride + k * of.columnStride];
          for (int64_t c = 0; c < b.columns; ++c)
            b.row(i)[c] -= factor * b.row(k)[c];
        } else {
          const T factor = a[k * of.rowStride + i * of.columnStride];
          for (int64_t r = 0; r < b.rows; ++r)
            b.row(r)[i] -= b.row(r)[k] * factor;
        }
      }
      if (options.unit)
        continue;
      if (options.onLeft)
        for (int64_t c = 0; c < b.columns; ++c)
          b.row(i)[c] /= *diagonal;
      else
        for (int64_t r = 0; r < b.rows; ++r)
          b.row(r)[i] /= *diagonal;
    }
  }

  const SolveOptions &options;
  const T *const a;
  const int64_t stride;
  const bool isTransposed;
  const bool isForward; ///< the first row or column is solved first
};

template <typename T> struct SolveOf {
  static void run(const LibraryArguments &arguments,
                  const SolveOptions &options) {
    const LibraryOperand &a = arguments.inputs[0], &b = arguments.inputs[1],
                         &x = arguments.outputs[0];
    const LibraryOperand *matrices[] = {&a, &b, &x};
    const size_t dims[] = {2, 2, 2};
    const size_t rank = a.extent.size();
    const int64_t order = a.extent[rank - 1], rows = b.extent[rank - 2],
                  columns = b.extent[rank - 1];
    auto isRowByRow = [&](const LibraryOperand &operand) {
      return operand.type == dtypeOf<T> && operand.strides[rank - 1] == 1 &&
             operand.strides[rank - 2] >= operand.extent[rank - 1] &&
             operand.strides[rank - 2] <= std::numeric_limits<int>::max();
    };
    const bool readsA = isRowByRow(a), writesX = isRowByRow(x);
    std::vector<T> copyOfA(readsA ? 0 : size_t(order * order)),
        copyOfX(writesX ? 0 : size_t(rows * columns));
    auto copy = [&](const LibraryOperand &from, int64_t offset, T *to,
                    int64_t stride) {
      if (from.type == dtypeOf<T>)
        return copyMatrix(reinterpret_cast<const T *>(from.data) + offset,
                          from.strides[rank - 2], from.strides[rank - 1], to,
                          stride, 1, from.extent[rank - 2],
                          from.extent[rank - 1]);
      const Matrix<T> matrix = readMatrix<T>(from, offset);
      copyMatrix(matrix.elements.data(), 1, matrix.rows, to, stride, 1,
                 matrix.rows, matrix.columns);
    };
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      const T *system = reinterpret_cast<const T *>(a.data) + offsets[0];
      if (!readsA) {
        copy(a, offsets[0], copyOfA.data(), order);
        system = copyOfA.data();
      }
      RowMatrix<T> result{copyOfX.data(), rows, columns, columns};
      if (writesX)
        result = {reinterpret_cast<T *>(x.data) + offsets[2], rows, columns,
                  x.strides[rank - 2]};
      copy(b, offsets[1], result.data, result.stride);
      TriangularSystem<T>(options, system, readsA ? a.strides[rank - 2] : order)
          .solve(result);
      if (writesX)
        return;
      Matrix<T> transposed(rows, columns);
      copyMatrix(copyOfX.data(), columns, 1, transposed.data(), 1, rows, rows,
                 columns);
      writeMatrix<T>(x, offsets[2], transposed);
    });
  }
};

} // namespace

static RoutineOrError makeCholesky(const LibraryStep &step) {
  OptionReader options(step.step);
  const bool lower = options.flag("lower");
  const size_t dims[] = {2, 2};
  if (!options.ok() || step.inputs.size() != 1 || step.outputs.size() != 1)
    return Error("expected one operand and one result");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[1]->shape != tensors[0]->shape)
    return Error("its operands do not fit");
  return makeMatrixRoutine<CholeskyOf>(step, lower, step.deterministic);
}

static RoutineOrError makeTriangularSolve(const LibraryStep &step) {
  OptionReader read(step.step);
  SolveOptions options{};
  options.onLeft = read.flag("left_side");
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
  if (b[b.size() - (options.onLeft ? 2 : 1)] != tensors[0]->shape.back())
    return Error("its operands do not fit");
  return makeMatrixRoutine<SolveOf>(step, options);
}

namespace meshloom::library {
LibraryRows functionsOfFactorizations() {
  static constexpr LibraryRow rows[] = {
      {"cholesky", makeCholesky, {.usesTeam = true}},
      {"triangular_solve", makeTriangularSolve, {.fewestLines = 32}}};
  return rows;
}
} // namespace meshloom::library

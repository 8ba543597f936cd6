// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eig and schur by LAPACK, matrix by matrix. LAPACK returns eigenvalues in any
// order and vectors with any phase: they become those that the ops define,
// unless the op asks for LAPACK's.
#include "LibraryTable.h"
#include "Matrices.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// Returns 0, 1, ..., count - 1.
std::vector<int64_t> indices(size_t count) {
  std::vector<int64_t> result(count);
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Their indices with rising real part; those whose real parts are the same but
/// for rounding with falling imaginary part.
template <typename Real>
std::vector<int64_t>
orderOf(const std::vector<std::complex<Real>> &eigenvalues) {
  std::vector<int64_t> order = indices(eigenvalues.size());
  auto eigenvalue = [&](int64_t i) { return eigenvalues[size_t(i)]; };
  std::ranges::sort(order, [&](int64_t i, int64_t j) {
    return std::pair(eigenvalue(i).real(), i) <
           std::pair(eigenvalue(j).real(), j);
  });
  Real greatest = 0;
  for (const std::complex<Real> &value : eigenvalues)
    greatest = std::max(greatest, std::abs(value));
  for (auto first = order.begin(); first != order.end();) {
    auto last = first + 1;
    while (last != order.end() &&
           eigenvalue(*last).real() - eigenvalue(last[-1]).real() <=
               greatest * Real(1e-5))
      ++last;
    std::sort(first, last, [&](int64_t i, int64_t j) {
      return std::pair(-eigenvalue(i).imag(), i) <
             std::pair(-eigenvalue(j).imag(), j);
    });
    first = last;
  }
  return order;
}

//===----------------------------------------------------------------------===//
// eig
//===----------------------------------------------------------------------===//

/// The eigenvalues that geev and gees give: real ones in two vectors, one after
/// the other.
template <typename T>
std::vector<std::complex<RealOf<T>>> joined(const std::vector<T> &parts) {
  const size_t n = parts.size() / 2;
  std::vector<std::complex<RealOf<T>>> values(n);
  for (size_t i = 0; i < n; ++i)
    if constexpr (isComplexType<T>)
      values[i] = parts[i];
    else
      values[i] = {parts[i], parts[n + i]};
  return values;
}

struct EigOptions {
  bool leftVectors, lapackOrder, onlyValues;

  /// Returns LAPACK's letter for whether vectors of one side are computed.
  char job(bool areLeft) const {
    return onlyValues || areLeft != leftVectors ? 'N' : 'V';
  }
};

template <typename T> struct EigOf {
  using Complex = std::complex<RealOf<T>>;

  /// Column c of the vectors; real ones are those of a pair's real and
  /// imaginary parts.
  static void copyVector(const Matrix<T> &vectors, const Complex &value, int c,
                         std::span<Complex> to) {
    const int first = value.imag() < 0 ? c - 1 : c;
    const RealOf<T> sign = value.imag() < 0 ? -1 : 1;
    for (int r = 0; r < vectors.rows; ++r)
      if (isComplexType<T> || value.imag() == 0)
        to[size_t(r)] = vectors(r, c);
      else if constexpr (!isComplexType<T>)
        to[size_t(r)] = {vectors(r, first), sign * vectors(r, first + 1)};
  }

  static void run(const LibraryArguments &arguments,
                  const EigOptions &options) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[1], &arguments.outputs[0]};
    const size_t dims[] = {2, 2, 1};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      const int n = a.rows;
      if (n == 0)
        return;
      Matrix<Complex> vectors(n, n, notANumber<Complex>),
          values(n, 1, notANumber<Complex>);
      Matrix<T> found(n, n);
      std::vector<T> parts(2 * size_t(n));
      std::vector<RealOf<T>> reals(2 * size_t(n));
      auto call = [&](T *work, int size) {
        return lapack<"geev", T>(
            options.job(/*areLeft=*/true), options.job(/*areLeft=*/false), n,
            a.data(), n, parts.data(), onlyReal(parts.data() + n), found.data(),
            n, found.data(), n, work, size, onlyComplex(reals.data()));
      };
      if (a.isFinite() && withWorkspace<T>(call) == 0) {
        // Vectors that nobody reads are zeros.
        if (options.onlyValues)
          vectors = Matrix<Complex>(n, n);
        const std::vector<Complex> eigenvalues = joined(parts);
        const std::vector<int64_t> order =
            options.lapackOrder ? indices(n) : orderOf(eigenvalues);
        for (int c = 0; c < n; ++c) {
          const int64_t from = order[size_t(c)];
          values(c, 0) = eigenvalues[size_t(from)];
          if (options.onlyValues)
            continue;
          copyVector(found, values(c, 0), int(from), vectors.column(c));
          if (!options.lapackOrder)
            scale(vectors.column(c), phaseOf(vectors.column(c)));
        }
      }
      writeMatrix<Complex>(*matrices[1], offsets[1], vectors);
      writeMatrix<Complex>(*matrices[2], offsets[2], values, 1);
    });
  }
};

//===----------------------------------------------------------------------===//
// schur
//===----------------------------------------------------------------------===//

/// A Schur form whose blocks are put in order. Invariant: t = q^H a q.
template <typename T> struct SchurForm {
  Matrix<T> t, q;

  /// Returns the number of rows of the block that begins at `first`.
  int rowsAt(int first) const {
    return !isComplexType<T> && first + 1 < t.rows &&
                   t(first + 1, first) != T(0)
               ? 2
               : 1;
  }

  /// Sorts the eigenvalues on the diagonal. Blocks that LAPACK finds too close
  /// to change places remain.
  void putInOrder(const std::vector<std::complex<RealOf<T>>> &values) {
    std::vector<int> rows;
    std::vector<std::complex<RealOf<T>>> ofBlocks;
    for (int first = 0; first < t.rows; first += rows.back()) {
      rows.push_back(rowsAt(first));
      ofBlocks.push_back(values[size_t(first)]);
    }
    // These are the blocks that have no place yet, in their present order.
    std::vector<int64_t> unplaced = indices(rows.size());
    std::vector<T> work(t.elements.size());
    int to = 0;
    for (int64_t block : orderOf(ofBlocks)) {
      int from = to;
      auto next = unplaced.begin();
      for (; *next != block; ++next)
        from += rows[size_t(*next)];
      unplaced.erase(next);
      if (lapack<"trexc", T>('V', t.rows, t.data(), t.rows, q.data(), t.rows,
                             from + 1, to + 1, onlyReal(work.data())) != 0)
        return;
      to += rows[size_t(block)];
    }
  }

  /// Makes the form unique: of two rows' block the element to the right is the
  /// larger one, and vectors have the phases that the op defines.
  void normalise() {
    for (int first = 0; first < t.rows; first += rowsAt(first))
      if (rowsAt(first) == 2 &&
          std::abs(t(first, first + 1)) < std::abs(t(first + 1, first))) {
        std::ranges::swap_ranges(t.column(first), t.column(first + 1));
        std::ranges::swap_ranges(q.column(first), q.column(first + 1));
        for (int c = 0; c < t.rows; ++c)
          std::swap(t(first, c), t(first + 1, c));
      }
    for (int i = 0; i < t.rows; ++i) {
      const T phase = phaseOf(q.column(i));
      scale(q.column(i), phase);
      scale(t.column(i), phase);
      for (int c = 0; c < t.rows; ++c)
        t(i, c) *= conjugate(phase);
    }
  }
};

template <typename T> struct SchurOf {
  static void run(const LibraryArguments &arguments, bool lapackOrder) {
    const LibraryOperand *matrices[] = {
        &arguments.inputs[0], &arguments.outputs[0], &arguments.outputs[1]};
    const size_t dims[] = {2, 2, 2};
    forEachMatrix(matrices, dims, [&](const std::vector<int64_t> &offsets) {
      Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
      const int n = a.rows;
      if (n == 0)
        return;
      SchurForm<T> form{a, Matrix<T>(n, n)};
      std::vector<T> parts(2 * size_t(n));
      std::vector<RealOf<T>> reals(static_cast<size_t>(n));
      int sorted = 0;
      auto call = [&](T *work, int size) {
        return lapack<"gees", T>(
            'V', 'N', static_cast<void *>(nullptr), n, form.t.data(), n,
            &sorted, parts.data(), onlyReal(parts.data() + n), form.q.data(), n,
            work, size, onlyComplex(reals.data()), static_cast<int *>(nullptr));
      };
      if (a.isFinite() && withWorkspace<T>(call) == 0) {
        if (!lapackOrder) {
          form.putInOrder(joined(parts));
          form.normalise();
        }
      } else {
        form.t = form.q = Matrix<T>(n, n, notANumber<T>);
      }
      writeMatrix<T>(*matrices[1], offsets[1], form.t);
      writeMatrix<T>(*matrices[2], offsets[2], form.q);
    });
  }
};

} // namespace

/// Returns the routine whose eigenvalues are in the op's order, which gains
/// digits by 64 bits, or in that of LAPACK for the element type.
template <template <typename> typename Computation, typename Options>
static RoutineOrError makeInOrder(bool lapackOrder, const LibraryStep &step,
                                  Options options) {
  return lapackOrder
             ? makeMatrixRoutine<Computation, Precision::Elements>(step,
                                                                   options)
             : makeMatrixRoutine<Computation, Precision::Double>(step, options);
}

static RoutineOrError makeEig(const LibraryStep &step) {
  OptionReader read(step.step);
  const EigOptions options{read.flag("left"), read.flag("lapack_order"),
                           read.flag("only_values")};
  const size_t dims[] = {2, 1, 2};
  if (!read.ok() || step.inputs.size() != 1 || step.outputs.size() != 2)
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
  return makeInOrder<EigOf>(options.lapackOrder, step, options);
}

static RoutineOrError makeSchur(const LibraryStep &step) {
  OptionReader read(step.step);
  const bool lapackOrder = read.flag("lapack_order");
  const size_t dims[] = {2, 2, 2};
  if (!read.ok() || step.inputs.size() != 1 || step.outputs.size() != 2)
    return Error("expected one operand and two results");
  const BufferDecl *tensors[] = {step.inputs[0], step.outputs[0],
                                 step.outputs[1]};
  if (!haveBatch(tensors, dims) || !haveOneType(tensors) ||
      !isSquare(tensors[0]->shape) || tensors[1]->shape != tensors[0]->shape ||
      tensors[2]->shape != tensors[0]->shape)
    return Error("its operands do not fit");
  return makeInOrder<SchurOf>(lapackOrder, step, lapackOrder);
}

namespace meshloom::library {
LibraryRows functionsOfEigenvalues() {
  static constexpr LibraryRow rows[] = {{"eig", makeEig}, {"schur", makeSchur}};
  return rows;
}
} // namespace meshloom::library

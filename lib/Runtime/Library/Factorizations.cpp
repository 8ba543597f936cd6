// cholesky, triangular_solve, geqrf and householder_product by LAPACK, matrix
// by matrix.
#include "LibraryTable.h"
#include "Matrices.h"

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
      const int n = a.rows;
      // What is not read may be anything.
      for (int c = 0; c < n; ++c) {
        const auto column = a.column(c);
        std::ranges::fill(lower ? column.first(size_t(c))
                                : column.subspan(size_t(c) + 1),
                          T(0));
        a(c, c) = T(std::real(a(c, c)));
      }
      if (!a.isFinite() ||
          lapack<"potrf", T>(lower ? 'L' : 'U', n, a.data(), a.stride()) != 0)
        for (int c = 0; c < n; ++c)
          std::ranges::fill(lower ? a.column(c).subspan(size_t(c))
                                  : a.column(c).first(size_t(c) + 1),
                            notANumber<T>);
      writeMatrix<T>(*both[1], at[1], a);
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
      fortran<"trsm", T>(options.left ? 'L' : 'R', options.lower ? 'L' : 'U',
                         char(options.transpose), options.unit ? 'U' : 'N',
                         b.rows, b.columns, T(1), a.data(), a.stride(),
                         b.data(), b.stride());
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
      Matrix<T> taus(std::min(a.rows, a.columns), 1, notANumber<T>);
      if (a.isFinite())
        taus = factorQr(a);
      else
        a = Matrix<T>(a.rows, a.columns, notANumber<T>);
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
      Matrix<T> q = readMatrix<T>(*all[0], at[0]);
      Matrix<T> taus = readMatrix<T>(*all[1], at[1], 1);
      // Neither R nor the columns without a tau are read.
      for (int c = 0; c < q.columns; ++c)
        std::ranges::fill(
            q.column(c).first(size_t(c < taus.rows ? c + 1 : q.rows)), T(0));
      if (q.isFinite() && taus.isFinite())
        multiplyReflections(q, taus);
      else
        q = Matrix<T>(q.rows, q.columns, notANumber<T>);
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
  return madeRoutine<CholeskyOf>(step, lower);
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
  return madeRoutine<SolveOf>(step, options);
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
  if (Status fits = checkWorkspace(64. * shape.back()); !fits)
    return fits.error();
  return madeRoutine<GeqrfOf>(step);
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
  return madeRoutine<HouseholderProductOf>(step);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// eigh and svd: small real matrices by Jacobi's rotations, several at a time,
// moderate ones by rotations of several of their rows at a time, and the others
// by LAPACK, matrix by matrix. Vectors are unique only up to phases: the ones
// taken are those that the ops define.
#include "BlockedFactorizations.h"
#include "JacobiRotations.h"
#include "LibraryTable.h"
#include "Matrices.h"
#include "RotatedRows.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::library;

namespace {

template <typename T>
using Wide = std::conditional_t<isComplexType<T>, std::complex<double>, double>;

/// Returns columns of a matrix in another type of elements.
template <typename To, typename T>
Matrix<To> convertedColumns(const Matrix<T> &matrix, int64_t begin,
                            int64_t end) {
  Matrix<To> result(matrix.rows, end - begin);
  std::transform(matrix.elements.begin() + begin * matrix.rows,
                 matrix.elements.begin() + end * matrix.rows,
                 result.elements.begin(),
                 [](const T &element) { return To(element); });
  return result;
}

template <typename To, typename T>
Matrix<To> converted(const Matrix<T> &matrix) {
  return convertedColumns<To>(matrix, 0, matrix.columns);
}

/// Returns the real part of lhs^H rhs, by partial sums that become vectors.
template <typename T>
double realDot(std::span<const T> lhs, std::span<const T> rhs) {
  const auto *lhsParts = reinterpret_cast<const double *>(lhs.data()),
             *rhsParts = reinterpret_cast<const double *>(rhs.data());
  const size_t count = lhs.size() * (isComplexType<T> ? 2 : 1);
  std::array<double, 8> sums{};
  size_t i = 0;
  for (; i + sums.size() <= count; i += sums.size())
    for (size_t k = 0; k < sums.size(); ++k)
      sums[k] += lhsParts[i + k] * rhsParts[i + k];
  double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  for (; i < count; ++i)
    sum += lhsParts[i] * rhsParts[i];
  return sum;
}

/// Sets values[i] = u[i]^H a v[i], computed in 64 bits, where elements
/// have 32. Its error is the square of the error of the vectors, which are
/// columns: so the values have all digits. A team shares the columns.
template <typename T>
void refineValues(const Matrix<T> &a, const Matrix<T> &u, const Matrix<T> &v,
                  Matrix<RealOf<T>> &values) {
  if constexpr (!std::is_same_v<T, Wide<T>>) {
    Matrix<Wide<T>> wide = converted<Wide<T>>(a), products(a.rows, v.columns);
    const int64_t leastColumns =
        std::max<int64_t>(1, ELEMENTS_OF_WORKER / std::max(v.rows, 1));
    Team::current().forEachRange(
        values.rows, leastColumns, /*grain=*/4,
        [&](int64_t begin, int64_t end) {
          Matrix<Wide<T>> wideU = convertedColumns<Wide<T>>(u, begin, end),
                          wideV = convertedColumns<Wide<T>>(v, begin, end);
          Wide<T> *images = products.column(int(begin)).data();
          fortran<"gemm", Wide<T>>('N', 'N', a.rows, wideV.columns, a.columns,
                                   Wide<T>(1), wide.data(), wide.stride(),
                                   wideV.data(), wideV.stride(), Wide<T>(0),
                                   images, products.stride());
          for (int64_t i = begin; i < end; ++i) {
            auto x = wideU.column(int(i - begin)),
                 y = wideV.column(int(i - begin));
            const double squares =
                realDot<Wide<T>>(x, x) * realDot<Wide<T>>(y, y);
            values(int(i), 0) =
                RealOf<T>(realDot<Wide<T>>(x, products.column(int(i))) /
                          std::sqrt(squares));
          }
        });
  }
}

//===----------------------------------------------------------------------===//
// Small and moderate matrices
//===----------------------------------------------------------------------===//

/// Fewer small matrices are faster one by one than a matrix a lane.
constexpr int64_t fewestOfLanes = 4;

/// The tolerance of rotations that leaves all digits of T right.
template <typename T>
constexpr double tolerance = std::is_same_v<T, double> ? 1e-14 : 1e-8;

/// Returns the order in which `keys` are sorted; equal ones stay in theirs.
template <typename Compare>
std::vector<int> sortedOrder(const std::vector<double> &keys, Compare compare) {
  std::vector<int> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, compare,
                           [&](int i) { return keys[size_t(i)]; });
  return order;
}

//===----------------------------------------------------------------------===//
// eigh
//===----------------------------------------------------------------------===//

/// Sets the eigenvalues of the Hermitian `a`, and puts the eigenvectors in its
/// place unless only values are read.
template <typename T>
bool decompose(Matrix<T> &a, bool onlyValues, Matrix<RealOf<T>> &values) {
  const int n = a.rows;
  const Matrix<T> source = onlyValues ? Matrix<T>(0, 0) : a;
  ReusingVector<RealOf<T>> reals(
      isComplexType<T> ? 2 * a.elements.size() + 5 * size_t(n) + 1 : 0);
  std::vector<int32_t> integers(5 * size_t(n) + 3);
  const int failed = withWorkspace<T>([&](T *work, int size) {
    return lapack<isComplexType<T> ? "heevd" : "syevd", T>(
        onlyValues ? 'N' : 'V', 'L', n, a.data(), n, values.data(), work, size,
        onlyComplex(reals.data()), onlyComplex(int(reals.size())),
        integers.data(), int(integers.size()));
  });
  if (failed != 0 || onlyValues)
    return failed == 0;
  refineValues(source, a, a, values);
  for (int i = 1; i < n; ++i)
    values(i, 0) = std::max(values(i, 0), values(i - 1, 0));
  return true;
}

/// Does the same for a real matrix, divided by `scale` while it computes.
/// Rotations make the rows of the matrix orthogonal once a multiple of the unit
/// matrix has made all eigenvalues positive.
template <typename T>
void decomposeByRotations(Matrix<T> &a, Matrix<T> &values, double scale) {
  const int n = a.rows;
  double norm = 0;
  for (int c = 0; c < n; ++c) {
    double sum = 0;
    for (const T &element : a.column(c))
      sum += std::abs(double(element));
    norm = std::max(norm, sum / scale);
  }
  const double multiple = 1.5 * norm;
  RotatedRows rows(n, n, /*hasRotations=*/true);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c)
      rows(r, c) = double(a(c, r)) / scale + (r == c ? multiple : 0);
  rows.orthogonalise(tolerance<T>);
  // Quotients of Rayleigh, of the matrix itself where the sum with the multiple
  // lacks digits that T has.
  std::vector<double> quotients;
  for (int i = 0; i < n; ++i) {
    double quotient = std::is_same_v<T, float> ? -multiple : 0;
    for (int c = 0; c < n; ++c) {
      double sum = 0;
      if (std::is_same_v<T, float>)
        sum = rows(i, c);
      else
        for (int r = 0; r < n; ++r)
          sum += double(a(r, c)) / scale * rows.rotation(i, r);
      quotient += sum * rows.rotation(i, c);
    }
    quotients.push_back(quotient);
  }
  const std::vector<int> order = sortedOrder(quotients, std::less<>());
  for (int i = 0; i < n; ++i) {
    const int source = order[size_t(i)];
    values(i, 0) = T(quotients[size_t(source)] * scale);
    for (int r = 0; r < n; ++r)
      a(r, i) = T(rows.rotation(source, r));
  }
}

struct EighOptions {
  bool lower, onlyValues;
};

template <typename T> struct EighOf {
  static constexpr size_t dims[] = {2, 2, 1};
  const std::array<const LibraryOperand *, 3> matrices;
  const EighOptions options;

  EighOf(const LibraryArguments &arguments, EighOptions options)
      : matrices{&arguments.inputs[0], &arguments.outputs[0],
                 &arguments.outputs[1]},
        options(options) {}
  static void run(const LibraryArguments &arguments, EighOptions options) {
    runOnMatrices<T>(EighOf(arguments, options), fewestOfLanes);
  }

  /// Returns the Hermitian matrix of the triangle that the op reads: the other
  /// one may hold anything.
  Matrix<T> read(const std::vector<int64_t> &offsets) const {
    Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
    if (!options.lower)
      a = a.adjoint();
    for (int c = 0; c < a.rows; ++c) {
      for (int r = 0; r < c; ++r)
        a(r, c) = conjugate(a(c, r));
      a(c, c) = T(std::real(a(c, c)));
    }
    return a;
  }

  /// Vectors that nothing reads are zeros.
  void write(const std::vector<int64_t> &offsets, Matrix<T> &vectors,
             Matrix<RealOf<T>> &values, bool isFound) const {
    if (isFound && options.onlyValues) {
      std::ranges::fill(vectors.elements, T(0));
    } else if (isFound) {
      for (int c = 0; c < vectors.columns; ++c)
        scale(vectors.column(c), phaseOf(vectors.column(c)));
    } else {
      std::ranges::fill(vectors.elements, notANumber<T>);
      std::ranges::fill(values.elements, notANumber<RealOf<T>>);
    }
    writeMatrix<T>(*matrices[1], offsets[1], vectors);
    writeMatrix<RealOf<T>>(*matrices[2], offsets[2], values, 1);
  }

  /// Without vectors, nothing makes up for digits that 32 bits lose.
  void runMatrix(const std::vector<int64_t> &offsets) const {
    Matrix<T> a = read(offsets);
    Matrix<RealOf<T>> values(a.rows, 1);
    if (options.onlyValues) {
      Matrix<Wide<T>> wide = converted<Wide<T>>(a);
      Matrix<RealOf<Wide<T>>> wideValues(a.rows, 1);
      const bool isFound =
          a.isFinite() && decompose(wide, /*onlyValues=*/true, wideValues);
      values = converted<RealOf<T>>(wideValues);
      return write(offsets, a, values, isFound);
    }
    // More rows are faster in LAPACK.
    constexpr int mostRotated = std::is_same_v<T, float> ? 16 : 8;
    if constexpr (!isComplexType<T>)
      if (a.rows > 0 && a.rows <= mostRotated) {
        const double scale = scaleOf(a);
        if (!std::isnan(scale))
          decomposeByRotations(a, values, scale);
        return write(offsets, a, values, !std::isnan(scale));
      }
    write(offsets, a, values,
          a.isFinite() && decompose(a, /*onlyValues=*/false, values));
  }

  void runLanes(int n, int /*columns*/, const LaneOffsets &offsets) const
    requires(!isComplexType<T>)
  {
    MatrixLanes a{n, n}, vectors{n, n};
    std::array<double, MatrixLanes::lanes> scales{};
    for (size_t l = 0; l < offsets.size(); ++l)
      scales[l] = setScaledLane(a, int(l), read(offsets[l]));
    diagonalise(a, options.onlyValues ? nullptr : &vectors, tolerance<T>);
    Matrix<T> result(n, n), values(n, 1);
    for (size_t l = 0; l < offsets.size(); ++l) {
      const int lane = int(l);
      std::vector<double> diagonal(static_cast<size_t>(n));
      for (int i = 0; i < n; ++i)
        diagonal[size_t(i)] = a(i, i)[lane];
      const std::vector<int> order = sortedOrder(diagonal, std::less<>());
      for (int c = 0; c < n; ++c) {
        const int source = order[size_t(c)];
        values(c, 0) = T(diagonal[size_t(source)] * scales[l]);
        for (int r = 0; r < n && !options.onlyValues; ++r)
          result(r, c) = T(vectors(source, r)[lane]);
      }
      write(offsets[l], result, values, !std::isnan(scales[l]));
    }
  }
};

//===----------------------------------------------------------------------===//
// svd
//===----------------------------------------------------------------------===//

/// The orthonormal columns `thin`, and as many more as there are rows for.
template <typename T> Matrix<T> completed(const Matrix<T> &thin) {
  if (thin.rows == thin.columns)
    return thin;
  Matrix<T> factors = thin, all(thin.rows, thin.rows);
  Matrix<T> taus = factorQr(factors);
  std::ranges::copy(factors.elements, all.elements.begin());
  multiplyReflections(all, taus);
  std::ranges::copy(thin.elements, all.elements.begin());
  return all;
}

struct SvdOptions {
  bool fullMatrices, onlyValues;
};

/// The results of svd, with the vectors as columns.
template <typename T> struct SingularVectors {
  Matrix<T> u, v;
  Matrix<RealOf<T>> values;

  SingularVectors(int rows, int columns, int k)
      : u(rows, k), v(columns, k), values(k, 1) {}
};

/// Sets the singular values of `a`, and its vectors unless only values are
/// read. Overwrites `a`.
template <typename T>
bool decompose(Matrix<T> &a, bool onlyValues, SingularVectors<T> &result) {
  const int k = result.values.rows;
  ReusingVector<RealOf<T>> reals(
      isComplexType<T> ? 5 * (a.elements.size() + size_t(k)) : 0);
  std::vector<int32_t> integers(8 * size_t(k));
  const Matrix<T> source = onlyValues ? Matrix<T>(0, 0) : a;
  Matrix<T> vh(k, a.columns);
  const int failed = withWorkspace<T>([&](T *work, int size) {
    return lapack<"gesdd", T>(
        onlyValues ? 'N' : 'S', a.rows, a.columns, a.data(), a.stride(),
        result.values.data(), result.u.data(), result.u.stride(), vh.data(),
        vh.stride(), work, size, onlyComplex(reals.data()), integers.data());
  });
  if (failed != 0 || onlyValues)
    return failed == 0;
  result.v = vh.adjoint();
  refineValues(source, result.u, result.v, result.values);
  for (int i = 0; i < k; ++i) {
    RealOf<T> &value = result.values(i, 0);
    value = std::abs(value);
    if (i > 0)
      value = std::min(value, result.values(i - 1, 0));
  }
  return true;
}

template <typename T> struct SvdOf {
  static constexpr size_t dims[] = {2, 2, 1, 2};
  const std::array<const LibraryOperand *, 4> matrices;
  const SvdOptions options;

  SvdOf(const LibraryArguments &arguments, SvdOptions options)
      : matrices{&arguments.inputs[0], &arguments.outputs[0],
                 &arguments.outputs[1], &arguments.outputs[2]},
        options(options) {}
  static void run(const LibraryArguments &arguments, SvdOptions options) {
    runOnMatrices<T>(SvdOf(arguments, options), fewestOfLanes);
  }

  /// Without vectors, nothing makes up for digits that 32 bits lose.
  void runMatrix(const std::vector<int64_t> &offsets) const {
    Matrix<T> a = readMatrix<T>(*matrices[0], offsets[0]);
    const int rows = a.rows, columns = a.columns, k = std::min(rows, columns);
    // Values alone are faster in LAPACK earlier.
    const int mostRotated =
        options.onlyValues ? MatrixLanes::maxSide : RotatedRows::mostRows;
    if constexpr (!isComplexType<T>)
      if (k > 0 && k <= mostRotated &&
          std::max(rows, columns) <= 2 * mostRotated)
        return runRotated(offsets, a);
    SingularVectors<T> result(rows, columns, k);
    bool isFound = a.isFinite();
    if (isFound && options.onlyValues) {
      Matrix<Wide<T>> wide = converted<Wide<T>>(a);
      SingularVectors<Wide<T>> wideResult(rows, columns, k);
      isFound = decompose(wide, /*onlyValues=*/true, wideResult);
      result.values = converted<RealOf<T>>(wideResult.values);
    } else if (isFound) {
      isFound = decompose(a, /*onlyValues=*/false, result);
    }
    write(offsets, result, isFound);
  }

  /// Vectors that nothing reads are zeros.
  void write(const std::vector<int64_t> &offsets, SingularVectors<T> &result,
             bool isFound) const {
    auto &[u, v, values] = result;
    if (!isFound)
      std::ranges::fill(values.elements, notANumber<RealOf<T>>);
    writeMatrix<RealOf<T>>(*matrices[2], offsets[2], values, 1);
    if (isFound && !options.onlyValues) {
      for (int c = 0; c < u.columns; ++c) {
        const T phase = phaseOf(u.column(c));
        scale(u.column(c), phase);
        scale(v.column(c), phase);
      }
      if (options.fullMatrices) {
        u = completed(u);
        v = completed(v);
      }
    } else {
      const T element = isFound ? T(0) : notANumber<T>;
      const bool isFull = options.fullMatrices;
      u = Matrix<T>(u.rows, isFull ? u.rows : u.columns, element);
      v = Matrix<T>(v.rows, isFull ? v.rows : v.columns, element);
    }
    writeMatrix<T>(*matrices[1], offsets[1], u);
    writeMatrix<T>(*matrices[3], offsets[3], v.adjoint());
  }

  // Rows become orthogonal, so that no side is longer than theirs: wide
  // matrices as they are, and the others transposed.

  void runRotated(const std::vector<int64_t> &offsets,
                  const Matrix<T> &matrix) const {
    const bool isTall = matrix.rows > matrix.columns;
    const Matrix<T> &wide = isTall ? matrix.adjoint() : matrix;
    const double scale = scaleOf(wide);
    RotatedRows rows(wide.rows, wide.columns, !options.onlyValues);
    for (int r = 0; r < wide.rows && !std::isnan(scale); ++r)
      for (int c = 0; c < wide.columns; ++c)
        rows(r, c) = wide(r, c) / scale;
    rows.orthogonalise(tolerance<T>);
    writeRows(offsets, rows, isTall, scale);
  }

  void runLanes(int rows, int columns, const LaneOffsets &offsets) const
    requires(!isComplexType<T>)
  {
    const bool isTall = rows > columns;
    const int k = std::min(rows, columns), length = std::max(rows, columns);
    MatrixLanes a{k, length}, rotations{k, k};
    std::array<double, MatrixLanes::lanes> scales{};
    for (size_t l = 0; l < offsets.size(); ++l) {
      Matrix<T> matrix = readMatrix<T>(*matrices[0], offsets[l][0]);
      scales[l] = setScaledLane(a, int(l), isTall ? matrix.adjoint() : matrix);
    }
    orthogonalise(a, options.onlyValues ? nullptr : &rotations, tolerance<T>);
    RotatedRows ofLane(k, length, !options.onlyValues);
    for (size_t l = 0; l < offsets.size(); ++l) {
      for (int r = 0; r < k; ++r) {
        for (int c = 0; c < length; ++c)
          ofLane(r, c) = a(r, c)[int(l)];
        for (int c = 0; !options.onlyValues && c < k; ++c)
          ofLane.rotation(r, c) = rotations(r, c)[int(l)];
      }
      writeRows(offsets[l], ofLane, isTall, scales[l]);
    }
  }

  /// Writes what the orthogonal rows of a matrix say that was divided by
  /// `scaled`, a nan where it is not finite, and transposed where it is tall.
  void writeRows(const std::vector<int64_t> &offsets, const RotatedRows &rows,
                 bool isTall, double scaled) const {
    const int k = rows.rows(), length = rows.columns();
    SingularVectors<T> result(isTall ? length : k, isTall ? k : length, k);
    readRows(rows, isTall ? result.v : result.u, isTall ? result.u : result.v,
             result.values);
    scale(std::span(result.values.elements), T(scaled));
    write(offsets, result, !std::isnan(scaled));
  }

  /// Sets the vectors of a matrix, the short ones from the rotations and the
  /// long ones from the orthogonal rows. Negligible rows have no direction:
  /// their vectors are any that are orthogonal to the others.
  void readRows(const RotatedRows &rows, Matrix<T> &shortVectors,
                Matrix<T> &longVectors, Matrix<T> &values) const {
    const int k = rows.rows(), length = rows.columns();
    std::vector<double> lengths(static_cast<size_t>(k));
    for (int r = 0; r < k; ++r) {
      double square = 0;
      for (int c = 0; c < length; ++c)
        square += rows(r, c) * rows(r, c);
      lengths[size_t(r)] = std::sqrt(square);
    }
    const std::vector<int> order = sortedOrder(lengths, std::greater<>());
    int rank = 0;
    for (int i = 0; i < k; ++i) {
      const int row = order[size_t(i)];
      const double divisor = lengths[size_t(row)];
      values(i, 0) = T(divisor);
      if (options.onlyValues)
        continue;
      for (int c = 0; c < k; ++c)
        shortVectors(c, i) = T(rows.rotation(row, c));
      if (divisor <= negligibleLength)
        continue;
      ++rank;
      for (int c = 0; c < length; ++c)
        longVectors(c, i) = T(rows(row, c) / divisor);
    }
    if (rank == k || options.onlyValues)
      return;
    Matrix<T> thin(length, rank);
    std::copy_n(longVectors.data(), thin.elements.size(), thin.data());
    std::copy_n(completed(thin).data(), longVectors.elements.size(),
                longVectors.data());
  }
};

} // namespace

static RoutineOrError makeEigh(const LibraryStep &step) {
  OptionReader read(step.step);
  const EighOptions options{read.flag("lower"), read.flag("only_values")};
  const size_t dims[] = {2, 2, 1};
  if (!read.ok() || step.inputs.size() != 1 || step.outputs.size() != 2)
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
  return makeMatrixRoutine<EighOf>(step, options);
}

static RoutineOrError makeSvd(const LibraryStep &step) {
  OptionReader read(step.step);
  const SvdOptions options{read.flag("full_matrices"),
                           read.flag("only_values")};
  const size_t dims[] = {2, 2, 1, 2};
  if (!read.ok() || step.inputs.size() != 1 || step.outputs.size() != 3)
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
  if (sizes(1) != std::pair(rows, options.fullMatrices ? rows : k) ||
      sizes(3) != std::pair(options.fullMatrices ? columns : k, columns) ||
      tensors[2]->shape.back() != k || tensors[1]->type != tensors[0]->type ||
      tensors[3]->type != tensors[0]->type ||
      tensors[2]->type != partOf(tensors[0]->type))
    return Error("its operands do not fit");
  if (Status fits = checkWorkspace((5. * k + 64) * std::max(rows, columns));
      !fits)
    return fits.error();
  return makeMatrixRoutine<SvdOf>(step, options);
}

namespace meshloom::library {
LibraryRows functionsOfOrthogonalDecompositions() {
  static constexpr LibraryRow rows[] = {{"eigh", makeEigh, {.usesTeam = true}},
                                        {"svd", makeSvd, {.usesTeam = true}}};
  return rows;
}
} // namespace meshloom::library

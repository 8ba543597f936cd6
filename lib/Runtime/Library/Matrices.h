// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrices.h: what library functions of matrices share. Matrices are the last
// two dims of boxes, with batches in front; results are rounded at the end
// where elements are narrower than what a function computes with.
#pragma once

#include "Lapack.h"
#include "LibraryArrays.h"

#include "meshloom/Runtime/Library/Team.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <tuple>

namespace meshloom::library {

template <typename T> T conjugate(const T &value) {
  if constexpr (isComplexType<T>)
    return std::conj(value);
  else
    return value;
}

template <typename T>
constexpr T notANumber = T(std::numeric_limits<RealOf<T>>::quiet_NaN());

/// Elements of a matrix that are worth a worker.
inline constexpr int64_t ELEMENTS_OF_WORKER = 1 << 14;

/// Column by column, as LAPACK has them. Vectors have one column.
template <typename T> struct Matrix {
  int rows, columns;
  ReusingVector<T> elements;

  Matrix(int64_t rows, int64_t columns, T value = T(0))
      : rows(int(rows)), columns(int(columns)),
        elements(size_t(rows * columns), value) {}

  T &operator()(int r, int c) {
    return elements[size_t(int64_t(c) * rows + r)];
  }
  const T &operator()(int r, int c) const {
    return elements[size_t(int64_t(c) * rows + r)];
  }
  std::span<T> column(int c) {
    return std::span(elements).subspan(size_t(int64_t(c) * rows), size_t(rows));
  }
  T *data() { return elements.data(); }
  /// From one column to the next; LAPACK wants it to be positive.
  int stride() const { return std::max(rows, 1); }

  [[gnu::noinline]] bool isFinite() const {
    const auto *parts = reinterpret_cast<const RealOf<T> *>(elements.data());
    const size_t count = elements.size() * (sizeof(T) / sizeof(RealOf<T>));
    std::atomic<unsigned> others = 0;
    Team::current().forEachRange(
        int64_t(count), ELEMENTS_OF_WORKER, /*grain=*/16,
        [&](int64_t begin, int64_t end) {
          // Not ended by the first that is not: so it becomes vectors.
          unsigned ofPart = 0;
          for (int64_t i = begin; i < end; ++i)
            ofPart |= unsigned(
                !(std::abs(parts[i]) <= std::numeric_limits<RealOf<T>>::max()));
          others |= ofPart;
        });
    return others == 0;
  }
  [[gnu::noinline]] Matrix adjoint() const {
    Matrix result(columns, rows);
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r)
        result(c, r) = conjugate((*this)(r, c));
    return result;
  }
};

/// The next narrower type that elements computed as T are stored in.
template <typename T> struct NarrowerType {};
template <> struct NarrowerType<double> {
  using Type = float;
  static constexpr DType dtype = DType::F32;
};
template <> struct NarrowerType<std::complex<double>> {
  using Type = std::complex<float>;
  static constexpr DType dtype = DType::C64;
};

/// The element type that is T in memory.
template <typename T>
constexpr DType dtypeOf =
    std::is_same_v<T, float>                 ? DType::F32
    : std::is_same_v<T, double>              ? DType::F64
    : std::is_same_v<T, std::complex<float>> ? DType::C64
                                             : DType::C128;

/// to[c, r] = from[r, c], where the elements of a row of either lie together.
void transposeMatrix(const float *from, int64_t fromRow, float *to,
                     int64_t toRow, int64_t rows, int64_t columns);
void transposeMatrix(const double *from, int64_t fromRow, double *to,
                     int64_t toRow, int64_t rows, int64_t columns);

/// to[r, c] = from[r, c] by squares, of which both sides stay in cache.
template <typename T>
void copyMatrix(const T *from, int64_t fromRow, int64_t fromColumn, T *to,
                int64_t toRow, int64_t toColumn, int64_t rows,
                int64_t columns) {
  if (toColumn == 1 && toRow != 1)
    return copyMatrix(from, fromColumn, fromRow, to, toColumn, toRow, columns,
                      rows);
  if (fromRow == 1 && toRow == 1) {
    for (int64_t c = 0; c < columns; ++c)
      std::copy_n(from + c * fromColumn, rows, to + c * toColumn);
    return;
  }
  constexpr int64_t few = 16;
  if constexpr (std::is_floating_point_v<T>)
    if (fromColumn == 1 && toRow == 1 && rows * columns > few)
      return transposeMatrix(from, fromRow, to, toColumn, rows, columns);
  constexpr int64_t side = 16;
  for (int64_t r = 0; r < rows; r += side)
    for (int64_t c = 0; c < columns; c += side)
      for (int64_t j = c; j < std::min(c + side, columns); ++j)
        for (int64_t i = r; i < std::min(r + side, rows); ++i)
          to[i * toRow + j * toColumn] = from[i * fromRow + j * fromColumn];
}

/// The same, by a team.
template <typename T>
void copyMatrixTogether(const T *from, int64_t fromRow, int64_t fromColumn,
                        T *to, int64_t toRow, int64_t toColumn, int64_t rows,
                        int64_t columns) {
  const int64_t leastColumns =
      std::max<int64_t>(1, ELEMENTS_OF_WORKER / std::max<int64_t>(rows, 1));
  Team::current().forEachRange(
      columns, leastColumns, /*grain=*/16, [&](int64_t begin, int64_t end) {
        copyMatrix(from + begin * fromColumn, fromRow, fromColumn,
                   to + begin * toColumn, toRow, toColumn, rows, end - begin);
      });
}

template <typename T> T readElement(DType type, const char *data) {
  if constexpr (std::is_floating_point_v<T>)
    if (type == DType::F16 || type == DType::BF16) {
      uint16_t bits;
      std::memcpy(&bits, data, 2);
      return widenHalf(type, bits);
    }
  if constexpr (requires { typename NarrowerType<T>::Type; })
    if (type == NarrowerType<T>::dtype)
      return T(readElement<typename NarrowerType<T>::Type>(type, data));
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename T> void writeElement(DType type, char *data, T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (type == DType::F16 || type == DType::BF16) {
      const uint16_t bits = narrowHalf(type, value);
      std::memcpy(data, &bits, 2);
      return;
    }
  if constexpr (requires { typename NarrowerType<T>::Type; })
    if (type == NarrowerType<T>::dtype) {
      using Narrower = typename NarrowerType<T>::Type;
      return writeElement<Narrower>(type, data, Narrower(value));
    }
  std::memcpy(data, &value, sizeof(T));
}

/// The matrix (or, with one dim, the vector) that begins at element `offset`,
/// in the last `dims` dims.
template <typename T>
[[gnu::noinline]] Matrix<T> readMatrix(const LibraryOperand &from,
                                       int64_t offset, size_t dims = 2) {
  const size_t rank = from.extent.size();
  const int64_t rows = from.extent[rank - dims];
  const int64_t columns = dims == 2 ? from.extent[rank - 1] : 1;
  const int64_t rowStride = from.strides[rank - dims];
  const int64_t columnStride = dims == 2 ? from.strides[rank - 1] : 0;
  const unsigned width = byteWidth(from.type);
  Matrix<T> matrix(rows, columns);
  if (from.type == dtypeOf<T>) {
    copyMatrixTogether(reinterpret_cast<const T *>(from.data) + offset,
                       rowStride, columnStride, matrix.data(), 1, rows, rows,
                       columns);
    return matrix;
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c)
      matrix(r, c) = readElement<T>(
          from.type,
          from.data + (offset + r * rowStride + c * columnStride) * width);
  return matrix;
}

template <typename T>
[[gnu::noinline]] void writeMatrix(const LibraryOperand &to, int64_t offset,
                                   const Matrix<T> &matrix, size_t dims = 2) {
  const size_t rank = to.extent.size();
  const int64_t rowStride = to.strides[rank - dims];
  const int64_t columnStride = dims == 2 ? to.strides[rank - 1] : 0;
  if (to.type == dtypeOf<T>)
    return copyMatrixTogether(matrix.elements.data(), 1, int64_t(matrix.rows),
                              reinterpret_cast<T *>(to.data) + offset,
                              rowStride, columnStride, matrix.rows,
                              matrix.columns);
  const unsigned width = byteWidth(to.type);
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      writeElement<T>(to.type,
                      to.data +
                          (offset + r * rowStride + c * columnStride) * width,
                      matrix(r, c));
}

/// The vector of i32 that begins at element `offset`.
void writeIntegers(const LibraryOperand &to, int64_t offset,
                   std::span<const int32_t> values);
/// Fills `values` with the i32 elements of the last dim.
void readIntegers(const LibraryOperand &source, int64_t offset,
                  std::span<int32_t> values);

/// Calls body(offsets) for every matrix: an offset an operand, of which the
/// last `dims[k]` dims are the matrix.
void forEachMatrix(
    std::span<const LibraryOperand *const> operands,
    std::span<const size_t> dims,
    const std::function<void(const std::vector<int64_t> &)> &body);

/// Says in which precision a function computes. A function that iterates until
/// it converges computes in 64 bits for all element types, as it gains digits
/// so.
enum class Precision : uint8_t { Elements, Double };

/// Calls `run` of `Computation`, a class template, for the element type.
template <template <typename> typename Computation, Precision precision,
          typename... Arguments>
Status dispatch(DType type, const Arguments &...arguments) {
  constexpr bool wide = precision == Precision::Double;
  switch (type) {
  case DType::F64:
    Computation<double>::run(arguments...);
    return Success();
  case DType::C64:
    Computation<std::complex<std::conditional_t<wide, double, float>>>::run(
        arguments...);
    return Success();
  case DType::C128:
    Computation<std::complex<double>>::run(arguments...);
    return Success();
  case DType::F32:
  case DType::F16:
  case DType::BF16:
    Computation<std::conditional_t<wide, double, float>>::run(arguments...);
    return Success();
  default:
    return Error("it does not take this element type");
  }
}

/// The routine that calls Computation<T>::run(arguments, options...), where T
/// is the first input's element type, or the one that `precision` asks for.
template <template <typename> typename Computation, Precision precision,
          typename... Options>
class MatrixRoutine : public LibraryRoutine {
public:
  explicit MatrixRoutine(Options... options) : options(options...) {}
  Status run(const LibraryArguments &arguments) const override {
    if (Status loaded = loadLapack(); !loaded)
      return loaded;
    return std::apply(
        [&](const Options &...all) {
          return dispatch<Computation, precision>(arguments.inputs[0].type,
                                                  arguments, all...);
        },
        options);
  }

private:
  const std::tuple<Options...> options;
};
/// Whether LAPACK can do the step: it counts rows and columns in 32 bits.
Status checkLapack(const LibraryStep &step);

/// One of them, for a step that LAPACK can do.
template <template <typename> typename Computation,
          Precision precision = Precision::Elements, typename... Options>
RoutineOrError makeMatrixRoutine(const LibraryStep &step, Options... options) {
  if (Status possible = checkLapack(step); !possible)
    return possible.error();
  return routineOf(
      std::make_unique<MatrixRoutine<Computation, precision, Options...>>(
          options...));
}

/// An error where a routine takes more elements of workspace than LAPACK, which
/// counts in 32 bits, can be told of.
Status checkWorkspace(double elements);

/// Batch dims, then matrices of the given numbers of dims: shapes agree in the
/// batch.
bool haveBatch(std::span<const BufferDecl *const> tensors,
               std::span<const size_t> dims);

/// Whether all have one element type.
bool haveOneType(std::span<const BufferDecl *const> tensors);

bool isSquare(const Shape &shape);

template <typename T> void scale(std::span<T> vector, const T &factor) {
  for (T &value : vector)
    value *= factor;
}

/// Returns the factor that makes the element of `vector` with the greatest
/// absolute value real and positive: the first one of the elements that come
/// within a thousandth of it.
template <typename T> T phaseOf(std::span<T> vector) {
  // Several maxima at once become vectors.
  std::array<RealOf<T>, 16> maxima{};
  size_t i = 0;
  for (; i + maxima.size() <= vector.size(); i += maxima.size())
    for (size_t k = 0; k < maxima.size(); ++k)
      maxima[k] = std::max(maxima[k], std::abs(vector[i + k]));
  RealOf<T> greatest = std::ranges::max(maxima);
  for (; i < vector.size(); ++i)
    greatest = std::max(greatest, std::abs(vector[i]));
  for (const T &value : vector)
    if (const RealOf<T> size = std::abs(value);
        size > 0 && size >= greatest * RealOf<T>(0.999))
      return conjugate(value) / size;
  return T(1);
}

} // namespace meshloom::library

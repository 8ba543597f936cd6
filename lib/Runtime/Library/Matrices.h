// Matrices.h: what library functions of matrices share. Matrices are the last
// two dims of boxes, with batches in front; results are rounded at the end
// where elements are narrower than what a function computes with.
#pragma once

#include "LibraryArrays.h"

#include <Eigen/Core>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>

namespace meshloom::library {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
template <typename T> using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

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

/// The matrix (or, with one dim, the vector) that begins at element `at`, in
/// the last `dims` dims.
template <typename T>
Matrix<T> readMatrix(const LibraryOperand &from, int64_t at, size_t dims = 2) {
  const size_t rank = from.extent.size();
  const int64_t rows = from.extent[rank - dims];
  const int64_t columns = dims == 2 ? from.extent[rank - 1] : 1;
  const int64_t rowStride = from.strides[rank - dims];
  const int64_t columnStride = dims == 2 ? from.strides[rank - 1] : 0;
  const unsigned width = byteWidth(from.type);
  Matrix<T> matrix(rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      matrix(r, c) = readElement<T>(
          from.type,
          from.data + (at + r * rowStride + c * columnStride) * width);
  return matrix;
}

template <typename T>
void writeMatrix(const LibraryOperand &to, int64_t at, const Matrix<T> &matrix,
                 size_t dims = 2) {
  const size_t rank = to.extent.size();
  const int64_t rowStride = to.strides[rank - dims];
  const int64_t columnStride = dims == 2 ? to.strides[rank - 1] : 0;
  const unsigned width = byteWidth(to.type);
  for (int64_t r = 0; r < matrix.rows(); ++r)
    for (int64_t c = 0; c < matrix.cols(); ++c)
      writeElement<T>(to.type,
                      to.data + (at + r * rowStride + c * columnStride) * width,
                      matrix(r, c));
}

/// The vector of i32 that begins at element `at`.
inline void writeIntegers(const LibraryOperand &to, int64_t at,
                          std::span<const int32_t> values) {
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(to.data + (at + int64_t(i) * to.strides.back()) * 4, &values[i],
                4);
}

/// Calls body(offsets) for every matrix: an offset an operand, of which the
/// last `dims[k]` dims are the matrix.
template <typename Body>
void forEachMatrix(std::span<const LibraryOperand *const> operands,
                   std::span<const size_t> dims, const Body &body) {
  const size_t batch = operands[0]->extent.size() - dims[0];
  const Shape extent(operands[0]->extent.begin(),
                     operands[0]->extent.begin() + int64_t(batch));
  for (int64_t e : extent)
    if (e <= 0)
      return;
  Shape index(batch, 0);
  std::vector<int64_t> at(operands.size(), 0);
  while (true) {
    body(at);
    size_t d = batch;
    while (d-- > 0) {
      const bool more = ++index[d] < extent[d];
      for (size_t k = 0; k < at.size(); ++k)
        at[k] += (more ? 1 : 1 - extent[d]) * operands[k]->strides[d];
      if (more)
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

/// What a function computes with. Those that iterate until they converge do so
/// in 64 bits whatever the elements have: they gain digits, and are compiled
/// for two types only.
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
/// One of them.
template <template <typename> typename Computation,
          Precision precision = Precision::Elements, typename... Options>
MadeRoutine madeRoutine(Options... options) {
  return made(
      std::make_unique<MatrixRoutine<Computation, precision, Options...>>(
          options...));
}

/// Batch dims, then matrices of the given numbers of dims: shapes agree in the
/// batch.
inline bool haveBatch(std::span<const BufferDecl *const> tensors,
                      std::span<const size_t> dims) {
  const Shape &first = tensors[0]->shape;
  for (size_t k = 0; k < tensors.size(); ++k) {
    const Shape &shape = tensors[k]->shape;
    if (shape.size() < dims[k] || first.size() < dims[0] ||
        shape.size() - dims[k] != first.size() - dims[0] ||
        !std::equal(first.begin(), first.end() - int64_t(dims[0]),
                    shape.begin()))
      return false;
  }
  return true;
}

/// Whether all have one element type.
inline bool haveOneType(std::span<const BufferDecl *const> tensors) {
  return std::ranges::all_of(tensors, [&](const BufferDecl *tensor) {
    return tensor->type == tensors[0]->type;
  });
}

inline bool isSquare(const Shape &shape) {
  return shape.size() >= 2 &&
         shape[shape.size() - 1] == shape[shape.size() - 2];
}

/// The element type of the parts of complex numbers, else the type itself.
template <typename T> using RealOf = typename Eigen::NumTraits<T>::Real;

/// A matrix of nans.
template <typename T> Matrix<T> nans(int64_t rows, int64_t columns) {
  return Matrix<T>::Constant(rows, columns,
                             T(std::numeric_limits<RealOf<T>>::quiet_NaN()));
}

/// What `vector` is multiplied by, so that its element of greatest absolute
/// value is real and positive: the first one of those that come within a
/// thousandth of it.
template <typename T, typename VectorLike> T phaseOf(const VectorLike &vector) {
  RealOf<T> greatest = 0;
  for (int64_t i = 0; i < vector.size(); ++i)
    greatest = std::max(greatest, std::abs(T(vector(i))));
  for (int64_t i = 0; i < vector.size(); ++i) {
    const T value = vector(i);
    const RealOf<T> size = std::abs(value);
    if (size > 0 && size >= greatest * RealOf<T>(0.999))
      return Eigen::numext::conj(value) / size;
  }
  return T(1);
}

} // namespace meshloom::library

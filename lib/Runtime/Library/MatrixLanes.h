// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small real matrices of a batch, one in each lane of a vector: LAPACK takes
// longer to begin than these matrices take. Lanes do not depend on each other.
#pragma once

#include "LaneTranspose.h"
#include "Matrices.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace meshloom::library {

/// Real matrices of one size, of which no side is longer than `maxSide`.
struct MatrixLanes {
  static constexpr int lanes = 8, maxSide = 8;
  using Row = LaneVector<double, lanes>;

  int rows, columns;
  std::array<Row, size_t(maxSide *maxSide)> elements{};

  Row &operator()(int r, int c) { return elements[size_t(r * maxSide + c)]; }
};

MESHLOOM_LANES_INLINE void setSquareRoots(MatrixLanes::Row &values) {
#ifdef __clang__
  values = __builtin_elementwise_sqrt(values);
#else
  for (int l = 0; l < MatrixLanes::lanes; ++l)
    values[l] = std::sqrt(values[l]);
#endif
}

/// Returns whether matrices of these sides are computed in lanes.
template <typename T> constexpr bool isSmall(int64_t rows, int64_t columns) {
  return !isComplexType<T> && std::max(rows, columns) <= MatrixLanes::maxSide;
}

/// The offsets of a matrix in each operand, for up to a matrix a lane.
using LaneOffsets = std::vector<std::vector<int64_t>>;

/// Calls body(offsets of lanes) until it has seen all matrices.
template <typename Body>
void forEachLanes(std::span<const LibraryOperand *const> operands,
                  std::span<const size_t> dims, const Body &body) {
  LaneOffsets offsets;
  forEachMatrix(operands, dims, [&](const std::vector<int64_t> &matrix) {
    offsets.push_back(matrix);
    if (offsets.size() == MatrixLanes::lanes) {
      body(offsets);
      offsets.clear();
    }
  });
  if (!offsets.empty())
    body(offsets);
}

/// Runs a routine for elements T on all its matrices, small real ones in lanes.
/// The routine has its operands, `matrices`, of which the first one has the
/// rows and columns of a matrix, and the numbers of their dims beside the
/// batch's, `dims`. Where all devices together have fewer than `fewest`
/// matrices, these are not computed in lanes.
template <typename T, typename Routine>
void runOnMatrices(const Routine &routine, int64_t fewest = 1) {
  if constexpr (!isComplexType<T>) {
    const Shape &extent = routine.matrices[0]->extent;
    const int rows = int(extent[extent.size() - 2]),
              columns = int(extent.back());
    const auto batch =
        std::span(*routine.matrices[0]->global).first(extent.size() - 2);
    int64_t count = 1;
    for (int64_t size : batch)
      count *= size;
    if (isSmall<T>(rows, columns) && count >= fewest)
      return forEachLanes(routine.matrices, Routine::dims,
                          [&](const LaneOffsets &offsets) {
                            routine.runLanes(rows, columns, offsets);
                          });
  }
  forEachMatrix(
      routine.matrices, Routine::dims,
      [&](const std::vector<int64_t> &offsets) { routine.runMatrix(offsets); });
}

/// Puts `matrix` over `divisor` into a lane of `lanes`.
template <typename T>
void setLane(MatrixLanes &lanes, int lane, const Matrix<T> &matrix,
             double divisor = 1) {
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      lanes(r, c)[lane] = matrix(r, c) / divisor;
}

/// Returns the power of two by which the elements of `matrix` are divided so
/// that the greatest one is in [1, 2) and no square overflows; a nan where one
/// is not finite.
template <typename T> double scaleOf(const Matrix<T> &matrix) {
  if (!matrix.isFinite())
    return notANumber<double>;
  double greatest = 0;
  for (const T &element : matrix.elements)
    greatest = std::max(greatest, double(std::abs(element)));
  return greatest > 0 ? std::exp2(std::ilogb(greatest)) : 1;
}

/// Puts `matrix` into a lane of `lanes`, divided by its scale, which is
/// returned. One that is not finite is zeros there.
template <typename T>
double setScaledLane(MatrixLanes &lanes, int lane, const Matrix<T> &matrix) {
  const double scale = scaleOf(matrix);
  if (!std::isnan(scale))
    setLane(lanes, lane, matrix, scale);
  return scale;
}

/// Sets `matrix` to what a lane of `lanes` holds.
template <typename T>
void readLane(MatrixLanes &lanes, int lane, Matrix<T> &matrix) {
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c)
      matrix(r, c) = T(lanes(r, c)[lane]);
}

} // namespace meshloom::library

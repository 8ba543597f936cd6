// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library functions of matrices share these parts: transposes, batches, and
// the checks of operands.
#include "Matrices.h"
#include "Clones.h"
#include "LaneTranspose.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// to[c, r] = from[r, c] in a square of `Side` rows.
template <int Side, typename T>
MESHLOOM_LANES_INLINE void transposeSquare(const T *from, int64_t fromRow,
                                           T *to, int64_t toRow) {
  LaneVector<T, Side> rows[Side];
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Side; ++r)
    std::memcpy(&rows[r], from + r * fromRow, sizeof(rows[r]));
  transposeLanes<T, Side>(rows);
  MESHLOOM_LANES_UNROLL
  for (int r = 0; r < Side; ++r)
    std::memcpy(to + r * toRow, &rows[r], sizeof(rows[r]));
}

template <typename T>
MESHLOOM_LANES_INLINE void transpose(const T *from, int64_t fromRow, T *to,
                                     int64_t toRow, int64_t rows,
                                     int64_t columns) {
  constexpr int side = 8;
  // Squares of squares: the rows of neighbours share lines of memory.
  constexpr int64_t group = 2 * side;
  for (int64_t r = 0; r < rows; r += group)
    for (int64_t c = 0; c < columns; c += group)
      for (int64_t i = r; i < std::min(r + group, rows); i += side)
        for (int64_t j = c; j < std::min(c + group, columns); j += side) {
          const T *source = from + i * fromRow + j;
          T *result = to + j * toRow + i;
          if (i + side <= rows && j + side <= columns) {
            transposeSquare<side>(source, fromRow, result, toRow);
            continue;
          }
          for (int64_t k = 0; k < std::min<int64_t>(side, rows - i); ++k)
            for (int64_t l = 0; l < std::min<int64_t>(side, columns - j); ++l)
              result[l * toRow + k] = source[k * fromRow + l];
        }
}
} // namespace

MESHLOOM_CLONES void library::transposeMatrix(const float *from,
                                              int64_t fromRow, float *to,
                                              int64_t toRow, int64_t rows,
                                              int64_t columns) {
  transpose(from, fromRow, to, toRow, rows, columns);
}
MESHLOOM_CLONES void library::transposeMatrix(const double *from,
                                              int64_t fromRow, double *to,
                                              int64_t toRow, int64_t rows,
                                              int64_t columns) {
  transpose(from, fromRow, to, toRow, rows, columns);
}

void library::writeIntegers(const LibraryOperand &to, int64_t offset,
                            std::span<const int32_t> values) {
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(to.data + (offset + int64_t(i) * to.strides.back()) * 4,
                &values[i], 4);
}

void library::readIntegers(const LibraryOperand &source, int64_t offset,
                           std::span<int32_t> values) {
  for (size_t i = 0; i < values.size(); ++i)
    std::memcpy(&values[i],
                source.data + (offset + int64_t(i) * source.strides.back()) * 4,
                4);
}

void library::forEachMatrix(
    std::span<const LibraryOperand *const> operands,
    std::span<const size_t> dims,
    const std::function<void(const std::vector<int64_t> &)> &body) {
  const size_t batch = operands[0]->extent.size() - dims[0];
  const Shape extent(operands[0]->extent.begin(),
                     operands[0]->extent.begin() + int64_t(batch));
  for (int64_t e : extent)
    if (e <= 0)
      return;
  Shape index(batch, 0);
  std::vector<int64_t> offsets(operands.size(), 0);
  while (true) {
    body(offsets);
    size_t d = batch;
    while (d-- > 0) {
      const bool more = ++index[d] < extent[d];
      for (size_t k = 0; k < offsets.size(); ++k)
        offsets[k] += (more ? 1 : 1 - extent[d]) * operands[k]->strides[d];
      if (more)
        break;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

Status library::checkLapack(const LibraryStep &step) {
  size_t rank = 0;
  for (const BufferDecl *tensor : step.inputs)
    rank = std::max(rank, tensor->shape.size());
  // Vectors have one dim less, and no more elements than a matrix has rows.
  for (const BufferDecl *tensor : step.inputs)
    if (const Shape &shape = tensor->shape;
        shape.size() == rank && std::max(shape[rank - 1], shape[rank - 2]) >
                                    std::numeric_limits<int>::max())
      return Error("its matrices may have at most 2147483647 rows and columns");
  return Success();
}

Status library::checkWorkspace(double elements) {
  if (elements > std::numeric_limits<int>::max())
    return Error("its matrices are too large: LAPACK counts the elements of "
                 "its workspace in 32 bits");
  return Success();
}

bool library::haveBatch(std::span<const BufferDecl *const> tensors,
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

bool library::haveOneType(std::span<const BufferDecl *const> tensors) {
  return std::ranges::all_of(tensors, [&](const BufferDecl *tensor) {
    return tensor->type == tensors[0]->type;
  });
}

bool library::isSquare(const Shape &shape) {
  return shape.size() >= 2 &&
         shape[shape.size() - 1] == shape[shape.size() - 2];
}

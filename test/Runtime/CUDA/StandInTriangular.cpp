// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuBLAS: a library with the functions of NVIDIA's cuBLAS that
// Meshloom calls, which asks the stand-in driver for its work, and has OpenBLAS
// do it. It refuses sizes that do not fit.
#include "../../../lib/Runtime/Backends/CUDA/TriangularFacts.h"
#include "../../../lib/Runtime/Library/Lapack.h"
#include "StandInDriver.h"

namespace meshloom::cuda {
struct TriangularObject {
  StreamHandle stream = nullptr;
};

namespace {
using namespace meshloom::library;

/// Matrices of a batch, whose addresses the GPU has in its memory, or one.
struct Matrices {
  int64_t count = 1;
  void *const *addresses = nullptr;
  void *matrix = nullptr;

  void *operator[](int64_t m) const {
    return addresses ? addresses[m] : matrix;
  }
};

/// The bytes that a matrix touches.
template <typename T>
size_t bytesOf(int64_t stride, int64_t rows, int64_t columns) {
  return size_t((columns - 1) * stride + rows) * sizeof(T);
}

/// Returns whether the GPU has the addresses, and each matrix.
bool areThere(const DeviceBytes &isMemory, const Matrices &matrices,
              size_t bytes) {
  if (matrices.addresses &&
      !isMemory(matrices.addresses, size_t(matrices.count) * sizeof(void *)))
    return false;
  for (int64_t m = 0; m < matrices.count; ++m)
    if (!isMemory(matrices[m], bytes))
      return false;
  return true;
}

template <typename T>
BlasResult solve(TriangularHandle handle, const char *name, TriangularSide side,
                 SolverTriangle triangle, TriangularTranspose transpose,
                 TriangularDiagonal diagonal, int64_t rows, int64_t columns,
                 const T &factor, const Matrices &a, int64_t strideOfA,
                 const Matrices &b, int64_t strideOfB) {
  const bool isLeft = side == TriangularSide::Left;
  const int64_t order = isLeft ? rows : columns;
  if (rows < 1 || columns < 1 || strideOfA < order || strideOfB < rows ||
      a.count < 1 || !handle->stream || !loadLapack())
    return BlasResult::InvalidValue;
  const DriverResult asked = standInEnqueue(
      handle->stream, name, {},
      [=](const DeviceBytes &isMemory) -> std::string {
        if (!areThere(isMemory, a, bytesOf<T>(strideOfA, order, order)) ||
            !areThere(isMemory, b, bytesOf<T>(strideOfB, rows, columns)))
          return "a triangular system of cuBLAS's is in no memory of the GPU";
        constexpr std::array letters{'N', 'T', 'C'};
        for (int64_t m = 0; m < a.count; ++m)
          fortran<"trsm", T>(
              isLeft ? 'L' : 'R', triangle == SolverTriangle::Lower ? 'L' : 'U',
              letters[size_t(transpose)],
              diagonal == TriangularDiagonal::Ones ? 'U' : 'N', int(rows),
              int(columns), factor, a[m], int(strideOfA), b[m], int(strideOfB));
        return "";
      });
  return asked == DriverResult::Success ? BlasResult::Success
                                        : BlasResult::ExecutionFailed;
}

template <typename T>
BlasResult factorize(TriangularHandle handle, const char *name, int order,
                     const Matrices &matrices, int stride, int *pivots,
                     int *info) {
  if (order < 1 || stride < order || matrices.count < 1 || !handle->stream ||
      !loadLapack())
    return BlasResult::InvalidValue;
  const DriverResult asked = standInEnqueue(
      handle->stream, name, {},
      [=](const DeviceBytes &isMemory) -> std::string {
        const auto count = size_t(matrices.count);
        if (!areThere(isMemory, matrices, bytesOf<T>(stride, order, order)) ||
            !isMemory(pivots, count * size_t(order) * sizeof(int)) ||
            !isMemory(info, count * sizeof(int)))
          return "a matrix of cuBLAS's is in no memory of the GPU";
        for (size_t m = 0; m < count; ++m)
          info[m] = lapack<"getrf", T>(order, order,
                                       static_cast<T *>(matrices[int64_t(m)]),
                                       stride, pivots + m * size_t(order));
        return "";
      });
  return asked == DriverResult::Success ? BlasResult::Success
                                        : BlasResult::ExecutionFailed;
}
} // namespace

extern "C" {
BlasResult cublasCreate_v2(TriangularHandle *handle) {
  *handle = new TriangularObject;
  return BlasResult::Success;
}
BlasResult cublasDestroy_v2(TriangularHandle handle) {
  delete handle;
  return BlasResult::Success;
}
BlasResult cublasSetStream_v2(TriangularHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return BlasResult::Success;
}

#define FUNCTIONS(letter, T)                                                   \
  BlasResult cublas##letter##trsm_v2_64(                                       \
      TriangularHandle handle, TriangularSide side, SolverTriangle triangle,   \
      TriangularTranspose transpose, TriangularDiagonal diagonal,              \
      int64_t rows, int64_t columns, const void *factor, const void *a,        \
      int64_t strideOfA, void *b, int64_t strideOfB) {                         \
    return solve<T>(handle, "cublas" #letter "trsm", side, triangle,           \
                    transpose, diagonal, rows, columns,                        \
                    *static_cast<const T *>(factor),                           \
                    {.matrix = const_cast<void *>(a)}, strideOfA,              \
                    {.matrix = b}, strideOfB);                                 \
  }                                                                            \
  BlasResult cublas##letter##trsmBatched_64(                                   \
      TriangularHandle handle, TriangularSide side, SolverTriangle triangle,   \
      TriangularTranspose transpose, TriangularDiagonal diagonal,              \
      int64_t rows, int64_t columns, const void *factor, void *const *a,       \
      int64_t strideOfA, void *const *b, int64_t strideOfB, int64_t count) {   \
    return solve<T>(handle, "cublas" #letter "trsmBatched", side, triangle,    \
                    transpose, diagonal, rows, columns,                        \
                    *static_cast<const T *>(factor),                           \
                    {.count = count, .addresses = a}, strideOfA,               \
                    {.count = count, .addresses = b}, strideOfB);              \
  }                                                                            \
  BlasResult cublas##letter##getrfBatched(TriangularHandle handle, int order,  \
                                          void *const *matrices, int stride,   \
                                          int *pivots, int *info, int count) { \
    return factorize<T>(handle, "cublas" #letter "getrfBatched", order,        \
                        {.count = count, .addresses = matrices}, stride,       \
                        pivots, info);                                         \
  }
FUNCTIONS(S, float)
FUNCTIONS(D, double)
FUNCTIONS(C, std::complex<float>)
FUNCTIONS(Z, std::complex<double>)
#undef FUNCTIONS
} // extern "C"
} // namespace meshloom::cuda

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

template <typename T>
BlasResult solve(TriangularHandle handle, const char *name, TriangularSide side,
                 SolverTriangle triangle, TriangularTranspose transpose,
                 TriangularDiagonal diagonal, int64_t rows, int64_t columns,
                 const T &factor, const void *a, int64_t strideOfA, void *b,
                 int64_t strideOfB) {
  const bool isLeft = side == TriangularSide::Left;
  const int64_t order = isLeft ? rows : columns;
  if (rows < 1 || columns < 1 || strideOfA < order || strideOfB < rows ||
      !handle->stream || !loadLapack())
    return BlasResult::InvalidValue;
  auto bytes = [](int64_t stride, int64_t height, int64_t width) {
    return size_t((width - 1) * stride + height) * sizeof(T);
  };
  const DriverResult asked = standInEnqueue(
      handle->stream, name, {},
      [=](const DeviceBytes &isMemory) -> std::string {
        if (!isMemory(a, bytes(strideOfA, order, order)) ||
            !isMemory(b, bytes(strideOfB, rows, columns)))
          return "a triangular system of cuBLAS's is in no memory of the GPU";
        constexpr std::array letters{'N', 'T', 'C'};
        fortran<"trsm", T>(
            isLeft ? 'L' : 'R', triangle == SolverTriangle::Lower ? 'L' : 'U',
            letters[size_t(transpose)],
            diagonal == TriangularDiagonal::Ones ? 'U' : 'N', int(rows),
            int(columns), factor, a, int(strideOfA), b, int(strideOfB));
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

#define SOLVE(name, T)                                                         \
  BlasResult name##_v2_64(                                                     \
      TriangularHandle handle, TriangularSide side, SolverTriangle triangle,   \
      TriangularTranspose transpose, TriangularDiagonal diagonal,              \
      int64_t rows, int64_t columns, const void *factor, const void *a,        \
      int64_t strideOfA, void *b, int64_t strideOfB) {                         \
    return solve<T>(handle, #name, side, triangle, transpose, diagonal, rows,  \
                    columns, *static_cast<const T *>(factor), a, strideOfA, b, \
                    strideOfB);                                                \
  }
SOLVE(cublasStrsm, float)
SOLVE(cublasDtrsm, double)
SOLVE(cublasCtrsm, std::complex<float>)
SOLVE(cublasZtrsm, std::complex<double>)
#undef SOLVE
} // extern "C"
} // namespace meshloom::cuda

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The stand-in cuSOLVER: a library with the functions of NVIDIA's cuSOLVER that
// Meshloom calls, which asks the stand-in driver for its work, and has LAPACK
// do it.
//
// It refuses sizes and workspaces that do not fit, and wide matrices to svd. It
// writes poison to its workspace. Numbers that are not finite are a fault, and
// of vectors every second one has the opposite sign: neither is promised.
// Iterations wait for the stream, so that no graph can have them.
#include "../../../lib/Runtime/Backends/CUDA/SolverFacts.h"
#include "../../../lib/Runtime/Library/Matrices.h"
#include "StandInDriver.h"

extern "C" meshloom::cuda::DriverResult
cuStreamSynchronize(meshloom::cuda::StreamHandle stream);

namespace meshloom::cuda {
struct SolverObject {
  StreamHandle stream = nullptr;
};
struct SolverParametersObject {};

namespace {
using namespace meshloom::library;

constexpr int poison = 0xee;

/// A range of the GPU's memory.
struct Bytes {
  void *data;
  int64_t count;
};

/// Calls `use(T())` for the type of numbers.
template <typename Use> auto withType(SolverType type, const Use &use) {
  switch (type) {
  case SolverType::F32:
    return use(float());
  case SolverType::F64:
    return use(double());
  case SolverType::C64:
    return use(std::complex<float>());
  case SolverType::C128:
    break;
  }
  return use(std::complex<double>());
}

template <typename T>
Bytes matrixOf(void *data, int64_t rows, int64_t columns) {
  return {data, rows * columns * int64_t(sizeof(T))};
}

/// Where a function works, and what it may overwrite there.
struct Workspace {
  Bytes device, host;
};

/// The workspaces that all functions ask for. A matrix's are larger than none.
SolverResult askForBytes(int64_t rows, int64_t columns, size_t *device,
                         size_t *host) {
  if (rows < 1 || columns < 1)
    return SolverResult::InvalidValue;
  *device = size_t(rows * columns) * 4;
  *host = size_t(rows);
  return SolverResult::Success;
}

/// Asks the stream for `run(numbers)`, whose result is `info`, of a matrix that
/// it finds in `arrays[0]`.
template <typename T>
SolverResult enqueue(SolverHandle handle, const char *name, int64_t rows,
                     int64_t columns, const Workspace &workspace,
                     std::vector<Bytes> arrays, int *info,
                     std::function<int(T *numbers)> run) {
  size_t device = 0, host = 0;
  if (askForBytes(rows, columns, &device, &host) != SolverResult::Success ||
      workspace.device.count < int64_t(device) ||
      workspace.host.count < int64_t(host) || !handle->stream || !loadLapack())
    return SolverResult::InvalidValue;
  if (workspace.host.count > 0)
    std::memset(workspace.host.data, poison, size_t(workspace.host.count));
  const DriverResult asked = standInEnqueue(
      handle->stream, name, {},
      [=](const DeviceBytes &isMemory) -> std::string {
        std::vector<Bytes> ranges = arrays;
        ranges.push_back(workspace.device);
        ranges.push_back({info, sizeof(int)});
        for (const Bytes &bytes : ranges)
          if (!isMemory(bytes.data, size_t(bytes.count)))
            return "a decomposition of cuSOLVER's is of no memory of the GPU";
        std::memset(workspace.device.data, poison,
                    size_t(workspace.device.count));
        auto *numbers = static_cast<T *>(arrays[0].data);
        const Matrix<T> matrix = [&] {
          Matrix<T> copy(rows, columns);
          std::copy_n(numbers, copy.elements.size(), copy.data());
          return copy;
        }();
        if (!matrix.isFinite())
          return "cuSOLVER decomposes a matrix that is not finite";
        *info = run(numbers);
        return "";
      });
  return asked == DriverResult::Success ? SolverResult::Success
                                        : SolverResult::ExecutionFailed;
}

SolverResult afterWaiting(SolverHandle handle, SolverResult result) {
  if (result == SolverResult::Success &&
      cuStreamSynchronize(handle->stream) != DriverResult::Success)
    return SolverResult::ExecutionFailed;
  return result;
}

/// Turns every second one of some vectors: those that lie one behind the other.
template <typename T> void turn(T *vectors, int64_t count, int64_t length) {
  for (int64_t v = 1; v < count; v += 2)
    for (int64_t i = 0; i < length; ++i)
      vectors[v * length + i] = -vectors[v * length + i];
}

template <typename T>
int findEigen(char triangle, int n, T *matrix, RealOf<T> *values) {
  std::vector<RealOf<T>> reals(size_t(2 * n * n + 5 * n + 1));
  std::vector<int32_t> integers(size_t(5 * n + 3));
  const int info = withWorkspace<T>([&](T *work, int size) {
    return lapack<isComplexType<T> ? "heevd" : "syevd", T>(
        'V', triangle, n, matrix, n, values, work, size,
        onlyComplex(reals.data()), onlyComplex(int(reals.size())),
        integers.data(), int(integers.size()));
  });
  turn(matrix, n, n);
  return info;
}

template <typename T>
int findSingular(char job, int m, int n, T *matrix, RealOf<T> *values, T *u,
                 T *vh) {
  std::vector<RealOf<T>> reals(size_t(5 * n));
  const int info = withWorkspace<T>([&](T *work, int size) {
    return lapack<"gesvd", T>(job, job, m, n, matrix, m, values, u, m, vh, n,
                              work, size, onlyComplex(reals.data()));
  });
  if (job == 'N')
    return info;
  turn(u, n, m);
  for (int row = 1; row < n; row += 2)
    for (int column = 0; column < n; ++column)
      vh[column * n + row] = -vh[column * n + row];
  return info;
}

template <typename T>
SolverResult multiply(SolverHandle handle, const char *name, int rows,
                      int columns, int count, void *matrix, int stride,
                      const void *taus, void *workspace, int elements,
                      int *info) {
  if (stride != rows || columns > rows || count > columns)
    return SolverResult::InvalidValue;
  std::vector<char> host(static_cast<size_t>(rows));
  return enqueue<T>(handle, name, rows, columns,
                    {{workspace, elements * int64_t(sizeof(T))},
                     {host.data(), int64_t(host.size())}},
                    {matrixOf<T>(matrix, rows, columns),
                     matrixOf<T>(const_cast<void *>(taus), count, 1)},
                    info, [=](T *numbers) {
                      return withWorkspace<T>([&](T *work, int size) {
                        return lapack<isComplexType<T> ? "ungqr" : "orgqr", T>(
                            rows, columns, count, numbers, rows,
                            const_cast<T *>(static_cast<const T *>(taus)), work,
                            size);
                      });
                    });
}

template <typename T>
SolverResult factorize(SolverHandle handle, const char *name, int rows,
                       int columns, void *matrix, int stride, void *workspace,
                       int *pivots, int *info) {
  if (stride != rows)
    return SolverResult::InvalidValue;
  const int count = std::min(rows, columns);
  std::vector<char> host(static_cast<size_t>(rows));
  return enqueue<T>(
      handle, name, rows, columns,
      {{workspace, rows * columns * int64_t(sizeof(T))},
       {host.data(), int64_t(host.size())}},
      {matrixOf<T>(matrix, rows, columns), matrixOf<int>(pivots, count, 1)},
      info, [=](T *numbers) {
        return lapack<"getrf", T>(rows, columns, numbers, rows, pivots);
      });
}

SolverResult askForElements(int rows, int columns, int *elements) {
  size_t device = 0, host = 0;
  const SolverResult result = askForBytes(rows, columns, &device, &host);
  *elements = int(device);
  return result;
}
} // namespace

extern "C" {
SolverResult cusolverDnCreate(SolverHandle *handle) {
  *handle = new SolverObject;
  return SolverResult::Success;
}
SolverResult cusolverDnDestroy(SolverHandle handle) {
  delete handle;
  return SolverResult::Success;
}
SolverResult cusolverDnSetStream(SolverHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return SolverResult::Success;
}
SolverResult cusolverDnCreateParams(SolverParameters *parameters) {
  *parameters = new SolverParametersObject;
  return SolverResult::Success;
}
SolverResult cusolverDnDestroyParams(SolverParameters parameters) {
  delete parameters;
  return SolverResult::Success;
}

SolverResult cusolverDnXpotrf_bufferSize(SolverHandle, SolverParameters,
                                         SolverTriangle, int64_t n, SolverType,
                                         const void *, int64_t, SolverType,
                                         size_t *device, size_t *host) {
  return askForBytes(n, n, device, host);
}
SolverResult cusolverDnXpotrf(SolverHandle handle, SolverParameters,
                              SolverTriangle triangle, int64_t n,
                              SolverType type, void *matrix, int64_t stride,
                              SolverType computed, void *device,
                              size_t deviceBytes, void *host, size_t hostBytes,
                              int *info) {
  if (stride != n || type != computed)
    return SolverResult::InvalidValue;
  return withType(type, [&]<typename T>(T) {
    return enqueue<T>(
        handle, "cusolverDnXpotrf", n, n,
        {{device, int64_t(deviceBytes)}, {host, int64_t(hostBytes)}},
        {matrixOf<T>(matrix, n, n)}, info, [=](T *numbers) {
          return lapack<"potrf", T>(triangle == SolverTriangle::Lower ? 'L'
                                                                      : 'U',
                                    int(n), numbers, int(n));
        });
  });
}

SolverResult cusolverDnXgeqrf_bufferSize(SolverHandle, SolverParameters,
                                         int64_t rows, int64_t columns,
                                         SolverType, const void *, int64_t,
                                         SolverType, const void *, SolverType,
                                         size_t *device, size_t *host) {
  return askForBytes(rows, columns, device, host);
}
SolverResult cusolverDnXgeqrf(SolverHandle handle, SolverParameters,
                              int64_t rows, int64_t columns, SolverType type,
                              void *matrix, int64_t stride, SolverType ofTaus,
                              void *taus, SolverType computed, void *device,
                              size_t deviceBytes, void *host, size_t hostBytes,
                              int *info) {
  if (stride != rows || type != computed || type != ofTaus)
    return SolverResult::InvalidValue;
  return withType(type, [&]<typename T>(T) {
    return enqueue<T>(
        handle, "cusolverDnXgeqrf", rows, columns,
        {{device, int64_t(deviceBytes)}, {host, int64_t(hostBytes)}},
        {matrixOf<T>(matrix, rows, columns),
         matrixOf<T>(taus, std::min(rows, columns), 1)},
        info, [=](T *numbers) {
          return withWorkspace<T>([&](T *work, int size) {
            return lapack<"geqrf", T>(int(rows), int(columns), numbers,
                                      int(rows), static_cast<T *>(taus), work,
                                      size);
          });
        });
  });
}

SolverResult cusolverDnXsyevd_bufferSize(SolverHandle, SolverParameters,
                                         SolverVectors, SolverTriangle,
                                         int64_t n, SolverType, const void *,
                                         int64_t, SolverType, const void *,
                                         SolverType, size_t *device,
                                         size_t *host) {
  return askForBytes(n, n, device, host);
}
SolverResult cusolverDnXsyevd(SolverHandle handle, SolverParameters,
                              SolverVectors vectors, SolverTriangle triangle,
                              int64_t n, SolverType type, void *matrix,
                              int64_t stride, SolverType, void *values,
                              SolverType computed, void *device,
                              size_t deviceBytes, void *host, size_t hostBytes,
                              int *info) {
  if (stride != n || type != computed || vectors != SolverVectors::Yes)
    return SolverResult::InvalidValue;
  return withType(type, [&]<typename T>(T) {
    return afterWaiting(
        handle,
        enqueue<T>(
            handle, "cusolverDnXsyevd", n, n,
            {{device, int64_t(deviceBytes)}, {host, int64_t(hostBytes)}},
            {matrixOf<T>(matrix, n, n), matrixOf<RealOf<T>>(values, n, 1)},
            info, [=](T *numbers) {
              return findEigen<T>(triangle == SolverTriangle::Lower ? 'L' : 'U',
                                  int(n), numbers,
                                  static_cast<RealOf<T> *>(values));
            }));
  });
}

SolverResult cusolverDnXgesvd_bufferSize(
    SolverHandle, SolverParameters, signed char, signed char, int64_t rows,
    int64_t columns, SolverType, const void *, int64_t, SolverType,
    const void *, SolverType, const void *, int64_t, SolverType, const void *,
    int64_t, SolverType, size_t *device, size_t *host) {
  return askForBytes(rows, columns, device, host);
}
SolverResult cusolverDnXgesvd(SolverHandle handle, SolverParameters,
                              signed char job, signed char jobOfVh,
                              int64_t rows, int64_t columns, SolverType type,
                              void *matrix, int64_t stride, SolverType,
                              void *values, SolverType, void *u,
                              int64_t strideOfU, SolverType, void *vh,
                              int64_t strideOfVh, SolverType computed,
                              void *device, size_t deviceBytes, void *host,
                              size_t hostBytes, int *info) {
  if (stride != rows || strideOfU != rows || strideOfVh != columns ||
      type != computed || job != jobOfVh || columns > rows)
    return SolverResult::InvalidValue;
  return withType(type, [&]<typename T>(T) {
    std::vector<Bytes> arrays = {matrixOf<T>(matrix, rows, columns),
                                 matrixOf<RealOf<T>>(values, columns, 1)};
    if (job != 'N') {
      arrays.push_back(matrixOf<T>(u, rows, columns));
      arrays.push_back(matrixOf<T>(vh, columns, columns));
    }
    return afterWaiting(
        handle,
        enqueue<T>(handle, "cusolverDnXgesvd", rows, columns,
                   {{device, int64_t(deviceBytes)}, {host, int64_t(hostBytes)}},
                   arrays, info, [=](T *numbers) {
                     return findSingular<T>(
                         char(job), int(rows), int(columns), numbers,
                         static_cast<RealOf<T> *>(values), static_cast<T *>(u),
                         static_cast<T *>(vh));
                   }));
  });
}

#define MULTIPLY(name, T)                                                      \
  SolverResult name##_bufferSize(SolverHandle, int rows, int columns, int,     \
                                 const void *, int, const void *,              \
                                 int *elements) {                              \
    return askForElements(rows, columns, elements);                            \
  }                                                                            \
  SolverResult name(SolverHandle handle, int rows, int columns, int count,     \
                    void *matrix, int stride, const void *taus,                \
                    void *workspace, int elements, int *info) {                \
    return multiply<T>(handle, #name, rows, columns, count, matrix, stride,    \
                       taus, workspace, elements, info);                       \
  }
MULTIPLY(cusolverDnSorgqr, float)
MULTIPLY(cusolverDnDorgqr, double)
MULTIPLY(cusolverDnCungqr, std::complex<float>)
MULTIPLY(cusolverDnZungqr, std::complex<double>)
#undef MULTIPLY

#define FACTORIZE(name, T)                                                     \
  SolverResult name##_bufferSize(SolverHandle, int rows, int columns, void *,  \
                                 int, int *elements) {                         \
    return askForElements(rows, columns, elements);                            \
  }                                                                            \
  SolverResult name(SolverHandle handle, int rows, int columns, void *matrix,  \
                    int stride, void *workspace, int *pivots, int *info) {     \
    return factorize<T>(handle, #name, rows, columns, matrix, stride,          \
                        workspace, pivots, info);                              \
  }
FACTORIZE(cusolverDnSgetrf, float)
FACTORIZE(cusolverDnDgetrf, double)
FACTORIZE(cusolverDnCgetrf, std::complex<float>)
FACTORIZE(cusolverDnZgetrf, std::complex<double>)
#undef FACTORIZE

SolverResult cusolverDnSlaswp(SolverHandle handle, int columns, void *matrix,
                              int stride, int first, int last,
                              const int *pivots, int step) {
  if (columns != 1 || stride < last || first != 1 || step != 1)
    return SolverResult::InvalidValue;
  const DriverResult asked = standInEnqueue(
      handle->stream, "cusolverDnSlaswp", {},
      [=](const DeviceBytes &isMemory) -> std::string {
        auto *numbers = static_cast<int *>(matrix);
        if (!isMemory(numbers, size_t(stride) * sizeof(int)) ||
            !isMemory(pivots, size_t(last) * sizeof(int)))
          return "an exchange of cuSOLVER's is of no memory of the GPU";
        for (int row = 0; row < last; ++row) {
          if (pivots[row] < 1 || pivots[row] > stride)
            return "cuSOLVER exchanges a row that does not exist";
          std::swap(numbers[row], numbers[pivots[row] - 1]);
        }
        return "";
      });
  return asked == DriverResult::Success ? SolverResult::Success
                                        : SolverResult::ExecutionFailed;
}
} // extern "C"
} // namespace meshloom::cuda

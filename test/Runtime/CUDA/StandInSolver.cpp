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
struct SolverEigenParametersObject {};
struct SolverSvdParametersObject {};

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

template <typename T> bool isFinite(const T *numbers, int64_t count) {
  return std::all_of(numbers, numbers + count, [](const T &number) {
    return std::isfinite(std::real(number)) && std::isfinite(std::imag(number));
  });
}

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
        if (!isFinite(numbers, rows * columns))
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
int findEigen(SolverVectors vectors, SolverTriangle triangle, int n, T *matrix,
              RealOf<T> *values) {
  std::vector<RealOf<T>> reals(size_t(2 * n * n + 5 * n + 1));
  std::vector<int32_t> integers(size_t(5 * n + 3));
  const int info = withWorkspace<T>([&](T *work, int size) {
    return lapack<isComplexType<T> ? "heevd" : "syevd", T>(
        vectors == SolverVectors::Yes ? 'V' : 'N',
        triangle == SolverTriangle::Lower ? 'L' : 'U', n, matrix, n, values,
        work, size, onlyComplex(reals.data()), onlyComplex(int(reals.size())),
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
/// Asks the stream for `run(m)` of each matrix of a batch, whose result is its
/// info. `matrixAt(m)`: where `size` numbers of it are, which are read when the
/// work runs. `arrays`: further ranges of the GPU's memory.
template <typename T>
SolverResult enqueueBatch(SolverHandle handle, const char *name, int count,
                          int64_t size, std::function<T *(int m)> matrixAt,
                          std::vector<Bytes> arrays, int *info,
                          std::function<int(int m)> run) {
  if (count < 1 || size < 1 || !handle->stream || !loadLapack())
    return SolverResult::InvalidValue;
  arrays.push_back({info, count * int64_t(sizeof(int))});
  const DriverResult asked = standInEnqueue(
      handle->stream, name, {},
      [=](const DeviceBytes &isMemory) -> std::string {
        for (const Bytes &bytes : arrays)
          if (!isMemory(bytes.data, size_t(bytes.count)))
            return "a batch of cuSOLVER's is in no memory of the GPU";
        for (int m = 0; m < count; ++m) {
          T *matrix = matrixAt(m);
          if (!isMemory(matrix, size_t(size) * sizeof(T)))
            return "a matrix of cuSOLVER's is in no memory of the GPU";
          if (!isFinite(matrix, size))
            return "cuSOLVER decomposes a matrix that is not finite";
          info[m] = run(m);
        }
        return "";
      });
  return asked == DriverResult::Success ? SolverResult::Success
                                        : SolverResult::ExecutionFailed;
}

template <typename T>
SolverResult factorizeBatch(SolverHandle handle, const char *name,
                            SolverTriangle triangle, int order, void **matrices,
                            int stride, int *info, int count) {
  if (stride != order)
    return SolverResult::InvalidValue;
  auto matrixAt = [=](int m) { return static_cast<T *>(matrices[m]); };
  return enqueueBatch<T>(
      handle, name, count, int64_t(order) * order, matrixAt,
      {{matrices, count * int64_t(sizeof(void *))}}, info, [=](int m) {
        return lapack<"potrf", T>(triangle == SolverTriangle::Lower ? 'L' : 'U',
                                  order, matrixAt(m), order);
      });
}

/// Returns the numbers of the workspace that the functions ask for.
int elementsOfBatch(int rows, int columns, int count) {
  return rows * columns + count;
}

template <typename T>
SolverResult findEigenBatch(SolverHandle handle, const char *name,
                            SolverVectors vectors, SolverTriangle triangle,
                            int order, void *matrices, int stride, void *values,
                            void *workspace, int elements, int *info,
                            SolverEigenParameters parameters, int count) {
  if (stride != order || !parameters ||
      elements < elementsOfBatch(order, order, count))
    return SolverResult::InvalidValue;
  const int64_t size = int64_t(order) * order;
  auto matrixAt = [=](int m) { return static_cast<T *>(matrices) + m * size; };
  return enqueueBatch<T>(handle, name, count, size, matrixAt,
                         {matrixOf<RealOf<T>>(values, count, order),
                          matrixOf<T>(workspace, elements, 1)},
                         info, [=](int m) {
                           return findEigen<T>(
                               vectors, triangle, order, matrixAt(m),
                               static_cast<RealOf<T> *>(values) + m * order);
                         });
}

/// All vectors on the left are results, and the vectors on the right as
/// columns.
template <typename T>
SolverResult findSingularBatch(SolverHandle handle, const char *name,
                               SolverVectors vectors, int rows, int columns,
                               void *matrices, int stride, void *values,
                               void *u, int strideOfU, void *v, int strideOfV,
                               void *workspace, int elements, int *info,
                               SolverSvdParameters parameters, int count) {
  if (stride != rows || strideOfU != rows || strideOfV != columns ||
      !parameters || columns > rows || rows > 32 ||
      elements < elementsOfBatch(rows, columns, count))
    return SolverResult::InvalidValue;
  const int64_t size = int64_t(rows) * columns;
  auto matrixAt = [=](int m) { return static_cast<T *>(matrices) + m * size; };
  std::vector<Bytes> arrays = {matrixOf<T>(values, count, columns),
                               matrixOf<T>(workspace, elements, 1)};
  if (vectors == SolverVectors::Yes) {
    arrays.push_back(matrixOf<T>(u, int64_t(count) * rows, rows));
    arrays.push_back(matrixOf<T>(v, int64_t(count) * columns, columns));
  }
  return enqueueBatch<T>(
      handle, name, count, size, matrixAt, arrays, info, [=](int m) {
        T *right = static_cast<T *>(v) + m * columns * columns;
        const int failed = findSingular<T>(
            vectors == SolverVectors::Yes ? 'A' : 'N', rows, columns,
            matrixAt(m), static_cast<T *>(values) + m * columns,
            static_cast<T *>(u) + m * rows * rows, right);
        if (vectors == SolverVectors::Yes)
          for (int row = 1; row < columns; ++row)
            for (int column = 0; column < row; ++column)
              std::swap(right[column * columns + row],
                        right[row * columns + column]);
        return failed;
      });
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
SolverResult cusolverDnCreateSyevjInfo(SolverEigenParameters *parameters) {
  *parameters = new SolverEigenParametersObject;
  return SolverResult::Success;
}
SolverResult cusolverDnDestroySyevjInfo(SolverEigenParameters parameters) {
  delete parameters;
  return SolverResult::Success;
}
SolverResult cusolverDnCreateGesvdjInfo(SolverSvdParameters *parameters) {
  *parameters = new SolverSvdParametersObject;
  return SolverResult::Success;
}
SolverResult cusolverDnDestroyGesvdjInfo(SolverSvdParameters parameters) {
  delete parameters;
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
  if (stride != n || type != computed)
    return SolverResult::InvalidValue;
  return withType(type, [&]<typename T>(T) {
    return afterWaiting(
        handle,
        enqueue<T>(
            handle, "cusolverDnXsyevd", n, n,
            {{device, int64_t(deviceBytes)}, {host, int64_t(hostBytes)}},
            {matrixOf<T>(matrix, n, n), matrixOf<RealOf<T>>(values, n, 1)},
            info, [=](T *numbers) {
              return findEigen<T>(vectors, triangle, int(n), numbers,
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

#define FACTORIZE_BATCH(name, T)                                               \
  SolverResult name(SolverHandle handle, SolverTriangle triangle, int order,   \
                    void **matrices, int stride, int *info, int count) {       \
    return factorizeBatch<T>(handle, #name, triangle, order, matrices, stride, \
                             info, count);                                     \
  }
FACTORIZE_BATCH(cusolverDnSpotrfBatched, float)
FACTORIZE_BATCH(cusolverDnDpotrfBatched, double)
FACTORIZE_BATCH(cusolverDnCpotrfBatched, std::complex<float>)
FACTORIZE_BATCH(cusolverDnZpotrfBatched, std::complex<double>)
#undef FACTORIZE_BATCH

#define EIGEN_BATCH(name, T)                                                   \
  SolverResult name##_bufferSize(                                              \
      SolverHandle, SolverVectors, SolverTriangle, int order, const void *,    \
      int, const void *, int *elements, SolverEigenParameters, int count) {    \
    *elements = elementsOfBatch(order, order, count);                          \
    return SolverResult::Success;                                              \
  }                                                                            \
  SolverResult name(SolverHandle handle, SolverVectors vectors,                \
                    SolverTriangle triangle, int order, void *matrices,        \
                    int stride, void *values, void *workspace, int elements,   \
                    int *info, SolverEigenParameters parameters, int count) {  \
    return findEigenBatch<T>(handle, #name, vectors, triangle, order,          \
                             matrices, stride, values, workspace, elements,    \
                             info, parameters, count);                         \
  }
EIGEN_BATCH(cusolverDnSsyevjBatched, float)
EIGEN_BATCH(cusolverDnDsyevjBatched, double)
EIGEN_BATCH(cusolverDnCheevjBatched, std::complex<float>)
EIGEN_BATCH(cusolverDnZheevjBatched, std::complex<double>)
#undef EIGEN_BATCH

#define SVD_BATCH(name, T)                                                     \
  SolverResult name##_bufferSize(                                              \
      SolverHandle, SolverVectors, int rows, int columns, const void *, int,   \
      const void *, const void *, int, const void *, int, int *elements,       \
      SolverSvdParameters, int count) {                                        \
    *elements = elementsOfBatch(rows, columns, count);                         \
    return SolverResult::Success;                                              \
  }                                                                            \
  SolverResult name(SolverHandle handle, SolverVectors vectors, int rows,      \
                    int columns, void *matrices, int stride, void *values,     \
                    void *u, int strideOfU, void *v, int strideOfV,            \
                    void *workspace, int elements, int *info,                  \
                    SolverSvdParameters parameters, int count) {               \
    return findSingularBatch<T>(handle, #name, vectors, rows, columns,         \
                                matrices, stride, values, u, strideOfU, v,     \
                                strideOfV, workspace, elements, info,          \
                                parameters, count);                            \
  }
SVD_BATCH(cusolverDnSgesvdjBatched, float)
SVD_BATCH(cusolverDnDgesvdjBatched, double)
#undef SVD_BATCH

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

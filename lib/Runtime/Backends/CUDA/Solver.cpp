// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the library overwrite their matrices, so that these are copied
// to the results first. Here a batch is one call after the other.
#include "Solver.h"

#include "LibraryFunctions.h"

#include <array>
#include <fmt/format.h>
#include <limits>

using namespace meshloom;
using namespace meshloom::cuda;

/// The library of CUDA 13 and that of CUDA 12, which have the same functions.
static constexpr std::array systemSolverLibraries{"libcusolver.so.12",
                                                  "libcusolver.so.11"};

Result<const SolverLibrary *> SolverLibrary::load(const std::string &path) {
  return loadLibrary<SolverLibrary>(
      path, {"cuSOLVER", systemSolverLibraries},
      [](LibraryFunctions &functions, SolverLibrary &library) {
#define MESHLOOM_SOLVER_FUNCTION(name, ...) functions.find(library.name, #name);
#include "SolverFunctions.def"
#undef MESHLOOM_SOLVER_FUNCTION
      });
}

static std::string nameOf(SolverResult result) {
  switch (result) {
  case SolverResult::NotInitialized:
    return "CUSOLVER_STATUS_NOT_INITIALIZED";
  case SolverResult::AllocationFailed:
    return "CUSOLVER_STATUS_ALLOC_FAILED";
  case SolverResult::InvalidValue:
    return "CUSOLVER_STATUS_INVALID_VALUE";
  case SolverResult::ArchitectureMismatch:
    return "CUSOLVER_STATUS_ARCH_MISMATCH";
  case SolverResult::ExecutionFailed:
    return "CUSOLVER_STATUS_EXECUTION_FAILED";
  case SolverResult::InternalError:
    return "CUSOLVER_STATUS_INTERNAL_ERROR";
  case SolverResult::NotSupported:
    return "CUSOLVER_STATUS_NOT_SUPPORTED";
  default:
    return fmt::format("error {}", int(result));
  }
}

Status cuda::checkSolver(SolverResult result, std::string_view function) {
  if (result == SolverResult::Success)
    return Success();
  return failedCall(function, nameOf(result));
}

namespace meshloom::cuda {
class SolverWork : public LibraryWork {
public:
  SolverWork(Solver &solver, const Decomposition &decomposition)
      : solver(solver), library(solver.library), work(decomposition) {}

  /// False: the library does not take the matrices.
  Result<bool> plan();
  std::string_view function() const override;
  /// A function may wait for its stream.
  bool isAlone() const override { return true; }
  int64_t workspaceBytes() const override { return copyOffset + copyBytes; }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  using Function = Decomposition::Function;
  /// Returns whether there is a second operand, before the results. The
  /// library's functions for such decompositions count in `int`.
  bool hasTwoOperands() const {
    return work.function == Function::Reflections ||
           work.function == Function::Lu;
  }
  int64_t width() const { return byteWidth(work.type); }
  /// The type of numbers, and of the real ones that are a result of them.
  SolverType type() const;
  SolverType realType() const;
  /// Returns the function for the type of numbers.
  template <typename F> F ofType(F f32, F f64, F c64, F c128) const {
    return functionOf(work.type, f32, f64, c64, c128);
  }
  SolverTriangle triangle() const {
    return work.isLower ? SolverTriangle::Lower : SolverTriangle::Upper;
  }
  signed char job() const { return work.onlyValues ? 'N' : 'S'; }
  SolverResult askForBytes(size_t &device);
  SolverResult askReflectionsForBytes(size_t &device) const;
  SolverResult askLuForBytes(size_t &device) const;
  /// `arrays`: of one matrix, the operands of the call.
  SolverResult decompose(std::span<char *const> arrays, char *matrix,
                         char *workspace) const;
  SolverResult multiplyReflections(std::span<char *const> arrays,
                                   char *workspace) const;
  SolverResult factorize(std::span<char *const> arrays, char *workspace) const;

  Solver &solver;
  const SolverLibrary &library;
  const Decomposition work;
  size_t deviceBytes = 0;
  mutable std::vector<char> hostWorkspace;
  /// Where a matrix that is no result is copied to in the workspace.
  int64_t copyOffset = 0, copyBytes = 0;
};
} // namespace meshloom::cuda

SolverType SolverWork::type() const {
  switch (work.type) {
  case DType::F32:
    return SolverType::F32;
  case DType::F64:
    return SolverType::F64;
  case DType::C64:
    return SolverType::C64;
  default:
    return SolverType::C128;
  }
}

SolverType SolverWork::realType() const {
  return work.type == DType::F32 || work.type == DType::C64 ? SolverType::F32
                                                            : SolverType::F64;
}

std::string_view SolverWork::function() const {
  switch (work.function) {
  case Function::Cholesky:
    return "cusolverDnXpotrf";
  case Function::Qr:
    return "cusolverDnXgeqrf";
  case Function::Eigen:
    return "cusolverDnXsyevd";
  case Function::Svd:
    return "cusolverDnXgesvd";
  case Function::Lu:
  case Function::Reflections:
  case Function::SmallLu:
  case Function::SmallSvd:
    break;
  }
  return work.function == Function::Lu
             ? ofType("cusolverDnSgetrf", "cusolverDnDgetrf",
                      "cusolverDnCgetrf", "cusolverDnZgetrf")
             : ofType("cusolverDnSorgqr", "cusolverDnDorgqr",
                      "cusolverDnCungqr", "cusolverDnZungqr");
}

SolverResult SolverWork::askLuForBytes(size_t &device) const {
  const auto ask = ofType(
      library.cusolverDnSgetrf_bufferSize, library.cusolverDnDgetrf_bufferSize,
      library.cusolverDnCgetrf_bufferSize, library.cusolverDnZgetrf_bufferSize);
  int elements = 0;
  const SolverResult result =
      ask(solver.handle, int(work.rows), int(work.columns), nullptr,
          int(work.rows), &elements);
  device = size_t(elements * width());
  return result;
}

SolverResult SolverWork::askReflectionsForBytes(size_t &device) const {
  const auto ask = ofType(
      library.cusolverDnSorgqr_bufferSize, library.cusolverDnDorgqr_bufferSize,
      library.cusolverDnCungqr_bufferSize, library.cusolverDnZungqr_bufferSize);
  int elements = 0;
  const SolverResult result =
      ask(solver.handle, int(work.rows), int(work.columns), int(work.taus),
          nullptr, int(work.rows), nullptr, &elements);
  device = size_t(elements * width());
  return result;
}

SolverResult SolverWork::askForBytes(size_t &device) {
  const SolverHandle handle = solver.handle;
  const SolverParameters parameters = solver.parameters;
  const SolverType number = type(), real = realType();
  size_t host = 0;
  auto result = SolverResult::Success;
  switch (work.function) {
  case Function::Cholesky:
    result = library.cusolverDnXpotrf_bufferSize(
        handle, parameters, triangle(), work.rows, number, nullptr, work.rows,
        number, &device, &host);
    break;
  case Function::Qr:
    result = library.cusolverDnXgeqrf_bufferSize(
        handle, parameters, work.rows, work.columns, number, nullptr, work.rows,
        number, nullptr, number, &device, &host);
    break;
  case Function::Eigen:
    result = library.cusolverDnXsyevd_bufferSize(
        handle, parameters, work.vectors(), triangle(), work.rows, number,
        nullptr, work.rows, real, nullptr, number, &device, &host);
    break;
  case Function::Svd:
    result = library.cusolverDnXgesvd_bufferSize(
        handle, parameters, job(), job(), work.rows, work.columns, number,
        nullptr, work.rows, real, nullptr, number, nullptr, work.rows, number,
        nullptr, work.columns, number, &device, &host);
    break;
  case Function::Lu:
    result = askLuForBytes(device);
    break;
  case Function::Reflections:
    result = askReflectionsForBytes(device);
    break;
  case Function::SmallLu:
  case Function::SmallSvd:
    return SolverResult::NotSupported;
  }
  hostWorkspace.resize(host);
  return result;
}

Result<bool> SolverWork::plan() {
  constexpr int64_t most = std::numeric_limits<int>::max();
  if (hasTwoOperands() && (work.rows > most || work.columns > most))
    return false;
  const SolverResult result = askForBytes(deviceBytes);
  if (result == SolverResult::NotSupported)
    return false;
  if (Status ok = checkSolver(result, fmt::format("{}_bufferSize", function()));
      !ok)
    return ok.error();
  copyOffset = paddedBytes(int64_t(deviceBytes));
  if (work.function == Function::Svd)
    copyBytes = work.rows * work.columns * width();
  return true;
}

SolverResult SolverWork::multiplyReflections(std::span<char *const> arrays,
                                             char *workspace) const {
  const auto multiply =
      ofType(library.cusolverDnSorgqr, library.cusolverDnDorgqr,
             library.cusolverDnCungqr, library.cusolverDnZungqr);
  return multiply(solver.handle, int(work.rows), int(work.columns),
                  int(work.taus), arrays[2], int(work.rows), arrays[1],
                  workspace, int(deviceBytes / size_t(width())),
                  reinterpret_cast<int *>(arrays[3]));
}

/// Operands are the matrix and the numbers of its rows; results the factors,
/// pivots and the rows' new order. Numbers of four bytes are exchanged as they
/// are.
SolverResult SolverWork::factorize(std::span<char *const> arrays,
                                   char *workspace) const {
  const auto factorize =
      ofType(library.cusolverDnSgetrf, library.cusolverDnDgetrf,
             library.cusolverDnCgetrf, library.cusolverDnZgetrf);
  auto *pivots = reinterpret_cast<int *>(arrays[3]);
  const SolverResult result =
      factorize(solver.handle, int(work.rows), int(work.columns), arrays[2],
                int(work.rows), workspace, pivots,
                reinterpret_cast<int *>(arrays.back()));
  if (result != SolverResult::Success)
    return result;
  return library.cusolverDnSlaswp(
      solver.handle, /*columns=*/1, arrays[4], int(work.rows), /*first=*/1,
      /*last=*/int(std::min(work.rows, work.columns)), pivots, /*stride=*/1);
}

SolverResult SolverWork::decompose(std::span<char *const> arrays, char *matrix,
                                   char *workspace) const {
  const SolverHandle handle = solver.handle;
  const SolverParameters parameters = solver.parameters;
  const SolverType number = type(), real = realType();
  auto *info = reinterpret_cast<int *>(arrays.back());
  switch (work.function) {
  case Function::Cholesky:
    return library.cusolverDnXpotrf(
        handle, parameters, triangle(), work.rows, number, matrix, work.rows,
        number, workspace, deviceBytes, hostWorkspace.data(),
        hostWorkspace.size(), info);
  case Function::Qr:
    return library.cusolverDnXgeqrf(
        handle, parameters, work.rows, work.columns, number, matrix, work.rows,
        number, arrays[2], number, workspace, deviceBytes, hostWorkspace.data(),
        hostWorkspace.size(), info);
  case Function::Eigen:
    return library.cusolverDnXsyevd(
        handle, parameters, work.vectors(), triangle(), work.rows, number,
        matrix, work.rows, real, arrays[2], number, workspace, deviceBytes,
        hostWorkspace.data(), hostWorkspace.size(), info);
  case Function::Svd:
    return library.cusolverDnXgesvd(
        handle, parameters, job(), job(), work.rows, work.columns, number,
        matrix, work.rows, real, arrays[2], number, arrays[1], work.rows,
        number, arrays[3], work.columns, number, workspace, deviceBytes,
        hostWorkspace.data(), hostWorkspace.size(), info);
  case Function::Lu:
    return factorize(arrays, workspace);
  case Function::Reflections:
  case Function::SmallLu:
  case Function::SmallSvd:
    break;
  }
  return multiplyReflections(arrays, workspace);
}

Status SolverWork::enqueue(Commands &commands, std::span<char *const> operands,
                           char *workspace) const {
  std::vector<std::vector<int64_t>> starts(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    starts[i] = work.batch.starts(i);
  for (int64_t m = 0; m < work.batch.count(); ++m) {
    std::vector<char *> arrays(operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      arrays[i] = operands[i] + starts[i][size_t(m)];
    char *matrix = work.function == Function::Svd ? workspace + copyOffset
                   : hasTwoOperands()             ? arrays[2]
                                                  : arrays[1];
    if (Status ok = commands.copy(matrix, arrays[0],
                                  work.rows * work.columns * width());
        !ok)
      return ok;
    if (work.function == Function::Lu)
      if (Status ok = commands.copy(arrays[4], arrays[1],
                                    work.rows * int64_t(sizeof(int)));
          !ok)
        return ok;
    const Status done = commands.callLibrary({}, [&](StreamHandle stream) {
      return solver.inStream(stream, function(), [&] {
        return decompose(arrays, matrix, workspace);
      });
    });
    if (!done)
      return done;
  }
  return Success();
}

Result<std::unique_ptr<Solver>> Solver::create(const SolverLibrary &library) {
  std::unique_ptr<Solver> solver(new Solver(library));
  Status done = checkSolver(library.cusolverDnCreate(&solver->handle),
                            "cusolverDnCreate");
  if (done)
    done = checkSolver(library.cusolverDnCreateParams(&solver->parameters),
                       "cusolverDnCreateParams");
  if (done)
    done =
        checkSolver(library.cusolverDnCreateSyevjInfo(&solver->eigenParameters),
                    "cusolverDnCreateSyevjInfo");
  if (done)
    done =
        checkSolver(library.cusolverDnCreateGesvdjInfo(&solver->svdParameters),
                    "cusolverDnCreateGesvdjInfo");
  if (!done)
    return done.error();
  return solver;
}

Status Solver::inStream(StreamHandle stream, std::string_view function,
                        const std::function<SolverResult()> &use) {
  std::lock_guard lock(mutex);
  if (Status ok = checkSolver(library.cusolverDnSetStream(handle, stream),
                              "cusolverDnSetStream");
      !ok)
    return ok;
  return checkSolver(use(), function);
}

Solver::~Solver() {
  if (svdParameters)
    (void)library.cusolverDnDestroyGesvdjInfo(svdParameters);
  if (eigenParameters)
    (void)library.cusolverDnDestroySyevjInfo(eigenParameters);
  if (parameters)
    (void)library.cusolverDnDestroyParams(parameters);
  if (handle)
    (void)library.cusolverDnDestroy(handle);
}

LibraryWorkOrError Solver::plan(Card &card,
                                const Decomposition &decomposition) {
  if (decomposition.isOneCall())
    return planBatch(*this, card, decomposition);
  if (decomposition.batch.isTooLargeForCalls())
    return noLibraryWork();
  auto work = std::make_shared<SolverWork>(*this, decomposition);
  Result<bool> isTaken = work->plan();
  if (!isTaken)
    return isTaken.error();
  return *isTaken ? LibraryWorkOrError(std::move(work)) : noLibraryWork();
}

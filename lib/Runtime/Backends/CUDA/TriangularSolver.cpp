// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For the library, rows are columns: it solves the transposed systems. It puts
// X in the place of B, so that B is copied there first.
#include "TriangularSolver.h"

#include "Launches.h"
#include "LibraryFunctions.h"

#include <complex>
#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

/// The library of CUDA 13 and that of CUDA 12, which have the same functions.
static constexpr std::array systemTriangularLibraries{"libcublas.so.13",
                                                      "libcublas.so.12"};

Result<const TriangularLibrary *>
TriangularLibrary::load(const std::string &path) {
  return loadLibrary<TriangularLibrary>(
      path, {"cuBLAS", systemTriangularLibraries},
      [](LibraryFunctions &functions, TriangularLibrary &library) {
#define MESHLOOM_TRIANGULAR_FUNCTION(name, ...)                                \
  functions.find(library.name, #name);
#include "TriangularFunctions.def"
#undef MESHLOOM_TRIANGULAR_FUNCTION
      });
}

static Status check(BlasResult result, std::string_view function) {
  if (result == BlasResult::Success)
    return Success();
  return failedCall(function, fmt::format("error {}", int(result)));
}

Status TriangularSolver::inStream(
    StreamHandle stream, std::string_view function,
    const std::function<BlasResult(TriangularHandle)> &use) {
  std::lock_guard lock(mutex);
  if (Status ok =
          check(library.cublasSetStream_v2(handle, stream), "cublasSetStream");
      !ok)
    return ok;
  return check(use(handle), function);
}

namespace meshloom::cuda {
class TriangularWork : public LibraryWork {
public:
  TriangularWork(TriangularSolver &solver, Card &card,
                 const TriangularSystems &systems)
      : solver(solver), card(card), systems(systems),
        isOneCall(systems.batch.isForOneCall(order())) {}

  std::string_view function() const override;
  /// The library may allocate memory of its own.
  bool isAlone() const override { return true; }
  int64_t workspaceBytes() const override {
    return isOneCall ? 2 * addressBytes(systems.batch.count()) : 0;
  }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  using Matrix = TriangularSystems::Matrix;
  int64_t order() const {
    return systems.onLeft ? systems.rows : systems.columns;
  }
  Status copyOperand(Commands &commands, char *x, const char *b) const;
  /// Solves the systems whose matrices A and X are in these operands, where the
  /// function is for one of them, or for a batch.
  template <typename Function, typename A, typename X, typename... Count>
  Status solve(Commands &commands, Function *function, A a, X x,
               Count... count) const;
  Status solveOne(Commands &commands, const char *a, char *x) const;
  Status solveAll(Commands &commands, const char *a, char *x,
                  char *workspace) const;

  TriangularSolver &solver;
  Card &card;
  const TriangularSystems systems;
  const bool isOneCall;
};

/// L and U of each matrix, in its place, and the pivots.
class LuBatchWork : public LibraryWork {
public:
  LuBatchWork(TriangularSolver &solver, Card &card,
              const Decomposition &decomposition)
      : solver(solver), card(card), work(decomposition) {}

  std::string_view function() const override {
    return functionOf(work.type, "cublasSgetrfBatched", "cublasDgetrfBatched",
                      "cublasCgetrfBatched", "cublasZgetrfBatched");
  }
  bool isAlone() const override { return true; }
  int64_t workspaceBytes() const override {
    return addressBytes(work.batch.count());
  }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  TriangularSolver &solver;
  Card &card;
  const Decomposition work;
};
} // namespace meshloom::cuda

std::string_view TriangularWork::function() const {
  return isOneCall ? functionOf(systems.type, "cublasStrsmBatched",
                                "cublasDtrsmBatched", "cublasCtrsmBatched",
                                "cublasZtrsmBatched")
                   : functionOf(systems.type, "cublasStrsm", "cublasDtrsm",
                                "cublasCtrsm", "cublasZtrsm");
}

Status TriangularWork::copyOperand(Commands &commands, char *x,
                                   const char *b) const {
  const int64_t width = byteWidth(systems.type);
  std::vector<int64_t> extents = systems.batch.extents;
  extents.insert(extents.end(), {systems.rows, systems.columns});
  auto strides = [&](Matrix matrix) {
    std::vector<int64_t> strides = systems.batch.strides[matrix];
    for (int64_t &stride : strides)
      stride /= width;
    strides.insert(strides.end(), {systems.rowStrides[matrix], 1});
    return strides;
  };
  return copyStrided(commands, x, b, extents, strides(Matrix::B),
                     strides(Matrix::X), width);
}

template <typename Function, typename A, typename X, typename... Count>
Status TriangularWork::solve(Commands &commands, Function *function, A a, X x,
                             Count... count) const {
  const float one = 1;
  const double wideOne = 1;
  const std::complex<float> complexOne = 1;
  const std::complex<double> wideComplexOne = 1;
  const void *factor = functionOf<const void *>(systems.type, &one, &wideOne,
                                                &complexOne, &wideComplexOne);
  return commands.callLibrary({}, [&](StreamHandle stream) {
    return solver.inStream(
        stream, this->function(), [&](TriangularHandle handle) {
          return function(
              handle,
              systems.onLeft ? TriangularSide::Right : TriangularSide::Left,
              systems.isLower ? SolverTriangle::Upper : SolverTriangle::Lower,
              systems.transpose,
              systems.hasOnes ? TriangularDiagonal::Ones
                              : TriangularDiagonal::Stored,
              systems.columns, systems.rows, factor, a,
              systems.rowStrides[Matrix::A], x, systems.rowStrides[Matrix::X],
              count...);
        });
  });
}

Status TriangularWork::solveOne(Commands &commands, const char *a,
                                char *x) const {
  const TriangularLibrary &library = solver.library;
  return solve(commands,
               functionOf(systems.type, library.cublasStrsm_v2_64,
                          library.cublasDtrsm_v2_64, library.cublasCtrsm_v2_64,
                          library.cublasZtrsm_v2_64),
               a, x);
}

Status TriangularWork::solveAll(Commands &commands, const char *a, char *x,
                                char *workspace) const {
  const TriangularLibrary &library = solver.library;
  char *addressesOfX = workspace + addressBytes(systems.batch.count());
  if (Status ok =
          writeAddresses(card, workspace, a, systems.batch.starts(Matrix::A));
      !ok)
    return ok;
  if (Status ok = writeAddresses(card, addressesOfX, x,
                                 systems.batch.starts(Matrix::X));
      !ok)
    return ok;
  return solve(
      commands,
      functionOf(systems.type, library.cublasStrsmBatched_64,
                 library.cublasDtrsmBatched_64, library.cublasCtrsmBatched_64,
                 library.cublasZtrsmBatched_64),
      reinterpret_cast<const void *const *>(workspace),
      reinterpret_cast<void *const *>(addressesOfX), systems.batch.count());
}

Status TriangularWork::enqueue(Commands &commands,
                               std::span<char *const> operands,
                               char *workspace) const {
  const char *a = operands[Matrix::A], *b = operands[Matrix::B];
  char *x = operands.back();
  if (b != x)
    if (Status ok = copyOperand(commands, x, b); !ok)
      return ok;
  if (isOneCall)
    return solveAll(commands, a, x, workspace);
  const std::vector<int64_t> startsOfA = systems.batch.starts(Matrix::A),
                             startsOfX = systems.batch.starts(Matrix::X);
  for (size_t m = 0; m < startsOfA.size(); ++m)
    if (Status ok = solveOne(commands, a + startsOfA[m], x + startsOfX[m]); !ok)
      return ok;
  return Success();
}

Status LuBatchWork::enqueue(Commands &commands, std::span<char *const> operands,
                            char *workspace) const {
  const auto factorize = functionOf(
      work.type, solver.library.cublasSgetrfBatched,
      solver.library.cublasDgetrfBatched, solver.library.cublasCgetrfBatched,
      solver.library.cublasZgetrfBatched);
  // Behind the matrices, the numbers of their rows are an operand.
  char *matrices = operands[2];
  if (Status ok = commands.copy(matrices, operands[0],
                                work.batch.count() * work.rows * work.columns *
                                    byteWidth(work.type));
      !ok)
    return ok;
  if (Status ok =
          writeAddresses(card, workspace, matrices, work.batch.starts(2));
      !ok)
    return ok;
  return commands.callLibrary({}, [&](StreamHandle stream) {
    return solver.inStream(stream, function(), [&](TriangularHandle handle) {
      return factorize(
          handle, int(work.rows), reinterpret_cast<void *const *>(workspace),
          int(work.rows), reinterpret_cast<int *>(operands[3]),
          reinterpret_cast<int *>(operands.back()), int(work.batch.count()));
    });
  });
}

Result<std::unique_ptr<TriangularSolver>>
TriangularSolver::create(const TriangularLibrary &library) {
  std::unique_ptr<TriangularSolver> solver(new TriangularSolver(library));
  if (Status ok =
          check(library.cublasCreate_v2(&solver->handle), "cublasCreate");
      !ok)
    return ok.error();
  return solver;
}

TriangularSolver::~TriangularSolver() {
  if (handle)
    (void)library.cublasDestroy_v2(handle);
}

LibraryWorkOrError TriangularSolver::plan(Card &card,
                                          const TriangularSystems &systems) {
  auto work = std::make_shared<TriangularWork>(*this, card, systems);
  return LibraryWorkOrError(std::move(work));
}

LibraryWorkOrError TriangularSolver::plan(Card &card,
                                          const Decomposition &decomposition) {
  if (!decomposition.batch.isCountedInInt(decomposition.rows))
    return noLibraryWork();
  return LibraryWorkOrError(
      std::make_shared<LuBatchWork>(*this, card, decomposition));
}

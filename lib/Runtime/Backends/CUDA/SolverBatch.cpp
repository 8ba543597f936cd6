// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decompositions of many small matrices by one call of the library's. Matrices
// lie one behind the other. Functions overwrite them, so that these are copied
// to the results first, or to the workspace.
#include "Launches.h"
#include "LibraryFunctions.h"
#include "Solver.h"

using namespace meshloom;
using namespace meshloom::cuda;

bool Decomposition::isOneCall() const {
  switch (function) {
  case Function::SmallLu:
  case Function::SmallSvd: // which have no other function
    return isDense;
  case Function::Cholesky:
  case Function::Eigen:
    return isDense && batch.isForOneCall(rows);
  case Function::Lu:
  case Function::Qr:
  case Function::Reflections:
  case Function::Svd:
    break;
  }
  return false;
}

namespace meshloom::cuda {
class SolverBatchWork : public LibraryWork {
public:
  SolverBatchWork(Solver &solver, Card &card,
                  const Decomposition &decomposition)
      : solver(solver), library(solver.library), card(card),
        work(decomposition), count(int(work.batch.count())),
        rows(int(work.rows)), columns(int(work.columns)) {}

  Status plan();
  std::string_view function() const override;
  bool isAlone() const override { return true; }
  int64_t workspaceBytes() const override {
    return vectorOffset + vectorBytes();
  }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  using Function = Decomposition::Function;
  int64_t width() const { return byteWidth(work.type); }
  int64_t matrixBytes() const {
    return work.batch.count() * work.rows * work.columns * width();
  }
  /// The library has all vectors on the left, of which the first ones are a
  /// result.
  int64_t vectorBytes() const {
    return work.function == Function::SmallSvd
               ? work.batch.count() * work.rows * work.rows * width()
               : 0;
  }
  SolverTriangle triangle() const {
    return work.isLower ? SolverTriangle::Lower : SolverTriangle::Upper;
  }
  SolverResult askForElements(int &elements) const;
  SolverResult factorize(std::span<char *const> operands,
                         char *workspace) const;
  SolverResult findEigen(std::span<char *const> operands,
                         char *workspace) const;
  SolverResult findSingular(std::span<char *const> operands,
                            char *workspace) const;
  SolverResult decompose(std::span<char *const> operands,
                         char *workspace) const;

  Solver &solver;
  const SolverLibrary &library;
  Card &card;
  const Decomposition work;
  const int count, rows, columns;
  /// The library's part of the workspace, or the addresses of matrices, come
  /// first.
  int elements = 0;
  int64_t copyOffset = 0, vectorOffset = 0;
};
} // namespace meshloom::cuda

std::string_view SolverBatchWork::function() const {
  switch (work.function) {
  case Function::Cholesky:
    return functionOf(work.type, "cusolverDnSpotrfBatched",
                      "cusolverDnDpotrfBatched", "cusolverDnCpotrfBatched",
                      "cusolverDnZpotrfBatched");
  case Function::Eigen:
    return functionOf(work.type, "cusolverDnSsyevjBatched",
                      "cusolverDnDsyevjBatched", "cusolverDnCheevjBatched",
                      "cusolverDnZheevjBatched");
  default:
    return work.type == DType::F32 ? "cusolverDnSgesvdjBatched"
                                   : "cusolverDnDgesvdjBatched";
  }
}

SolverResult SolverBatchWork::askForElements(int &elements) const {
  if (work.function == Function::Eigen) {
    const auto ask =
        functionOf(work.type, library.cusolverDnSsyevjBatched_bufferSize,
                   library.cusolverDnDsyevjBatched_bufferSize,
                   library.cusolverDnCheevjBatched_bufferSize,
                   library.cusolverDnZheevjBatched_bufferSize);
    return ask(solver.handle, work.vectors(), triangle(), rows, nullptr, rows,
               nullptr, &elements, solver.eigenParameters, count);
  }
  const auto ask = work.type == DType::F32
                       ? library.cusolverDnSgesvdjBatched_bufferSize
                       : library.cusolverDnDgesvdjBatched_bufferSize;
  return ask(solver.handle, work.vectors(), rows, columns, nullptr, rows,
             nullptr, nullptr, rows, nullptr, columns, &elements,
             solver.svdParameters, count);
}

Status SolverBatchWork::plan() {
  if (work.function == Function::Cholesky) {
    copyOffset = vectorOffset = addressBytes(count);
    return Success();
  }
  if (Status ok = checkSolver(askForElements(elements),
                              fmt::format("{}_bufferSize", function()));
      !ok)
    return ok;
  copyOffset = vectorOffset = paddedBytes(elements * width());
  if (work.function == Function::SmallSvd)
    vectorOffset += paddedBytes(matrixBytes());
  return Success();
}

SolverResult SolverBatchWork::factorize(std::span<char *const> operands,
                                        char *workspace) const {
  const auto factorize = functionOf(work.type, library.cusolverDnSpotrfBatched,
                                    library.cusolverDnDpotrfBatched,
                                    library.cusolverDnCpotrfBatched,
                                    library.cusolverDnZpotrfBatched);
  return factorize(solver.handle, triangle(), rows,
                   reinterpret_cast<void **>(workspace), rows,
                   reinterpret_cast<int *>(operands.back()), count);
}

SolverResult SolverBatchWork::findEigen(std::span<char *const> operands,
                                        char *workspace) const {
  const auto find = functionOf(work.type, library.cusolverDnSsyevjBatched,
                               library.cusolverDnDsyevjBatched,
                               library.cusolverDnCheevjBatched,
                               library.cusolverDnZheevjBatched);
  return find(solver.handle, work.vectors(), triangle(), rows, operands[1],
              rows, operands[2], workspace, elements,
              reinterpret_cast<int *>(operands.back()), solver.eigenParameters,
              count);
}

SolverResult SolverBatchWork::findSingular(std::span<char *const> operands,
                                           char *workspace) const {
  const auto find = work.type == DType::F32 ? library.cusolverDnSgesvdjBatched
                                            : library.cusolverDnDgesvdjBatched;
  return find(solver.handle, work.vectors(), rows, columns,
              workspace + copyOffset, rows, operands[2],
              workspace + vectorOffset, rows, operands[3], columns, workspace,
              elements, reinterpret_cast<int *>(operands.back()),
              solver.svdParameters, count);
}

SolverResult SolverBatchWork::decompose(std::span<char *const> operands,
                                        char *workspace) const {
  switch (work.function) {
  case Function::Cholesky:
    return factorize(operands, workspace);
  case Function::Eigen:
    return findEigen(operands, workspace);
  default:
    return findSingular(operands, workspace);
  }
}

Status SolverBatchWork::enqueue(Commands &commands,
                                std::span<char *const> operands,
                                char *workspace) const {
  const bool isSvd = work.function == Function::SmallSvd;
  char *matrices = isSvd ? workspace + copyOffset : operands[1];
  Status done = commands.copy(matrices, operands[0], matrixBytes());
  if (done && work.function == Function::Cholesky)
    done = writeAddresses(card, workspace, matrices, work.batch.starts(1));
  if (done)
    done = commands.callLibrary({}, [&](StreamHandle stream) {
      return solver.inStream(stream, function(),
                             [&] { return decompose(operands, workspace); });
    });
  if (!done || !isSvd || work.onlyValues)
    return done;
  const int64_t result = work.rows * work.columns;
  return copyStrided(commands, operands[1], workspace + vectorOffset,
                     std::array{int64_t(count), result},
                     std::array{work.rows * work.rows, int64_t(1)},
                     std::array{result, int64_t(1)}, width());
}

LibraryWorkOrError cuda::planBatch(Solver &solver, Card &card,
                                   const Decomposition &decomposition) {
  if (!decomposition.batch.isCountedInInt(decomposition.rows))
    return noLibraryWork();
  auto work = std::make_shared<SolverBatchWork>(solver, card, decomposition);
  if (Status ok = work->plan(); !ok)
    return ok.error();
  return LibraryWorkOrError(std::move(work));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solver: NVIDIA's cuSOLVER, which decomposes matrices on a card. The library
// is found when a program first needs it.
#pragma once

#include "LibraryWork.h"
#include "MatrixBatch.h"
#include "SolverFacts.h"

#include "meshloom/Core/DType.h"

#include <functional>
#include <mutex>
#include <string>

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class SolverLibrary {
public:
  /// The library `path`, or that of the system where the path is empty; once in
  /// a process, where it stays loaded. Fails where there is none.
  static Result<const SolverLibrary *> load(const std::string &path);

#define MESHLOOM_SOLVER_FUNCTION(name, ...)                                    \
  SolverResult (*name)(__VA_ARGS__) = nullptr;
#include "SolverFunctions.def"
#undef MESHLOOM_SOLVER_FUNCTION
};

/// A decomposition of matrices of one shape: see Targets/Kernels/SolverCalls.
/// Matrices lie column by column, without gaps.
struct Decomposition {
  enum class Function : uint8_t {
    Cholesky,
    Lu,
    Qr,
    Reflections,
    Eigen,
    Svd,
    SmallLu,
    SmallSvd
  };
  Function function = Function::Cholesky;
  DType type = DType::F32;
  bool isLower = false;    ///< of Cholesky and Eigen
  bool onlyValues = false; ///< of Eigen, Svd and SmallSvd
  int64_t rows = 0, columns = 0;
  int64_t taus = 0; ///< of Reflections
  MatrixBatch batch = {};
  bool isDense = false; ///< there are no gaps between matrices, either

  /// Returns whether one call decomposes all matrices.
  bool isOneCall() const;
  SolverVectors vectors() const {
    return onlyValues ? SolverVectors::No : SolverVectors::Yes;
  }
};

/// The library on one card. The card is the one that the calling thread speaks
/// of. Safe to use from any thread.
class Solver {
public:
  static Result<std::unique_ptr<Solver>> create(const SolverLibrary &library);
  ~Solver();
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;

  /// The solver and the card outlive the work. Null: the library does not take
  /// the matrices.
  LibraryWorkOrError plan(Card &card, const Decomposition &decomposition);

private:
  friend class SolverWork;
  friend class SolverBatchWork;
  explicit Solver(const SolverLibrary &library) : library(library) {}
  /// Calls `function` by `use()` for the work of a stream.
  Status inStream(StreamHandle stream, std::string_view function,
                  const std::function<SolverResult()> &use);

  const SolverLibrary &library;
  SolverHandle handle = nullptr;
  SolverParameters parameters = nullptr;
  SolverEigenParameters eigenParameters = nullptr;
  SolverSvdParameters svdParameters = nullptr;
  std::mutex mutex; ///< of the handle's stream
};

/// Fails where a function of the library has.
Status checkSolver(SolverResult result, std::string_view function);
/// How one call decomposes all matrices of a batch.
LibraryWorkOrError planBatch(Solver &solver, Card &card,
                             const Decomposition &decomposition);

} // namespace meshloom::cuda

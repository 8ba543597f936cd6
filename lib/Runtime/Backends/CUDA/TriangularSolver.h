// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TriangularSolver: NVIDIA's cuBLAS, which solves triangular systems on a card.
// The library is found when a program first needs it.
#pragma once

#include "LibraryWork.h"
#include "TriangularFacts.h"

#include "meshloom/Core/DType.h"

#include <array>
#include <mutex>
#include <string>
#include <vector>

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class TriangularLibrary {
public:
  /// The library `path`, or that of the system where the path is empty; once in
  /// a process, where it stays loaded. Fails where there is none.
  static Result<const TriangularLibrary *> load(const std::string &path);

#define MESHLOOM_TRIANGULAR_FUNCTION(name, ...)                                \
  BlasResult (*name)(__VA_ARGS__) = nullptr;
#include "TriangularFunctions.def"
#undef MESHLOOM_TRIANGULAR_FUNCTION
};

/// Systems op(A) X = B, or X op(A) = B, whose matrices lie row by row. Strides
/// are in elements.
struct TriangularSystems {
  /// Operands of the call, and of what follows.
  enum Matrix : uint8_t { A, B, X };
  DType type = DType::F32;
  bool onLeft = false, isLower = false, hasOnes = false;
  TriangularTranspose transpose = TriangularTranspose::None;
  int64_t rows = 0, columns = 0;       ///< of B and X
  std::array<int64_t, 3> rowStrides{}; ///< of A, B and X
  /// Per system: where its matrices begin, in bytes from where the operands of
  /// the call do.
  std::vector<std::vector<int64_t>> starts = {};
};

/// The library on one card. The card is the one that the calling thread speaks
/// of. Safe to use from any thread.
class TriangularSolver {
public:
  static Result<std::unique_ptr<TriangularSolver>>
  create(const TriangularLibrary &library);
  ~TriangularSolver();
  TriangularSolver(const TriangularSolver &) = delete;
  TriangularSolver &operator=(const TriangularSolver &) = delete;

  /// The solver outlives the work.
  LibraryWorkOrError plan(const TriangularSystems &systems);

private:
  friend class TriangularWork;
  explicit TriangularSolver(const TriangularLibrary &library)
      : library(library) {}

  const TriangularLibrary &library;
  TriangularHandle handle = nullptr;
  std::mutex mutex; ///< of the handle's stream
};

} // namespace meshloom::cuda

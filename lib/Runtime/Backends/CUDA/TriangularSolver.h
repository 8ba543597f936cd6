// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TriangularSolver: NVIDIA's cuBLAS, which solves triangular systems on a card,
// and finds the triangles L and U of many small matrices. The library is found
// when a program first needs it.
#pragma once

#include "Solver.h"
#include "TriangularFacts.h"

#include "meshloom/Core/DType.h"

#include <array>

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
  MatrixBatch batch = {};
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

  /// The solver and the card outlive the work. Null: the library does not take
  /// the matrices.
  LibraryWorkOrError plan(Card &card, const TriangularSystems &systems);
  /// The same for a decomposition that is one call of SmallLu.
  LibraryWorkOrError plan(Card &card, const Decomposition &decomposition);

private:
  friend class TriangularWork;
  friend class LuBatchWork;
  /// Calls `use(handle)` for work in a stream.
  Status inStream(StreamHandle stream, std::string_view function,
                  const std::function<BlasResult(TriangularHandle)> &use);
  explicit TriangularSolver(const TriangularLibrary &library)
      : library(library) {}

  const TriangularLibrary &library;
  TriangularHandle handle = nullptr;
  std::mutex mutex; ///< of the handle's stream
};

} // namespace meshloom::cuda

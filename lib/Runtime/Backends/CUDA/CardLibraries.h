// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CardLibraries: the libraries of NVIDIA's that compute something on a card.
// Each is found when a program first needs it.
#pragma once

#include "Blas.h"
#include "Dnn.h"
#include "Fourier.h"
#include "Solver.h"
#include "TriangularSolver.h"

#include <optional>

namespace meshloom::cuda {

/// The path of each library: empty, it is the system's, if there is one;
/// nothing, it is not to be used.
struct LibraryPaths {
  std::optional<std::string> blas, dnn, fourier, solver, triangular;
};

/// The card is the one that the calling thread speaks of. Functions fail where
/// a library that somebody has named does not load. Safe to use from any
/// thread.
class CardLibraries {
public:
  explicit CardLibraries(LibraryPaths paths) : paths(std::move(paths)) {}

  /// How cuBLASLt computes this product.
  LibraryWorkOrError plan(const MatrixProduct &product);
  /// How cuDNN computes this convolution.
  LibraryWorkOrError plan(const ImageConvolution &convolution);
  /// How cuDNN computes this attention.
  LibraryWorkOrError plan(const AttentionShape &attention);
  /// How cuFFT transforms these lines. `card` outlives the work.
  LibraryWorkOrError plan(Card &card, const FourierLines &lines);
  /// How cuSOLVER decomposes these matrices, or cuBLAS. `card` outlives the
  /// work.
  LibraryWorkOrError plan(Card &card, const Decomposition &decomposition);
  /// How cuBLAS solves these systems. `card` outlives the work.
  LibraryWorkOrError plan(Card &card, const TriangularSystems &systems);

private:
  /// Null: the library is not to be used, or the system has none.
  template <typename Library>
  Result<const Library *> find(std::optional<std::string> &path);
  /// The plan of a library that has a state on the card, `use`, which is null
  /// where nobody has asked for it.
  template <typename Library, typename Use, typename... Work>
  LibraryWorkOrError planBy(std::optional<std::string> &path,
                            std::unique_ptr<Use> &use, Work &...work);

  std::mutex mutex; ///< of what is below
  LibraryPaths paths;
  std::unique_ptr<Blas> blas;
  std::unique_ptr<Dnn> dnn;
  std::unique_ptr<Solver> solver;
  std::unique_ptr<TriangularSolver> triangular;
};

} // namespace meshloom::cuda

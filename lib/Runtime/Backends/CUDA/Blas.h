// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blas: NVIDIA's cuBLASLt, which computes products of matrices on a card. The
// library is found when a program first needs it.
#pragma once

#include "BlasFacts.h"
#include "LibraryWork.h"
#include "MatrixProduct.h"

#include <map>
#include <mutex>
#include <string>

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class BlasLibrary {
public:
  /// The library `path`, or that of the system where the path is empty; once in
  /// a process, where it stays loaded. Fails where there is none.
  static Result<const BlasLibrary *> load(const std::string &path);

  /// Fails with the library's name for a result that is no success.
  Status check(BlasResult result, std::string_view function) const;

  const char *(*cublasLtGetStatusName)(BlasResult) = nullptr;
#define MESHLOOM_BLAS_FUNCTION(name, ...)                                      \
  BlasResult (*name)(__VA_ARGS__) = nullptr;
#include "BlasFunctions.def"
#undef MESHLOOM_BLAS_FUNCTION
};

/// A product of some shape, as the library describes it, and the algorithm that
/// it proposes for this shape.
class BlasProduct : public LibraryWork {
public:
  BlasProduct(const BlasLibrary &library, BlasHandle handle)
      : library(library), handle(handle) {}
  ~BlasProduct() override;
  BlasProduct(const BlasProduct &) = delete;
  BlasProduct &operator=(const BlasProduct &) = delete;

  std::string_view function() const override { return "cublasLtMatmul"; }
  int64_t workspaceBytes() const override {
    return int64_t(chosen.workspaceBytes);
  }
  /// `operands`: lhs, rhs and out; then those of the epilogue.
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  friend class Blas;
  Status describe(const MatrixProduct &product);
  Status describeEpilogue(const MatrixProduct &product);
  template <typename Value>
  Status set(BlasProductAttribute attribute, const Value &value) const;
  /// False: the library has no algorithm.
  Result<bool> choose(const MatrixProduct &product);

  const BlasLibrary &library;
  const BlasHandle handle;
  bool swapsOperands = false;
  BlasProductHandle description = nullptr;
  BlasLayoutHandle a = nullptr, b = nullptr, out = nullptr;
  BlasHeuristic chosen{};
  /// The attributes for the epilogue's operands, in the order of `operands`.
  std::vector<BlasProductAttribute> pointers;
  mutable std::mutex mutex; ///< of the pointers in the description
};

/// The library on one card. The card is the one that the calling thread speaks
/// of. Safe to use from any thread.
class Blas {
public:
  static Result<std::unique_ptr<Blas>> create(const BlasLibrary &library);
  ~Blas();
  Blas(const Blas &) = delete;
  Blas &operator=(const Blas &) = delete;

  /// The product of this shape, which is asked for once. Null: the library has
  /// no algorithm for it.
  LibraryWorkOrError plan(const MatrixProduct &product);

private:
  Blas(const BlasLibrary &library, BlasHandle handle)
      : library(library), handle(handle) {}

  const BlasLibrary &library;
  const BlasHandle handle;
  std::mutex mutex; ///< of the plans
  std::map<MatrixProduct, std::shared_ptr<const LibraryWork>> plans;
};

} // namespace meshloom::cuda

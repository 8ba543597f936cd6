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

namespace meshloom::cuda {
class TriangularWork : public LibraryWork {
public:
  TriangularWork(TriangularSolver &solver, const TriangularSystems &systems)
      : solver(solver), systems(systems) {}

  std::string_view function() const override;
  /// The library may allocate memory of its own.
  bool isCapturable() const override { return false; }
  int64_t workspaceBytes() const override { return 0; }
  Status enqueue(Commands &commands, std::span<char *const> operands,
                 char *workspace) const override;

private:
  using Matrix = TriangularSystems::Matrix;
  BlasResult solve(const char *a, char *x) const;

  TriangularSolver &solver;
  const TriangularSystems systems;
};
} // namespace meshloom::cuda

std::string_view TriangularWork::function() const {
  switch (systems.type) {
  case DType::F32:
    return "cublasStrsm";
  case DType::F64:
    return "cublasDtrsm";
  case DType::C64:
    return "cublasCtrsm";
  default:
    return "cublasZtrsm";
  }
}

BlasResult TriangularWork::solve(const char *a, char *x) const {
  const TriangularLibrary &library = solver.library;
  const float one = 1;
  const double wideOne = 1;
  const std::complex<float> complexOne = 1;
  const std::complex<double> wideComplexOne = 1;
  auto [function, factor] =
      systems.type == DType::F32 ? std::pair(library.cublasStrsm_v2_64,
                                             static_cast<const void *>(&one))
      : systems.type == DType::F64
          ? std::pair(library.cublasDtrsm_v2_64,
                      static_cast<const void *>(&wideOne))
      : systems.type == DType::C64
          ? std::pair(library.cublasCtrsm_v2_64,
                      static_cast<const void *>(&complexOne))
          : std::pair(library.cublasZtrsm_v2_64,
                      static_cast<const void *>(&wideComplexOne));
  return function(
      solver.handle,
      systems.onLeft ? TriangularSide::Right : TriangularSide::Left,
      systems.isLower ? SolverTriangle::Upper : SolverTriangle::Lower,
      systems.transpose,
      systems.hasOnes ? TriangularDiagonal::Ones : TriangularDiagonal::Stored,
      systems.columns, systems.rows, factor, a, systems.rowStrides[Matrix::A],
      x, systems.rowStrides[Matrix::X]);
}

Status TriangularWork::enqueue(Commands &commands,
                               std::span<char *const> operands,
                               char * /*workspace*/) const {
  for (const std::vector<int64_t> &start : systems.starts) {
    const char *a = operands[Matrix::A] + start[Matrix::A],
               *b = operands[Matrix::B] + start[Matrix::B];
    char *x = operands.back() + start[Matrix::X];
    if (b != x) {
      const std::array extents{systems.rows, systems.columns},
          from{systems.rowStrides[Matrix::B], int64_t(1)},
          to{systems.rowStrides[Matrix::X], int64_t(1)};
      if (Status ok = copyStrided(commands, x, b, extents, from, to,
                                  byteWidth(systems.type));
          !ok)
        return ok;
    }
    const Status done =
        commands.callLibrary({}, [&](StreamHandle stream) -> Status {
          std::lock_guard lock(solver.mutex);
          if (Status ok = check(
                  solver.library.cublasSetStream_v2(solver.handle, stream),
                  "cublasSetStream");
              !ok)
            return ok;
          return check(solve(a, x), function());
        });
    if (!done)
      return done;
  }
  return Success();
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

LibraryWorkOrError TriangularSolver::plan(const TriangularSystems &systems) {
  return LibraryWorkOrError(std::make_shared<TriangularWork>(*this, systems));
}

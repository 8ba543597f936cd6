// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions solver_*, as a solver for a device has them, by the host's
// decompositions: matrices are column by column, transposed ones of the
// program, and one more result says for each matrix whether there is an error.
// The host's results have nans there, and say that there is none.
#include "LibraryArrays.h"
#include "LibraryTable.h"

using namespace meshloom;
using namespace meshloom::library;

namespace {
constexpr std::string_view prefix = "solver_";

/// A decomposition: how many dims a batch of it has, and arrays of so many more
/// dims are vectors or matrices.
class SolverRoutine : public LibraryRoutine {
public:
  SolverRoutine(std::unique_ptr<LibraryRoutine> routine, size_t batchRank)
      : routine(std::move(routine)), batchRank(batchRank) {}

  Status run(const LibraryArguments &arguments) const override {
    LibraryArguments transposed = arguments;
    const LibraryOperand errors = transposed.outputs.back();
    transposed.outputs.pop_back();
    for (auto *operands : {&transposed.inputs, &transposed.outputs})
      for (LibraryOperand &operand : *operands)
        if (operand.extent.size() == batchRank + 2)
          for (Shape *shape :
               {&operand.offset, &operand.extent, &operand.strides})
            std::swap((*shape)[batchRank], (*shape)[batchRank + 1]);
    forEachIndex<1>(errors.extent, {&errors.strides},
                    [&](const std::array<int64_t, 1> &offsets) {
                      reinterpret_cast<int32_t *>(errors.data)[offsets[0]] = 0;
                    });
    return routine->run(transposed);
  }

private:
  const std::unique_ptr<LibraryRoutine> routine;
  const size_t batchRank;
};

} // namespace

static RoutineOrError makeSolver(const LibraryStep &step) {
  if (step.inputs.empty() || step.outputs.empty() ||
      step.outputs.back()->type != DType::I32 ||
      step.inputs[0]->shape.size() != step.outputs.back()->shape.size() + 2)
    return Error("its operands do not fit");
  const size_t batchRank = step.outputs.back()->shape.size();
  LibraryStep decomposition = step;
  decomposition.outputs.pop_back();
  std::vector<BufferDecl> matrices;
  matrices.reserve(step.inputs.size() + step.outputs.size());
  for (auto *buffers : {&decomposition.inputs, &decomposition.outputs})
    for (const BufferDecl *&buffer : *buffers)
      if (buffer->shape.size() == batchRank + 2) {
        buffer = &matrices.emplace_back(*buffer);
        std::swap(matrices.back().shape[batchRank],
                  matrices.back().shape[batchRank + 1]);
      }
  const LibraryRow *row = findLibraryFunction(
      std::string_view(step.step.library).substr(prefix.size()));
  RoutineOrError routine = row->make(decomposition);
  if (!routine)
    return routine.error();
  return routineOf(
      std::make_unique<SolverRoutine>(std::move(*routine), batchRank));
}

namespace meshloom::library {
LibraryRows functionsOfSolverCalls() {
  static constexpr LibraryRow rows[] = {
      {"solver_cholesky", makeSolver},
      {"solver_geqrf", makeSolver},
      {"solver_householder_product", makeSolver},
      {"solver_eigh", makeSolver},
      {"solver_svd", makeSolver}};
  return rows;
}
} // namespace meshloom::library

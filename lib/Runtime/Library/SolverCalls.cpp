// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions solver_*, as a solver for a device has them, by the host's
// decompositions: matrices are column by column, transposed ones of the
// program, and one more result says for each matrix whether there is an error.
// The host's results have nans there, and say that there is none. solver_lu has
// one more operand, the numbers of the rows, and counts pivots from 1.
// solver_small_lu is the same, but nobody reads the rows' new order.
// solver_small_svd has the vectors on the right, and not their adjoint matrix.
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
  SolverRoutine(std::unique_ptr<LibraryRoutine> routine, size_t batchRank,
                std::string_view function)
      : routine(std::move(routine)), batchRank(batchRank),
        isLu(function.ends_with("lu")), isSmallSvd(function == "small_svd") {}

  Status run(const LibraryArguments &arguments) const override {
    LibraryArguments transposed = arguments;
    const LibraryOperand errors = transposed.outputs.back();
    transposed.outputs.pop_back();
    if (isLu)
      transposed.inputs.pop_back();
    for (auto *operands : {&transposed.inputs, &transposed.outputs})
      for (LibraryOperand &operand : *operands)
        if (operand.extent.size() == batchRank + 2)
          for (Shape *shape :
               {&operand.offset, &operand.extent, &operand.strides})
            std::swap((*shape)[batchRank], (*shape)[batchRank + 1]);
    if (isSmallSvd)
      transposed.outputs[2] = arguments.outputs[2];
    forEachNumber(errors, [](int32_t &error) { error = 0; });
    const Status done = routine->run(transposed);
    if (isLu && done)
      forEachNumber(transposed.outputs[1], [](int32_t &pivot) { ++pivot; });
    return done;
  }

private:
  /// Calls `use` for each number of an array.
  template <typename Use>
  static void forEachNumber(const LibraryOperand &array, const Use &use) {
    forEachIndex<1>(array.extent, {&array.strides},
                    [&](const std::array<int64_t, 1> &offsets) {
                      use(reinterpret_cast<int32_t *>(array.data)[offsets[0]]);
                    });
  }

  const std::unique_ptr<LibraryRoutine> routine;
  const size_t batchRank;
  const bool isLu, isSmallSvd;
};

} // namespace

/// Returns the function of the host for matrices of any size.
static std::string_view ofAnySize(std::string_view function) {
  constexpr std::string_view small = "small_";
  if (function.starts_with(small))
    function.remove_prefix(small.size());
  return function;
}

static RoutineOrError makeSolver(const LibraryStep &step) {
  if (step.inputs.empty() || step.outputs.empty() ||
      step.outputs.back()->type != DType::I32 ||
      step.inputs[0]->shape.size() != step.outputs.back()->shape.size() + 2)
    return Error("its operands do not fit");
  const size_t batchRank = step.outputs.back()->shape.size();
  LibraryStep decomposition = step;
  decomposition.outputs.pop_back();
  const std::string_view function =
      std::string_view(step.step.library).substr(prefix.size());
  if (function.ends_with("lu")) {
    if (step.inputs.size() != 2 || step.outputs.size() != 4)
      return Error("its operands do not fit");
    decomposition.inputs.pop_back();
  }
  std::vector<BufferDecl> matrices;
  matrices.reserve(step.inputs.size() + step.outputs.size());
  for (auto *buffers : {&decomposition.inputs, &decomposition.outputs})
    for (const BufferDecl *&buffer : *buffers)
      if (buffer->shape.size() == batchRank + 2) {
        buffer = &matrices.emplace_back(*buffer);
        std::swap(matrices.back().shape[batchRank],
                  matrices.back().shape[batchRank + 1]);
      }
  RoutineOrError routine =
      findLibraryFunction(ofAnySize(function))->make(decomposition);
  if (!routine)
    return routine.error();
  return routineOf(std::make_unique<SolverRoutine>(std::move(*routine),
                                                   batchRank, function));
}

namespace meshloom::library {
LibraryRows functionsOfSolverCalls() {
  static constexpr LibraryRow rows[] = {
      {"solver_cholesky", makeSolver},
      {"solver_lu", makeSolver},
      {"solver_geqrf", makeSolver},
      {"solver_householder_product", makeSolver},
      {"solver_eigh", makeSolver},
      {"solver_svd", makeSolver},
      {"solver_small_lu", makeSolver},
      {"solver_small_svd", makeSolver}};
  return rows;
}
} // namespace meshloom::library

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the arguments of a kernel, pointers and strides by loop, to boxes.
#include "LibraryCall.h"

#include "LibraryTable.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::library;

Result<std::shared_ptr<const LibraryCall>>
LibraryCall::make(const Program &program, const KernelStep &step,
                  KernelFunction scalar) {
  const LibraryRow *row = findLibraryFunction(step.library);
  if (!row)
    return Error(
        fmt::format("this build has no library function '{}'", step.library));
  for (const std::vector<Operand> *list : {&step.inputs, &step.outputs})
    for (const Operand &operand : *list)
      for (const DimAccess &dim : operand.dims)
        for (auto [loop, coefficient] : dim.terms)
          if (coefficient < 1)
            return Error(fmt::format("'{}' is called with an operand that runs "
                                     "backwards",
                                     step.library));
  auto call = std::make_shared<LibraryCall>();
  LibraryStep described{step, {}, {}, scalar, program.deterministic};
  call->loops = step.loops.size();
  unsigned next = 0;
  for (const Operand &input : step.inputs) {
    described.inputs.push_back(&program.buffers[input.buffer]);
    call->inputs.push_back({described.inputs.back(), next++, &input});
  }
  for (size_t o = 0; o < step.outputs.size(); ++o) {
    described.outputs.push_back(&program.buffers[step.outputs[o].buffer]);
    unsigned pointer =
        step.inPlace[o] >= 0 ? unsigned(step.inPlace[o]) : next++;
    call->outputs.push_back(
        {described.outputs.back(), pointer, &step.outputs[o]});
  }
  RoutineOrError routine = row->make(described);
  if (!routine)
    return routine.error().withMessage(
        fmt::format("'{}': {}", step.library, routine.error().message()));
  call->routine = std::move(*routine);
  return std::shared_ptr<const LibraryCall>(std::move(call));
}

LibraryOperand LibraryCall::box(const Source &source, void *const *operands,
                                const int64_t *strides, const int64_t *origin,
                                const int64_t *extents) const {
  const size_t rank = source.operand->dims.size();
  LibraryOperand result{
      source.decl->type, static_cast<char *>(operands[source.pointer]),
      Shape(rank),       Shape(rank, 1),
      Shape(rank, 0),    &source.decl->shape};
  const int64_t *operandStrides = strides + source.pointer * loops;
  for (size_t d = 0; d < rank; ++d) {
    const DimAccess &dim = source.operand->dims[d];
    result.offset[d] = dim.offset;
    for (auto [loop, coefficient] : dim.terms) {
      result.offset[d] += coefficient * origin[loop];
      result.extent[d] =
          extents[loop] <= 0 || result.extent[d] == 0
              ? 0
              : result.extent[d] + coefficient * (extents[loop] - 1);
      result.strides[d] = operandStrides[loop] / coefficient;
    }
  }
  return result;
}

Status LibraryCall::run(void *const *operands, const int64_t *strides,
                        const int64_t *origin, const int64_t *extents) const {
  LibraryArguments arguments{{}, {}, origin, extents};
  for (const Source &source : inputs)
    arguments.inputs.push_back(box(source, operands, strides, origin, extents));
  for (const Source &source : outputs)
    arguments.outputs.push_back(
        box(source, operands, strides, origin, extents));
  return routine->run(arguments);
}

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
          if (coefficient < 1 && !row->properties.runsBackwards)
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

void LibraryCall::box(const Source &source, void *const *operands,
                      const int64_t *strides, const int64_t *origin,
                      const int64_t *extents, LibraryOperand &result) const {
  const size_t rank = source.operand->dims.size();
  result.type = source.decl->type;
  result.data = static_cast<char *>(operands[source.pointer]);
  result.global = &source.decl->shape;
  result.offset.resize(rank);
  result.extent.assign(rank, 1);
  result.strides.assign(rank, 0);
  const int64_t *operandStrides = strides + source.pointer * loops;
  for (size_t d = 0; d < rank; ++d) {
    const DimAccess &dim = source.operand->dims[d];
    result.offset[d] = dim.offset;
    for (auto [loop, coefficient] : dim.terms) {
      result.offset[d] += coefficient * origin[loop];
      result.extent[d] =
          extents[loop] <= 0 || result.extent[d] == 0
              ? 0
              : result.extent[d] + std::abs(coefficient) * (extents[loop] - 1);
      result.strides[d] = operandStrides[loop] / coefficient;
    }
  }
}

Status LibraryCall::run(void *const *operands, const int64_t *strides,
                        const int64_t *origin, const int64_t *extents) const {
  // The memory of the thread's call before: one that is inside of another call
  // finds none.
  auto &before = threadLocal<LibraryArguments>();
  LibraryArguments arguments = std::move(before);
  arguments.origin = origin;
  arguments.extents = extents;
  auto boxAll = [&](const std::vector<Source> &sources,
                    std::vector<LibraryOperand> &boxes) {
    boxes.resize(sources.size());
    for (size_t i = 0; i < sources.size(); ++i)
      box(sources[i], operands, strides, origin, extents, boxes[i]);
  };
  boxAll(inputs, arguments.inputs);
  boxAll(outputs, arguments.outputs);
  Status status = routine->run(arguments);
  before = std::move(arguments);
  return status;
}

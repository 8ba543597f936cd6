// Where the elements of results are in the whole values.
#include "GivenResults.h"

#include "meshloom/Runtime/Plan/AgreedResults.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cpu;

uint64_t GivenResult::hash(const void *data, std::span<const int64_t> begin,
                           std::span<const int64_t> extent,
                           std::span<const int64_t> strides) const {
  int64_t element = first;
  for (size_t l = 0; l < steps.size(); ++l)
    element += begin[l] * steps[l];
  return plan::elementHash(
      {type, static_cast<const char *>(data), element, extent, strides, steps});
}

std::vector<unsigned> cpu::comparedSteps(const Program &program,
                                         const plan::MeshProcesses &processes) {
  std::vector<unsigned> compared;
  if (!processes.several())
    return compared;
  for (unsigned s = 0; s < program.steps.size(); ++s) {
    const auto *step = std::get_if<KernelStep>(&program.steps[s]);
    if (step && plan::givesFromOutside(*step) &&
        std::ranges::any_of(step->outputs, [&](const Operand &output) {
          return plan::isWholeInEach(program.buffers[output.buffer], processes);
        }))
      compared.push_back(s);
  }
  return compared;
}

std::vector<GivenResult>
cpu::givenResults(const Work &work, const Program &program,
                  const StepGraph &graph,
                  const plan::MeshProcesses &processes) {
  std::vector<GivenResult> results;
  for (unsigned a = 0; a < work.accesses.size(); ++a) {
    const Access &access = work.accesses[a];
    const GraphBuffer &buffer = graph.buffers[access.buffer];
    if (!access.writes ||
        !plan::isWholeInEach(program.buffers[buffer.decl], processes))
      continue;
    GivenResult result{a, buffer.type, 0,
                       std::vector<int64_t>(work.extents.size(), 0)};
    const Shape dimStrides = rowMajorStrides(buffer.shape);
    for (size_t d = 0; d < access.dims.size(); ++d) {
      result.first += dimStrides[d] * access.dims[d].offset;
      for (auto [loop, coefficient] : access.dims[d].terms)
        result.steps[loop] += dimStrides[d] * coefficient;
    }
    results.push_back(std::move(result));
  }
  return results;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads off steps what they compute and touch.
#include "meshloom/Runtime/Plan/StepProfile.h"

#include "meshloom/Runtime/Plan/Steps.h"

using namespace meshloom;
using namespace meshloom::plan;

namespace {
std::string kindOf(const Step &step) {
  if (auto *kernel = std::get_if<KernelStep>(&step))
    return kernel->library.empty() ? "kernel" : "library call";
  if (auto *collective = std::get_if<CollectiveStep>(&step))
    return std::string(name(collective->kind));
  if (std::holds_alternative<DotStep>(step))
    return "dot";
  return std::holds_alternative<LoopStep>(step) ? "loop" : "branch";
}

void addSteps(const std::vector<Step> &steps, ProfiledProgram &described) {
  for (const Step &step : steps) {
    auto *collective = std::get_if<CollectiveStep>(&step);
    described.steps.push_back(
        {kindOf(step), noteOf(step), collective ? collective->reason : ""});
    for (const std::vector<Step> *list : nestedLists(step))
      addSteps(*list, described);
  }
}

/// Loops that say what a device holds are none of iterations.
double iterations(std::span<const Loop> loops,
                  std::span<const int64_t> extents) {
  double product = 1;
  for (size_t l = 0; l < loops.size(); ++l)
    if (!loops[l].held)
      product *= double(extents[l]);
  return product;
}
} // namespace

ProfiledProgram plan::profiledProgram(const Program &program,
                                      std::string_view platform) {
  ProfiledProgram described{program.name, std::string(platform), program.mesh};
  described.steps.reserve(countSteps(program.steps));
  addSteps(program.steps, described);
  return described;
}

int64_t plan::flopsOf(const Step &step, std::span<const int64_t> extents) {
  const std::vector<Loop> *loops = loopsOf(step);
  if (!loops)
    return 0;
  const double part = iterations(*loops, extents);
  auto *kernel = std::get_if<KernelStep>(&step);
  if (!kernel)
    return int64_t(2 * part);
  if (kernel->library.empty())
    return int64_t(double(kernel->flops) * part);
  std::vector<int64_t> wholeExtents;
  wholeExtents.reserve(loops->size());
  for (const Loop &loop : *loops)
    wholeExtents.push_back(loop.extent);
  const double whole = iterations(*loops, wholeExtents);
  return whole > 0 ? int64_t(double(kernel->flops) * part / whole) : 0;
}

int64_t plan::touchedBytes(const Operand &operand, DType type,
                           std::span<const int64_t> extents) {
  int64_t elements = 1;
  for (const DimAccess &dim : operand.dims) {
    int64_t touched = 1;
    for (auto [loop, coefficient] : dim.terms)
      touched += std::abs(coefficient) * (extents[loop] - 1);
    elements *= std::max<int64_t>(0, touched);
  }
  return elements * int64_t(byteWidth(type));
}

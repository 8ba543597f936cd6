// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Renumbers the buffers of steps.
#include "meshloom/Runtime/Plan/SubProgram.h"

#include "StepBuffers.h"

#include <map>

using namespace meshloom;
using namespace meshloom::plan;

SubProgram plan::extract(const Program &outer, std::span<const Step> steps,
                         const std::set<unsigned> &results, unsigned firstId) {
  SubProgram sub{Program{.name = outer.name,
                         .mesh = outer.mesh,
                         .buffers = {},
                         .constants = {},
                         .arguments = {},
                         .results = {},
                         .steps = {}},
                 {},
                 {},
                 {}};
  std::map<unsigned, const ConstantData *> splats;
  for (const ConstantData &constant : outer.constants)
    if (constant.splat)
      splats[constant.buffer] = &constant;
  std::map<unsigned, unsigned> renumbered;
  auto number = [&](unsigned &buffer, bool written) {
    auto [entry, isNew] =
        renumbered.try_emplace(buffer, unsigned(sub.program.buffers.size()));
    if (isNew) {
      sub.program.buffers.push_back(outer.buffers[buffer]);
      if (auto splat = splats.find(buffer); splat != splats.end()) {
        sub.program.constants.push_back(*splat->second);
        sub.program.constants.back().buffer = entry->second;
      } else if (!written) {
        sub.program.arguments.push_back(
            {entry->second, outer.buffers[buffer].name});
        sub.arguments.push_back(buffer);
      }
    }
    buffer = entry->second;
  };
  for (const Step &step : steps) {
    sub.ids.push_back(firstId++);
    visitBuffers(sub.program.steps.emplace_back(step), number);
  }
  for (unsigned buffer : results) {
    sub.program.results.push_back(
        {renumbered.at(buffer), -1, outer.buffers[buffer].name});
    sub.results.push_back(buffer);
  }
  return sub;
}

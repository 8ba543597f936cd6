// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "GraphValues.h"

#include <algorithm>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

GraphValues::GraphValues(const Program &program, const StepGraph &graph)
    : writers(graph.buffers.size()), readers(graph.buffers.size()),
      numDeclared(unsigned(program.buffers.size())) {
  for (unsigned buffer = 0; buffer < graph.buffers.size(); ++buffer)
    values.push_back(buffer);
  for (unsigned action = 0; action < graph.works.size(); ++action)
    for (const Access &access : graph.works[action].accesses)
      if (access.writes)
        writers[writtenBuffer(access)] = action;
  for (const Step &step : program.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (auto [from, to] : collective->moves)
        if (!writers[to])
          values[to] = values[from];
  for (unsigned action = 0; action < graph.works.size(); ++action)
    for (const Access &access : graph.works[action].accesses)
      if (access.reads)
        readers[values[access.buffer]].push_back(action);
  for (const ProgramResult &result : program.results)
    readers[values[result.buffer]].push_back(unsigned(graph.works.size()));
}

/// Returns whether a path of edges leads from one of the actions to another one
/// by way of others.
static bool isBetween(const std::vector<std::vector<unsigned>> &successors,
                      std::span<const unsigned> actions) {
  std::vector<bool> isMember(successors.size()), seen(successors.size());
  for (unsigned action : actions)
    isMember[action] = true;
  std::vector<unsigned> waiting;
  for (unsigned action : actions)
    for (unsigned next : successors[action])
      if (!isMember[next] && !seen[next]) {
        seen[next] = true;
        waiting.push_back(next);
      }
  while (!waiting.empty()) {
    const unsigned action = waiting.back();
    waiting.pop_back();
    for (unsigned next : successors[action]) {
      if (isMember[next])
        return true;
      if (!seen[next])
        waiting.push_back(next);
      seen[next] = true;
    }
  }
  return false;
}

bool ActionJoiner::join(std::span<const unsigned> actions, unsigned into) {
  if (isBetween(successors, actions))
    return false;
  auto isJoined = [&](unsigned action) {
    return std::ranges::count(actions, action) != 0;
  };
  std::vector<unsigned> later;
  for (unsigned action : actions)
    for (unsigned next : std::exchange(successors[action], {}))
      if (!isJoined(next))
        later.push_back(next);
  for (std::vector<unsigned> &list : successors)
    for (unsigned &next : list)
      if (isJoined(next))
        next = into;
  successors[into] = std::move(later);
  return true;
}

void ActionJoiner::finish() {
  plan.successors = std::move(successors);
  std::ranges::fill(plan.numPredecessors, 0);
  for (const std::vector<unsigned> &list : plan.successors)
    for (unsigned next : list)
      ++plan.numPredecessors[next];
}

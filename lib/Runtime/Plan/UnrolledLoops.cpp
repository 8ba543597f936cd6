// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "UnrolledLoops.h"

#include "StepBuffers.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace meshloom;
using namespace meshloom::plan;

int64_t plan::staticTurns(const LoopStep &loop) {
  auto callsLibrary = [](const Step &step) {
    auto *kernel = std::get_if<KernelStep>(&step);
    return isControl(step) || (kernel && !kernel->library.empty());
  };
  return std::ranges::any_of(loop.condition, callsLibrary) ? -1
                                                           : loop.tripCount;
}

namespace {

/// The buffers that have the values of others now.
using Names = std::map<unsigned, unsigned>;

unsigned nameOf(const Names &names, unsigned buffer) {
  const auto found = names.find(buffer);
  return found == names.end() ? buffer : found->second;
}

class Unroller {
public:
  Unroller(Program outer, int64_t mostSteps)
      : program(std::move(outer)), mostSteps(mostSteps) {}

  Program run() {
    const std::vector<Step> steps = std::move(program.steps);
    program.steps.clear();
    const Names names = add(steps, {}, program.steps);
    for (ProgramResult &result : program.results)
      result.buffer = nameOf(names, result.buffer);
    return std::move(program);
  }

private:
  /// Adds `steps` to a list; returns the names at its end.
  Names add(const std::vector<Step> &steps, Names names,
            std::vector<Step> &list);
  void addStraight(Step step, Names &names, bool isInTurn,
                   std::vector<Step> &list);
  void addTurns(const LoopStep &loop, Names &names, std::vector<Step> &list);
  void addControl(const LoopStep &loop, const Names &names,
                  std::vector<Step> &list);
  void addControl(const BranchStep &branch, const Names &names,
                  std::vector<Step> &list);

  Program program;
  const int64_t mostSteps;
};

} // namespace

/// How many steps a step is once its loops are written out; nothing where some
/// loop or branch stays, or where there are more than `most`.
static std::optional<int64_t> countUnrolled(const Step &step, int64_t most) {
  if (!isControl(step))
    return 1;
  auto *loop = std::get_if<LoopStep>(&step);
  const int64_t turns = loop ? staticTurns(*loop) : -1;
  if (turns < 0)
    return std::nullopt;
  int64_t once = 0;
  for (const Step &inner : loop->body) {
    const auto count = countUnrolled(inner, most);
    if (!count || (once += *count) > most)
      return std::nullopt;
  }
  if (once > 0 && turns > most / once)
    return std::nullopt;
  return once * turns;
}

Names Unroller::add(const std::vector<Step> &steps, Names names,
                    std::vector<Step> &list) {
  for (const Step &step : steps) {
    auto *loop = std::get_if<LoopStep>(&step);
    if (loop && countUnrolled(step, mostSteps))
      addTurns(*loop, names, list);
    else if (loop)
      addControl(*loop, names, list);
    else if (auto *branch = std::get_if<BranchStep>(&step))
      addControl(*branch, names, list);
    else
      addStraight(step, names, /*isInTurn=*/false, list);
  }
  return names;
}

/// A step writes to a buffer of its own in each turn.
void Unroller::addStraight(Step step, Names &names, bool isInTurn,
                           std::vector<Step> &list) {
  // A step reads what the names are before it.
  std::vector<std::pair<unsigned, unsigned>> written;
  visitBuffers(step, [&](unsigned &buffer, bool isWritten) {
    const unsigned old = buffer;
    if (!isWritten) {
      buffer = nameOf(names, old);
    } else if (isInTurn) {
      buffer = unsigned(program.buffers.size());
      program.buffers.push_back(BufferDecl(program.buffers[old]));
      written.emplace_back(old, buffer);
    }
  });
  for (auto [old, buffer] : written)
    names[old] = buffer;
  list.push_back(std::move(step));
}

void Unroller::addTurns(const LoopStep &loop, Names &names,
                        std::vector<Step> &list) {
  std::vector<unsigned> carried;
  carried.reserve(loop.carried.size());
  for (const LoopStep::Carry &carry : loop.carried)
    carried.push_back(nameOf(names, carry.init));
  for (int64_t turn = 0; turn < loop.tripCount; ++turn) {
    Names inTurn = names;
    for (size_t c = 0; c < carried.size(); ++c)
      inTurn[loop.carried[c].argument] = carried[c];
    for (const Step &step : loop.body)
      if (auto *inner = std::get_if<LoopStep>(&step))
        addTurns(*inner, inTurn, list);
      else
        addStraight(step, inTurn, /*isInTurn=*/true, list);
    for (size_t c = 0; c < carried.size(); ++c)
      carried[c] = nameOf(inTurn, loop.carried[c].next);
  }
  for (size_t c = 0; c < carried.size(); ++c)
    names[loop.carried[c].result] = carried[c];
}

void Unroller::addControl(const LoopStep &loop, const Names &names,
                          std::vector<Step> &list) {
  LoopStep copy = loop;
  copy.condition.clear();
  copy.body.clear();
  copy.predicate =
      nameOf(add(loop.condition, names, copy.condition), loop.predicate);
  const Names atEnd = add(loop.body, names, copy.body);
  for (LoopStep::Carry &carry : copy.carried) {
    carry.init = nameOf(names, carry.init);
    carry.next = nameOf(atEnd, carry.next);
  }
  list.emplace_back(std::move(copy));
}

void Unroller::addControl(const BranchStep &branch, const Names &names,
                          std::vector<Step> &list) {
  BranchStep copy = branch;
  copy.index = nameOf(names, branch.index);
  for (size_t b = 0; b < branch.branches.size(); ++b) {
    copy.branches[b].clear();
    const Names atEnd = add(branch.branches[b], names, copy.branches[b]);
    for (BranchStep::Output &output : copy.outputs)
      output.values[b] = nameOf(atEnd, output.values[b]);
  }
  list.emplace_back(std::move(copy));
}

Program plan::unrollLoops(const Program &program, int64_t mostSteps) {
  return Unroller(program, mostSteps).run();
}

// Reads, writes and renumbers the buffers of steps.
#include "SubProgram.h"

#include <map>

using namespace meshloom;
using namespace meshloom::cpu;

bool cpu::isControl(const Step &step) {
  return std::holds_alternative<LoopStep>(step) ||
         std::holds_alternative<BranchStep>(step);
}

namespace {
/// Calls `visit(buffer, written)` for each buffer of a step that is not
/// control; `buffer` may be changed.
template <typename S, typename F> void visitBuffers(S &step, F &&visit) {
  if (auto *kernel = std::get_if<KernelStep>(&step)) {
    for (auto &input : kernel->inputs)
      visit(input.buffer, false);
    for (auto &output : kernel->outputs)
      visit(output.buffer, true);
  } else if (auto *dot = std::get_if<DotStep>(&step)) {
    visit(dot->lhs.buffer, false);
    visit(dot->rhs.buffer, false);
    visit(dot->out.buffer, true);
  } else if (auto *collective = std::get_if<CollectiveStep>(&step)) {
    for (auto &move : collective->moves) {
      visit(move.from, false);
      visit(move.to, true);
    }
  }
}

/// Adds what a list inside a step reads from outside of it.
void addOuterReads(const std::vector<Step> &steps,
                   const std::vector<unsigned> &outputs, std::set<unsigned> own,
                   std::set<unsigned> &reads) {
  auto read = [&](unsigned buffer) {
    if (!own.contains(buffer))
      reads.insert(buffer);
  };
  for (const Step &step : steps) {
    StepUses uses = usesOf(step);
    for (unsigned buffer : uses.reads)
      read(buffer);
    own.insert(uses.writes.begin(), uses.writes.end());
  }
  for (unsigned buffer : outputs)
    read(buffer);
}
} // namespace

StepUses cpu::usesOf(const Step &step) {
  StepUses uses;
  if (auto *loop = std::get_if<LoopStep>(&step)) {
    std::set<unsigned> arguments;
    std::vector<unsigned> next;
    for (const LoopStep::Carry &carry : loop->carried) {
      uses.reads.insert(carry.init);
      uses.writes.insert(carry.result);
      arguments.insert(carry.argument);
      next.push_back(carry.next);
    }
    addOuterReads(loop->condition, {loop->predicate}, arguments, uses.reads);
    addOuterReads(loop->body, next, arguments, uses.reads);
  } else if (auto *branch = std::get_if<BranchStep>(&step)) {
    uses.reads.insert(branch->index);
    for (size_t b = 0; b < branch->branches.size(); ++b) {
      std::vector<unsigned> values;
      values.reserve(branch->outputs.size());
      for (const BranchStep::Output &output : branch->outputs)
        values.push_back(output.values[b]);
      addOuterReads(branch->branches[b], values, {}, uses.reads);
    }
    for (const BranchStep::Output &output : branch->outputs)
      uses.writes.insert(output.result);
  } else {
    visitBuffers(step, [&](unsigned buffer, bool written) {
      (written ? uses.writes : uses.reads).insert(buffer);
    });
  }
  return uses;
}

SubProgram cpu::extract(const Program &outer, std::span<const Step> steps,
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

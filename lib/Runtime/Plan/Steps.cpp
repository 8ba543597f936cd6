// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads steps of all kinds alike.
#include "meshloom/Runtime/Plan/Steps.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plan;

const std::vector<Loop> *plan::loopsOf(const Step &step) {
  if (auto *kernel = std::get_if<KernelStep>(&step))
    return &kernel->loops;
  if (auto *dot = std::get_if<DotStep>(&step))
    return &dot->loops;
  return nullptr;
}

std::vector<const Operand *> plan::inputsOf(const Step &step) {
  std::vector<const Operand *> operands;
  if (auto *kernel = std::get_if<KernelStep>(&step))
    for (const Operand &operand : kernel->inputs)
      operands.push_back(&operand);
  if (auto *dot = std::get_if<DotStep>(&step))
    operands = {&dot->lhs, &dot->rhs};
  return operands;
}

std::vector<const Operand *> plan::outputsOf(const Step &step) {
  std::vector<const Operand *> operands;
  if (auto *kernel = std::get_if<KernelStep>(&step))
    for (const Operand &operand : kernel->outputs)
      operands.push_back(&operand);
  if (auto *dot = std::get_if<DotStep>(&step))
    operands = {&dot->out};
  return operands;
}

const SourceNote &plan::noteOf(const Step &step) {
  return std::visit([](auto &s) -> const SourceNote & { return s.note; }, step);
}

std::string plan::describe(const Program &program, unsigned step) {
  const SourceNote &note = noteOf(program.steps[step]);
  return fmt::format(
      "{}{}in '{}': ", note.location, note.location.empty() ? "" : ": ",
      note.op.empty() ? "step " + std::to_string(step) : note.op);
}

bool plan::isControl(const Step &step) {
  return std::holds_alternative<LoopStep>(step) ||
         std::holds_alternative<BranchStep>(step);
}

namespace {
/// Adds what a list inside a step reads from outside of it.
void addOuterReads(const std::vector<Step> &steps,
                   const std::vector<unsigned> &outputs,
                   std::set<unsigned> defined, std::set<unsigned> &reads) {
  auto read = [&](unsigned buffer) {
    if (!defined.contains(buffer))
      reads.insert(buffer);
  };
  for (const Step &step : steps) {
    StepUses uses = usesOf(step);
    for (unsigned buffer : uses.reads)
      read(buffer);
    defined.insert(uses.writes.begin(), uses.writes.end());
  }
  for (unsigned buffer : outputs)
    read(buffer);
}
} // namespace

StepUses plan::usesOf(const Step &step) {
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
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (const CollectiveStep::Move &move : collective->moves) {
        uses.reads.insert(move.from);
        uses.writes.insert(move.to);
      }
    for (const Operand *operand : inputsOf(step))
      uses.reads.insert(operand->buffer);
    for (const Operand *operand : outputsOf(step))
      uses.writes.insert(operand->buffer);
  }
  return uses;
}

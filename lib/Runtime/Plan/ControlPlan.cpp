// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cuts lists of steps at their loops and branches.
#include "meshloom/Runtime/Plan/ControlPlan.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
/// Adds the buffers that control steps hand around as values.
void addHanded(const std::vector<Step> &steps, std::set<unsigned> &handed) {
  for (const Step &step : steps) {
    if (auto *loop = std::get_if<LoopStep>(&step)) {
      handed.insert(loop->predicate);
      for (const LoopStep::Carry &carry : loop->carried)
        handed.insert({carry.init, carry.next});
    } else if (auto *branch = std::get_if<BranchStep>(&step)) {
      handed.insert(branch->index);
      for (const BranchStep::Output &output : branch->outputs)
        handed.insert(output.values.begin(), output.values.end());
    }
    for (const std::vector<Step> *list : nestedLists(step))
      addHanded(*list, handed);
  }
}

/// Returns the constants that are not splats, and those that are values by
/// themselves.
std::vector<unsigned> constantsBetween(const Program &program) {
  std::set<unsigned> handed;
  addHanded(program.steps, handed);
  for (const ProgramResult &result : program.results)
    handed.insert(result.buffer);
  std::vector<unsigned> constants;
  for (unsigned c = 0; c < program.constants.size(); ++c)
    if (const ConstantData &constant = program.constants[c];
        !constant.splat || handed.contains(constant.buffer))
      constants.push_back(c);
  return constants;
}

/// A loop or branch, or a run of steps without them.
struct Span {
  size_t begin, end;
  unsigned id;
  StepUses uses;
};

std::vector<Span> spansOf(std::span<const Step> steps, unsigned firstId) {
  std::vector<Span> spans;
  for (size_t s = 0; s < steps.size(); ++s) {
    const bool control = isControl(steps[s]);
    if (control || spans.empty() || isControl(steps[spans.back().begin]))
      spans.push_back({s, s, firstId, {}});
    Span &span = spans.back();
    span.end = s + 1;
    StepUses uses = usesOf(steps[s]);
    for (unsigned buffer : uses.reads)
      if (!span.uses.writes.contains(buffer))
        span.uses.reads.insert(buffer);
    span.uses.writes.insert(uses.writes.begin(), uses.writes.end());
    ++firstId;
    for (const std::vector<Step> *inner : nestedLists(steps[s]))
      firstId += countSteps(*inner);
  }
  return spans;
}

/// The buffers that the regions of a step read from outside of them. Values
/// that only start a loop are not among them.
std::set<unsigned> readInside(const Step &step) {
  auto *loop = std::get_if<LoopStep>(&step);
  if (!loop)
    return {};
  LoopStep without = *loop;
  without.carried.clear();
  for (const LoopStep::Carry &carry : loop->carried)
    without.carried.push_back(
        {carry.argument, carry.argument, carry.next, carry.result});
  return usesOf(Step(std::move(without))).reads;
}

class ControlPlanner {
public:
  explicit ControlPlanner(const Program &program) : program(program) {}

  /// `defined`: what the list may give away, besides what it defines.
  /// `outputs`: what is needed when it is over.
  ControlList planList(std::span<const Step> steps, unsigned firstId,
                       std::set<unsigned> defined,
                       const std::vector<unsigned> &outputs);

  ControlPlan plan;

private:
  ControlItem planStep(const Step &step, unsigned id);

  const Program &program;
};

ControlItem ControlPlanner::planStep(const Step &step, unsigned id) {
  if (auto *loop = std::get_if<LoopStep>(&step)) {
    ControlLoop planned{loop, id, {}};
    std::set<unsigned> arguments;
    std::vector<unsigned> next;
    for (const LoopStep::Carry &carry : loop->carried) {
      arguments.insert(carry.argument);
      next.push_back(carry.next);
    }
    // The body needs the arguments after the condition.
    planned.lists.push_back(
        planList(loop->condition, id + 1, {}, {loop->predicate}));
    planned.lists.push_back(planList(loop->body,
                                     id + 1 + countSteps(loop->condition),
                                     std::move(arguments), next));
    return ControlItem{std::move(planned)};
  }
  const BranchStep &branch = std::get<BranchStep>(step);
  ControlBranch planned{&branch, id, {}};
  ++id;
  for (size_t b = 0; b < branch.branches.size(); ++b) {
    std::vector<unsigned> values;
    values.reserve(branch.outputs.size());
    for (const BranchStep::Output &output : branch.outputs)
      values.push_back(output.values[b]);
    planned.branches.push_back(planList(branch.branches[b], id, {}, values));
    id += countSteps(branch.branches[b]);
  }
  return ControlItem{std::move(planned)};
}

ControlList ControlPlanner::planList(std::span<const Step> steps,
                                     unsigned firstId,
                                     std::set<unsigned> defined,
                                     const std::vector<unsigned> &outputs) {
  const std::vector<Span> spans = spansOf(steps, firstId);
  // The buffers that are read after each span.
  std::vector<std::set<unsigned>> after(spans.size());
  std::set<unsigned> needed(outputs.begin(), outputs.end());
  for (size_t i = spans.size(); i-- > 0;) {
    after[i] = needed;
    needed.insert(spans[i].uses.reads.begin(), spans[i].uses.reads.end());
  }

  ControlList list;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span &span = spans[i];
    const bool control = isControl(steps[span.begin]);
    if (control) {
      list.items.push_back(planStep(steps[span.begin], span.id));
    } else {
      std::set<unsigned> results;
      for (unsigned buffer : span.uses.writes)
        if (after[i].contains(buffer))
          results.insert(buffer);
      list.items.push_back({ControlPiece{unsigned(plan.pieces.size())}});
      plan.pieces.push_back(
          extract(program, steps.subspan(span.begin, span.end - span.begin),
                  results, span.id));
    }
    ControlItem &item = list.items.back();
    defined.insert(span.uses.writes.begin(), span.uses.writes.end());
    std::set<unsigned> touched = span.uses.reads;
    touched.insert(span.uses.writes.begin(), span.uses.writes.end());
    // Values that the regions use stay until the end; values that only start a
    // loop go.
    const std::set<unsigned> inside =
        control ? readInside(steps[span.begin]) : std::set<unsigned>();
    for (unsigned buffer : touched) {
      if (!defined.contains(buffer) || after[i].contains(buffer))
        continue;
      bool start = span.uses.reads.contains(buffer) &&
                   std::holds_alternative<ControlLoop>(item.work) &&
                   !inside.contains(buffer);
      (start ? item.dropAtStart : item.dropAtEnd).push_back(buffer);
    }
  }
  return list;
}

using Moment = std::function<void(const std::vector<unsigned> &live,
                                  const ControlItem &item)>;

/// Values that a list adds live on in `live`, a copy for lists inside others.
void visitMoments(const ControlPlan &plan, const ControlList &list,
                  std::vector<unsigned> live, const Moment &moment) {
  auto drop = [&](const std::vector<unsigned> &buffers) {
    for (unsigned buffer : buffers)
      if (auto found = std::ranges::find(live, buffer); found != live.end())
        live.erase(found);
  };
  for (const ControlItem &item : list.items) {
    auto *loop = std::get_if<ControlLoop>(&item.work);
    std::vector<unsigned> carried;
    if (loop) {
      for (const LoopStep::Carry &carry : loop->step->carried)
        carried.push_back(carry.argument);
      live.insert(live.end(), carried.begin(), carried.end());
      moment(live, item);
      drop(item.dropAtStart);
    }
    for (const ControlList &inner : listsOf(item))
      visitMoments(plan, inner, live, moment);
    drop(carried);
    plan.forEachResult(item, [&](unsigned buffer) { live.push_back(buffer); });
    if (!loop)
      moment(live, item);
    drop(item.dropAtEnd);
  }
}
} // namespace

std::span<const ControlList> plan::listsOf(const ControlItem &item) {
  if (auto *loop = std::get_if<ControlLoop>(&item.work))
    return loop->lists;
  if (auto *branch = std::get_if<ControlBranch>(&item.work))
    return branch->branches;
  return {};
}

ControlPlan plan::planControl(const Program &program) {
  ControlPlanner planner(program);
  std::set<unsigned> defined;
  for (const Argument &argument : program.arguments)
    defined.insert(argument.buffer);
  std::vector<unsigned> results;
  results.reserve(program.results.size());
  for (const ProgramResult &result : program.results)
    results.push_back(result.buffer);
  ControlList list =
      planner.planList(program.steps, 0, std::move(defined), results);
  planner.plan.list = std::move(list);
  planner.plan.constants = constantsBetween(program);
  return std::move(planner.plan);
}

void ControlPlan::forEachMoment(const Program &program,
                                const Moment &moment) const {
  std::vector<unsigned> live;
  live.reserve(constants.size() + program.arguments.size());
  for (unsigned constant : constants)
    live.push_back(program.constants[constant].buffer);
  for (const Argument &argument : program.arguments)
    live.push_back(argument.buffer);
  visitMoments(*this, list, live, moment);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Program with loops and branches: runs of steps without them are executables
// of their own, which the backend makes, and this one says which runs next.
//
// Values that go from one to another are arrays, with reference counts. That is
// what keeps every value alive for exactly as long as something needs it: a
// carried value is handed to the body with its only reference, so that the
// body may update it in place; one that something else still refers to (an init
// that is used after the loop, two carried values that swap places) is copied
// by the update, as any argument is that the caller keeps.
#include "SubProgram.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/Load.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <optional>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
struct List;

/// Steps that run one after the other.
struct Piece {
  std::shared_ptr<StraightExecutable> part;
  std::vector<unsigned> arguments, results; ///< buffers
  std::vector<unsigned> ids;                ///< of its steps
};

struct LoopPlan {
  const LoopStep *step;
  unsigned id;             ///< of the step
  std::vector<List> lists; ///< condition, body
  /// Where processes must go on together though each of them knows its own
  /// predicate only.
  bool agrees = false;
};

struct BranchPlan {
  const BranchStep *step;
  unsigned id; ///< of the step
  std::vector<List> branches;
};

struct Item {
  std::variant<Piece, LoopPlan, BranchPlan> work;
  /// Buffers of the list that nothing needs once the item has begun (a loop's
  /// inits), and once it is over.
  std::vector<unsigned> dropAtStart = {}, dropAtEnd = {};
};

struct List {
  std::vector<Item> items;
};

class ControlExecutable : public PlanExecutable {
public:
  using PlanExecutable::PlanExecutable;
  Status plan(const LoadStraight &straight);
  int64_t cores() const override { return mostCores; }
  bool exchanges() const override { return exchanges(list); }

private:
  using Values = std::vector<Array>; ///< per buffer
  Result<std::vector<Array>> run(std::vector<Array> &&arguments) override;
  Result<List> planList(std::span<const Step> steps, unsigned firstId,
                        std::set<unsigned> defined,
                        const std::vector<unsigned> &outputs);
  Result<Item> planControl(const Step &step, unsigned id);
  Status makeConstants();
  Status countMemory();
  int64_t bytesOf(const std::vector<unsigned> &buffers) const;
  int64_t peakOf(const List &list) const;

  bool exchanges(const List &list) const;
  Result<bool> goesOn(const LoopPlan &loop, const Array &predicate) const;
  void giveBack(Values &values, std::vector<Array> &arguments) const;
  static void forgetResults(const List &list, Values &values);
  Status run(List &list, Values &values);
  Status run(const Piece &piece, const Item &item, Values &values);
  Status run(LoopPlan &loop, const Item &item, Values &values);
  Status run(BranchPlan &branch, const Item &item, Values &values);
  Result<int32_t> scalar(const Array &array) const;
  Result<bool> onAnyDevice(const Array &predicate) const;

  const LoadStraight *straight = nullptr; ///< while planning
  List list;
  std::vector<std::pair<unsigned, Array>> constants;
  /// The pieces of all lists; one runs at a time, so that they share scratch
  /// memory.
  std::vector<StraightExecutable *> pieces;
  int64_t scratchBytes = 0; ///< that they share, on all devices
  int64_t keptBytes = 0;    ///< that each keeps for itself, all together
  int64_t mostCores = 1;    ///< of all pieces
  std::vector<CollectiveRecord> sent; ///< in the run that is going on
};

Status ControlExecutable::plan(const LoadStraight &loadStraight) {
  straight = &loadStraight;
  std::set<unsigned> defined;
  for (const Argument &argument : loaded.arguments)
    defined.insert(argument.buffer);
  std::vector<unsigned> results;
  results.reserve(loaded.results.size());
  for (const ProgramResult &result : loaded.results)
    results.push_back(result.buffer);
  Result<List> planned = planList(loaded.steps, 0, std::move(defined), results);
  straight = nullptr;
  if (!planned)
    return planned.error();
  list = std::move(*planned);
  if (Status ok = makeConstants(); !ok)
    return ok;
  return countMemory();
}

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

/// Makes the constants that are not splats, and those that are values by
/// themselves: pieces have the other splats.
Status ControlExecutable::makeConstants() {
  std::set<unsigned> handed;
  addHanded(loaded.steps, handed);
  for (const ProgramResult &result : loaded.results)
    handed.insert(result.buffer);
  for (const ConstantData &constant : loaded.constants) {
    if (constant.splat && !handed.contains(constant.buffer))
      continue;
    Result<Array> array = constantArray(constant);
    if (!array)
      return array.error();
    constants.emplace_back(constant.buffer, std::move(*array));
  }
  return Success();
}

Result<Item> ControlExecutable::planControl(const Step &step, unsigned id) {
  if (auto *loop = std::get_if<LoopStep>(&step)) {
    LoopPlan plan{loop, id, {}};
    std::set<unsigned> arguments;
    std::vector<unsigned> next;
    for (const LoopStep::Carry &carry : loop->carried) {
      arguments.insert(carry.argument);
      next.push_back(carry.next);
    }
    // The body needs the arguments after the condition.
    Result<List> condition =
        planList(loop->condition, id + 1, {}, {loop->predicate});
    if (!condition)
      return condition.error();
    Result<List> body =
        planList(loop->body, id + 1 + countSteps(loop->condition),
                 std::move(arguments), next);
    if (!body)
      return body.error();
    plan.lists.push_back(std::move(*condition));
    plan.lists.push_back(std::move(*body));
    plan.agrees = loaded.buffers[loop->predicate].layout.is_partial() &&
                  std::ranges::any_of(plan.lists, [this](const List &list) {
                    return exchanges(list);
                  });
    return Item{std::move(plan)};
  }
  const BranchStep &branch = std::get<BranchStep>(step);
  BranchPlan plan{&branch, id, {}};
  ++id;
  for (size_t b = 0; b < branch.branches.size(); ++b) {
    std::vector<unsigned> values;
    values.reserve(branch.outputs.size());
    for (const BranchStep::Output &output : branch.outputs)
      values.push_back(output.values[b]);
    Result<List> branchList = planList(branch.branches[b], id, {}, values);
    if (!branchList)
      return branchList.error();
    plan.branches.push_back(std::move(*branchList));
    id += countSteps(branch.branches[b]);
  }
  return Item{std::move(plan)};
}

/// `defined`: what the list may give away, besides what it defines. `outputs`:
/// what is needed when it is over.
Result<List> ControlExecutable::planList(std::span<const Step> steps,
                                         unsigned firstId,
                                         std::set<unsigned> defined,
                                         const std::vector<unsigned> &outputs) {
  // Runs of steps, and what is read after each.
  struct Span {
    size_t begin, end;
    unsigned id;
    StepUses uses;
  };
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
  std::vector<std::set<unsigned>> after(spans.size());
  std::set<unsigned> needed(outputs.begin(), outputs.end());
  for (size_t i = spans.size(); i-- > 0;) {
    after[i] = needed;
    needed.insert(spans[i].uses.reads.begin(), spans[i].uses.reads.end());
  }

  List list;
  for (size_t i = 0; i < spans.size(); ++i) {
    const Span &span = spans[i];
    if (isControl(steps[span.begin])) {
      Result<Item> item = planControl(steps[span.begin], span.id);
      if (!item)
        return item.error();
      list.items.push_back(std::move(*item));
    } else {
      std::set<unsigned> results;
      for (unsigned buffer : span.uses.writes)
        if (after[i].contains(buffer))
          results.insert(buffer);
      SubProgram sub =
          extract(loaded, steps.subspan(span.begin, span.end - span.begin),
                  results, span.id);
      auto part = (*straight)({Compiled(std::move(sub.program)), assignment()});
      if (!part)
        return part.error();
      const int64_t passed = bytesOf(sub.arguments) + bytesOf(sub.results) +
                             (*part)->scratchBytes();
      const int64_t peak = (*part)->statistics().peakBytes;
      keptBytes += std::max<int64_t>(0, peak - passed);
      scratchBytes = (*part)->shareScratch(pieces);
      pieces.push_back(part->get());
      mostCores = std::max(mostCores, (*part)->cores());
      list.items.push_back({Piece{std::move(*part), std::move(sub.arguments),
                                  std::move(sub.results), std::move(sub.ids)}});
    }
    Item &item = list.items.back();
    defined.insert(span.uses.writes.begin(), span.uses.writes.end());
    std::set<unsigned> touched = span.uses.reads;
    touched.insert(span.uses.writes.begin(), span.uses.writes.end());
    // Values that the regions use stay until the end; values that only start a
    // loop go.
    std::set<unsigned> inside;
    if (auto *loop = std::get_if<LoopStep>(&steps[span.begin])) {
      LoopStep without = *loop;
      without.carried.clear();
      for (const LoopStep::Carry &carry : loop->carried)
        without.carried.push_back(
            {carry.argument, carry.argument, carry.next, carry.result});
      inside = usesOf(Step(std::move(without))).reads;
    }
    for (unsigned buffer : touched) {
      if (!defined.contains(buffer) || after[i].contains(buffer))
        continue;
      bool start = span.uses.reads.contains(buffer) &&
                   std::holds_alternative<LoopPlan>(item.work) &&
                   !inside.contains(buffer);
      (start ? item.dropAtStart : item.dropAtEnd).push_back(buffer);
    }
  }
  return list;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t ControlExecutable::bytesOf(const std::vector<unsigned> &buffers) const {
  int64_t bytes = 0;
  for (unsigned buffer : buffers)
    bytes += device->blockBytes(typeOf(buffer));
  return bytes * int64_t(device->slots(mesh()));
}

/// Most bytes of values that a list adds to what is there when it begins.
int64_t ControlExecutable::peakOf(const List &list) const {
  int64_t now = 0, peak = 0;
  for (const Item &item : list.items) {
    if (auto *piece = std::get_if<Piece>(&item.work)) {
      now += bytesOf(piece->results);
      peak = std::max(peak, now);
    } else if (auto *loop = std::get_if<LoopPlan>(&item.work)) {
      std::vector<unsigned> carried;
      carried.reserve(loop->step->carried.size());
      for (const LoopStep::Carry &carry : loop->step->carried)
        carried.push_back(carry.argument);
      now += bytesOf(carried);
      peak = std::max(peak, now);
      now -= bytesOf(item.dropAtStart);
      for (const List &inner : loop->lists)
        peak = std::max(peak, now + peakOf(inner));
    } else {
      const BranchPlan &branch = std::get<BranchPlan>(item.work);
      for (const List &inner : branch.branches)
        peak = std::max(peak, now + peakOf(inner));
      std::vector<unsigned> results;
      results.reserve(branch.step->outputs.size());
      for (const BranchStep::Output &output : branch.step->outputs)
        results.push_back(output.result);
      now += bytesOf(results);
      peak = std::max(peak, now);
    }
    now -= bytesOf(item.dropAtEnd);
  }
  return peak;
}

Status ControlExecutable::countMemory() {
  std::vector<unsigned> always;
  always.reserve(constants.size() + loaded.arguments.size());
  for (const auto &[buffer, array] : constants)
    always.push_back(buffer);
  for (const Argument &argument : loaded.arguments)
    always.push_back(argument.buffer);
  return PlanExecutable::countMemory(
      keptBytes + scratchBytes + bytesOf(always) + peakOf(list), "", "");
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The element of a replicated scalar.
Result<int32_t> ControlExecutable::scalar(const Array &array) const {
  int32_t value = 0;
  const auto view = device->read(0, BlockBuffer::of(array)[0], sizeof(value));
  if (!view)
    return view.error();
  std::memcpy(&value, view->get(), sizeof(value));
  return value;
}

/// Returns whether a predicate is true on any device. Shared memory has all
/// addends in one block.
Result<bool> ControlExecutable::onAnyDevice(const Array &predicate) const {
  const std::vector<Block> &blocks = BlockBuffer::of(predicate);
  const int64_t byteCount = device->blockBytes(predicate.type());
  for (size_t slot = 0; slot < blocks.size(); ++slot) {
    const auto flags = device->read(slot, blocks[slot], byteCount);
    if (!flags)
      return flags.error();
    if (std::any_of(flags->get(), flags->get() + byteCount,
                    [](char flag) { return flag != 0; }))
      return true;
  }
  return false;
}

bool ControlExecutable::exchanges(const List &list) const {
  return std::ranges::any_of(list.items, [this](const Item &item) {
    if (auto *piece = std::get_if<Piece>(&item.work))
      return piece->part->exchanges();
    auto *loop = std::get_if<LoopPlan>(&item.work);
    return std::ranges::any_of(
        loop ? loop->lists : std::get<BranchPlan>(item.work).branches,
        [this](const List &inner) { return exchanges(inner); });
  });
}

/// Returns whether there is a next iteration: on any device here or, where
/// processes must agree, in any of them.
Result<bool> ControlExecutable::goesOn(const LoopPlan &loop,
                                       const Array &predicate) const {
  Result<bool> here = onAnyDevice(predicate);
  if (!here || !loop.agrees)
    return here;
  int32_t any = *here;
  Communicator &communicator = *device->communicator();
  std::vector<int> group(static_cast<size_t>(communicator.size()));
  std::iota(group.begin(), group.end(), 0);
  const Event agreed =
      communicator.allReduce(group, exchanging->take(1), DType::I32,
                             ReduceKind::Max, &any, 1, exchanging->timeout);
  if (Status ok = communicator.wait(agreed); !ok)
    return ok.error().withMessage(fmt::format(
        "{}{}in '{}': whether to go on: {}", loop.step->note.location,
        loop.step->note.location.empty() ? "" : ": ", loop.step->note.op,
        ok.error().message()));
  return any != 0;
}

Status ControlExecutable::run(const Piece &piece, const Item &item,
                              Values &values) {
  std::vector<Array> arguments;
  for (unsigned buffer : piece.arguments) {
    const bool last = std::find(item.dropAtEnd.begin(), item.dropAtEnd.end(),
                                buffer) != item.dropAtEnd.end();
    arguments.push_back(last ? std::move(values[buffer]) : values[buffer]);
  }
  std::optional<ProfiledRun> pieceRun;
  if (profiled) {
    pieceRun = *profiled;
    pieceRun->ids = &piece.ids;
  }
  Result<std::vector<Array>> results = piece.part->runPart(
      std::move(arguments), pieceRun ? &*pieceRun : nullptr, *exchanging);
  if (!results) {
    // The piece leaves what it has not begun to use.
    // NOLINTBEGIN(bugprone-use-after-move)
    for (size_t a = 0; a < arguments.size(); ++a)
      values[piece.arguments[a]] = std::move(arguments[a]);
    // NOLINTEND(bugprone-use-after-move)
    return results.error();
  }
  for (const Array &result : *results)
    if (!BlockBuffer::isUsable(result))
      if (Status ok = result.wait(); !ok)
        return ok;
  for (size_t r = 0; r < piece.results.size(); ++r)
    values[piece.results[r]] = std::move((*results)[r]);
  for (CollectiveRecord record : piece.part->collectives()) {
    record.step = piece.ids[record.step];
    sent.push_back(record);
  }
  return Success();
}

/// Values that a list inside a step has defined are gone after it.
void ControlExecutable::forgetResults(const List &list, Values &values) {
  for (const Item &item : list.items) {
    if (auto *piece = std::get_if<Piece>(&item.work))
      for (unsigned buffer : piece->results)
        values[buffer] = Array();
    else if (auto *loop = std::get_if<LoopPlan>(&item.work))
      for (const LoopStep::Carry &carry : loop->step->carried)
        values[carry.result] = Array();
    else
      for (const BranchStep::Output &output :
           std::get<BranchPlan>(item.work).step->outputs)
        values[output.result] = Array();
  }
}

Status ControlExecutable::run(LoopPlan &loop, const Item &item,
                              Values &values) {
  for (const LoopStep::Carry &carry : loop.step->carried)
    values[carry.argument] = values[carry.init];
  for (unsigned buffer : item.dropAtStart)
    values[buffer] = Array();
  const int64_t begin = profiled ? profiled->profiler().now() : 0;
  int64_t iterations = 0;
  // Before the end of the first turn a carried value is its init.
  auto failed = [&](const Error &error) -> Status {
    for (const LoopStep::Carry &carry : loop.step->carried)
      if (iterations == 0 && !values[carry.init])
        values[carry.init] = std::move(values[carry.argument]);
    return error;
  };
  while (true) {
    if (Status ok = run(loop.lists[0], values); !ok)
      return failed(ok.error());
    const Result<bool> goOn = goesOn(loop, values[loop.step->predicate]);
    forgetResults(loop.lists[0], values);
    if (!goOn)
      return failed(goOn.error());
    if (!*goOn)
      break;
    if (Status ok = run(loop.lists[1], values); !ok)
      return failed(ok.error());
    ++iterations;
    std::vector<Array> next;
    next.reserve(loop.step->carried.size());
    for (const LoopStep::Carry &carry : loop.step->carried)
      next.push_back(values[carry.next]);
    // Theirs are then the only references, unless something outside has one.
    forgetResults(loop.lists[1], values);
    for (size_t c = 0; c < next.size(); ++c)
      values[loop.step->carried[c].argument] = std::move(next[c]);
  }
  for (const LoopStep::Carry &carry : loop.step->carried)
    values[carry.result] = std::move(values[carry.argument]);
  if (profiled) {
    ProfileEvent event =
        profiled->event(ProfileEvent::Kind::Control, loop.id, begin);
    event.iterations = iterations;
    profiled->profiler().add(std::move(event));
  }
  return Success();
}

Status ControlExecutable::run(BranchPlan &branch, const Item &,
                              Values &values) {
  const int64_t last = int64_t(branch.branches.size()) - 1;
  const Result<int32_t> index = scalar(values[branch.step->index]);
  if (!index)
    return index.error();
  int64_t chosen = *index;
  if (chosen < 0 || chosen > last)
    chosen = last;
  List &list = branch.branches[size_t(chosen)];
  const int64_t begin = profiled ? profiled->profiler().now() : 0;
  if (Status ok = run(list, values); !ok)
    return ok;
  std::vector<Array> results;
  results.reserve(branch.step->outputs.size());
  for (const BranchStep::Output &output : branch.step->outputs)
    results.push_back(values[output.values[size_t(chosen)]]);
  forgetResults(list, values);
  for (size_t r = 0; r < results.size(); ++r)
    values[branch.step->outputs[r].result] = std::move(results[r]);
  if (profiled)
    profiled->profiler().add(
        profiled->event(ProfileEvent::Kind::Control, branch.id, begin));
  return Success();
}

Status ControlExecutable::run(List &list, Values &values) {
  for (Item &item : list.items) {
    Status ok = std::visit([&](auto &work) { return run(work, item, values); },
                           item.work);
    if (!ok)
      return ok;
    for (unsigned buffer : item.dropAtEnd)
      values[buffer] = Array();
  }
  return Success();
}

/// After a failure: what is here still has not been overwritten, for an update
/// takes an argument out of `values` first.
void ControlExecutable::giveBack(Values &values,
                                 std::vector<Array> &arguments) const {
  for (size_t a = 0; a < arguments.size(); ++a)
    if (Array &value = values[loaded.arguments[a].buffer])
      arguments[a] = std::move(value).as(signature().arguments[a].type);
}

Result<std::vector<Array>>
ControlExecutable::run(std::vector<Array> &&arguments) {
  Values values(loaded.buffers.size());
  sent.clear();
  for (const auto &[buffer, array] : constants)
    values[buffer] = array;
  // Inside, all are on the program's mesh.
  for (size_t a = 0; a < arguments.size(); ++a) {
    const Argument &argument = loaded.arguments[a];
    values[argument.buffer] =
        argument.written ? std::move(arguments[a]).as(typeOf(argument.buffer))
                         : std::move(arguments[a]);
  }
  if (Status ok = run(list, values); !ok) {
    giveBack(values, arguments);
    return ok.error();
  }
  std::vector<Array> results;
  results.reserve(loaded.results.size());
  for (size_t r = 0; r < loaded.results.size(); ++r) {
    Array value = values[loaded.results[r].buffer];
    results.push_back(loaded.results[r].written
                          ? std::move(value).as(signature().results[r].type)
                          : std::move(value));
  }
  recordCollectives(sent);
  return results;
}
} // namespace

Result<std::shared_ptr<Executable>>
plan::loadControl(const std::shared_ptr<PlanClient> &client,
                  BoundProgram program, const LoadOptions &options,
                  const LoadStraight &straight) {
  auto executable =
      std::make_shared<ControlExecutable>(client, std::move(program), options);
  if (Status ok = executable->plan(straight); !ok)
    return ok.error();
  return std::shared_ptr<Executable>(std::move(executable));
}

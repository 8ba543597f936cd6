// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of programs with loops and branches: the host reads each condition.
#include "ControlExecutable.h"

#include "UnrolledLoops.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <optional>

using namespace meshloom;
using namespace meshloom::plan;

Status ControlExecutable::plan(const LoadStraight &straight) {
  planned = planControl(loaded);
  for (SubProgram &sub : planned.pieces)
    if (Status ok = loadPiece(sub, straight); !ok)
      return ok;
  findAgreements(planned.list);
  if (device->makeControlGraph())
    findRecordable(planned.list);
  if (Status ok = makeConstants(); !ok)
    return ok;
  return countMemory();
}

Status ControlExecutable::makeConstants() {
  for (unsigned c : planned.constants) {
    Result<Array> array = constantArray(loaded.constants[c]);
    if (!array)
      return array.error();
    constants.emplace_back(loaded.constants[c].buffer, std::move(*array));
  }
  return Success();
}

Status ControlExecutable::loadPiece(SubProgram &sub,
                                    const LoadStraight &straight) {
  auto part = straight({Compiled(std::move(sub.program)), assignment()});
  if (!part)
    return part.error();
  const int64_t passed =
      bytesOf(sub.arguments) + bytesOf(sub.results) + (*part)->scratchBytes();
  retainedBytes +=
      std::max<int64_t>(0, (*part)->statistics().peakBytes - passed);
  std::vector<StraightExecutable *> others;
  others.reserve(parts.size());
  for (const std::shared_ptr<StraightExecutable> &other : parts)
    others.push_back(other.get());
  scratchBytes = (*part)->shareScratch(others);
  mostCores = std::max(mostCores, (*part)->cores());
  parts.push_back(std::move(*part));
  return Success();
}

/// Processes must go on together with a loop that exchanges data though each of
/// them knows its own predicate only.
void ControlExecutable::findAgreements(ControlList &list) {
  for (ControlItem &item : list.items) {
    if (auto *branch = std::get_if<ControlBranch>(&item.work)) {
      for (ControlList &inner : branch->branches)
        findAgreements(inner);
    } else if (auto *loop = std::get_if<ControlLoop>(&item.work)) {
      loop->agrees =
          loaded.buffers[loop->step->predicate].layout.is_partial() &&
          std::ranges::any_of(loop->lists, [this](const ControlList &inner) {
            return exchanges(inner);
          });
      for (ControlList &inner : loop->lists)
        findAgreements(inner);
    }
  }
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

Status ControlExecutable::countMemory() {
  int64_t most = 0;
  for (const auto &[buffer, array] : constants)
    most += bytesOf({buffer});
  for (const Argument &argument : loaded.arguments)
    most += bytesOf({argument.buffer});
  planned.forEachMoment(loaded, [&](const std::vector<unsigned> &live,
                                    const ControlItem &item) {
    most =
        std::max(most, bytesOf(live) + (graphOf(item) ? bytesInside(item) : 0));
  });
  return PlanExecutable::countMemory(retainedBytes + scratchBytes + most, "",
                                     "");
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

bool ControlExecutable::exchanges(const ControlList &list) const {
  return std::ranges::any_of(list.items, [this](const ControlItem &item) {
    if (auto *piece = std::get_if<ControlPiece>(&item.work))
      return parts[piece->index]->exchanges();
    return std::ranges::any_of(listsOf(item), [this](const ControlList &inner) {
      return exchanges(inner);
    });
  });
}

/// Runs the condition, and returns whether there is a next iteration: on any
/// device here or, where processes must agree, in any of them.
Result<bool> ControlExecutable::goesOn(ControlLoop &loop, Values &values) {
  if (Status ok = run(loop.lists[0], values); !ok)
    return ok.error();
  Result<bool> here = onAnyDevice(values[loop.step->predicate]);
  forgetResults(loop.lists[0], values);
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

Status ControlExecutable::run(const ControlPiece &work, const ControlItem &item,
                              Values &values) {
  const SubProgram &piece = planned.pieces[work.index];
  StraightExecutable &part = *parts[work.index];
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
  Result<std::vector<Array>> results =
      recording ? part.record(std::move(arguments), *recording)
                : part.runPart(std::move(arguments),
                               pieceRun ? &*pieceRun : nullptr, *exchanging);
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
  for (CollectiveRecord record : part.collectives()) {
    record.step = piece.ids[record.step];
    sent.push_back(record);
  }
  return Success();
}

/// Values that a list inside a step has defined are gone after it.
void ControlExecutable::forgetResults(const ControlList &list,
                                      Values &values) const {
  for (const ControlItem &item : list.items)
    planned.forEachResult(item,
                          [&](unsigned buffer) { values[buffer] = Array(); });
}

Status ControlExecutable::run(ControlLoop &loop, const ControlItem &item,
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
  const int64_t turns = staticTurns(*loop.step);
  while (true) {
    const Result<bool> goOn =
        turns < 0 ? goesOn(loop, values) : Result<bool>(iterations < turns);
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

Status ControlExecutable::run(ControlBranch &branch, const ControlItem &,
                              Values &values) {
  const int64_t last = int64_t(branch.branches.size()) - 1;
  const Result<int32_t> index = scalar(values[branch.step->index]);
  if (!index)
    return index.error();
  int64_t chosen = *index;
  if (chosen < 0 || chosen > last)
    chosen = last;
  ControlList &list = branch.branches[size_t(chosen)];
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

Status ControlExecutable::run(ControlItem &item, Values &values) {
  if (recording && !std::holds_alternative<ControlPiece>(item.work))
    return record(item, values);
  if (auto *graph = profiled ? nullptr : graphOf(item))
    return runRecorded(item, *graph, values);
  return std::visit([&](auto &work) { return run(work, item, values); },
                    item.work);
}

Status ControlExecutable::run(ControlList &list, Values &values) {
  for (ControlItem &item : list.items) {
    if (Status ok = run(item, values); !ok)
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
  if (Status ok = run(planned.list, values); !ok) {
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

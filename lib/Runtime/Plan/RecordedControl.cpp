// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches that devices run by themselves: their lists are recorded
// once a run. Carried values and the outputs of branches lie at one place, to
// which each turn and each branch copies what it has put elsewhere.
//
// Which commands are recorded must not depend on what the caller keeps. So all
// that does is done before the recording begins: the outermost loop takes the
// memory of its inits, or copies them.
#include "ControlExecutable.h"

#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <iterator>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plan;

//===----------------------------------------------------------------------===//
// Loops and branches that can be recorded
//===----------------------------------------------------------------------===//

static unsigned idOf(const ControlItem &item) {
  auto *loop = std::get_if<ControlLoop>(&item.work);
  return loop ? loop->id : std::get<ControlBranch>(item.work).id;
}

static bool isPiece(const ControlItem &item) {
  return std::holds_alternative<ControlPiece>(item.work);
}

bool ControlExecutable::isRecordable(const ControlList &list) const {
  return std::ranges::all_of(list.items, [this](const ControlItem &item) {
    if (auto *piece = std::get_if<ControlPiece>(&item.work))
      return parts[piece->index]->isRecordable();
    return std::ranges::all_of(listsOf(item), [this](const ControlList &inner) {
      return isRecordable(inner);
    });
  });
}

void ControlExecutable::findRecordable(const ControlList &list) {
  for (const ControlItem &item : list.items) {
    if (isPiece(item))
      continue;
    const std::span<const ControlList> lists = listsOf(item);
    if (std::ranges::all_of(lists, [this](const ControlList &inner) {
          return isRecordable(inner);
        }))
      graphs.emplace(idOf(item), nullptr);
    else
      for (const ControlList &inner : lists)
        findRecordable(inner);
  }
}

std::unique_ptr<ControlGraph> *
ControlExecutable::graphOf(const ControlItem &item) {
  const auto found = isPiece(item) ? graphs.end() : graphs.find(idOf(item));
  return found == graphs.end() ? nullptr : &found->second;
}

std::vector<unsigned>
ControlExecutable::resultsOf(const ControlItem &item) const {
  std::vector<unsigned> results;
  planned.forEachResult(item,
                        [&](unsigned buffer) { results.push_back(buffer); });
  return results;
}

/// All that is allocated in a loop or branch stays until it is over.
int64_t ControlExecutable::bytesInside(const ControlItem &item) const {
  int64_t bytes = bytesOf(resultsOf(item));
  for (const ControlList &list : listsOf(item))
    for (const ControlItem &inner : list.items)
      bytes += bytesInside(inner);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// A reference that does not count: its user may overwrite the block.
static Block borrowed(const Block &block) {
  return {block.get(), [](char *) {}};
}

Array ControlExecutable::arrayAt(unsigned buffer, const Block &place) const {
  const ArrayType type = typeOf(buffer);
  return {type, std::make_shared<BlockBuffer>(client(), std::vector{place},
                                              device->blockBytes(type))};
}

Status ControlExecutable::runRecorded(ControlItem &item,
                                      std::unique_ptr<ControlGraph> &graph,
                                      Values &values) {
  if (!graph)
    graph = device->makeControlGraph();
  Carried carried;
  recording = graph.get();
  const Status recorded = recordOutermost(item, carried, values);
  recording = nullptr;
  const std::vector<unsigned> results = resultsOf(item);
  std::vector<Block> blocks;
  if (recorded)
    for (unsigned result : results)
      blocks.push_back(BlockBuffer::of(values[result])[0]);
  Result<Event> done = recorded ? graph->launch(loaded.name, blocks)
                                : Result<Event>(recorded.error());
  if (!done) {
    graph = nullptr; // the next run begins anew
    if (auto *loop = std::get_if<ControlLoop>(&item.work))
      for (size_t c = 0; c < carried.places.size(); ++c)
        if (const unsigned init = loop->step->carried[c].init; !values[init])
          values[init] = carried.copied[c] ? carried.copied[c]
                                           : arrayAt(init, carried.places[c]);
    return done.error();
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const ArrayType type = typeOf(results[r]);
    auto buffer = std::make_shared<BlockBuffer>(
        client(), std::vector{blocks[r]}, device->blockBytes(type));
    buffer->setInOrder();
    values[results[r]] = Array(type, std::move(buffer), *done);
  }
  return Success();
}

/// `carried`: the values of a loop.
Status ControlExecutable::recordOutermost(ControlItem &item, Carried &carried,
                                          Values &values) {
  auto *loop = std::get_if<ControlLoop>(&item.work);
  if (!loop) {
    const Status begun = recording->begin();
    return begun ? record(item, values) : begun;
  }
  if (Status ok = placeCarried(*loop->step, item.dropAtStart, carried, values);
      !ok)
    return ok;
  const Status begun = recording->begin();
  return begun ? recordTurns(*loop, carried.places, values) : begun;
}

Status ControlExecutable::record(ControlItem &item, Values &values) {
  auto *loop = std::get_if<ControlLoop>(&item.work);
  if (!loop)
    return recordBranch(std::get<ControlBranch>(item.work), values);
  Carried carried;
  const Status placed =
      placeCarried(*loop->step, item.dropAtStart, carried, values);
  return placed ? recordTurns(*loop, carried.places, values) : placed;
}

/// A carried value takes the memory of its init, where that has no other user.
Status ControlExecutable::placeCarried(const LoopStep &loop,
                                       std::span<const unsigned> dropAtStart,
                                       Carried &carried, Values &values) {
  for (const LoopStep::Carry &carry : loop.carried)
    values[carry.argument] = values[carry.init];
  for (unsigned buffer : dropAtStart)
    values[buffer] = Array();
  std::vector<ControlGraph::Copy> copies;
  for (const LoopStep::Carry &carry : loop.carried) {
    Array &value = values[carry.argument];
    if (mayOverwrite(value)) {
      carried.places.push_back(BlockBuffer::of(value)[0]);
      carried.copied.emplace_back();
    } else {
      const int64_t bytes = bytesOf({carry.argument});
      Result<Block> place = recording->allocate(bytes);
      if (!place)
        return place.error();
      copies.push_back({place->get(), BlockBuffer::of(value)[0].get(), bytes});
      carried.places.push_back(std::move(*place));
      carried.copied.push_back(std::move(value));
    }
    value = arrayAt(carry.argument, borrowed(carried.places.back()));
  }
  return recording->copy(copies);
}

/// Records a loop's condition, in front of its body or at the end of that.
Status ControlExecutable::recordCondition(ControlLoop &loop, bool isEnd,
                                          Values &values) {
  if (Status ok = run(loop.lists[0], values); !ok)
    return ok;
  const unsigned predicate = loop.step->predicate;
  const char *place = BlockBuffer::of(values[predicate])[0].get();
  const int64_t bytes = bytesOf({predicate});
  const Status done = isEnd ? recording->endLoop(place, bytes)
                            : recording->beginLoop(place, bytes);
  forgetResults(loop.lists[0], values);
  return done;
}

Status ControlExecutable::recordTurns(ControlLoop &loop,
                                      std::span<const Block> places,
                                      Values &values) {
  if (Status ok = recordCondition(loop, /*isEnd=*/false, values); !ok)
    return ok;
  if (Status ok = run(loop.lists[1], values); !ok)
    return ok;
  const std::vector<LoopStep::Carry> &carried = loop.step->carried;
  std::vector<Array> next;
  next.reserve(carried.size());
  for (const LoopStep::Carry &carry : carried)
    next.push_back(values[carry.next]);
  forgetResults(loop.lists[1], values);
  if (Status ok = copyToPlaces(*loop.step, next, places); !ok)
    return ok;
  for (size_t c = 0; c < carried.size(); ++c)
    values[carried[c].argument] =
        arrayAt(carried[c].argument, borrowed(places[c]));
  if (Status ok = recordCondition(loop, /*isEnd=*/true, values); !ok)
    return ok;
  for (size_t c = 0; c < carried.size(); ++c) {
    values[carried[c].argument] = Array();
    values[carried[c].result] = arrayAt(carried[c].result, places[c]);
  }
  return Success();
}

/// Values that lie at the place of another one are copied somewhere else first.
Status ControlExecutable::copyToPlaces(const LoopStep &loop,
                                       std::span<const Array> next,
                                       std::span<const Block> places) {
  std::vector<ControlGraph::Copy> away, home;
  std::vector<Block> temporary;
  for (size_t c = 0; c < places.size(); ++c) {
    const int64_t bytes = bytesOf({loop.carried[c].argument});
    const char *source = BlockBuffer::of(next[c])[0].get();
    if (source == places[c].get())
      continue;
    if (std::ranges::find(places, source, &Block::get) != places.end()) {
      Result<Block> block = recording->allocate(bytes);
      if (!block)
        return block.error();
      away.push_back({block->get(), source, bytes});
      source = block->get();
      temporary.push_back(std::move(*block));
    }
    home.push_back({places[c].get(), source, bytes});
  }
  const Status moved = recording->copy(away);
  return moved ? recording->copy(home) : moved;
}

/// Outputs lie where the branch puts them that computes most of them itself;
/// the others copy theirs.
Status ControlExecutable::recordBranch(ControlBranch &branch, Values &values) {
  const std::vector<BranchStep::Output> &outputs = branch.step->outputs;
  // A value that is there already comes from outside.
  auto isComputed = [&](const BranchStep::Output &output, size_t b) {
    return !values[output.values[b]];
  };
  std::vector<size_t> order(branch.branches.size());
  std::iota(order.begin(), order.end(), 0);
  auto countComputed = [&](size_t b) {
    return std::ranges::count_if(
        outputs, [&](auto &output) { return isComputed(output, b); });
  };
  std::swap(order.front(), *std::ranges::max_element(order, {}, countComputed));
  const char *index = BlockBuffer::of(values[branch.step->index])[0].get();
  const int64_t last = int64_t(order.size()) - 1;
  std::vector<Block> places(outputs.size());
  for (size_t b : order) {
    if (Status ok = recording->beginBranch(index, int64_t(b), last); !ok)
      return ok;
    std::vector<bool> computed;
    computed.reserve(outputs.size());
    for (const BranchStep::Output &output : outputs)
      computed.push_back(isComputed(output, b));
    if (Status ok = run(branch.branches[b], values); !ok)
      return ok;
    std::vector<ControlGraph::Copy> copies;
    for (size_t o = 0; o < outputs.size(); ++o) {
      const Array &value = values[outputs[o].values[b]];
      const int64_t bytes = bytesOf({outputs[o].result});
      if (!places[o] && computed[o] && mayOverwrite(value)) {
        places[o] = BlockBuffer::of(value)[0];
        continue;
      }
      if (!places[o]) {
        Result<Block> place = recording->allocate(bytes);
        if (!place)
          return place.error();
        places[o] = std::move(*place);
      }
      copies.push_back(
          {places[o].get(), BlockBuffer::of(value)[0].get(), bytes});
    }
    if (Status ok = recording->copy(copies); !ok)
      return ok;
    forgetResults(branch.branches[b], values);
    recording->endBranch();
  }
  for (size_t o = 0; o < outputs.size(); ++o)
    values[outputs[o].result] = arrayAt(outputs[o].result, places[o]);
  return Success();
}

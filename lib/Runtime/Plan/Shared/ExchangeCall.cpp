// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing, posting, unpacking and combining.
#include "meshloom/Runtime/Plan/Shared/ExchangeCall.h"

#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/NonFinite.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::plan;

std::optional<int64_t> ExchangeCall::Array::solid(int64_t slot,
                                                  const Box &box) const {
  const Shape strides = rowMajorStrides(where.extent);
  int64_t element = slot * where.count();
  bool partial = false; // a dim behind is not there in full
  for (size_t d = box.offset.size(); d-- > 0;) {
    if (partial && box.extent[d] != 1)
      return std::nullopt;
    partial |= box.extent[d] != where.extent[d];
    element += (box.offset[d] - where.offset[d]) * strides[d];
  }
  return element * width;
}

int64_t ExchangeCall::stage(int64_t bytes) {
  const int64_t offset = staging;
  staging += (bytes + 63) / 64 * 64;
  return offset;
}

ExchangeCall::ExchangeCall(const StepGraph &graph, const Exchange &exchange)
    : move(exchange.move), type(exchange.type), reduce(exchange.reduce) {
  auto arrayOf = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return Array{{array.origin, array.shape}, byteWidth(array.type)};
  };
  target = arrayOf(exchange.to);
  if (!move.group.empty()) {
    whole = target.where.count() * graph.buffers[exchange.to].copies;
    const int64_t others = int64_t(move.group.size()) - 1;
    moved = 4 * whole * target.width * others / (others + 1);
    return;
  }
  source = arrayOf(unsigned(exchange.from));
  const ExchangePlan &plan = move.exchange;
  for (const ExchangePlan::Message &message : plan.sends) {
    std::optional<int64_t> offset;
    if (message.parts.size() == 1)
      offset = source.solid(message.parts[0].slot, message.parts[0].box);
    const int64_t bytes = message.elements * source.width;
    sends.push_back({message.peer, bytes, offset.has_value(),
                     offset ? *offset : stage(bytes)});
    moved += bytes;
  }
  int64_t most = 0;
  for (const ExchangePlan::Target &part : plan.targets)
    if (part.addends.size() > 1) {
      combines = true;
      most = std::max(most, int64_t(part.addends.size() + 1) *
                                part.box.count() * target.width);
    }
  std::vector<std::optional<int64_t>> places(plan.receives.size());
  if (!combines)
    for (const ExchangePlan::Target &part : plan.targets)
      for (const auto &sources : part.addends)
        for (const ExchangePlan::Source &piece : sources)
          if (piece.message >= 0 &&
              plan.receives[size_t(piece.message)].parts.size() == 1)
            places[size_t(piece.message)] = target.solid(part.slot, piece.box);
  for (size_t m = 0; m < places.size(); ++m) {
    const ExchangePlan::Message &message = plan.receives[m];
    const int64_t bytes = message.elements * target.width;
    receives.push_back({message.peer, bytes, places[m].has_value(),
                        places[m] ? *places[m] : stage(bytes)});
    moved += bytes;
  }
  scratch = stage(most);
}

int64_t ExchangeCall::combinations() const {
  if (!move.group.empty())
    return whole / int64_t(move.group.size()) *
           (int64_t(move.group.size()) - 1);
  int64_t count = 0;
  for (const ExchangePlan::Target &part : move.exchange.targets)
    count += part.box.count() * (int64_t(part.addends.size()) - 1);
  return count;
}

void ExchangeCall::pack(const Memory &memory) const {
  for (size_t m = 0; m < sends.size(); ++m) {
    if (sends[m].direct)
      continue;
    char *to = memory.staging + sends[m].offset;
    for (const ExchangePlan::Part &part : move.exchange.sends[m].parts) {
      copyBox({to, part.box}, source.view(memory.from, part.slot), part.box,
              source.width);
      to += part.box.count() * source.width;
    }
  }
}

void ExchangeCall::begin(Communicator &communicator, uint64_t tag,
                         TransferTimeout timeout, const Memory &memory) {
  if (!move.group.empty()) {
    done = whole ? communicator.allReduce(move.group, tag, type, reduce,
                                          memory.to, whole, timeout)
                 : Event();
    return;
  }
  pack(memory);
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  outgoing.reserve(sends.size());
  incoming.reserve(receives.size());
  for (const Transfer &send : sends)
    outgoing.push_back(
        {send.peer,
         {(send.direct ? memory.from : memory.staging) + send.offset,
          size_t(send.bytes)}});
  for (const Transfer &receive : receives)
    incoming.push_back(
        {receive.peer,
         {(receive.direct ? memory.to : memory.staging) + receive.offset,
          size_t(receive.bytes)}});
  done = outgoing.empty() && incoming.empty()
             ? Event()
             : communicator.exchange(tag, outgoing, incoming, timeout);
}

/// The array that a source is a box of.
ArrayView ExchangeCall::sourceView(const ExchangePlan::Source &piece,
                                   const Memory &memory) const {
  if (piece.message < 0)
    return source.view(memory.from, piece.slot);
  return {memory.staging + receives[size_t(piece.message)].offset +
              piece.offset * target.width,
          piece.box};
}

void ExchangeCall::fill(const ExchangePlan::Target &part,
                        const Memory &memory) const {
  const ArrayView to = target.view(memory.to, part.slot);
  if (!combines) {
    for (const auto &sources : part.addends)
      for (const ExchangePlan::Source &piece : sources)
        if (piece.message < 0 || !receives[size_t(piece.message)].direct)
          copyBox(to, sourceView(piece, memory), piece.box, target.width);
    return;
  }
  const int64_t bytes = part.box.count() * target.width;
  char *free = memory.staging + scratch;
  std::vector<const void *> addends;
  for (const auto &sources : part.addends) {
    const ExchangePlan::Source &first = sources.front();
    if (sources.size() == 1 && first.message >= 0) {
      addends.push_back(sourceView(first, memory).data);
      continue;
    }
    std::optional<int64_t> offset;
    if (sources.size() == 1)
      offset = source.solid(first.slot, first.box);
    if (offset) {
      addends.push_back(memory.from + *offset);
      continue;
    }
    for (const ExchangePlan::Source &piece : sources)
      copyBox({free, part.box}, sourceView(piece, memory), piece.box,
              target.width);
    addends.push_back(free);
    free += bytes;
  }
  const std::optional<int64_t> offset = target.solid(part.slot, part.box);
  char *result = offset ? memory.to + *offset : free;
  combine(reduce, type, result, addends, part.box.count());
  if (!offset)
    copyBox(to, {result, part.box}, part.box, target.width);
}

Status ExchangeCall::end(Communicator &communicator,
                         const Memory &memory) const {
  if (Status ok = communicator.wait(done); !ok)
    return ok;
  if (move.group.empty())
    for (const ExchangePlan::Target &part : move.exchange.targets)
      fill(part, memory);
  return Success();
}

bool ExchangeCall::isFinite(const Memory &memory) const {
  constexpr int64_t one = 1;
  if (!move.group.empty())
    return whole == 0 || !hasNonFinite(type, memory.to, &whole, &one, 1);
  const Shape strides = rowMajorStrides(target.where.extent);
  return std::ranges::none_of(
      move.exchange.targets, [&](const ExchangePlan::Target &part) {
        int64_t element = part.slot * target.where.count();
        for (size_t d = 0; d < strides.size(); ++d)
          element += (part.box.offset[d] - target.where.offset[d]) * strides[d];
        return hasNonFinite(type, memory.to + element * target.width,
                            part.box.extent.data(), strides.data(),
                            unsigned(strides.size()));
      });
}

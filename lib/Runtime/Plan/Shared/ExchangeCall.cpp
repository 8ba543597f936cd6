// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packing, posting, unpacking and combining.
#include "meshloom/Runtime/Plan/Shared/ExchangeCall.h"

#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/NonFinite.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::plan;

std::optional<int64_t> ExchangeLayout::Array::solid(int64_t slot,
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

int64_t ExchangeLayout::stage(int64_t bytes) {
  const int64_t offset = stagingBytes;
  stagingBytes += (bytes + 63) / 64 * 64;
  return offset;
}

ExchangeLayout::ExchangeLayout(const StepGraph &graph, const Exchange &exchange)
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

int64_t ExchangeLayout::combinations() const {
  if (!move.group.empty())
    return whole / int64_t(move.group.size()) *
           (int64_t(move.group.size()) - 1);
  int64_t count = 0;
  for (const ExchangePlan::Target &part : move.exchange.targets)
    count += part.box.count() * (int64_t(part.addends.size()) - 1);
  return count;
}

ArrayView ExchangeLayout::sourceView(const ExchangePlan::Source &piece,
                                     const Memory &memory) const {
  if (piece.message < 0)
    return source.view(memory.from, piece.slot);
  return {memory.staging + receives[size_t(piece.message)].offset +
              piece.offset * target.width,
          piece.box};
}

void ExchangeCall::pack(const Memory &memory) const {
  for (size_t m = 0; m < layout.sends.size(); ++m) {
    if (layout.sends[m].direct)
      continue;
    char *to = memory.staging + layout.sends[m].offset;
    for (const ExchangePlan::Part &part : layout.move.exchange.sends[m].parts) {
      copyBox({to, part.box}, layout.source.view(memory.from, part.slot),
              part.box, layout.source.width);
      to += part.box.count() * layout.source.width;
    }
  }
}

void ExchangeCall::begin(Communicator &communicator, uint64_t tag,
                         TransferTimeout timeout, const Memory &memory) {
  if (!layout.move.group.empty()) {
    done = layout.whole
               ? communicator.allReduce(layout.move.group, tag, layout.type,
                                        layout.reduce, memory.to, layout.whole,
                                        timeout)
               : Event();
    return;
  }
  pack(memory);
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  outgoing.reserve(layout.sends.size());
  incoming.reserve(layout.receives.size());
  for (const ExchangeLayout::Transfer &send : layout.sends)
    outgoing.push_back(
        {send.peer, {layout.outgoing(send, memory), size_t(send.bytes)}});
  for (const ExchangeLayout::Transfer &receive : layout.receives)
    incoming.push_back(
        {receive.peer,
         {layout.incoming(receive, memory), size_t(receive.bytes)}});
  done = outgoing.empty() && incoming.empty()
             ? Event()
             : communicator.exchange(tag, outgoing, incoming, timeout);
}

void ExchangeCall::fill(const ExchangePlan::Target &part,
                        const Memory &memory) const {
  const ArrayView to = layout.target.view(memory.to, part.slot);
  if (!layout.combines) {
    for (const auto &sources : part.addends)
      for (const ExchangePlan::Source &piece : sources)
        if (piece.message < 0 || !layout.receives[size_t(piece.message)].direct)
          copyBox(to, layout.sourceView(piece, memory), piece.box,
                  layout.target.width);
    return;
  }
  const int64_t bytes = part.box.count() * layout.target.width;
  char *free = memory.staging + layout.scratch;
  std::vector<const void *> addends;
  for (const auto &sources : part.addends) {
    const ExchangePlan::Source &first = sources.front();
    if (sources.size() == 1 && first.message >= 0) {
      addends.push_back(layout.sourceView(first, memory).data);
      continue;
    }
    std::optional<int64_t> offset;
    if (sources.size() == 1)
      offset = layout.source.solid(first.slot, first.box);
    if (offset) {
      addends.push_back(memory.from + *offset);
      continue;
    }
    for (const ExchangePlan::Source &piece : sources)
      copyBox({free, part.box}, layout.sourceView(piece, memory), piece.box,
              layout.target.width);
    addends.push_back(free);
    free += bytes;
  }
  const std::optional<int64_t> offset =
      layout.target.solid(part.slot, part.box);
  char *result = offset ? memory.to + *offset : free;
  combine(layout.reduce, layout.type, result, addends, part.box.count());
  if (!offset)
    copyBox(to, {result, part.box}, part.box, layout.target.width);
}

Status ExchangeCall::end(Communicator &communicator,
                         const Memory &memory) const {
  if (Status ok = communicator.wait(done); !ok)
    return ok;
  if (layout.move.group.empty())
    for (const ExchangePlan::Target &part : layout.move.exchange.targets)
      fill(part, memory);
  return Success();
}

bool ExchangeCall::isFinite(const Memory &memory) const {
  constexpr int64_t one = 1;
  if (!layout.move.group.empty())
    return layout.whole == 0 ||
           !hasNonFinite(layout.type, memory.to, &layout.whole, &one, 1);
  const Shape strides = rowMajorStrides(layout.target.where.extent);
  return std::ranges::none_of(
      layout.move.exchange.targets, [&](const ExchangePlan::Target &part) {
        int64_t element = part.slot * layout.target.where.count();
        for (size_t d = 0; d < strides.size(); ++d)
          element +=
              (part.box.offset[d] - layout.target.where.offset[d]) * strides[d];
        return hasNonFinite(
            layout.type, memory.to + element * layout.target.width,
            part.box.extent.data(), strides.data(), unsigned(strides.size()));
      });
}

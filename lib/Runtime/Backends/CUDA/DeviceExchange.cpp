// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceExchange.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

DeviceExchange::DeviceExchange(const ExchangeLayout &layout, Card &card,
                               CardLink &link, LoadedKernel combination,
                               int rank)
    : layout(layout), card(card), link(link), combination(combination),
      rank(rank) {}

bool DeviceExchange::isSumOfLink() const {
  return isSum() && link.reduces(layout.type, layout.reduce);
}

Interval DeviceExchange::sliceOf(size_t member) const {
  const int64_t members = std::ssize(layout.move.group);
  const int64_t most = (layout.whole + members - 1) / members;
  const int64_t begin = std::min(int64_t(member) * most, layout.whole);
  return {begin, std::min(begin + most, layout.whole)};
}

int64_t DeviceExchange::stagingBytes() const {
  if (!isSum())
    return layout.stagingBytes;
  return isSumOfLink() ? 0
                       : std::ssize(layout.move.group) * sliceOf(0).size() *
                             int64_t(layout.target.width);
}

Status DeviceExchange::copyBox(const ArrayView &to, const ArrayView &from,
                               const Box &box) const {
  const Shape fromStrides = rowMajorStrides(from.where.extent),
              toStrides = rowMajorStrides(to.where.extent);
  int64_t source = 0, target = 0;
  for (size_t d = 0; d < box.extent.size(); ++d) {
    source += (box.offset[d] - from.where.offset[d]) * fromStrides[d];
    target += (box.offset[d] - to.where.offset[d]) * toStrides[d];
  }
  const int64_t width = layout.target.width;
  return copyStrided(card, to.data + target * width, from.data + source * width,
                     box.extent, fromStrides, toStrides, width);
}

Status DeviceExchange::combine(char *result, const char *first, int64_t addends,
                               int64_t count) const {
  for (int64_t begin = 0; begin < count; begin += MOST_RESULTS) {
    const int64_t offset = begin * int64_t(layout.target.width);
    const std::vector<int64_t> extents{std::min(MOST_RESULTS, count - begin),
                                       addends},
        origin(2);
    const std::array<char *, 2> operands{const_cast<char *>(first) + offset,
                                         result + offset};
    const std::array<std::array<int64_t, 2>, 2> strides{{{1, count}, {1, 0}}};
    if (Status ok = launchKernel(card, card, combination,
                                 {operands, extents, origin,
                                  [&](unsigned operand, unsigned loop) {
                                    return strides[operand][loop];
                                  }});
        !ok)
      return ok;
  }
  return Success();
}

/// A rank of the group combines a slice of the addends of all, and sends it to
/// the others.
Status DeviceExchange::sum(const Memory &memory,
                           CardLink::Messages messages) const {
  const std::vector<int> &group = layout.move.group;
  const int64_t width = layout.target.width;
  const size_t self = size_t(std::ranges::find(group, rank) - group.begin());
  const Interval slice = sliceOf(self);
  const int64_t bytes = slice.size() * width;
  char *mine = memory.to + slice.begin * width;
  auto place = [&](size_t member) {
    return memory.staging + int64_t(member) * bytes;
  };
  std::vector<CardLink::Outgoing> addends, results;
  std::vector<CardLink::Incoming> slices, sums;
  for (size_t member = 0; member < group.size(); ++member) {
    if (member == self)
      continue;
    const Interval part = sliceOf(member);
    char *data = memory.to + part.begin * width;
    if (!part.empty()) {
      addends.push_back({group[member], data, part.size() * width});
      sums.push_back({group[member], data, part.size() * width});
    }
    if (!slice.empty()) {
      slices.push_back({group[member], place(member), bytes});
      results.push_back({group[member], mine, bytes});
    }
  }
  if (Status ok = card.copy(place(self), mine, bytes); !ok)
    return ok;
  if (Status ok = link.exchange(addends, slices, messages); !ok)
    return ok;
  if (!slice.empty())
    if (Status ok =
            combine(mine, memory.staging, std::ssize(group), slice.size());
        !ok)
      return ok;
  messages.tag += CardLink::Messages::MOST;
  return link.exchange(results, sums, messages);
}

Status DeviceExchange::pack(const Memory &memory) const {
  for (size_t m = 0; m < layout.sends.size(); ++m) {
    if (layout.sends[m].direct)
      continue;
    char *to = layout.outgoing(layout.sends[m], memory);
    for (const ExchangePlan::Part &part : layout.move.exchange.sends[m].parts) {
      if (Status ok =
              copyBox({to, part.box},
                      layout.source.view(memory.from, part.slot), part.box);
          !ok)
        return ok;
      to += part.box.count() * layout.source.width;
    }
  }
  return Success();
}

Status DeviceExchange::begin(const Memory &memory,
                             CardLink::Messages messages) const {
  if (isSum())
    return sum(memory, messages);
  if (Status ok = pack(memory); !ok)
    return ok;
  std::vector<CardLink::Outgoing> outgoing;
  std::vector<CardLink::Incoming> incoming;
  outgoing.reserve(layout.sends.size());
  incoming.reserve(layout.receives.size());
  for (const ExchangeLayout::Transfer &send : layout.sends)
    outgoing.push_back({send.peer, layout.outgoing(send, memory), send.bytes});
  for (const ExchangeLayout::Transfer &receive : layout.receives)
    incoming.push_back(
        {receive.peer, layout.incoming(receive, memory), receive.bytes});
  return link.exchange(outgoing, incoming, messages);
}

Status DeviceExchange::fill(const ExchangePlan::Target &part,
                            const Memory &memory) const {
  const ArrayView to = layout.target.view(memory.to, part.slot);
  const bool isOne = part.addends.size() == 1;
  char *addends = memory.staging + layout.scratch;
  const int64_t bytes = part.box.count() * int64_t(layout.target.width);
  for (size_t a = 0; a < part.addends.size(); ++a)
    for (const ExchangePlan::Source &piece : part.addends[a]) {
      if (piece.message >= 0 && layout.receives[size_t(piece.message)].direct)
        continue;
      const ArrayView into =
          isOne ? to : ArrayView{addends + int64_t(a) * bytes, part.box};
      if (Status ok =
              copyBox(into, layout.sourceView(piece, memory), piece.box);
          !ok)
        return ok;
    }
  if (isOne)
    return Success();
  const int64_t count = std::ssize(part.addends);
  char *result = addends + count * bytes;
  if (Status ok = combine(result, addends, count, part.box.count()); !ok)
    return ok;
  return copyBox(to, {result, part.box}, part.box);
}

Status DeviceExchange::end(const Memory &memory) const {
  if (!isSum())
    for (const ExchangePlan::Target &part : layout.move.exchange.targets)
      if (Status ok = fill(part, memory); !ok)
        return ok;
  return Success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchanges with the other cards of a mesh, in the order of the stream or by
// way of the host.
#include "CUDAExecutable.h"

#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/AgreedOutcome.h"

#include <algorithm>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

DeviceExchange
CUDAExecutable::exchangeOnLink(const ExchangeLayout &layout) const {
  const std::string symbol =
      CombinationKind{layout.type, layout.reduce, /*rank=*/1}.symbol();
  LoadedKernel combination;
  if (Result<LoadedKernel> found = loadedKernel(symbol))
    combination = *found;
  return {layout, *card, *gpus.link, combination, gpus.communicator()->rank()};
}

/// An exchange has memory of its own: others go on between its beginning and
/// its end.
Status CUDAExecutable::placeExchanges() {
  exchangeCalls = plan::exchangeCalls(graph);
  onLink.resize(exchangeCalls.size());
  int64_t onHost = 0;
  auto take = [](int64_t &end, int64_t bytes) {
    const int64_t offset = end;
    end += OffsetAllocator::rounded(bytes);
    return offset;
  };
  auto takeArray = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return take(onHost, array.copies * array.bytesPerCopy());
  };
  struct Places {
    int64_t from, to, staging;
  };
  std::vector<Places> places;
  for (size_t e = 0; e < exchangeCalls.size(); ++e) {
    const Exchange &exchange = graph.exchanges[e];
    // The host looks at sums whether they are finite.
    if (gpus.link && !options.checkNonFinite)
      onLink[e].emplace(exchangeOnLink(exchangeCalls[e].layout));
    if (onLink[e] && !onLink[e]->isPossible())
      onLink[e].reset();
    if (onLink[e])
      places.push_back({-1, -1, take(linkBytes, onLink[e]->stagingBytes())});
    else
      places.push_back(
          {exchange.from < 0 ? -1 : takeArray(unsigned(exchange.from)),
           takeArray(exchange.to),
           take(onHost, exchangeCalls[e].layout.stagingBytes)});
  }
  if (std::ranges::any_of(onLink, &std::optional<DeviceExchange>::has_value)) {
    Result<Block> block = card->allocate(linkBytes);
    if (!block)
      return block.error();
    linkBlock = std::move(*block);
  }
  if (onHost > 0) {
    Result<std::shared_ptr<char>> block = card->allocateHost(onHost);
    if (!block)
      return block.error();
    exchangeBlock = std::move(*block);
  }
  char *begin = exchangeBlock.get();
  for (size_t e = 0; e < places.size(); ++e) {
    const Places &place = places[e];
    if (onLink[e])
      exchangeMemory.push_back(
          {nullptr, nullptr, linkBlock.get() + place.staging});
    else
      exchangeMemory.push_back({place.from < 0 ? nullptr : begin + place.from,
                                begin + place.to, begin + place.staging});
  }
  return Success();
}

/// The sums of one step over one group of cards are one transfer, in the place
/// of the last one, since the step's copies in front of a sum bring it its
/// addends. Calls are in the order of the program, which all cards have.
void CUDAExecutable::joinSums() {
  jointSums.resize(exchangeCalls.size());
  std::vector<unsigned> joined;
  unsigned step = 0;
  auto finish = [&] {
    if (joined.empty())
      return;
    std::vector<unsigned> &sums = jointSums[joined.back()];
    sums = std::exchange(joined, {});
  };
  auto readsSum = [&](const Work &work) {
    return std::ranges::any_of(work.accesses, [&](const Access &access) {
      return std::ranges::any_of(joined, [&](unsigned exchange) {
        return graph.buffers[access.buffer].memory ==
               graph.buffers[graph.exchanges[exchange].to].memory;
      });
    });
  };
  for (const Call &call : calls) {
    const Work &work = *call.work;
    const DeviceExchange *device = work.isExchange() && onLink[work.exchange]
                                       ? &*onLink[work.exchange]
                                       : nullptr;
    const bool isSum = device && device->isSumOfLink();
    if (isSum && work.kind == Work::Kind::Arrival)
      continue;
    const bool isApart =
        work.step != step ||
        (isSum ? !joined.empty() &&
                     !std::ranges::equal(onLink[joined.back()]->group(),
                                         device->group())
               : readsSum(work));
    if (isApart)
      finish();
    step = work.step;
    if (isSum)
      joined.push_back(work.exchange);
  }
  finish();
}

ExchangeLayout::Memory CUDAExecutable::memoryOnLink(unsigned exchange,
                                                    const Frame &frame) const {
  auto address = [&](unsigned buffer) {
    return frame.address(graph.buffers[buffer].memory, 0);
  };
  const Exchange &buffers = graph.exchanges[exchange];
  return {buffers.from < 0 ? nullptr : address(unsigned(buffers.from)),
          address(buffers.to), exchangeMemory[exchange].staging};
}

Status CUDAExecutable::enqueueOnLink(const Work &work, const Frame &frame,
                                     Run &run) {
  const DeviceExchange &device = *onLink[work.exchange];
  const CardLink::Messages messages{run.messages + work.exchange *
                                                       DeviceExchange::MESSAGES,
                                    exchanging->timeout};
  if (!device.isSumOfLink()) {
    const ExchangeLayout::Memory memory = memoryOnLink(work.exchange, frame);
    return work.kind == Work::Kind::Exchange ? device.begin(memory, messages)
                                             : device.end(memory);
  }
  if (work.kind == Work::Kind::Arrival || jointSums[work.exchange].empty())
    return Success();
  std::vector<CardLink::Sum> sums;
  sums.reserve(jointSums[work.exchange].size());
  for (unsigned exchange : jointSums[work.exchange])
    sums.push_back(onLink[exchange]->sumOfLink(memoryOnLink(exchange, frame)));
  return gpus.link->allReduce(device.group(), sums, messages);
}

/// Begins or ends one.
Status CUDAExecutable::enqueueExchange(const Work &work, const Frame &frame,
                                       Run &run) {
  const Exchange &exchange = graph.exchanges[work.exchange];
  const ExchangeCall::Memory &host = exchangeMemory[work.exchange];
  auto bytesOf = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return array.copies * array.bytesPerCopy();
  };
  auto address = [&](unsigned buffer) {
    return frame.address(graph.buffers[buffer].memory, 0);
  };
  if (onLink[work.exchange])
    return enqueueOnLink(work, frame, run);
  if (work.kind == Work::Kind::Exchange) {
    // A target has sums already, or parts that others do not send.
    Status brought =
        card->copyToHost(host.to, address(exchange.to), bytesOf(exchange.to));
    if (brought && exchange.from >= 0)
      brought = card->copyToHost(host.from, address(unsigned(exchange.from)),
                                 bytesOf(unsigned(exchange.from)));
    if (brought)
      brought = card->synchronize();
    if (!brought)
      return brought;
    if (run.failure.any())
      return run.failure.error(loaded);
    run.exchanges->begin(work);
    return Success();
  }
  if (Status ended = run.exchanges->end(work); !ended)
    return ended;
  if (checksTogether() && !run.exchanges->isFinite(work))
    run.nonFinite.report(work.step,
                         nonFiniteError(graph.buffers[exchange.to].name));
  return card->copyFromHost(address(exchange.to), host.to,
                            bytesOf(exchange.to));
}

Result<Event> CUDAExecutable::finishTogether(Run &run, Status outcome) {
  if (outcome) {
    if (checksTogether())
      outcome = agreeOnOutcome(*gpus.communicator(), *exchanging, run.nonFinite,
                               loaded);
    return outcome ? Result<Event>(Event()) : outcome.error();
  }
  const Error error =
      run.failure.any() ? run.failure.error(loaded) : outcome.error();
  run.exchanges->fail(error, run.failure);
  return error;
}

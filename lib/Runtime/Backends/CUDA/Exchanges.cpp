// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a card exchanges with the other cards of a mesh, by way of the host.
#include "CUDAExecutable.h"

#include "meshloom/Runtime/NonFinite.h"
#include "meshloom/Runtime/Plan/AgreedOutcome.h"

using namespace meshloom;
using namespace meshloom::cuda;
using namespace meshloom::plan;

/// An exchange has memory of its own: others go on between its beginning and
/// its end.
Status CUDAExecutable::placeExchanges() {
  exchangeCalls = plan::exchangeCalls(graph);
  int64_t end = 0;
  auto take = [&](int64_t bytes) {
    const int64_t offset = end;
    end += OffsetAllocator::rounded(bytes);
    return offset;
  };
  auto takeArray = [&](unsigned buffer) {
    const GraphBuffer &array = graph.buffers[buffer];
    return take(array.copies * array.bytesPerCopy());
  };
  struct Places {
    int64_t from, to, staging;
  };
  std::vector<Places> places;
  for (size_t e = 0; e < exchangeCalls.size(); ++e) {
    const Exchange &exchange = graph.exchanges[e];
    places.push_back(
        {exchange.from < 0 ? -1 : takeArray(unsigned(exchange.from)),
         takeArray(exchange.to), take(exchangeCalls[e].stagingBytes())});
  }
  if (places.empty())
    return Success();
  Result<std::shared_ptr<char>> block = card->allocateHost(end);
  if (!block)
    return block.error();
  exchangeBlock = std::move(*block);
  char *begin = exchangeBlock.get();
  for (const Places &place : places)
    exchangeMemory.push_back({place.from < 0 ? nullptr : begin + place.from,
                              begin + place.to, begin + place.staging});
  return Success();
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

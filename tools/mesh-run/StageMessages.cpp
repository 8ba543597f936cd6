// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StageMessages.h"

#include "meshloom/Core/TensorSize.h"

#include <fmt/format.h>

#include <numeric>

namespace meshloom::run {

Result<StageMessages> StageMessages::between(const JoinedProcesses &processes,
                                             int64_t sets) {
  if (sets < processes.group.size)
    return Error(fmt::format(
        "the pipeline has {} sets of devices and runs in {} processes; "
        "expected no more processes than sets, of which each process has one "
        "or more",
        sets, processes.group.size));
  return StageMessages(processes, sets);
}

void StageMessages::send(const Array &array, int64_t to, uint64_t tag) {
  const Event done = sent.emplace_back(Event::pending());
  array.event().then([array, done, to, tag,
                      communicator =
                          processes.communicator](const Status &computed) {
    Result<HostBytes> bytes =
        computed ? array.toHost() : Result<HostBytes>(computed.error());
    if (!bytes) {
      communicator->abort(bytes.error());
      return done.fail(bytes.error());
    }
    const auto value = std::make_shared<const HostBytes>(std::move(*bytes));
    const Communicator::Outgoing message{int(to), *value};
    communicator->exchange(tag, {&message, 1}, {})
        .then([value, done](const Status &outcome) { done.finish(outcome); });
  });
}

Result<Array> StageMessages::receive(const std::shared_ptr<Client> &client,
                                     const ArrayType &type, int64_t from,
                                     uint64_t tag) {
  const auto value =
      std::make_shared<HostBytes>(size_t(*tensorBytes(type.shape, type.dtype)));
  const Communicator::Incoming message{int(from), *value};
  return client->fromHostLater(
      type, value, processes.communicator->exchange(tag, {}, {&message, 1}));
}

Status StageMessages::finish() {
  const Event end = Event::whenAll(sent);
  sent.clear();
  return end.wait();
}

Status StageMessages::spread(HostBytes &bytes, int64_t set) {
  if (processes.isAlone())
    return Success();
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  if (!isHere(set))
    incoming.push_back({int(ownerOf(set)), bytes});
  else
    for (int64_t rank = 0; rank < size(); ++rank)
      if (rank != processes.group.rank)
        outgoing.push_back({int(rank), bytes});
  Communicator &communicator = *processes.communicator;
  return communicator.wait(
      communicator.exchange(nextTag(), outgoing, incoming));
}

Status StageMessages::spreadLargest(std::vector<int64_t> &numbers) {
  if (processes.isAlone())
    return Success();
  std::vector<int> ranks(static_cast<size_t>(size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  Communicator &communicator = *processes.communicator;
  return communicator.wait(
      communicator.allReduce(ranks, nextTag(), DType::I64, ReduceKind::Max,
                             numbers.data(), std::ssize(numbers)));
}

} // namespace meshloom::run

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages between owners of submeshes, see Transfers.h.
#include "meshloom/Engine/Transfers.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/Core/Hash.h"
#include "meshloom/Core/MeshUnification.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/LaunchedRuns.h"
#include "meshloom/Runtime/RemoteClient.h"

#include <fmt/format.h>

#include <deque>
#include <map>

namespace meshloom::detail {

namespace {

/// Messages to one process, or from one, begin one after the other.
class Line {
public:
  /// The end of the last message; `end` is that of the next one. Waits where
  /// too many have not ended: each holds a value.
  Event enter(const Event &end) {
    constexpr size_t most = 64;
    std::unique_lock lock(mutex);
    while (!events.empty() && events.front().isReady())
      events.pop_front();
    const Event before = events.empty() ? Event() : events.back();
    const std::optional<Event> oldest =
        events.size() < most ? std::nullopt : std::optional(events.front());
    events.push_back(end);
    lock.unlock();
    // The oldest message was called for before, and needs nothing of this
    // thread.
    if (oldest)
      (void)oldest->wait();
    return before;
  }

private:
  std::mutex mutex;
  std::deque<Event> events; ///< of messages that may not have ended
};

Line &lineWith(int64_t process, bool isSend) {
  // Never destroyed: messages may end when everything else does.
  static std::mutex &mutex = *new std::mutex;
  static auto &lines = *new std::map<std::pair<int64_t, bool>, Line>;
  std::lock_guard lock(mutex);
  return lines[{process, isSend}];
}

/// A message of a move.
struct Transfer {
  std::shared_ptr<Communicator> communicator;
  int64_t peer;
  uint64_t tag;
  TransferTimeout timeout = CollectiveTimeout::current();
  /// A process does not leave the others before it has ended.
  std::shared_ptr<const LaunchedRun> counted =
      std::make_shared<const LaunchedRun>();
};

/// Sends what `value` holds once `ready` is complete.
void send(const Transfer &transfer, const std::shared_ptr<HostBytes> &value,
          const Event &ready) {
  const Event done = Event::pending();
  auto post = [transfer, value, done](const Status &computed) {
    if (!computed)
      transfer.communicator->abort(computed.error());
    const Communicator::Outgoing message{int(transfer.peer), *value};
    transfer.communicator
        ->exchange(transfer.tag, {&message, 1}, {}, transfer.timeout)
        .then([transfer, value, done](const Status &outcome) {
          done.finish(outcome);
        });
  };
  lineWith(transfer.peer, /*isSend=*/true)
      .enter(done)
      .then([ready, post](const Status &) { ready.then(post); });
}

/// Complete when `value`, which has its size, holds what comes.
Event receive(const Transfer &transfer,
              const std::shared_ptr<HostBytes> &value) {
  const Event done = Event::pending();
  lineWith(transfer.peer, /*isSend=*/false)
      .enter(done)
      .then([transfer, value, done](const Status &) {
        const Communicator::Incoming message{int(transfer.peer), *value};
        transfer.communicator
            ->exchange(transfer.tag, {}, {&message, 1}, transfer.timeout)
            .then([transfer, value, done](const Status &outcome) {
              done.finish(outcome);
            });
      });
  return done;
}

/// Complete when `value` holds the array's global value.
Event read(Array array, const std::shared_ptr<HostBytes> &value) {
  const Event done = Event::pending(), computed = array.event();
  computed.then([array = std::move(array), value, done](const Status &outcome) {
    if (!outcome)
      return done.finish(outcome);
    Result<HostBytes> bytes = array.toHost();
    if (!bytes)
      return done.fail(bytes.error());
    *value = std::move(*bytes);
    done.complete();
  });
  return done;
}

/// From the devices of process `from` to those of another one, or of all.
Result<Array> sent(Array array, ArrayType type, int64_t from,
                   const std::shared_ptr<const SharedCall> &call) {
  const Processes &group = processes("relayout");
  if (!group.communicator)
    return Error("expected the other processes of the mesh, which this one has "
                 "left");
  if (const std::optional<Error> failure = group.communicator->failure())
    return *failure;
  const uint64_t tag = nextTag(group, call);
  const int64_t rank = group.group.rank;
  const std::optional<int64_t> to = ownerOf(type.layout.mesh());
  auto value = std::make_shared<HostBytes>();
  if (rank == from) {
    const Event ready = read(std::move(array), value);
    for (int64_t peer = 0; peer < group.group.size; ++peer)
      if (peer != rank && (!to || peer == *to))
        send({group.communicator, peer, tag}, value, ready);
    if (to)
      return remoteArray(std::move(type));
    return clientFor(type.layout.mesh())->fromHostLater(type, value, ready);
  }
  if (to && *to != rank)
    return remoteArray(std::move(type));
  value->resize(size_t(elementCount(type.shape)) * byteWidth(type.dtype));
  const Event came = receive({group.communicator, from, tag}, value);
  return clientFor(type.layout.mesh())->fromHostLater(type, value, came);
}

} // namespace

bool needsMessages(const Mesh &from, const Mesh &to) {
  const std::optional<int64_t> source = ownerOf(from);
  return source &&
         (spansThisProcess(to) || ownerOf(to).value_or(*source) != *source);
}

std::shared_ptr<const SharedCall>
transferCall(std::string_view doer, const ArrayType &from, const Layout &to) {
  auto placeOf = [](const Layout &layout) {
    const std::optional<int64_t> owner = ownerOf(layout.mesh());
    return owner ? fmt::format("rank {}", *owner) : "all ranks";
  };
  const std::string move =
      fmt::format("sends {} from {} to {}", typeText(from.dtype, from.shape),
                  placeOf(from.layout), placeOf(to));
  // Not the doer: functions without a name have one by their number, which
  // differs where a process has made others of its own.
  StableHash hash;
  hash.add(move);
  hash.add(from.layout.spec_string());
  hash.add(to.spec_string());
  return std::make_shared<const SharedCall>(
      SharedCall{hash.value(), fmt::format("{}, which {}", doer, move)});
}

Result<Array> movedTo(Array array, const Layout &layout,
                      std::shared_ptr<const SharedCall> call) {
  const Layout &from = array.layout();
  if (from == layout)
    return array;
  ArrayType type{array.dtype(), array.shape(), layout};
  if (onSameDevices(from.mesh(), layout.mesh()) &&
      haveSameShards(from, layout, array.shape()))
    return std::move(array).as(std::move(type));
  if (needsMessages(from.mesh(), layout.mesh())) {
    if (!call) {
      const std::source_location line = callSiteOr(std::source_location());
      std::string doer(callNameOr("relayout"));
      if (line.line() != 0)
        doer += fmt::format(" (at {}:{})", line.file_name(), line.line());
      call = transferCall(doer, array.type(), layout);
    }
    const int64_t sender = *ownerOf(from.mesh());
    return sent(std::move(array), std::move(type), sender, call);
  }
  // Its owner has the value already.
  if (layout.mesh().is_remote())
    return remoteArray(std::move(type));
  return std::move(array).movedTo(clientFor(layout.mesh()), type);
}

void giveUpTransfers(const Error &error) {
  if (const Processes &group = processes("relayout"); group.communicator)
    group.communicator->abort(error);
}

} // namespace meshloom::detail

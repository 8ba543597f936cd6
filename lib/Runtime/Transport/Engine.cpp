// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's messages: matching, frames, failures.
#include "Engine.h"

#include <cstring>
#include <fmt/format.h>

using namespace meshloom;

Engine::Ending::~Ending() {
  if (error)
    event.fail(*error);
  else
    event.complete();
}

Engine::Engine(int rank, std::vector<Peer> peers, std::shared_ptr<Bell> bell,
               std::chrono::milliseconds timeout,
               std::chrono::microseconds spin, std::shared_ptr<void> keep)
    : self(rank), bell(std::move(bell)), keep(std::move(keep)),
      channels(peers.size()), timeout(timeout), mostSpin(spin), spin(spin),
      loopback(makeInProcessTransports(1, peers[rank].host)[0]),
      nextCheck(Clock::now()) {
  groups.reserve(peers.size());
  for (size_t peer = 0; peer < peers.size(); ++peer) {
    groups.push_back(peers[peer].memoryGroup);
    channels[peer].host = std::move(peers[peer].host);
    channels[peer].link = std::move(peers[peer].link);
  }
  background = std::thread([this] { runBackground(); });
}

Engine::~Engine() {
  closing = true;
  bell->wake(Bell::Background);
  background.join();
  // No other thread has the role: nobody may use a transport any longer. The
  // last messages of peers, such as why one gives up, are still to be read.
  pass();
  const Error error("[transport] this rank has closed its transport",
                    ErrorCode::FAILED_PRECONDITION);
  closeAll(nullptr, error);
  for (const auto &transfer : posted)
    transfer->done.fail(error);
}

/// Tells every peer the failure for which nothing more comes (null: all is
/// done), and fails what is pending here with `error`.
void Engine::closeAll(const Error *failure, const Error &error) {
  for (int peer = 0; peer < size(); ++peer) {
    Channel &channel = channels[peer];
    if (!channel.link)
      continue;
    channel.link->close(failure);
    failChannel(peer, error);
    channel.early.clear();
  }
}

std::string Engine::nameOf(int peer) const {
  return fmt::format("rank {} (host {})", peer, channels[peer].host);
}

Error Engine::mismatch(int from, int to, uint64_t tag, int64_t sent,
                       int64_t expected) const {
  return Error(fmt::format("[transport] {} sends {} bytes by tag {:#x}, {} "
                           "expects {}: they do not "
                           "run the same program",
                           nameOf(from), sent, tag, nameOf(to), expected),
               ErrorCode::FAILED_PRECONDITION);
}

std::unique_ptr<Engine::Transfer>
Engine::transferWith(int peer, uint64_t tag, int64_t bytes,
                     TransferTimeout limit) const {
  auto transfer = std::make_unique<Transfer>();
  transfer->sending = false;
  transfer->peer = peer;
  transfer->tag = tag;
  transfer->bytes = bytes;
  transfer->timeout = limit.value_or(timeout);
  return transfer;
}

Event Engine::send(int to, uint64_t tag, std::span<const char> bytes,
                   TransferTimeout limit) {
  if (to == self)
    return loopback->send(0, tag, bytes, limit);
  auto transfer = transferWith(to, tag, int64_t(bytes.size()), limit);
  transfer->sending = true;
  transfer->source = bytes.data();
  return post(std::move(transfer));
}

Event Engine::receive(int from, uint64_t tag, std::span<char> into,
                      TransferTimeout limit) {
  if (from == self)
    return loopback->receive(0, tag, into, limit);
  auto transfer = transferWith(from, tag, int64_t(into.size()), limit);
  transfer->into = into.data();
  return post(std::move(transfer));
}

Event Engine::receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                      TransferTimeout limit) {
  if (from == self)
    return loopback->receive(0, tag, bytes, std::move(consume), limit);
  auto transfer = transferWith(from, tag, bytes, limit);
  transfer->consume = std::move(consume);
  transfer->ending = std::make_shared<Ending>();
  transfer->ending->event = transfer->done;
  return post(std::move(transfer));
}

void Engine::abort(const Error &error) {
  {
    std::lock_guard lock(postMutex);
    if (aborting)
      return;
    aborting = error;
    somethingPosted = true;
  }
  loopback->abort(error);
  bell->ring();
  if (takeRole()) {
    pass();
    giveRole();
  }
}

/// Takes over what was posted: now this thread has it.
void Engine::accept(std::unique_ptr<Transfer> transfer) {
  Channel &channel = channels[transfer->peer];
  // Messages that a peer sent before it ended are still there.
  if (channel.failed &&
      (transfer->sending || !channel.early.contains(transfer->tag))) {
    if (transfer->ending)
      transfer->ending->error = *channel.failed;
    else
      transfer->done.fail(*channel.failed);
    return;
  }
  transfer->since = Clock::now();
  if (const std::chrono::milliseconds least = leastTimeout;
      transfer->timeout.count() > 0 &&
      (pending == 0 || least.count() == 0 || transfer->timeout < least))
    leastTimeout = transfer->timeout;
  if (!transfer->sending)
    return acceptReceive(channel, std::move(transfer));
  const uint64_t tag = transfer->tag;
  Queue &queue = channel.sends[tag];
  queue.push_back(std::move(transfer));
  ++channel.pending;
  ++pending;
  if (queue.size() == 1)
    start(channel, tag);
}

void Engine::acceptReceive(Channel &channel,
                           std::unique_ptr<Transfer> transfer) {
  const int peer = transfer->peer;
  const auto early = channel.early.find(transfer->tag);
  if (early != channel.early.end()) {
    std::shared_ptr<std::string> message = std::move(early->second.front());
    early->second.pop_front();
    if (early->second.empty())
      channel.early.erase(early);
    if (int64_t(message->size()) != transfer->bytes) {
      const Error error = mismatch(peer, self, transfer->tag,
                                   int64_t(message->size()), transfer->bytes);
      if (transfer->ending)
        transfer->ending->error = error;
      else
        transfer->done.fail(error);
      transfer.reset();
      return failChannel(peer, error);
    }
    FrameHeader header;
    header.total = header.bytes = transfer->bytes;
    takePart(*transfer, header, message->data(), [&] { return message; });
    return finishReceive(*transfer);
  }
  if (transfer->bytes > EAGER_BYTES) {
    FrameHeader header;
    header.kind = FrameKind::Ready;
    header.tag = transfer->tag;
    header.total = transfer->bytes;
    channel.toSay.push_back(header);
  }
  ++channel.pending;
  ++pending;
  channel.receives[transfer->tag].push_back(std::move(transfer));
}

/// Lets the first send of a tag go, if it may.
void Engine::start(Channel &channel, uint64_t tag) {
  const auto queue = channel.sends.find(tag);
  if (queue == channel.sends.end())
    return;
  Transfer &first = *queue->second.front();
  if (first.bytes <= EAGER_BYTES)
    return channel.small.push_back(&first);
  const auto ready = channel.ready.find(tag);
  if (ready == channel.ready.end())
    return;
  const int64_t expected = ready->second.front();
  ready->second.pop_front();
  if (ready->second.empty())
    channel.ready.erase(ready);
  if (expected != first.bytes)
    return failChannel(first.peer,
                       mismatch(self, first.peer, tag, first.bytes, expected));
  channel.large.push_back(&first);
}

void Engine::finishSend(Channel &channel, Transfer &transfer) {
  const auto entry = channel.sends.find(transfer.tag);
  Queue &queue = entry->second;
  const std::unique_ptr<Transfer> ended = std::move(queue.front());
  queue.pop_front();
  --channel.pending;
  --pending;
  if (queue.empty())
    channel.sends.erase(entry);
  else
    start(channel, ended->tag);
  ended->done.complete();
}

/// Writes what fits: first what the peer waits for, then small messages, then
/// large ones, one after the other.
bool Engine::sendFrames(Channel &channel) {
  if (channel.toSay.empty() && channel.small.empty() && channel.large.empty())
    return false;
  Link &link = *channel.link;
  bool moved = false;
  while (!channel.toSay.empty() && link.hasRoom(0)) {
    link.write(channel.toSay.front(), nullptr);
    channel.toSay.pop_front();
    moved = true;
  }
  while (channel.toSay.empty() && !channel.small.empty() &&
         link.hasRoom(channel.small.front()->bytes)) {
    Transfer &transfer = *channel.small.front();
    channel.small.pop_front();
    FrameHeader header;
    header.tag = transfer.tag;
    header.total = header.bytes = transfer.bytes;
    link.write(header, transfer.source);
    moved = true;
    finishSend(channel, transfer);
  }
  while (channel.toSay.empty() && channel.small.empty() &&
         !channel.large.empty()) {
    Transfer &transfer = *channel.large.front();
    FrameHeader header;
    header.tag = transfer.tag;
    header.total = transfer.bytes;
    header.offset = transfer.moved;
    header.bytes = std::min(link.mostBytes(), transfer.bytes - transfer.moved);
    if (!link.hasRoom(header.bytes))
      break;
    link.write(header, transfer.source + transfer.moved);
    // The peer can work on it while the next one is written.
    link.flush();
    transfer.moved += header.bytes;
    moved = true;
    if (transfer.moved == transfer.bytes) {
      channel.large.pop_front();
      finishSend(channel, transfer);
    }
  }
  if (moved) {
    link.flush();
    channel.lastSent = Clock::now();
  }
  return moved;
}

bool Engine::receiveFrames(int peer, Channel &channel) {
  Link &link = *channel.link;
  if (!link.hasNext()) {
    const std::optional<Error> end = link.ended();
    if (!end || link.hasNext())
      return false;
    failChannel(peer, end->withMessage(fmt::format(
                          "[transport] {}: {}", nameOf(peer), end->message())));
    return true;
  }
  bool isProgress = false;
  // Others wait too.
  for (int count = 0; count < 32 && link.hasNext(); ++count) {
    const Result<std::optional<Frame>> next = link.next();
    std::optional<Error> error;
    if (!next) {
      error = next.error().withMessage(fmt::format(
          "[transport] {}: {}", nameOf(peer), next.error().message()));
    } else if (const std::optional<Frame> frame = *next) {
      const FrameKind kind = frame->header.kind;
      isProgress |= kind != FrameKind::Note && kind != FrameKind::Offer;
      switch (kind) {
      case FrameKind::Data:
        error = takeData(peer, channel, *frame);
        break;
      case FrameKind::Ready:
        channel.ready[frame->header.tag].push_back(frame->header.total);
        link.pop();
        // Else an earlier message of the tag is still on its way.
        if (const auto queue = channel.sends.find(frame->header.tag);
            queue != channel.sends.end() &&
            queue->second.front()->bytes > EAGER_BYTES &&
            std::find(channel.large.begin(), channel.large.end(),
                      queue->second.front().get()) == channel.large.end())
          start(channel, frame->header.tag);
        break;
      case FrameKind::Note:
        error = takeNote(peer, channel, *frame);
        link.pop();
        break;
      case FrameKind::Offer:
        error = takeOffer(peer, channel, frame->header);
        link.pop();
        break;
      default:
        error = Error(
            fmt::format("[transport] {} sent bytes that are not a message",
                        nameOf(peer)),
            ErrorCode::DATA_LOSS);
      }
    }
    if (error)
      failChannel(peer, *error);
    if (channel.failed)
      return true;
  }
  if (isProgress)
    channel.lastReceived = Clock::now();
  return true;
}

/// Gives a part to the receive that waits for it, and the frame back.
std::optional<Error> Engine::takeData(int peer, Channel &channel,
                                      const Frame &frame) {
  Link &link = *channel.link;
  const FrameHeader &header = frame.header;
  const bool whole = header.bytes == header.total;
  const auto entry = channel.receives.find(header.tag);
  if (entry == channel.receives.end()) {
    if (!whole || header.total > EAGER_BYTES)
      return Error(fmt::format("[transport] {} sent a message of {} bytes that "
                               "this rank does not wait for",
                               nameOf(peer), header.total),
                   ErrorCode::DATA_LOSS);
    channel.early[header.tag].push_back(
        std::make_shared<std::string>(frame.payload, header.bytes));
    link.pop();
    return std::nullopt;
  }
  Transfer &transfer = *entry->second.front();
  if (header.total != transfer.bytes)
    return mismatch(peer, self, header.tag, header.total, transfer.bytes);
  if (header.offset != transfer.moved)
    return Error(fmt::format("[transport] {} left out a part of a message",
                             nameOf(peer)),
                 ErrorCode::DATA_LOSS);
  bool held = false;
  takePart(transfer, header, frame.payload, [&] {
    held = true;
    return link.popHeld();
  });
  if (!held)
    link.pop();
  if (transfer.moved < transfer.bytes)
    return std::nullopt;
  const std::unique_ptr<Transfer> ended = std::move(entry->second.front());
  entry->second.pop_front();
  if (entry->second.empty())
    channel.receives.erase(entry);
  --channel.pending;
  --pending;
  finishReceive(*ended);
  return std::nullopt;
}

void Engine::takePart(Transfer &transfer, const FrameHeader &header,
                      const char *payload,
                      const std::function<Arrived()> &hold) {
  transfer.moved += header.bytes;
  if (header.bytes == 0)
    return;
  if (!transfer.consume) {
    std::memcpy(transfer.into + header.offset, payload, header.bytes);
    return;
  }
  /// Given back by its last holder, who then may end the transfer.
  struct Held {
    std::shared_ptr<Ending> ending;
    Arrived part;
  };
  auto held = std::make_shared<Held>();
  held->ending = transfer.ending;
  held->part = hold();
  transfer.consume(header.offset, std::span(payload, size_t(header.bytes)),
                   std::move(held));
}

void Engine::finishReceive(Transfer &transfer) {
  if (transfer.ending)
    transfer.ending.reset();
  else
    transfer.done.complete();
}

/// Ends everything with a peer, for good.
void Engine::failChannel(int peer, const Error &error) {
  Channel &channel = channels[peer];
  if (channel.failed)
    return;
  channel.failed = error;
  channel.small.clear();
  channel.large.clear();
  channel.toSay.clear();
  channel.ready.clear();
  pending -= channel.pending;
  channel.pending = 0;
  const auto sends = std::move(channel.sends);
  const auto receives = std::move(channel.receives);
  channel.sends.clear();
  channel.receives.clear();
  for (const auto *transfers : {&sends, &receives})
    for (const auto &[tag, queue] : *transfers)
      for (const std::unique_ptr<Transfer> &transfer : queue)
        if (transfer->ending)
          transfer->ending->error = error;
        else
          transfer->done.fail(error);
}

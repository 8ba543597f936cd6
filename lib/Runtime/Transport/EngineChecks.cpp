// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's handling of transfers that do not move.
#include "Engine.h"

#include "meshloom/Runtime/CallOrder.h"

#include <algorithm>
#include <fmt/format.h>

using namespace meshloom;
using namespace std::chrono_literals;

/// After so long without progress it is worth asking why: far more than what
/// ranks wait for each other in a step, and far less than a second.
static constexpr std::chrono::milliseconds MOMENT = 200ms;
static constexpr int64_t NOTE_BYTES = 12 << 10;

void Engine::compareCalls(std::shared_ptr<const CallOrder> order) {
  while (!takeRole())
    std::this_thread::yield();
  calls = std::move(order);
  giveRole();
}

void Engine::leave() {
  while (!takeRole())
    std::this_thread::yield();
  pass();
  closeAll(nullptr, Error("[transport] this rank has left the others",
                          ErrorCode::UNAVAILABLE));
  giveRole();
}

/// Aborts like `abort`; called by the thread with the role.
void Engine::giveUp(const Error &error) {
  std::lock_guard lock(postMutex);
  if (!aborting)
    aborting = error;
  somethingPosted = true;
}

/// Says what this rank waits with, where there is room for it.
void Engine::tell(int peer, Channel &channel, bool asks) {
  Link &link = *channel.link;
  channel.told = Clock::now();
  if (calls && (!asks || !calls->isEmpty())) {
    const std::string note =
        calls->note(size_t(std::min(NOTE_BYTES, link.mostBytes())));
    FrameHeader header;
    header.kind = FrameKind::Note;
    header.tag = asks ? 1 : 0;
    header.total = header.bytes = int64_t(note.size());
    if (link.hasRoom(header.bytes))
      link.write(header, note.data());
  }
  for (const auto &[tag, queue] : channel.sends) {
    const Transfer &first = *queue.front();
    if (!asks || first.bytes <= EAGER_BYTES ||
        std::find(channel.large.begin(), channel.large.end(), &first) !=
            channel.large.end())
      continue;
    FrameHeader header;
    header.kind = FrameKind::Offer;
    header.tag = tag;
    header.total = first.bytes;
    if (link.hasRoom(0))
      link.write(header, nullptr);
  }
  link.flush();
}

std::optional<Error> Engine::takeNote(int peer, Channel &channel,
                                      const Frame &frame) {
  if (!calls)
    return std::nullopt;
  auto compared = calls->compare(
      std::string_view(frame.payload, size_t(frame.header.bytes)), nameOf(self),
      nameOf(peer), self < peer);
  if (!compared)
    return compared.error().withMessage(fmt::format(
        "[transport] {}: {}", nameOf(peer), compared.error().message()));
  channel.position = {Clock::now(), compared->calls, std::move(compared->last),
                      std::move(compared->fewer)};
  if (!compared->difference.empty())
    giveUp(
        Error(std::move(compared->difference), ErrorCode::FAILED_PRECONDITION));
  else if (frame.header.tag != 0)
    tell(peer, channel, /*asks=*/false);
  return std::nullopt;
}

/// The first message of a tag that has not come yet meets the first receive.
std::optional<Error> Engine::takeOffer(int peer, const Channel &channel,
                                       const FrameHeader &header) const {
  const auto receives = channel.receives.find(header.tag);
  if (receives == channel.receives.end() ||
      receives->second.front()->bytes == header.total)
    return std::nullopt;
  return mismatch(peer, self, header.tag, header.total,
                  receives->second.front()->bytes);
}

const Engine::Channel::Position *Engine::recentPosition(int peer) const {
  const Channel &channel = channels[peer];
  return !channel.failed && channel.position &&
                 channel.position->heard > Clock::now() - 5 * MOMENT
             ? &*channel.position
             : nullptr;
}

/// Calls of other threads are in no order: who has made one less often may not
/// be the culprit, but has not come in time.
std::optional<Error>
Engine::behindInOtherThreads(std::chrono::milliseconds limit) const {
  for (int peer = 0; peer < size(); ++peer) {
    const Channel::Position *position = recentPosition(peer);
    if (!position || !position->fewer)
      continue;
    const CallOrder::Comparison::Fewer &fewer = *position->fewer;
    return Error(
        fmt::format(
            "[transport] DeadlineExceeded: {} runs, but did not come within {} "
            "ms to the call that this rank waits for: of the calls outside of "
            "the main thread, it has made {} {} times, this rank {} times. "
            "Every process makes the same calls in such threads, in any order",
            nameOf(peer), limit.count(), fewer.call, fewer.other, fewer.here),
        ErrorCode::DEADLINE_EXCEEDED);
  }
  return std::nullopt;
}

/// The rank that has called least of those that have said so just now, where
/// that is less than this one has.
std::optional<Error> Engine::behind(std::chrono::milliseconds limit) const {
  if (!calls)
    return std::nullopt;
  const uint64_t callsHere = calls->calls();
  int last = -1;
  for (int peer = 0; peer < size(); ++peer)
    if (const Channel::Position *position = recentPosition(peer);
        position && position->calls <
                        (last < 0 ? callsHere : channels[last].position->calls))
      last = peer;
  if (last < 0)
    return behindInOtherThreads(limit);
  const Channel::Position &position = *channels[last].position;
  return Error(
      fmt::format(
          "[transport] DeadlineExceeded: {} runs, but did not come within {} "
          "ms to the call that this rank waits for: of the calls that all "
          "processes make, it has made {}{}, this rank {}, the last of them {}",
          nameOf(last), limit.count(), position.calls,
          position.last.empty()
              ? ""
              : fmt::format(", the last of them {}", position.last),
          callsHere, calls->last()),
      ErrorCode::DEADLINE_EXCEEDED);
}

/// A transfer is late when neither it nor anything else in its direction has
/// moved: a peer that works off a long queue is not. One that does not even say
/// that it runs has failed. One that does may wait for the one that failed:
/// where that is not known to be behind, it gets the time again, so that all
/// ranks name the culprit.
void Engine::checkTimeouts() {
  const Clock::time_point now = Clock::now();
  if (now < nextCheck)
    return;
  nextCheck = now + std::chrono::milliseconds(10);
  for (int peer = 0; peer < size(); ++peer) {
    Channel &channel = channels[peer];
    const Transfer *late = nullptr;
    Clock::duration silence{}, longest{};
    auto findLate = [&](const auto &transfers, Clock::time_point last) {
      for (const auto &[tag, queue] : transfers)
        for (const std::unique_ptr<Transfer> &transfer : queue) {
          const Clock::duration waits = now - std::max(transfer->since, last);
          longest = std::max(longest, waits);
          if (transfer->timeout.count() > 0 && waits > transfer->timeout) {
            late = transfer.get();
            silence = waits;
          }
        }
    };
    findLate(channel.sends, channel.lastSent);
    findLate(channel.receives, channel.lastReceived);
    if (longest > MOMENT && now - channel.told > MOMENT)
      tell(peer, channel, /*asks=*/true);
    if (!late) {
      channel.asked.reset();
      continue;
    }
    if (!channel.asked) {
      channel.asked = now;
      channel.link->ask();
      continue;
    }
    const bool runs = channel.link->hasAnswered();
    if (runs)
      if (std::optional<Error> culprit = behind(late->timeout))
        return giveUp(*culprit);
    if (runs ? silence <= 2 * late->timeout
             : now - *channel.asked <=
                   std::min<Clock::duration>(late->timeout / 2,
                                             std::chrono::seconds(1)))
      continue;
    failChannel(
        peer,
        Error(fmt::format(
                  "[transport] DeadlineExceeded: {} {} within {} ms ({} of {} "
                  "bytes "
                  "{}, tag {:#x})",
                  nameOf(peer),
                  runs ? "runs, but waits for something else: it did not come "
                         "to the call that this rank waits for"
                       : "hangs, or cannot be reached: it did not answer",
                  late->timeout.count(), late->moved, late->bytes,
                  late->sending ? "sent" : "received", late->tag),
              ErrorCode::DEADLINE_EXCEEDED));
  }
}

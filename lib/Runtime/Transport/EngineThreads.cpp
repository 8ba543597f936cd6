// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine's threads: who has the role, and when it sleeps.
#include "Engine.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace std::chrono_literals;

static constexpr std::chrono::nanoseconds LEAST_SPIN = 2us;

static void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

Event Engine::post(std::unique_ptr<Transfer> transfer) {
  if (transfer->peer < 0 || transfer->peer >= size()) {
    const Error error(
        fmt::format("[transport] rank {} is not one of the {} ranks",
                    transfer->peer, size()));
    if (transfer->ending)
      transfer->ending->error = error;
    else
      transfer->done.fail(error);
    return transfer->done;
  }
  const Event done = transfer->done;
  {
    std::lock_guard lock(postMutex);
    posted.push_back(std::move(transfer));
    somethingPosted = true;
  }
  if (batches == 0)
    takeUp();
  return done;
}

void Engine::endBatch() {
  if (--batches == 0 && somethingPosted)
    takeUp();
}

/// Moves what was posted, or lets who has the role do so, should it sleep.
void Engine::takeUp() {
  if (takeRole()) {
    pass();
    giveRole();
  } else {
    bell->ring();
  }
}

/// Moves what can be moved. Whether anything could.
bool Engine::pass() {
  bool moved = false;
  if (somethingPosted) {
    std::vector<std::unique_ptr<Transfer>> taken;
    bool abortNow = false;
    {
      std::lock_guard lock(postMutex);
      taken.swap(posted);
      somethingPosted = false;
      abortNow = aborting && !aborted;
    }
    if (abortNow) {
      aborted = true;
      closeAll(&*aborting, *aborting);
    }
    for (std::unique_ptr<Transfer> &transfer : taken)
      accept(std::move(transfer));
    moved = true;
  }
  for (int peer = 0; peer < size(); ++peer) {
    Channel &channel = channels[peer];
    if (!channel.link || channel.failed)
      continue;
    // The order lets one pass answer what arrived.
    moved |= receiveFrames(peer, channel);
    if (!channel.failed)
      moved |= sendFrames(channel);
  }
  if (!moved || ++passes % 64 == 0)
    checkTimeouts();
  return moved;
}

/// Returns whether a pass might find something to do. With the role, or before
/// it is taken: then what links say may be out of date, which only costs a
/// pass.
bool Engine::hasWork() {
  if (somethingPosted)
    return true;
  for (Channel &channel : channels) {
    if (!channel.link || channel.failed)
      continue;
    if (channel.link->hasNext() || channel.link->ended())
      return true;
    const int64_t bytes =
        !channel.toSay.empty()   ? 0
        : !channel.small.empty() ? channel.small.front()->bytes
        : !channel.large.empty() ? std::min(channel.link->mostBytes(),
                                            channel.large.front()->bytes -
                                                channel.large.front()->moved)
                                 : -1;
    if (bytes >= 0 && channel.link->hasRoom(bytes))
      return true;
  }
  return false;
}

/// How long to sleep at most: timeouts are to be noticed.
std::chrono::milliseconds Engine::sleepTime() const {
  if (pending == 0)
    return -1ms;
  // Also without one: what waits for something else is to be noticed.
  const std::chrono::milliseconds limit = leastTimeout;
  return limit.count() > 0 ? std::clamp(limit / 8, 1ms, 100ms) : 100ms;
}

/// From now on the engine's thread is the one to wake.
void Engine::giveRole() {
  bell->setSleeper(Bell::Background);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const bool more = hasWork();
  const bool timed = sleepTime().count() >= 0 && sleepsForEver;
  role = false;
  // A bell that rang before found nobody who could take the role.
  if (more || timed || somethingPosted || !bell->isSleeper(Bell::Background))
    bell->wake(Bell::Background);
}

Status Engine::wait(const Event &event) {
  if (event.isReady())
    return event.wait();
  // The engine's thread gives the role up between two passes.
  ++waiters;
  const Clock::time_point patience = Clock::now() + 200us;
  while (!takeRole()) {
    if (event.isReady() || Clock::now() > patience) {
      --waiters;
      return event.wait();
    }
    std::this_thread::yield();
  }
  --waiters;
  bell->setSleeper(Bell::Nobody);

  bool hooked = false;
  Clock::time_point lastMove = Clock::now();
  for (int idle = 0; !event.isReady();) {
    if (pass()) {
      if (idle > 0)
        spin = std::min(spin * 2, mostSpin);
      lastMove = Clock::now();
      idle = 0;
      continue;
    }
    relax();
    if (++idle % 8 != 0 || Clock::now() - lastMove < spin)
      continue;
    // Nothing came while it ran. Where that is the rule, the peer may be
    // waiting for this very core: spin less from now on.
    spin = std::max(spin / 2, LEAST_SPIN);
    if (!hooked) {
      // It may be completed by another thread, for other reasons.
      hooked = true;
      event.then([bell = bell](const Status &) { bell->ring(); });
    }
    const uint32_t seen = bell->count(Bell::Waiter);
    bell->setSleeper(Bell::Waiter);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!event.isReady() && !hasWork())
      bell->sleep(Bell::Waiter, seen, sleepTime());
    bell->setSleeper(Bell::Nobody);
    lastMove = Clock::now();
  }
  giveRole();
  return event.wait();
}

void Engine::runBackground() {
  while (!closing) {
    bell->beat();
    const uint32_t seen = bell->count(Bell::Background);
    if (takeRole()) {
      bell->setSleeper(Bell::Nobody);
      int idle = 0;
      while (idle < 64 && waiters == 0 && !closing)
        idle = pass() ? 0 : idle + 1;
      bell->setSleeper(Bell::Background);
      std::atomic_thread_fence(std::memory_order_seq_cst);
      const bool more = hasWork();
      role = false;
      if (more || somethingPosted) {
        if (waiters > 0)
          std::this_thread::yield();
        continue;
      }
    }
    const std::chrono::milliseconds most = sleepTime();
    sleepsForEver = most.count() < 0;
    if (!closing)
      bell->sleep(Bell::Background, seen, most);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ranks that are threads of one process: whoever posts the second side of a
// message moves it, straight from the sender's memory.
#include "meshloom/Runtime/Transport.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <tuple>

using namespace meshloom;

Transport::~Transport() = default;

namespace {
using Clock = std::chrono::steady_clock;

/// One side of a message, waiting for the other one.
struct Side {
  std::span<const char> source; // of a send
  std::span<char> into;         // of a receive that copies
  Consumer consume;             // of another receive
  int64_t bytes = 0;
  Event done = Event::pending();
  Clock::time_point deadline = Clock::time_point::max();
};

/// From, to, tag.
using Channel = std::tuple<int, int, uint64_t>;

struct Waiting {
  std::deque<Side> sends, receives;
};

/// The state that the ranks share. Events are completed, and consumers called,
/// with the lock given up: they may post.
class SharedChannels {
public:
  SharedChannels(int size, std::string host)
      : size(size), host(std::move(host)), gone(size) {}
  ~SharedChannels() {
    {
      std::lock_guard lock(mutex);
      closing = true;
      changed.notify_all();
    }
    if (watch.joinable())
      watch.join();
  }

  Event post(bool sending, const Channel &channel, Side side,
             std::chrono::milliseconds timeout) {
    Event done = side.done;
    std::unique_lock lock(mutex);
    const int self = sending ? std::get<0>(channel) : std::get<1>(channel);
    const int peer = sending ? std::get<1>(channel) : std::get<0>(channel);
    if (peer < 0 || peer >= size)
      return Event::failed(Error(fmt::format(
          "[transport] rank {} is not one of the {} ranks", peer, size)));
    if (gone[self])
      return Event::failed(*gone[self]);
    if (gone[peer])
      return Event::failed(ofPeer(peer));
    Waiting &waiting = channels[channel];
    std::deque<Side> &others = sending ? waiting.receives : waiting.sends;
    if (others.empty()) {
      if (timeout.count() > 0) {
        side.deadline = Clock::now() + timeout;
        if (!watch.joinable())
          watch = std::thread([this] { watchDeadlines(); });
        changed.notify_all();
      }
      (sending ? waiting.sends : waiting.receives).push_back(std::move(side));
      return done;
    }
    Side other = std::move(others.front());
    others.pop_front();
    if (waiting.sends.empty() && waiting.receives.empty())
      channels.erase(channel);
    lock.unlock();
    if (sending)
      move(channel, std::move(side), std::move(other));
    else
      move(channel, std::move(other), std::move(side));
    return done;
  }

  void leave(int rank, const Error &error) {
    failWhere(
        [&](const Channel &channel, const Side &) {
          return std::get<0>(channel) == rank || std::get<1>(channel) == rank;
        },
        [&](const Channel &, int self) {
          return self == rank ? error : ofPeer(rank);
        },
        [&] {
          if (!gone[rank])
            gone[rank] = error;
        });
  }

  const int size;
  const std::string host;

private:
  Error ofPeer(int rank) const {
    return Error(fmt::format("[transport] rank {} (host {}) has given up: {}",
                             rank, host, gone[rank]->message()),
                 gone[rank]->code());
  }

  void move(const Channel &channel, Side send, Side receive) const {
    if (send.bytes != receive.bytes) {
      const auto &[from, to, tag] = channel;
      Error error(
          fmt::format("[transport] rank {} (host {}) sends {} bytes by tag "
                      "{:#x}, rank {} "
                      "(host {}) expects {}: they do not run the same program",
                      from, host, send.bytes, tag, to, host, receive.bytes),
          ErrorCode::FAILED_PRECONDITION);
      send.done.fail(error);
      receive.done.fail(error);
      return;
    }
    if (!receive.consume) {
      if (send.bytes > 0)
        std::memcpy(receive.into.data(), send.source.data(), send.bytes);
      receive.done.complete();
      send.done.complete();
      return;
    }
    // Both are complete when the last holder lets go.
    Arrived held(send.source.data(),
                 [sent = send.done, received = receive.done](const void *) {
                   received.complete();
                   sent.complete();
                 });
    if (send.bytes > 0)
      receive.consume(0, send.source, std::move(held));
  }

  /// Fails the sides that `chosen` names, with errors made under the lock.
  template <typename Chosen, typename ErrorOf, typename Before>
  void failWhere(Chosen chosen, ErrorOf errorOf, Before before) {
    std::vector<std::pair<Event, Error>> failed;
    {
      std::lock_guard lock(mutex);
      before();
      for (auto entry = channels.begin(); entry != channels.end();) {
        auto &[channel, waiting] = *entry;
        auto take = [&](std::deque<Side> &sides, int self) {
          std::erase_if(sides, [&, &channel = channel](Side &side) {
            if (!chosen(channel, side))
              return false;
            failed.emplace_back(side.done, errorOf(channel, self));
            return true;
          });
        };
        take(waiting.sends, std::get<0>(channel));
        take(waiting.receives, std::get<1>(channel));
        entry = waiting.sends.empty() && waiting.receives.empty()
                    ? channels.erase(entry)
                    : std::next(entry);
      }
    }
    for (const auto &[event, error] : failed)
      event.fail(error);
  }

  void watchDeadlines() {
    std::unique_lock lock(mutex);
    while (!closing) {
      Clock::time_point next = Clock::time_point::max();
      for (const auto &[channel, waiting] : channels)
        for (const auto *sides : {&waiting.sends, &waiting.receives})
          for (const Side &side : *sides)
            next = std::min(next, side.deadline);
      if (next == Clock::time_point::max()) {
        changed.wait(lock);
        continue;
      }
      if (changed.wait_until(lock, next) != std::cv_status::timeout)
        continue;
      lock.unlock();
      const Clock::time_point now = Clock::now();
      failWhere(
          [&](const Channel &, const Side &side) {
            return side.deadline <= now;
          },
          [&](const Channel &channel, int self) {
            const int peer = std::get<0>(channel) == self
                                 ? std::get<1>(channel)
                                 : std::get<0>(channel);
            return Error(
                fmt::format(
                    "[transport] rank {} (host {}) did not answer rank {} "
                    "within the timeout",
                    peer, host, self),
                ErrorCode::DEADLINE_EXCEEDED);
          },
          [] {});
      lock.lock();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<Channel, Waiting> channels;
  std::vector<std::optional<Error>> gone;
  std::thread watch;
  bool closing = false;
};

class InProcessTransport final : public Transport {
public:
  InProcessTransport(std::shared_ptr<SharedChannels> exchange, int self)
      : exchange(std::move(exchange)), self(self) {}
  ~InProcessTransport() override {
    exchange->leave(self,
                    Error("its transport is closed", ErrorCode::UNAVAILABLE));
  }

  int rank() const override { return self; }
  int size() const override { return exchange->size; }
  const std::string &hostOf(int) const override { return exchange->host; }

  Event send(int to, uint64_t tag, std::span<const char> bytes,
             TransferTimeout limit) override {
    Side side;
    side.source = bytes;
    side.bytes = int64_t(bytes.size());
    return exchange->post(true, {self, to, tag}, std::move(side),
                          limit.value_or(timeout));
  }
  Event receive(int from, uint64_t tag, std::span<char> into,
                TransferTimeout limit) override {
    Side side;
    side.into = into;
    side.bytes = int64_t(into.size());
    return exchange->post(false, {from, self, tag}, std::move(side),
                          limit.value_or(timeout));
  }
  Event receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                TransferTimeout limit) override {
    Side side;
    side.consume = std::move(consume);
    side.bytes = bytes;
    return exchange->post(false, {from, self, tag}, std::move(side),
                          limit.value_or(timeout));
  }

  void setTimeout(std::chrono::milliseconds limit) override { timeout = limit; }
  void abort(const Error &error) override { exchange->leave(self, error); }

private:
  std::shared_ptr<SharedChannels> exchange;
  const int self;
  std::atomic<std::chrono::milliseconds> timeout{std::chrono::milliseconds(0)};
};
} // namespace

std::vector<std::shared_ptr<Transport>>
meshloom::makeInProcessTransports(int size, const std::string &host) {
  auto exchange = std::make_shared<SharedChannels>(size, host);
  std::vector<std::shared_ptr<Transport>> transports;
  transports.reserve(size);
  for (int rank = 0; rank < size; ++rank)
    transports.push_back(std::make_shared<InProcessTransport>(exchange, rank));
  return transports;
}

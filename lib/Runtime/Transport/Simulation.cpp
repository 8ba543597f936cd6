// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A world of ranks, and a thread that lets things happen in it: the earliest in
// counted time, whenever all ranks wait.
#include "meshloom/Runtime/Transport/Simulation.h"

#include <algorithm>
#include <array>
#include <cmath>
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
using namespace std::chrono_literals;

namespace {
/// From, to, tag.
using Channel = std::tuple<int, int, uint64_t>;

/// Random numbers that follow from what they are for, not from when they are
/// drawn: ranks post in no order.
class Draws {
public:
  Draws() = default;
  Draws(std::initializer_list<uint64_t> subject) {
    for (uint64_t part : subject)
      state = mix(state ^ part);
  }
  /// Returns a number of [0, 1).
  double next() {
    state += 0x9e3779b97f4a7c15;
    return double(mix(state) >> 11) * 0x1p-53;
  }
  bool chance(double probability) { return next() < probability; }

private:
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  uint64_t state = 0x9e3779b97f4a7c15;
};

/// Ends a receive when the last part that its consumer holds is given back.
struct Ending {
  ~Ending() {
    if (error)
      event.fail(*error);
    else
      event.complete();
  }
  Event event;
  std::optional<Error> error;
};

/// One side of a message that has not arrived whole.
struct Side {
  bool sends = false;
  Channel channel;
  int64_t bytes = 0;
  const char *source = nullptr;
  /// A buffered send: complete before it is received, and outlives its sender.
  bool buffered = false;
  std::string copy;
  char *into = nullptr;
  Consumer consume;
  Event done = Event::pending();
  std::shared_ptr<Ending> ending; // of a receive with a consumer

  int self() const {
    return sends ? std::get<0>(channel) : std::get<1>(channel);
  }
  int peer() const {
    return sends ? std::get<1>(channel) : std::get<0>(channel);
  }
  void fail(const Error &error) {
    if (ending)
      ending->error = error;
    else
      done.fail(error);
    ending.reset();
  }
  void complete() {
    if (!ending)
      done.complete();
    ending.reset();
  }
};
using SidePtr = std::shared_ptr<Side>;

/// A message both sides of which are there.
struct Transfer {
  SidePtr send, receive;
  Draws draws;
  uint64_t number; ///< of its channel
  int64_t moved = 0;

  using Key = std::pair<Channel, uint64_t>;
  Key key() const { return {send->channel, number}; }
};

constexpr const char *HOST = "simulated";
} // namespace

/// Ranks post and wait; `run` does the rest, and is the only one to complete
/// events and to call consumers, with the lock given up.
class Simulation::World {
public:
  explicit World(const SimulationOptions &options)
      : options(options), ranks(options.size), scheduler([this] { run(); }) {}
  ~World() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      changed.notify_all();
    }
    scheduler.join();
  }

  Event post(const SidePtr &side) {
    const Event done = side->done;
    if (side->consume) {
      side->ending = std::make_shared<Ending>();
      side->ending->event = done;
    }
    std::lock_guard lock(mutex);
    touch();
    std::optional<Error> error;
    if (side->peer() < 0 || side->peer() >= options.size)
      error =
          Error(fmt::format("[simulation] rank {} is not one of the {} ranks",
                            side->peer(), options.size));
    else if (ranks[side->self()].gone)
      error = ranks[side->self()].gone;
    else if (const auto news = ranks[side->self()].heard.find(side->peer());
             news != ranks[side->self()].heard.end() &&
             (side->sends || !channels.contains(side->channel) ||
              channels.at(side->channel).sends.empty()))
      error = news->second;
    if (error)
      happen(0, [side, error] { side->fail(*error); });
    else
      accept(side);
    return done;
  }

  /// A rank gives up or ends; the others hear of it later.
  void leave(int rank, const Error &error, const std::string &news) {
    std::lock_guard lock(mutex);
    touch();
    leaveLocked(rank, error, news);
  }

  void finish(int rank) {
    leave(rank,
          Error("[simulation] this rank has ended", ErrorCode::UNAVAILABLE),
          "has ended");
    std::lock_guard lock(mutex);
    ranks[rank].finished = true;
  }

  Status wait(int rank, const Event &event) {
    // Counted as waiting not an instant longer than the event is pending, or
    // something could happen while the rank runs.
    struct Count {
      bool isCounted = false, isOver = false;
    };
    auto count = std::make_shared<Count>();
    event.then([this, rank, count](const Status &) {
      std::lock_guard lock(mutex);
      count->isOver = true;
      if (count->isCounted)
        --ranks[rank].waiting;
      touch();
    });
    {
      std::lock_guard lock(mutex);
      if (!count->isOver) {
        count->isCounted = true;
        ++ranks[rank].waiting;
      }
      touch();
    }
    return event.wait();
  }

  void changeWork(int rank, int change) {
    std::lock_guard lock(mutex);
    ranks[rank].work = ranks[rank].work.value_or(0) + change;
    touch();
  }

  int64_t arrivalsSoFar() {
    std::lock_guard lock(mutex);
    return arrivals;
  }
  uint64_t scheduleSoFar() {
    std::lock_guard lock(mutex);
    return schedule;
  }

  const SimulationOptions options;

private:
  using Clock = std::chrono::steady_clock;

  struct Rank {
    bool finished = false;
    int waiting = 0;
    std::optional<int> work; ///< none: it does not say when it works
    std::optional<Error> gone;
    /// The failures that it has heard of others that are gone.
    std::map<int, Error> heard;
  };
  struct Waiting {
    std::deque<SidePtr> sends, receives;
  };

  // All of these with the lock:

  void touch() {
    lastActivity = Clock::now();
    changed.notify_all();
  }

  /// Most are quick, some are not.
  double delay(Draws &draws) const {
    double time = -std::log1p(-draws.next());
    while (draws.chance(std::min(options.loss, 0.9)))
      time += 20;
    return time;
  }

  void happen(double after, std::function<void()> action) {
    happenings.emplace(now + after, std::move(action));
  }

  void accept(const SidePtr &side) {
    Waiting &waiting = channels[side->channel];
    // The message behaves as if it lay in buffers of the system: the sender
    // goes on.
    if (Draws draws = side->sends ? drawsFor(side->channel, 0) : Draws{};
        side->sends && draws.chance(0.5)) {
      side->buffered = true;
      side->copy.assign(side->source, size_t(side->bytes));
      side->source = side->copy.data();
      happen(delay(draws), [done = side->done] { done.complete(); });
    }
    (side->sends ? waiting.sends : waiting.receives).push_back(side);
    if (waiting.sends.empty() || waiting.receives.empty())
      return;
    auto transfer = std::make_shared<Transfer>(
        Transfer{waiting.sends.front(), waiting.receives.front(),
                 drawsFor(side->channel, 1), counts[side->channel][1]});
    waiting.sends.pop_front();
    waiting.receives.pop_front();
    if (waiting.sends.empty() && waiting.receives.empty())
      channels.erase(side->channel);
    underWay.emplace(transfer->key(), transfer);
    happen(delay(transfer->draws), [this, transfer] { arrive(transfer); });
  }

  /// The n-th send of a channel has numbers of its own, and so has the n-th
  /// transfer, whichever side of it comes last.
  Draws drawsFor(const Channel &channel, uint64_t subject) {
    const auto &[from, to, tag] = channel;
    return {options.seed, uint64_t(from), uint64_t(to), tag,
            2 * ++counts[channel][subject] + subject};
  }

  void leaveLocked(int rank, const Error &error, const std::string &news) {
    if (ranks[rank].gone)
      return;
    ranks[rank].gone = error;
    failSides([&](const Side &side) { return side.self() == rank; }, error);
    Draws draws{options.seed, uint64_t(rank)};
    for (int other = 0; other < options.size; ++other)
      if (other != rank)
        happen(delay(draws), [this, rank, other, error, news] {
          const Error heard = error.withMessage(fmt::format(
              "[simulation] rank {} (host {}): {}", rank, HOST, news));
          std::lock_guard lock(mutex);
          ranks[other].heard.emplace(rank, heard);
          failSides(
              [&](const Side &side) {
                return side.self() == other && side.peer() == rank;
              },
              heard, false);
        });
  }

  /// Fails chosen sides; what is under way stops where it is. Unless
  /// `failsBuffered`, a receive from a sender that has gone still gets what is
  /// under way.
  template <typename Chosen>
  void failSides(Chosen chosen, const Error &error, bool failsBuffered = true) {
    auto fail = [&](const SidePtr &side) {
      happen(0, [side, error] { side->fail(error); });
    };
    for (auto entry = channels.begin(); entry != channels.end();) {
      for (auto *sides : {&entry->second.sends, &entry->second.receives})
        std::erase_if(*sides, [&](const SidePtr &side) {
          if (side->buffered || !chosen(*side))
            return false;
          fail(side);
          return true;
        });
      const bool empty =
          entry->second.sends.empty() && entry->second.receives.empty();
      entry = empty ? channels.erase(entry) : std::next(entry);
    }
    std::erase_if(underWay, [&](const auto &entry) {
      const std::shared_ptr<Transfer> &transfer = entry.second;
      // A buffered message arrives, whatever becomes of its sender.
      const bool sender = chosen(*transfer->send) && !transfer->send->buffered;
      const bool receiver = chosen(*transfer->receive) &&
                            (failsBuffered || !transfer->send->buffered);
      if (!sender && !receiver)
        return false;
      if (chosen(*transfer->send))
        fail(transfer->send);
      if (chosen(*transfer->receive))
        fail(transfer->receive);
      // The side that is left waits until it hears of it.
      for (const SidePtr &side : {transfer->send, transfer->receive})
        if (!chosen(*side))
          (side->sends ? channels[side->channel].sends
                       : channels[side->channel].receives)
              .push_front(side);
      return true;
    });
  }

  /// Returns whether all ranks that have not ended wait, or rest.
  bool isQuiet() const {
    return std::ranges::all_of(ranks, [](const Rank &rank) {
      return rank.finished || rank.waiting > 0 || rank.work == 0;
    });
  }

  /// Returns whether ranks wait for what cannot happen any more. Ranks that say
  /// when they work do not come to post anything else.
  bool isStuck() const {
    if (channels.empty() || !isQuiet())
      return false;
    if (std::ranges::all_of(ranks, [](const Rank &rank) {
          return rank.finished || rank.work.has_value();
        }))
      return std::ranges::any_of(
          ranks, [](const Rank &rank) { return rank.waiting > 0; });
    return !isDone() && Clock::now() - lastActivity > options.patience;
  }

  bool isUnderWay(const std::shared_ptr<Transfer> &transfer) const {
    const auto found = underWay.find(transfer->key());
    return found != underWay.end() && found->second == transfer;
  }

  bool isDone() const {
    return std::all_of(ranks.begin(), ranks.end(),
                       [](const Rank &rank) { return rank.finished; });
  }

  // Without the lock, in the scheduler's thread:

  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (happenings.empty()) {
        if (isStuck())
          reportDeadlock();
        else
          changed.wait_for(lock, 5ms);
        continue;
      }
      if (!isQuiet() && Clock::now() - lastActivity < options.idle) {
        changed.wait_for(lock, std::min(options.idle, 5ms));
        continue;
      }
      auto first = happenings.begin();
      now = first->first;
      const std::function<void()> action = std::move(first->second);
      happenings.erase(first);
      lock.unlock();
      action();
      lock.lock();
    }
  }

  void arrive(const std::shared_ptr<Transfer> &transfer) {
    Side &send = *transfer->send, &receive = *transfer->receive;
    int64_t bytes = 0;
    {
      std::lock_guard lock(mutex);
      if (!isUnderWay(transfer))
        return;
      if (send.bytes != receive.bytes) {
        underWay.erase(transfer->key());
        const auto &[from, to, tag] = send.channel;
        const Error error(
            fmt::format("[simulation] rank {} (host {}) sends {} bytes by tag "
                        "{:#x}, rank "
                        "{} expects {}: they do not run the same program",
                        from, HOST, send.bytes, tag, to, receive.bytes),
            ErrorCode::FAILED_PRECONDITION);
        for (const SidePtr &side : {transfer->send, transfer->receive})
          happen(0, [side, error] { side->fail(error); });
        return;
      }
      const int64_t remaining = send.bytes - transfer->moved;
      bytes = remaining;
      const int64_t pieces = (remaining - 1) / 64;
      if (pieces > 0 && transfer->draws.chance(0.5))
        bytes = (1 + int64_t(transfer->draws.next() * double(pieces))) * 64;
      ++arrivals;
      schedule = (schedule ^ (uint64_t(std::get<0>(send.channel)) << 40) ^
                  (uint64_t(std::get<1>(send.channel)) << 20) ^
                  std::get<2>(send.channel) ^ uint64_t(bytes)) *
                 0x9e3779b97f4a7c15;
    }
    if (receive.into && bytes > 0)
      std::memcpy(receive.into + transfer->moved, send.source + transfer->moved,
                  size_t(bytes));
    if (receive.consume && bytes > 0) {
      struct Held {
        std::string bytes;
        std::shared_ptr<Ending> ending;
      };
      auto held = std::make_shared<Held>();
      held->bytes.assign(send.source + transfer->moved, size_t(bytes));
      held->ending = receive.ending;
      const std::span<const char> part(held->bytes.data(), size_t(bytes));
      receive.consume(transfer->moved, part, std::move(held));
    }
    transfer->moved += bytes;
    std::unique_lock lock(mutex);
    if (arrivals == options.killAfter && options.killedRank >= 0)
      leaveLocked(
          options.killedRank,
          Error("[simulation] this rank is killed", ErrorCode::UNAVAILABLE),
          "its process has ended");
    if (transfer->moved < send.bytes) {
      happen(delay(transfer->draws), [this, transfer] { arrive(transfer); });
      return;
    }
    if (!isUnderWay(transfer))
      return;
    underWay.erase(transfer->key());
    lock.unlock();
    receive.complete();
    send.complete();
  }

  void reportDeadlock() {
    std::vector<std::string> waits;
    for (const auto &[channel, waiting] : channels)
      for (const auto *sides : {&waiting.sends, &waiting.receives})
        if (!sides->empty() && waits.size() < 16)
          waits.push_back(
              fmt::format("rank {} {} rank {} ({} bytes, tag {:#x})",
                          sides->front()->self(),
                          sides->front()->sends ? "sends to" : "waits for",
                          sides->front()->peer(), sides->front()->bytes,
                          std::get<2>(channel)));
    const Error error(
        fmt::format(
            "[simulation] the ranks wait for each other, as they do when "
            "collectives are not in one order on all of them: {}",
            fmt::join(waits, "; ")),
        ErrorCode::DEADLINE_EXCEEDED);
    for (int rank = 0; rank < options.size; ++rank)
      if (!ranks[rank].gone)
        ranks[rank].gone = error;
    failSides([](const Side &) { return true; }, error);
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Rank> ranks;
  double now = 0;
  std::multimap<double, std::function<void()>> happenings;
  std::map<Channel, Waiting> channels;
  std::map<Channel, std::array<uint64_t, 2>> counts;
  std::map<Transfer::Key, std::shared_ptr<Transfer>> underWay;
  Clock::time_point lastActivity = Clock::now();
  int64_t arrivals = 0;
  uint64_t schedule = 0;
  bool stopping = false;
  std::thread scheduler;
};

namespace {
template <typename World> class SimulatedTransport final : public Transport {
public:
  SimulatedTransport(std::shared_ptr<World> world, int self)
      : world(std::move(world)), self(self) {}
  ~SimulatedTransport() override { world->finish(self); }

  int rank() const override { return self; }
  int size() const override { return world->options.size; }
  const std::string &hostOf(int) const override { return host; }

  /// Nothing here is late: a rank that waits for ever is found as such.
  Event send(int to, uint64_t tag, std::span<const char> bytes,
             TransferTimeout) override {
    auto side = std::make_shared<Side>();
    side->sends = true;
    side->channel = {self, to, tag};
    side->bytes = int64_t(bytes.size());
    side->source = bytes.data();
    return world->post(side);
  }
  Event receive(int from, uint64_t tag, std::span<char> into,
                TransferTimeout) override {
    auto side = std::make_shared<Side>();
    side->channel = {from, self, tag};
    side->bytes = int64_t(into.size());
    side->into = into.data();
    return world->post(side);
  }
  Event receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                TransferTimeout) override {
    auto side = std::make_shared<Side>();
    side->channel = {from, self, tag};
    side->bytes = bytes;
    side->consume = std::move(consume);
    return world->post(side);
  }

  /// Ranks that wait for each other are found without.
  void setTimeout(std::chrono::milliseconds) override {}
  Status wait(const Event &event) override { return world->wait(self, event); }
  void abort(const Error &error) override {
    world->leave(self, error, "has given up: " + error.message());
  }

private:
  const std::shared_ptr<World> world;
  const int self;
  const std::string host = HOST;
};
} // namespace

Simulation::Simulation(const SimulationOptions &options)
    : world(std::make_shared<World>(options)) {}

Simulation::~Simulation() = default;

std::shared_ptr<Transport> Simulation::transport(int rank) {
  return std::make_shared<SimulatedTransport<World>>(world, rank);
}

std::shared_ptr<void> Simulation::working(int rank) {
  world->changeWork(rank, 1);
  return {world.get(),
          [world = world, rank](void *) { world->changeWork(rank, -1); }};
}

int64_t Simulation::arrivals() const {
  return world->arrivalsSoFar();
}

uint64_t Simulation::schedule() const {
  return world->scheduleSoFar();
}

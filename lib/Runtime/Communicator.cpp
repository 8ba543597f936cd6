// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives made of messages. Each is a Collective: a count of the transfers
// that it still waits for, and the first error of them.
#include "meshloom/Runtime/Communicator.h"

#include "meshloom/Runtime/Combine.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <optional>

using namespace meshloom;

namespace {
class AllReduce;
} // namespace

struct Communicator::State {
  explicit State(Transport &transport) : transport(transport) {}

  void fail(const Error &error) {
    if (failed.exchange(true))
      return;
    {
      std::lock_guard lock(mutex);
      failure = error;
    }
    transport.abort(error);
  }

  Transport &transport;
  std::atomic<bool> failed{false};

  std::mutex mutex;
  std::optional<Error> failure;
  std::condition_variable idle;
  int running = 0;
  /// All-reduces that hold what arrives until the other addends are there. One
  /// at a time, in the common order of all ranks: two that held parts of each
  /// other's senders could wait for each other.
  std::deque<std::shared_ptr<AllReduce>> reducing;
};

namespace {
/// Ends before its collective gives up the count that is the starter's: once
/// that is gone a collective may be complete, and who waited for it may have
/// destroyed the communicator and its transport.
class Batch {
public:
  explicit Batch(Transport &transport) : transport(transport) {
    transport.beginBatch();
  }
  ~Batch() { transport.endBatch(); }
  Batch(const Batch &) = delete;
  Batch &operator=(const Batch &) = delete;

private:
  Transport &transport;
};

/// Bytes of a message that spreads a result.
constexpr int64_t SPREAD_BYTES = 512 << 10;
/// Combined at a time, so that all of it stays in the nearest caches.
constexpr int64_t BLOCK_BYTES = 16 << 10;
/// Up to here every rank gets all that the others have: one hop, not two.
constexpr int64_t DIRECT_BYTES = 8 << 10;
/// So many send it to each other; more do in rounds.
constexpr size_t DIRECT_RANKS = 8;
/// Slices start at multiples of it, as the parts of messages do.
constexpr int64_t ALIGNMENT = 64;

class Collective : public std::enable_shared_from_this<Collective> {
public:
  explicit Collective(std::shared_ptr<Communicator::State> state)
      : state(std::move(state)) {
    std::lock_guard lock(this->state->mutex);
    ++this->state->running;
  }
  virtual ~Collective() = default;

  /// The collective is complete only after `transfer`.
  void add(const Event &transfer) {
    ++open;
    transfer.then([self = shared_from_this()](const Status &outcome) {
      self->release(outcome);
    });
  }

  /// Gives up one of what `open` counts; one is the starter's.
  void release(const Status &outcome) {
    if (!outcome) {
      {
        std::lock_guard lock(errorMutex);
        if (!error)
          error = outcome.error();
      }
      state->fail(outcome.error());
      failed();
    }
    if (--open > 0)
      return;
    if (!error)
      conclude();
    ended();
    if (error)
      done.fail(*error);
    else
      done.complete();
    std::lock_guard lock(state->mutex);
    if (--state->running == 0)
      state->idle.notify_all();
  }

  const Event done = Event::pending();

protected:
  /// Does the remaining work when all transfers have succeeded.
  virtual void conclude() {}
  /// Called for each error: gives up what transfers wait for.
  virtual void failed() {}
  /// Called when all have ended, well or not.
  virtual void ended() {}

  Transport &transport() { return state->transport; }
  const std::shared_ptr<Communicator::State> state;

private:
  std::atomic<int> open{1};
  std::mutex errorMutex;
  std::optional<Error> error;
};

/// The parameters of all-reduces of every size.
struct Reduction {
  std::vector<int> group;
  size_t self; // this rank's place in it
  uint64_t tag;
  DType type;
  ReduceKind kind;
  char *data;
  int64_t count;
  TransferTimeout timeout;

  int64_t width() const { return byteWidth(type); }
  int64_t bytes() const { return count * width(); }
};

/// Everybody's block for everybody: small ones, which cost what their messages
/// do. Few ranks send theirs to all others. Many do in rounds: in each a rank
/// gives the one `distance` before it what it has, and gets as much from the
/// one as far behind, so that ten messages are enough for a thousand ranks.
class SmallGather : public Collective {
public:
  SmallGather(std::shared_ptr<Communicator::State> state,
              std::vector<int> group, size_t self, uint64_t tag,
              std::span<const char> block, TransferTimeout timeout)
      : Collective(std::move(state)), group(std::move(group)), self(self),
        tag(tag), timeout(timeout), bytes(block.size()),
        blocks(bytes * this->group.size()) {
    std::ranges::copy(block, blocks.begin());
  }

  void start() {
    if (group.size() > DIRECT_RANKS)
      return round(1);
    {
      const Batch batch(transport());
      for (size_t behind = 1; behind < group.size(); ++behind)
        add(transport().receive(rankBehind(behind), tag, part(behind, 1),
                                timeout));
      for (size_t behind = 1; behind < group.size(); ++behind)
        add(transport().send(rankBehind(behind), tag, part(0, 1), timeout));
    }
    release(Success());
  }

protected:
  std::span<const char> blockOf(size_t member) {
    return part((member + group.size() - self) % group.size(), 1);
  }
  const std::vector<int> group;

private:
  int rankBehind(size_t places) const {
    return group[(self + places) % group.size()];
  }
  /// Blocks of the ranks from the one that is `behind` this one on.
  std::span<char> part(size_t behind, size_t count) {
    return {blocks.data() + behind * bytes, count * bytes};
  }

  void round(size_t distance) {
    const size_t size = group.size();
    if (distance >= size)
      return release(Success());
    const size_t count = std::min(distance, size - distance);
    Event heard;
    {
      const Batch batch(transport());
      heard = transport().receive(rankBehind(distance), tag,
                                  part(distance, count), timeout);
      add(transport().send(rankBehind(size - distance), tag, part(0, count),
                           timeout));
    }
    heard.then([gather = shared_from_this(), distance](const Status &outcome) {
      auto &self = static_cast<SmallGather &>(*gather);
      if (outcome)
        self.round(2 * distance);
      else
        self.release(outcome);
    });
  }

  const size_t self;
  const uint64_t tag;
  const TransferTimeout timeout;
  const size_t bytes;       // of a block
  std::vector<char> blocks; ///< from this rank's on
};

class SmallAllReduce final : public SmallGather {
public:
  SmallAllReduce(std::shared_ptr<Communicator::State> state,
                 const Reduction &request)
      : SmallGather(std::move(state), request.group, request.self, request.tag,
                    {request.data, size_t(request.bytes())}, request.timeout),
        reduction(request) {}

private:
  void conclude() override {
    std::vector<const void *> sources(group.size());
    for (size_t member = 0; member < sources.size(); ++member)
      sources[member] = blockOf(member).data();
    combine(reduction.kind, reduction.type, reduction.data, sources,
            reduction.count);
  }
  const Reduction reduction;
};

class SmallAllGather final : public SmallGather {
public:
  SmallAllGather(std::shared_ptr<Communicator::State> state,
                 std::vector<int> group, size_t self, uint64_t tag,
                 std::span<const char> block, std::span<char> result,
                 TransferTimeout timeout)
      : SmallGather(std::move(state), std::move(group), self, tag, block,
                    timeout),
        result(result) {}

private:
  void conclude() override {
    char *to = result.data();
    for (size_t member = 0; member < group.size(); ++member)
      to = std::ranges::copy(blockOf(member), to).out;
  }
  const std::span<char> result;
};

/// Rank i of the group receives everybody's i-th slice, combines it as it comes
/// and spreads the result, a message per SPREAD_BYTES.
///
/// Nobody overwrites what is still to be sent: a result of slice j comes from
/// rank j, which has read our addends of that part before.
class AllReduce final : public Collective {
public:
  AllReduce(std::shared_ptr<Communicator::State> state, Reduction request)
      : Collective(std::move(state)), reduction(std::move(request)),
        arrived(reduction.group.size()),
        scratch(reduction.self > 1 ? BLOCK_BYTES : 0) {
    const int64_t step = ALIGNMENT / reduction.width();
    const int64_t members = int64_t(reduction.group.size());
    const int64_t steps = (reduction.count + step - 1) / step;
    for (int64_t member = 0; member <= members; ++member)
      begins.push_back(
          std::min(reduction.count, steps * member / members * step) *
          reduction.width());
  }

  /// Addends leave at once; what arrives waits for its turn.
  void start() {
    {
      const Batch batch(transport());
      for (size_t i = 1; i < reduction.group.size(); ++i) {
        const size_t member = (reduction.self + i) % reduction.group.size();
        if (sliceBytes(member) > 0)
          add(transport().send(reduction.group[member], reduction.tag,
                               slice(member), reduction.timeout));
      }
    }
    bool first;
    {
      std::lock_guard lock(state->mutex);
      state->reducing.push_back(self());
      first = state->reducing.size() == 1;
    }
    if (first)
      reduce();
  }

private:
  struct Part {
    int64_t offset;
    std::span<const char> bytes;
    Arrived held;
    int64_t end() const { return offset + int64_t(bytes.size()); }
  };

  std::shared_ptr<AllReduce> self() {
    return std::static_pointer_cast<AllReduce>(shared_from_this());
  }
  int64_t sliceBytes(size_t member) const {
    return begins[member + 1] - begins[member];
  }
  std::span<char> slice(size_t member) const {
    return {reduction.data + begins[member], size_t(sliceBytes(member))};
  }

  void reduce() {
    postReceives();
    if (sliceBytes(reduction.self) == 0)
      giveTurn();
    release(Success());
  }

  void postReceives() {
    const Batch batch(transport());
    for (size_t i = 1; i < reduction.group.size(); ++i) {
      // Not all ask the same rank first.
      const size_t member = (reduction.self + i) % reduction.group.size();
      if (sliceBytes(reduction.self) > 0)
        add(transport().receive(
            reduction.group[member], reduction.tag, sliceBytes(reduction.self),
            [this, member](int64_t offset, std::span<const char> bytes,
                           Arrived held) {
              arrive(member, {offset, bytes, std::move(held)});
            },
            reduction.timeout));
      for (int64_t begin = 0; begin < sliceBytes(member); begin += SPREAD_BYTES)
        add(transport().receive(
            reduction.group[member], reduction.tag,
            slice(member).subspan(
                begin, std::min(SPREAD_BYTES, sliceBytes(member) - begin)),
            reduction.timeout));
    }
  }

  void arrive(size_t member, Part part) {
    // Giving parts back may complete the collective.
    const std::shared_ptr<AllReduce> alive = self();
    // Given back after the lock is.
    std::vector<Part> used;
    bool isComplete;
    {
      std::lock_guard lock(mutex);
      if (stopped)
        return;
      arrived[member].push_back(std::move(part));
      merge(used);
      isComplete = merged == sliceBytes(reduction.self);
    }
    used.clear();
    if (isComplete)
      giveTurn();
  }

  /// Combines as far as all addends are there, and spreads what is complete.
  void merge(std::vector<Part> &used) {
    const int64_t whole = sliceBytes(reduction.self);
    while (merged < whole) {
      int64_t end = std::min(whole, spread + SPREAD_BYTES);
      for (size_t member = 0; member < arrived.size(); ++member) {
        if (member == reduction.self)
          continue;
        if (arrived[member].empty())
          return;
        end = std::min(end, arrived[member].front().end());
      }
      for (; merged < end; merged = std::min(end, merged + BLOCK_BYTES))
        mergeBlock(std::min(BLOCK_BYTES, end - merged));
      for (std::deque<Part> &parts : arrived)
        if (!parts.empty() && parts.front().end() == merged) {
          used.push_back(std::move(parts.front()));
          parts.pop_front();
        }
      if (merged < whole && merged < spread + SPREAD_BYTES)
        continue;
      for (size_t i = 1; i < reduction.group.size(); ++i)
        add(transport().send(
            reduction.group[(reduction.self + i) % reduction.group.size()],
            reduction.tag,
            slice(reduction.self).subspan(spread, merged - spread),
            reduction.timeout));
      spread = merged;
    }
  }

  void mergeBlock(int64_t bytes) {
    char *into = slice(reduction.self).data() + merged;
    const char *operand = into;
    if (!scratch.empty()) {
      std::memcpy(scratch.data(), into, bytes);
      operand = scratch.data();
    }
    std::vector<const void *> &addends = sources;
    addends.resize(arrived.size());
    for (size_t member = 0; member < arrived.size(); ++member) {
      if (member == reduction.self) {
        addends[member] = operand;
        continue;
      }
      const Part &part = arrived[member].front();
      addends[member] = part.bytes.data() + (merged - part.offset);
    }
    combine(reduction.kind, reduction.type, into, addends,
            bytes / reduction.width());
  }

  /// Lets the next all-reduce hold what arrives.
  void giveTurn() {
    if (gaveTurn.exchange(true))
      return;
    std::shared_ptr<AllReduce> next;
    {
      std::lock_guard lock(state->mutex);
      state->reducing.pop_front();
      if (!state->reducing.empty())
        next = state->reducing.front();
    }
    if (next)
      next->reduce();
  }
  void failed() override {
    std::vector<std::deque<Part>> dropped; // outlives the lock
    std::lock_guard lock(mutex);
    stopped = true;
    dropped.swap(arrived);
  }
  void ended() override { giveTurn(); }

  const Reduction reduction;
  std::vector<int64_t> begins; // of slices, in bytes

  std::mutex mutex;
  /// The state of this rank's slice: the parts that came from each member and
  /// are not used up, how far it is combined, and how much of that has been
  /// sent.
  std::vector<std::deque<Part>> arrived;
  bool stopped = false;
  int64_t merged = 0, spread = 0;
  std::vector<char> scratch;
  std::vector<const void *> sources;
  std::atomic<bool> gaveTurn{false};
};

class Exchange final : public Collective {
public:
  using Collective::Collective;
  void start(uint64_t tag, std::span<const Communicator::Outgoing> outgoing,
             std::span<const Communicator::Incoming> incoming,
             TransferTimeout timeout) {
    {
      const Batch batch(transport());
      for (const auto &[from, bytes] : incoming)
        add(transport().receive(from, tag, bytes, timeout));
      for (const auto &[to, bytes] : outgoing)
        add(transport().send(to, tag, bytes, timeout));
    }
    release(Success());
  }
};

/// In round k a rank tells the one 2^k further on, and hears from the one 2^k
/// before: after the last round it has heard of all.
class Barrier final : public Collective {
public:
  Barrier(std::shared_ptr<Communicator::State> state, std::vector<int> group,
          size_t self, uint64_t tag)
      : Collective(std::move(state)), group(std::move(group)), self(self),
        tag(tag) {}

  void round(size_t distance) {
    if (distance >= group.size())
      return release(Success());
    const size_t size = group.size();
    Event heard;
    {
      const Batch batch(transport());
      add(transport().send(group[(self + distance) % size], tag, {}));
      heard = transport().receive(group[(self + size - distance) % size], tag,
                                  std::span<char>());
    }
    heard.then([barrier = shared_from_this(), distance](const Status &outcome) {
      auto &self = static_cast<Barrier &>(*barrier);
      if (outcome)
        self.round(2 * distance);
      else
        self.release(outcome);
    });
  }

private:
  const std::vector<int> group;
  const size_t self;
  const uint64_t tag;
};

/// This rank's place in the group, or what is wrong with the group.
Result<size_t> placeIn(std::span<const int> group, const Transport &transport) {
  const auto place = std::find(group.begin(), group.end(), transport.rank());
  if (place == group.end() ||
      std::adjacent_find(group.begin(), group.end(), std::greater_equal()) !=
          group.end() ||
      group.front() < 0 || group.back() >= transport.size())
    return Error(fmt::format(
        "[communicator] a group is ranks of 0 to {} in ascending order and has "
        "this one, {}; got ({})",
        transport.size() - 1, transport.rank(), fmt::join(group, ", ")));
  return size_t(place - group.begin());
}
} // namespace

Communicator::Communicator(std::shared_ptr<Transport> transport)
    : messages(std::move(transport)), state(std::make_shared<State>(*messages)),
      order(std::make_shared<CallOrder>()) {
  messages->compareCalls(order);
}

Communicator::~Communicator() {
  std::unique_lock lock(state->mutex);
  if (state->running > 0) {
    lock.unlock();
    state->fail(Error("the communicator is closed", ErrorCode::UNAVAILABLE));
    lock.lock();
  }
  state->idle.wait(lock, [&] { return state->running == 0; });
}

int Communicator::rank() const {
  return messages->rank();
}
int Communicator::size() const {
  return messages->size();
}
const std::string &Communicator::hostOf(int rank) const {
  return messages->hostOf(rank);
}
Transport &Communicator::transport() const {
  return *messages;
}

Event Communicator::allReduce(std::span<const int> group, uint64_t tag,
                              DType type, ReduceKind kind, void *data,
                              int64_t count, TransferTimeout timeout) {
  const Result<size_t> self = placeIn(group, *messages);
  if (!self)
    return Event::failed(self.error());
  if (group.size() == 1 || count == 0)
    return Event();
  Reduction reduction{{group.begin(), group.end()}, *self, tag,    type, kind,
                      static_cast<char *>(data),    count, timeout};
  if (reduction.bytes() <= DIRECT_BYTES) {
    auto collective = std::make_shared<SmallAllReduce>(state, reduction);
    collective->start();
    return collective->done;
  }
  auto collective = std::make_shared<AllReduce>(state, std::move(reduction));
  collective->start();
  return collective->done;
}

Event Communicator::exchange(uint64_t tag, std::span<const Outgoing> outgoing,
                             std::span<const Incoming> incoming,
                             TransferTimeout timeout) {
  auto collective = std::make_shared<Exchange>(state);
  collective->start(tag, outgoing, incoming, timeout);
  return collective->done;
}

Event Communicator::allGather(std::span<const int> group, uint64_t tag,
                              std::span<const char> mine,
                              std::span<char> gathered,
                              TransferTimeout timeout) {
  const Result<size_t> self = placeIn(group, *messages);
  if (!self)
    return Event::failed(self.error());
  if (gathered.size() != mine.size() * group.size())
    return Event::failed(Error(fmt::format(
        "[communicator] {} ranks that give {} bytes each give {}; there is "
        "room for {}",
        group.size(), mine.size(), mine.size() * group.size(),
        gathered.size())));
  if (int64_t(mine.size()) <= DIRECT_BYTES) {
    auto collective = std::make_shared<SmallAllGather>(
        state, std::vector<int>(group.begin(), group.end()), *self, tag, mine,
        gathered, timeout);
    collective->start();
    return collective->done;
  }
  std::vector<Outgoing> outgoing;
  std::vector<Incoming> incoming;
  outgoing.reserve(group.size());
  incoming.reserve(group.size());
  for (size_t member = 0; member < group.size(); ++member) {
    outgoing.push_back({group[member], mine});
    incoming.push_back(
        {group[member], gathered.subspan(member * mine.size(), mine.size())});
  }
  return exchange(tag, outgoing, incoming, timeout);
}

Event Communicator::barrier(std::span<const int> group, uint64_t tag) {
  const Result<size_t> self = placeIn(group, *messages);
  if (!self)
    return Event::failed(self.error());
  auto collective = std::make_shared<Barrier>(
      state, std::vector<int>(group.begin(), group.end()), *self, tag);
  collective->round(1);
  return collective->done;
}

Status Communicator::wait(const Event &event) {
  return messages->wait(event);
}

void Communicator::setTimeout(std::chrono::milliseconds timeout) {
  messages->setTimeout(timeout);
}

void Communicator::abort(const Error &error) {
  state->fail(error);
}

std::optional<Error> Communicator::failure() const {
  std::lock_guard lock(state->mutex);
  return state->failure;
}

void Communicator::leave() {
  messages->leave();
}

namespace {
thread_local TransferTimeout currentTimeout;
} // namespace

CollectiveTimeout::CollectiveTimeout(TransferTimeout timeout)
    : before(currentTimeout) {
  if (timeout)
    currentTimeout = timeout;
}

CollectiveTimeout::~CollectiveTimeout() {
  currentTimeout = before;
}

TransferTimeout CollectiveTimeout::current() {
  return currentTimeout;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Engine: a Transport over links. It matches messages, cuts them into frames,
// and decides which thread moves them.
//
// Messages. One of at most EAGER_BYTES is sent at once, as one frame; if its
// receive is not posted yet, the receiver keeps a copy. A larger one waits
// until the receiver says that it is ready for it: so a link only carries what
// can be taken off it, and no order of posts makes it stop. A message starts
// when the one before it of the same tag has been sent.
//
// Threads. One at a time moves messages (it has the *role*): a thread that
// waits for an event, else one that has just posted something (one pass), else
// the engine's own, which sleeps until the bell rings. Posting only appends to
// a list. Events are completed and consumers called by the thread with the
// role, which they may not wait in, but may post from.
//
// Waiting. Where nothing of a transfer has moved for a moment, both sides say
// what they have called so far, and the sender of a large message what it has:
// so calls that do not fit together are found long before any timeout, and what
// goes on as it should costs nothing. After the timeout the peer has failed; of
// several that run, the one that is behind in its calls.
#pragma once

#include "Link.h"

#include "meshloom/Runtime/CallOrder.h"

#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace meshloom {

class Engine final : public Transport {
public:
  static constexpr int64_t EAGER_BYTES = 16 << 10;

  struct Peer {
    std::string host;
    std::unique_ptr<Link> link; // none for this rank itself
    int memoryGroup = 0;
  };
  /// `bell` is rung by links; `keep` is what they need, destroyed after them.
  Engine(int rank, std::vector<Peer> peers, std::shared_ptr<Bell> bell,
         std::chrono::milliseconds timeout, std::chrono::microseconds spin,
         std::shared_ptr<void> keep);
  ~Engine() override;

  int rank() const override { return self; }
  int size() const override { return int(channels.size()); }
  const std::string &hostOf(int rank) const override {
    return channels.at(rank).host;
  }
  std::vector<int> memoryGroups() const override { return groups; }
  Event send(int to, uint64_t tag, std::span<const char> bytes,
             TransferTimeout limit) override;
  Event receive(int from, uint64_t tag, std::span<char> into,
                TransferTimeout limit) override;
  Event receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                TransferTimeout limit) override;
  void setTimeout(std::chrono::milliseconds limit) override { timeout = limit; }
  void beginBatch() override { ++batches; }
  void endBatch() override;
  Status wait(const Event &event) override;
  void abort(const Error &error) override;
  void leave() override;
  void compareCalls(std::shared_ptr<const CallOrder> calls) override;

private:
  using Clock = std::chrono::steady_clock;

  /// Ends a receive whose parts may be held when the last one is given back.
  struct Ending {
    ~Ending();
    Event event;
    std::optional<Error> error;
  };
  struct Transfer {
    bool sending;
    int peer;
    uint64_t tag;
    int64_t bytes;
    const char *source = nullptr;
    char *into = nullptr;
    Consumer consume;
    std::chrono::milliseconds timeout;
    Event done = Event::pending();
    std::shared_ptr<Ending> ending; // of a receive with a consumer
    int64_t moved = 0;
    Clock::time_point since;
  };
  using Queue = std::deque<std::unique_ptr<Transfer>>;

  /// All that goes on with one peer. Only the thread with the role touches it.
  struct Channel {
    std::string host;
    std::unique_ptr<Link> link;
    std::optional<Error> failed;
    /// By tag, in the order of posts.
    std::unordered_map<uint64_t, Queue> sends, receives;
    /// The first send of each tag that may start, small and large ones.
    std::deque<Transfer *> small, large;
    /// Sizes that the peer is ready for, by tag.
    std::unordered_map<uint64_t, std::deque<int64_t>> ready;
    /// Small messages that came before their receives were posted.
    std::unordered_map<uint64_t, std::deque<std::shared_ptr<std::string>>>
        early;
    std::deque<FrameHeader> toSay;
    Clock::time_point lastSent, lastReceived;
    /// When the peer was asked whether it runs, for a transfer that is late.
    std::optional<Clock::time_point> asked;
    /// When it was told what this rank waits with.
    Clock::time_point told;
    /// The calls that it has made, when it last said so.
    struct Position {
      Clock::time_point heard;
      uint64_t calls;
      std::string last;
      std::optional<CallOrder::Comparison::Fewer> fewer;
    };
    std::optional<Position> position;
    size_t pending = 0;
  };

  std::unique_ptr<Transfer> transferWith(int peer, uint64_t tag, int64_t bytes,
                                         TransferTimeout limit) const;
  Event post(std::unique_ptr<Transfer> transfer);
  // With the role:
  bool pass();
  void accept(std::unique_ptr<Transfer> transfer);
  void acceptReceive(Channel &channel, std::unique_ptr<Transfer> transfer);
  void start(Channel &channel, uint64_t tag);
  bool sendFrames(Channel &channel);
  bool receiveFrames(int peer, Channel &channel);
  std::optional<Error> takeData(int peer, Channel &channel, const Frame &frame);
  void takePart(Transfer &transfer, const FrameHeader &header,
                const char *payload, const std::function<Arrived()> &hold);
  void finishSend(Channel &channel, Transfer &transfer);
  static void finishReceive(Transfer &transfer);
  void failChannel(int peer, const Error &error);
  void closeAll(const Error *failure, const Error &error);
  void giveUp(const Error &error);
  void checkTimeouts();
  void tell(int peer, Channel &channel, bool asks);
  std::optional<Error> takeNote(int peer, Channel &channel, const Frame &frame);
  std::optional<Error> takeOffer(int peer, const Channel &channel,
                                 const FrameHeader &header) const;
  std::optional<Error> behind(std::chrono::milliseconds limit) const;
  std::optional<Error>
  behindInOtherThreads(std::chrono::milliseconds limit) const;
  /// Null where it has not said so just now.
  const Channel::Position *recentPosition(int peer) const;
  bool hasWork();
  std::chrono::milliseconds sleepTime() const;
  std::string nameOf(int peer) const;
  Error mismatch(int from, int to, uint64_t tag, int64_t sent,
                 int64_t expected) const;

  bool takeRole() { return !role.exchange(true, std::memory_order_acquire); }
  void giveRole();
  void takeUp();
  void runBackground();

  const int self;
  const std::shared_ptr<Bell> bell;
  const std::shared_ptr<void> keep;
  std::vector<Channel> channels;
  std::vector<int> groups; ///< that share memory
  std::atomic<std::chrono::milliseconds> timeout;
  /// The least timeout of pending transfers, from which it follows how often to
  /// look at them.
  std::atomic<std::chrono::milliseconds> leastTimeout{
      std::chrono::milliseconds(0)};
  std::shared_ptr<const CallOrder> calls; // with the role
  /// How long a thread that waits looks again and again before it sleeps; with
  /// the role. It adapts to whether that was of use.
  const std::chrono::nanoseconds mostSpin;
  std::chrono::nanoseconds spin;
  /// Messages of this rank to itself.
  std::shared_ptr<Transport> loopback;

  std::atomic<bool> role{false};
  std::atomic<int> waiters{0};
  std::atomic<size_t> pending{0};

  std::mutex postMutex;
  std::vector<std::unique_ptr<Transfer>> posted;
  std::atomic<bool> somethingPosted{false};
  std::atomic<int> batches{0};
  std::optional<Error> aborting;
  bool aborted = false; // with the role

  Clock::time_point nextCheck;
  unsigned passes = 0;
  /// The engine's thread sleeps until it is woken, whatever the timeouts.
  std::atomic<bool> sleepsForEver{false};
  std::atomic<bool> closing{false};
  std::thread background;
};

} // namespace meshloom

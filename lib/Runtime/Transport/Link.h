// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Link: frames in order between this process and one other. The engine
// (Engine.h) knows what messages are and how they match; a link only carries
// them.
#pragma once

#include "meshloom/Runtime/Transport.h"

#include <atomic>
#include <optional>

namespace meshloom {

enum class FrameKind : uint32_t {
  /// Bytes [offset, offset + bytes) of a message of `total` bytes.
  Data = 1,
  /// The receiver of a large message of `total` bytes is ready for it.
  Ready,
  /// The calls that the sender has made (CallOrder::note); `tag` 1 asks for the
  /// same.
  Note,
  /// A large message of `total` bytes has waited for some time.
  Offer,
  /// No frame follows. `tag` is the ErrorCode of the failure that the sender
  /// gives up for, and the payload is its text; 0: the sender ends in order.
  Close,
  /// Asks a process whether it runs, and its answer.
  Ping,
  Pong
};

/// In front of every payload; a cache line, and aligned as one.
struct alignas(64) FrameHeader {
  static constexpr uint32_t MAGIC = 0x4d4c4631;
  uint32_t magic = MAGIC;
  FrameKind kind = FrameKind::Data;
  uint64_t tag = 0;
  int64_t total = 0;
  int64_t offset = 0;
  int64_t bytes = 0;

  /// Checks a header that came from another process, and can be anything.
  bool isSound(int64_t mostBytes) const {
    return magic == MAGIC && kind >= FrameKind::Data &&
           kind <= FrameKind::Pong && bytes >= 0 && bytes <= mostBytes &&
           offset >= 0 && offset <= total && bytes <= total - offset;
  }
};

struct Frame {
  FrameHeader header;
  const char *payload = nullptr;
};

/// Wakes the thread that moves this process's messages, whoever that is.
class Bell {
public:
  /// Who sleeps: nobody, a thread that waits for an event, the engine's own.
  enum Sleeper : uint32_t { Nobody, Waiter, Background };

  /// From any thread and process; costs little while nobody sleeps.
  void ring() {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    uint32_t who = sleeper.load();
    if (who == Nobody || who > Background)
      return;
    if (sleeper.compare_exchange_strong(who, Nobody))
      wake(Sleeper(who));
  }
  void wake(Sleeper who);
  /// Sleeps until woken after `seen` was read, or for that long (negative: for
  /// ever).
  uint32_t count(Sleeper who) const { return words[who - 1].load(); }
  void sleep(Sleeper who, uint32_t seen, std::chrono::milliseconds most);
  /// Only the thread that moves messages says so.
  void setSleeper(Sleeper who) { sleeper.store(who); }
  bool isSleeper(Sleeper who) const { return sleeper.load() == who; }

  /// Shows other processes that the engine's thread runs.
  void beat() { ++beats; }
  uint32_t heartbeats() const { return beats.load(); }

private:
  std::atomic<uint32_t> sleeper{Nobody};
  std::atomic<uint32_t> words[2] = {0, 0};
  std::atomic<uint32_t> beats{0};
};

/// One thread at a time uses it, except where a function says otherwise.
class Link {
public:
  virtual ~Link() = default;

  /// The most that the payload of a frame may have.
  virtual int64_t mostBytes() const = 0;
  /// Returns whether a frame with a payload of that size can be written now. If
  /// not, this process's bell rings when that may have changed.
  virtual bool hasRoom(int64_t bytes) = 0;
  virtual void write(const FrameHeader &header, const char *payload) = 0;
  /// Tells the peer that frames were written.
  virtual void flush() = 0;

  /// Returns whether `next` has something to say; never blocks.
  virtual bool hasNext() = 0;
  /// The frame that arrived first, if any; an error if what came is not a
  /// frame.
  virtual Result<std::optional<Frame>> next() = 0;
  /// Gives it back.
  virtual void pop() = 0;
  /// Gives it back, in any thread, when the last holder lets go.
  virtual Arrived popHeld() = 0;

  /// Asks the peer's engine whether it runs, without any room for frames.
  virtual void ask() = 0;
  /// Returns whether it has answered since.
  virtual bool hasAnswered() = 0;

  /// Why nothing more will come, for a link that has nothing next. The text
  /// goes on behind the peer's name.
  virtual std::optional<Error> ended() = 0;
  /// Tells the peer that this process gives up because of `failure`, or that it
  /// ends in order (null).
  virtual void close(const Error *failure) = 0;
};

/// The error that a Close frame carries, see FrameKind. A failure keeps its
/// code, so that all ranks throw the same class of exception.
inline Error errorOfClose(uint64_t code, std::string_view text) {
  if (code == 0)
    return Error("has left the others: its program has ended, or has called "
                 "shutdown",
                 ErrorCode::UNAVAILABLE);
  return Error("has given up: " + std::string(text),
               errorCodeOf(int64_t(code)));
}

} // namespace meshloom

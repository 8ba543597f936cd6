// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gloo connects the processes, and moves bytes by its event loop. Waiting is
// the only way it offers to learn that bytes have moved, so each link has two
// threads that wait, one in each direction; they sleep nearly always.
//
// A pair that has failed stays so: after a failure the processes connect again,
// under another prefix of the store.
#include "GlooLink.h"

#include "GlooContext.h"
#include "NoPipeSignal.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <gloo/transport/context.h>
#include <gloo/transport/unbound_buffer.h>
#include <mutex>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;

namespace {
constexpr int64_t PAYLOAD = 256 << 10;
constexpr int64_t HEADER = sizeof(FrameHeader);
constexpr int BUFFERS = 8;
/// Waiting ends with the connection, or by `abortWait`; how long a transfer may
/// take is the engine's.
constexpr std::chrono::milliseconds FOR_EVER = 24h * 365;

/// Lines of memory that hold a frame. Nothing is written there before a frame
/// is: links that are not used take next to no memory.
struct Buffer {
  explicit Buffer(gloo::transport::Context &context)
      : bytes(std::make_unique_for_overwrite<char[]>(HEADER + PAYLOAD)),
        message(context.createUnboundBuffer(bytes.get(), HEADER + PAYLOAD)) {}
  std::unique_ptr<char[]> bytes;
  std::unique_ptr<gloo::transport::UnboundBuffer> message;
};

/// Returns what this exception of a connection tells about its peer.
Error reasonOf(const std::exception &error) {
  if (dynamic_cast<const DamagedBytes *>(&error))
    return Error(error.what(), ErrorCode::DATA_LOSS);
  return Error(fmt::format("its connection is broken (its process has ended, "
                           "or the network between): {}",
                           error.what()),
               ErrorCode::UNAVAILABLE);
}

class GlooLink final : public Link {
public:
  GlooLink(std::shared_ptr<gloo::transport::Context> context, int peer,
           std::shared_ptr<Bell> bell)
      : context(std::move(context)), peer(peer), bell(std::move(bell)) {
    for (int i = 0; i < BUFFERS; ++i) {
      idle.push_back(std::make_unique<Buffer>(*this->context));
      toPost.push_back(std::make_unique<Buffer>(*this->context));
    }
    const NoPipeSignal inThreadsToo;
    sender = std::thread([this] { awaitSent(); });
    receiver = std::thread([this] { receiveAll(); });
  }

  ~GlooLink() override {
    {
      std::unique_lock lock(mutex);
      closing = true;
      changed.notify_all();
      // Frames that were sent are to arrive; a peer that hangs is not waited
      // for.
      changed.wait_for(lock, patience, [&] { return sent; });
      // Closing a socket that has bytes left to read would throw away what is
      // on its way to the peer: wait until it has said its last word, too.
      if (closedAt)
        changed.wait_until(lock, *closedAt + 200ms,
                           [&] { return reason.has_value(); });
      stopped = true;
      for (const auto &buffer : posted)
        buffer->message->abortWaitRecv();
      for (const auto &buffer : onTheWay)
        buffer->message->abortWaitSend();
      changed.notify_all();
    }
    sender.join();
    receiver.join();
  }

  int64_t mostBytes() const override { return PAYLOAD; }

  bool hasRoom(int64_t) override {
    std::lock_guard lock(mutex);
    wantsRoom = idle.empty();
    return !wantsRoom;
  }

  void write(const FrameHeader &header, const char *payload) override {
    std::unique_ptr<Buffer> buffer;
    {
      std::lock_guard lock(mutex);
      buffer = std::move(idle.back());
      idle.pop_back();
    }
    std::memcpy(buffer->bytes.get(), &header, HEADER);
    if (header.bytes > 0)
      std::memcpy(buffer->bytes.get() + HEADER, payload, header.bytes);
    std::lock_guard lock(mutex);
    send(std::move(buffer), HEADER + header.bytes);
  }
  void flush() override {}

  bool hasNext() override {
    std::lock_guard lock(mutex);
    return !arrived.empty();
  }

  Result<std::optional<Frame>> next() override {
    std::lock_guard lock(mutex);
    if (arrived.empty())
      return std::optional<Frame>();
    Frame frame;
    std::memcpy(static_cast<void *>(&frame.header),
                arrived.front()->bytes.get(), HEADER);
    frame.payload = arrived.front()->bytes.get() + HEADER;
    return std::optional(frame);
  }

  void pop() override {
    std::lock_guard lock(mutex);
    toPost.push_back(std::move(arrived.front()));
    arrived.pop_front();
    changed.notify_all();
  }

  Arrived popHeld() override {
    // Others take its place: what is held may outlive the link.
    std::lock_guard lock(mutex);
    const std::shared_ptr<char[]> bytes = std::move(arrived.front()->bytes);
    arrived.pop_front();
    toPost.push_back(std::make_unique<Buffer>(*context));
    changed.notify_all();
    return bytes;
  }

  void ask() override {
    std::lock_guard lock(mutex);
    answered = false;
    say(FrameKind::Ping);
  }
  bool hasAnswered() override {
    std::lock_guard lock(mutex);
    return answered;
  }

  std::optional<Error> ended() override {
    std::lock_guard lock(mutex);
    return arrived.empty() ? reason : std::nullopt;
  }

  void close(const Error *failure) override {
    std::lock_guard lock(mutex);
    closedAt = std::chrono::steady_clock::now();
    // Nobody looks at what comes any more, and who gives up does not wait for
    // what it has said before.
    for (; !arrived.empty(); arrived.pop_front())
      toPost.push_back(std::move(arrived.front()));
    patience = failure ? 300ms : 2000ms;
    if (failure)
      say(FrameKind::Close, failure->message(), uint64_t(failure->code()));
    else
      say(FrameKind::Close);
  }

private:
  /// With the lock. Gloo writes what the socket takes, and the rest later.
  void send(std::unique_ptr<Buffer> buffer, int64_t bytes) {
    if (reason)
      return;
    const NoPipeSignal whileWriting;
    try {
      buffer->message->send(peer, 0, 0, size_t(bytes));
      onTheWay.push_back(std::move(buffer));
      changed.notify_all();
    } catch (const std::exception &error) {
      end(Error(fmt::format("its connection is broken: {}", error.what()),
                ErrorCode::UNAVAILABLE));
    }
  }

  /// With the lock: a frame that needs no room.
  void say(FrameKind kind, std::string_view text = {}, uint64_t tag = 0) {
    FrameHeader header;
    header.kind = kind;
    header.tag = tag;
    header.total = header.bytes =
        std::min<int64_t>(int64_t(text.size()), PAYLOAD);
    auto buffer = std::make_unique<Buffer>(*context);
    std::memcpy(buffer->bytes.get(), &header, HEADER);
    std::copy_n(text.data(), header.bytes, buffer->bytes.get() + HEADER);
    send(std::move(buffer), HEADER + header.bytes);
  }

  /// Waits for what was sent, to use its buffer again.
  void awaitSent() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return closing || !onTheWay.empty(); });
      // A peer that is no more does not take anything.
      if (onTheWay.empty() || stopped || reason) {
        if (closing)
          break;
        changed.wait(lock, [&] { return closing; });
        break;
      }
      gloo::transport::UnboundBuffer &first = *onTheWay.front()->message;
      lock.unlock();
      std::string broken;
      try {
        first.waitSend(nullptr, FOR_EVER);
      } catch (const std::exception &error) {
        broken = error.what();
      }
      lock.lock();
      if (!broken.empty()) {
        end(Error("its connection is broken: " + broken,
                  ErrorCode::UNAVAILABLE));
        continue;
      }
      if (idle.size() < BUFFERS)
        idle.push_back(std::move(onTheWay.front()));
      onTheWay.pop_front();
      if (std::exchange(wantsRoom, false))
        bell->ring();
    }
    sent = true;
    changed.notify_all();
  }

  /// With the lock, which is given back while Gloo does something: posts what
  /// is to be posted.
  void postAll(std::unique_lock<std::mutex> &lock) {
    while (!stopped && !broken && !toPost.empty()) {
      std::unique_ptr<Buffer> next = std::move(toPost.front());
      toPost.pop_front();
      lock.unlock();
      std::optional<Error> failure;
      try {
        next->message->recv(peer, 0, 0, HEADER + PAYLOAD);
      } catch (const std::exception &error) {
        failure = reasonOf(error);
      }
      lock.lock();
      broken = failure;
      if (!broken)
        posted.push_back(std::move(next));
    }
  }

  void receiveAll() {
    std::unique_lock lock(mutex);
    while (true) {
      postAll(lock);
      if (stopped)
        return;
      if (posted.empty()) {
        if (broken) {
          end(*broken);
          return;
        }
        changed.wait(lock, [&] { return stopped || !toPost.empty(); });
        continue;
      }
      // Where posting failed, what came before is there all the same, and the
      // first that did not come says so.
      Buffer &first = *posted.front();
      std::optional<Error> failure;
      lock.unlock();
      bool came = false;
      try {
        came = first.message->waitRecv(nullptr, FOR_EVER);
      } catch (const std::exception &error) {
        failure = reasonOf(error);
      }
      lock.lock();
      if (failure) {
        end(*failure);
        return;
      }
      if (!came)
        continue;
      std::unique_ptr<Buffer> buffer = std::move(posted.front());
      posted.pop_front();
      FrameHeader header;
      std::memcpy(static_cast<void *>(&header), buffer->bytes.get(), HEADER);
      if (!header.isSound(PAYLOAD)) {
        end(reasonOf(DamagedBytes()));
        return;
      }
      if (header.kind == FrameKind::Close) {
        const std::string_view why(buffer->bytes.get() + HEADER, header.bytes);
        end(errorOfClose(header.tag, why));
        return;
      }
      if (header.kind == FrameKind::Ping)
        say(FrameKind::Pong);
      if (header.kind == FrameKind::Pong)
        answered = true;
      if (header.kind >= FrameKind::Ping) {
        toPost.push_back(std::move(buffer));
        bell->ring();
        continue;
      }
      (closedAt ? toPost : arrived).push_back(std::move(buffer));
      bell->ring();
    }
  }

  void end(const Error &why) {
    if (!reason)
      reason = why;
    changed.notify_all();
    bell->ring();
  }

  const std::shared_ptr<gloo::transport::Context> context;
  const int peer;
  const std::shared_ptr<Bell> bell;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Buffer>> idle; // to be written
  std::deque<std::unique_ptr<Buffer>> onTheWay;
  /// To be posted, waited for, to be read: what comes in goes through them.
  std::deque<std::unique_ptr<Buffer>> toPost, posted, arrived;
  std::optional<Error> broken; // nothing can be posted any more
  std::optional<Error> reason; // it has ended
  std::optional<std::chrono::steady_clock::time_point> closedAt;
  std::chrono::milliseconds patience{2000};
  bool answered = false; // since it was asked
  bool wantsRoom = false, closing = false, sent = false, stopped = false;
  std::thread sender, receiver;
};

} // namespace

Result<std::map<int, std::unique_ptr<Link>>>
meshloom::connectByGloo(KeyValueStore &store, const std::vector<int> &peers,
                        const SocketOptions &options,
                        const std::shared_ptr<Bell> &bell) {
  Result<std::map<int, Socket>> sockets = connectSockets(store, peers, options);
  if (!sockets)
    return sockets.error();
  try {
    const NoPipeSignal inThreadsToo;
    const std::shared_ptr<gloo::transport::Context> context = makeGlooContext(
        options.rank, int(options.secrets.size()), std::move(*sockets));
    std::map<int, std::unique_ptr<Link>> links;
    for (int peer : peers)
      links.emplace(peer, std::make_unique<GlooLink>(context, peer, bell));
    return links;
  } catch (const std::exception &error) {
    return Error(fmt::format("[transport] {}", error.what()),
                 ErrorCode::UNAVAILABLE);
  }
}

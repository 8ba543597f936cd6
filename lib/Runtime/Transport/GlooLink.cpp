// Gloo connects the processes, and moves bytes by its event loop. What it
// offers to learn that bytes have moved is to wait for it, so that each link
// has two threads that do so, one in each direction; they sleep nearly always.
//
// A pair that has failed stays so: after a failure the processes connect again,
// under another prefix of the store.
#include "GlooLink.h"

#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/address.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
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

/// Gloo writes without asking for no signal when the peer has gone.
class NoPipeSignal {
public:
  NoPipeSignal() {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
  }
  ~NoPipeSignal() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

/// Lines of memory that hold a frame.
struct Buffer {
  explicit Buffer(gloo::transport::Context &context)
      : bytes(HEADER + PAYLOAD),
        message(context.createUnboundBuffer(bytes.data(), bytes.size())) {}
  std::vector<char> bytes;
  std::unique_ptr<gloo::transport::UnboundBuffer> message;
};

class GlooLink final : public Link {
public:
  GlooLink(std::shared_ptr<gloo::transport::Context> context, int peer,
           uint64_t token, std::shared_ptr<Bell> bell)
      : context(std::move(context)), peer(peer), token(token),
        bell(std::move(bell)) {
    for (int i = 0; i < BUFFERS; ++i) {
      idle.push_back(std::make_unique<Buffer>(*this->context));
      toPost.push_back(std::make_unique<Buffer>(*this->context));
    }
    FrameHeader hello;
    hello.kind = FrameKind::Hello;
    hello.tag = token;
    write(hello, nullptr);
    const NoPipeSignal inThreadsToo;
    sender = std::thread([this] { awaitSent(); });
    receiver = std::thread([this] { receiveAll(); });
  }

  ~GlooLink() override {
    {
      std::unique_lock lock(mutex);
      closing = true;
      changed.notify_all();
      // What was sent is to arrive; a peer that hangs is not waited for.
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
    std::memcpy(buffer->bytes.data(), &header, HEADER);
    if (header.bytes > 0)
      std::memcpy(buffer->bytes.data() + HEADER, payload, header.bytes);
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
                arrived.front()->bytes.data(), HEADER);
    frame.payload = arrived.front()->bytes.data() + HEADER;
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
    auto bytes = std::make_shared<std::vector<char>>();
    bytes->swap(arrived.front()->bytes);
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

  std::optional<std::string> ended() override {
    std::lock_guard lock(mutex);
    return arrived.empty() ? reason : std::nullopt;
  }

  void close(const std::string &why) override {
    std::lock_guard lock(mutex);
    closedAt = std::chrono::steady_clock::now();
    // Nobody looks at what comes any more, and who gives up does not wait for
    // what it has said before.
    for (; !arrived.empty(); arrived.pop_front())
      toPost.push_back(std::move(arrived.front()));
    patience = why.empty() ? 2000ms : 300ms;
    say(FrameKind::Close, why);
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
      end(fmt::format("its connection is broken: {}", error.what()));
    }
  }

  /// With the lock: a frame that needs no room.
  void say(FrameKind kind, std::string_view text = {}) {
    FrameHeader header;
    header.kind = kind;
    header.total = header.bytes =
        std::min<int64_t>(int64_t(text.size()), PAYLOAD);
    auto buffer = std::make_unique<Buffer>(*context);
    std::memcpy(buffer->bytes.data(), &header, HEADER);
    std::copy_n(text.data(), header.bytes, buffer->bytes.data() + HEADER);
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
        end("its connection is broken: " + broken);
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

  void receiveAll() {
    bool greeted = false;
    std::unique_lock lock(mutex);
    while (!stopped) {
      std::string broken;
      try {
        while (!toPost.empty()) {
          posted.push_back(std::move(toPost.front()));
          toPost.pop_front();
          Buffer &next = *posted.back();
          lock.unlock();
          next.message->recv(peer, 0, 0, HEADER + PAYLOAD);
          lock.lock();
        }
        if (posted.empty()) {
          changed.wait(lock, [&] { return stopped || !toPost.empty(); });
          continue;
        }
        Buffer &first = *posted.front();
        lock.unlock();
        const bool came = first.message->waitRecv(nullptr, FOR_EVER);
        lock.lock();
        if (!came)
          continue;
      } catch (const std::exception &error) {
        broken = error.what();
        if (!lock)
          lock.lock();
      }
      if (!broken.empty()) {
        end("its connection is broken (its process has ended, or the network "
            "between): " +
            broken);
        return;
      }
      std::unique_ptr<Buffer> buffer = std::move(posted.front());
      posted.pop_front();
      FrameHeader header;
      std::memcpy(static_cast<void *>(&header), buffer->bytes.data(), HEADER);
      if (!header.isSound(PAYLOAD) ||
          greeted == (header.kind == FrameKind::Hello) ||
          (!greeted && header.tag != token)) {
        end("what comes from its address is not a process of this run");
        return;
      }
      if (header.kind == FrameKind::Close) {
        const std::string_view why(buffer->bytes.data() + HEADER, header.bytes);
        end(why.empty() ? std::string("has closed its transport")
                        : fmt::format("has given up: {}", why));
        return;
      }
      if (header.kind == FrameKind::Ping)
        say(FrameKind::Pong);
      if (header.kind == FrameKind::Pong)
        answered = true;
      if (header.kind >= FrameKind::Hello) {
        greeted = true;
        toPost.push_back(std::move(buffer));
        bell->ring();
        continue;
      }
      (closedAt ? toPost : arrived).push_back(std::move(buffer));
      bell->ring();
    }
  }

  void end(const std::string &why) {
    if (!reason)
      reason = why;
    changed.notify_all();
    bell->ring();
  }

  const std::shared_ptr<gloo::transport::Context> context;
  const int peer;
  const uint64_t token;
  const std::shared_ptr<Bell> bell;

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::unique_ptr<Buffer>> idle; // to be written
  std::deque<std::unique_ptr<Buffer>> onTheWay;
  /// To be posted, waited for, to be read: what comes in goes through them.
  std::deque<std::unique_ptr<Buffer>> toPost, posted, arrived;
  std::optional<std::string> reason; // it has ended
  std::optional<std::chrono::steady_clock::time_point> closedAt;
  std::chrono::milliseconds patience{2000};
  bool answered = false; // since it was asked
  bool wantsRoom = false, closing = false, sent = false, stopped = false;
  std::thread sender, receiver;
};

/// Gloo's addresses are bytes; a store's values, too.
std::string bytesOf(const gloo::transport::Address &address) {
  const std::vector<char> bytes = address.bytes();
  return {bytes.begin(), bytes.end()};
}
} // namespace

Result<std::map<int, std::unique_ptr<Link>>>
meshloom::connectByGloo(KeyValueStore &store, const std::vector<int> &peers,
                        const GlooOptions &options) {
  auto key = [&](int from, int to) {
    return fmt::format("{}tcp/{}/{}", options.prefix, from, to);
  };
  int peer = -1;
  try {
    const NoPipeSignal inThreadsToo;
    gloo::transport::tcp::attr attribute;
    attribute.hostname = options.address;
    const auto device = gloo::transport::tcp::CreateDevice(attribute);
    const std::shared_ptr<gloo::transport::Context> context =
        device->createContext(options.rank, options.size);
    // Gloo waits five times as long for a connection.
    context->setTimeout(
        std::max<std::chrono::milliseconds>(options.timeout / 5, 1ms));
    for (int other : peers) {
      peer = other;
      if (Status status =
              store.set(key(options.rank, peer),
                        bytesOf(context->createPair(peer)->address()));
          !status)
        return status.error();
    }
    std::map<int, std::unique_ptr<Link>> links;
    for (int other : peers) {
      peer = other;
      const Result<std::string> address =
          store.get(key(peer, options.rank), options.timeout);
      if (!address)
        return Error(fmt::format("[transport] rank {} gives no TCP address: {}",
                                 peer, address.error().message()));
      context->getPair(peer)->connect({address->begin(), address->end()});
      links.emplace(peer, std::make_unique<GlooLink>(
                              context, peer, options.token, options.bell));
    }
    return links;
  } catch (const std::exception &error) {
    return Error(fmt::format(
        "[transport] rank {} cannot be connected by TCP with rank {} ({} is "
        "this host's address): {}",
        peer, options.rank, options.address, error.what()));
  }
}

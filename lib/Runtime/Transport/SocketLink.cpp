// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A frame is sent by the thread that writes it, as far as the connection takes
// it. A thread of the link sends the rest, reads what comes, and answers pings;
// it sleeps nearly always.
#include "SocketLink.h"

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;

namespace {
constexpr size_t PAYLOAD = 256 << 10;
constexpr size_t HEADER = sizeof(FrameHeader);
constexpr int BUFFERS = 8;
/// The bytes that are read at once before the size of a frame is known. Bytes
/// of the frames behind it are copied.
constexpr size_t FIRST_BYTES = HEADER + (4 << 10);

/// Memory that holds a frame. Nothing is written there before a frame is: links
/// that are not used take next to no memory.
struct Buffer {
  std::unique_ptr<char[]> bytes =
      std::make_unique_for_overwrite<char[]>(HEADER + PAYLOAD);
  size_t size = 0; ///< of the frame that is to be sent
  size_t done = 0; ///< the bytes that were sent, or have come
};

class SocketLink final : public Link {
public:
  SocketLink(Socket connected, std::shared_ptr<Bell> bell)
      : socket(std::move(connected)),
        wakeup(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), bell(std::move(bell)) {
    const int yes = 1;
    setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    for (int i = 0; i < BUFFERS; ++i) {
      idle.push_back(std::make_unique<Buffer>());
      free.push_back(std::make_unique<Buffer>());
    }
    thread = std::thread([this] { run(); });
  }

  ~SocketLink() override {
    {
      std::unique_lock lock(mutex);
      // Frames that were sent are to arrive; a peer that hangs is not waited
      // for.
      changed.wait_for(lock, patience,
                       [&] { return outgoing.empty() || reason; });
      // Closing a socket that has bytes left to read would throw away what is
      // on its way to the peer: wait until it has said its last word, too.
      if (closedAt)
        changed.wait_until(lock, *closedAt + 200ms,
                           [&] { return reason.has_value(); });
      stopped = true;
      wake();
    }
    thread.join();
  }

  int64_t mostBytes() const override { return int64_t(PAYLOAD); }

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
      std::memcpy(buffer->bytes.get() + HEADER, payload, size_t(header.bytes));
    std::lock_guard lock(mutex);
    send(std::move(buffer), HEADER + size_t(header.bytes));
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
    frame.header = headerOf(*arrived.front());
    frame.payload = arrived.front()->bytes.get() + HEADER;
    return std::optional(frame);
  }

  void pop() override {
    std::lock_guard lock(mutex);
    release(std::move(arrived.front()));
    arrived.pop_front();
  }

  Arrived popHeld() override {
    // A new buffer takes its place: the held bytes may outlive the link.
    std::lock_guard lock(mutex);
    const std::shared_ptr<char[]> bytes = std::move(arrived.front()->bytes);
    arrived.pop_front();
    release(std::make_unique<Buffer>());
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
      release(std::move(arrived.front()));
    patience = failure ? 300ms : 2000ms;
    if (failure)
      say(FrameKind::Close, failure->message(), uint64_t(failure->code()));
    else
      say(FrameKind::Close);
  }

private:
  static FrameHeader headerOf(const Buffer &buffer) {
    FrameHeader header;
    std::memcpy(static_cast<void *>(&header), buffer.bytes.get(), HEADER);
    return header;
  }

  void wake() const { eventfd_write(wakeup.get(), 1); }

  // ---- With the lock

  /// Lets the next frame come into a buffer. The thread waits for one if there
  /// was none.
  void release(std::unique_ptr<Buffer> buffer) {
    free.push_back(std::move(buffer));
    if (free.size() == 1)
      wake();
  }

  void send(std::unique_ptr<Buffer> buffer, size_t size) {
    if (reason || isDeaf)
      return;
    buffer->size = size;
    buffer->done = 0;
    outgoing.push_back(std::move(buffer));
    if (outgoing.size() > 1) // the thread is about to go on with the first one
      return;
    sendAll();
    if (!outgoing.empty())
      wake();
  }

  /// A frame that needs no room.
  void say(FrameKind kind, std::string_view text = {}, uint64_t tag = 0) {
    FrameHeader header;
    header.kind = kind;
    header.tag = tag;
    const size_t size = std::min(text.size(), PAYLOAD);
    header.total = header.bytes = int64_t(size);
    auto buffer = std::make_unique<Buffer>();
    std::memcpy(buffer->bytes.get(), &header, HEADER);
    std::copy_n(text.data(), size, buffer->bytes.get() + HEADER);
    send(std::move(buffer), HEADER + size);
  }

  /// Sends what the connection takes now.
  void sendAll() {
    while (!outgoing.empty()) {
      Buffer &first = *outgoing.front();
      const ssize_t count =
          ::send(socket.get(), first.bytes.get() + first.done,
                 first.size - first.done, MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0 && errno == EAGAIN)
        return;
      if (count < 0) {
        // Reading goes on: what the peer has said last tells why it has gone.
        isDeaf = true;
        outgoing.clear();
        break;
      }
      first.done += size_t(count);
      if (first.done < first.size)
        continue;
      if (idle.size() < BUFFERS)
        idle.push_back(std::move(outgoing.front()));
      outgoing.pop_front();
      if (std::exchange(wantsRoom, false))
        bell->ring();
    }
    changed.notify_all();
  }

  void end(const Error &why) {
    if (!reason)
      reason = why;
    changed.notify_all();
    bell->ring();
  }

  /// Takes a whole frame that has come.
  void take(std::unique_ptr<Buffer> buffer) {
    const FrameHeader header = headerOf(*buffer);
    if (header.kind == FrameKind::Close)
      return end(errorOfClose(
          header.tag, {buffer->bytes.get() + HEADER, size_t(header.bytes)}));
    if (header.kind == FrameKind::Ping)
      say(FrameKind::Pong);
    if (header.kind == FrameKind::Pong)
      answered = true;
    const bool isData = header.kind < FrameKind::Ping;
    (isData && !closedAt ? arrived : free).push_back(std::move(buffer));
    bell->ring();
  }

  // ---- The thread

  void run() {
    std::unique_lock lock(mutex);
    while (!stopped) {
      if (!reading)
        reading = nextFree();
      const bool reads = reading && !reason, writes = !outgoing.empty();
      if (reads && surplusSize > 0) {
        receiveAll(lock);
        continue;
      }
      lock.unlock();
      // A socket that is watched for nothing still tells of a peer that has
      // gone, at once and for ever.
      std::array<pollfd, 2> files{
          {{wakeup.get(), POLLIN, 0},
           {reads || writes ? socket.get() : -1,
            short((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)), 0}}};
      poll(files.data(), files.size(), -1);
      if (eventfd_t count = 0; files[0].revents != 0)
        eventfd_read(wakeup.get(), &count);
      lock.lock();
      if (writes)
        sendAll();
      if (reads && files[1].revents != 0)
        receiveAll(lock);
    }
  }

  /// With the lock.
  std::unique_ptr<Buffer> nextFree() {
    if (free.empty())
      return nullptr;
    std::unique_ptr<Buffer> buffer = std::move(free.front());
    free.pop_front();
    buffer->done = 0;
    return buffer;
  }

  /// Reads what has come, as long as there are buffers; then it is the turn of
  /// what goes out. With the lock, which is given back while bytes are copied.
  void receiveAll(std::unique_lock<std::mutex> &lock) {
    for (int frames = 0; frames < BUFFERS && !reason && !stopped;) {
      lock.unlock();
      const Result<Progress> progress = receive();
      lock.lock();
      if (!progress)
        return end(progress.error());
      if (*progress == Progress::Waits)
        return;
      if (*progress == Progress::Whole) {
        ++frames;
        take(std::move(reading));
        reading = nextFree();
        if (!reading)
          return;
      }
    }
  }

  enum class Progress : uint8_t { Waits, Some, Whole };

  /// Reads bytes of the frame that comes now. Fails where no more will come.
  Result<Progress> receive() {
    Buffer &buffer = *reading;
    // The bytes that came with the frame before.
    std::memcpy(buffer.bytes.get() + buffer.done, surplus.data(), surplusSize);
    buffer.done += std::exchange(surplusSize, 0);
    size_t size = FIRST_BYTES;
    if (buffer.done >= HEADER) {
      const FrameHeader header = headerOf(buffer);
      if (!header.isSound(int64_t(PAYLOAD)))
        return Error("its data are damaged", ErrorCode::DATA_LOSS);
      size = HEADER + size_t(header.bytes);
      if (buffer.done >= size) {
        surplusSize = buffer.done - size;
        std::memcpy(surplus.data(), buffer.bytes.get() + size, surplusSize);
        return Progress::Whole;
      }
    }
    const ssize_t count = recv(socket.get(), buffer.bytes.get() + buffer.done,
                               size - buffer.done, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      return Progress::Some;
    if (count < 0 && errno == EAGAIN)
      return Progress::Waits;
    if (count <= 0)
      return Error(
          fmt::format("its connection is broken (its process has ended, or the "
                      "network between): {}",
                      count < 0 ? std::strerror(errno) : "connection closed"),
          ErrorCode::UNAVAILABLE);
    buffer.done += size_t(count);
    return Progress::Some;
  }

  const Socket socket;
  const Socket wakeup; ///< wakes the thread
  const std::shared_ptr<Bell> bell;

  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::vector<std::unique_ptr<Buffer>> idle; ///< to be written
  std::deque<std::unique_ptr<Buffer>> outgoing;
  /// To be filled, and to be read by the engine.
  std::deque<std::unique_ptr<Buffer>> free, arrived;
  std::optional<Error> reason; ///< it has ended
  std::optional<std::chrono::steady_clock::time_point> closedAt;
  std::chrono::milliseconds patience{2000};
  bool answered = false; ///< since it was asked
  bool isDeaf = false;   ///< the peer takes nothing any more
  bool wantsRoom = false, stopped = false;

  // Only the thread uses these.
  std::unique_ptr<Buffer> reading; ///< the frame that comes now
  std::array<char, FIRST_BYTES> surplus;
  size_t surplusSize = 0;
  std::thread thread;
};

} // namespace

Result<std::map<int, std::unique_ptr<Link>>>
meshloom::connectByTcp(KeyValueStore &store, const std::vector<int> &peers,
                       const SocketOptions &options,
                       const std::shared_ptr<Bell> &bell) {
  Result<std::map<int, Socket>> sockets = connectSockets(store, peers, options);
  if (!sockets)
    return sockets.error();
  std::map<int, std::unique_ptr<Link>> links;
  for (auto &[peer, socket] : *sockets)
    links.emplace(peer, std::make_unique<SocketLink>(std::move(socket), bell));
  return links;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each of Gloo's pairs listens at a port of its own as it is made, takes the
// first connection that comes for its peer, and ends the process where what
// comes is no message of Gloo's. So it is made while Gloo's thread, which would
// do so, stands still; its port is closed at once, and it goes on with a
// connection that has proven itself. Its ports are of the loopback only.
//
// A peer that has proven itself may still send wrong bytes. Gloo's thread then
// throws an exception, which would end the process; here it ends that
// connection.
#include "GlooContext.h"

#include <atomic>
#include <fmt/format.h>
#include <gloo/transport/tcp/context.h>
#include <gloo/transport/tcp/device.h>
#include <gloo/transport/tcp/pair.h>
#include <semaphore>
#include <stdexcept>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace meshloom;
namespace tcp = gloo::transport::tcp;

namespace {
/// The device's thread does nothing as long as this object lives.
class Standstill final : tcp::Handler {
public:
  explicit Standstill(tcp::Device &device)
      : device(device), file(eventfd(1, EFD_CLOEXEC)) {
    device.registerDescriptor(file, EPOLLIN, this);
    stands.acquire();
  }
  ~Standstill() override {
    ends = true;
    ends.notify_all();
    device.unregisterDescriptor(file, this);
    close(file);
  }

private:
  void handleEvents(int) override {
    if (ends)
      return;
    stands.release();
    ends.wait(false);
  }

  tcp::Device &device;
  const int file;
  std::binary_semaphore stands{0};
  std::atomic<bool> ends{false};
};

class ConnectedPair final : public tcp::Pair {
public:
  ConnectedPair(tcp::Context *context, tcp::Device *device, int rank,
                Socket socket)
      : Pair(context, device, rank, gloo::kNoTimeout) {
    const std::lock_guard lock(m_);
    // Checks that the library was built from the headers that this file
    // includes.
    int listens = 0;
    socklen_t length = sizeof listens;
    if (state_ != LISTENING || rank_ != rank ||
        getsockopt(fd_, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) != 0 ||
        listens == 0)
      throw std::logic_error("another version of Gloo than was built with");
    ::close(fd_);
    fd_ = socket.get();
    try {
      handleConnected();
    } catch (...) {
      fd_ = -1;
      throw;
    }
    socket.release();
  }

private:
  /// On Gloo's thread, with the pair's lock.
  void handleReadWrite(int events) override {
    std::exception_ptr failure;
    try {
      Pair::handleReadWrite(events);
      failure = std::exchange(ex_, nullptr);
      // For buffers that links do not have: Gloo would look for them for ever.
      if (!failure && rx_.nread >= sizeof rx_.preamble &&
          rx_.getOpcode() == tcp::Op::SEND_BUFFER)
        failure = std::make_exception_ptr(DamagedBytes());
    } catch (const std::exception &) {
      failure = std::exchange(ex_, nullptr);
      if (!failure)
        failure = std::make_exception_ptr(DamagedBytes());
    }
    if (!failure)
      return;
    // The receive in the middle of which it was is none that Gloo knows.
    localPendingRecv_[0].emplace_front(rx_.ubuf, 0, 0);
    signalException(failure);
  }
};

class ContextOfSockets final : public tcp::Context {
public:
  using Context::Context;

  void addPair(int rank, Socket socket) {
    pairs_[size_t(rank)] = std::make_unique<ConnectedPair>(
        this, device_.get(), rank, std::move(socket));
  }
};
} // namespace

std::shared_ptr<gloo::transport::Context>
meshloom::makeGlooContext(int rank, int size, std::map<int, Socket> sockets) {
  tcp::attr attribute;
  attribute.hostname = "127.0.0.1";
  const auto device =
      std::make_shared<tcp::Device>(tcp::CreateDeviceAttr(attribute));
  auto context = std::make_shared<ContextOfSockets>(device, rank, size);
  const Standstill whilePairsAreMade(*device);
  for (auto &[peer, socket] : sockets)
    try {
      context->addPair(peer, std::move(socket));
    } catch (const std::exception &error) {
      throw std::runtime_error(fmt::format("the connection by TCP with rank {} "
                                           "broke as soon as it was made: {}",
                                           peer, error.what()));
    }
  return context;
}

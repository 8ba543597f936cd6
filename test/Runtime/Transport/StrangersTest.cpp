// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strangers at the ports by which processes connect over TCP: who says nothing,
// garbage, or half of what a process says; and ranks that send wrong bytes.
#include "../../../lib/Runtime/Transport/SocketLink.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Transport/ProcessTransport.h"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <future>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <random>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

namespace {
constexpr auto LONG = 100s;

/// A socket of a stranger; none where nobody listens at that "ADDRESS PORT".
Socket strangerAt(const std::string &text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(std::stoi(text.substr(text.find(' ')))));
  Socket stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(stranger.get(), reinterpret_cast<sockaddr *>(&address),
              sizeof address) != 0)
    return Socket();
  return stranger;
}

void say(const Socket &socket, const std::string &bytes) {
  (void)send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

/// Returns the bytes that are there once `count` bytes have come.
std::string hear(const Socket &socket, size_t count) {
  std::string bytes(count, ' ');
  size_t got = 0;
  while (got < count) {
    pollfd file{socket.get(), POLLIN, 0};
    if (poll(&file, 1, int(std::chrono::milliseconds(LONG).count())) != 1)
      break;
    const ssize_t part = recv(socket.get(), bytes.data() + got, count - got, 0);
    if (part <= 0)
      break;
    got += size_t(part);
  }
  bytes.resize(got);
  return bytes;
}

template <typename... Parts> std::string bytesOf(Parts... parts) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char *>(&parts), sizeof parts), ...);
  return bytes;
}
constexpr uint64_t MAGIC = 0x4d4c4f4f4d544350;
std::string greeting(uint64_t secret, int from, int to) {
  return bytesOf(MAGIC, secret, from, to);
}

/// Returns texts that strangers say to rank 0, whose secret they do not know.
std::vector<std::string> textsOfStrangers() {
  std::mt19937_64 random(1);
  std::vector<std::string> texts = {
      "", "GET / HTTP/1.1\r\n\r\n", greeting(0, 2, 0), greeting(11, 2, 0),
      greeting(12, 0, 2), greeting(12, 2, 0).substr(0, 12),
      // A frame, and a large number as the beginning of a message has it.
      bytesOf(FrameHeader()),
      bytesOf(uint64_t(48), uint64_t(0), uint64_t(0), uint64_t(0))};
  for (int i = 0; i < 200; ++i) {
    // Any bytes, behind the beginning of a greeting.
    std::string text =
        greeting(random(), int(random() % 4), 0).substr(0, random() % 25);
    for (size_t more = random() % 100; more > 0; --more)
      text += char(random());
    texts.push_back(text);
  }
  return texts;
}

SocketOptions optionsOf(int rank, std::chrono::milliseconds timeout) {
  SocketOptions options;
  options.rank = rank;
  options.address = "127.0.0.1";
  options.secrets = {10, 11, 12};
  options.timeout = timeout;
  return options;
}

// They come while ranks wait for each other, and stay; the last rank comes
// after them. Ranks get each other's connections, with nothing in them.
TEST(StrangersTest, RanksMeetAllTheSame) {
  MemoryStore store;
  auto meet = [&](int rank, const std::vector<int> &peers) {
    return std::async(std::launch::async, [&store, rank, peers] {
      return connectSockets(store, peers, optionsOf(rank, LONG));
    });
  };
  auto first = meet(0, {1, 2}), second = meet(1, {0, 2});
  std::vector<Socket> strangers;
  std::vector<std::string> addresses;
  for (const char *key : {"tcp/0", "tcp/1"}) {
    addresses.push_back(*store.get(key, LONG));
    for (const std::string &text : textsOfStrangers()) {
      strangers.push_back(strangerAt(addresses.back()));
      ASSERT_TRUE(strangers.back());
      say(strangers.back(), text);
    }
  }
  auto third = meet(2, {0, 1});
  std::vector<std::map<int, Socket>> sockets;
  for (auto *meeting : {&first, &second, &third}) {
    auto met = meeting->get();
    ASSERT_TRUE(met) << met.error().message();
    sockets.push_back(std::move(*met));
  }
  for (int rank = 0; rank < 3; ++rank)
    for (auto &[peer, socket] : sockets[size_t(rank)])
      say(socket, bytesOf(rank, peer));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(sockets[size_t(rank)].size(), 2U);
    for (auto &[peer, socket] : sockets[size_t(rank)])
      EXPECT_EQ(hear(socket, 8), bytesOf(peer, rank));
  }
  // Nobody listens any more, and strangers were told nothing.
  for (const std::string &address : addresses)
    EXPECT_FALSE(strangerAt(address));
  for (const Socket &stranger : strangers)
    EXPECT_EQ(hear(stranger, 1), "");
}

/// This process's sockets: those that are listened at, or others.
std::set<int> sockets(bool listening) {
  std::set<int> found;
  for (const auto &entry :
       std::filesystem::directory_iterator("/proc/self/fd")) {
    const int file = std::stoi(entry.path().filename().string());
    int listens = 0;
    socklen_t length = sizeof listens;
    if (getsockopt(file, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 &&
        (listens != 0) == listening)
      found.insert(file);
  }
  return found;
}

/// Three ranks, which are threads, connected by TCP.
std::vector<std::shared_ptr<Transport>> threeRanks() {
  MemoryStore store;
  std::vector<std::future<std::shared_ptr<Transport>>> meetings;
  for (int rank = 0; rank < 3; ++rank)
    meetings.push_back(std::async(std::launch::async, [&store, rank] {
      ProcessTransportOptions options;
      options.rank = rank;
      options.size = 3;
      options.kind = LinkKind::TCP;
      options.address = "127.0.0.1";
      options.connectTimeout = LONG;
      auto transport = connectProcesses(store, options);
      EXPECT_TRUE(transport) << transport.error().message();
      return transport ? *transport : nullptr;
    }));
  std::vector<std::shared_ptr<Transport>> transports;
  transports.reserve(meetings.size());
  for (auto &meeting : meetings)
    transports.push_back(meeting.get());
  return transports;
}

/// How a barrier ends in each of them.
std::vector<Status>
barrierOf(const std::vector<std::shared_ptr<Transport>> &transports) {
  std::vector<std::future<Status>> barriers;
  for (const auto &transport : transports)
    barriers.push_back(std::async(std::launch::async, [&transport] {
      Communicator communicator(transport);
      return communicator.wait(
          communicator.barrier(std::vector<int>{0, 1, 2}, 1));
    }));
  std::vector<Status> outcomes;
  outcomes.reserve(barriers.size());
  for (auto &barrier : barriers)
    outcomes.push_back(barrier.get());
  return outcomes;
}

// While programs run there is no port at all.
TEST(StrangersTest, NobodyListensOnceAllAreConnected) {
  const std::set<int> before = sockets(/*listening=*/true);
  const auto transports = threeRanks();
  EXPECT_EQ(sockets(/*listening=*/true), before);
  for (const Status &status : barrierOf(transports))
    EXPECT_TRUE(status) << status.error().message();
}

// Writing to a connection that takes nothing any more is an error, and does not
// end the process by a signal.
TEST(StrangersTest, ABrokenConnectionIsAnError) {
  const std::set<int> before = sockets(/*listening=*/false);
  const auto transports = threeRanks();
  for (int file : sockets(/*listening=*/false))
    if (!before.contains(file))
      shutdown(file, SHUT_WR);
  for (const Status &status : barrierOf(transports))
    EXPECT_FALSE(status);
}

/// Returns what rank 0 learns of its link with rank 1, which has proven itself,
/// says this and then closes its connection.
std::string endAfter(const std::string &lastWords) {
  MemoryStore store;
  auto meeting = std::async(std::launch::async, [&] {
    return connectSockets(store, {0}, optionsOf(1, LONG));
  });
  auto bell = std::make_shared<Bell>();
  auto links = connectByTcp(store, {1}, optionsOf(0, LONG), bell);
  auto sockets = meeting.get();
  if (!links || !sockets)
    return "they have not met";
  say(sockets->at(0), lastWords);
  shutdown(sockets->at(0).get(), SHUT_WR);
  Link &link = *links->at(1);
  const auto deadline = std::chrono::steady_clock::now() + LONG;
  std::optional<Error> reason;
  while (!(reason = link.ended()) &&
         std::chrono::steady_clock::now() < deadline) {
    if (link.hasNext())
      link.pop();
    std::this_thread::sleep_for(1ms);
  }
  link.close(nullptr);
  return reason ? reason->message() : "it has not ended";
}

/// Returns a frame as a rank sends it, after a change to its header.
std::string frame(const std::string &payload,
                  const std::function<void(FrameHeader &)> &change = {}) {
  FrameHeader header;
  header.total = header.bytes = int64_t(payload.size());
  if (change)
    change(header);
  return bytesOf(header) + payload;
}

// Damaged bytes of a rank end its link, not this process.
TEST(StrangersTest, ARankMayBeWrong) {
  const std::vector<std::string> texts = {
      std::string(sizeof(FrameHeader), 'x'),
      frame("", [](FrameHeader &header) { header.kind = FrameKind(99); }),
      frame("x", [](FrameHeader &header) { header.bytes = -1; }),
      frame("x", [](FrameHeader &header) { header.offset = 1; }),
      // Larger than any frame.
      frame("x",
            [](FrameHeader &header) {
              header.total = header.bytes = int64_t(1) << 40;
            }),
      // Behind frames that are sound, in the same packet and in later ones.
      frame("12345") + frame("") + std::string(64, 'x'),
      frame(std::string(200'000, 'y')) + std::string(64, 'x')};
  for (const std::string &text : texts)
    EXPECT_EQ(endAfter(text), "its data are damaged");
  // Nothing, whole frames, half of a header, half of a payload: the link ends
  // with the connection.
  const std::vector<std::string> halves = {
      "", frame("12345") + frame("678"), frame("12345").substr(0, 20),
      frame("12345").substr(0, 66), frame("1") + frame("2").substr(0, 10)};
  for (const std::string &text : halves)
    EXPECT_THAT(endAfter(text), HasSubstr("its connection is broken"));
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) {
    std::string text = frame(std::string(random() % 100, 'z'));
    for (size_t more = random() % 200; more > 0; --more)
      text += char(random());
    text[random() % text.size()] = char(random());
    EXPECT_NE(endAfter(text), "it has not ended");
  }
}

// Frames of all sizes arrive whole and in order, many in one packet too, and
// while nobody takes them.
TEST(StrangersTest, FramesFollowEachOther) {
  MemoryStore store;
  auto meeting = std::async(std::launch::async, [&] {
    return connectSockets(store, {0}, optionsOf(1, LONG));
  });
  auto bell = std::make_shared<Bell>();
  auto links = connectByTcp(store, {1}, optionsOf(0, LONG), bell);
  auto sockets = meeting.get();
  ASSERT_TRUE(links && sockets);
  std::mt19937_64 random(1);
  std::vector<std::string> payloads;
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    payloads.emplace_back(i % 3 == 0 ? random() % 5000 : random() % 50,
                          char('a' + i % 26));
    bytes += frame(payloads.back());
  }
  auto saying = std::async(std::launch::async, [&] {
    const int file = sockets->at(0).get();
    for (size_t sent = 0; sent < bytes.size();) {
      const size_t count = std::min(bytes.size() - sent, random() % 20000 + 1);
      const ssize_t taken =
          send(file, bytes.data() + sent, count, MSG_NOSIGNAL);
      if (taken > 0)
        sent += size_t(taken);
    }
  });
  Link &link = *links->at(1);
  for (const std::string &payload : payloads) {
    while (!link.hasNext())
      std::this_thread::sleep_for(100us);
    const auto next = link.next();
    ASSERT_TRUE(next && *next);
    EXPECT_EQ(std::string((*next)->payload, size_t((*next)->header.bytes)),
              payload);
    link.pop();
  }
  saying.get();
  link.close(nullptr);
}

// A rank that is gone, and whose port a stranger has now.
TEST(StrangersTest, WhoAnswersInsteadOfARankIsNoRank) {
  const Socket stranger(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto *socketAddress = reinterpret_cast<sockaddr *>(&address);
  ASSERT_EQ(bind(stranger.get(), socketAddress, length), 0);
  ASSERT_EQ(listen(stranger.get(), 100), 0);
  ASSERT_EQ(getsockname(stranger.get(), socketAddress, &length), 0);
  MemoryStore store;
  const int port = ntohs(address.sin_port);
  ASSERT_TRUE(store.set("tcp/0", "127.0.0.1 " + std::to_string(port)));
  auto meeting = std::async(std::launch::async, [&] {
    return connectSockets(store, {0, 2}, optionsOf(1, LONG));
  });
  // Another one comes to its own port, and is closed.
  const Socket other = strangerAt(*store.get("tcp/1", LONG));
  say(other, greeting(12, 2, 1));
  EXPECT_EQ(hear(other, 1), "");
  // It is told the secret of the rank that it is taken for, and does not know
  // that of who asks. Then it closes its port, which ends the matter.
  Socket asked(accept(stranger.get(), nullptr, nullptr));
  EXPECT_EQ(hear(asked, 24), greeting(10, 1, 0));
  say(asked, greeting(10, 0, 1));
  EXPECT_EQ(hear(asked, 1), "");
  shutdown(stranger.get(), SHUT_RDWR);
  const auto met = meeting.get();
  ASSERT_FALSE(met);
  EXPECT_THAT(met.error().message(),
              AllOf(HasSubstr("[transport] rank 0 cannot be connected by TCP "
                              "with rank 1 (127.0.0.1 is this host's address)"),
                    HasSubstr("Connection refused; 1 others have come, none of "
                              "this run")));
}

TEST(StrangersTest, ARankThatDoesNotComeIsNamed) {
  MemoryStore store;
  const auto met = connectSockets(store, {1, 2}, optionsOf(0, 50ms));
  ASSERT_FALSE(met);
  EXPECT_THAT(met.error().message(),
              AllOf(HasSubstr("rank 1 cannot be connected by TCP with rank 0"),
                    HasSubstr("no connection in ")));
}
} // namespace

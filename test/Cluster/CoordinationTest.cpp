// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The coordination service and its clients: rendezvous, values, barriers,
// failures, and who is refused.
#include "TestRun.h"
#include "meshloom/Cluster/Coordination/Gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <random>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using namespace std::string_literals;

namespace {

using Clock = std::chrono::steady_clock;

/// Waits for the failure that a client is told.
std::optional<Failure> waitForFailure(const CoordinationClient &client) {
  const auto end = Clock::now() + 60s;
  while (!client.failure() && Clock::now() < end)
    std::this_thread::sleep_for(5ms);
  return client.failure();
}

TEST(CoordinationTest, RanksMeetAndKnowEachOther) {
  const TestService test(3);
  const Clients clients = joinAll(*test.service, 3);
  for (const auto &client : clients) {
    ASSERT_EQ(client->ranks().size(), 3U);
    EXPECT_EQ(client->ranks()[2].host, "host2");
    EXPECT_EQ(client->ranks()[2].pid, getpid());
    EXPECT_EQ(client->generation(), test.service->generation());
    EXPECT_EQ(client->runName(),
              fmt::format("meshloom-{:016x}", test.service->generation()));
  }
  EXPECT_THAT(onAll(clients, [](auto &client) { return client.shutdown(60s); }),
              Each(IsEmpty()));
  EXPECT_TRUE(test.service->waitForEnd(0ms));
  // Who has left cannot go on.
  EXPECT_THAT(clients[0]->set("k", "v").error().message(),
              HasSubstr("has left the run"));
}

TEST(CoordinationTest, ValuesReachThoseThatWait) {
  const TestService test(2);
  const Clients clients = joinAll(*test.service, 2);
  auto waiting = std::async(std::launch::async,
                            [&] { return clients[1]->get("a/b", 60s); });
  std::this_thread::sleep_for(20ms);
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(clients[0]->set("a/b", bytes));
  EXPECT_EQ(*waiting.get(), bytes);
  // Again, and one that is replaced, and a large one.
  EXPECT_EQ(*clients[0]->get("a/b", 0ms), bytes);
  const std::string large(8 << 20, 'x');
  ASSERT_TRUE(clients[1]->set("a/b", large));
  EXPECT_EQ(*clients[0]->get("a/b", 60s), large);
  ASSERT_TRUE(clients[0]->set("ab", "stays"));
  ASSERT_TRUE(clients[0]->erase("a/"));
  EXPECT_EQ(*clients[1]->get("ab", 0ms), "stays");
  EXPECT_EQ(clients[1]->get("a/b", 50ms).error().message(),
            "DeadlineExceeded: 'a/b' was not set by any rank within 50 ms");
}

// Who looks for a value is told that there is none, which is no error; that the
// run has failed is one.
TEST(CoordinationTest, ValuesAreFoundOrNot) {
  const TestService test(2);
  const Clients clients = joinAll(*test.service, 2);
  const std::string bytes("\0\xff\n", 3);
  ASSERT_TRUE(clients[0]->set("a/b", bytes));
  EXPECT_EQ(clients[1]->find("a/b").value_or_throw(), bytes);
  EXPECT_EQ(clients[1]->find("a").value_or_throw(), std::nullopt);
  EXPECT_EQ(clients[1]->get("a", 0ms).error().message(),
            "DeadlineExceeded: 'a' was not set by any rank within 0 ms");
  clients[0]->reportFailure("out of paper");
  auto after = clients[1]->find("a/b");
  ASSERT_FALSE(after);
  EXPECT_THAT(after.error().message(), HasSubstr("out of paper"));
}

TEST(CoordinationTest, TheStoreHasAQuota) {
  CoordinationServiceOptions options;
  options.mostStoredBytes = 1000;
  const TestService test(1, options);
  const Clients clients = joinAll(*test.service, 1);
  const std::string half(500, 'x');
  ASSERT_TRUE(clients[0]->set("a/b", half));
  EXPECT_THAT(clients[0]->set("c", half).error().message(),
              HasSubstr("keeps at most 1000 bytes of keys and values, and has "
                        "503: erase keys that are no longer needed"));
  // A value that is replaced or erased makes room.
  ASSERT_TRUE(clients[0]->set("a/b", half + half.substr(100)));
  ASSERT_TRUE(clients[0]->erase("a/"));
  ASSERT_TRUE(clients[0]->set("c", half + half.substr(100)));
  EXPECT_EQ(clients[0]->get("c", 0ms)->size(), 900u);
}

// gRPC ends the process where it is given others.
TEST(CoordinationTest, TokensOfOtherBytesAreRefused) {
  const TestService test(1);
  for (const auto &[token, why] :
       {std::pair("abc\r", "whose byte 4 of 4 is 0x0d, the end of a line"),
        {"\xc3\xa4", "whose byte 1 of 2 is 0xc3"},
        {"a\tb", "whose byte 2 of 3 is 0x09"},
        {" a", "with a space there"}}) {
    CoordinationServiceOptions service;
    service.token = token;
    EXPECT_THAT(CoordinationService::start(service).error().message(),
                AllOf(HasSubstr("such as MESHLOOM_TOKEN="), HasSubstr(why)));
    CoordinationClientOptions client = rankOf(*test.service, 0, 1);
    client.token = token;
    EXPECT_THAT(CoordinationClient::connect(client).error().message(),
                HasSubstr(why));
  }
}

TEST(CoordinationTest, BarriersNameWhoIsMissing) {
  const TestService test(3);
  const Clients clients = joinAll(*test.service, 3);
  const Clients two = {clients[0], clients[2]};
  EXPECT_THAT(
      onAll(two, [](auto &client) { return client.barrier("epoch", 1s); }),
      Each("barrier 'epoch': DeadlineExceeded: rank 1 (host host1, process " +
           std::to_string(getpid()) + ") did not come within 1 s"));
  // It may be used again, and so may one that was reached.
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(
        onAll(clients,
              [](auto &client) { return client.barrier("epoch", 60s); }),
        Each(IsEmpty()));
}

TEST(CoordinationTest, GatherReturnsTextsInTheOrderOfRanks) {
  const TestService test(3);
  const Clients clients = joinAll(*test.service, 3);
  for (const bool silent : {false, true}) {
    const auto results = onAll(clients, [&](auto &client) -> Status {
      const auto texts = client.gather(
          "names", int(client.rank()), 3,
          silent ? "" : fmt::format("I am {}", client.rank()), 60s);
      if (!texts)
        return texts.error();
      return Error(fmt::format("{}", fmt::join(*texts, ", ")));
    });
    EXPECT_THAT(results, Each(silent ? ", , " : "I am 0, I am 1, I am 2"));
  }
  EXPECT_EQ(clients[0]->gather("names", 1, 3, "", 1s).error().message(),
            "expected all 3 ranks of the run to gather 'names', with this one "
            "as rank 0, got rank 1 of 3");
}

TEST(CoordinationTest, ABarrierIsNotWaitedAtForOneThatLeaves) {
  const TestService test(2);
  const Clients clients = joinAll(*test.service, 2);
  const std::string expected =
      fmt::format("barrier 'epoch': rank 1 (host host1, process {}) does not "
                  "come: its program has ended, or has called shutdown",
                  getpid());
  auto waiting = std::async(std::launch::async, [&] {
    return clients[0]->barrier("epoch", 60s).error().message();
  });
  std::this_thread::sleep_for(20ms);
  auto leaving =
      std::async(std::launch::async, [&] { return clients[1]->shutdown(60s); });
  EXPECT_EQ(waiting.get(), expected);
  // Who comes later does not wait either; leaving itself goes on.
  EXPECT_EQ(clients[0]->barrier("epoch", 60s).error().message(), expected);
  EXPECT_TRUE(clients[0]->shutdown(60s));
  EXPECT_TRUE(leaving.get());
}

/// Rank 1 of a run as another process, which waits. gRPC does not survive a
/// fork: the child starts this program anew, with DISABLED_JoinAndSleep alone.
pid_t startRank1(const std::string &address) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    execl("/proc/self/exe", "ClusterTests", "--gtest_filter=*JoinAndSleep",
          "--gtest_also_run_disabled_tests", address.c_str(), nullptr);
    _exit(1);
  }
  return child;
}

TEST(CoordinationTest, DISABLED_JoinAndSleep) {
  CoordinationClientOptions options;
  options.address = testing::internal::GetArgvs().back();
  options.rank = 1;
  options.size = 2;
  options.host = "other";
  options.binaryHash = "same";
  options.version = "1";
  auto client = CoordinationClient::connect(options).value_or_throw();
  (void)client->get("forever", 60s);
}

/// Returns the error that rank 0, which waits, gets when a signal hits rank 1,
/// if nobody was heard for `timeout` at the latest.
std::string signalRank1(int signal, std::chrono::milliseconds timeout) {
  CoordinationServiceOptions service;
  service.heartbeatTimeout = timeout;
  const TestService test(2, service);
  const pid_t child = startRank1(test.service->address());
  CoordinationClientOptions options = rankOf(*test.service, 0, 2);
  options.startTimeout = 10s;
  auto client = CoordinationClient::connect(options).value_or_throw();
  auto value =
      std::async(std::launch::async, [&] { return client->get("never", 60s); });
  std::this_thread::sleep_for(50ms);
  kill(child, signal);
  const std::string message = value.get().error().message();
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(client->failure()->rank, 1);
  EXPECT_EQ(client->failure()->pid, child);
  EXPECT_EQ(client->failure()->kind, Failure::Kind::LOST);
  EXPECT_EQ(test.service->failure()->message(), client->failure()->message());
  return message;
}

TEST(CoordinationTest, AProcessThatIsKilledIsLostToAll) {
  // Its connection is closed: that is known before the timeout.
  EXPECT_THAT(
      signalRank1(SIGKILL, 60s),
      MatchesRegex("waiting for 'never': rank 1 \\(host other, process "
                   "[0-9]+\\) is lost: its process has ended before the "
                   "program did"));
}

TEST(CoordinationTest, AProcessThatIsStoppedIsLostAfterTheTimeout) {
  EXPECT_THAT(signalRank1(SIGSTOP, 2s),
              HasSubstr("nothing was heard from it for 2 s: its process "
                        "is stopped or hangs"));
}

TEST(CoordinationTest, AReportEndsTheRunForAll) {
  const TestService test(3);
  const Clients clients = joinAll(*test.service, 3);
  std::promise<Failure> told;
  clients[0]->onFailure(
      [&](const Failure &failure) { told.set_value(failure); });
  auto waiting = std::async(std::launch::async, [&] {
    return clients[2]->barrier("b", 60s).error().message();
  });
  std::this_thread::sleep_for(20ms);
  // Longer than the status of a call may be.
  const std::string text = "loss is NaN" + std::string(20000, '!');
  clients[1]->reportFailure(text);
  const std::string message =
      fmt::format("rank 1 (host host1, process {}) failed: {}", getpid(), text);
  EXPECT_EQ(told.get_future().get().message(), message);
  EXPECT_EQ(waiting.get(), "barrier 'b': " + message);
  EXPECT_EQ(clients[1]->failure()->message(), message);
  EXPECT_TRUE(test.service->waitForEnd(60s));
  // The first one stays, and later calls fail with it.
  clients[2]->reportFailure("me too");
  EXPECT_EQ(clients[0]->failure()->message(), message);
  EXPECT_EQ(clients[0]->set("k", "v").error().message(),
            "setting 'k': " + message);
  EXPECT_THAT(clients[0]->shutdown(1s).error().message(), HasSubstr(message));
}

TEST(CoordinationTest, AServiceThatGoesAwayIsLost) {
  auto test = std::make_unique<TestService>(2, [] {
    CoordinationServiceOptions options;
    options.rank = 0;
    return options;
  }());
  const Clients clients = joinAll(*test->service, 2);
  const std::string address = test->service->address();
  test.reset();
  const std::optional<Failure> failure = waitForFailure(*clients[1]);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::SERVICE_LOST);
  EXPECT_THAT(
      failure->message(),
      AllOf(HasSubstr(fmt::format("rank 0 (host host0, process {}), which "
                                  "runs the coordination service, is "
                                  "lost: {} does not answer",
                                  getpid(), address))));
}

TEST(CoordinationTest, RanksThatDoNotComeAreNamed) {
  const TestService test(3);
  auto one = std::async(std::launch::async, [&] {
    CoordinationClientOptions options = rankOf(*test.service, 1, 3);
    options.startTimeout = 300ms;
    return CoordinationClient::connect(options).error().message();
  });
  EXPECT_EQ(
      one.get(),
      "waiting for all ranks: DeadlineExceeded: rank 0 (which never joined the "
      "run), rank 2 (which never joined the run) did not come within 300 ms");
}

TEST(CoordinationTest, NobodyThereIsSaidWithTheAddress) {
  CoordinationClientOptions options;
  options.address = "localhost:1";
  options.startTimeout = 200ms;
  EXPECT_THAT(CoordinationClient::connect(options).error().message(),
              AllOf(HasSubstr("rank 0 cannot join the run at localhost:1"),
                    HasSubstr("no coordination service was found there within "
                              "0.2 s"),
                    HasSubstr("Connection refused")));
  options.address = "localhost";
  EXPECT_EQ(
      CoordinationClient::connect(options).error().message(),
      "expected the coordination service's address as \"host:port\", such "
      "as \"localhost:10000\", got \"localhost\": it has no port");
}

TEST(CoordinationTest, AProcessOfAnotherStartIsRefused) {
  const TestService test(1, [] {
    CoordinationServiceOptions options;
    options.generation = 7;
    return options;
  }());
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  options.generation = 6;
  EXPECT_THAT(
      CoordinationClient::connect(options).error().message(),
      HasSubstr("belongs to start 0000000000000006 of the program, this "
                "service is of start 0000000000000007"));
  // The run itself goes on: its own rank comes.
  options.generation = 7;
  EXPECT_TRUE(CoordinationClient::connect(options));
}

TEST(CoordinationTest, AClientOfAServiceThatWasRestartedIsLeftOver) {
  auto test = std::make_unique<TestService>(1);
  const Clients clients = joinAll(*test->service, 1);
  const std::string address = test->service->address();
  test.reset();
  const TestService second(1, [&] {
    CoordinationServiceOptions options;
    options.address = address;
    return options;
  }());
  const std::optional<Failure> failure = waitForFailure(*clients[0]);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message(),
              HasSubstr("it is left over, and must be ended"));
}

TEST(CoordinationTest, TwoProcessesOfOneRankAreRefused) {
  const TestService test(2);
  const Clients clients = joinAll(*test.service, 2);
  const Result<std::shared_ptr<CoordinationClient>> again =
      CoordinationClient::connect(rankOf(*test.service, 1, 2));
  EXPECT_THAT(again.error().message(),
              HasSubstr(fmt::format(
                  "process {} on host host1 is rank 1 already", getpid())));
  EXPECT_FALSE(clients[0]->failure());
  EXPECT_THAT(test.log.str(), HasSubstr("is rank 1 already"));
}

/// Rank 0 joins, rank 1 with other options; what both are told.
template <typename Change>
std::pair<std::string, std::string> joinTwo(Change change) {
  const TestService test(2);
  // One of two that come as rank 0 is refused: then the other one is there.
  std::array<std::future<std::string>, 2> both;
  for (std::future<std::string> &future : both)
    future = std::async(std::launch::async, [&] {
      return CoordinationClient::connect(rankOf(*test.service, 0, 2))
          .error()
          .message();
    });
  size_t refused = 0;
  while (both[refused].wait_for(5ms) != std::future_status::ready)
    refused = 1 - refused;
  CoordinationClientOptions options = rankOf(*test.service, 1, 2);
  change(options);
  const std::string second =
      CoordinationClient::connect(options).error().message();
  return {both[1 - refused].get(), second};
}

TEST(CoordinationTest, AnotherVersionProgramOrSizeEndsTheRunAtOnce) {
  auto [first, second] = joinTwo([](auto &options) { options.version = "2"; });
  EXPECT_THAT(first, HasSubstr("rank 1 (host host1, process"));
  EXPECT_THAT(first, HasSubstr("its Meshloom is of version 2, that of rank 0 "
                               "(host host0) of version 1"));
  EXPECT_THAT(second, HasSubstr("its Meshloom is of version 2"));

  std::tie(first, second) =
      joinTwo([](auto &options) { options.binaryHash = "other"; });
  EXPECT_THAT(first,
              HasSubstr("runs another program than rank 0 (host host0)"));

  std::tie(first, second) = joinTwo([](auto &options) { options.size = 3; });
  EXPECT_THAT(second,
              HasSubstr("it was started as one of 3 processes, this run "
                        "has 2"));
  EXPECT_THAT(first, HasSubstr("started as one of 3 processes"));

  std::tie(first, second) = joinTwo([](auto &options) { options.rank = 2; });
  EXPECT_THAT(first, HasSubstr("expected a rank in 0..1"));
}

TEST(CoordinationTest, CallsWithoutTheTokenAreRefused) {
  const TestService test(1, [] {
    CoordinationServiceOptions options;
    options.token = "secret";
    return options;
  }());
  CoordinationClientOptions options = rankOf(*test.service, 0, 1);
  for (const char *token : {"", "wrong", "secre", "secretsecret"}) {
    options.token = token;
    EXPECT_THAT(CoordinationClient::connect(options).error().message(),
                HasSubstr("the token is wrong"));
  }
  EXPECT_THAT(test.log.str(), AllOf(HasSubstr("its token is missing"),
                                    HasSubstr("its token is wrong")));
  options.token = "secret";
  EXPECT_TRUE(CoordinationClient::connect(options));
}

TEST(CoordinationTest, OnlyThisMachineReachesItUnlessAsked) {
  CoordinationServiceOptions options;
  options.address = "0.0.0.0:0";
  Log log;
  options.log = [&](const std::string &line) { log.add(line); };
  EXPECT_THAT(
      CoordinationService::start(options).error().message(),
      HasSubstr("would listen on 0.0.0.0:0, which other machines reach, "
                "without TLS"));
  options.allowPlainNetwork = true;
  EXPECT_TRUE(CoordinationService::start(options));
  EXPECT_THAT(log.str(), HasSubstr("(other machines reach it), without TLS, "
                                   "without a token"));
  const TestService test(1);
  EXPECT_THAT(test.log.str(), HasSubstr("(this machine alone reaches it)"));
}

TEST(CoordinationTest, ATakenPortIsSaid) {
  const TestService test(1);
  CoordinationServiceOptions options;
  options.address = test.service->address();
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("is taken by another process: give another one, or 0"));
  options.address = "no-such-host.invalid:0";
  EXPECT_THAT(CoordinationService::start(options).error().message(),
              HasSubstr("host \"no-such-host.invalid\" is not known"));
}

/// Sends bytes to a port and closes the connection, sometimes at once.
void sendTo(const std::string &address, const std::string &bytes, bool wait) {
  const int port = std::stoi(address.substr(address.rfind(':') + 1));
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in target = {};
  target.sin_family = AF_INET;
  target.sin_port = htons(uint16_t(port));
  target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(
      connect(file, reinterpret_cast<sockaddr *>(&target), sizeof(target)), 0);
  (void)send(file, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (wait) {
    const timeval limit = {0, 20000};
    setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    std::array<char, 256> answer;
    (void)recv(file, answer.data(), answer.size(), 0);
  }
  close(file);
}

TEST(CoordinationTest, GarbageOnThePortHarmsNobody) {
  const TestService test(2);
  const Clients clients = joinAll(*test.service, 2);
  std::mt19937 random(1);
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  const std::string settings("\0\0\0\4\0\0\0\0\0", 9);
  for (int i = 0; i < 300; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char &byte : bytes)
      byte = char(random());
    if (i % 3 == 1)
      bytes = preface + bytes;
    if (i % 3 == 2) // frames of random types, lengths and contents
      bytes = preface + settings + std::string("\0\0", 2) + bytes;
    sendTo(test.service->address(), bytes, i % 8 == 0);
  }
  sendTo(test.service->address(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n", true);
  EXPECT_TRUE(clients[0]->set("k", "v"));
  EXPECT_EQ(*clients[1]->get("k", 60s), "v");
  EXPECT_THAT(onAll(clients, [](auto &client) { return client.shutdown(60s); }),
              Each(IsEmpty()));
}

/// Remembers who was let in, and hears what they say.
class Guests final : public detail::Gate::Acceptor {
public:
  explicit Guests(std::atomic<int> &count) : count(count) {}
  void HandleNewConnection(NewConnectionParameters *guest) override {
    close(guest->fd);
    ++count;
  }

private:
  std::atomic<int> &count;
};

// All of them have come before the gate opens: those that do not say all that a
// client says, and those that have gone again, are never let in.
TEST(GateTest, OnlyClientsThatStayAreLetIn) {
  const std::string preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  auto frame = [](std::string_view header, size_t length = 9) {
    return std::string(header.substr(0, length));
  };
  using namespace std::string_view_literals;
  const std::string settings = frame("\0\0\x0c\4\0\0\0\0\0"sv);
  const std::string hello = "\x16\x03\x01\x02\0\x01"s;
  for (const bool tls : {false, true}) {
    auto gate = detail::Gate::open({"127.0.0.1", 0}, tls, 2, {});
    ASSERT_TRUE(gate) << gate.error().message();
    auto connectTo = [port = (*gate)->port()](const std::string &greeting) {
      sockaddr_in target = {};
      target.sin_family = AF_INET;
      target.sin_port = htons(uint16_t(port));
      target.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      EXPECT_EQ(
          connect(file, reinterpret_cast<sockaddr *>(&target), sizeof target),
          0);
      EXPECT_EQ(send(file, greeting.data(), greeting.size(), MSG_NOSIGNAL),
                ssize_t(greeting.size()));
      return file;
    };
    std::vector<int> files;
    for (const std::string &greeting :
         {""s, "GET / HTTP/1.1\r\n\r\n"s, preface, preface + "x",
          preface + settings.substr(0, 5), tls ? preface + settings : hello,
          preface + frame("\0\0\x0d\4\0\0\0\0\0"sv), // no settings' length
          preface + frame("\1\0\x02\4\0\0\0\0\0"sv), // 64 KiB of them
          preface + frame("\0\0\x0c\1\0\0\0\0\1"sv), // other kinds
          preface + frame("\0\0\x0c\4\1\0\0\0\0"sv), hello.substr(0, 3),
          "\x16\x03\x01\x02\0\x02"s})
      files.push_back(connectTo(greeting));
    const std::string client = tls ? hello : preface + settings;
    for (int count = 0; count < 100; ++count)
      close(connectTo(client));
    for (int count = 0; count < 2; ++count)
      files.push_back(connectTo(client + "more"));
    std::atomic<int> letIn = 0;
    (*gate)->letInto(std::make_unique<Guests>(letIn));
    // Clients hear the end of what closes them; nobody else is before them.
    for (const int file : {files.end()[-1], files.end()[-2]}) {
      char byte = 0;
      (void)recv(file, &byte, 1, 0);
    }
    gate->reset();
    EXPECT_EQ(letIn, 2) << (tls ? "TLS" : "HTTP/2");
    for (const int file : files)
      close(file);
  }
}

// Ranks that wait for each other at barriers of different names, which are
// among the calls that all make in one order, are told at once; in other
// threads names may come in any order.
TEST(CoordinationTest, DifferentBarriersAreFoundAtOnce) {
  const TestService test(3);
  const Clients clients = joinAll(*test.service, 3);
  auto meet = [&](CoordinationClient &client, std::chrono::milliseconds timeout,
                  bool inOrder) {
    const std::string name = client.rank() == 2 ? "save" : "load";
    return client.barrier(name, timeout, inOrder ? "barrier " + name : "");
  };
  EXPECT_THAT(
      onAll(clients, [&](auto &client) { return meet(client, 100s, true); }),
      Each(AllOf(HasSubstr("do not make the same calls in one order"),
                 HasSubstr("rank 0 (host host0, process "),
                 HasSubstr("calls barrier load, rank 2 (host host2, process "),
                 HasSubstr("calls barrier save. Call the same"))));
  EXPECT_THAT(
      onAll(clients, [&](auto &client) { return meet(client, 300ms, false); }),
      Each(HasSubstr("did not come within")));
  EXPECT_THAT(onAll(clients,
                    [&](auto &client) {
                      return client.barrier("all", 100s, "barrier all");
                    }),
              Each(IsEmpty()));
  EXPECT_THAT(onAll(clients, [](auto &client) { return client.shutdown(5s); }),
              Each(IsEmpty()));
}

// Strangers that connect again and again, and say nothing, or what a client
// would, keep nobody from joining, and nobody else from what he does.
TEST(CoordinationTest, AFloodOfConnectionsHarmsNobody) {
  const TestService test(2);
  std::atomic<bool> stop = false;
  std::vector<std::thread> strangers;
  auto flood = [&](const std::string &greeting) {
    for (int s = 0; s < 2; ++s)
      strangers.emplace_back([&, greeting] {
        while (!stop)
          sendTo(test.service->address(), greeting, false);
      });
  };
  flood("");
  const Clients clients = joinAll(*test.service, 2);
  flood("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nx");
  for (int i = 0; i < 20; ++i) {
    const std::string key = std::to_string(i);
    EXPECT_TRUE(clients[0]->set(key, "v"));
    EXPECT_EQ(*clients[1]->get(key, 60s), "v");
  }
  stop = true;
  for (std::thread &stranger : strangers)
    stranger.join();
  EXPECT_THAT(onAll(clients, [](auto &client) { return client.shutdown(60s); }),
              Each(IsEmpty()));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transports between real processes, by shared memory, by TCP, and by both:
// every pair and size, any order of posts, and peers that die, hang or give up.
#include "../../TemporaryFolder.h"
#include "../SignalStorm.h"

#include "meshloom/Runtime/Transport/ProcessTransport.h"

#include "meshloom/Core/DType.h"
#include "meshloom/Runtime/Combine.h"
#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Transport/FolderStore.h"

#include <array>
#include <csignal>
#include <filesystem>
#include <gmock/gmock.h>
#include <numeric>
#include <random>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

namespace {
struct Launch {
  LinkKind kind = LinkKind::Automatic;
  /// Each rank's; empty: all on one.
  std::vector<std::string> hosts = {};
  std::chrono::milliseconds timeout = 120s;
};

constexpr auto MEMORY = LinkKind::SharedMemory;
constexpr auto TCP = LinkKind::TCP;

/// A failure that is noticed at once, and not by the usual timeout, takes less
/// time.
constexpr auto AT_ONCE = 60s;

/// Lets a process wait for others that were forked after it was made.
class Signal {
public:
  Signal() { EXPECT_EQ(pipe(ends.data()), 0); }
  ~Signal() {
    for (int end : ends)
      close(end);
  }
  Signal(const Signal &) = delete;
  void give() const { EXPECT_EQ(write(ends[1], "", 1), 1); }
  /// Waits for `count` calls of `give`.
  void await(int count = 1) const {
    for (char byte; count > 0; --count)
      EXPECT_EQ(read(ends[0], &byte, 1), 1);
  }

private:
  std::array<int, 2> ends{};
};

/// Runs `body(transport)` in `size` processes while a profiler's signals
/// interrupt them, and says how each one ended: 0 where no expectation failed,
/// minus the signal that killed it.
template <typename Body>
std::vector<int> runProcesses(int size, const Launch &launch, Body body) {
  const test::TemporaryFolder folder;
  std::vector<pid_t> processes;
  for (int rank = 0; rank < size; ++rank) {
    const pid_t process = fork();
    if (process == 0) {
      FolderStore store(folder.path);
      ProcessTransportOptions options;
      options.rank = rank;
      options.size = size;
      options.kind = launch.kind;
      options.host = launch.hosts.empty() ? "here" : launch.hosts[rank];
      options.address = "127.0.0.1";
      options.timeout = launch.timeout;
      {
        const SignalStorm storm(4ms);
        Result<std::shared_ptr<Transport>> transport =
            connectProcesses(store, options);
        EXPECT_TRUE(transport) << transport.error().message();
        if (transport)
          body(std::move(*transport));
      }
      EXPECT_EQ(SignalStorm::elsewhere(), 0);
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    processes.push_back(process);
  }
  std::vector<int> ends(size, 99);
  // A stopped one has nothing left to say once all others have.
  for (int running = size; running > 0;) {
    int status = 0;
    const pid_t process = waitpid(-1, &status, WUNTRACED);
    if (process < 0)
      break;
    const size_t rank = std::find(processes.begin(), processes.end(), process) -
                        processes.begin();
    if (rank == processes.size())
      continue;
    --running;
    ends[rank] = WIFEXITED(status)     ? WEXITSTATUS(status)
                 : WIFSIGNALED(status) ? -WTERMSIG(status)
                                       : -SIGSTOP;
  }
  for (size_t rank = 0; rank < processes.size(); ++rank)
    if (ends[rank] == -SIGSTOP) {
      kill(processes[rank], SIGKILL);
      waitpid(processes[rank], nullptr, 0);
    }
  return ends;
}

std::vector<int> allWell(int size) {
  return std::vector<int>(size, 0);
}

char byteOf(int from, int to, uint64_t tag, size_t i) {
  return char(from * 31 + to * 7 + int(tag) * 3 + int(i) + int(i / 251));
}

std::string messageOf(int from, int to, uint64_t tag, size_t bytes) {
  std::string message(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i)
    message[i] = byteOf(from, to, tag, i);
  return message;
}

class ProcessTransportTest : public testing::TestWithParam<Launch> {};
INSTANTIATE_TEST_SUITE_P(Links, ProcessTransportTest,
                         testing::Values(Launch{MEMORY}, Launch{TCP},
                                         Launch{LinkKind::Automatic,
                                                {"a", "a", "b", "b"}}),
                         [](const auto &info) {
                           return info.param.kind == MEMORY ? "Memory"
                                  : info.param.kind == TCP  ? "TCP"
                                                            : "Both";
                         });

// All pairs, sizes around the limits of frames and rings; each process posts in
// an order of its own, and half of the receives take parts where they lie.
TEST_P(ProcessTransportTest, EverythingArrivesWhateverTheOrderOfPosts) {
  const std::vector<size_t> sizes = {0,     1,     63,     64,     4096,
                                     16384, 16385, 100000, 262144, 3000001};
  EXPECT_EQ(runProcesses(
                4, GetParam(),
                [&](std::shared_ptr<Transport> transport) {
                  const int rank = transport->rank();
                  struct Post {
                    bool sends;
                    int peer;
                    uint64_t tag;
                  };
                  std::vector<Post> posts;
                  for (int peer = 0; peer < 4; ++peer)
                    for (uint64_t tag = 0; tag < sizes.size(); ++tag) {
                      posts.push_back({true, peer, tag});
                      posts.push_back({false, peer, tag});
                    }
                  std::shuffle(posts.begin(), posts.end(), std::mt19937(rank));
                  std::vector<std::string> texts(posts.size());
                  std::vector<Event> events;
                  for (size_t i = 0; i < posts.size(); ++i) {
                    const auto [sends, peer, tag] = posts[i];
                    if (sends) {
                      texts[i] = messageOf(rank, peer, tag, sizes[tag]);
                      events.push_back(transport->send(peer, tag, texts[i]));
                      continue;
                    }
                    texts[i].resize(sizes[tag]);
                    if (tag % 2)
                      events.push_back(transport->receive(peer, tag, texts[i]));
                    else
                      events.push_back(transport->receive(
                          peer, tag, int64_t(sizes[tag]),
                          [&text = texts[i]](int64_t offset,
                                             std::span<const char> bytes,
                                             const Arrived &) {
                            std::copy(bytes.begin(), bytes.end(),
                                      text.begin() + offset);
                          }));
                  }
                  for (size_t i = 0; i < posts.size(); ++i) {
                    const Status outcome = transport->wait(events[i]);
                    ASSERT_TRUE(outcome) << outcome.error().message();
                    if (!posts[i].sends)
                      EXPECT_TRUE(texts[i] == messageOf(posts[i].peer, rank,
                                                        posts[i].tag,
                                                        sizes[posts[i].tag]));
                  }
                }),
            allWell(4));
}

TEST(ProcessTransportSizeTest, SixtyFourMebibytes) {
  for (const LinkKind kind : {MEMORY, TCP})
    EXPECT_EQ(runProcesses(2, {kind},
                           [&](std::shared_ptr<Transport> transport) {
                             std::vector<int64_t> numbers(8 << 20);
                             const std::span bytes(
                                 reinterpret_cast<char *>(numbers.data()),
                                 numbers.size() * 8);
                             if (transport->rank() == 0) {
                               std::iota(numbers.begin(), numbers.end(), 5);
                               EXPECT_TRUE(transport->send(1, 1, bytes).wait());
                               return;
                             }
                             EXPECT_TRUE(
                                 transport->receive(0, 1, bytes).wait());
                             for (size_t i = 0; i < numbers.size(); ++i)
                               ASSERT_EQ(numbers[i], int64_t(i) + 5);
                           }),
              allWell(2));
}

// A rank that never comes to a message, though it runs.
TEST_P(ProcessTransportTest, APeerThatDoesSomethingElse) {
  Launch launch = GetParam();
  launch.timeout = 1s;
  const Signal isOver;
  EXPECT_EQ(runProcesses(4, launch,
                         [&](std::shared_ptr<Transport> transport) {
                           if (transport->rank() > 0)
                             return isOver.await();
                           std::string text(100, ' ');
                           const Status outcome =
                               transport->wait(transport->receive(3, 1, text));
                           for (int other = 1; other < 4; ++other)
                             isOver.give();
                           ASSERT_FALSE(outcome);
                           EXPECT_THAT(outcome.error().message(),
                                       AllOf(HasSubstr("rank 3 (host "),
                                             HasSubstr("runs, but waits")));
                         }),
            allWell(4));
}

// Messages of one tag match in the order of posts, large and small mixed, and
// ten threads post at once.
TEST_P(ProcessTransportTest, OneTagKeepsItsOrderAndThreadsMix) {
  EXPECT_EQ(
      runProcesses(
          4, GetParam(),
          [&](std::shared_ptr<Transport> transport) {
            const int next = (transport->rank() + 1) % 4,
                      before = (transport->rank() + 3) % 4;
            std::vector<std::thread> threads;
            for (uint64_t tag = 0; tag < 6; ++tag)
              threads.emplace_back([&, tag] {
                std::vector<std::string> sent, received;
                std::vector<Event> events;
                sent.reserve(20);
                received.reserve(20);
                for (size_t i = 0; i < 20; ++i) {
                  const size_t bytes = i % 3 ? 10 + i : 20000 + i;
                  sent.emplace_back(bytes, char('a' + i));
                  received.emplace_back(bytes, ' ');
                  events.push_back(transport->send(next, tag, sent.back()));
                  events.push_back(
                      transport->receive(before, tag, received.back()));
                }
                for (const Event &event : events)
                  EXPECT_TRUE(tag % 2 ? event.wait() : transport->wait(event));
                EXPECT_EQ(received, sent);
              });
            for (std::thread &thread : threads)
              thread.join();
          }),
      allWell(4));
}

TEST_P(ProcessTransportTest, AllReduceGivesTheSameBitsEverywhere) {
  constexpr int64_t COUNT = 500001;
  std::vector<std::vector<float>> operands(4, std::vector<float>(COUNT));
  std::vector<const void *> sources;
  for (int rank = 0; rank < 4; ++rank) {
    std::mt19937 random(rank);
    for (float &value : operands[rank])
      value = float(random()) / 1000;
    sources.push_back(operands[rank].data());
  }
  std::vector<float> expected(COUNT);
  combine(ReduceKind::Sum, DType::F32, expected.data(), sources, COUNT);
  EXPECT_EQ(
      runProcesses(
          4, GetParam(),
          [&](std::shared_ptr<Transport> transport) {
            Communicator communicator(transport);
            const std::vector<int> group{0, 1, 2, 3};
            std::vector<std::vector<float>> data(3,
                                                 operands[transport->rank()]);
            std::vector<Event> events;
            for (uint64_t tag = 0; tag < 3; ++tag)
              events.push_back(communicator.allReduce(group, tag, DType::F32,
                                                      ReduceKind::Sum,
                                                      data[tag].data(), COUNT));
            for (int tag = 0; tag < 3; ++tag) {
              const Status outcome = communicator.wait(events[tag]);
              ASSERT_TRUE(outcome) << outcome.error().message();
              EXPECT_TRUE(data[tag] == expected);
            }
            for (uint64_t tag = 3; tag < 20; ++tag)
              EXPECT_TRUE(communicator.wait(communicator.barrier(group, tag)));
          }),
      allWell(4));
}

/// All ranks sum 16 MiB again and again until something fails; what it says.
Error untilFailure(Communicator &communicator,
                   const std::function<void(int)> &before) {
  std::vector<int> group(communicator.size());
  std::iota(group.begin(), group.end(), 0);
  std::vector<float> data(4 << 20, 1.0f);
  for (int step = 0;; ++step) {
    before(step);
    const Event done =
        communicator.allReduce(group, step, DType::F32, ReduceKind::Max,
                               data.data(), int64_t(data.size()));
    if (const Status outcome = communicator.wait(done); !outcome)
      return outcome.error();
  }
}

// SIGKILL in the middle of a sum: the others end at once, and name it.
TEST_P(ProcessTransportTest, APeerThatDies) {
  std::vector<int> expected = allWell(4);
  expected[2] = -SIGKILL;
  EXPECT_EQ(runProcesses(
                4, GetParam(),
                [&](std::shared_ptr<Transport> transport) {
                  Communicator communicator(transport);
                  std::thread killer;
                  Clock::time_point begin = Clock::now();
                  const Error error = untilFailure(communicator, [&](int step) {
                    if (communicator.rank() == 2 && step == 1)
                      killer = std::thread([] {
                        std::this_thread::sleep_for(3ms);
                        raise(SIGKILL);
                      });
                    if (step == 1)
                      begin = Clock::now();
                  });
                  EXPECT_THAT(error.message(), HasSubstr("rank 2 (host "));
                  EXPECT_LT(Clock::now() - begin, AT_ONCE);
                  EXPECT_FALSE(communicator.wait(
                      communicator.barrier(std::vector<int>{0, 1, 2, 3}, 999)));
                }),
            expected);
}

// SIGSTOP: the timeout finds it.
TEST_P(ProcessTransportTest, APeerThatHangs) {
  Launch launch = GetParam();
  launch.timeout = 1s;
  std::vector<int> expected = allWell(4);
  expected[1] = -SIGSTOP;
  EXPECT_EQ(runProcesses(
                4, launch,
                [&](std::shared_ptr<Transport> transport) {
                  Communicator communicator(transport);
                  const Error error = untilFailure(communicator, [&](int step) {
                    if (communicator.rank() == 1 && step == 1)
                      raise(SIGSTOP);
                  });
                  // Who waits for one that has noticed it hears of it.
                  EXPECT_THAT(error.message(), HasSubstr("rank 1 (host "));
                  EXPECT_THAT(error.message(), HasSubstr("within 1000 ms"));
                  EXPECT_EQ(error.code(), ErrorCode::DEADLINE_EXCEEDED);
                }),
            expected);
}

TEST_P(ProcessTransportTest, APeerThatGivesUpSaysWhy) {
  EXPECT_EQ(runProcesses(
                4, GetParam(),
                [&](std::shared_ptr<Transport> transport) {
                  Communicator communicator(transport);
                  const Error error = untilFailure(communicator, [&](int step) {
                    if (communicator.rank() == 3 && step == 1)
                      communicator.abort(Error("the disk is full",
                                               ErrorCode::RESOURCE_EXHAUSTED));
                  });
                  EXPECT_THAT(error.message(), HasSubstr("the disk is full"));
                  // The class of the failure is the same everywhere.
                  EXPECT_EQ(error.code(), ErrorCode::RESOURCE_EXHAUSTED);
                  if (communicator.rank() != 3)
                    EXPECT_THAT(error.message(), HasSubstr("has given up"));
                }),
            allWell(4));
}

// A message that was sent before an orderly end arrives; a later one fails.
TEST_P(ProcessTransportTest, APeerThatEndsInOrder) {
  EXPECT_EQ(
      runProcesses(
          4, GetParam(),
          [&](std::shared_ptr<Transport> transport) {
            std::string text(10000, 'x');
            if (transport->rank() == 0) {
              for (int peer = 1; peer < 4; ++peer)
                EXPECT_TRUE(transport->wait(transport->send(peer, 1, text)));
              return;
            }
            std::this_thread::sleep_for(20ms);
            std::string received(10000, ' ');
            const Status outcome =
                transport->wait(transport->receive(0, 1, received));
            ASSERT_TRUE(outcome) << outcome.error().message();
            EXPECT_EQ(received, text);
            const Status later =
                transport->wait(transport->receive(0, 1, received));
            ASSERT_FALSE(later);
            EXPECT_THAT(later.error().message(), HasSubstr("rank 0 (host "));
          }),
      allWell(4));
}

TEST_P(ProcessTransportTest, OtherSizesAreAnError) {
  EXPECT_EQ(
      runProcesses(4, GetParam(),
                   [&](std::shared_ptr<Transport> transport) {
                     const int other = transport->rank() ^ 2;
                     std::string sent(transport->rank() < 2 ? 100000 : 100001,
                                      'x'),
                         received = sent;
                     const Event in = transport->receive(other, 5, received);
                     const Event out = transport->send(other, 5, sent);
                     const Status outcome = transport->wait(in);
                     ASSERT_FALSE(outcome);
                     EXPECT_THAT(outcome.error().message(),
                                 AnyOf(HasSubstr("do not run the same program"),
                                       HasSubstr("has left")));
                     EXPECT_FALSE(transport->wait(out));
                   }),
      allWell(4));
}

// The receiver of a small message waits for it to come, the sender of a large
// one for the receiver: both would wait for ever.
TEST_P(ProcessTransportTest, ALargeMessageForASmallReceiveIsAnError) {
  EXPECT_EQ(runProcesses(
                4, GetParam(),
                [&](std::shared_ptr<Transport> transport) {
                  const int other = transport->rank() ^ 1;
                  std::string text(transport->rank() % 2 ? 100 : 100000, 'x');
                  const auto begin = Clock::now();
                  const Status outcome =
                      transport->rank() % 2
                          ? transport->wait(transport->receive(other, 5, text))
                          : transport->wait(transport->send(other, 5, text));
                  ASSERT_FALSE(outcome);
                  EXPECT_LT(Clock::now() - begin, AT_ONCE);
                  EXPECT_THAT(outcome.error().message(),
                              AnyOf(HasSubstr("sends 100000 bytes by tag 0x5"),
                                    HasSubstr("has left the others")));
                }),
            allWell(4));
}

/// All ranks, each with its communicator, call what `names` says in order, and
/// wait for each: what the first failure says.
std::string firstFailure(Communicator &communicator,
                         std::initializer_list<const char *> names) {
  std::vector<int> group(size_t(communicator.size()));
  std::iota(group.begin(), group.end(), 0);
  const auto begin = Clock::now();
  for (const char *name : names) {
    const uint64_t call = communicator.calls().next(name);
    int32_t one = 1;
    const Status outcome = communicator.wait(communicator.allReduce(
        group, call << 20, DType::I32, ReduceKind::Sum, &one, 1));
    if (outcome)
      continue;
    EXPECT_LT(Clock::now() - begin, AT_ONCE);
    return outcome.error().message();
  }
  return "";
}

// Each of them would wait for something else.
TEST_P(ProcessTransportTest, AnotherOrderIsNamed) {
  EXPECT_EQ(runProcesses(
                4, GetParam(),
                [&](const std::shared_ptr<Transport> &transport) {
                  Communicator communicator(transport);
                  const std::string error =
                      transport->rank() == 2
                          ? firstFailure(communicator, {"a", "c", "b"})
                          : firstFailure(communicator, {"a", "b", "c"});
                  EXPECT_THAT(error, HasSubstr("as number 2, after a, rank "));
                  EXPECT_THAT(error, ContainsRegex("rank 2 .host .* calls c"));
                  EXPECT_THAT(error, ContainsRegex("rank . .host .* calls b"));
                }),
            allWell(4));
}

// One ends while the others go on: they do not wait for the timeout.
TEST_P(ProcessTransportTest, ARankThatLeavesIsNamed) {
  const Signal isOver;
  EXPECT_EQ(runProcesses(4, GetParam(),
                         [&](const std::shared_ptr<Transport> &transport) {
                           Communicator communicator(transport);
                           if (transport->rank() == 1) {
                             EXPECT_EQ(firstFailure(communicator, {"a"}), "");
                             communicator.leave();
                             return isOver.await(3);
                           }
                           EXPECT_THAT(
                               firstFailure(communicator, {"a", "b"}),
                               ContainsRegex("rank 1 .host .* has left"));
                           isOver.give();
                         }),
            allWell(4));
}

// Where all run, the one that all wait for is the one that has called least.
TEST_P(ProcessTransportTest, TheRankThatIsBehindIsNamed) {
  Launch launch = GetParam();
  launch.timeout = 1s;
  const Signal isOver;
  EXPECT_EQ(
      runProcesses(4, launch,
                   [&](const std::shared_ptr<Transport> &transport) {
                     Communicator communicator(transport);
                     if (transport->rank() == 1) {
                       EXPECT_EQ(firstFailure(communicator, {"a"}), "");
                       return isOver.await(3);
                     }
                     EXPECT_THAT(
                         firstFailure(communicator, {"a", "b"}),
                         ContainsRegex(
                             "rank 1 .host .* runs, but did not come .* it "
                             "has made 1, the last of them a, this rank 2"));
                     isOver.give();
                   }),
      allWell(4));
}

// Calls of other threads have no order, but a number.
TEST_P(ProcessTransportTest, TheCallOfAnotherThreadIsNamed) {
  const Signal isOver;
  EXPECT_EQ(
      runProcesses(
          4, GetParam(),
          [&](const std::shared_ptr<Transport> &transport) {
            Communicator communicator(transport);
            std::string error;
            std::thread([&] {
              error = firstFailure(communicator, {"a"});
              if (transport->rank() == 1)
                return;
              EXPECT_EQ(error, "");
              const std::vector<int> others{0, 2, 3};
              EXPECT_TRUE(communicator.wait(communicator.barrier(others, 1)));
              communicator.setTimeout(3s);
              error = firstFailure(communicator, {"b"});
            }).join();
            if (transport->rank() == 1) {
              EXPECT_EQ(error, "");
              return isOver.await(3);
            }
            EXPECT_THAT(
                error,
                ContainsRegex("rank 1 .host .* runs, but did not come "
                              ".*outside of the main thread, it has made b 0 "
                              "times, this rank 1 times"));
            isOver.give();
          }),
      allWell(4));
}

// All know who shares memory with whom.
TEST_P(ProcessTransportTest, WhoSharesMemory) {
  const std::vector<int> expected =
      GetParam().kind == MEMORY ? std::vector{0, 0, 0, 0}
      : GetParam().kind == TCP  ? std::vector{0, 1, 2, 3}
                                : std::vector{0, 0, 2, 2};
  EXPECT_EQ(runProcesses(4, GetParam(),
                         [&](const std::shared_ptr<Transport> &transport) {
                           EXPECT_EQ(transport->memoryGroups(), expected);
                         }),
            allWell(4));
}

// A collective's own timeout counts, not that of others.
TEST_P(ProcessTransportTest, OneCollectivesTimeout) {
  const Signal isOver;
  EXPECT_EQ(runProcesses(4, GetParam(),
                         [&](const std::shared_ptr<Transport> &transport) {
                           Communicator communicator(transport);
                           if (transport->rank() == 1)
                             return isOver.await(3);
                           const std::vector<int> group{0, 1, 2, 3};
                           std::vector<float> data(10000);
                           const auto begin = Clock::now();
                           const Status outcome =
                               communicator.wait(communicator.allReduce(
                                   group, 1, DType::F32, ReduceKind::Sum,
                                   data.data(), 10000, 300ms));
                           isOver.give();
                           ASSERT_FALSE(outcome);
                           EXPECT_LT(Clock::now() - begin, AT_ONCE);
                           EXPECT_THAT(outcome.error().message(),
                                       HasSubstr("within 300 ms"));
                         }),
            allWell(4));
}

/// Names of what is in the folder of shared memory.
std::vector<std::string> sharedFiles() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator("/dev/shm"))
    names.push_back(entry.path().filename());
  std::erase_if(names, [](const std::string &name) {
    return name.find("meshloom") == std::string::npos;
  });
  return names;
}

// Whichever way processes end, no memory is left behind: all of it is in files
// without a name.
TEST(ProcessTransportMemoryTest, NothingIsLeft) {
  runProcesses(2, {MEMORY}, [&](std::shared_ptr<Transport> transport) {
    std::string text(100000, 'x');
    if (transport->rank() == 0)
      raise(SIGKILL);
    (void)transport->wait(transport->receive(0, 1, text));
    EXPECT_THAT(sharedFiles(), testing::IsEmpty());
  });
  EXPECT_THAT(sharedFiles(), testing::IsEmpty());
}

TEST(ProcessTransportErrorsTest, WhoDoesNotComeIsNamed) {
  const auto expectError = [](int rank, int size, std::string_view text) {
    MemoryStore store;
    ProcessTransportOptions options;
    options.rank = rank;
    options.size = size;
    options.connectTimeout = 20ms;
    const auto transport = connectProcesses(store, options);
    ASSERT_FALSE(transport);
    EXPECT_THAT(transport.error().message(), HasSubstr(text));
  };
  expectError(1, 2, "[transport] rank 0 of 2 has not come within");
  expectError(2, 2, "rank 2 is not one of 2 processes");
  setenv("MESHLOOM_TRANSPORT", "pigeon", 1);
  expectError(0, 2, "MESHLOOM_TRANSPORT is 'pigeon'; it is shm");
  unsetenv("MESHLOOM_TRANSPORT");
}
} // namespace

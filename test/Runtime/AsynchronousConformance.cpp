// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite's tests of what is not there yet: calls do not wait for
// their arguments, errors reach whoever reads, order and memory are as if all
// were done at once.
#include "Conformance.h"

#include <chrono>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;

namespace {
/// w - g in w's memory, for w and g of shape [5, 3].
struct Subtraction {
  explicit Subtraction(std::shared_ptr<Client> on)
      : client(std::move(on)), mesh(makeMesh({{"x", 2}})),
        layout({"x", UNSHARDED}, mesh) {
    ProgramBuilder b(mesh);
    unsigned w = b.argument({5, 3}, layout), g = b.argument({5, 3}, layout);
    unsigned after = b.buffer({5, 3}, layout);
    b.kernel("update", {{5, false, {0}}, {3}},
             {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
             {{after, byLoops({0, 1})}}, {0});
    b.result(after, 0);
    executable =
        client->load(Compiled(b.program, testKernels())).value_or_throw();
  }
  Array full(float value) const {
    return fromFloats(client, {5, 3}, layout, std::vector<float>(15, value));
  }
  /// The same value, as one that is still computed.
  Array later(float value, const Event &event) const {
    Array now = full(value);
    return Array(now.type(), now.buffer(), event);
  }
  Result<std::vector<Array>> run(Array w, Array g) const {
    std::vector<Array> arguments;
    arguments.push_back(std::move(w));
    arguments.push_back(std::move(g));
    return executable->execute(std::move(arguments));
  }
  std::shared_ptr<Client> client;
  Mesh mesh;
  Layout layout;
  std::shared_ptr<Executable> executable;
};

std::vector<float> filled(float value) {
  return std::vector<float>(15, value);
}

// A result of one client is an argument of another one's program, also while it
// is still computed; the value that it came from stays as it was.
TEST_P(Conformance, AValueMovesToAnotherClient) {
  const Subtraction here(client(2)), there(client(2));
  const Array original = here.full(7);
  Event event = Event::pending();
  Array later = here.later(2, event);
  std::thread computing([&] { event.complete(); });
  auto w = Array(original).movedTo(there.client, original.type());
  auto g = std::move(later).movedTo(there.client, original.type());
  computing.join();
  ASSERT_TRUE(w) << w.error().message();
  ASSERT_TRUE(g) << g.error().message();
  EXPECT_EQ(w->client(), there.client);
  auto results = there.run(std::move(*w), std::move(*g));
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_EQ(floats((*results)[0].toHost()), filled(5));
  EXPECT_EQ(floats(original.toHost()), filled(7));
}

// An error goes along.
TEST_P(Conformance, AFailedValueMovesAsAnError) {
  const Subtraction here(client(2)), there(client(2));
  auto moved = here.later(2, Event::failed(Error("it broke")))
                   .movedTo(there.client, here.full(2).type());
  const Status outcome = moved ? moved->wait() : Status(moved.error());
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message().find("it broke"), std::string::npos);
}

// The launch waits for an argument; the caller has its results at once.
TEST_P(Conformance, CallDoesNotWaitForItsArguments) {
  Subtraction subtraction(client(2));
  Event event = Event::pending();
  auto results =
      subtraction.run(subtraction.full(7), subtraction.later(2, event));
  ASSERT_TRUE(results) << results.error().message();
  EXPECT_FALSE((*results)[0].event().isReady());
  event.complete();
  EXPECT_EQ(floats((*results)[0].toHost()), filled(5));
}

// Calls that depend on each other, and one that does not, in call order.
TEST_P(Conformance, CallsBehindAPendingOneRunInOrder) {
  Subtraction subtraction(client(2)), other(subtraction.client);
  Event event = Event::pending();
  Array w = subtraction.later(100, event), g = subtraction.full(1);
  for (int step = 0; step < 10; ++step) {
    auto results = (step % 2 ? other : subtraction).run(std::move(w), g);
    ASSERT_TRUE(results) << results.error().message();
    w = std::move((*results)[0]);
  }
  auto apart = subtraction.run(subtraction.full(3), g);
  ASSERT_TRUE(apart);
  event.complete();
  EXPECT_EQ(floats(w.toHost()), filled(90));
  EXPECT_EQ(floats((*apart)[0].toHost()), filled(2));
  EXPECT_EQ(subtraction.executable->statistics().executions, 6);
  EXPECT_EQ(other.executable->statistics().executions, 5);
}

// An argument that fails fails the results, those computed from them, and not
// what comes after.
TEST_P(Conformance, ErrorReachesDependentResults) {
  Subtraction subtraction(client(2));
  Event event = Event::pending();
  const Array g = subtraction.full(1);
  auto first = subtraction.run(subtraction.later(9, event), g);
  ASSERT_TRUE(first);
  auto second = subtraction.run((*first)[0], g);
  auto third = subtraction.run(g, (*second)[0]);
  ASSERT_TRUE(second);
  ASSERT_TRUE(third);
  event.fail(Error("the cable is cut"));
  for (const auto &results : {*first, *second, *third}) {
    auto value = results[0].toHost();
    ASSERT_FALSE(value);
    EXPECT_EQ(value.error().message(), "the cable is cut");
  }
  auto fine = finished(subtraction.run(subtraction.full(5), g));
  ASSERT_TRUE(fine) << fine.error().message();
  EXPECT_EQ(floats((*fine)[0].toHost()), filled(4));
}

// A value that is moved in is updated in place when its turn comes; one that
// somebody still holds then is not.
TEST_P(Conformance, MemoryIsThatOfCallsThatWait) {
  Subtraction subtraction(client(2));
  Array w = subtraction.full(100), kept = subtraction.full(50);
  const Array g = subtraction.full(1);
  const int64_t before = subtraction.client->bytesInUse();
  Event event = Event::pending();
  Array gLater(g.type(), g.buffer(), event);
  auto first = subtraction.run(std::move(w), gLater);
  ASSERT_TRUE(first);
  auto copied = subtraction.run(kept, g);
  ASSERT_TRUE(copied);
  for (int step = 0; step < 5; ++step) {
    first = subtraction.run(std::move((*first)[0]), g);
    ASSERT_TRUE(first);
  }
  event.complete();
  EXPECT_EQ(floats((*first)[0].toHost()), filled(94));
  EXPECT_EQ(floats((*copied)[0].toHost()), filled(49));
  EXPECT_EQ(floats(kept.toHost()), filled(50));
  copied = std::vector<Array>();
  EXPECT_EQ(subtraction.client->bytesInUse(), before);
}

// Nobody waits: what was launched is done, and then its client goes.
TEST_P(Conformance, ClientLivesAsLongAsItsWork) {
  std::weak_ptr<Client> watched;
  Array result;
  Event event = Event::pending();
  {
    Subtraction subtraction(client(2));
    watched = subtraction.client;
    Array w = subtraction.later(4, event), g = subtraction.full(1);
    result = (*subtraction.run(w, g))[0];
    // The result of this one is read by nobody.
    ASSERT_TRUE(subtraction.run(std::move(w), std::move(g)));
  }
  event.complete();
  EXPECT_EQ(floats(result.toHost()), filled(3));
  EXPECT_FALSE(watched.expired());
  result = Array();
  for (int i = 0; i < 1000 && !watched.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(watched.expired());
}

// Handles to arrays that are not there yet may be given up at any time.
TEST_P(Conformance, ResultsThatNobodyKeepsAreFreed) {
  Subtraction subtraction(client(2));
  const int64_t before = subtraction.client->bytesInUse();
  Event event = Event::pending();
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(
        subtraction.run(subtraction.later(1, event), subtraction.full(1)));
  event.complete();
  // The last launch is done last.
  EXPECT_EQ(subtraction.executable->statistics().executions, 3);
  EXPECT_EQ(subtraction.client->bytesInUse(), before);
}

// Threads that launch, read and give up results of one variable's updates.
TEST_P(Conformance, ThreadsLaunchWithoutWaiting) {
  Subtraction subtraction(client(2));
  const Array g = subtraction.full(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      Array w = subtraction.full(float(1000 * t)), old;
      for (int step = 0; step < 40; ++step) {
        if (step % 8 == 5)
          old = w;
        auto results = subtraction.run(std::move(w), g);
        ASSERT_TRUE(results) << results.error().message();
        w = std::move((*results)[0]);
        if (step % 8 == 7) {
          EXPECT_EQ(floats(old.toHost()), filled(float(1000 * t - step + 2)));
        }
      }
      EXPECT_EQ(floats(w.toHost()), filled(float(1000 * t - 40)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(subtraction.executable->statistics().executions, 160);
}
} // namespace

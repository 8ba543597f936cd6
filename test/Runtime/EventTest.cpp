// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Events, and the order in which a LaunchQueue's work begins.
#include "meshloom/Runtime/LaunchQueue.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

using namespace meshloom;

namespace {
TEST(EventTest, CompletesOnceAndCarriesAnError) {
  EXPECT_TRUE(Event().isReady());
  Event event = Event::pending();
  EXPECT_FALSE(event.isReady());
  std::thread worker([event] { event.fail(Error("broken")); });
  EXPECT_EQ(event.wait().error().message(), "broken");
  worker.join();
  event.complete();
  EXPECT_FALSE(event.wait());
}

// Actions are done once each, in order; those that come late, at once.
TEST(EventTest, ActionsFollowCompletion) {
  Event event = Event::pending();
  std::string done;
  event.then([&](const Status &status) { done += status ? "a" : "?"; });
  event.then([&](const Status &status) { done += status ? "b" : "?"; });
  EXPECT_EQ(done, "");
  event.complete();
  EXPECT_EQ(done, "ab");
  event.then([&](const Status &status) { done += status ? "c" : "?"; });
  Event().then([&](const Status &status) { done += status ? "d" : "?"; });
  Event::failed(Error("no")).then([&](const Status &status) {
    done += status.error().message();
  });
  EXPECT_EQ(done, "abcdno");
}

// The first of the list that failed, whichever failed first.
TEST(EventTest, AllWaitForTheLastAndFailWithTheFirst) {
  EXPECT_TRUE(Event::whenAll({}).isReady());
  EXPECT_TRUE(Event::whenAll(std::vector<Event>(3)).isReady());
  std::vector<Event> events = {Event::pending(), Event(), Event::pending(),
                               Event::pending()};
  Event joined = Event::whenAll(events);
  events[3].fail(Error("second"));
  events[0].complete();
  EXPECT_FALSE(joined.isReady());
  events[2].fail(Error("first"));
  EXPECT_EQ(joined.wait().error().message(), "first");
}

/// A launch that calls `body` and succeeds.
LaunchQueue::Launch launchOf(std::function<void()> body, int64_t cores = 1,
                             std::vector<Event> after = {}) {
  return {std::move(after), cores, [body = std::move(body)] {
            body();
            return Event();
          }};
}

// Launches begin in order, even if the first one waits longest.
TEST(LaunchQueueTest, BeginInOrder) {
  LaunchQueue queue(1);
  Event first = Event::pending();
  std::string order;
  std::vector<Event> done;
  done.push_back(queue.launch(launchOf([&] { order += "a"; }, 1, {first})));
  done.push_back(queue.launch(launchOf([&] { order += "b"; })));
  done.push_back(queue.launch(launchOf([&] { order += "c"; })));
  EXPECT_FALSE(queue.isIdle());
  EXPECT_FALSE(done[1].isReady());
  first.complete();
  EXPECT_TRUE(Event::whenAll(done).wait());
  EXPECT_EQ(order, "abc");
  EXPECT_TRUE(queue.isIdle());
}

// Two that keep one core busy each run at the same time on two.
TEST(LaunchQueueTest, NarrowLaunchesRunSideBySide) {
  LaunchQueue queue(2);
  std::latch both(2);
  auto meet = [&] { both.arrive_and_wait(); };
  Event a = queue.launch(launchOf(meet)), b = queue.launch(launchOf(meet));
  EXPECT_TRUE(a.wait());
  EXPECT_TRUE(b.wait());
}

// One that keeps all cores busy runs alone; so does one that wants more.
TEST(LaunchQueueTest, WideLaunchesRunAlone) {
  LaunchQueue queue(2);
  std::atomic<int> running = 0, most = 0;
  std::vector<Event> done;
  for (int i = 0; i < 40; ++i)
    done.push_back(queue.launch(launchOf(
        [&] {
          most = std::max(most.load(), ++running);
          std::this_thread::yield();
          --running;
        },
        i % 2 ? 2 : 5)));
  EXPECT_TRUE(Event::whenAll(done).wait());
  EXPECT_EQ(most, 1);
}

// A launch by work in progress does not wait for that work.
TEST(LaunchQueueTest, LaunchOfALaunchRunsAtOnce) {
  LaunchQueue queue(1);
  bool inner = false;
  Event outer = queue.launch(launchOf([&] {
    Event event = queue.launch(launchOf([&] { inner = true; }));
    EXPECT_TRUE(event.wait());
  }));
  EXPECT_TRUE(outer.wait());
  EXPECT_TRUE(inner);
}

// Whoever has waited finds that the work has let go of what it held.
TEST(LaunchQueueTest, HoldsNothingAfterItsEvent) {
  LaunchQueue queue(2);
  for (int i = 0; i < 100; ++i) {
    auto held = std::make_shared<int>(i);
    std::weak_ptr<int> watched = held;
    Event event =
        queue.launch({{}, 1, [held = std::move(held)] { return Event(); }});
    EXPECT_TRUE(event.wait());
    EXPECT_TRUE(watched.expired());
    EXPECT_TRUE(queue.isIdle());
  }
}

// Errors, also thrown ones, and events that complete later.
TEST(LaunchQueueTest, OutcomeIsThatOfTheWork) {
  LaunchQueue queue(1);
  EXPECT_EQ(queue.launch({{}, 1, [] { return Event::failed(Error("bad")); }})
                .wait()
                .error()
                .message(),
            "bad");
  EXPECT_EQ(queue.launch(launchOf([] { throw std::runtime_error("thrown"); }))
                .wait()
                .error()
                .message(),
            "thrown");
  Event later = Event::pending();
  Event event = queue.launch({{}, 1, [later] { return later; }});
  EXPECT_TRUE(queue.launch(launchOf([] {})).wait());
  EXPECT_FALSE(event.isReady());
  later.complete();
  EXPECT_TRUE(event.wait());
}

// The last reference to a queue may be one that its own work holds.
TEST(LaunchQueueTest, MayBeDestroyedByItsOwnThread) {
  struct Owner {
    LaunchQueue queue{2};
  };
  for (int i = 0; i < 20; ++i) {
    auto owner = std::make_shared<Owner>();
    Event start = Event::pending();
    Event event = owner->queue.launch(launchOf([owner] {}, 1, {start}));
    owner.reset();
    start.complete();
    EXPECT_TRUE(event.wait());
  }
}

// At its end the process waits for what is running, and for nothing else.
TEST(LaunchQueueDeathTest, ProcessEndsWithWorkInFlight) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        static LaunchQueue queue(2);
        std::latch begun(2);
        (void)queue.launch(launchOf([&] {
          begun.count_down();
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          std::fputs("finished", stderr);
        }));
        Event never = queue.launch(launchOf([] {}, 1, {Event::pending()}));
        never.then([](const Status &status) {
          std::fputs(status ? "?" : " the rest is not begun", stderr);
        });
        begun.arrive_and_wait();
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "the rest is not begun.*finished|finished.*"
      "the rest is not begun");
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// All API objects from several threads at once.
#include "Testing.h"

#include <atomic>
#include <latch>
#include <thread>

namespace meshloom {
namespace {

void onThreads(int count, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(body, i);
  for (std::thread &thread : threads)
    thread.join();
}

TEST(ThreadTest, OpsOfAllThreadsAreRight) {
  Layout rows({"batch"}, mesh8());
  std::atomic<int> wrong = 0;
  onThreads(4, [&](int id) {
    for (int i = 0; i < 20; ++i) {
      Tensor x = distribute(full({16}, id), rows);
      Tensor y = x * 2 + float(i);
      if (y.to_vector<float>() != std::vector<float>(16, float(2 * id + i)))
        ++wrong;
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadTest, OneFunctionTracesOnceForAllThreads) {
  DVariable count(zeros({}));
  std::atomic<int> bodies = 0;
  auto f = function([&](const Tensor &x) {
    ++bodies;
    count.assign_add(1);
    return x + 1;
  });
  onThreads(4, [&](int id) {
    for (int i = 0; i < 25; ++i)
      EXPECT_EQ(f(full({3}, id)).to_vector<float>()[2], id + 1);
  });
  EXPECT_EQ(bodies, 1);
  EXPECT_EQ(count.item<float>(), 100); // no update was lost
}

TEST(ThreadTest, FunctionsAreTracedAndCompiledAtTheSameTime) {
  Layout rows({"batch"}, mesh8());
  onThreads(4, [&](int id) {
    for (int i = 0; i < 4; ++i) {
      auto f =
          function([&](const Tensor &x) { return exp(x) * float(id + 1); });
      auto g = function([&](const Tensor &x) { return reduce_sum(x + id); });
      Tensor x = distribute(zeros({8 + id}), rows);
      GradientTape tape;
      Tensor y = g(f(x));
      EXPECT_EQ(y.item<float>(), float((8 + id) * (2 * id + 1)));
      expectNear(tape.gradient(y, x), std::vector<double>(8 + id, id + 1));
      EXPECT_THAT(g.get_concrete_function(x).explain(), HAS("collective"));
    }
  });
}

TEST(ThreadTest, UpdatesOutsideOfFunctionsAreNotLost) {
  DVariable v(zeros({2}));
  onThreads(4, [&](int) {
    for (int i = 0; i < 25; ++i)
      v.assign_add(1);
  });
  expectNear(v, {100, 100});
}

TEST(ThreadTest, TwoFunctionsThatUpdateTheSameVariables) {
  DVariable a(zeros({4})), b(zeros({4}));
  auto f = function([&] { a.assign_add(1), b.assign_add(Tensor(a) * 0 + 1); });
  auto g = function([&] { b.assign_add(1), a.assign_add(Tensor(b) * 0 + 1); });
  onThreads(4, [&](int id) {
    for (int i = 0; i < 25; ++i)
      id % 2 ? f() : g();
  });
  expectNear(a, {100, 100, 100, 100});
  expectNear(b, {100, 100, 100, 100});
}

TEST(ThreadTest, TapesScopesAndTracesAreTheThreadsOwn) {
  Mesh mesh = mesh8();
  auto scope = default_mesh(mesh);
  GradientTape tape;
  std::thread([&] {
    EXPECT_FALSE(get_default_mesh());
    Tensor x = tensor({2.f});
    GradientTape tape;
    Tensor y = x * x;
    EXPECT_EQ(tape.gradient(y, x).item<float>(), 4);
  }).join();
  EXPECT_TRUE(get_default_mesh());
  Tensor x = ones({2});
  Tensor y = x * 3;
  expectNear(tape.gradient(y, x), {3, 3});
}

TEST(ThreadTest, ATensorOfAnotherThreadsTraceIsAnError) {
  auto f = function([&](const Tensor &x) {
    std::thread([&] {
      EXPECT_ERROR(x + 1, HAS("[add]"), HAS("trace"));
    }).join();
    return x;
  });
  f(tensor({1.f}));
}

// A thread that computes and compiles while the process ends harms nothing.
TEST(ThreadDeathTest, DetachedThreadsMayComputeAtExit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto computeUntilTheEnd = [] {
    for (int64_t thread = 0; thread < 3; ++thread)
      std::thread([thread] {
        Tensor x = ones({64});
        for (int64_t n = 1;; ++n) {
          x = tanh(x * 1.f + 0.5f);
          // Another program each time.
          Tensor sum = reduce_sum(ones({n + 1000 * thread, 3}));
          x = function([&](const Tensor &y) { return y * float(n) + sum; })(x);
        }
      }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::exit(0);
  };
  EXPECT_EXIT(computeUntilTheEnd(), testing::ExitedWithCode(0), "");
}

// Nothing is compiled any more when the first program is launched.
TEST(ThreadDeathTest, LaunchedRunsEndBeforeTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto computeUntilTheEnd = [] {
    static std::latch begun(1);
    std::thread([] {
      Tensor x = ones({1 << 18});
      for (int n = 0;; ++n) {
        x = tanh(x);
        if (n == 50)
          begun.count_down();
      }
    }).detach();
    begun.wait();
    std::exit(0);
  };
  EXPECT_EXIT(computeUntilTheEnd(), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace meshloom

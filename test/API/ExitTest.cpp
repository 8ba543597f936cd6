// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How processes end while work is in flight: whoever ends them, and however,
// nothing crashes or hangs, what was printed appears, and the status is the
// program's. Each scenario is a process of this program, started twice.
#include "meshloom/Meshloom.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iostream>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace meshloom;
using std::chrono::milliseconds;

namespace {
//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

Tensor normal(Shape shape, float stddev = 0.03F) {
  return random::stateless_normal(std::move(shape), Seed{1, 1}, 0, stddev);
}
Tensor chain(const Tensor &x) {
  Tensor y = x;
  for (int i = 0; i < 8; ++i)
    y = tanh(matmul(y, x));
  return y;
}
void launch(int calls, int64_t size = 100) {
  const Tensor x = normal({size, size});
  auto f = function(chain);
  for (int i = 0; i < calls; ++i)
    f(x);
}
void train() {
  const Mesh mesh = create_mesh({{"batch", 4}, {"model", 2}}, virtual_cpus(8));
  const Tensor x = call_with_layout([] { return normal({256, 128}); },
                                    Layout({"batch", UNSHARDED}, mesh));
  DVariable w(call_with_layout([] { return normal({128, 256}); },
                               Layout({UNSHARDED, "model"}, mesh)));
  optimizers::Adam adam(1e-3);
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(tanh(matmul(x, w)) - 0.5F));
    adam.apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });
  for (int i = 0; i <= 30; ++i)
    if (Tensor loss = step(x); i % 10 == 0)
      std::cout << "step " << i << ": loss " << (loss.item<float>() > 0)
                << '\n';
}
void convolve() {
  const Tensor x = normal({16, 32, 32, 16}), kernel = normal({3, 3, 16, 32});
  auto f = function(
      [](const Tensor &x, const Tensor &kernel) { return conv2d(x, kernel); });
  for (int i = 0; i < 40; ++i)
    f(x, kernel);
}
void decompose() {
  const Tensor x = normal({200, 200});
  auto f = function([](const Tensor &x) {
    return linalg::inv(matmul(x, x, {.transpose_b = true}) + eye(200));
  });
  for (int i = 0; i < 20; ++i)
    f(x);
}
/// A program that nothing has compiled before.
void compileAnother() {
  auto f = function([](const Tensor &x) {
    return reduce_max(matmul(exp(x), x), 0) - sqrt(abs(x));
  });
  (void)reduce_sum(f(normal({30, 30}))).item<float>();
}
/// Threads that nobody joins, which compute and read values to the end.
void detach(int threads) {
  for (int t = 0; t < threads; ++t)
    std::thread([] {
      const Tensor x = normal({100, 100});
      auto f = function(chain);
      for (;;) {
        f(x);
        (void)reduce_sum(f(x)).item<float>();
        (void)reduce_sum(x * x).item<float>();
      }
    }).detach();
}
/// An object whose destructor computes.
struct ComputesAtItsEnd {
  ~ComputesAtItsEnd() {
    std::cout << "sum "
              << reduce_sum(matmul(ones({4, 4}), ones({4, 4}))).item<float>()
              << std::endl;
  }
};
void sayDone() {
  std::cout << "done\n";
}

//===----------------------------------------------------------------------===//
// Scenarios: what a process does, and what it prints
//===----------------------------------------------------------------------===//

struct Scenario {
  std::function<void()> body; ///< then main returns
  std::string output = "done\n";
};

const std::map<std::string, Scenario> &scenarios() {
  static const std::map<std::string, Scenario> list{
      {"MainReturns", {[] {
         launch(20);
         sayDone();
       }}},
      {"TrainingEndsOnAnyStep",
       {[] { train(); }, "step 0: loss 1\nstep 10: loss 1\nstep 20: loss "
                         "1\nstep 30: loss 1\n"}},
      {"Convolutions", {[] {
         convolve();
         sayDone();
       }}},
      {"Decompositions", {[] {
         decompose();
         sayDone();
       }}},
      {"EagerOps", {[] {
         Tensor x = normal({150, 150});
         for (int i = 0; i < 50; ++i)
           x = tanh(matmul(x, x));
         sayDone();
       }}},
      {"AnotherThreadCallsExit", {[] {
         launch(20);
         std::thread([] {
           sayDone();
           std::exit(0);
         }).join();
       }}},
      {"ExitWhileMainComputes", {[] {
         std::thread([] {
           std::this_thread::sleep_for(milliseconds(400));
           sayDone();
           std::exit(0);
         }).detach();
         for (;;)
           launch(3);
       }}},
      {"HandlerFromBeforeTheFirstOp", {[] {
         std::atexit([] {
           launch(3);
           compileAnother();
           sayDone();
         });
         launch(20);
       }}},
      {"HandlerFromAfterTheFirstOp", {[] {
         launch(20);
         std::atexit([] {
           launch(3);
           sayDone();
         });
       }}},
      {"HandlerCallsExit", {[] {
         std::atexit([] {
           launch(3);
           sayDone();
           std::exit(0);
         });
         launch(20);
       }}},
      {"StaticObjectsOfTheUsers",
       {[] {
          static ComputesAtItsEnd first;
          static Tensor tensor = normal({150, 150});
          static DVariable variable(normal({150, 150}));
          static auto update = function([](const Tensor &x) {
            variable.assign_add(matmul(x, x));
            return reduce_sum(variable.read_value());
          });
          static ComputesAtItsEnd last;
          for (int i = 0; i < 10; ++i)
            update(tensor);
          sayDone();
        },
        "done\nsum 64\nsum 64\n"}},
      {"DetachedThreadsThatCompute", {[] {
         detach(4);
         std::this_thread::sleep_for(milliseconds(300));
         sayDone();
       }}},
      {"DetachedThreadsThatBegin", {[] {
         detach(4);
         std::this_thread::sleep_for(milliseconds(20));
         sayDone();
       }}},
      {"AStaticThreadIsJoined",
       {[] {
          static const std::jthread thread([] {
            launch(2);
            std::this_thread::sleep_for(milliseconds(500));
            launch(2, 60);
            compileAnother();
            std::cout << "thread done" << std::endl;
          });
          std::this_thread::sleep_for(milliseconds(100));
          std::cout << "done" << std::endl;
        },
        "done\nthread done\n"}},
      {"QuickExit", {[] {
         launch(20);
         std::cout << "done" << std::endl;
         std::quick_exit(0);
       }}},
      {"UnderscoreExit", {[] {
         launch(20);
         std::cout << "done" << std::endl;
         _exit(0);
       }}},
      {"AForkedChildExits",
       {[] {
          launch(20);
          const pid_t child = fork();
          if (child == 0) {
            std::cout << "child" << std::endl;
            std::exit(0);
          }
          int status = 1;
          waitpid(child, &status, 0);
          std::cout << "status " << status << '\n';
        },
        "child\nstatus 0\n"}},
      {"APipelineIsHeldByStaticObjects", {[] {
         static auto numbers =
             data::range(1'000'000)
                 .map(
                     [](const Tensor &i) {
                       return matmul(ones({64, 64}), ones({64, 64})) *
                              cast(i, DType::F32);
                     },
                     {.num_parallel_calls = 4})
                 .prefetch(2);
         static auto iterator = numbers.iterate();
         for (int i = 0; i < 5; ++i)
           (void)iterator.next();
         sayDone();
       }}},
  };
  return list;
}

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

struct Outcome {
  int status; ///< as wait gives it
  std::string output;
  bool operator==(const Outcome &) const = default;
};
void PrintTo(const Outcome &outcome, std::ostream *out) {
  *out << "status " << outcome.status << ", output:\n" << outcome.output;
}

Outcome run(const std::string &command) {
  // Memory of threads that still run, or that a fork did not copy, is no leak.
  FILE *out =
      popen(("ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 " + command + " 2>&1")
                .c_str(),
            "r");
  Outcome outcome{-1, ""};
  if (!out)
    return outcome;
  std::array<char, 4096> text;
  while (size_t count = fread(text.data(), 1, text.size(), out))
    outcome.output.append(text.data(), count);
  outcome.status = pclose(out);
  return outcome;
}

class ExitTest : public testing::TestWithParam<std::string> {};

// Threads are at other places each time.
TEST_P(ExitTest, EndsWithItsStatusAndItsOutput) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const Outcome expected{0, scenarios().at(GetParam()).output};
  for (int time = 0; time < 2; ++time)
    EXPECT_EQ(run(self + " --scenario " + GetParam()), expected)
        << "time " << time;
}

// A program that knows nothing of Meshloom loads a library that uses it, and
// closes it while its work is in flight, or does not.
TEST(ExitLibraryTest, MayBeClosedAndLeftOpen) {
  for (const char *action : {"close", "leave"})
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(run(std::string(MESHLOOM_EXIT_HOST) + " " +
                    MESHLOOM_EXIT_LIBRARY + " " + action),
                (Outcome{0, "done\n"}))
          << action << ", time " << time;
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const auto &[name, scenario] : scenarios())
    result.push_back(name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, ExitTest, testing::ValuesIn(names()),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return info.param;
                         });
} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && argv[1] == std::string("--scenario")) {
    scenarios().at(argv[2]).body();
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

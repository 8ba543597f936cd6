// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conformance suite's tests with several threads: values do not change
// under those who read them, and calls do not mix. Worth running with
// ThreadSanitizer: the preset `thread`.
#include "Conformance.h"

#include <thread>

using namespace meshloom;
using namespace meshloom::test;

namespace {
constexpr int64_t ROWS = 64, COLUMNS = 3;
constexpr int64_t SIZE = ROWS * COLUMNS;

/// w -= g in place, given back twice, and the new w's row sums.
Program stepProgram(const Mesh &mesh, const Layout &rows) {
  ProgramBuilder b(mesh);
  unsigned w = b.argument({ROWS, COLUMNS}, rows),
           g = b.argument({ROWS, COLUMNS}, rows),
           after = b.buffer({ROWS, COLUMNS}, rows),
           sums = b.buffer({ROWS}, *Layout::get(mesh, {{0}}));
  b.kernel("update", {{ROWS, false, {0}}, {COLUMNS}},
           {{w, byLoops({0, 1})}, {g, byLoops({0, 1})}},
           {{after, byLoops({0, 1})}}, {0});
  b.kernel("row_sum", {{ROWS, false, {0}}, {COLUMNS, true}},
           {{after, byLoops({0, 1})}}, {{sums, byLoops({0})}});
  b.result(after, 0);
  b.result(after);
  b.result(sums);
  return b.program;
}

struct Steps {
  explicit Steps(const std::shared_ptr<Client> &cpu)
      : cpu(cpu), mesh(makeMesh({{"x", 2}})),
        rows(*Layout::get(mesh, {{0}, {}})),
        executable(cpu->load(Compiled(stepProgram(mesh, rows), testKernels()))
                       .value_or_throw()) {}
  Array full(float value) const {
    return fromFloats(cpu, {ROWS, COLUMNS}, rows,
                      std::vector<float>(SIZE, value));
  }

  std::shared_ptr<Client> cpu;
  Mesh mesh;
  Layout rows;
  std::shared_ptr<Executable> executable;
};

// Whether or not the reader has given its reference up when the update comes,
// what it read is the value it asked for. Both of the value's arrays share one
// memory: in turn, one of them is what the reader has.
TEST_P(Conformance, ReaderOnAnotherThreadGetsTheOldValue) {
  Steps steps(client(2));
  Array w = steps.full(1000), g = steps.full(1), again;
  for (int step = 0; step < 100; ++step) {
    const std::vector<float> old(SIZE, float(1000 - step));
    std::thread reader(
        [array = step % 2 && again ? std::move(again) : w, old]() mutable {
          EXPECT_EQ(floats(array.toHost()), old);
          array = Array();
        });
    if (step % 3)
      std::this_thread::yield();
    again = Array();
    std::vector<Array> arguments;
    arguments.push_back(std::move(w));
    arguments.push_back(g);
    auto results = steps.executable->execute(std::move(arguments));
    reader.join();
    ASSERT_TRUE(results) << results.error().message();
    w = std::move((*results)[0]);
    again = std::move((*results)[1]);
    EXPECT_EQ(floats((*results)[2].toHost()),
              std::vector<float>(ROWS, float(COLUMNS * (999 - step))));
  }
}

// Executables of one client share its workers. Each thread has its own, one of
// them a variable that all read.
TEST_P(Conformance, ExecutablesRunAtTheSameTime) {
  auto cpu = client(2);
  const Steps common(cpu);
  const Array g = common.full(1);
  std::vector<std::thread> threads;
  for (int t = 0; t < 5; ++t)
    threads.emplace_back([&, t] {
      const Steps separate(cpu);
      Array w = separate.full(float(1000 * t));
      for (int step = 0; step < 40; ++step) {
        const Steps &which = (step + t) % 4 ? separate : common;
        std::vector<Array> arguments;
        arguments.push_back(std::move(w));
        arguments.push_back(g);
        auto results = which.executable->execute(std::move(arguments));
        ASSERT_TRUE(results) << results.error().message();
        w = std::move((*results)[0]);
        const float value = float(1000 * t - step - 1);
        EXPECT_EQ(floats((*results)[2].toHost()),
                  std::vector<float>(ROWS, COLUMNS * value));
      }
      EXPECT_EQ(floats(w.toHost()),
                std::vector<float>(SIZE, float(1000 * t - 40)));
    });
  for (std::thread &thread : threads)
    thread.join();
}
} // namespace

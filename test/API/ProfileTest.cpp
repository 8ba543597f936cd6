// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// profile(): traces that are JSON with every step in it, nested as they ran,
// and the costs of steps. Times themselves are not asserted.
#include "../TemporaryFolder.h"

#include "Testing.h"
#include "meshloom/Core/Compiled.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace meshloom {
namespace {
using Json = nlohmann::json;

using ProfileTest = test::TemporaryFolderTest;

std::vector<Json> eventsOf(const std::string &path) {
  std::ifstream file(path);
  std::vector<Json> events;
  const Json trace = Json::parse(file);
  for (const Json &event : trace.at("traceEvents"))
    events.push_back(event);
  return events;
}

/// Events of a row: one after the other, or one inside another.
void expectNested(std::vector<std::pair<double, double>> spans) {
  std::ranges::sort(spans, [](auto &a, auto &b) {
    return std::pair(a.first, -a.second) < std::pair(b.first, -b.second);
  });
  std::vector<double> open;
  for (auto [begin, end] : spans) {
    EXPECT_LE(begin, end);
    while (!open.empty() && open.back() <= begin + 1e-3)
      open.pop_back();
    if (!open.empty())
      EXPECT_LE(end, open.back() + 1e-3);
    open.push_back(end);
  }
}

/// Two layers of which the second is named, sharded over the batch.
auto makeStep() {
  return function(
      [](const Tensor &x, const Tensor &w) {
        Tensor hidden = tanh(matmul(x, w));
        auto scope = name_scope("head");
        return reduce_sum(matmul(hidden, w) * 2, {0});
      },
      {.name = "step"});
}

TEST_F(ProfileTest, TraceHasEveryStepOfTheProgram) {
  Mesh mesh = mesh8();
  auto step = makeStep();
  Tensor x =
      distribute(sample({64, 32}), Layout({DimSpec("batch"), UNSHARDED}, mesh));
  Tensor w = distribute(sample({32, 32}), Layout::replicated(mesh, 2));
  Tensor expected = step(x, w);
  const std::string path = (folder / "steps.json").string();
  {
    auto recorded = profile(path);
    for (int i = 0; i < 3; ++i)
      expectSame(step(x, w), expected);
  }
  const Program &program =
      step.get_concrete_function(x, w).compiled().program();
  std::set<unsigned> steps;
  std::set<int64_t> runs;
  std::map<std::pair<int64_t, int64_t>, std::vector<std::pair<double, double>>>
      rows;
  bool head = false, source = false;
  std::set<std::string> rowNames;
  for (const Json &event : eventsOf(path)) {
    const std::string phase = event.at("ph");
    if (phase == "M") {
      rowNames.insert(event.at("args").at("name"));
      continue;
    }
    const double begin = event.at("ts");
    EXPECT_GE(begin, 0);
    if (phase == "X")
      rows[{event.at("pid"), event.at("tid")}].emplace_back(
          begin, begin + double(event.at("dur")));
    if (!event.contains("args") || event["args"]["program"] != "step")
      continue;
    const Json &arguments = event["args"];
    runs.insert(int64_t(arguments.at("run")));
    if (!arguments.contains("step"))
      continue;
    steps.insert(unsigned(arguments["step"]));
    head |= arguments.value("scope", "") == "head";
    source |= std::string(arguments["source"]).find("ProfileTest.cpp:") !=
              std::string::npos;
    if (phase == "X") {
      EXPECT_GT(int64_t(arguments.at("bytes")), 0);
      EXPECT_GE(double(arguments.at("GFLOP/s")), 0);
      EXPECT_GE(double(arguments.at("of peak GB/s")), 0);
      EXPECT_FALSE(std::string(arguments.at("devices")).empty());
    }
  }
  EXPECT_EQ(steps.size(), countSteps(program.steps));
  EXPECT_EQ(runs.size(), 3u);
  EXPECT_TRUE(head);
  EXPECT_TRUE(source);
  EXPECT_TRUE(rowNames.contains("worker 0") || rowNames.contains("worker 1"));
  EXPECT_TRUE(rowNames.contains("programs"));
  for (auto &[row, spans] : rows)
    expectNested(spans);
}

TEST_F(ProfileTest, LoopsAndBranchesHoldTheirSteps) {
  auto count = function(
      [](const Tensor &x) {
        using State = std::vector<Tensor>;
        return while_loop([](const State &s) { return s[0] < 5; },
                          [](const State &s) {
                            return State{s[0] + 1,
                                         cond(
                                             reduce_sum(s[1]) > 0,
                                             [&] { return s[1] * 2; },
                                             [&] { return s[1] - 1; })};
                          },
                          State{tensor(0), x})[1];
      },
      {.name = "count"});
  // A loop over little data would be one step.
  Tensor x = distribute(ones({1 << 20}), Layout({DimSpec("batch")}, mesh8()));
  count(x);
  const std::string path = (folder / "loops.json").string();
  {
    auto recorded = profile(path);
    count(x);
  }
  int64_t iterations = 0, branches = 0, open = 0;
  for (const Json &event : eventsOf(path)) {
    const std::string phase = event.at("ph");
    open += phase == "b" ? 1 : phase == "e" ? -1 : 0;
    if (phase != "b" || !event["args"].contains("kind"))
      continue;
    if (event["args"]["kind"] == "loop")
      iterations += int64_t(event["args"].at("iterations"));
    else if (event["args"]["kind"] == "branch")
      ++branches;
  }
  EXPECT_EQ(open, 0);
  EXPECT_EQ(iterations, 5);
  EXPECT_EQ(branches, 5);
}

TEST_F(ProfileTest, CostsNameStepsAndAddUp) {
  auto step = makeStep();
  Mesh mesh = mesh8();
  Tensor x =
      distribute(sample({64, 32}), Layout({DimSpec("batch"), UNSHARDED}, mesh));
  Tensor w = distribute(sample({32, 32}), Layout::replicated(mesh, 2));
  step(x, w);
  ProfileScope recorded;
  for (int i = 0; i < 4; ++i)
    (void)step(x, w);
  const std::vector<StepCost> costs = recorded.steps();
  ASSERT_FALSE(costs.empty());
  double share = 0, last = costs.front().seconds;
  int64_t flops = 0;
  for (const StepCost &cost : costs) {
    EXPECT_LE(cost.seconds, last);
    last = cost.seconds;
    share += cost.share;
    flops += cost.flops;
    EXPECT_EQ(cost.program, "step");
  }
  EXPECT_NEAR(share, 1, 1e-9);
  // Two products of 64 x 32 x 32, four times, and less than as much again.
  EXPECT_GE(flops, 4 * 2 * 2 * 64 * 32 * 32);
  EXPECT_LT(flops, 2 * 4 * 2 * 2 * 64 * 32 * 32);
  const std::string table = recorded.table(3);
  EXPECT_THAT(table, testing::StartsWith("4 runs of 1 program in "));
  EXPECT_THAT(table, HAS("peak of a worker, measured: "));
  EXPECT_THAT(table, HAS("ProfileTest.cpp:"));
  EXPECT_EQ(std::ranges::count(table, '\n'), 6);
}

// Steps outside of the scope are not recorded; compiling and parts of the model
// are, by thread.
TEST_F(ProfileTest, UsersThreadsHaveRows) {
  auto step = makeStep();
  Tensor x = sample({8, 8});
  const std::string path = (folder / "host.json").string();
  {
    auto recorded = profile(path);
    auto epoch = name_scope("epoch 3");
    step(x, x);
  }
  step(x, x);
  std::set<std::string> names;
  int runs = 0;
  for (const Json &event : eventsOf(path)) {
    if (event.value("cat", "") == "host")
      names.insert(event.at("name"));
    runs += event.at("ph") == "b" && event.at("name") == "step";
  }
  EXPECT_TRUE(names.contains("trace step")) << testing::PrintToString(names);
  EXPECT_TRUE(names.contains("compile step"));
  EXPECT_EQ(runs, 1);
}

TEST_F(ProfileTest, WithoutAPathTheTableIsPrinted) {
  testing::internal::CaptureStdout();
  {
    auto recorded = profile();
    (void)(ones({4}) + ones({4}));
  }
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HAS("of peak"));
  testing::internal::CaptureStdout();
  {
    auto recorded = profile();
    recorded.stop();
    recorded.stop();
    EXPECT_THAT(recorded.table(), HAS("0 runs of 0 programs"));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST_F(ProfileTest, MistakesAreErrors) {
  EXPECT_ERROR(profile("/no/such/folder/trace.json"), HAS("[profile]"),
               HAS("/no/such/folder/trace.json"));
  auto recorded = profile(folder / "first.json");
  EXPECT_ERROR(profile(folder / "second.json"), HAS("[profile]"),
               HAS("already"));
  EXPECT_ERROR(recorded.write("/no/such/folder/trace.json"),
               HAS("/no/such/folder/trace.json"));
}

} // namespace
} // namespace meshloom

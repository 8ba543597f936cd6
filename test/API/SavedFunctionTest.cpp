// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Saving a compiled function, loading it, and what both tell about runs.
#include "../TemporaryFolder.h"
#include "Testing.h"

namespace meshloom {
namespace {

class SavedFunctionTest : public test::TemporaryFolderTest {
protected:
  const std::filesystem::path path = folder / "saved.mlprog";
};

TEST_F(SavedFunctionTest, RunsWithoutItsSource) {
  Mesh mesh = mesh2x4();
  Tensor x = sample({8, 6});
  DVariable w(distribute(sample({6, 4}, 2), specs("uy", mesh)), {.name = "w"});
  auto step = function(
      [&](const Tensor &x) {
        Tensor y = matmul(x, w);
        w.assign_sub(0.5f * w);
        return reduce_sum(y, 0);
      },
      {.name = "step", .arguments = {"x"}});
  Tensor sharded = distribute(x, specs("xu", mesh));
  std::vector<float> before = w.to_vector<float>();
  ConcreteFunction compiled = step.get_concrete_function(sharded);
  EXPECT_EQ(compiled.statistics().executions, 0);
  Tensor expected = step(sharded);
  FunctionStatistics ran = compiled.statistics();
  EXPECT_EQ(ran.executions, 1);
  EXPECT_GT(ran.last_seconds, 0);
  EXPECT_GT(ran.peak_bytes, 8 * 6 * 4);
  EXPECT_EQ(ran.collectives, int64_t(compiled.collectives().size()));
  compiled.save(path);

  SavedFunction loaded = load_function(path, mesh);
  ASSERT_EQ(loaded.arguments().size(), 2u);
  EXPECT_EQ(loaded.arguments()[0].name, "x");
  EXPECT_EQ(loaded.arguments()[1].name, "w");
  EXPECT_EQ(loaded.results()[1].name, "w");
  EXPECT_EQ(loaded.results()[1].role, ValueInfo::Role::Variable);
  Tensor onHost = tensor(before, {6, 4});
  std::vector<Tensor> results = loaded({sharded, onHost}); // one is on the host
  expectSame(results[0], expected);
  expectSame(results[1], w);
  EXPECT_EQ(loaded.statistics().executions, 1);
  expectSame(load_function(path)({x, onHost})[0], expected); // on other devices

  EXPECT_ERROR(loaded({x}), HAS("expected 2 arguments, got 1"));
  EXPECT_ERROR(loaded({x, x}), HAS("f32 [6, 4] as argument 1 ('w')"));
  EXPECT_ERROR(load_function(path, mesh8()), HAS("[load_function]"),
               HAS("axes"));
  EXPECT_ERROR(load_function("/nowhere.mlprog"), HAS("/nowhere.mlprog"));
}

TEST_F(SavedFunctionTest, OnOtherMachinesTheCollectivesAreThoseOfTheTextbook) {
  Mesh mesh = mesh8();
  DVariable w(
      relayout(distribute(sample({64, 32}), Layout::replicated(mesh, 2)),
               Layout::replicated(mesh, 2)),
      {.name = "w"});
  auto step = function([&](const Tensor &x) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(matmul(x, w)));
    optimizers::SGD(0.1).apply_gradients(tape.gradient(loss, {w}));
    return loss;
  });
  Tensor x =
      distribute(sample({128, 64}), Layout::batch_sharded(mesh, "batch", 2));
  ConcreteFunction compiled = step.get_concrete_function(x);
  int64_t reduced = 0;
  for (const CollectiveInfo &collective : compiled.collectives("ring", false))
    if (collective.kind == CollectiveKind::AllReduce)
      reduced += collective.bytes;
  EXPECT_EQ(reduced, (64 * 32 + 1) * 4); // the gradient, and the loss
  int64_t sent = 0;
  for (const CollectiveInfo &collective : compiled.collectives("ring"))
    sent += collective.bytes_sent;
  EXPECT_LE(sent, 2 * 7 * reduced / 8);
  EXPECT_ERROR(compiled.collectives("rings"), HAS("[collectives]"),
               HAS("rings"));
  EXPECT_THAT(compiled.explain(), testing::StartsWith("@function"));
}

} // namespace
} // namespace meshloom

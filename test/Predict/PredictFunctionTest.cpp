// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// predict() of a function of the API.
#include "../TemporaryFolder.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Explain.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Predict.h"
#include "meshloom/API/Variable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace meshloom {
namespace {
using testing::HasSubstr;

TEST(PredictFunctionTest, AFunctionIsPredictedForAMachineThatIsNotThere) {
  const Mesh mesh = create_mesh({{"batch", 4}}, virtual_cpus(4));
  const Tensor x =
      distribute(ones({64, 32}), Layout::batch_sharded(mesh, "batch", 2));
  auto squares =
      function([](const Tensor &x) { return reduce_sum(multiply(x, x), {0}); });
  const Prediction prediction =
      predict(squares.get_concrete_function(x), "gpu:h100");
  EXPECT_EQ(prediction.machine, "gpu:h100");
  EXPECT_EQ(prediction.memory.bytesOf(MemoryUse::Argument), 64 * 32 * 4 / 4);
  EXPECT_EQ(prediction.collectives, 1);
  EXPECT_GT(prediction.time, 0);
  EXPECT_TRUE(prediction.fits());
  EXPECT_THROW((void)predict(squares.get_concrete_function(x), "gpu:none"),
               Error);
}

TEST(WriteExplanationTest, TheFactsOfAFunctionAreWrittenUnderItsName) {
  const Mesh mesh = create_mesh({{"batch", 4}}, virtual_cpus(4));
  const Tensor x =
      distribute(ones({64, 32}), Layout::batch_sharded(mesh, "batch", 2));
  auto squares =
      function([](const Tensor &x) { return reduce_sum(multiply(x, x), {0}); },
               {.name = "squares"});
  const ConcreteFunction concrete = squares.get_concrete_function(x);
  const test::TemporaryFolder folder;
  const std::string path = (folder / "squares.json").string();
  write_explanation(concrete, path, "gpu:h100");
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr("\"program\": \"squares\""));
  EXPECT_THAT(text, HasSubstr("\"machine\": \"gpu:h100\""));
  EXPECT_THAT(text, HasSubstr("\"kind\": \"all_reduce\""));
  EXPECT_THROW(write_explanation(concrete, folder / "squares.txt"), Error);
  EXPECT_THROW(write_explanation(concrete, folder / "none/x.html"), Error);
}

TEST(PredictFunctionTest, TheLayoutOfAVariableIsSuggested) {
  const Mesh mesh = create_mesh({{"x", 4}}, virtual_cpus(4));
  // The product would gather the variable's rows.
  DVariable w(distribute(ones({64, 64}), Layout({"x", UNSHARDED}, mesh)),
              {.name = "w"});
  auto product =
      function([&](const Tensor &x) { return matmul(x, w.read_value()); });
  const auto concrete = product.get_concrete_function(
      distribute(ones({256, 64}), Layout({"x", UNSHARDED}, mesh)));
  const LayoutAdvice advice = suggest(concrete, "ring");
  EXPECT_EQ(advice.annotations.size(), 2u);
  ASSERT_FALSE(advice.suggestions().empty());
  const auto [goal, change] = advice.suggestions()[1];
  EXPECT_EQ(goal, Suggestion::Goal::Bytes);
  EXPECT_EQ(advice.annotations[change.annotation].text, "argument 'w'");
  ASSERT_TRUE(change.layout);
  EXPECT_EQ(change.layout->spec_string(), "[*, *]");
  EXPECT_EQ(change.costs.bytesSent, 0);
  EXPECT_EQ(advice.nextBest(change.annotation), change);
  EXPECT_THROW((void)suggest(concrete, "no machine"), Error);
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// predict() of a function of the API.
#include "../TemporaryFolder.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Explain.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/Ops.h"
#include "meshloom/API/Predict.h"

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

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of parts in errors, reasons and explain().
#include "Testing.h"

namespace meshloom {
namespace {

TEST(NameScopeTest, ErrorsSayWhichPart) {
  Tensor x = ones({2, 3});
  auto scope = name_scope("encoder");
  {
    auto inner = name_scope("block_3");
    EXPECT_ERROR(matmul(x, x), HAS("[matmul]"), HAS("NameScopeTest.cpp:"),
                 HAS(" in encoder/block_3)"));
  }
  EXPECT_ERROR(matmul(x, x), HAS(" in encoder)"), testing::Not(HAS("block_3")));
}

TEST(NameScopeTest, CollectivesSayWhichPart) {
  Mesh mesh = mesh2x4();
  auto step = function(
      [&](const Tensor &x) {
        Tensor y = x;
        for (int i = 0; i < 2; ++i) {
          auto scope = name_scope("block_" + std::to_string(i));
          y = relayout(y * 2, specs(i == 0 ? "ux" : "xu", mesh));
        }
        return y;
      },
      {.name = "forward"});
  Tensor x = distribute(sample({8, 8}), specs("xu", mesh));
  ConcreteFunction compiled = step.get_concrete_function(x);
  std::string text = compiled.explain();
  EXPECT_THAT(text, testing::StartsWith("@forward on shared-memory"));
  EXPECT_THAT(text, HAS(" in block_0"));
  bool named = false;
  for (const CollectiveInfo &collective : compiled.collectives())
    named |= collective.location.find(" in block_") != std::string::npos;
  EXPECT_TRUE(named);
  EXPECT_ERROR(function([&](const Tensor &x) {
                 auto scope = name_scope("head");
                 GradientTape tape;
                 return tape.gradient(
                     reduce_sum(bitcast(bitcast(x, DType::I32), DType::F32)),
                     x);
               })(x),
               HAS("[gradient]"));
}

} // namespace
} // namespace meshloom

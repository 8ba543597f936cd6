// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contexts that are shared: by functions while there are any, by ops up to a
// number of them.
#include "meshloom/Engine/Contexts.h"
#include "Testing.h"

#include "mlir/IR/MLIRContext.h"

namespace meshloom {
namespace {
using namespace detail;

TEST(ContextsTest, FunctionsShareOneThatGoesWithTheLast) {
  std::shared_ptr<MLIRContext> first = functionContext();
  EXPECT_EQ(functionContext(), first);
  std::weak_ptr<MLIRContext> watched = first;
  {
    auto f = function([](const Tensor &x) { return x + 1; });
    f(tensor({1.f}));
    first.reset();
    EXPECT_FALSE(watched.expired()) << "f is still there";
    EXPECT_EQ(functionContext(), watched.lock());
  }
  EXPECT_TRUE(watched.expired());
}

TEST(ContextsTest, ATensorThatEscapedItsTraceKeepsNoContext) {
  Tensor escaped;
  std::weak_ptr<MLIRContext> watched;
  {
    auto f =
        function([&](const Tensor &x) -> Tensor { return escaped = x + 1; });
    f(tensor({1.f}));
    watched = functionContext();
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_ERROR(escaped + 1, HAS("trace"));
}

TEST(ContextsTest, OpsGetANewOneNowAndThen) {
  std::shared_ptr<MLIRContext> first = opContext();
  std::weak_ptr<MLIRContext> watched = first;
  int64_t same = 0;
  while (opContext() == first)
    ASSERT_LT(++same, opsPerContext);
  first.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(ContextsTest, HaveLocksAndAllDialects) {
  std::shared_ptr<MLIRContext> context = makeContext();
  EXPECT_TRUE(context->isMultithreadingEnabled());
  EXPECT_EQ(context->getNumThreads(), 1u);
  for (const char *dialect : {"dtensor", "spmd", "func", "llvm", "scf"})
    EXPECT_NE(context->getLoadedDialect(dialect), nullptr) << dialect;
}

} // namespace
} // namespace meshloom

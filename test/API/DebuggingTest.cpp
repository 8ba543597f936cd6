// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks of values while a program runs.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(DebuggingTest, AFailedCheckEndsTheCallWithTheUsersMessage) {
  auto root = function([](const Tensor &x) {
    debugging::assert_non_negative(x, "roots of {negative} numbers");
    return sqrt(x);
  });
  expectNear(root(tensor({4.f, 9.f})), {2, 3});
  expectError([&] { (void)root(tensor({4.f, -9.f})).to_vector<float>(); },
              "roots of {negative} numbers");
  expectError([&] { (void)root(tensor({4.f, -9.f})).to_vector<float>(); },
              "DebuggingTest.cpp");
  expectError([&] { (void)root(tensor({4.f, -9.f})).to_vector<float>(); },
              "[4 -9]");
  expectNear(root(tensor({1.f, 1.f})), {1, 1});
}

TEST(DebuggingTest, OutsideOfAFunctionAtOnce) {
  const Tensor x = tensor({1.f, 2.f});
  debugging::assert_equal(x, x);
  debugging::assert_none_equal(x, 0);
  debugging::assert_less(x, 3);
  debugging::assert_less_equal(x, 2);
  debugging::assert_greater(x, 0);
  debugging::assert_greater_equal(x, 1);
  debugging::assert_near(x, x + 1e-6f);
  debugging::assert_positive(x);
  debugging::assert_all_finite(x);
  debugging::assert_rank(x, 1);
  expectNear(debugging::check_numerics(x, "x"), {1, 2});
  expectError([&] { debugging::assert_equal(x, 1, "ones"); },
              "[assert_equal] expected x == y for all elements: ones (at ");
  expectError([&] { debugging::assert_none_equal(x, 2); }, "x != y");
  expectError([&] { debugging::assert_less(x, 2); }, "x < y");
  expectError([&] { debugging::assert_less_equal(x, 1); }, "x <= y");
  expectError([&] { debugging::assert_greater(x, 1); }, "x > y");
  expectError([&] { debugging::assert_greater_equal(x, 2); }, "x >= y");
  expectError([&] { debugging::assert_near(x, x + 1); }, "|x - y|");
  expectError([&] { debugging::assert_positive(x - 1); }, "x > 0");
  expectError([&] { debugging::assert_all_finite(log(x - 1)); }, "no infinity");
  expectError([&] { (void)debugging::check_numerics(log(x - 2), "the loss"); },
              "the loss");
  expectError([&] { debugging::assert_rank(x, 2); }, "rank 2, got f32 [2]");
  expectError([&] { debugging::Assert(x > 1, "all above", {x}); }, "all above");
  expectError([&] { debugging::Assert(x, "no bools"); }, "of type i1");
}

// The variable is assigned before the check that fails.
TEST(DebuggingTest, VariablesKeepTheirValuesWhereACheckFails) {
  DVariable total(tensor(0.f));
  auto add = function([&](const Tensor &x) {
    total.assign_add(x);
    debugging::assert_less(total, 10, "too much");
  });
  add(tensor(4.f));
  expectError(
      [&] {
        add(tensor(20.f));
        (void)total.item<float>();
      },
      "too much");
  EXPECT_EQ(total.item<float>(), 4);
  add(tensor(5.f));
  EXPECT_EQ(total.item<float>(), 9);
}

TEST(DebuggingTest, OnlyTheBranchThatIsTakenIsChecked) {
  auto f = function([](const Tensor &x) {
    return cond(
        x > 0,
        [&] {
          debugging::assert_less(x, 5, "in the branch");
          return x;
        },
        [&] { return -x; });
  });
  expectNear(f(tensor(-7.f)), {7});
  expectNear(f(tensor(3.f)), {3});
  expectError([&] { f(tensor(7.f)).item<float>(); }, "in the branch");
}

TEST(DebuggingTest, ChecksOfAShardedValue) {
  auto f = function([](const Tensor &x) {
    debugging::assert_positive(x, "cut");
    return x + 1;
  });
  const Layout layout = specs("x", mesh2x4());
  expectNear(f(distribute(ones({4}), layout)), {2, 2, 2, 2});
  expectError(
      [&] {
        (void)f(distribute(tensor({1.f, 1.f, 1.f, 0.f}), layout))
            .to_vector<float>();
      },
      "cut");
}

} // namespace
} // namespace meshloom

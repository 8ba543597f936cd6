// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as conditions of C++: read where there is a value, refused elsewhere.
#include "Testing.h"

namespace meshloom {
namespace {

TEST(ConditionTest, AScalarIsRead) {
  Tensor a = tensor(2.f), b = tensor(3.f);
  EXPECT_FALSE(bool(a > b));
  EXPECT_TRUE(bool(a < b));
  EXPECT_EQ(std::max(a, b).item<float>(), 3.f);
  EXPECT_EQ(std::min(a, b).item<float>(), 2.f);
  int steps = 0;
  for (Tensor error = tensor(1.0); error > 1e-3; error = error / 2)
    ++steps;
  EXPECT_EQ(steps, 10);
  if (!(a > b))
    ++steps;
  EXPECT_EQ(steps, 11);
}

TEST(ConditionTest, NotZeroIsTrueInEveryType) {
  for (int number = 0; number <= int(lastDType); ++number) {
    auto type = DType(number);
    EXPECT_FALSE(bool(zeros({}, type))) << type;
    EXPECT_TRUE(bool(ones({1, 1}, type))) << type;
  }
  EXPECT_TRUE(bool(full({}, 0.5)));
  EXPECT_TRUE(bool(full({}, std::nan(""))));
  EXPECT_TRUE(bool(complex(tensor(0.f), tensor(1.f))));
}

TEST(ConditionTest, AVariableIsReadToo) {
  DVariable v(tensor(0.f));
  EXPECT_FALSE(bool(v));
  v.assign_add(1);
  EXPECT_TRUE(bool(v));
  EXPECT_TRUE(v > 0 ? true : false);
}

TEST(ConditionTest, SeveralElementsAreNoCondition) {
  Tensor x = tensor({1.f, 2.f, 3.f});
  EXPECT_ERROR(bool(x > 1), HAS("i1 [3]"), HAS("reduce_all"), HAS("where"));
  EXPECT_ERROR(std::max(x, x * 2), HAS("one element"));
  EXPECT_ERROR(bool(zeros({0})), HAS("f32 [0]"));
}

// A tensor that the body of a function computes has no value while it is
// traced.
TEST(ConditionTest, AValueOfATraceSaysWhatToWrite) {
  auto f = function(
      [](const Tensor &x) {
        if (x > 0)
          return x;
        return -x;
      },
      {.name = "fold"});
  EXPECT_ERROR(f(tensor(1.f)), HAS("'fold'"), HAS("where"), HAS("cond"),
               HAS("while_loop"), HAS("logical_and"));
}

TEST(ConditionTest, EmptinessHasAnotherName) {
  Tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_TRUE(zeros({2}).defined());
  EXPECT_ERROR(bool(nothing), HAS("empty Tensor"));
  EXPECT_FALSE(DVariable().defined());
}

template <typename X, typename Y>
concept CanAnd = requires(const X &x, const Y &y) { x &&y; };
template <typename X, typename Y>
concept CanOr = requires(const X &x, const Y &y) { x || y; };

// `x > 0 && x < 3` would read both, or compare nothing: it does not compile.
TEST(ConditionTest, AndAndOrOfTensorsDoNotCompile) {
  static_assert(CanAnd<bool, bool> && CanOr<bool, bool>);
  static_assert(!CanAnd<Tensor, Tensor> && !CanOr<Tensor, Tensor>);
  static_assert(!CanAnd<Tensor, bool> && !CanOr<bool, Tensor>);
  static_assert(!CanAnd<DVariable, Tensor> && !CanOr<Tensor, DVariable>);
  static_assert(!CanAnd<DVariable, DVariable> && !CanOr<DVariable, int>);
  Tensor x = tensor({-1.f, 1.f, 5.f});
  EXPECT_EQ((x > 0 & x < 3).to_vector<bool>(),
            (std::vector<bool>{false, true, false}));
}

} // namespace
} // namespace meshloom

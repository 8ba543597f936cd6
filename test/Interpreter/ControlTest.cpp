// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops and branches in the reference interpreter, by values worked out by
// hand.
#include "HostValues.h"

#include "meshloom/Dialect/DTensor/DTensor.h"
#include "meshloom/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshloom {
namespace {

using test::floats, test::ints;
using testing::ElementsAre;

std::vector<HostValue> run(const std::string &text,
                           const std::vector<HostValue> &inputs) {
  MLIRContext context;
  context.loadDialect<dtensor::DTensorDialect, mlir::func::FuncDialect>();
  auto module = mlir::parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << "does not parse: " << text;
    return {};
  }
  auto results = interpret(*module, "", inputs);
  if (!results) {
    ADD_FAILURE() << results.error().message();
    return {};
  }
  return *results;
}

// Fibonacci numbers: all carried values change at once.
TEST(InterpreterControlTest, CarriedValuesChangeAtOnce) {
  auto results = run(R"(
    func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
      %zero = dtensor.constant dense<0> : tensor<i32>
      %one = dtensor.constant dense<1> : tensor<i32>
      %0:3 = dtensor.while (%zero, %zero, %one) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>) cond {
      ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>):
        %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        dtensor.yield %p : tensor<i1>
      } do {
      ^bb0(%i: tensor<i32>, %a: tensor<i32>, %b: tensor<i32>):
        %j = dtensor.add %i, %one : tensor<i32>
        %c = dtensor.add %a, %b : tensor<i32>
        dtensor.yield %j, %b, %c : tensor<i32>, tensor<i32>, tensor<i32>
      }
      return %0#1, %0#2 : tensor<i32>, tensor<i32>
    })",
                     {ints({}, {10})});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(results[0].ints, ElementsAre(55));
  EXPECT_THAT(results[1].ints, ElementsAre(89));
}

// A branch for each index; the last one for any other.
TEST(InterpreterControlTest, BranchByIndex) {
  for (auto [index, expected] :
       {std::pair(0, 2.), {1, 9.}, {2, 3.}, {7, 3.}, {-1, 3.}}) {
    auto results = run(R"(
      func.func @main(%x: tensor<f64>, %i: tensor<i32>) -> tensor<f64> {
        %two = dtensor.constant dense<2.0> : tensor<f64>
        %r = dtensor.case %i : (tensor<i32>) -> tensor<f64> {
          dtensor.yield %two : tensor<f64>
        }, {
          %m = dtensor.multiply %x, %x : tensor<f64>
          dtensor.yield %m : tensor<f64>
        }, {
          dtensor.yield %x : tensor<f64>
        }
        return %r : tensor<f64>
      })",
                       {floats({}, {3}), ints({}, {index})});
    ASSERT_EQ(results.size(), 1u);
    EXPECT_THAT(results[0].floats, ElementsAre(expected)) << index;
  }
}

// A variable that a branch in a loop assigns; it is a result.
TEST(InterpreterControlTest, VariablesInLoops) {
  auto results = run(R"(
    func.func @main(%v: !dtensor.variable<tensor<f64>>, %n: tensor<i32>) {
      %zero = dtensor.constant dense<0> : tensor<i32>
      %one = dtensor.constant dense<1> : tensor<i32>
      %0 = dtensor.while (%zero) : (tensor<i32>) -> tensor<i32> cond {
      ^bb0(%i: tensor<i32>):
        %p = dtensor.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        dtensor.yield %p : tensor<i1>
      } do {
      ^bb0(%i: tensor<i32>):
        %j = dtensor.add %i, %one : tensor<i32>
        dtensor.case %i : (tensor<i32>) -> () {
          dtensor.yield
        }, {
          %x = dtensor.read_variable %v : (!dtensor.variable<tensor<f64>>) -> tensor<f64>
          %y = dtensor.add %x, %x : tensor<f64>
          dtensor.assign_variable %v, %y : !dtensor.variable<tensor<f64>>, tensor<f64>
          dtensor.yield
        }
        dtensor.yield %j : tensor<i32>
      }
      return
    })",
                     {floats({}, {5}), ints({}, {4})});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_THAT(results[0].floats, ElementsAre(40));
}

} // namespace
} // namespace meshloom

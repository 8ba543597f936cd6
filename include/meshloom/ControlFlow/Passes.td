// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The passes of include/meshloom/ControlFlow ------------===//
//
// Variables become arguments and results; loops and branches get simpler, and
// what loops add up of products is multiplied once.
// docs/Pipeline.md shows one program after each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_CONTROLFLOW_PASSES
#define MESHLOOM_CONTROLFLOW_PASSES

include "mlir/Pass/PassBase.td"

def LiftVariables : Pass<"dtensor-lift-variables", "::mlir::func::FuncOp"> {
  let summary = "Make variables arguments and results";
  let description = [{
    A variable argument becomes a tensor argument; reads become the value it
    has at that point, so that a read after an assignment sees the new value;
    each assigned variable's last value becomes an additional result. The
    argument then has the attribute `dtensor.alias`: the index of that result,
    whose memory it may share. A result that was lifted has the `dtensor.name`
    of its argument. No later pass sees a side effect.

    ```mlir
    func.func @f(%v: !dtensor.variable<tensor<4xf32>>, %x: tensor<4xf32>) {
      %0 = dtensor.read_variable %v : (!dtensor.variable<tensor<4xf32>>) -> tensor<4xf32>
      %1 = dtensor.add %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      dtensor.assign_variable %v, %1 : !dtensor.variable<tensor<4xf32>>, tensor<4xf32>
      return
    }
    // becomes
    func.func @f(%v: tensor<4xf32> {dtensor.alias = 0 : i64}, %x: tensor<4xf32>)
        -> tensor<4xf32> {
      %0 = dtensor.add %v, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def SimplifyControlFlow
    : Pass<"dtensor-simplify-control-flow", "::mlir::func::FuncOp"> {
  let summary = "Bring loops and branches to a simpler form";
  let description = [{
    * A carried value that the body passes on unchanged is used from outside,
      one that nobody reads is dropped; unless the user laid it out.
    * A case with a constant index, or with one branch, becomes that branch.
    * A loop whose trip count can be proven (a counter with constant ends and
      step) gets it as the attribute `dtensor.trip_count`.
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def SumAfterLoops : Pass<"dtensor-sum-after-loops", "::mlir::func::FuncOp"> {
  let summary = "Multiply once what a loop adds up of products";
  let description = [{
    A carried value to which each iteration of a loop adds a `dot_general`, or the
    transpose of one as JAX does, and that nobody reads in the loop, is computed behind the loop: the operands of
    all iterations are stored, and the product sums over the iterations too. So
    is the gradient of a recurrent layer's weights. The pass does this where it
    knows the trip count and where the sum has at least 65,536 elements, twice
    as many as an iteration's operands, and a quarter of those of all
    iterations.

    ```mlir
    // s + dot(a, b), 35 times, a: 20x2600, b: 20x650, becomes a product of
    %s = dtensor.dot_general %as, %bs contracting [0, 1] x [0, 1]
        : (tensor<35x20x2600xf32>, tensor<35x20x650xf32>) -> tensor<2600x650xf32>
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

#endif // MESHLOOM_CONTROLFLOW_PASSES

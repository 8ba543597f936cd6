// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The passes of include/meshloom/Lanes ------------------===//
//
// Maps become ordinary ops on values with leading dims.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_LANES_PASSES
#define MESHLOOM_LANES_PASSES

include "mlir/Pass/PassBase.td"

def VectoriseMaps : Pass<"dtensor-vectorise-maps", "::mlir::func::FuncOp"> {
  let summary = "Make ordinary ops on global values of maps";
  let description = [{
    A value inside of a `dtensor.map` gets leading dims, one for each axis along
    which it differs from place to place; what is the same everywhere is computed
    once. Reductions, joins and parts along axes become reductions, transposes and
    reshapes along those dims; loops and branches run as long as any place does.

    ```mlir
    %y = dtensor.map (%x, %w) {axes = ["row"], sizes = array<i64: 4>,
        lanes = [array<i64: 0>, array<i64>]}
        : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    ^bb0(%row: tensor<8xf32>, %v: tensor<8xf32>):
      %e = dtensor.exp %v : tensor<8xf32>
      %p = dtensor.multiply %row, %e : tensor<8xf32>
      dtensor.yield %p : tensor<8xf32>
    }
    // becomes
    %e = dtensor.exp %w : tensor<8xf32>
    %r = dtensor.broadcast_in_dim %e dims [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %y = dtensor.multiply %x, %r : tensor<4x8xf32>
    ```

    The vectoriser is what the API's vmap and shard_map run when their function
    returns, and what it is made of imports StableHLO's manual computations.
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def MergeSums : Pass<"dtensor-merge-sums", "::mlir::func::FuncOp"> {
  let summary = "Make one sum of sums, in deterministic functions";
  let description = [{
    A sum of floats moves through linear ops (multiplications by what is the same
    for all addends, additions, transposes, reshapes, ...) to the sum, product or
    convolution that gives its addends, which then adds up all at once. What
    replicas add up over their rows, and then over the replicas, is so the sum
    over all rows, in the order that it has on one device. What each replica has
    an n-th of, and n replicas add up, is the whole; x / a / b is x / (a * b)
    where that is exact. Functions without `dtensor.deterministic` stay.

    ```mlir
    %rows = dtensor.reduce sum %x dims [1] : (tensor<2x12xf32>) -> tensor<2xf32>
    %share = dtensor.divide %rows, %c24 : tensor<2xf32>
    %all = dtensor.reduce sum %share dims [0] : (tensor<2xf32>) -> tensor<f32>
    // becomes
    %rows = dtensor.reduce sum %x dims [0, 1] : (tensor<2x12xf32>) -> tensor<f32>
    %all = dtensor.divide %rows, %c24 : tensor<f32>
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

def MultiplyBeforeLoops
    : Pass<"dtensor-multiply-before-loops", "::mlir::func::FuncOp"> {
  let summary = "Multiply once what the iterations of a loop slice";
  let description = [{
    A `dot_general` of a value from outside of a loop with an iteration's slice
    of a tensor, as a recurrent layer multiplies its inputs by their weights, is
    a slice of the product of the whole tensor, which is computed in front of the
    loop. Ops of one operand may stand between the slice and the product. The
    slice takes one place of a dim and the whole of all others. The pass does
    this where it knows the trip count, where the loop has at least as many
    iterations as the tensor has places, and where the product of the whole
    tensor has at most 1,048,576 elements or four times as many as the tensor.

    ```mlir
    // In a loop of 100 iterations, whose counter is %i:
    %x = dtensor.dynamic_slice %xs[%i, %c0, %c0] sizes [1, 16, 64]
        : (tensor<100x16x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x64xf32>
    %r = dtensor.reshape %x : tensor<1x16x64xf32> -> tensor<16x64xf32>
    %p = dtensor.dot_general %r, %w contracting [1] x [0]
        : (tensor<16x64xf32>, tensor<64x256xf32>) -> tensor<16x256xf32>
    // becomes, in front of the loop,
    %ps = dtensor.dot_general %xs, %w contracting [2] x [0]
        : (tensor<100x16x64xf32>, tensor<64x256xf32>) -> tensor<100x16x256xf32>
    // and in it
    %q = dtensor.dynamic_slice %ps[%i, %c0, %c0] sizes [1, 16, 256]
        : (tensor<100x16x256xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x256xf32>
    %p = dtensor.reshape %q : tensor<1x16x256xf32> -> tensor<16x256xf32>
    ```
  }];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

#endif // MESHLOOM_LANES_PASSES

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

#endif // MESHLOOM_LANES_PASSES

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The passes of include/meshloom/Targets/Kernels --------===//
//
// One device's function becomes the steps of a Program.
// docs/Pipeline.md shows one program after each.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_TARGETS_KERNELS_PASSES
#define MESHLOOM_TARGETS_KERNELS_PASSES

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"spmd-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "Make fused kernels of local math";
  let description = [{
    Local dtensor ops become `spmd.kernel` ops; f32 `dot_general` (a library's
    work), collectives and constants that are not splats stay.

    * Elementwise ops over one shape and layout go into one kernel, with as many
      outputs as others read; so do reductions of such values along inner dims,
      and reductions along the same dims. Reductions that include the outermost
      dim, argmax and argmin take in what only they read.
    * Moves of elements (broadcast, transpose, reshape, slice, reverse), splats
      and iota are computed by whatever reads them. So are cheap elementwise
      ops, where that reads no more memory.
    * A sum, maximum or minimum of many f32, f64, bf16 or i32 numbers in rows of at
      least 64 (256 where their numbers are of different results), which no kernel
      computes together with something else, is a call of the library function
      `reduce`; a copy of thousands of elements, 256 or more of which follow one
      another, is one of `copy`, which also widens bytes to i32 and f32.
    * Other dots are a kernel each; a concatenate is a kernel for each part.
    * Kernels and products that compute the same in every turn of a loop move in
      front of it, if that takes no more memory than what they read.
    * An output takes the memory of an input of its type that it reads at the
      same index and that nothing needs afterwards; of an argument only where
      `dtensor.alias` gives the argument's memory to what the output becomes.
    * A product of whose result the kernels behind it select only what lies in
      one half-space of the indices (a causal mask) says so: `spmd.read_where`.

    ```mlir
    %1 = dtensor.broadcast_in_dim %b dims [1] : (tensor<4xf32, #b>) -> tensor<2x4xf32, #x>
    %2 = dtensor.add %x, %1 : tensor<2x4xf32, #x>
    // becomes
    %2 = spmd.kernel loops [16 over [batch], 4] ins (%x at #ij, %b at #j) outs (#ij)
        : (tensor<2x4xf32, #x>, tensor<4xf32, #b>) -> tensor<2x4xf32, #x> {
    ^bb0(%0: f32, %1: f32):
      %3 = arith.addf %0, %1 : f32
      spmd.yield %3 : f32
    }
    ```
  }];
  let dependentDialects = ["::meshloom::spmd::SPMDDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::complex::ComplexDialect",
                           "::mlir::math::MathDialect"];
}

#endif // MESHLOOM_TARGETS_KERNELS_PASSES

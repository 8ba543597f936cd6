// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorControlOps.td - Loops, branches and region terminators ------===//
//
// Ops that run one of their regions, or one of them again and again, and the
// terminator that all regions of the dialect have. Regions may use values from
// outside.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_CONTROL_OPS
#define MESHLOOM_DIALECT_DTENSOR_CONTROL_OPS

include "meshloom/Dialect/DTensor/DTensorBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def DTensor_YieldOp
    : Op<DTensor_Dialect, "yield", [Pure, ReturnLike, Terminator]> {
  let summary = "What a region gives to the op that holds it";
  let description = [{
    The terminator of the regions of `while`, `case`, and of reducers,
    comparators and update computations.

    Example:
    ```mlir
    dtensor.yield %a, %b : tensor<f32>, tensor<i1>
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$values);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def DTensor_WhileOp
    : Op<DTensor_Dialect, "while", [RecursiveMemoryEffects]> {
  let summary = "Runs a region while another one says so";
  let description = [{
    The carried values start as `inits`. Each time, `condition` gets them as its
    arguments and yields whether to go on; if so, `body` gets them and yields
    the next ones. The results are the carried values when the condition yields
    false, the inits where it does at once.

    An init, the arguments, what the body yields and the result of one carried
    value are laid out alike once layouts are inserted; a layout on an argument
    or a result pins it. A carried value is partial only where its type says so.
    The condition yields a replicated value.

    Constraints:
    * (C1) As many inits, arguments of `condition`, arguments of `body`, values
      that `body` yields, and results.
    * (C2) The five of one carried value have the same global shape and element
      type.
    * (C3) `condition` yields one `tensor<i1>`.
    * (C4) Where an argument or result of a carried value has a layout, the
      others with a layout have the same.
    * (C5) Both regions end with `dtensor.yield`.

    Example:
    ```mlir
    // Doubles %x until its first element is at least 100.
    %r = dtensor.while (%x) : (tensor<f32>) -> tensor<f32> cond {
    ^bb0(%v: tensor<f32>):
      %p = dtensor.compare LT %v, %limit : (tensor<f32>, tensor<f32>) -> tensor<i1>
      dtensor.yield %p : tensor<i1>
    } do {
    ^bb0(%v: tensor<f32>):
      %d = dtensor.add %v, %v : tensor<f32>
      dtensor.yield %d : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inits);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let builders = [
    /// Makes both blocks, with arguments of the inits' types without layouts.
    OpBuilder<(ins "::mlir::ValueRange":$inits)>
  ];
  let assemblyFormat = [{
    `(` $inits `)` attr-dict `:` functional-type($inits, $results)
    `cond` $condition `do` $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    YieldOp getConditionYield();
    YieldOp getBodyYield();
    ::mlir::BlockArgument getConditionArgument(unsigned i) {
      return getCondition().getArgument(i);
    }
    ::mlir::BlockArgument getBodyArgument(unsigned i) {
      return getBody().getArgument(i);
    }
  }];
}

def DTensor_CaseOp
    : Op<DTensor_Dialect, "case", [RecursiveMemoryEffects]> {
  let summary = "Runs the region that an index names";
  let description = [{
    Runs `branches[index]`, or the last one where the index is negative or too
    large; the results are what that branch yields.

    What the branches yield and the result are laid out alike once layouts are
    inserted; a result is partial only where its type says so. The index is
    replicated.

    Constraints:
    * (C1) At least one branch.
    * (C2) Branches have no arguments and end with `dtensor.yield`.
    * (C3) Each branch yields as many values as there are results, of their
      global shapes and element types.

    Example:
    ```mlir
    %r = dtensor.case %i : (tensor<i32>) -> tensor<4xf32> {
      %n = dtensor.negate %x : tensor<4xf32>
      dtensor.yield %n : tensor<4xf32>
    }, {
      dtensor.yield %x : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins DTensor_TensorOf<[I32], "i32">:$index);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let builders = [
    /// Makes the blocks, empty.
    OpBuilder<(ins "::mlir::TypeRange":$results, "::mlir::Value":$index,
                   "unsigned":$branches)>
  ];
  let assemblyFormat = [{
    $index attr-dict `:` functional-type($index, $results) $branches
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    YieldOp getYield(unsigned branch);
  }];
}

#endif // MESHLOOM_DIALECT_DTENSOR_CONTROL_OPS

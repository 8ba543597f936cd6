// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorLayoutOps.td - Layouts and variables -----------------------===//
//
// The only op that changes a layout, the one that pins it, and the ops on
// variables, which --dtensor-lift-variables removes before any layout pass.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_LAYOUT_OPS
#define MESHLOOM_DIALECT_DTENSOR_LAYOUT_OPS

include "meshloom/Dialect/DTensor/DTensorAttrs.td"

def DTensor_RelayoutOp
    : DTensor_RuleOp<"relayout", "... -> ...",
                     [Pure, DTensor_Elementwise, DTensor_SameElements], "Movement"> {
  let flops = 0; // what it costs is to be sent
  let summary = "The same value in another layout";
  let description = [{
    The only op that changes a layout. `--dtensor-expand-to-spmd` turns it into
    the cheapest chain of collectives. Where the result is partial and the
    operand is not, a reduction begins, and nothing is sent: one device along
    each axis keeps the value, or each its own block, and the others get what
    the reduction starts from (`--dtensor-insert-relayouts` writes that out).

    Sharding rule: `... -> ...`, without S3.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The operand and the result have the same element type.
    * (C3) The result's layout is decided.
    * (C4) Where the result is partial over axes that the operand is not, and its
      elements are complex, the reduction is a sum.

    Example:
    ```mlir
    %r = dtensor.relayout %x : (tensor<8x4xf32, #rows>) -> tensor<8x4xf32, #full>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand);
  let results = (outs DTensor_Tensor:$result);
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_ConstraintOp
    : DTensor_RuleOp<"constraint", "... -> ...",
                     [Pure, DTensor_Elementwise, DTensor_SameElements], "Movement"> {
  let flops = 0;
  let summary = "Pins a layout on a value, or says what is wished for it";
  let description = [{
    What the user asked for: the result has exactly the layout in its type. It
    takes part in propagation (the operand is asked for the same layout) and
    becomes a `relayout` where the operand's layout turns out different.

    Without a layout in the result's type the attribute `dtensor.wish` says less
    than a layout, and propagation decides (meshloom/Dialect/DTensor/Wish.h):
    * `layout`: the axes that each dim is to have as its major ones;
    * `open`: whether further axes may follow, per dim (all dims are closed);
    * `priorities`: per dim; an axis of a larger number is seen when all dims with
      smaller numbers, of all values, have propagated (all are 0);
    * `replicated`: axes that no dim may have;
    * `direction`: `forward`, `backward` or `none`, the ways that axes may pass
      through the op (both);
    * `group`: values with the same number are laid out alike;
    * `released`: propagation begins with it, and then the constraint is gone, so
      that refinement may choose another layout.
    All but `layout` may be missing.

    Sharding rule: `... -> ...`, without S3.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The operand and the result have the same element type.
    * (C3) The result's layout is decided, or there is a wish that fits the
      operand.

    Example:
    ```mlir
    %r = dtensor.constraint %x : (tensor<8x4xf32>) -> tensor<8x4xf32, #rows>
    %s = dtensor.constraint %x {dtensor.wish = {layout = #rows, open = array<i1: false, true>}}
        : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::meshloom::dtensor::LayoutAttr":$layout), [{
    auto type = undecided(operand.getType());
    build($_builder, $_state,
          ::mlir::RankedTensorType::get(type.getShape(), type.getElementType(),
                                        layout),
          operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_ReadVariableOp : Op<DTensor_Dialect, "read_variable"> {
  let summary = "The value of a variable now";
  let description = [{
    Reads see the assignments before them.

    Constraints:
    * (C1) The result's type is the variable's, with or without its layout.

    Example:
    ```mlir
    %r = dtensor.read_variable %v : (!dtensor.variable<tensor<8x4xf32>>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Arg<DTensor_VariableType, "the variable", [MemRead]>:$variable);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$variable), [{
    build($_builder, $_state,
          ::mlir::cast<VariableType>(variable.getType()).getTensorType(),
          variable);
  }]>];
  let assemblyFormat = [{
    $variable attr-dict `:` functional-type($variable, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_AssignVariableOp : Op<DTensor_Dialect, "assign_variable"> {
  let summary = "Gives a variable a new value";
  let description = [{
    The variable keeps its layout, whatever the value's is.

    Constraints:
    * (C1) The value has the global shape and element type of the variable.

    Example:
    ```mlir
    dtensor.assign_variable %v, %x : !dtensor.variable<tensor<8x4xf32>>, tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Arg<DTensor_VariableType, "the variable", [MemWrite]>:$variable,
                       DTensor_Tensor:$value);
  let assemblyFormat = [{
    $variable `,` $value attr-dict `:` type(operands)
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_LAYOUT_OPS

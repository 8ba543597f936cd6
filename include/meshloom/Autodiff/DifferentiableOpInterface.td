// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DifferentiableOpInterface.td - Ops that have a gradient ------------===//
//
// One interface, one method: what an op's operands get for what its results
// got. Autodiff attaches it to the ops of the dtensor dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_AUTODIFF_DIFFERENTIABLE_OP_INTERFACE
#define MESHLOOM_AUTODIFF_DIFFERENTIABLE_OP_INTERFACE

include "mlir/IR/OpBase.td"

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::meshloom";
  let description = [{
    Implemented by every op that a gradient can pass through. Ops that only make
    integers or booleans do not implement it: no gradient reaches them.
  }];
  let methods = [
    InterfaceMethod<
        [{Reads the gradients of the op's results from `gradient` and gives it
          those of the operands that it asks for; an operand that is given
          nothing has gradient zero. Ops are built with `gradient`'s builder.}],
        "void", "buildGradient", (ins "::meshloom::OpGradient &":$gradient)>
  ];
}

#endif // MESHLOOM_AUTODIFF_DIFFERENTIABLE_OP_INTERFACE

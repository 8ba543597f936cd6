// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - The pass of Autodiff -----------------------------------===//
//
// --dtensor-gradient: a function to a function that also returns gradients.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_AUTODIFF_PASSES
#define MESHLOOM_AUTODIFF_PASSES

include "mlir/Pass/PassBase.td"

def Gradient : Pass<"dtensor-gradient", "::mlir::ModuleOp"> {
  let summary = "Make a function return gradients of its first result";
  let description = [{
    Appends to the results of a function the gradients of its first result, a
    float scalar (the loss), with respect to chosen arguments, in the order
    given, or to all float arguments. The gradient of an argument whose type has
    a layout is constrained to that layout.

    Before:

    ```mlir
    func.func @main(%x: tensor<8xf32>) -> tensor<f32> {
      %y = dtensor.multiply %x, %x : ...
      %loss = dtensor.reduce sum %y, dimensions = [0] : ...
      return %loss : tensor<f32>
    }
    ```

    After: `func.func @main(%x: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>)`
    returns `%loss` and the gradient, `2 * %x`.

    An argument that the loss does not depend on, or that cannot have a gradient
    because it holds integers, is an error.
  }];
  let options = [
    Option<"function", "function", "std::string", /*default=*/"\"\"",
           "Function to differentiate (default: main, or the only one)">,
    ListOption<"wrt", "wrt", "unsigned",
               "Arguments to take gradients of (default: all of floats)">
  ];
  let dependentDialects = ["::meshloom::dtensor::DTensorDialect"];
}

#endif // MESHLOOM_AUTODIFF_PASSES

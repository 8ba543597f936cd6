// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutEncodingInterface.td - Encodings that carry a layout ---------===//
//
// The facts that a tensor's encoding tells, whichever dialect it is from: the
// layout of the global value and its shape. It keeps dtensor free of the spmd
// dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_LAYOUT_ENCODING_INTERFACE
#define MESHLOOM_DIALECT_DTENSOR_LAYOUT_ENCODING_INTERFACE

include "mlir/IR/OpBase.td"

def DTensor_LayoutEncodingInterface : AttrInterface<"LayoutEncodingInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    Implemented by attributes that can be the encoding of a tensor that is laid
    out over a mesh: `#dtensor.layout` (the type has the global shape) and
    `#spmd.shard` (the type has the local one).
  }];
  let methods = [
    InterfaceMethod<[{The LayoutAttr of the global value (layoutAttrOf(type) has
                      it as that class, which is declared after this one).}],
                    "::mlir::Attribute", "getEncodedLayout">,
    InterfaceMethod<"The global shape of a value of type `type`.",
                    "::llvm::SmallVector<int64_t>", "getGlobalShape",
                    (ins "::mlir::RankedTensorType":$type)>,
    InterfaceMethod<"Whether the type describes one device's shard.", "bool",
                    "isShard">,
    InterfaceMethod<"What devices hold of each dim where that is not their "
                    "blocks.", "::meshloom::Windows", "getWindows", (ins), "",
                    "return {};">
  ];
}

#endif // MESHLOOM_DIALECT_DTENSOR_LAYOUT_ENCODING_INTERFACE

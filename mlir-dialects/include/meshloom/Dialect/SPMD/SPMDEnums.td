// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SPMDEnums.td - Enums of the spmd dialect ---------------------------===//
//
// In a file of their own: mlir-tblgen generates every enum it sees, those of
// included dialects too.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_ENUMS
#define MESHLOOM_DIALECT_SPMD_ENUMS

include "mlir/IR/EnumAttr.td"

def SPMD_Reducer : I32EnumAttr<"Reducer",
    "How a kernel combines what its reduction loops yield for one output", [
      I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Sum", 1, "sum">,
      I32EnumAttrCase<"Prod", 2, "prod">, I32EnumAttrCase<"Min", 3, "min">,
      I32EnumAttrCase<"Max", 4, "max">, I32EnumAttrCase<"And", 5, "and">,
      I32EnumAttrCase<"Or", 6, "or">, I32EnumAttrCase<"ArgMax", 7, "argmax">,
      I32EnumAttrCase<"ArgMin", 8, "argmin">]> {
  let cppNamespace = "::meshloom::spmd";
  let genSpecializedAttr = 0;
}

#endif // MESHLOOM_DIALECT_SPMD_ENUMS

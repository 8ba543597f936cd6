// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CollectiveOpInterface.td - What all collectives have in common -----===//
//
// So that passes can simplify, combine and lower them alike.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_COLLECTIVE_OP_INTERFACE
#define MESHLOOM_DIALECT_SPMD_COLLECTIVE_OP_INTERFACE

include "mlir/IR/OpBase.td"

def SPMD_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::meshloom::spmd";
  let description = "The collectives, for passes that handle them alike.";
  let methods = [
    InterfaceMethod<"Which collective this is.", "::meshloom::CollectiveKind",
                    "getCollectiveKind">,
    InterfaceMethod<"How values are combined; nothing where they only move.",
                    "std::optional<::meshloom::ReduceKind>", "getReduceKind">,
    InterfaceMethod<"Names of the mesh axes.", "::mlir::ArrayAttr", "getAxes">,
    InterfaceMethod<"What is sent.", "::mlir::OperandRange", "getInputs">,
    InterfaceMethod<"One result an input.", "::mlir::ResultRange",
                    "getOutputs">,
    InterfaceMethod<"Why it is there.", "std::optional<::llvm::StringRef>",
                    "getReason">,
    InterfaceMethod<"Bytes of one device's results, if noted.",
                    "std::optional<uint64_t>", "getBytes">
  ];
  let extraSharedClassDeclaration = [{
    /// The axes by index into the mesh.
    ::llvm::SmallVector<unsigned> getAxisIndices() {
      return axisIndices($_op);
    }
    /// Returns the change of input `index`, in Core's terms.
    ::meshloom::CollectiveOp getCollective(unsigned index) {
      return collectiveOf($_op, index);
    }
    /// Bytes of one device's results, all together.
    int64_t getResultBytes() { return resultBytes($_op); }
  }];
}

#endif // MESHLOOM_DIALECT_SPMD_COLLECTIVE_OP_INTERFACE

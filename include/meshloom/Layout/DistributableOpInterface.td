// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DistributableOpInterface.td - Ops that can work on blocks ----------===//
//
// Ops that need a dim whole, and can be written as ops that work on each block of
// it and exchange little. lib/Layout attaches it to ops of the dtensor dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_LAYOUT_DISTRIBUTABLE_OP_INTERFACE
#define MESHLOOM_LAYOUT_DISTRIBUTABLE_OP_INTERFACE

include "mlir/IR/OpBase.td"

def DistributableOpInterface : OpInterface<"DistributableOpInterface"> {
  let cppNamespace = "::meshloom::distribution";
  let description = [{
    Asked by --dtensor-distribute-ops, where the flow of axes is going to cut a dim
    that the op needs whole. An op without it has its operands brought together.
  }];
  let methods = [
    InterfaceMethod<
        [{The dim that the op needs whole, that it can be distributed along, and
          that `layout`, an operand's, cuts.}],
        "std::optional<int64_t>", "getCutDim",
        (ins "const ::meshloom::Layout &":$layout)>,
    InterfaceMethod<
        [{All dims that the op needs whole; `cut` is one.}],
        "::llvm::SmallVector<int64_t>", "getWholeDims", (ins "int64_t":$cut), "",
        [{ return {cut}; }]>,
    InterfaceMethod<
        [{Whether the op adds up elements, or combines them in another way whose
          result depends on the order. Of a deterministic function such an op of
          floats is not distributed.}],
        "bool", "combinesElements", (ins), "", [{ return false; }]>,
    InterfaceMethod<
        [{The cheapest way to distribute the op along the candidate's dim, if there
          is one. `candidate` may be gone when it is made.}],
        "std::optional<::meshloom::distribution::Distribution>", "getDistribution",
        (ins "const ::meshloom::distribution::Candidate &":$candidate,
             "const ::meshloom::MachineModel &":$model)>
  ];
}

#endif // MESHLOOM_LAYOUT_DISTRIBUTABLE_OP_INTERFACE

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpInterfaces.td - What ops say of themselves -----------------------===//
//
// How an op can be sharded and what it costs, where its elements come from, what
// computes it. Passes ask these interfaces; none has a list of ops. Interfaces
// that need layers above the dialect are attached there: gradients (Autodiff),
// how an op is distributed (Layout).
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_OP_INTERFACES
#define MESHLOOM_DIALECT_DTENSOR_OP_INTERFACES

include "mlir/IR/OpBase.td"

def DTensor_ShardedOpInterface : OpInterface<"ShardedOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    Every op of the dtensor dialect that has tensor results and no variables
    implements it. Where the rule does not
    depend on attributes it is text in the op's declaration, in einsum notation
    (`"... m k, ... k n -> ... m n"`); else C++ builds it. Propagation, relayouts,
    local shapes and pending reductions all follow from it.
  }];
  let methods = [
    InterfaceMethod<
        [{The op's rule, its factors' sizes bound to the global shapes of the
          operands and results, with its PartialFlow (what the op is linear in)
          and reduceKind. The op must have passed its own verifier.}],
        "::meshloom::ShardingRule", "getShardingRule">,
    InterfaceMethod<
        [{What the op costs, in terms of the factors of `rule`, which is its
          own.}],
        "::meshloom::dtensor::OpCost", "getCost",
        (ins "const ::meshloom::ShardingRule &":$rule)>,
    InterfaceMethod<
        [{How many elements are combined into one of a result, at most: what
          another order of them changes grows with it.}],
        "int64_t", "getTerms", (ins), "", [{ return 1; }]>,
    InterfaceMethod<
        [{Whether every device can make its part of the result, in any layout,
          from what it has: it costs nothing to make again.}],
        "bool", "isFreeToMake", (ins), "", [{ return false; }]>
  ];
  // After the op's own constraints: rules are built from checked attributes.
  let verifyWithRegions = 1;
  let verify = [{ return ::meshloom::dtensor::verifyShardedOp($_op); }];
}

def DTensor_ElementwiseOpInterface : OpInterface<"ElementwiseOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    Each element of the result is a function of the elements at the same place of
    the operands; operands may be scalars where the op says so. A function of
    scalars may be made of such ops, kernels inline them, and StableHLO has them.
  }];
  let methods = [
    StaticInterfaceMethod<
        [{StableHLO's name of it, or CHLO's with `chlo.` in front.}],
        "::llvm::StringRef", "getStableHLOName">,
    StaticInterfaceMethod<
        [{The name of the op of MLIR's math dialect that computes it of scalars;
          empty where other code does.}],
        "::llvm::StringRef", "getMathName", (ins), "", [{ return {}; }]>,
    StaticInterfaceMethod<
        [{The function of one float that the op is, in f64 on the host; null
          where it is none.}],
        "::meshloom::dtensor::HostFunction", "getHostFunction", (ins), "",
        [{ return nullptr; }]>,
    InterfaceMethod<
        [{Simple operations for each element.}],
        "int64_t", "getFlops">,
    InterfaceMethod<
        [{Whether it is one function of one element of each operand. A cast that
          changes the width is not; it becomes other ops.}],
        "bool", "isPerElement", (ins), "", [{ return true; }]>
  ];
}

def DTensor_IndexMapOpInterface : OpInterface<"IndexMapOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    The op only moves elements, dim by dim: each element of the result is one of a
    source's, or the fill. The rule and its windows, how kernels read through the
    op, and its export follow from the map.
  }];
  let methods = [
    InterfaceMethod<
        [{From the result's indices to those of operand `source`.}],
        "::meshloom::dtensor::IndexMap", "getIndexMap",
        (ins "unsigned":$source)>,
    InterfaceMethod<
        [{How many of the operands, the first ones, are sources.}],
        "unsigned", "getNumSources", (ins), "",
        [{ return $_op->getNumOperands(); }]>,
    InterfaceMethod<
        [{A scalar, what the elements are that come from no source; null where it
          is zero or there are none.}],
        "::mlir::Value", "getFill", (ins), "", [{ return {}; }]>
  ];
}

def DTensor_VectorisableOpInterface : OpInterface<"VectorisableOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    The op on values with more dims in front, all of the same extents, is the op
    on each of the values that those count. (Operands that the op takes as scalars
    have none.) The importer makes values of each device along mesh axes so.
  }];
  let methods = [
    StaticInterfaceMethod<
        [{Changes `attributes` to those of the op on values with leading dims of
          `extents`.}],
        "void", "addLeadingDims",
        (ins "::mlir::Builder &":$builder, "::mlir::NamedAttrList &":$attributes,
             "::llvm::ArrayRef<int64_t>":$extents)>
  ];
}

def DTensor_LibraryOpInterface : OpInterface<"LibraryOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    No fused kernel computes the op: it becomes a `spmd.library_call`, whose loops
    and operands follow from the rule.
  }];
  let methods = [
    InterfaceMethod<
        [{The library's function and what it is told.}],
        "::meshloom::dtensor::LibraryCall", "getLibraryCall">,
    InterfaceMethod<
        [{The operand whose memory the function can write result `result` over,
          or -1.}],
        "int", "getOverwritable", (ins "unsigned":$result), "",
        [{ return -1; }]>
  ];
}

#endif // MESHLOOM_DIALECT_DTENSOR_OP_INTERFACES

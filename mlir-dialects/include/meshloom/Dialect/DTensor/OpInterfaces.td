//===- ShardedOpInterface.td - Ops that state how they can be sharded -----===//
//
// One interface, one method: the op's sharding rule. Propagation, relayouts,
// local shapes and pending reductions all follow from it.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_SHARDED_OP_INTERFACE
#define MESHLOOM_DIALECT_DTENSOR_SHARDED_OP_INTERFACE

include "mlir/IR/OpBase.td"

def DTensor_ShardedOpInterface : OpInterface<"ShardedOpInterface"> {
  let cppNamespace = "::meshloom::dtensor";
  let description = [{
    Every op of the dtensor dialect that has tensor results and no variables
    implements it. Where the rule does not
    depend on attributes it is text in the op's declaration, in einsum notation
    (`"... m k, ... k n -> ... m n"`); else C++ builds it.
  }];
  let methods = [
    InterfaceMethod<
        [{The op's rule, its factors' sizes bound to the global shapes of the
          operands and results, with its PartialFlow and reduceKind. The op must
          have passed its own verifier.}],
        "::meshloom::ShardingRule", "getShardingRule">
  ];
  // After the op's own constraints: rules are built from checked attributes.
  let verifyWithRegions = 1;
  let verify = [{ return ::meshloom::dtensor::verifyShardedOp($_op); }];
}

#endif // MESHLOOM_DIALECT_DTENSOR_SHARDED_OP_INTERFACE

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SdyOps.td - Ops of the sdy dialect ---------------------------------===//
//
// Meshes, constraints on values, manual computations, and the collectives that
// Shardy's own partitioner prints.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SDY_OPS
#define MESHLOOM_DIALECT_SDY_OPS

include "meshloom/Dialect/StableHLO/SdyAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

class Sdy_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "Names a mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ShardingConstraintOp : Sdy_Op<"sharding_constraint", [SameOperandsAndResultType]> {
  let summary = "A value whose sharding the user asked for";
  let arguments = (ins StableHLO_Value:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input $sharding attr-dict `:` custom<SameType>(type($input), type($result))
  }];
}

def Sdy_ReshardOp : Sdy_Op<"reshard", [SameOperandsAndResultType]> {
  let summary = "The value in another sharding";
  let arguments = (ins StableHLO_Value:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input $sharding attr-dict `:` custom<SameType>(type($input), type($result))
  }];
}

def Sdy_ReturnOp : Sdy_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<StableHLO_Value>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation", [
    IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "A region on the shards of its operands (JAX's shard_map)";
  let arguments = (ins
    Variadic<StableHLO_Value>:$tensors,
    Sdy_TensorShardingPerValueAttr:$in_shardings,
    Sdy_TensorShardingPerValueAttr:$out_shardings,
    Sdy_ManualAxesAttr:$manual_axes);
  let results = (outs Variadic<StableHLO_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    `(` $tensors `)`
    `in_shardings` `` `=` `` custom<Shardings>($in_shardings)
    `out_shardings` `` `=` `` custom<Shardings>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes
    custom<BodyWithArguments>($body)
    attr-dict `:` functional-type($tensors, results)
  }];
}

def Sdy_NamedComputationOp : Sdy_Op<"named_computation", [
    IsolatedFromAbove, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "A region with a name: a call that was inlined";
  let arguments = (ins
    StrAttr:$name, Variadic<StableHLO_Value>:$operands,
    OptionalAttr<Sdy_TensorShardingPerValueAttr>:$in_shardings,
    OptionalAttr<Sdy_TensorShardingPerValueAttr>:$out_shardings);
  let results = (outs Variadic<StableHLO_Value>);
  let regions = (region SizedRegion<1>:$body);
  let hasRegionVerifier = 1;
  let assemblyFormat = [{
    `<` $name `>` `` `(` $operands `)`
    (`in_shardings` `` `=` `` custom<Shardings>($in_shardings)^)?
    (`out_shardings` `` `=` `` custom<Shardings>($out_shardings)^)?
    custom<BodyWithArguments>($body)
    attr-dict `:` functional-type($operands, results)
  }];
}

def Sdy_ShardingGroupOp : Sdy_Op<"sharding_group"> {
  let summary = "All values of a group have the same sharding";
  let arguments = (ins StableHLO_Value:$input, I64Attr:$group_id);
  let assemblyFormat = [{
    $input `group_id` `` `=` `` $group_id attr-dict `:` type($input)
  }];
}

def Sdy_ConstantOp : Sdy_Op<"constant"> {
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Value:$output);
  let hasVerifier = 1;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_DataFlowEdgeOp : Sdy_Op<"data_flow_edge", [SameOperandsAndResultType]> {
  let summary = "Holds the sharding that several values share";
  let arguments = (ins StableHLO_Value:$input,
                       OptionalAttr<Sdy_TensorShardingAttr>:$sharding);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input (`sharding` `` `=` `` $sharding^)? attr-dict
    `:` custom<SameType>(type($input), type($result))
  }];
}

def Sdy_FuncDataFlowEdgeOp : Sdy_Op<"func_data_flow_edge", [SameOperandsAndResultType]> {
  let arguments = (ins StableHLO_Value:$operand);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $operand attr-dict `:` custom<SameType>(type($operand), type($result))
  }];
}

def Sdy_PropagationBarrierOp : Sdy_Op<"propagation_barrier", [SameOperandsAndResultType]> {
  let summary = "Lets shardings pass one way only";
  let arguments = (ins StableHLO_Value:$input,
                       Sdy_PropagationDirection:$allowed_direction);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` $allowed_direction attr-dict
    `:` custom<SameType>(type($input), type($result))
  }];
}

//===----------------------------------------------------------------------===//
// Collectives: what is moved follows from the shardings
//===----------------------------------------------------------------------===//

class Sdy_CollectiveOp<string mnemonic, Attr moved, string name>
    : Sdy_Op<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con(!dag(ins, [StableHLO_Value, moved], ["tensor", name]),
                       (ins Sdy_TensorShardingAttr:$out_sharding));
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = "$" # name # [{
    $tensor `out_sharding` `` `=` `` $out_sharding attr-dict
    `:` custom<SameType>(type($tensor), type($result))
  }];
}
def Sdy_AllGatherOp : Sdy_CollectiveOp<
    "all_gather", Sdy_ListOfAxisRefListsAttr, "gathering_axes">;
def Sdy_AllSliceOp : Sdy_CollectiveOp<
    "all_slice", Sdy_ListOfAxisRefListsAttr, "slicing_axes">;
def Sdy_AllToAllOp : Sdy_CollectiveOp<
    "all_to_all", Sdy_AllToAllParamListAttr, "params">;
def Sdy_ShardedToUnreducedOp : Sdy_CollectiveOp<
    "sharded_to_unreduced", Sdy_ListOfAxisRefListsAttr, "axes">;
def Sdy_ReplicatedToUnreducedOp : Sdy_CollectiveOp<
    "replicated_to_unreduced", Sdy_AxisRefListAttr, "axes">;

class Sdy_ReducingOp<string mnemonic, Attr axes, string name>
    : Sdy_Op<mnemonic, [SameOperandsAndResultType]> {
  let arguments = !con(
    !dag(ins, [StableHLO_Value, axes], ["tensor", name]),
    (ins DefaultValuedAttr<Sdy_ReductionOp,
                           "::meshloom::sdy::ReductionOp::SUM">:$reduction_op,
         Sdy_TensorShardingAttr:$out_sharding));
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = "($reduction_op^)? $" # name # [{
    $tensor `out_sharding` `` `=` `` $out_sharding attr-dict
    `:` custom<SameType>(type($tensor), type($result))
  }];
}
def Sdy_AllReduceOp : Sdy_ReducingOp<
    "all_reduce", Sdy_AxisRefListAttr, "reduction_axes">;
def Sdy_ReduceScatterOp : Sdy_ReducingOp<
    "reduce_scatter", Sdy_ListOfAxisRefListsAttr, "reduce_scatter_axes">;

def Sdy_CollectivePermuteOp : Sdy_Op<"collective_permute", [SameOperandsAndResultType]> {
  let arguments = (ins StableHLO_Value:$tensor,
                       Sdy_TensorShardingAttr:$out_sharding);
  let results = (outs StableHLO_Value:$result);
  let hasVerifier = 1;
  let assemblyFormat = [{
    $tensor `out_sharding` `` `=` `` $out_sharding attr-dict
    `:` custom<SameType>(type($tensor), type($result))
  }];
}

#endif // MESHLOOM_DIALECT_SDY_OPS

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SdyAttrs.td - Meshes, shardings and rules of Shardy ----------------===//
//
// The attributes that annotate a program. Their text is Shardy's.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SDY_ATTRS
#define MESHLOOM_DIALECT_SDY_ATTRS

include "meshloom/Dialect/StableHLO/StableHLOBase.td"

class Sdy_Attr<string name, string attrMnemonic>
    : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

class Sdy_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::meshloom::sdy";
}

def Sdy_PropagationDirection
    : Sdy_Enum<"PropagationDirection", "Which way shardings may pass", [
    I32EnumAttrCase<"NONE", 0>, I32EnumAttrCase<"FORWARD", 1>,
    I32EnumAttrCase<"BACKWARD", 2>, I32EnumAttrCase<"BOTH", 3>]>;

def Sdy_ReductionOp
    : Sdy_Enum<"ReductionOp", "How partial values are combined", [
    I32EnumAttrCase<"SUM", 0, "sum">, I32EnumAttrCase<"MAX", 1, "max">,
    I32EnumAttrCase<"MIN", 2, "min">]>;

def Sdy_MeshAxisAttr : Sdy_Attr<"MeshAxis", "mesh_axis"> {
  let summary = "An axis of a mesh: `\"x\"=2`";
  let genVerifyDecl = 1;
  let parameters = (ins StringRefParameter<"name">:$name, "int64_t":$size);
}

def Sdy_MeshAttr : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "Named axes over devices";
  let description = [{
    Device ids are in row-major order of the axes and omitted where they count
    up from 0. No axes and one id: that device alone.

    ```mlir
    #sdy.mesh<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
    #sdy.mesh<[], device_ids=[3]>
    ```
  }];
  let genVerifyDecl = 1;
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::MeshAxisAttr">:$axes,
    ArrayRefParameter<"int64_t">:$deviceIds);
}

def Sdy_SubAxisInfoAttr : Sdy_Attr<"SubAxisInfo", "sub_axis_info"> {
  let summary = "A part of an axis";
  let description = [{
    `(m)k` of an axis of n elements: the axis seen as `m x k x n/(mk)`, and of
    that the middle.
  }];
  let parameters = (ins "int64_t":$preSize, "int64_t":$size);
}

def Sdy_AxisRefAttr : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "A mesh axis or a part of one: `\"x\"`, `\"x\":(2)4`";
  let parameters = (ins
    StringRefParameter<"axis">:$name,
    OptionalParameter<"::meshloom::sdy::SubAxisInfoAttr">:$subAxisInfo);
}

def Sdy_DimensionShardingAttr
    : Sdy_Attr<"DimensionSharding", "dimension_sharding"> {
  let summary = "The axes that cut a dim: `{\"x\", \"y\", ?}p1`";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::AxisRefAttr">:$axes,
    "bool":$isClosed,
    OptionalParameter<"std::optional<int64_t>">:$priority);
}

def Sdy_TensorShardingAttr : Sdy_Attr<"TensorSharding", "sharding"> {
  let summary = "How a tensor is cut over a mesh";
  let description = [{
    ```mlir
    #sdy.sharding<@mesh, [{"x", ?}p1, {} ], replicated={"y"}, unreduced={"z":(1)2}>
    #sdy.sharding<@mesh, [{} ], unreduced=max{"x"}>
    #sdy.sharding<mesh<["x"=2]>, [{"x"} ]>
    ```
  }];
  let parameters = (ins
    "::mlir::Attribute":$meshOrRef,
    ArrayRefParameter<"::meshloom::sdy::DimensionShardingAttr">:$dimShardings,
    ArrayRefParameter<"::meshloom::sdy::AxisRefAttr">:$replicatedAxes,
    ArrayRefParameter<"::meshloom::sdy::AxisRefAttr">:$unreducedAxes,
    "::meshloom::sdy::ReductionOp":$reductionOp);
  let extraClassDeclaration = [{
    unsigned getRank() const { return getDimShardings().size(); }
    /// The mesh's name, or empty where the mesh is written out.
    ::llvm::StringRef getMeshName() const;
  }];
}

def Sdy_TensorShardingPerValueAttr
    : Sdy_Attr<"TensorShardingPerValue", "sharding_per_value"> {
  let summary = "A sharding for each operand or result of an op";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::TensorShardingAttr">:$shardings);
}

def Sdy_DimMappingAttr : Sdy_Attr<"DimMapping", "dim_mapping"> {
  let summary = "The factors of a dim, major to minor: `ij`";
  let parameters = (ins ArrayRefParameter<"int64_t">:$factorIndices);
}

def Sdy_TensorMappingAttr : Sdy_Attr<"TensorMapping", "tensor_mapping"> {
  let summary = "The factors of a tensor's dims: `[i, jk]`";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::DimMappingAttr">:$dimMappings);
}

def Sdy_OpShardingRuleAttr : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "How shardings pass through an op";
  let description = [{
    ```mlir
    #sdy.op_sharding_rule<([i, k], [k, j])->([i, j]) {i=8, j=2, k=4} reduction={k}>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$factorSizes,
    ArrayRefParameter<"::meshloom::sdy::TensorMappingAttr">:$operandMappings,
    ArrayRefParameter<"::meshloom::sdy::TensorMappingAttr">:$resultMappings,
    ArrayRefParameter<"int64_t">:$reductionFactors,
    ArrayRefParameter<"int64_t">:$needReplicationFactors,
    ArrayRefParameter<"int64_t">:$permutationFactors,
    ArrayRefParameter<"int64_t">:$blockedPropagationFactors,
    "bool":$isCustomRule);
}

def Sdy_ManualAxesAttr : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "The axes that a manual computation handles itself";
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$value);
}

def Sdy_AxisRefListAttr : Sdy_Attr<"AxisRefList", "axis_ref_list"> {
  let summary = "Some axes: `{\"x\", \"y\":(1)2}`";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::AxisRefAttr">:$value);
}

def Sdy_ListOfAxisRefListsAttr
    : Sdy_Attr<"ListOfAxisRefLists", "list_of_axis_ref_lists"> {
  let summary = "Axes of each dim: `[{\"x\"}, {} ]`";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::AxisRefListAttr">:$value);
}

def Sdy_AllToAllParamAttr : Sdy_Attr<"AllToAllParam", "all_to_all_param"> {
  let summary = "Axes that move from a dim to another: `{\"x\"}: 0->1`";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::AxisRefAttr">:$axes,
    "int64_t":$srcDim, "int64_t":$tgtDim);
}

def Sdy_AllToAllParamListAttr
    : Sdy_Attr<"AllToAllParamList", "all_to_all_param_list"> {
  let summary = "What one all-to-all moves";
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::AllToAllParamAttr">:$value);
}

//===----------------------------------------------------------------------===//
// How Shardy's propagation went, which it writes down where it is asked to
//===----------------------------------------------------------------------===//

def Sdy_EdgeValueRefAttr : Sdy_Attr<"EdgeValueRef", "edge_value_ref"> {
  let summary = "An operand or a result of the op: `operand-0`";
  let parameters = (ins "bool":$isResult, "int64_t":$index);
}

def Sdy_AxisToPropagationDetailsAttr
    : Sdy_Attr<"AxisToPropagationDetails", "axis_to_propagation_details"> {
  let summary = "Where an axis went: `{\"x\" = operand-0 -> [result-0]}`";
  let parameters = (ins
    "::meshloom::sdy::AxisRefAttr":$axis,
    "::meshloom::sdy::EdgeValueRefAttr":$source,
    ArrayRefParameter<"::meshloom::sdy::EdgeValueRefAttr">:$targets);
}

def Sdy_PropagationOneStepAttr
    : Sdy_Attr<"PropagationOneStep", "propagation_one_step"> {
  let summary = "One step of propagation: `{step-3 = [...]}`";
  let parameters = (ins
    "int64_t":$step,
    ArrayRefParameter<"::meshloom::sdy::AxisToPropagationDetailsAttr">:$axes);
}

def Sdy_PropagationEdgesAttr
    : Sdy_Attr<"PropagationEdges", "propagation_edges"> {
  let summary = "Which axes came to an op's values, from where, in which step";
  let description = [{
    ```mlir
    #sdy.propagation_edges<[{step-2 = [{"x" = operand-1 -> [result-0]} ]} ]>
    ```
    They tell how a sharding came to be and ask for nothing, so the import does
    not look at them.
  }];
  let genVerifyDecl = 1;
  let parameters = (ins
    ArrayRefParameter<"::meshloom::sdy::PropagationOneStepAttr">:$steps);
}

#endif // MESHLOOM_DIALECT_SDY_ATTRS

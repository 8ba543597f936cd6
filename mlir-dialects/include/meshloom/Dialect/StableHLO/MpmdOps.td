// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MpmdOps.td - Shardy's programs on several meshes -------------------===//
//
// The mpmd dialect of Shardy as its passes read and print it before they export
// a program: computations with names, and fragments on the meshes of a
// topology. Like sdy it is only read. The import (lib/Import/StableHLO) makes
// the program on global tensors of it that it stands for.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_MPMD_OPS
#define MESHLOOM_DIALECT_MPMD_OPS

include "meshloom/Dialect/StableHLO/SdyAttrs.td"

def Mpmd_Dialect : Dialect {
  let name = "mpmd";
  let cppNamespace = "::meshloom::mpmd";
  let summary = "Shardy: parts of a program on meshes of their own";
  let description = [{
    Notes of Shardy's passes (`#mpmd.meshes_with_origins<"m1">`) are read as text.
  }];
  let dependentDialects = ["::meshloom::sdy::SdyDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser,
                                     ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute,
                        ::mlir::DialectAsmPrinter &printer) const override;
  }];
}

def Mpmd_TopologyAttr : AttrDef<Mpmd_Dialect, "Topology"> {
  let mnemonic = "topology";
  let hasCustomAssemblyFormat = 1;
  let summary = "The meshes that parts of a program run on";
  let description = [{
    ```mlir
    #mpmd.topology<<"m1": <["x"=2]>>, <"m2": <["x"=2]>>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::mlir::StringAttr">:$names,
    ArrayRefParameter<"::meshloom::sdy::MeshAttr">:$meshes);
}

def Mpmd_NoteAttr : AttrDef<Mpmd_Dialect, "Note"> {
  let attrName = "mpmd.note";
  let summary = "A different attribute of the dialect, as text";
  let parameters = (ins StringRefParameter<"text">:$text);
}

def Mpmd_MeshTensorType : TypeDef<Mpmd_Dialect, "MeshTensor"> {
  let mnemonic = "mesh_tensor";
  let summary = "A tensor on one mesh of the topology";
  let description = [{
    ```mlir
    !mpmd.mesh_tensor<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {} ]>>
    ```
  }];
  let hasCustomAssemblyFormat = 1;
  let parameters = (ins
    "::mlir::StringAttr":$mesh,
    "::mlir::RankedTensorType":$tensor,
    OptionalParameter<"::meshloom::sdy::TensorShardingAttr">:$sharding,
    OptionalParameter<"::mlir::StringAttr">:$memoryKind);
}

class Mpmd_Op<string mnemonic, list<Trait> traits = []>
    : Op<Mpmd_Dialect, mnemonic, traits>;

def Mpmd_ReturnOp : Mpmd_Op<"return", [Pure, Terminator]> {
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

class Mpmd_RegionOp<string mnemonic>
    : Mpmd_Op<mnemonic, [SingleBlockImplicitTerminator<"ReturnOp">,
                         IsolatedFromAbove]> {
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
}

def Mpmd_NamedComputationOp : Mpmd_RegionOp<"named_computation"> {
  let summary = "A region with a name";
  let description = [{
    `"f"(1)` is the transposed computation of `"f"`: its backward part.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, StrAttr:$name,
                       I64Attr:$transposes);
  let assemblyFormat = [{
    `<` custom<Origin>($name, $transposes) `>` `` `(` $tensors `)` attr-dict
    custom<BodyWithArguments>($body) `:` functional-type($tensors, $results)
  }];
}

def Mpmd_FragmentOp : Mpmd_RegionOp<"fragment"> {
  let summary = "A region that runs on one mesh of the topology";
  let description = [{
    `names` and `transposes` are those of the named computations that it
    consists of.
  }];
  let arguments = (ins
    Variadic<AnyType>:$tensors, StrAttr:$mesh, StrArrayAttr:$names,
    DenseI64ArrayAttr:$transposes, OptionalAttr<I64Attr>:$stage,
    OptionalAttr<Sdy_TensorShardingPerValueAttr>:$in_shardings,
    OptionalAttr<Sdy_TensorShardingPerValueAttr>:$out_shardings);
  let assemblyFormat = [{
    `<` `mesh` `=` $mesh `,` `origin` `=` custom<Origins>($names, $transposes)
    custom<FragmentOptions>($stage, $in_shardings, $out_shardings) `>`
    `` `(` $tensors `)` attr-dict
    custom<BodyWithArguments>($body) `:` functional-type($tensors, $results)
  }];
}

def Mpmd_ForOp : Mpmd_RegionOp<"for"> {
  let summary = "A loop of a fixed number of turns";
  let description = [{
    The last argument of the body is the index of the turn.
  }];
  let arguments = (ins Variadic<AnyType>:$tensors, UI32Attr:$iterations,
                       OptionalAttr<UI32Attr>:$unroll_factor);
  let assemblyFormat = [{
    `` `(` $tensors `)` attr-dict custom<BodyWithArguments>($body)
    `:` custom<SameTypes>(type($tensors), type($results))
  }];
}

def Mpmd_CallOp : Mpmd_Op<"call"> {
  let summary = "A call of a function of the program";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$tensors);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee `(` $tensors `)` attr-dict `:` functional-type($tensors, $results)
  }];
}

// Ops whose result is the operand, wherever it is.

class Mpmd_MoveOp<string mnemonic> : Mpmd_Op<mnemonic, [Pure]> {
  let arguments = (ins AnyType:$tensor);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    attr-dict $tensor `:` functional-type($tensor, $result)
  }];
}

def Mpmd_TransferOp : Mpmd_MoveOp<"transfer"> {
  let summary = "The tensor on a different mesh, or in a different sharding";
}
def Mpmd_AssignOp : Mpmd_MoveOp<"assign"> {
  let summary = "The tensor on a mesh";
}
def Mpmd_UnassignOp : Mpmd_MoveOp<"unassign"> {
  let summary = "The tensor, wherever it is";
}

def Mpmd_BroadcastOp
    : Mpmd_Op<"broadcast", [Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "The tensor on all meshes where it is used";
  let arguments = (ins AnyType:$tensor);
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict $tensor `:` type($tensor)";
}

def Mpmd_NamedTensorOp
    : Mpmd_Op<"named_tensor", [Pure, AllTypesMatch<["tensor", "result"]>]> {
  let summary = "A tensor with a name";
  let arguments = (ins AnyType:$tensor, StrAttr:$name);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $tensor `name` `=` $name attr-dict `:` type($tensor)
  }];
}

def Mpmd_ReduceOp : Mpmd_Op<"reduce", [Pure]> {
  let summary = "The elements of several tensors, combined one by one";
  let arguments = (ins Variadic<AnyType>:$tensors, StrAttr:$reduction);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `<` custom<Word>($reduction) `>` attr-dict $tensors `:`
    functional-type($tensors, $result)
  }];
}

#endif // MESHLOOM_DIALECT_MPMD_OPS

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SPMDOps.td - The collectives ---------------------------------------===//
//
// Seven ops over mesh axes. Five move data, two combine it; slice is local.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_OPS
#define MESHLOOM_DIALECT_SPMD_OPS

include "meshloom/Dialect/SPMD/SPMDBase.td"

/// Common to all collectives. `kindName` is the Core CollectiveKind; `reduces`
/// tells whether the op has a `kind`.
class SPMD_CollectiveOp<string mnemonic, string kindName, bit reduces, dag args>
    : Op<SPMD_Dialect, mnemonic,
         [Pure, DeclareOpInterfaceMethods<
                    SPMD_CollectiveOpInterface,
                    ["getCollectiveKind", "getReduceKind"]>]> {
  let arguments = !con(args, (ins StrArrayAttr:$axes,
                                  Variadic<SPMD_ShardTensor>:$inputs,
                                  OptionalAttr<StrAttr>:$reason,
                                  OptionalAttr<I64Attr>:$bytes));
  let results = (outs Variadic<SPMD_ShardTensor>:$outputs);
  let assemblyFormat = !if(reduces, "custom<KindKeyword>($kind) ", "") # [{
    `over` custom<Axes>($axes) $inputs attr-dict `:`
    functional-type($inputs, $outputs)
  }];
  let extraClassDefinition = [{
    ::meshloom::CollectiveKind $cppClass::getCollectiveKind() {
      return ::meshloom::CollectiveKind::}] # kindName # [{;
    }
    std::optional<::meshloom::ReduceKind> $cppClass::getReduceKind() {
      return }] # !if(reduces, "getKind()", "std::nullopt") # [{;
    }
    ::llvm::LogicalResult $cppClass::verify() {
      return verifyCollective(getOperation());
    }
    ::llvm::LogicalResult $cppClass::fold(
        FoldAdaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::OpFoldResult> &results) {
      return foldCollective(getOperation(), adaptor.getInputs(), results);
    }
    void $cppClass::getCanonicalizationPatterns(
        ::mlir::RewritePatternSet &patterns, ::mlir::MLIRContext *) {
      addCollectivePatterns(patterns, getOperationName());
    }
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

class SPMD_MoveOp<string mnemonic, string kindName>
    : SPMD_CollectiveOp<mnemonic, kindName, 0, (ins)> {
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs,
                                 "::mlir::ArrayAttr":$axes,
                                 "::mlir::ValueRange":$inputs), [{
    build($_builder, $_state, outputs, axes, inputs, nullptr, nullptr);
  }]>];
}

class SPMD_ReduceOp<string mnemonic, string kindName>
    : SPMD_CollectiveOp<mnemonic, kindName, 1,
                        (ins DTensor_ReduceKindAttr:$kind)> {
  let builders = [OpBuilder<(ins "::mlir::TypeRange":$outputs,
                                 "::meshloom::ReduceKind":$kind,
                                 "::mlir::ArrayAttr":$axes,
                                 "::mlir::ValueRange":$inputs), [{
    build($_builder, $_state, outputs,
          ::meshloom::dtensor::ReduceKindAttr::get($_builder.getContext(), kind),
          axes, inputs, nullptr, nullptr);
  }]>];
}

/// An op's description: what is special to it, then what all have in common.
class SPMD_Text<string details, string example, bit reduces = 0> {
  string text = "\n    " # details # [{

    Constraints:
    * (C1) As many results as operands, at least one.
    * (C2) A result has its operand's global shape and element type.
    * (C3) All layouts are over one mesh, and `axes` are axes of it.
    * (C4) Each operand's layout becomes its result's by this collective over
      exactly `axes`.
    * (C5) `bytes`, where given, is what one device's results take together;
      of a permute, or what one device sends, if that is more (Core's
      `countedBytes`); of a halo_exchange, the most that one device sends or
      receives.
}] # !if(reduces, [{    * (C6) The operands are partial over `axes` by `kind`.
}], "") # [{
    Example:
    ```mlir
    }] # example # [{
    ```
  }];
}

def SPMD_AllReduceOp : SPMD_ReduceOp<"all_reduce", "AllReduce"> {
  let summary = "Combines what the devices along axes hold; all get the result";
  let description = SPMD_Text<
      "A value partial over `axes` is not partial there afterwards.",
      [{%r:2 = spmd.all_reduce sum over [batch] %a, %b {bytes = 48 : i64}
        : (tensor<4xf32, #spmd.shard<[4], #partial>>, tensor<8xf32, #spmd.shard<[8], #partial>>)
        -> (tensor<4xf32, #spmd.shard<[4], #full>>, tensor<8xf32, #spmd.shard<[8], #full>>)}], 1>.text;
}

def SPMD_ReduceScatterOp : SPMD_ReduceOp<"reduce_scatter", "ReduceScatter"> {
  let summary = "Combines what the devices along axes hold; each gets its part";
  let description = SPMD_Text<
      "A value partial over `axes` is sharded over them afterwards, as "
      "the minor axes of dims.",
      [{%r = spmd.reduce_scatter sum over [batch] %a
        : (tensor<16xf32, #spmd.shard<[16], #partial>>)
        -> tensor<2xf32, #spmd.shard<[16], #rows>>}], 1>.text;
}

def SPMD_AllGatherOp : SPMD_MoveOp<"all_gather", "AllGather"> {
  let summary = "Every device gets the shards of all devices along axes";
  let description = SPMD_Text<
      "The minor axes of dims disappear.",
      [{%r = spmd.all_gather over [batch] %a
        : (tensor<2xf32, #spmd.shard<[16], #rows>>)
        -> tensor<16xf32, #spmd.shard<[16], #full>>}]>.text;
}

def SPMD_AllToAllOp : SPMD_MoveOp<"all_to_all", "AllToAll"> {
  let summary = "Axes move from some dims to others";
  let description = SPMD_Text<
      "Minor axes of some dims become minor axes of others, in any order; a "
      "dim only gains or only loses axes.",
      [{%r = spmd.all_to_all over [batch] %a
        : (tensor<2x8xf32, #spmd.shard<[16, 8], #rows>>)
        -> tensor<16x1xf32, #spmd.shard<[16, 8], #columns>>}]>.text;
}

def SPMD_PermuteOp : SPMD_MoveOp<"permute", "Permute"> {
  let summary = "Other shards, on other devices or cut another way";
  let description = SPMD_Text<
      "Every device gives its shard away, whole or in pieces, and gets another "
      "one: the axes of a dim change their order, are exchanged for others, or "
      "axes of different dims change places.",
      [{%r = spmd.permute over [x, y] %a
        : (tensor<2xf32, #spmd.shard<[16], #layout_xy>>)
        -> tensor<2xf32, #spmd.shard<[16], #layout_yx>>}]>.text;
}

def SPMD_SliceOp : SPMD_MoveOp<"slice", "Slice"> {
  let summary = "Every device keeps its part; sends nothing";
  let description = SPMD_Text<
      "Dims gain minor axes.",
      [{%r = spmd.slice over [batch] %a
        : (tensor<16xf32, #spmd.shard<[16], #full>>)
        -> tensor<2xf32, #spmd.shard<[16], #rows>>}]>.text;
}

def SPMD_HaloExchangeOp : SPMD_MoveOp<"halo_exchange", "HaloExchange"> {
  let summary = "Every device gets its windows of dims from its neighbours";
  let description = SPMD_Text<
      "The layout stays; the result's encoding says which window of each dim "
      "each device then holds: however far away, short or empty. `axes` are "
      "those of the dims with windows beyond the devices' own blocks. Operands "
      "have no windows; of the other collectives, only slice can give some.",
      [{%r = spmd.halo_exchange over [x] %a
        : (tensor<5xf32, #spmd.shard<[10], #rows>>)
        -> tensor<6xf32, #spmd.shard<[10], #rows, windows [[0:6, 4:10]]>>}]>.text;
}

include "meshloom/Dialect/SPMD/SPMDKernel.td"
include "meshloom/Dialect/SPMD/SPMDLibrary.td"

#endif // MESHLOOM_DIALECT_SPMD_OPS

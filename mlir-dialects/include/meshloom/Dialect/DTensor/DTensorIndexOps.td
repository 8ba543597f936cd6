// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorIndexOps.td - Ops that index, order or fold along dims ------===//
//
// Gather, scatter and their dynamic_slice forms, sort and top_k, and reductions
// by any scalar function. No fused kernel does these: they run as
// spmd.library_call.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_INDEX_OPS
#define MESHLOOM_DIALECT_DTENSOR_INDEX_OPS

include "meshloom/Dialect/DTensor/DTensorControlOps.td"

/// A list of dims or sizes that is empty where it is not given.
defvar DTensor_OptionalDims = DefaultValuedAttr<DenseI64ArrayAttr, "{}">;

def DTensor_GatherOp : DTensor_Op<"gather", [Pure, DTensor_Vectorisable, DTensor_Library<>]> {
  let dims = ["offset_dims", "collapsed_slice_dims", "start_index_map",
              "index_vector_dim"];
  let batching = ["operand_batching_dims", "start_indices_batching_dims"];
  let ones = ["slice_sizes"];
  let summary = "Slices picked by indices";
  let description = [{
    For every index vector in `start_indices` (along `index_vector_dim`), one
    slice of `slice_sizes` of the operand. `start_index_map` says which operand
    dims the vector's entries belong to. Starts are clamped so that the slice is
    in bounds. `collapsed_slice_dims` and `operand_batching_dims`, whose slices
    have size one, are left out of the result; `offset_dims` are where the other
    slice dims are in the result. Everything else in the result is the batch,
    the dims of `start_indices` but `index_vector_dim`, in order. Along
    `operand_batching_dims` the slice begins at the index of the batch along
    `start_indices_batching_dims`.

    Sharding rule: `v d, b i! -> b d` for an embedding lookup. Operand dims that
    are indexed are reduced: a device gives what lies in its shard, and zero for
    the rest, so sharding one makes the result partial (i1: `or`). Slices that
    are as large as the dim, batching dims and the batch are cut like the result.
    Any pending reduction of the operand passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `slice_sizes` has one entry an operand dim, from 0 to the dim's size,
      and at most 1 where the dim is collapsed or batching.
    * (C3) `collapsed_slice_dims` and `operand_batching_dims` are dims of the
      operand, each at most once.
    * (C4) `index_vector_dim` is a dim of `start_indices`, or its rank: then
      vectors have one entry.
    * (C5) `start_index_map` has one entry for each entry of an index vector;
      they are operand dims, each at most once, and none is batching.
    * (C6) `start_indices_batching_dims` are as many dims of `start_indices` as
      there are operand batching dims, of the same sizes, each at most once, and
      not `index_vector_dim`.
    * (C7) `offset_dims` are dims of the result, in increasing order, one for
      each slice dim that stays.
    * (C8) The result's sizes are those of the batch and of the slices.

    Example:
    ```mlir
    %rows = dtensor.gather %table, %ids {collapsed_slice_dims = array<i64: 0>,
        index_vector_dim = 1 : i64, offset_dims = array<i64: 1>,
        slice_sizes = array<i64: 1, 32>, start_index_map = array<i64: 0>}
        : (tensor<1024x32xf32>, tensor<16x1xi32>) -> tensor<16x32xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DTensor_IntTensor:$start_indices,
    DTensor_OptionalDims:$offset_dims,
    DTensor_OptionalDims:$collapsed_slice_dims,
    DTensor_OptionalDims:$operand_batching_dims,
    DTensor_OptionalDims:$start_indices_batching_dims,
    DTensor_OptionalDims:$start_index_map,
    I64Attr:$index_vector_dim,
    DTensor_OptionalDims:$slice_sizes);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Value":$startIndices,
                                 "::llvm::ArrayRef<int64_t>":$offsetDims,
                                 "::llvm::ArrayRef<int64_t>":$collapsedSliceDims,
                                 "::llvm::ArrayRef<int64_t>":$operandBatchingDims,
                                 "::llvm::ArrayRef<int64_t>":$startIndicesBatchingDims,
                                 "::llvm::ArrayRef<int64_t>":$startIndexMap,
                                 "int64_t":$indexVectorDim,
                                 "::llvm::ArrayRef<int64_t>":$sliceSizes)>];
  let assemblyFormat = [{
    $operand `,` $start_indices attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_ScatterOp
    : DTensor_Op<"scatter",
                 [Pure, DTensor_Vectorisable, SameVariadicOperandSize, IsolatedFromAbove,
                  DTensor_Library<["getOverwritable"]>], ["getTerms"]> {
  let dims = ["update_window_dims", "inserted_window_dims",
              "scatter_dims_to_operand_dims", "index_vector_dim"];
  let batching = ["input_batching_dims", "scatter_indices_batching_dims"];
  let summary = "Updates elements at indices";
  let description = [{
    The inputs, with the elements that index vectors name updated: every vector
    in `scatter_indices` (along `index_vector_dim`) says where a window of the
    updates goes. `scatter_dims_to_operand_dims` says which dims of the inputs
    the vector's entries belong to. A window that is not wholly in bounds is left
    out. `update_window_dims` are the updates' dims within a window; dims of the
    inputs in `inserted_window_dims` and `input_batching_dims` have no place
    there. Other dims of the updates are those of `scatter_indices` but
    `index_vector_dim`, in order.

    `kind` combines what is there with an update; without it the region, a
    function of scalars `(inputs..., updates...) -> inputs...`, does; without
    both, the update replaces it. Where several updates meet, those of earlier
    index vectors (in row-major order) are applied first.

    Sharding rule: `v d, b i!, b d -> v d` for a gradient of an embedding lookup;
    each device applies what lands in its shard. Without `kind`, updates are
    whole along `b`; with it `b` is reduced by `kind` (the device whose part of
    the updates is the first one begins with the input, the others with the
    kind's identity). A pending reduction by `kind` passes where inputs and
    updates carry it; any kind does where the update replaces.

    Constraints:
    * (C1) As many inputs, updates and results, at least one; all inputs have one
      global shape, as have all updates; a result has its input's shape, and an
      input its update's element type.
    * (C2) `update_window_dims` are dims of the updates, in increasing order, one
      for each input dim that is neither inserted nor batching.
    * (C3) `inserted_window_dims` and `input_batching_dims` are dims of the
      inputs, each at most once.
    * (C4) `index_vector_dim` is a dim of `scatter_indices`, or its rank: then
      vectors have one entry.
    * (C5) `scatter_dims_to_operand_dims` has one entry for each entry of an
      index vector; they are dims of the inputs, each at most once, and none is
      batching.
    * (C6) `scatter_indices_batching_dims` are as many dims of `scatter_indices`
      as there are input batching dims, of the same sizes, each at most once, and
      not `index_vector_dim`.
    * (C7) The updates' sizes are those of the indices, and at most the inputs'
      within a window.
    * (C8) Not both `kind` and a region; `and` and `or` take integers or i1.
    * (C9) The region takes and gives scalars of the element types.

    Example:
    ```mlir
    %sums = dtensor.scatter %zeros at %ids with %rows {
        index_vector_dim = 1 : i64, inserted_window_dims = array<i64: 0>,
        kind = #dtensor.kind<sum>,
        scatter_dims_to_operand_dims = array<i64: 0>,
        update_window_dims = array<i64: 1>}
        : (tensor<1024x32xf32>, tensor<16x1xi32>, tensor<16x32xf32>)
        -> tensor<1024x32xf32>
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs,
    DTensor_IntTensor:$scatter_indices, Variadic<DTensor_Tensor>:$updates,
    DTensor_OptionalDims:$update_window_dims,
    DTensor_OptionalDims:$inserted_window_dims,
    DTensor_OptionalDims:$input_batching_dims,
    DTensor_OptionalDims:$scatter_indices_batching_dims,
    DTensor_OptionalDims:$scatter_dims_to_operand_dims,
    I64Attr:$index_vector_dim,
    OptionalAttr<DTensor_ReduceKindAttr>:$kind,
    UnitAttr:$unique_indices);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region MaxSizedRegion<1>:$computation);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs,
                                 "::mlir::Value":$scatterIndices,
                                 "::mlir::ValueRange":$updates,
                                 "::llvm::ArrayRef<int64_t>":$updateWindowDims,
                                 "::llvm::ArrayRef<int64_t>":$insertedWindowDims,
                                 "::llvm::ArrayRef<int64_t>":$inputBatchingDims,
                                 "::llvm::ArrayRef<int64_t>":$scatterIndicesBatchingDims,
                                 "::llvm::ArrayRef<int64_t>":$scatterDimsToOperandDims,
                                 "int64_t":$indexVectorDim,
                                 CArg<"::std::optional<::meshloom::ReduceKind>",
                                      "::std::nullopt">:$kind,
                                 CArg<"bool", "false">:$uniqueIndices)>];
  let assemblyFormat = [{
    $inputs `at` $scatter_indices `with` $updates attr-dict `:`
    functional-type(operands, $results) ($computation^)?
  }];
  let hasVerifier = 1;
}

def DTensor_DynamicSliceOp
    : DTensor_Op<"dynamic_slice", [Pure, DTensor_Library<>]> {
  let summary = "A slice that begins at run-time indices";
  let description = [{
    The `slice_sizes` elements that begin at `start_indices`, one scalar an
    operand dim, each clamped so that the slice is in bounds.

    Sharding rule: `a b, , -> c b` for a slice of whole rows; the operand's `a`
    is reduced: a device gives what lies in its shard, and zero for the rest, so
    sharding `a` makes the result partial (i1: `or`). Any pending reduction of
    the operand passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `start_indices` and `slice_sizes` have one entry an operand dim; start
      indices are scalars of one type.
    * (C3) `slice_sizes` are from 0 to the sizes of the operand, and the sizes of
      the result.

    Example:
    ```mlir
    %r = dtensor.dynamic_slice %x at %i, %zero sizes [9, 6]
        : (tensor<48x6xf32>, tensor<i32>, tensor<i32>) -> tensor<9x6xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand,
                       Variadic<DTensor_IntTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::ValueRange":$startIndices,
                                 "::llvm::ArrayRef<int64_t>":$sliceSizes), [{
    build($_builder, $_state, undecided(operand.getType(), sliceSizes), operand,
          startIndices, sliceSizes);
  }]>];
  let assemblyFormat = [{
    $operand `at` $start_indices `sizes` $slice_sizes attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_DynamicUpdateSliceOp
    : DTensor_Op<"dynamic_update_slice",
                 [Pure, DTensor_Library<["getOverwritable"]>]> {
  let summary = "A tensor with a slice replaced at run-time indices";
  let description = [{
    The operand, with `update` in place of the elements that begin at
    `start_indices`, one scalar an operand dim, each clamped so that the update is
    in bounds.

    Sharding rule: `a b, c! b, , -> a b` for an update of whole rows: each device
    replaces what lies in its shard, and has all of the update. Any pending
    reduction passes where operand and update carry it.

    Constraints:
    * (C1) The operand, the update and the result have the same element type.
    * (C2) `start_indices` has one entry an operand dim, scalars of one type.
    * (C3) The update has the operand's rank, and no dim that is larger.
    * (C4) The result has the operand's global shape.

    Example:
    ```mlir
    %r = dtensor.dynamic_update_slice %x with %u at %i, %zero
        : (tensor<48x6xf32>, tensor<9x6xf32>, tensor<i32>, tensor<i32>) -> tensor<48x6xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DTensor_Tensor:$update,
                       Variadic<DTensor_IntTensor>:$start_indices);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Value":$update,
                                 "::mlir::ValueRange":$startIndices), [{
    build($_builder, $_state, undecided(operand.getType()), operand, update,
          startIndices);
  }]>];
  let assemblyFormat = [{
    $operand `with` $update `at` $start_indices attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_SortOp
    : DTensor_Op<"sort", [Pure, DTensor_Vectorisable, IsolatedFromAbove,
                          DTensor_Library<["getOverwritable"]>]> {
  let dims = ["dimension"];
  let summary = "Puts elements along a dim in order";
  let description = [{
    Permutes the inputs, all in the same way, along `dimension`, so that the
    region, a function of scalars `(a0, b0, a1, b1, ...) -> i1` of two positions
    of all inputs, does not hold for a later and an earlier one. Equal ones keep
    their order, whether `is_stable` or not.

    Sharding rule: `a b! -> a b!` in the example; nothing partial passes.

    Constraints:
    * (C1) As many results as inputs, at least one, of their types; all of one
      global shape.
    * (C2) `dimension` is a dim of the inputs.
    * (C3) The region takes two scalars of each input's element type and gives an
      i1.

    Example:
    ```mlir
    %r = dtensor.sort %x dim 1 : (tensor<8x4xf32>) -> tensor<8x4xf32> {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %less = dtensor.compare LT %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      dtensor.yield %less : tensor<i1>
    }
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs, I64Attr:$dimension,
                       UnitAttr:$is_stable);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs,
                                 "int64_t":$dimension,
                                 CArg<"bool", "true">:$isStable)>];
  let assemblyFormat = [{
    $inputs custom<Dim>($dimension) attr-dict `:`
    functional-type($inputs, $results) $comparator
  }];
  let hasVerifier = 1;
}

def DTensor_TopKOp : DTensor_Op<"top_k", [Pure, DTensor_Vectorisable, DTensor_Library<>]> {
  let summary = "The largest elements of the last dim, and where they are";
  let description = [{
    The `k` largest elements along the last dim in falling order, and their
    indices. Equal ones come in order of index; a nan comes before all numbers
    (StableHLO's total order: of nans, that without sign).

    Sharding rule: `a b! -> a c!, a c!` in the example; nothing partial passes.

    Constraints:
    * (C1) The operand has a last dim of at least `k` elements.
    * (C2) Both results have the operand's global shape with `k` as last dim; the
      first one has its element type.

    Example:
    ```mlir
    %values, %indices = dtensor.top_k %x k 2 : tensor<8x4xf32> -> tensor<8x2xf32>, tensor<8x2xi32>
    ```
  }];
  let arguments = (ins DTensor_RealTensor:$operand, I64Attr:$k);
  let results = (outs DTensor_RealTensor:$values, DTensor_IndexTensor:$indices);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$k)>];
  let assemblyFormat = [{
    $operand custom<Count>($k) attr-dict `:` type($operand) `->`
    type($values) `,` type($indices)
  }];
  let hasVerifier = 1;
}

def DTensor_GenericReduceOp
    : DTensor_Op<"generic_reduce",
                 [Pure, DTensor_Vectorisable, SameVariadicOperandSize, IsolatedFromAbove,
                  DTensor_Library<>], ["getTerms"]> {
  let dims = ["dimensions"];
  let flops = 10;
  let summary = "Combines elements along dims by any function";
  let description = [{
    Combines the elements along `dimensions` with the region, a function of
    scalars `(accumulators..., elements...) -> accumulators...`, from
    `init_values` on, in row-major order. Reductions of the usual kinds are
    `dtensor.reduce`. With the attribute `dtensor.associative` neighbours may be
    combined in any grouping, which lets devices reduce their blocks of a dim.

    Sharding rule: `a b!, [] -> a` in the example; nothing partial passes.

    Constraints:
    * (C1) As many inputs, init values and results, at least one.
    * (C2) `dimensions` are dims of the inputs, each at most once.
    * (C3) All inputs have the same global shape; init values are scalars of
      their input's element type.
    * (C4) A result has its input's element type and its global shape without
      `dimensions`.
    * (C5) The region takes and gives scalars of the element types.

    Example:
    ```mlir
    %r = dtensor.generic_reduce %x from %zero dims [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32> {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %half = dtensor.multiply %a, %b : tensor<f32>
      %sum = dtensor.add %a, %half : tensor<f32>
      dtensor.yield %sum : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs,
                       Variadic<DTensor_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region SizedRegion<1>:$computation);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs,
                                 "::mlir::ValueRange":$initValues,
                                 "::llvm::ArrayRef<int64_t>":$dimensions)>];
  let assemblyFormat = [{
    $inputs `from` $init_values `dims` $dimensions attr-dict `:`
    functional-type(operands, $results) $computation
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_INDEX_OPS

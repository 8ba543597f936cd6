// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorShapeOps.td - Ops that make, move or pick elements ---------===//
//
// Constants and numbers made from indices, and ops that only move elements:
// pending reductions of any kind pass through those.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_SHAPE_OPS
#define MESHLOOM_DIALECT_DTENSOR_SHAPE_OPS

include "meshloom/Dialect/DTensor/DTensorAttrs.td"

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

def DTensor_ConstantOp
    : DTensor_Op<"constant", [Pure, ConstantLike], ["isFreeToMake"]> {
  let flops = 0;
  let summary = "A tensor known at compile time";
  let description = [{
    The attribute is the global value and carries no encoding. A splat can have
    any layout; other values are whole on every device.

    Sharding rule: `-> a b`, or `-> a! b!` where it is no splat.

    Constraints:
    * (C1) The value has the result's global shape and element type.
    * (C2) The result is not partial, but zeros may be over sums.
    * (C3) The result of a value that is no splat is not sharded.

    Example:
    ```mlir
    %zero = dtensor.constant dense<0.0> : tensor<8x4xf32>
    %rows = dtensor.constant dense<0.0> : tensor<8x4xf32> -> tensor<8x4xf32, #rows>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getType(), value);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_IotaOp : DTensor_Op<"iota", [Pure, DTensor_Vectorisable], ["isFreeToMake"]> {
  let dims = ["iota_dimension"];
  let flops = 0;
  let summary = "The index along one dim";
  let description = [{
    Every element is its own global index along `iota_dimension`.

    Sharding rule: `-> a b`.

    Constraints:
    * (C1) `iota_dimension` is a dim of the result.

    Example:
    ```mlir
    %r = dtensor.iota dim 1 : tensor<8x4xi32>   // rows of 0 1 2 3
    ```
  }];
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs DTensor_NumberTensor:$result);
  let assemblyFormat = [{
    custom<Dim>($iota_dimension) attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_RngOp : DTensor_Op<"rng", [Pure]> {
  let flops = 32;
  let summary = "Random bits by global index";
  let description = [{
    Element `i` (row-major index in the *global* tensor) is word `i % 4` of
    Philox4x32-10 with counter `i / 4` and the two words of `seed` as key
    (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The
    same seed gives the same numbers under every layout, mesh and device count.
    Other distributions are made from it by elementwise ops.

    Sharding rule: `s! -> a b`.

    Constraints:
    * (C1) `seed` has global shape 2.

    Example:
    ```mlir
    %r = dtensor.rng uniform_bits %seed : (tensor<2xui32>) -> tensor<8x4xui32>
    ```
  }];
  let arguments = (ins DTensor_RngDistributionAttr:$distribution,
                       DTensor_WordTensor:$seed);
  let results = (outs DTensor_WordTensor:$result);
  let builders = [OpBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                 "::mlir::Value":$seed), [{
    build($_builder, $_state,
          ::mlir::RankedTensorType::get(
              shape, $_builder.getIntegerType(32, /*isSigned=*/false)),
          RngDistribution::UniformBits, seed);
  }]>];
  let assemblyFormat = [{
    custom<EnumKeyword>($distribution) $seed attr-dict `:`
    functional-type($seed, $result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

def DTensor_BroadcastInDimOp
    : DTensor_Op<"broadcast_in_dim", [Pure, DTensor_Vectorisable, DTensor_Moves<>], ["isFreeToMake"]> {
  let batching = ["broadcast_dimensions"];
  let flops = 0;
  let summary = "Repeats a tensor along new or size-1 dims";
  let description = [{
    Operand dim `i` becomes result dim `broadcast_dimensions[i]`. Result dims
    that are not named, and named ones whose operand dim has size 1, repeat.

    Sharding rule: `b -> a b`, or `1 -> a` where a dim of size 1 repeats; any
    pending reduction passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `broadcast_dimensions` has one entry an operand dim.
    * (C3) `broadcast_dimensions` are dims of the result, each at most once.
    * (C4) An operand dim has size 1 or the size of its result dim.

    Example:
    ```mlir
    %r = dtensor.broadcast_in_dim %b dims [1] : (tensor<4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand,
                       DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$shape,
                                 "::llvm::ArrayRef<int64_t>":$dimensions), [{
    build($_builder, $_state, undecided(operand.getType(), shape), operand,
          dimensions);
  }]>];
  let assemblyFormat = [{
    $operand `dims` $broadcast_dimensions attr-dict `:`
    functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_ReshapeOp : DTensor_Op<"reshape", [Pure, DTensor_Vectorisable]> {
  let flops = 0;
  let summary = "The same elements, row-major, in another shape";
  let description = [{
    What can be sharded follows from common divisors of the sizes, from the major
    end on. Dims that have none must be whole.

    Sharding rule: `(a b) c -> a b c` in the example; any pending reduction passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) The operand and the result have equally many elements.

    Example:
    ```mlir
    %r = dtensor.reshape %x : (tensor<12x5xf32>) -> tensor<3x4x5xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$shape), [{
    build($_builder, $_state, undecided(operand.getType(), shape), operand);
  }]>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_TransposeOp : DTensor_Op<"transpose", [Pure, DTensor_Vectorisable, DTensor_Moves<>]> {
  let batching = ["permutation"];
  let flops = 0;
  let summary = "Permutes dims";
  let description = [{
    Result dim `i` is operand dim `permutation[i]`.

    Sharding rule: `a b -> b a` in the example; any pending reduction passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `permutation` is a permutation of the operand's dims.
    * (C3) Result dim `i` has the size of operand dim `permutation[i]`.

    Example:
    ```mlir
    %r = dtensor.transpose %x dims [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$permutation)>];
  let assemblyFormat = [{
    $operand `dims` $permutation attr-dict `:`
    functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_SliceOp : DTensor_Op<"slice", [Pure, DTensor_Vectorisable, DTensor_Moves<>]> {
  let zeros = ["start_indices"];
  let extents = ["limit_indices"];
  let ones = ["strides"];
  let flops = 0;
  let summary = "Every stride-th element of a box";
  let description = [{
    Elements `start_indices[d]`, `start_indices[d] + strides[d]`, ... below
    `limit_indices[d]` of each dim, written `start:limit:stride`. Dims that are
    not kept whole are windowed: a device makes its block of the result from
    what the operand's devices hold of it.

    Sharding rule: `a b{2:1:1} -> a b` in the example; any pending reduction
    passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `start_indices`, `limit_indices` and `strides` have one entry a dim.
    * (C3) 0 <= start <= limit <= size of the dim, and the stride is at least 1.
    * (C4) The result's sizes are ceil((limit - start) / stride).

    Example:
    ```mlir
    %r = dtensor.slice %x [0:8, 1:4:2] : (tensor<8x4xf32>) -> tensor<8x2xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$start,
                                 "::llvm::ArrayRef<int64_t>":$limit,
                                 "::llvm::ArrayRef<int64_t>":$strides)>];
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
    attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_ConcatenateOp
    : DTensor_Op<"concatenate", [Pure, DTensor_Vectorisable, DTensor_Moves<>]> {
  let dims = ["dimension"];
  let flops = 0;
  let summary = "Joins tensors along one dim";
  let description = [{
    The joined dim is windowed in every operand: a device needs what falls into
    its block of the result.

    Sharding rule: `a b{1:0:0}, a b{1:-4:-4} -> a b` in the example; any pending
    reduction passes where all operands carry it.

    Constraints:
    * (C1) At least one operand.
    * (C2) The operands and the result have the same element type.
    * (C3) `dimension` is a dim of the operands and the result.
    * (C4) All other dims of the operands and the result have the same sizes.
    * (C5) The result's size along `dimension` is the sum of the operands'.

    Example:
    ```mlir
    %r = dtensor.concatenate %a, %b dim 1 : (tensor<8x4xf32>, tensor<8x2xf32>) -> tensor<8x6xf32>
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs,
                                 "int64_t":$dimension)>];
  let assemblyFormat = [{
    $inputs custom<Dim>($dimension) attr-dict `:`
    functional-type($inputs, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_ReverseOp : DTensor_Op<"reverse", [Pure, DTensor_Vectorisable, DTensor_Moves<>]> {
  let dims = ["dimensions"];
  let flops = 0;
  let summary = "Reverses the order of elements along dims";
  let description = [{
    Reversed dims are windowed: the first device needs what the last one has.

    Sharding rule: `a{-1:7:7} b -> a b` in the example; any pending reduction
    passes.

    Constraints:
    * (C1) The operand and the result have the same global shape.
    * (C2) The operand and the result have the same element type.
    * (C3) `dimensions` are dims of the operand, each at most once.

    Example:
    ```mlir
    %r = dtensor.reverse %x dims [0] : (tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$dimensions), [{
    build($_builder, $_state, undecided(operand.getType()), operand,
          dimensions);
  }]>];
  let assemblyFormat = [{
    $operand `dims` $dimensions attr-dict `:`
    functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def DTensor_PadOp
    : DTensor_Op<"pad", [Pure, DTensor_Vectorisable, DTensor_Moves<["getNumSources", "getFill"]>]> {
  let zeros = ["edge_padding_low", "edge_padding_high",
               "interior_padding"];
  let flops = 1;
  let summary = "Puts a value around and between elements";
  let description = [{
    Element `i` of a dim goes to `edge_padding_low + i * (interior_padding + 1)`;
    all other elements of the result are `padding_value`. Negative edge padding
    takes elements away.

    Sharding rule: `a{1:-1:-1} b, [] -> a b` in the example, padded dims
    windowed; any pending reduction passes where both operands carry it, or from
    the first where zeros are added.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) `padding_value` is a scalar.
    * (C3) `edge_padding_low`, `edge_padding_high` and `interior_padding` have one
      entry a dim; interior padding is not negative.
    * (C4) The result's sizes are low + high + n + max(n - 1, 0) * interior, and
      not negative.

    Example:
    ```mlir
    %r = dtensor.pad %x, %zero low [1, 0] high [2, 0] interior [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<11x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DTensor_Tensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::mlir::Value":$paddingValue,
                                 "::llvm::ArrayRef<int64_t>":$low,
                                 "::llvm::ArrayRef<int64_t>":$high,
                                 "::llvm::ArrayRef<int64_t>":$interior)>];
  let assemblyFormat = [{
    $operand `,` $padding_value `low` $edge_padding_low
    `high` $edge_padding_high `interior` $interior_padding attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def DTensor_TakeOp : DTensor_Op<"take", [Pure, DTensor_Vectorisable, DTensor_Moves<>]> {
  let dims = ["dimension"];
  let flops = 1;
  let summary = "Slices of a dim at places known at compile time";
  let description = [{
    Slice `i` of the result along `dimension` is slice `indices[i]` of the
    operand, or zeros where `indices[i]` is -1.

    Sharding rule: `a{take 1 2 -1} b -> a b` in the example; any pending reduction
    passes.

    Constraints:
    * (C1) The operand and the result have the same element type.
    * (C2) `dimension` is a dim of the operand.
    * (C3) `indices` are -1 or indices of that dim.
    * (C4) The result has the operand's shape, but as many slices along
      `dimension` as there are indices.

    Example:
    ```mlir
    %r = dtensor.take %x dim 0 at [1, 2, -1] : (tensor<8x4xf32>) -> tensor<3x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, I64Attr:$dimension,
                       DenseI64ArrayAttr:$indices);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$dimension,
                                 "::llvm::ArrayRef<int64_t>":$indices)>];
  let assemblyFormat = [{
    $operand custom<Dim>($dimension) `at` $indices attr-dict `:`
    functional-type($operand, $result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_SHAPE_OPS

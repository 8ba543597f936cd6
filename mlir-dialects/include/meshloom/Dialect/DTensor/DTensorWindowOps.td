// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorWindowOps.td - Convolutions, windows, running reductions ----===//
//
// Ops whose result elements combine operand elements inside a window. A dim
// with a true window is *windowed*: devices that share it read some of their
// neighbours' elements (ShardingRule::Window).
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_WINDOW_OPS
#define MESHLOOM_DIALECT_DTENSOR_WINDOW_OPS

include "meshloom/Dialect/DTensor/DTensorAttrs.td"

def DTensor_ConvolutionOp
    : DTensor_Op<"convolution", [Pure, DTensor_Library<>], ["getTerms"]> {
  let flops = 2;
  let summary = "Windowed products of a batch of features with a kernel";
  let description = [{
    `result[b, o, y] = sum over i, k of lhs[b, i, y * stride - low + k * rhs_dilation]
    * rhs[o, i, k]`, with any order of dims. Elements of `lhs` lie
    `lhs_dilation` apart with zeros between; `padding` (low and high of each
    spatial dim, one after the other) adds zeros or, negative, takes away; the
    kernel is read backwards along dims with `window_reversal`. With
    `feature_group_count` groups the features of `lhs` and the output features
    are cut into groups, group with group; with `batch_group_count`, the batch
    of `lhs` and the output features. bf16 and f16 are summed in f32 and rounded
    once.

    Written `dims LHS x RHS -> RESULT`: `b` batch, `f` feature, `i` and `o` input
    and output feature of the kernel, numbers the spatial dims. What is one or
    zero everywhere is left out.

    Sharding rule: `b i y~, i o k! -> b o y` in the example, y~ windowed; where
    windows over the kernel share less than windows over the result do, the
    kernel's spatial dim is reduced, `b i k~, i o k -> b o y!`. Groups are the
    major part of their dims: `b (g i), i (g o) -> b (g o)`. Sharding `i` makes
    the result partial; a pending sum passes from one operand.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) The operands and the result have the same rank, two more than there
      are spatial dims, and the dimension numbers of each are a permutation of
      its dims.
    * (C3) Strides, dilations and reversal have one entry a spatial dim, padding
      two; strides, dilations and group counts are at least 1; one of the group
      counts is 1.
    * (C4) The input features of `lhs` are `feature_group_count` times those of
      the kernel.
    * (C5) The group counts divide the kernel's output features, and
      `batch_group_count` divides the batch.
    * (C6) The result's batch is that of `lhs` divided by `batch_group_count`,
      its features are the kernel's output features, its spatial sizes the number of
      positions of the kernel.

    Example:
    ```mlir
    %y = dtensor.convolution %x, %w dims [b, 0, 1, f] x [0, 1, i, o] -> [b, 0, 1, f]
        strides [2, 2] padding [1, 1, 1, 1]
        : (tensor<8x28x28x3xf32>, tensor<3x3x3x16xf32>) -> tensor<8x14x14x16xf32>
    ```
  }];
  let arguments = (ins DTensor_NumberTensor:$lhs, DTensor_NumberTensor:$rhs,
    DenseI64ArrayAttr:$window_strides, DenseI64ArrayAttr:$padding,
    DenseI64ArrayAttr:$lhs_dilation, DenseI64ArrayAttr:$rhs_dilation,
    DenseBoolArrayAttr:$window_reversal,
    I64Attr:$input_batch_dimension, I64Attr:$input_feature_dimension,
    DenseI64ArrayAttr:$input_spatial_dimensions,
    I64Attr:$kernel_input_feature_dimension,
    I64Attr:$kernel_output_feature_dimension,
    DenseI64ArrayAttr:$kernel_spatial_dimensions,
    I64Attr:$output_batch_dimension, I64Attr:$output_feature_dimension,
    DenseI64ArrayAttr:$output_spatial_dimensions,
    I64Attr:$feature_group_count, I64Attr:$batch_group_count);
  let results = (outs DTensor_NumberTensor:$result);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                   "const ::meshloom::dtensor::ConvolutionSpec &":$spec)>,
    OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$lhs,
                   "::mlir::Value":$rhs,
                   "const ::meshloom::dtensor::ConvolutionSpec &":$spec)>
  ];
  let assemblyFormat = [{
    $lhs `,` $rhs
    custom<ConvolutionDims>($input_batch_dimension, $input_feature_dimension,
      $input_spatial_dimensions, $kernel_input_feature_dimension,
      $kernel_output_feature_dimension, $kernel_spatial_dimensions,
      $output_batch_dimension, $output_feature_dimension,
      $output_spatial_dimensions)
    custom<ConvolutionWindow>(ref($input_spatial_dimensions), $window_strides,
      $padding, $lhs_dilation, $rhs_dilation, $window_reversal,
      $feature_group_count, $batch_group_count)
    attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    ::meshloom::dtensor::ConvolutionSpec getSpec();
    /// Returns whether windows over the kernel share less along spatial dim `i` than
    /// windows over the result do: then that dim of `lhs` is windowed over the
    /// kernel's.
    bool isKernelWindowed(unsigned i);
  }];
  let hasVerifier = 1;
}

class DTensor_WindowOp<string mnemonic, list<Trait> traits = [],
                       list<string> methods = []>
    : DTensor_Op<mnemonic, !listconcat(traits, [Pure, IsolatedFromAbove,
                                                DTensor_Library<>]), methods>;

def DTensor_ReduceWindowOp
    : DTensor_WindowOp<"reduce_window", [SameVariadicOperandSize],
                       ["getTerms"]> {
  let summary = "Combines the elements inside every window";
  let description = [{
    Every result element combines the elements of the operand under the window
    at its place, starting from the init value, by `kind` or by the region: a
    function of as many accumulated values and as many new ones as there are
    operands. Elements of the operands lie `base_dilations` apart, those of the window
    `window_dilations`; `padding` (low and high of each dim, one after the other)
    adds places that hold the init value, or takes elements away. bf16 and f16 sums and
    products are computed in f32 and rounded once.

    Sharding rule: `a y~, -> a y` in the example, y~ windowed. A pending min,
    max, and or or passes where all operands carry it.

    Constraints:
    * (C1) At least one operand, as many results and init values, which are
      scalars.
    * (C2) The lists have one entry a dim of the operands, padding two; window
      sizes, strides and dilations are at least 1.
    * (C3) All operands have the same global shape.
    * (C4) Operand, init value and result have the same element type, and the
      result's sizes are the number of places of the window.
    * (C5) Either a kind or a region with one block, whose arguments are scalars
      of the element types of the results, twice, and which yields one of each;
      a kind takes one operand.
    * (C6) `and` and `or` take integers or i1; sum, prod, min and max take numbers.

    Example:
    ```mlir
    %r = dtensor.reduce_window max %x init %low window [1, 3] strides [1, 2] padding [0, 0, 1, 1]
        : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x5xf32>
    %s = dtensor.reduce_window %x init %low window [1, 3]
        : (tensor<8x9xf32>, tensor<f32>) -> tensor<8x7xf32> {
    ^bb0(%acc: tensor<f32>, %new: tensor<f32>):
      %t = dtensor.maximum %acc, %new : tensor<f32>
      dtensor.yield %t : tensor<f32>
    }
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs,
    Variadic<DTensor_Tensor>:$init_values,
    DenseI64ArrayAttr:$window_dimensions, DenseI64ArrayAttr:$window_strides,
    DenseI64ArrayAttr:$base_dilations, DenseI64ArrayAttr:$window_dilations,
    DenseI64ArrayAttr:$padding, OptionalAttr<DTensor_ReduceKindAttr>:$kind);
  let results = (outs Variadic<DTensor_Tensor>:$outputs);
  let regions = (region AnyRegion:$body);
  let builders = [
    OpBuilder<(ins "::mlir::ValueRange":$inputs, "::mlir::ValueRange":$initValues,
                   "const ::meshloom::dtensor::WindowSpec &":$window)>,
    OpBuilder<(ins "::meshloom::ReduceKind":$kind, "::mlir::Value":$input,
                   "::mlir::Value":$initValue,
                   "const ::meshloom::dtensor::WindowSpec &":$window)>
  ];
  let assemblyFormat = [{
    custom<OptionalKind>($kind) $inputs `init` $init_values
    custom<Window>($window_dimensions, $window_strides, $padding,
                   $base_dilations, $window_dilations)
    attr-dict `:` functional-type(operands, $outputs)
    custom<OptionalBody>($body)
  }];
  let extraClassDeclaration = [{
    ::meshloom::dtensor::WindowSpec getWindow();
    /// The kind, given or read off a region of one plain op.
    std::optional<::meshloom::ReduceKind> getPlainKind();
  }];
  let hasVerifier = 1;
}

def DTensor_SelectAndScatterOp : DTensor_WindowOp<"select_and_scatter"> {
  let summary = "Adds every source element where its window's chosen element is";
  let description = [{
    For every place of the window over `operand`, `select` chooses an element:
    of the chosen one so far and the next (row-major) it keeps the first where
    it gives true. The source element of that place is combined into
    the result there by `scatter`; the result starts as `init_value`. Padding is
    never chosen. The gradient of a maximum over windows.

    `select_kind` max stands for "first >= second", min for "first <= second", and
    `scatter_kind` for a plain combination; then the region is empty.

    Sharding rule: `a y~, a y~, -> a y` in the example, y~ windowed.

    Constraints:
    * (C1) The operand and the result have the same shape; operand, source, init
      value and result the same element type; the init value is a scalar.
    * (C2) The lists have one entry a dim of the operand, padding two; window
      sizes and strides are at least 1, padding at least 0.
    * (C3) The source's sizes are the number of places of the window.
    * (C4) Each of select and scatter is either a kind (select: min or max) or a
      region with one block of two scalar arguments; select yields an i1, scatter a
      scalar of the element type.

    Example:
    ```mlir
    %r = dtensor.select_and_scatter %x, %dy init %zero select max scatter sum
        window [1, 3] strides [1, 2] padding [0, 0, 1, 1]
        : (tensor<8x9xf32>, tensor<8x5xf32>, tensor<f32>) -> tensor<8x9xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, DTensor_Tensor:$source,
    DTensor_Tensor:$init_value,
    DenseI64ArrayAttr:$window_dimensions, DenseI64ArrayAttr:$window_strides,
    DenseI64ArrayAttr:$padding,
    OptionalAttr<DTensor_ReduceKindAttr>:$select_kind,
    OptionalAttr<DTensor_ReduceKindAttr>:$scatter_kind);
  let results = (outs DTensor_Tensor:$result);
  let regions = (region AnyRegion:$select, AnyRegion:$scatter);
  let builders = [
    OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$source,
                   "::mlir::Value":$initValue,
                   "const ::meshloom::dtensor::WindowSpec &":$window)>,
    OpBuilder<(ins "::meshloom::ReduceKind":$select,
                   "::meshloom::ReduceKind":$scatter,
                   "::mlir::Value":$operand, "::mlir::Value":$source,
                   "::mlir::Value":$initValue,
                   "const ::meshloom::dtensor::WindowSpec &":$window)>
  ];
  let assemblyFormat = [{
    $operand `,` $source `init` $init_value
    custom<SelectAndScatterKinds>($select_kind, $scatter_kind)
    custom<PlainWindow>($window_dimensions, $window_strides, $padding)
    attr-dict `:` functional-type(operands, $result)
    custom<OptionalBodies>($select, $scatter)
  }];
  let extraClassDeclaration = [{
    ::meshloom::dtensor::WindowSpec getWindow();
    /// max where select is "first >= second", min where it is "first <=
    /// second", given as a kind or by the region.
    std::optional<::meshloom::ReduceKind> getPlainSelect();
    /// The scatter kind, given or read off a region of one plain op.
    std::optional<::meshloom::ReduceKind> getPlainScatter();
  }];
  let hasVerifier = 1;
}

def DTensor_CumulativeOp
    : DTensor_Op<"cumulative", [Pure, DTensor_Vectorisable, DTensor_Library<>], ["getTerms"]> {
  let dims = ["dimension"];
  let flops = 1;
  let summary = "Running sums, products, minima or maxima";
  let description = [{
    Element `i` along `dimension` combines operand elements 0 to `i`, or with
    `reverse` `i` to the last one. min and max are nan from a nan on. bf16 and f16 are
    accumulated in f32.

    Sharding rule: `a b! -> a b!` in the example; a pending reduction by `kind`
    passes.

    Constraints:
    * (C1) The operand and the result have the same element type and shape.
    * (C2) `dimension` is a dim of the operand.
    * (C3) `and` and `or` take integers or i1; sum, prod, min and max take numbers.

    Example:
    ```mlir
    %r = dtensor.cumulative sum %x dim 1 : tensor<8x4xf32>
    %s = dtensor.cumulative max %x dim 1 reverse : tensor<8x4xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, I64Attr:$dimension,
    DTensor_ReduceKindAttr:$kind, UnitAttr:$reverse);
  let results = (outs DTensor_Tensor:$result);
  let builders = [OpBuilder<(ins "::meshloom::ReduceKind":$kind,
                                 "::mlir::Value":$operand,
                                 "int64_t":$dimension, "bool":$reverse)>];
  let assemblyFormat = [{
    custom<KindKeyword>($kind) $operand custom<Dim>($dimension)
    (`reverse` $reverse^)? attr-dict `:`
    custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_WINDOW_OPS

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorContractionOps.td - Products and reductions ----------------===//
//
// Ops whose result sums (or otherwise combines) over dims of the operands.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_CONTRACTION_OPS
#define MESHLOOM_DIALECT_DTENSOR_CONTRACTION_OPS

include "meshloom/Dialect/DTensor/DTensorAttrs.td"

def DTensor_DotGeneralOp : DTensor_Op<"dot_general", [Pure, DTensor_Vectorisable], ["getTerms"]> {
  let batching = ["lhs_batching_dimensions", "rhs_batching_dimensions"];
  let dims = ["lhs_contracting_dimensions", "rhs_contracting_dimensions"];
  let flops = 2;
  let summary = "Product summed over contracted dims";
  let description = [{
    Result dims are the batching dims, then the other dims of `lhs`, then those
    of `rhs`: `result[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]`.
    f16 and bf16 are summed in f32 and rounded once, or not at all where the
    result is f32.

    Sharding rule: `b m k, b k n -> b m n` in the example; a pending sum passes
    from one operand, and sharding `k` makes the result partial.

    Constraints:
    * (C1) The operands have the same element type, which the result has, too, or
      it is f32 where they are f16 or bf16. Integers of 8 bits, each operand of
      any sign, have results of 32 bits as well.
    * (C2) `lhs_batching_dimensions` and `rhs_batching_dimensions`, and the two
      lists of contracting dims, are equally long.
    * (C3) The listed dims are dims of their operand, each at most once.
    * (C4) Batching and contracting dims have the same sizes in both operands.
    * (C5) The result's shape is that of the batching dims, the other dims of
      `lhs`, the other dims of `rhs`.

    Example:
    ```mlir
    %r = dtensor.dot_general %a, %b batching [0] x [0] contracting [2] x [1]
        : (tensor<3x8x4xf32>, tensor<3x4x5xf32>) -> tensor<3x8x5xf32>
    ```
  }];
  let arguments = (ins DTensor_NumberTensor:$lhs, DTensor_NumberTensor:$rhs,
    DenseI64ArrayAttr:$lhs_batching_dimensions,
    DenseI64ArrayAttr:$rhs_batching_dimensions,
    DenseI64ArrayAttr:$lhs_contracting_dimensions,
    DenseI64ArrayAttr:$rhs_contracting_dimensions);
  let results = (outs DTensor_NumberTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "::llvm::ArrayRef<int64_t>":$lhsBatching,
                                 "::llvm::ArrayRef<int64_t>":$rhsBatching,
                                 "::llvm::ArrayRef<int64_t>":$lhsContracting,
                                 "::llvm::ArrayRef<int64_t>":$rhsContracting,
                                 CArg<"::mlir::Type", "{}">:$resultElement)>];
  let assemblyFormat = [{
    $lhs `,` $rhs ``
    custom<DotDims>($lhs_batching_dimensions, $rhs_batching_dimensions,
                    $lhs_contracting_dimensions, $rhs_contracting_dimensions)
    attr-dict `:` functional-type(operands, $result)
  }];
  let extraClassDeclaration = [{
    /// Dims of an operand that are neither batching nor contracting, in order.
    ::llvm::SmallVector<int64_t> getLhsFreeDimensions();
    ::llvm::SmallVector<int64_t> getRhsFreeDimensions();
    /// Returns whether the result has a wider type than the operands.
    bool isWidening();
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def DTensor_MatMulOp
    : DTensor_RuleOp<"matmul", "... m k, ... k n -> ... m n", [Pure, DTensor_Vectorisable],
                     "LinearEach", ["getTerms"]> {
  let flops = 2;
  let summary = "Matrix product";
  let description = [{
    `[..., m, k] x [..., k, n] -> [..., m, n]`. Sugar for `dot_general`, which it
    canonicalizes to.

    Sharding rule: `... m k, ... k n -> ... m n`; a pending sum passes from one
    operand, and sharding `k` makes the result partial.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) The operands and the result have the same rank, at least 2.
    * (C3) The leading dims of the operands and the result have the same sizes.
    * (C4) The last dim of `lhs` and the last but one of `rhs` have the same
      size.
    * (C5) The result's last dims are `m`, of `lhs`, and `n`, of `rhs`.

    Example:
    ```mlir
    %y = dtensor.matmul %x, %w : (tensor<128x784xf32>, tensor<784x700xf32>) -> tensor<128x700xf32>
    ```
  }];
  let arguments = (ins DTensor_NumberTensor:$lhs, DTensor_NumberTensor:$rhs);
  let results = (outs DTensor_NumberTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
  let assemblyFormat = [{
    $lhs `,` $rhs attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def DTensor_ReduceOp : DTensor_Op<"reduce", [Pure, DTensor_Vectorisable], ["getTerms"]> {
  let dims = ["dimensions"];
  let flops = 1;
  let summary = "Combines elements along dims";
  let description = [{
    Combines all elements along `dimensions` by `kind`, starting from the kind's
    identity; the dims disappear. Several operands of one shape are reduced
    independently of each other. min and max are nan where an element is. Sums
    and products of f16 and bf16 are computed in f32 and rounded once.

    Sharding rule: `a b -> a` in the example; sharding `b` makes the result
    partial by `kind`. A pending reduction by `kind` passes where all operands
    carry it.

    Constraints:
    * (C1) As many results as operands, at least one.
    * (C2) `dimensions` are dims of the operands, each at most once.
    * (C3) All operands have the same global shape.
    * (C4) A result has its operand's element type and its global shape without
      `dimensions`.
    * (C5) `and` and `or` take integers or i1; sum and prod take numbers, min and
      max numbers that are not complex.

    Example:
    ```mlir
    %r = dtensor.reduce sum %x dims [1] : (tensor<8x4xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins DTensor_ReduceKindAttr:$kind,
                       Variadic<DTensor_Tensor>:$inputs,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<DTensor_Tensor>:$outputs);
  let builders = [OpBuilder<(ins "::meshloom::ReduceKind":$kind,
                                 "::mlir::ValueRange":$inputs,
                                 "::llvm::ArrayRef<int64_t>":$dimensions)>];
  let assemblyFormat = [{
    custom<KindKeyword>($kind) $inputs `dims` $dimensions attr-dict `:`
    functional-type($inputs, $outputs)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

class DTensor_ArgOp<string mnemonic, string summaryText, string details>
    : DTensor_Op<mnemonic, [Pure, DTensor_Vectorisable]> {
  let dims = ["dimension"];
  let flops = 1;
  let summary = summaryText;
  let description = "\n    " # details # [{ The first one wins
    where several are equal; a nan wins over numbers. The dim must be whole on
    every device.

    Sharding rule: `a b! -> a` in the example; operands are never partial.

    Constraints:
    * (C1) `dimension` is a dim of the operand and not empty.
    * (C2) The result's global shape is the operand's without `dimension`.

    Example:
    ```mlir
    %r = dtensor.}] # mnemonic # [{ %x dim 1 : (tensor<8x4xf32>) -> tensor<8xi64>
    ```
  }];
  let arguments = (ins DTensor_RealTensor:$operand, I64Attr:$dimension);
  let results = (outs DTensor_IndexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "int64_t":$dimension,
                                 "::mlir::Type":$elementType)>];
  let assemblyFormat = [{
    $operand custom<Dim>($dimension) attr-dict `:`
    functional-type($operand, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_ArgMaxOp : DTensor_ArgOp<"argmax", "Where the largest element is",
    "The index along `dimension` of the largest element.">;

def DTensor_ArgMinOp : DTensor_ArgOp<"argmin", "Where the smallest element is",
    "The index along `dimension` of the smallest element.">;

#endif // MESHLOOM_DIALECT_DTENSOR_CONTRACTION_OPS

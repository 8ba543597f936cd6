// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorLinalgOps.td - Matrix factorizations, FFT, users' functions -===//
//
// Ops on whole matrices or rows, with batch dims in front, and calls of
// functions that the user supplies.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_LINALG_OPS
#define MESHLOOM_DIALECT_DTENSOR_LINALG_OPS

include "meshloom/Dialect/DTensor/DTensorIndexOps.td"

def DTensor_PartOrComplexTensor
    : DTensor_TensorOf<!listconcat([F32, F64], DTensor_Complexes),
                       "f32, f64 or complex">;
def DTensor_OrdinalTensor : DTensor_TensorOf<[I32], "i32">;

def DTensor_CholeskyOp
    : DTensor_RuleOp<"cholesky", "... m! n! -> ... m! n!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let summary = "Factor of a positive definite matrix";
  let description = [{
    `lower`: the lower triangular `L` with `a = L L^H`; else the upper triangular
    `U` with `a = U^H U`. Only that triangle of `a` is read; the other one of the
    result is zero. A matrix that is not positive definite, or not finite,
    gives nan in the triangle.

    Sharding rule: `... m! n! -> ... m! n!`; nothing partial passes.

    Constraints:
    * (C1) The operand and the result have the same global shape and element type.
    * (C2) The last two dims have the same size.

    Example:
    ```mlir
    %l = dtensor.cholesky %a {lower} : tensor<3x4x4xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a, UnitAttr:$lower);
  let results = (outs DTensor_FloatOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "bool":$lower), [{
    build($_builder, $_state, undecided(a.getType()), a, lower);
  }]>];
  let assemblyFormat = [{
    $a attr-dict `:` custom<SameTypes>(type($a), type($result))
  }];
  let hasVerifier = 1;
}

def DTensor_TriangularSolveOp
    : DTensor_Op<"triangular_solve",
                 [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], ["getTerms"]> {
  let summary = "Solves equations with a triangular matrix";
  let description = [{
    `left_side`: the `x` of `op(a) x = b`; else that of `x op(a) = b`. `op` is
    `transpose_a`: `NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`. Only the `lower`
    (else the upper) triangle of `a` is read, and not its diagonal, which is taken
    as ones, where `unit_diagonal`.

    Sharding rule: `... m! n!, ... k! c -> ... k! c`, and
    `... m! n!, ... r k! -> ... r k!` on the right side. A pending sum of `b`
    passes.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) The operands have the same rank, at least 2, and the same sizes but for
      the last two dims.
    * (C3) The last two dims of `a` have the same size, which is that of `b`'s
      rows on the left side, of its columns on the right side.
    * (C4) The result has the global shape of `b`.
    * (C5) `transpose_a` is one of the three.

    Example:
    ```mlir
    %x = dtensor.triangular_solve %a, %b {left_side, lower, transpose_a = "NO_TRANSPOSE"}
        : (tensor<4x4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a,
                       DTensor_FloatOrComplexTensor:$b, UnitAttr:$left_side,
                       UnitAttr:$lower, UnitAttr:$unit_diagonal,
                       DefaultValuedStrAttr<StrAttr, "NO_TRANSPOSE">:$transpose_a);
  let results = (outs DTensor_FloatOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b,
                                 "bool":$leftSide, "bool":$lower,
                                 "bool":$unitDiagonal,
                                 CArg<"::llvm::StringRef",
                                      "\"NO_TRANSPOSE\"">:$transposeA), [{
    build($_builder, $_state, undecided(b.getType()), a, b, leftSide, lower,
          unitDiagonal, transposeA);
  }]>];
  let assemblyFormat = [{
    $a `,` $b attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_FftOp
    : DTensor_Op<"fft", [Pure, DTensor_Vectorisable, DTensor_Library<>], ["getTerms"]> {
  let summary = "Discrete Fourier transform of the last dims";
  let description = [{
    `FFT` and, scaled by one over the count of elements, `IFFT` of complex
    numbers; `RFFT` of real ones, of which it gives the first `n / 2 + 1` along
    the last dim; `IRFFT`, its inverse. `fft_length` has the sizes of the real (or
    complex) side's last dims, any of them.

    Sharding rule: `a b! -> a c!` in the example; a pending sum passes.

    Constraints:
    * (C1) `fft_type` is one of the four; `fft_length` has 1 to 3 entries and at
      most as many as there are dims.
    * (C2) FFT, IFFT and IRFFT take complex<f32> or complex<f64>, RFFT f32 or f64;
      the result is of the same precision.
    * (C3) The last dims of the operand have the sizes `fft_length`, but the last
      one of IRFFT's has `n / 2 + 1`.
    * (C4) The result has the operand's sizes, with the last ones those of
      `fft_length`, but the last one of RFFT's `n / 2 + 1`.

    Example:
    ```mlir
    %r = dtensor.fft %x {fft_length = array<i64: 12>, fft_type = "RFFT"}
        : (tensor<8x12xf32>) -> tensor<8x7xcomplex<f32>>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$operand, StrAttr:$fft_type,
                       DenseI64ArrayAttr:$fft_length);
  let results = (outs DTensor_FloatOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::StringRef":$fftType,
                                 "::llvm::ArrayRef<int64_t>":$fftLength)>];
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_GeqrfOp
    : DTensor_RuleOp<"geqrf", "... m! n! -> ... m! n!, ... k!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 2;
  let summary = "QR factorization, as LAPACK's geqrf stores it";
  let description = [{
    `R` in the upper triangle of the first result; below the diagonal of column
    `i` the Householder vector `v_i` (its first element, at the diagonal, is 1 and
    not stored), and `taus[i]` in the second: `Q = H_0 H_1 ...` with
    `H_i = 1 - taus[i] v_i v_i^H`. A matrix that is not finite gives nans.

    Sharding rule: `... m! n! -> ... m! n!, ... k!`; nothing partial passes.

    Constraints:
    * (C1) The operand and the results have the same element type.
    * (C2) The operand has at least rank 2, and the first result its global shape.
    * (C3) The second result has the operand's leading dims, and the smaller one
      of the last two.

    Example:
    ```mlir
    %qr, %taus = dtensor.geqrf %a : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a);
  let results = (outs DTensor_FloatOrComplexTensor:$result,
                      DTensor_FloatOrComplexTensor:$taus);
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_HouseholderProductOp
    : DTensor_RuleOp<"householder_product", "... m! n!, ... k! -> ... m! n!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 2;
  let summary = "The first columns of a product of Householder reflections";
  let description = [{
    The first `n` columns of `H_0 H_1 ...` with the vectors that are stored in `a`
    as `geqrf` stores them: `Q` of a QR factorization. Vectors or taus that are not
    finite give nans.

    Sharding rule: `... m! n!, ... k! -> ... m! n!`; nothing partial passes.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) `a` has at least rank 2 and no more columns than rows; the result has
      its global shape.
    * (C3) `taus` has the leading dims of `a`, then at most as many elements as
      `a` has columns.

    Example:
    ```mlir
    %q = dtensor.householder_product %qr, %taus : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a,
                       DTensor_FloatOrComplexTensor:$taus);
  let results = (outs DTensor_FloatOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$taus), [{
    build($_builder, $_state, undecided(a.getType()), a, taus);
  }]>];
  let assemblyFormat = [{
    $a `,` $taus attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

def DTensor_LuOp
    : DTensor_RuleOp<"lu", "... m! n! -> ... m! n!, ... k!, ... m!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 1;
  let summary = "LU factorization with row pivots, as LAPACK's getrf stores it";
  let description = [{
    `a[permutation] = L U`: `L`, whose diagonal of ones is not stored, below the
    diagonal of the first result, `U` on it and above. In step `i` row `i` and row
    `pivots[i]` changed places, which makes `permutation` of 0, 1, ... The pivot is
    the element of greatest `|re| + |im|`, the first one of several. A matrix that
    is singular has a zero on the diagonal of `U`.

    Sharding rule: `... m! n! -> ... m! n!, ... k!, ... m!`; nothing partial
    passes.

    Constraints:
    * (C1) The operand has at least rank 2, and the first result its type.
    * (C2) The pivots have the operand's leading dims, and the smaller one of the
      last two.
    * (C3) The permutation has the operand's dims but for the last one.

    Example:
    ```mlir
    %lu, %pivots, %permutation = dtensor.lu %a
        : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xi32>, tensor<5xi32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a);
  let results = (outs DTensor_FloatOrComplexTensor:$factors,
                      DTensor_OrdinalTensor:$pivots,
                      DTensor_OrdinalTensor:$permutation);
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_EighOp
    : DTensor_RuleOp<"eigh", "... m! n! -> ... m! n!, ... k!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 9;
  let summary = "Eigenvalues and eigenvectors of a Hermitian matrix";
  let description = [{
    `a V = V diag(w)` with the orthonormal eigenvectors as columns of `V`, the
    first result, and the real eigenvalues `w` in rising order. Only the `lower`
    (else the upper) triangle of `a` is read, and no imaginary part of its
    diagonal. Of each vector the element of greatest absolute value is real and
    positive (the first one of those that come within a thousandth of it), which
    makes it unique where its eigenvalue is. A matrix with a nan gives nans.

    Sharding rule: `... m! n! -> ... m! n!, ... k!`; nothing partial passes.

    Constraints:
    * (C1) The operand and the first result have the same global shape and element
      type.
    * (C2) The last two dims have the same size.
    * (C3) The eigenvalues have the operand's dims but for the last one, and its
      real element type.

    Example:
    ```mlir
    %v, %w = dtensor.eigh %a {lower} : (tensor<8x4x4xcomplex<f32>>) -> (tensor<8x4x4xcomplex<f32>>, tensor<8x4xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a, UnitAttr:$lower);
  let results = (outs DTensor_FloatOrComplexTensor:$vectors,
                      DTensor_FloatTensor:$values);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "bool":$lower)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_SvdOp
    : DTensor_RuleOp<"svd", "... m! n! -> ... m! p!, ... k!, ... q! n!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getCost", "getTerms"]> {
  let summary = "Singular values and vectors";
  let description = [{
    `a = U diag(s) V^H`: the results are `U`, whose columns are orthonormal, the
    singular values `s` in falling order, and `V^H`, whose rows are. `U` has `k`
    columns and `V^H` `k` rows, `k` the smaller one of the last two dims; with
    `full_matrices` both are square. Of each of the first `k` columns of `U` the
    element of greatest absolute value is real and positive (the first one of those
    that come within a thousandth of it), which makes the vectors unique where
    their singular value is and is not zero. Those beyond are the last columns of
    `Q` in a QR factorization (as `geqrf` has it) of the first `k`. A matrix with a
    nan gives nans.

    Sharding rule: `... m! n! -> ... m! p!, ... k!, ... q! n!`; nothing partial
    passes.

    Constraints:
    * (C1) The operand has at least rank 2; `U` and `V^H` have its element type,
      and the singular values the real one.
    * (C2) The results have the operand's leading dims, and the sizes above.

    Example:
    ```mlir
    %u, %s, %vh = dtensor.svd %a : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3x3xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a, UnitAttr:$full_matrices);
  let results = (outs DTensor_FloatOrComplexTensor:$u, DTensor_FloatTensor:$s,
                      DTensor_FloatOrComplexTensor:$vh);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "bool":$fullMatrices)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_EigOp
    : DTensor_RuleOp<"eig", "... m! n! -> ... k!, ... m! n!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<>], "None",
                     ["getTerms"]> {
  let flops = 25;
  let summary = "Eigenvalues and eigenvectors of any square matrix";
  let description = [{
    `a V = V diag(w)`: the eigenvalues `w`, then the eigenvectors as columns of
    `V`, of length 1, all complex. The eigenvalues come with rising real part, and
    among those whose real parts are the same but for rounding (the next one is at
    most 1e-5 times the greatest `|w|` away) with falling imaginary part. Of each
    vector the element of greatest absolute value is real and positive (the first
    one of those that come within a thousandth of it). A matrix with a nan gives
    nans.

    With `left`, `V` has the left eigenvectors: `V^H a = diag(w) V^H`. With
    `lapack_order`, the order and the phases are those that LAPACK's geev returns
    for the operand's element type; the reference interpreter sorts all the same.

    Sharding rule: `... m! n! -> ... k!, ... m! n!`; nothing partial passes.

    Constraints:
    * (C1) The last two dims of the operand have the same size.
    * (C2) The results are complex, of the operand's precision; the first has its
      dims but for the last one, the second has its dims.

    Example:
    ```mlir
    %w, %v = dtensor.eig %a : (tensor<4x4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>)
    ```
  }];
  let arguments = (ins DTensor_PartOrComplexTensor:$a, UnitAttr:$left,
                       UnitAttr:$lapack_order);
  let results = (outs DTensor_ComplexTensor:$values, DTensor_ComplexTensor:$vectors);
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_SchurOp
    : DTensor_RuleOp<"schur", "... m! n! -> ... m! n!, ... m! n!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 25;
  let summary = "Schur form of a square matrix";
  let description = [{
    `a = Q T Q^H`: `T`, then the unitary `Q`. `T` of complex matrices is upper
    triangular; that of real ones has blocks of two rows on its diagonal, for pairs
    of complex eigenvalues, with equal elements on the diagonal, of which the one
    to the right is at least as large as the one below. The eigenvalues are in
    `eig`'s order. Of each column of `Q` the element of greatest absolute value is
    real and positive (the first one of those that come within a thousandth of it).
    A matrix with a nan gives nans. With `lapack_order`, `T` and `Q` are those that
    LAPACK's gees returns for the operand's element type; the reference interpreter
    sorts all the same.

    Sharding rule: `... m! n! -> ... m! n!, ... m! n!`; nothing partial passes.

    Constraints:
    * (C1) The operand and the results have the same global shape and element
      type.
    * (C2) The last two dims have the same size.

    Example:
    ```mlir
    %t, %q = dtensor.schur %a : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a, UnitAttr:$lapack_order);
  let results = (outs DTensor_FloatOrComplexTensor:$t, DTensor_FloatOrComplexTensor:$q);
  let builders = [OpBuilder<(ins "::mlir::Value":$a), [{
    build($_builder, $_state, undecided(a.getType()), undecided(a.getType()), a);
  }]>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_PivotedQrOp
    : DTensor_Op<"pivoted_qr",
                 [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>],
                 ["getTerms"]> {
  let flops = 3;
  let summary = "QR factorization with column pivots, as LAPACK's geqp3 stores it";
  let description = [{
    `a[:, permutation] = Q R`: `R` and the Householder vectors as `geqrf` stores
    them in the first result, `permutation` (from 0 on) the second, `taus` the
    third. Of the columns that are left, each step takes the one of greatest norm
    below the rows that are done, the first one of several; so the absolute values
    on the diagonal of `R` fall. A matrix that is not finite gives nans, and the
    permutation 0, 1, ...

    Columns whose element of `leading` is not 0 come first, in their order, and the
    steps choose among the other columns only. As in LAPACK, a leading column
    changes places with the column that stands there.

    Sharding rule: `... m! n! -> ... m! n!, ... n!, ... k!`, and `... n!` for
    `leading`; nothing partial passes.

    Constraints:
    * (C1) The operand has at least rank 2, and the first result its type.
    * (C2) The permutation has the operand's leading dims, and its last one.
    * (C3) The third result has the operand's leading dims and element type, and
      the smaller one of the last two dims.
    * (C4) `leading` has the type of the permutation.

    Example:
    ```mlir
    %qr, %permutation, %taus = dtensor.pivoted_qr %a
        : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<3xi32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a,
                       Optional<DTensor_OrdinalTensor>:$leading);
  let results = (outs DTensor_FloatOrComplexTensor:$result,
                      DTensor_OrdinalTensor:$permutation,
                      DTensor_FloatOrComplexTensor:$taus);
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let assemblyFormat = [{
    $a (`leading` $leading^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def DTensor_HessenbergOp
    : DTensor_RuleOp<"hessenberg", "... m! n! -> ... m! n!, ... k!",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>], "None",
                     ["getTerms"]> {
  let flops = 3;
  let summary = "Hessenberg form of a square matrix, as LAPACK's gehrd stores it";
  let description = [{
    `a = Q H Q^H`: `H`, whose elements below the first diagonal under the main one
    are zero, in the rest of the first result; there, in column `i`, the
    Householder vector `v_i` (its first element, at row `i + 1`, is 1 and not
    stored), and `taus[i]` in the second: `Q = H_0 H_1 ...` with
    `H_i = 1 - taus[i] v_i v_i^H`. Of a Hermitian matrix `H` is tridiagonal.
    A matrix that is not finite gives nans.

    Sharding rule: `... m! n! -> ... m! n!, ... k!`; nothing partial passes.

    Constraints:
    * (C1) The operand and the results have the same element type.
    * (C2) The last two dims have the same size, and the first result is of the
      operand's global shape.
    * (C3) The second result has the operand's leading dims, and one less than the
      last one (of an empty matrix, nothing).

    Example:
    ```mlir
    %h, %taus = dtensor.hessenberg %a : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<3xf32>)
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$a);
  let results = (outs DTensor_FloatOrComplexTensor:$result,
                      DTensor_FloatOrComplexTensor:$taus);
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let assemblyFormat = [{
    $a attr-dict `:` functional-type($a, results)
  }];
  let hasVerifier = 1;
}

def DTensor_TridiagonalSolveOp
    : DTensor_RuleOp<"tridiagonal_solve",
                     "... n!, ... n!, ... n!, ... n! c -> ... n! c",
                     [Pure, DTensor_Vectorisable, DTensor_Library<["getOverwritable"]>],
                     "LinearEach", ["getTerms"]> {
  let carriers = "3";
  let flops = 8;
  let summary = "Solves equations with a tridiagonal matrix";
  let description = [{
    The `x` of `A x = b`, with `A[i, i - 1] = lower[i]`, `A[i, i] = diagonal[i]` and
    `A[i, i + 1] = upper[i]`; `lower[0]` and the last element of `upper` are not
    read. Rows are exchanged as LAPACK's gtsv does.

    Sharding rule: `... n!, ... n!, ... n!, ... n! c -> ... n! c`; a pending sum of
    `b` passes.

    Constraints:
    * (C1) The operands and the result have the same element type.
    * (C2) `b` has at least rank 2, the diagonals its dims but for the last one.
    * (C3) The result has the global shape of `b`.

    Example:
    ```mlir
    %x = dtensor.tridiagonal_solve %dl, %d, %du, %b
        : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    ```
  }];
  let arguments = (ins DTensor_FloatOrComplexTensor:$lower,
                       DTensor_FloatOrComplexTensor:$diagonal,
                       DTensor_FloatOrComplexTensor:$upper,
                       DTensor_FloatOrComplexTensor:$b);
  let results = (outs DTensor_FloatOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lower,
                                 "::mlir::Value":$diagonal,
                                 "::mlir::Value":$upper, "::mlir::Value":$b), [{
    build($_builder, $_state, undecided(b.getType()), lower, diagonal, upper, b);
  }]>];
  let assemblyFormat = [{
    $lower `,` $diagonal `,` $upper `,` $b attr-dict `:`
    functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Users' functions
//===----------------------------------------------------------------------===//

def DTensor_CustomCallOp
    : DTensor_Op<"custom_call", [Pure, DTensor_Library<>]> {
  let flops = 4;
  let summary = "A function that the user supplies";
  let description = [{
    Calls the function that was registered under `call_target_name`
    (meshloom/Core/CustomCall.h) on each device's shards. `rule` is its sharding
    rule; without one, that of the registration; without that either, all dims
    are whole. Letters that are in no result are reduced by `kind`, or that of
    the registration, or summed. `backend_config` is handed to the function.

    The first `batch_dims` dims of all operands and results, which the rule does
    not name, count calls: each is about one index of them, and the function sees
    the other dims.

    Sharding rule: `rule`, after a letter for each of the batch dims; nothing
    partial passes.

    Constraints:
    * (C1) At least one result.
    * (C2) `rule` can be read, and fits the operands and results.
    * (C3) All operands and results have at least `batch_dims` dims, which are the
      same in all of them.
    * (C4) A kind that reduces takes the results' element types.

    Example:
    ```mlir
    %r = dtensor.custom_call "scale_rows"(%x, %s) {rule = "a b, a -> a b"}
        : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs,
                       StrAttr:$call_target_name, OptionalAttr<StrAttr>:$rule,
                       DefaultValuedStrAttr<StrAttr, "">:$backend_config,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims,
                       OptionalAttr<DTensor_ReduceKindAttr>:$kind);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let assemblyFormat = [{
    $call_target_name `(` $inputs `)` attr-dict `:`
    functional-type($inputs, $results)
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_DTENSOR_LINALG_OPS

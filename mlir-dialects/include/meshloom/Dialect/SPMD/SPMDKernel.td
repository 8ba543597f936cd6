// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SPMDKernel.td - The fused kernel op of the spmd dialect ------------===//
//
// spmd.kernel, its terminator and spmd.index: local math after
// --spmd-form-kernels, one op a compiled function. SPMDOps.td includes this
// file after it has defined SPMD_Dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_KERNEL
#define MESHLOOM_DIALECT_SPMD_KERNEL

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def SPMD_KernelOp : Op<SPMD_Dialect, "kernel",
    [Pure, IsolatedFromAbove, SingleBlock]> {
  let summary = "A fused loop nest over local tensors";
  let description = [{
    For every point of the iteration space spanned by `loops`, the body gets one
    element of each input and yields one value for each output. Loops, like all
    indices, are **global**: a device runs the part of each loop that the mesh
    axes after `over` leave it, as if the loop were a tensor dim of that extent.
    An input or output element is found by an affine map from loops to tensor
    indices. A loop with `ranges` (begin and end for each shard along its axes)
    runs these instead of its blocks: together they are all of the loop.

    An input whose body argument is not used is read by `spmd.read` only, where
    its condition holds; its map may lead outside the tensor elsewhere.

    A `held` loop is no iteration: it stands for all of a dim of an input, of
    which `spmd.load` picks the elements whose indices the body computes.

    An output with a reducer (`sum`, `prod`, `min`, `max`, `and`, `or`,
    `argmax`, `argmin`) combines what is yielded along the `reduce` loops,
    starting from the reducer's identity; `argmax` and `argmin` yield the value
    that is compared and store the index of the `reduce` loop. An output without
    one stores what is yielded.

    `in_place [.., j, ..]` says, per output, which input's memory it overwrites
    (-1: none). Elements that the output's map does not reach keep that input's
    values.

    The body holds `arith` and `math` ops on scalars, `spmd.index`, `spmd.read`
    and `spmd.load`. Unsigned
    integers are signless in it. bf16 is widened before and rounded after each
    op; a reduction of bf16 yields and accumulates f32.

    ```mlir
    // Rows of x + bias, and their sums.
    %y, %s = spmd.kernel loops [128 over [batch], reduce 700]
        ins (%x at #rc, %b at #c) outs (#rc, sum #r) in_place [0, -1]
        : (tensor<16x700xf32, #x>, tensor<700xf32, #b>)
       -> (tensor<16x700xf32, #x>, tensor<16xf32, #s>) {
    ^bb0(%x0: f32, %b0: f32):
      %0 = arith.addf %x0, %b0 : f32
      spmd.yield %0, %0 : f32, f32
    }
    ```

    Constraints:
    * (C1) Extents are not negative; extents, reduction flags, axes and ranges have
      one entry a loop; axes are axes of the mesh, each at most once.
    * (C2) One map an input and output, from the loops to the tensor's dims; its
      results are linear: an offset plus integer multiples of loops.
    * (C3) Maps stay inside the global shapes, but for inputs of `spmd.read`.
    * (C4) The body has one argument an input, of its element type (signless),
      and yields one value an output, of its element type; f32 where a reducer
      meets bf16; f32, f64 or i64 for argmax and argmin.
    * (C5) An output has a reducer exactly when the kernel has reduction loops
      and its map uses none of them; argmax and argmin need exactly one
      reduction loop and an i32 or i64 output.
    * (C6) `in_place` names inputs of the output's type with the output's map,
      each at most once.
    * (C7) A held loop has no axes and is no reduction; only maps of inputs
      whose body argument has no use have held loops.
  }];
  let arguments = (ins
    Variadic<AnyRankedTensor>:$inputs,
    DenseI64ArrayAttr:$extents,
    DenseBoolArrayAttr:$reductions,
    ArrayAttr:$axes,
    AffineMapArrayAttr:$accesses,
    DenseI32ArrayAttr:$reducers,
    DenseI32ArrayAttr:$inPlace,
    OptionalAttr<ArrayAttr>:$ranges,
    OptionalAttr<DenseBoolArrayAttr>:$held
  );
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumLoops() { return getExtents().size(); }
    ::mlir::AffineMap getInputAccess(unsigned i) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getAccesses()[i]).getValue();
    }
    ::mlir::AffineMap getOutputAccess(unsigned i) {
      return getInputAccess(getInputs().size() + i);
    }
    Reducer getReducer(unsigned output) {
      return Reducer(getReducers()[output]);
    }
    bool hasReductionLoops() {
      return ::llvm::is_contained(getReductions(), true);
    }
    ::mlir::Block *getBlock() { return &getBody().front(); }
    /// Returns whether a loop stands for a dim that `spmd.load` has indices for.
    bool isHeld(unsigned loop) { return getHeld() && (*getHeld())[loop]; }
    /// How often the body is evaluated.
    int64_t getNumIterations();
    /// The ranges of a loop; empty where it runs its blocks.
    std::vector<::meshloom::Interval> getLoopRanges(unsigned loop);
    /// Returns whether input `i` is read by spmd.read only.
    bool isGuarded(unsigned i);
    /// The layout's mesh.
    ::meshloom::Mesh getMesh();
    /// Per loop the mesh axes it is split over, by index.
    ::llvm::SmallVector<::llvm::SmallVector<unsigned>> getAxisIndices();
    /// The type of a tensor element in a body: unsigned integers are signless.
    static ::mlir::Type scalarType(::mlir::Type elementType);
  }];
}

def SPMD_YieldOp : Op<SPMD_Dialect, "yield",
    [Pure, ReturnLike, Terminator, ParentOneOf<["KernelOp", "LibraryCallOp"]>]> {
  let summary = "What an iteration of a kernel, or a scalar function, gives";
  let description = [{
    ```mlir
    spmd.yield %a, %b : f32, i32
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def SPMD_IndexOp : Op<SPMD_Dialect, "index", [Pure]> {
  let summary = "The global index of a loop of the kernel";
  let description = [{
    ```mlir
    %i = spmd.index 0
    ```

    Constraints:
    * (C1) The kernel has a loop of that number.
  }];
  let arguments = (ins I64Attr:$loop);
  let results = (outs I64:$result);
  let assemblyFormat = "$loop attr-dict";
  let hasVerifier = 1;
}

def SPMD_ReadOp : Op<SPMD_Dialect, "read", [Pure]> {
  let summary = "An element of an input of the kernel, where a condition holds";
  let description = [{
    Zero elsewhere: there the element's address is never looked at.

    ```mlir
    %x = spmd.read 0 if %inside : f32
    ```

    Constraints:
    * (C1) The kernel has an input of that number, with elements of the result's
      type (signless), and its body argument has no use.
  }];
  let arguments = (ins I64Attr:$input, I1:$condition);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$input `if` $condition attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def SPMD_LoadOp : Op<SPMD_Dialect, "load", [Pure]> {
  let summary = "An element of an input of the kernel, by indices";
  let description = [{
    The element of the input at which each of `loops`, which are held, has the
    index given for it. The other loops that the input's map uses are where the
    iteration is. Indices are in bounds.

    ```mlir
    %x = spmd.load 0 over [2, 3] at %i, %j : f32
    ```

    Constraints:
    * (C1) The kernel has an input of that number, with elements of the result's
      type (signless), and its body argument has no use.
    * (C2) `loops` are the held loops that the input's map uses, in increasing
      order, and there is one index for each of them.
  }];
  let arguments = (ins I64Attr:$input, DenseI64ArrayAttr:$loops,
                       Variadic<I64>:$indices);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $input `over` $loops `at` $indices attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

#endif // MESHLOOM_DIALECT_SPMD_KERNEL

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SPMDLibrary.td - Calls of library functions ------------------------===//
//
// spmd.library_call: local work that no fused kernel does, as one call of a
// function of the runtime. SPMDOps.td includes this file.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_SPMD_LIBRARY
#define MESHLOOM_DIALECT_SPMD_LIBRARY

include "meshloom/Dialect/SPMD/SPMDKernel.td"

def SPMD_LibraryCallOp : Op<SPMD_Dialect, "library_call", [Pure]> {
  let summary = "A call of a library function on local tensors";
  let description = [{
    The runtime's function `callee` gets a box of each input and output: the part
    that its maps reach from the part of the loops that a device runs. As in
    `spmd.kernel`, loops are global indices, cut over the axes after `over`, and
    what `reduce` loops on axes give is partial. A `held` loop is no iteration:
    without axes, every call has all of it; with the axes of another loop and
    `ranges`, it is what devices hold of a windowed operand's dim.

    `options` are handed to the function, whose meaning they are; `flops` says
    what all of it costs; `overwritable`, which input's memory it can write each
    output over. The region, where there is one, is a function of scalars that it
    calls: a `spmd.kernel` without loops on the region's arguments.

    The call of `loop` is a `dtensor.while` that the target compiles whole, with
    all that is in it, to one function: the region has one argument an input, and
    holds splat constants and the loop, whose results it yields. Every device has
    all of its arrays, so all of its loops are held.

    The call of `rows` is several kernels that go over the same rows, one after
    the other: whoever computes a row computes it for all of them. The loops of
    the call are those of the rows, then those of a row's terms, which are
    reduced. The kernels in the region have all of these loops, or those of the
    rows.

    ```mlir
    // Rows of a table that is cut over `model`.
    %r = spmd.library_call "gather" loops [16, held 1, reduce 1024 over [model], 32]
        ins (%table at #vd, %ids at #bi) outs (#bd)
        {flops = 512 : i64, options = {slice_sizes = array<i64: 1, 32>, ...}}
        : (tensor<128x32xf32, #table>, tensor<16x1xi32, #ids>) -> tensor<16x32xf32, #r>
    ```

    Constraints:
    * (C1) Extents are not negative; extents, reduction flags, axes, held flags and
      ranges have one entry a loop; axes are axes of the mesh, each at most once in
      loops that are not held.
    * (C2) One map an input and output, from the loops to the tensor's dims; its
      results are linear: an offset plus integer multiples of loops.
    * (C3) Maps stay inside the global shapes.
    * (C4) The region takes and yields rank-0 shards, by one kernel without loops;
      that of `loop` takes the inputs and yields the results of its one loop,
      and that of `rows` those of its kernels.
    * (C5) `in_place` names inputs of the output's type with the output's map,
      each at most once.
    * (C6) Options are integers, truth values, texts and lists of integers.
    * (C7) `overwritable`, where given, has an input or -1 for each output.
  }];
  let arguments = (ins
    StrAttr:$callee,
    Variadic<AnyRankedTensor>:$inputs,
    DenseI64ArrayAttr:$extents,
    DenseBoolArrayAttr:$reductions,
    ArrayAttr:$axes,
    DenseBoolArrayAttr:$held,
    ArrayAttr:$ranges,
    AffineMapArrayAttr:$accesses,
    DenseI32ArrayAttr:$inPlace,
    OptionalAttr<DictionaryAttr>:$options,
    OptionalAttr<DenseI32ArrayAttr>:$overwritable,
    DefaultValuedAttr<I64Attr, "0">:$flops
  );
  let results = (outs Variadic<AnyRankedTensor>:$outputs);
  let regions = (region MaxSizedRegion<1>:$scalar);
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
    /// The layout's mesh.
    ::meshloom::Mesh getMesh();
    /// Per loop the mesh axes it is split over, by index.
    ::llvm::SmallVector<::llvm::SmallVector<unsigned>> getAxisIndices();
    /// The ranges of a loop; empty where it runs its blocks.
    std::vector<::meshloom::Interval> getLoopRanges(unsigned loop);
    /// The scalar function's code, or null.
    ::meshloom::spmd::KernelOp getScalarKernel();
  }];
}

#endif // MESHLOOM_DIALECT_SPMD_LIBRARY

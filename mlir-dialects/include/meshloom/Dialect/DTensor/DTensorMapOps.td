// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DTensorMapOps.td - A region for each place along axes --------------===//
//
// map, which vmap, shard_map and replica code are traced into, and the ops
// between its places. --dtensor-vectorise-maps makes ordinary ops of them before
// any other pass. Map.h has their classes.
//
//===----------------------------------------------------------------------===//

#ifndef MESHLOOM_DIALECT_DTENSOR_MAP_OPS
#define MESHLOOM_DIALECT_DTENSOR_MAP_OPS

include "meshloom/Dialect/DTensor/DTensorBase.td"
include "meshloom/Dialect/DTensor/DTensorAttrs.td"

def DTensor_MapOp : Op<DTensor_Dialect, "map", [RecursiveMemoryEffects]> {
  let summary = "Runs a region at each place along axes";
  let description = [{
    Runs the region once for each place along `axes`, whose extents are `sizes`:
    with one axis of 4, four times. `lanes[i]` says along which axes (by number)
    input `i` differs from place to place; those are its leading dims, and the
    region's argument is what it holds at the place. Other values are the same at
    all places, as are those from outside that the region uses. The results have
    all axes as leading dims.

    With `mesh`, the axes are some of the mesh's, in its order, and a place is a
    device (or those along the other axes): the body of a `shard_map`.

    With `members`, there are several regions, along one axis: region `k` runs at
    the places `members[k]`. So values of places may have different shapes. The
    inputs and results are those of region 0, then those of region 1, and so on,
    and the extent of their leading dim is the number of members. All regions
    meet at the ops between places and at assignments to variables: the i-th one
    of each is the same.

    `--dtensor-vectorise-maps` makes ordinary ops on values with leading dims of
    it.

    Constraints:
    * (C1) As many sizes as axes, at least one; the axes have different names.
    * (C2) One list of `lanes` for each input: numbers of axes, rising.
    * (C3) An argument of a region is its input's type without the leading dims,
      whose extents are those of the axes.
    * (C4) Each region ends with `dtensor.yield`; a result has the axes' extents as
      leading dims before what is yielded.
    * (C5) `members` come with one axis, one list for each region, and name each
      of its places once; without them there is one region.
    * (C6) With `mesh` the axes are axes of it, in its order and of its sizes.

    Example:
    ```mlir
    // The rows of %x, each times %w.
    %y = dtensor.map (%x, %w) {axes = ["row"], sizes = array<i64: 4>,
        lanes = [array<i64: 0>, array<i64>]}
        : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
    ^bb0(%row: tensor<8xf32>, %v: tensor<8xf32>):
      %p = dtensor.multiply %row, %v : tensor<8xf32>
      dtensor.yield %p : tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<DTensor_Tensor>:$inputs, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "lists of axes">:$lanes,
                       OptionalAttr<DTensor_MeshAttr>:$mesh,
                       OptionalAttr<TypedArrayAttrBase<DenseI64ArrayAttr, "lists of places">>:$members);
  let results = (outs Variadic<DTensor_Tensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$bodies);
  let assemblyFormat = [{
    `(` $inputs `)` attr-dict `:` functional-type($inputs, $results) $bodies
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<int64_t> getLanesOf(unsigned input);
    /// The places that region `part` runs at.
    ::llvm::SmallVector<int64_t> getMembersOf(unsigned part);
    /// How many inputs, arguments or results each region has.
    unsigned getInputsEach() {
      return getInputs().size() / std::max(1u, unsigned(getBodies().size()));
    }
  }];
}

class DTensor_AxisOp<string mnemonic>
    : Op<DTensor_Dialect, mnemonic,
         [Pure, DeclareOpInterfaceMethods<DTensor_VectorisableOpInterface>]> {
  let assemblyFormat = [{
    $operand attr-dict `:` functional-type($operand, $result)
  }];
  let hasVerifier = 1;
}

def DTensor_AxisReduceOp : DTensor_AxisOp<"axis_reduce"> {
  let summary = "Combines the values of all places along axes of a map";
  let description = [{
    At each place, what `kind` makes of the operands at all places along `axes`,
    which are axes of maps around it.

    Constraints:
    * (C1) The result has the operand's type.
    * (C2) The axes are those of maps around the op, each named once.

    Example:
    ```mlir
    %s = dtensor.axis_reduce %x {axes = ["row"], kind = #dtensor.kind<sum>}
        : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, StrArrayAttr:$axes,
                       DTensor_ReduceKindAttr:$kind);
  let results = (outs DTensor_Tensor:$result);
}

def DTensor_AxisGatherOp : DTensor_AxisOp<"axis_gather"> {
  let summary = "Joins the values of all places along an axis of a map";
  let description = [{
    At each place, the operands at all places along `axis`, joined along
    `dimension` in the order of the places. `sizes` are their extents there, one
    for each place; without them all are the operand's.

    Constraints:
    * (C1) `dimension` is a dim of the operand; of the result it has the sum of the
      sizes, all others are as in the operand, as is the element type.
    * (C2) The axis is one of a map around the op, and `sizes` has one entry for
      each of its places.

    Example:
    ```mlir
    %all = dtensor.axis_gather %x {axis = "row", dimension = 0 : i64}
        : (tensor<2x8xf32>) -> tensor<8x8xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, StrAttr:$axis, I64Attr:$dimension,
                       OptionalAttr<DenseI64ArrayAttr>:$sizes);
  let results = (outs DTensor_Tensor:$result);
}

def DTensor_AxisPartOp : DTensor_AxisOp<"axis_part"> {
  let summary = "This place's part of a value";
  let description = [{
    Dim `dimension` is cut into a part for each place along `axis`, in order, of
    `sizes` or equal ones; each place has its own: the inverse of `axis_gather`.

    Constraints:
    * (C1) `dimension` is a dim of the operand with the sum of the sizes; of the
      result it has the place's, all others are as in the operand, as is the
      element type.
    * (C2) The axis is one of a map around the op, and `sizes` has one entry for
      each of its places.

    Example:
    ```mlir
    %own = dtensor.axis_part %all {axis = "row", dimension = 0 : i64}
        : (tensor<8x8xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins DTensor_Tensor:$operand, StrAttr:$axis, I64Attr:$dimension,
                       OptionalAttr<DenseI64ArrayAttr>:$sizes);
  let results = (outs DTensor_Tensor:$result);
}

#endif // MESHLOOM_DIALECT_DTENSOR_MAP_OPS

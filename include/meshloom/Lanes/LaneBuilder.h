// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LaneBuilder: makes dtensor ops on values that exist once per place along some
// axes, as in the body of a shard_map or a vmap.
#pragma once

#include "meshloom/Dialect/DTensor/TensorBuilder.h"
#include "meshloom/Dialect/DTensor/Windows.h"

namespace meshloom::lanes {

/// Axes (indices), ascending.
using Lanes = SmallVector<unsigned, 2>;

Lanes unionOf(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
/// `a` without `b`.
Lanes without(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
bool contains(ArrayRef<unsigned> axes, unsigned axis);

/// Builds dtensor ops on *local* values, vectorised.
///
/// In the body of a map over axes x and y, a `tensor<8x16xf32>` is one such
/// tensor at each place along x and y. Globally that is one value of shape
/// [kx, ky, 8, 16]: it has the *lanes* x and y, in ascending order, as leading
/// dims. Where they are axes of a mesh, it is laid out [x, y, *, *], and places
/// are devices. A value that is the same at all places along an axis has no
/// lane for it. Outside of maps no value has lanes.
///
/// All methods take and give local shapes and dims, those of TensorBuilder too;
/// the result has the lanes of all operands. So a decomposition written with
/// them works inside and outside of maps alike, and a psum's result, which is
/// the same everywhere, costs what it would cost outside.
///
/// Rejected: the same lanes for all values of a body. Each loop's condition and
/// each slice's index would be a value per device, and control flow would have
/// to run in lock step.
class LaneBuilder : public dtensor::TensorBuilder {
public:
  /// Lanes are the axes of `mesh`.
  LaneBuilder(MLIRContext *context, dtensor::MeshAttr mesh)
      : LaneBuilder(context, mesh.getSizes(), mesh) {}
  /// Lanes of these extents, which are not axes of a mesh.
  LaneBuilder(MLIRContext *context, ArrayRef<int64_t> extents)
      : LaneBuilder(context, extents, {}) {}

  /// Null where the lanes are not axes of one.
  dtensor::MeshAttr getMesh() const { return mesh; }
  int64_t extentOf(unsigned lane) const { return extents[lane]; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  ArrayRef<unsigned> lanesOf(Value value) const;
  Lanes lanesOf(ValueRange values) const;
  /// Says that the leading dims of `value` are `lanes`.
  Value note(Value value, ArrayRef<unsigned> lanes);
  /// Local, without a layout.
  RankedTensorType typeOf(Value value) const override;
  /// `local` with leading dims for `lanes`.
  RankedTensorType laned(RankedTensorType local,
                         ArrayRef<unsigned> lanes) const;

  /// How many places there are along each lane.
  SmallVector<int64_t> extentsOf(ArrayRef<unsigned> lanes) const;
  /// The value with more lanes: repeated along those it does not have.
  Value withLanes(Value value, ArrayRef<unsigned> lanes);
  /// All with the lanes of any.
  SmallVector<Value> aligned(ValueRange values);
  /// Makes lanes dims: local dims 0, 1, ... of the result are `axes` in the
  /// order given, and it has no lanes for them.
  Value expose(Value value, ArrayRef<unsigned> axes);
  /// The inverse: the first local dims become the lanes `axes`.
  Value hide(Value value, ArrayRef<unsigned> axes);
  /// Combines the values of all places along `axes` by `kind`: the result has
  /// no lanes for them.
  Value reduceLanes(ReduceKind kind, Value value, ArrayRef<unsigned> axes);
  /// The sum over lanes of a value that is a product of which they are batching
  /// dims: a product that contracts them, so that no place's own is made. Null
  /// where it is none.
  Value sumOfProducts(Value value, ArrayRef<unsigned> axes);
  /// At each place along `axis`, its number.
  Value coordinate(unsigned axis, Type element);

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  /// An op on local values. The operands must have the lanes `lanes` or be
  /// meant without (scalars); results have local `types`, and attributes are
  /// about local dims where the op is vectorisable, else as they are.
  template <typename OpTy>
  SmallVector<Value> make(ArrayRef<RankedTensorType> types, ValueRange operands,
                          ArrayRef<unsigned> lanes,
                          ArrayRef<NamedAttribute> attributes = {}) {
    mlir::NamedAttrList extended(attributes);
    if constexpr (OpTy::template hasTrait<
                      dtensor::VectorisableOpInterface::Trait>())
      OpTy::addLeadingDims(*this, extended, extentsOf(lanes));
    return makeOf<OpTy>(types, operands, lanes, extended.getAttrs());
  }
  /// The same with the attributes of the op on values with their lanes.
  template <typename OpTy>
  SmallVector<Value> makeOf(ArrayRef<RankedTensorType> types,
                            ValueRange operands, ArrayRef<unsigned> lanes,
                            ArrayRef<NamedAttribute> attributes) {
    SmallVector<Type> results;
    for (RankedTensorType type : types)
      results.push_back(laned(type, lanes));
    Operation *op = create<OpTy>(getLoc(), results, operands, attributes);
    for (Value result : op->getResults())
      note(result, lanes);
    return SmallVector<Value>(op->getResults());
  }

  /// `op` on other values, which are as for `make`, with its attributes and a
  /// copy of its regions.
  SmallVector<Value> again(Operation *op, ValueRange operands,
                           ArrayRef<unsigned> lanes);

  /// `predicate` may be a scalar.
  Value select(Value predicate, Value onTrue, Value onFalse) override;

  // Ops whose lanes become dims of another kind (LanedOps.cpp). Their operands
  // fit each other.

  /// dot_general: lanes of both sides are batching dims, others free ones.
  /// `resultElement`: null for the operands' element type.
  Value dot(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatching,
            ArrayRef<int64_t> rhsBatching, ArrayRef<int64_t> lhsContracting,
            ArrayRef<int64_t> rhsContracting, Type resultElement = {});
  /// Lanes of both sides become groups, those of `lhs` only part of the batch,
  /// those of `rhs` only output features.
  Value convolution(Value lhs, Value rhs, dtensor::ConvolutionSpec spec,
                    RankedTensorType resultType);
  /// Where places begin elsewhere each, a gather of one slice a place.
  Value dynamicSlice(Value operand, ArrayRef<Value> starts,
                     ArrayRef<int64_t> sizes);
  Value dynamicUpdateSlice(Value operand, Value update, ArrayRef<Value> starts);

protected:
  Value emit(mlir::OperationName op, ValueRange operands, RankedTensorType type,
             ArrayRef<NamedAttribute> attributes,
             unsigned scalars = 0) override;

private:
  LaneBuilder(MLIRContext *context, ArrayRef<int64_t> extents,
              dtensor::MeshAttr mesh)
      : TensorBuilder(context, mlir::UnknownLoc::get(context)),
        extents(extents), mesh(mesh) {}

  SmallVector<int64_t> extents;
  dtensor::MeshAttr mesh;
  DenseMap<Value, Lanes> lanes;
};

} // namespace meshloom::lanes

// LaneBuilder: makes dtensor ops on values that exist once per device along
// some mesh axes, as in the body of a shard_map.
#pragma once

#include "meshloom/Math/ElementwiseBuilder.h"

namespace meshloom::importer {

/// Mesh axes (indices), ascending.
using Lanes = SmallVector<unsigned, 2>;

Lanes unionOf(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
/// `a` without `b`.
Lanes without(ArrayRef<unsigned> a, ArrayRef<unsigned> b);
bool contains(ArrayRef<unsigned> axes, unsigned axis);

/// Builds dtensor ops on *local* values, vectorised.
///
/// In the body of a manual computation over axes x and y, a `tensor<8x16xf32>`
/// is one such tensor on each device along x and y. Globally that is one value
/// of shape [kx, ky, 8, 16] laid out [x, y, *, *]: it has the *lanes* x and y,
/// in ascending order, as leading dims. A value that is the same on all devices
/// along an axis has no lane for it. Outside of manual computations no value
/// has lanes.
///
/// All methods take and give local shapes and dims; the result has the lanes of
/// all operands. So a decomposition written with them works inside and outside
/// of manual computations alike, and a psum's result, which is the same
/// everywhere, costs what it would cost outside.
///
/// Rejected: the same lanes for all values of a body. Each loop's condition and
/// each slice's index would be a value per device, and control flow would have
/// to run in lock step.
class LaneBuilder : public ElementwiseBuilder {
public:
  LaneBuilder(MLIRContext *context, dtensor::MeshAttr mesh)
      : ElementwiseBuilder(context, mlir::UnknownLoc::get(context)),
        mesh(mesh) {}

  dtensor::MeshAttr getMesh() const { return mesh; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  ArrayRef<unsigned> lanesOf(Value value) const;
  Lanes lanesOf(ValueRange values) const;
  /// Says that the leading dims of `value` are `lanes`.
  Value note(Value value, ArrayRef<unsigned> lanes);
  /// Local, without a layout.
  RankedTensorType typeOf(Value value) const override;
  SmallVector<int64_t> shapeOf(Value value) const;
  int64_t rankOf(Value value) const { return typeOf(value).getRank(); }
  /// `local` with leading dims for `lanes`.
  RankedTensorType laned(RankedTensorType local,
                         ArrayRef<unsigned> lanes) const;

  /// How many devices there are along each lane.
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
    mlir::NamedAttrList all(attributes);
    if constexpr (OpTy::template hasTrait<
                      dtensor::VectorisableOpInterface::Trait>())
      OpTy::addLeadingDims(*this, all, extentsOf(lanes));
    return makeOf<OpTy>(types, operands, lanes, all.getAttrs());
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

  NamedAttribute list(StringRef name, ArrayRef<int64_t> entries) {
    return named(name, getDenseI64ArrayAttr(entries));
  }
  NamedAttribute number(StringRef name, int64_t value) {
    return named(name, getI64IntegerAttr(value));
  }

  // Elementwise ops and constants are ElementwiseBuilder's.

  /// `pred` may be a scalar.
  Value select(Value pred, Value onTrue, Value onFalse);
  Value iota(RankedTensorType type, int64_t dim);

  Value broadcast(Value value, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dimensions);
  /// A scalar (or a value without lanes dims only) as `shape`.
  Value broadcast(Value scalar, ArrayRef<int64_t> shape) {
    return broadcast(scalar, shape, {});
  }
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  Value slice(Value value, ArrayRef<int64_t> start, ArrayRef<int64_t> limit,
              ArrayRef<int64_t> strides);
  /// Elements [from, to) of one dim.
  Value sliceDim(Value value, int64_t dim, int64_t from, int64_t to);
  Value concatenate(ValueRange values, int64_t dim);
  Value take(Value value, int64_t dim, ArrayRef<int64_t> indices);
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dimensions);
  /// Combines two values of one shape.
  Value combine(ReduceKind kind, Value lhs, Value rhs);

protected:
  Value emit(StringRef op, ValueRange operands, RankedTensorType type,
             ArrayRef<NamedAttribute> attributes) override;

private:
  dtensor::MeshAttr mesh;
  DenseMap<Value, Lanes> lanes;
};

/// `dims` without those listed.
SmallVector<int64_t> remainingDims(int64_t rank, ArrayRef<int64_t> dims);

} // namespace meshloom::importer

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A relayout to a layout that is partial where the value is not: a reduction
// begins. It is written out as a reduction whose layout leaves it pending, so
// that each device keeps what it has, or one of a group all, and the others get
// what the reduction starts from; nothing is sent for that.
//
// Along an axis of size g that does not cut the value, which becomes pending:
//
//   r[j] = sum over k of (k == 0 ? v[j] : 0),  k = 0 ... g - 1 on the axis
//
// Along one that cuts a dim into blocks (b, j), whose dim becomes whole:
//
//   r[b, j] = sum over k of (k == b ? v[k, j] : 0),  k on the axis
//
// Either sum has one term a device, and stays pending along the axis.
#include "BeginReductions.h"

#include "DistributeOps.h"
#include "LaidOut.h"

#include "LayoutFlow.h"

namespace meshloom {

namespace {
/// One relayout, written out.
class Beginning {
public:
  Beginning(dtensor::RelayoutOp op)
      : op(op), make(OpBuilder(op), op.getLoc()),
        from(*annotatedLayout(op.getOperand().getType())),
        to(*annotatedLayout(op.getResult().getType())), before(to),
        mesh(to.mesh()), global(dtensor::globalShape(op.getResult().getType())),
        kind(to.partial().front().kind) {}

  void run() {
    findCuts();
    Value value = entered();
    decideLayout(value);
    value = terms(value);
    SmallVector<int64_t> reduced;
    for (auto [dim, is] : llvm::enumerate(sumDims))
      if (is)
        reduced.push_back(int64_t(dim));
    Value sum = make.reduce(kind, value, reduced);
    Layout::DimAxes remainingAxes;
    for (auto [dim, is] : llvm::enumerate(sumDims))
      if (!is)
        remainingAxes.push_back(axes[dim]);
    setLayout(sum, *Layout::get(mesh, remainingAxes,
                                std::vector<Partial>(to.partial().begin(),
                                                     to.partial().end())));
    if (dtensor::globalShape(sum.getType()) != global)
      sum = make.reshape(sum, global);
    setLayout(sum, to);
    op.getResult().replaceAllUsesWith(sum);
    op.erase();
  }

private:
  static int64_t sizeOf(const Mesh &mesh, ArrayRef<unsigned> axes) {
    int64_t size = 1;
    for (unsigned axis : axes)
      size *= mesh.axis_size(axis);
    return size;
  }

  /// Which of the axes cut a dim and only have to be left there; of the others
  /// the devices have the same first.
  void findCuts() {
    before = beforeBeginning(from, to, Shape(global.begin(), global.end()));
    Layout::DimAxes dims = before.dim_axes();
    for (unsigned dim = 0; dim < global.size(); ++dim) {
      auto extra = before.axes(dim).subspan(to.axes(dim).size());
      cut.emplace_back(extra.begin(), extra.end());
      if (sizeOf(mesh, cut[dim]) > 1)
        continue;
      // One device cuts nothing.
      cut[dim].clear();
      dims[dim].resize(to.axes(dim).size());
    }
    before = *Layout::get(
        mesh, dims,
        std::vector<Partial>(before.partial().begin(), before.partial().end()));
    for (const Partial &partial : to.partial())
      if (llvm::none_of(cut, [&](ArrayRef<unsigned> some) {
            return llvm::is_contained(some, partial.axis);
          }))
        whole.push_back(partial.axis);
  }

  /// The operand as far as collectives bring it: what was pending is reduced.
  Value entered() {
    Value value = op.getOperand();
    if (before == from)
      return value;
    auto relayout = make.create<dtensor::RelayoutOp>(
        make.getLoc(), laidOut(op.getResult(), before), value);
    relayout->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    return relayout;
  }

  /// The dims that the terms have: one for devices that have the same, then for
  /// each dim that is cut [major blocks, k, b, rest].
  void decideLayout(Value value) {
    auto add = [&](int64_t size, std::vector<unsigned> on, bool sum) {
      shape.push_back(size);
      axes.push_back(std::move(on));
      sumDims.push_back(sum);
    };
    if (!whole.empty())
      add(sizeOf(mesh, whole), whole, true);
    for (size_t dim = 0; dim < global.size(); ++dim) {
      auto wanted = to.axes(unsigned(dim));
      std::vector<unsigned> major(wanted.begin(), wanted.end());
      if (cut[dim].empty()) {
        broadcastDims.push_back(int64_t(shape.size()));
        pieces.push_back(global[dim]);
        pieceAxes.push_back(major);
        add(global[dim], major, false);
        continue;
      }
      int64_t outer = sizeOf(mesh, major), blocks = sizeOf(mesh, cut[dim]);
      int64_t inner = global[dim] / outer / blocks;
      llvm::append_range(pieces, SmallVector<int64_t>{outer, blocks, inner});
      pieceAxes.push_back(major);
      pieceAxes.push_back(cut[dim]);
      pieceAxes.emplace_back();
      broadcastDims.push_back(int64_t(shape.size()));
      add(outer, major, false);
      broadcastDims.push_back(int64_t(shape.size()));
      add(blocks, cut[dim], true);
      add(blocks, {}, false);
      broadcastDims.push_back(int64_t(shape.size()));
      add(inner, {}, false);
    }
  }

  /// The value where it belongs, and what changes nothing elsewhere.
  Value terms(Value value) {
    Layout layout = *Layout::get(mesh, axes);
    Type element = dtensor::elementTypeOf(value.getType());
    auto laid = [&](Value result, const Layout &its) {
      setLayout(result, its);
      return result;
    };
    if (pieces != dtensor::globalShape(value.getType()))
      value = laid(make.reshape(value, pieces), *Layout::get(mesh, pieceAxes));
    value = laid(make.broadcast(value, shape, broadcastDims), layout);
    Type index = make.getI32Type();
    Value here;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      if (!sumDims[dim])
        continue;
      bool isWhole = dim == 0 && !whole.empty();
      Value k = laid(make.iota(shape, int64_t(dim), index), layout);
      Value b = isWhole
                    ? laid(make.integers(shape, 0, index), layout)
                    : laid(make.iota(shape, int64_t(dim) + 1, index), layout);
      Value same =
          laid(make.compare(dtensor::ComparisonDirection::EQ, k, b), layout);
      here = here ? laid(make.apply<dtensor::AndOp>(here, same), layout) : same;
    }
    Value start;
    if (isa<mlir::ComplexType>(element)) // a sum: the type says so
      start = laid(make.zeros(RankedTensorType::get({}, element)),
                   *Layout::get(mesh, {}));
    else
      start = laid(make.splat(RankedTensorType::get({}, element),
                              distribution::identityOf(kind, element)),
                   *Layout::get(mesh, {}));
    Value nothing =
        laid(make.broadcast(start, shape, ArrayRef<int64_t>()), layout);
    return laid(make.select(here, value, nothing), layout);
  }

  dtensor::RelayoutOp op;
  dtensor::TensorBuilder make;
  Layout from, to, before;
  Mesh mesh;
  SmallVector<int64_t> global;
  ReduceKind kind;
  /// Per dim: the axes that cut it and become pending.
  std::vector<std::vector<unsigned>> cut;
  /// The other axes that become pending.
  std::vector<unsigned> whole;
  /// The value's dims in pieces, their axes, and where the terms have them.
  SmallVector<int64_t> pieces, broadcastDims;
  Layout::DimAxes pieceAxes;
  /// The dims of the terms.
  SmallVector<int64_t> shape;
  Layout::DimAxes axes;
  SmallVector<bool> sumDims;
};
} // namespace

void beginReduction(dtensor::RelayoutOp op) {
  Beginning(op).run();
}

} // namespace meshloom

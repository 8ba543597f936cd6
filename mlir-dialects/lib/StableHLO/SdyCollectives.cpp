// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of sdy's collectives: that the axes they name lead from the
// operand's sharding to the one they give.

#include "SdyAxes.h"

using namespace meshloom;
using namespace meshloom::sdy;
using mlir::LogicalResult;

namespace {
/// A collective's operand and result.
struct Ends {
  Operation *op;
  TensorShardingAttr from; ///< null: on no axes
  TensorShardingAttr to;
  MeshAttr mesh;
  size_t rank;

  /// The axes of a dim of the operand.
  AxisParts fromDim(size_t dim) const {
    if (!from)
      return {};
    return partsOf(mesh, from.getDimShardings()[dim].getAxes());
  }
  AxisParts toDim(size_t dim) const {
    return partsOf(mesh, to.getDimShardings()[dim].getAxes());
  }
  AxisParts pendingBefore() const {
    return from ? partsOf(mesh, from.getUnreducedAxes()) : AxisParts();
  }
  AxisParts pendingAfter() const {
    return partsOf(mesh, to.getUnreducedAxes());
  }

  /// Dim `dim` of out_sharding must be on `expected`.
  LogicalResult expectDim(size_t dim, ArrayRef<AxisPart> expected) const {
    if (toDim(dim) == joined(expected))
      return success();
    return op->emitOpError("dim ")
           << dim << " of its out_sharding is on " << text(mesh, toDim(dim))
           << ", but the collective brings it to "
           << text(mesh, joined(expected));
  }
  /// The axes of `dim` without `gone`, which it must end with.
  FailureOr<AxisParts> shortened(size_t dim, ArrayRef<AxisPart> gone) const {
    if (auto remaining = withoutEnd(fromDim(dim), gone))
      return *remaining;
    return op->emitOpError("takes ")
           << text(mesh, gone) << " off dim " << dim << ", which is on "
           << text(mesh, fromDim(dim)) << ": a dim loses its last axes";
  }
  AxisParts extended(size_t dim, ArrayRef<AxisPart> more) const {
    AxisParts parts = fromDim(dim);
    llvm::append_range(parts, more);
    return joined(parts);
  }
  LogicalResult expectPending(AxisParts expected) const {
    if (pendingAfter() == sorted(expected))
      return success();
    return op->emitOpError("its out_sharding is unreduced along ")
           << text(mesh, pendingAfter()) << ", but the collective leaves "
           << text(mesh, sorted(expected)) << " unreduced";
  }
};
} // namespace

/// Checks the rules of all collectives. The operand of some may have no
/// sharding.
template <typename OpTy> static FailureOr<Ends> endsOf(OpTy op, bool mayLack) {
  TensorShardingAttr to = op.getOutSharding(),
                     from = shardingOf(op.getTensor());
  if (!from && !mayLack)
    return op.emitOpError("its operand has no sharding");
  auto emitError = [&] { return op.emitOpError(); };
  Type type = op.getTensor().getType();
  if (failed(verifySharding(op, to, type, emitError)) ||
      (from && failed(verifySharding(op, from, type, emitError))))
    return failure();
  MeshAttr mesh = meshOf(op, to.getMeshOrRef());
  if (from && !isa<CollectivePermuteOp>(op.getOperation()) &&
      meshOf(op, from.getMeshOrRef()) != mesh)
    return op.emitOpError("its operand is on mesh ")
           << from.getMeshOrRef() << ", its result on " << to.getMeshOrRef();
  return Ends{op, from, to, mesh, to.getRank()};
}

/// Checks the axes that a collective names for each dim.
static LogicalResult verifyLists(const Ends &ends,
                                 ArrayRef<AxisRefListAttr> lists) {
  if (lists.size() != ends.rank)
    return ends.op->emitOpError("names axes of ")
           << lists.size() << " dims of a value of rank " << ends.rank;
  auto emitError = [&] { return ends.op->emitOpError(); };
  AxisUses uses(ends.to.getMeshOrRef(), ends.mesh, emitError);
  for (auto [d, list] : llvm::enumerate(lists))
    if (failed(uses.add(list.getValue(), "dim " + llvm::Twine(d))))
      return failure();
  return success();
}

/// Dims lose axes.
static LogicalResult verifyLoss(const Ends &ends,
                                ArrayRef<AxisRefListAttr> lists) {
  for (auto [d, list] : llvm::enumerate(lists)) {
    auto remaining = ends.shortened(d, partsOf(ends.mesh, list.getValue()));
    if (failed(remaining) || failed(ends.expectDim(d, *remaining)))
      return failure();
  }
  return success();
}

/// Dims get axes.
static LogicalResult verifyGain(const Ends &ends,
                                ArrayRef<AxisRefListAttr> lists) {
  for (auto [d, list] : llvm::enumerate(lists))
    if (failed(ends.expectDim(
            d, ends.extended(d, partsOf(ends.mesh, list.getValue())))))
      return failure();
  return success();
}

LogicalResult AllGatherOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/false);
  if (failed(ends) || failed(verifyLists(*ends, getGatheringAxes().getValue())))
    return failure();
  return verifyLoss(*ends, getGatheringAxes().getValue());
}

LogicalResult AllSliceOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/true);
  if (failed(ends) || failed(verifyLists(*ends, getSlicingAxes().getValue())))
    return failure();
  return verifyGain(*ends, getSlicingAxes().getValue());
}

LogicalResult ReduceScatterOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/true);
  ArrayRef<AxisRefListAttr> lists = getReduceScatterAxes().getValue();
  if (failed(ends) || failed(verifyLists(*ends, lists)) ||
      failed(verifyPending(*this, ends->from, ends->to, /*begins=*/false,
                           getReductionOp())))
    return failure();
  return verifyGain(*ends, lists);
}

LogicalResult AllToAllOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/false);
  if (failed(ends))
    return failure();
  ArrayRef<AllToAllParamAttr> params = getParams().getValue();
  if (params.empty())
    return emitOpError("moves nothing");
  auto emitError = [&] { return emitOpError(); };
  AxisUses uses(ends->to.getMeshOrRef(), ends->mesh, emitError);
  llvm::BitVector seen(unsigned(ends->rank));
  int64_t last = -1;
  for (AllToAllParamAttr param : params) {
    if (failed(uses.add(param.getAxes(), "a move")))
      return failure();
    for (int64_t dim : {param.getSrcDim(), param.getTgtDim()}) {
      if (dim < 0 || dim >= int64_t(ends->rank))
        return emitOpError("there is no dim ")
               << dim << " in a value of rank " << ends->rank;
      if (seen.test(unsigned(dim)))
        return emitOpError("dim ") << dim << " is in several moves, or in one "
                                   << "both source and target";
      seen.set(unsigned(dim));
    }
    if (param.getSrcDim() < last)
      return emitOpError("its moves are not in the order of their source dims: "
                         "dim ")
             << param.getSrcDim() << " comes after " << last;
    last = param.getSrcDim();
  }
  for (AllToAllParamAttr param : params) {
    AxisParts axes = partsOf(ends->mesh, param.getAxes());
    size_t from = size_t(param.getSrcDim()), to = size_t(param.getTgtDim());
    auto remaining = ends->shortened(from, axes);
    if (failed(remaining) || failed(ends->expectDim(from, *remaining)) ||
        failed(ends->expectDim(to, ends->extended(to, axes))))
      return failure();
  }
  for (size_t d = 0; d < ends->rank; ++d)
    if (!seen.test(unsigned(d)) && failed(ends->expectDim(d, ends->fromDim(d))))
      return failure();
  return success();
}

LogicalResult CollectivePermuteOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/false);
  if (failed(ends))
    return failure();
  MeshAttr from = meshOf(*this, ends->from.getMeshOrRef());
  if (from.getAxes() != ends->mesh.getAxes())
    return emitOpError("its operand's mesh ")
           << text(ends->from.getMeshOrRef(), from)
           << " has other axes than its result's "
           << text(ends->to.getMeshOrRef(), ends->mesh);
  if (ends->from.getMeshOrRef() != ends->to.getMeshOrRef() &&
      from.getDeviceIds() == ends->mesh.getDeviceIds())
    return emitOpError("its operand and result are on meshes that are the "
                       "same, under two names");
  auto shards = [](ArrayRef<AxisPart> parts) {
    int64_t count = 1;
    for (const AxisPart &part : parts)
      count *= part.size;
    return count;
  };
  for (size_t d = 0; d < ends->rank; ++d)
    if (shards(ends->fromDim(d)) != shards(ends->toDim(d)))
      return emitOpError("dim ")
             << d << " is in " << shards(ends->fromDim(d))
             << " parts before and in " << shards(ends->toDim(d))
             << " after; a permute keeps their number";
  return success();
}

LogicalResult AllReduceOp::verify() {
  auto ends = endsOf(*this, /*mayLack=*/true);
  if (failed(ends))
    return failure();
  for (size_t d = 0; d < ends->rank; ++d)
    if (failed(ends->expectDim(d, ends->fromDim(d))))
      return failure();
  auto emitError = [&] { return emitOpError(); };
  AxisUses uses(ends->to.getMeshOrRef(), ends->mesh, emitError);
  ArrayRef<AxisRefAttr> refs = getReductionAxes().getValue();
  if (failed(uses.add(refs, "its reduction", /*inOrder=*/true)))
    return failure();
  AxisParts taken;
  for (size_t d = 0; d < ends->rank; ++d)
    llvm::append_range(taken, ends->fromDim(d));
  if (ends->from)
    llvm::append_range(taken,
                       partsOf(ends->mesh, ends->from.getReplicatedAxes()));
  for (const AxisPart &axis : partsOf(ends->mesh, refs)) {
    auto overlaps = [&](const AxisPart &other) { return other.overlaps(axis); };
    if (llvm::any_of(taken, overlaps))
      return emitOpError("reduces along ")
             << text(ends->mesh, axis)
             << ", which cuts a dim of its operand or is replicated there";
    if (llvm::any_of(ends->pendingAfter(), overlaps))
      return emitOpError("reduces along ")
             << text(ends->mesh, axis)
             << ", but its out_sharding is unreduced along it";
  }
  return verifyPending(*this, ends->from, ends->to, /*begins=*/false,
                       getReductionOp());
}

/// The ends of an op whose result is still to be summed, and nothing else.
template <typename OpTy> static FailureOr<Ends> endsOfBeginningSum(OpTy op) {
  auto ends = endsOf(op, /*mayLack=*/false);
  if (succeeded(ends) && ends->to.getReductionOp() != ReductionOp::SUM)
    return op.emitOpError("begins a sum, but its out_sharding has another kind "
                          "of reduction");
  return ends;
}

LogicalResult ShardedToUnreducedOp::verify() {
  auto ends = endsOfBeginningSum(*this);
  if (failed(ends))
    return failure();
  ArrayRef<AxisRefListAttr> lists = getAxes().getValue();
  if (failed(verifyLists(*ends, lists)) || failed(verifyLoss(*ends, lists)))
    return failure();
  AxisParts pending = ends->pendingBefore();
  for (AxisRefListAttr list : lists)
    llvm::append_range(pending, partsOf(ends->mesh, list.getValue()));
  return ends->expectPending(pending);
}

LogicalResult ReplicatedToUnreducedOp::verify() {
  auto ends = endsOfBeginningSum(*this);
  if (failed(ends))
    return failure();
  for (size_t d = 0; d < ends->rank; ++d)
    if (failed(ends->expectDim(d, ends->fromDim(d))))
      return failure();
  ArrayRef<AxisRefAttr> refs = getAxes().getValue();
  if (refs.empty())
    return emitOpError("names no axes");
  auto emitError = [&] { return emitOpError(); };
  AxisUses uses(ends->to.getMeshOrRef(), ends->mesh, emitError);
  if (failed(uses.add(refs, "its axes", /*inOrder=*/true)))
    return failure();
  AxisParts pending = ends->pendingBefore(), taken = pending;
  for (size_t d = 0; d < ends->rank; ++d)
    llvm::append_range(taken, ends->fromDim(d));
  for (const AxisPart &axis : partsOf(ends->mesh, refs)) {
    for (const AxisPart &other : taken)
      if (other.overlaps(axis))
        return emitOpError("its operand is not replicated along ")
               << text(ends->mesh, axis);
    pending.push_back(axis);
  }
  return ends->expectPending(pending);
}

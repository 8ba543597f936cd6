// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives of manual computations, as global ops: the devices of a group
// are a dim, along which values are reduced, joined, exchanged or taken.
#include "CollectiveGroups.h"
#include "ScalarMath.h"

using namespace meshloom;
using namespace meshloom::importer;

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// [n, g, ...] reduced along g by any function of two scalars. Groups may be
/// smaller than g.
static FailureOr<Value> reduceGroups(Importer &im, Region &computation,
                                     Value opened, const Groups &groups) {
  LaneBuilder &b = im.b;
  Value isMember = groups.members(opened);
  if (auto kind = Importer::kindOf(computation)) {
    if (isMember) {
      Value nothing = im.identity(*kind, b.elementOf(opened));
      opened =
          b.select(isMember, opened, b.broadcast(nothing, b.shapeOf(opened)));
    }
    return b.reduce(*kind, opened, 1);
  }
  SmallVector<int64_t> shape = b.shapeOf(opened);
  int64_t size = shape[1];
  shape.erase(shape.begin() + 1);
  auto partAt = [&](Value value, int64_t i) {
    return b.reshape(b.sliceDim(value, 1, i, i + 1), shape);
  };
  Value result = partAt(opened, 0);
  for (int64_t i = 1; i < size; ++i) {
    Imported next = importElementwiseRegion(im, computation,
                                            {result, partAt(opened, i)}, shape);
    if (failed(next))
      return failure();
    result = isMember ? b.select(partAt(isMember, i), next->front(), result)
                      : next->front();
  }
  return result;
}

/// The reduction over a group of a value, the same on all its devices.
static FailureOr<Value> allReduce(Importer &im, const Groups &groups,
                                  Region &computation, Value value) {
  LaneBuilder &b = im.b;
  if (groups.trivial())
    return value;
  auto kind = Importer::kindOf(computation);
  bool cheap = kind && *kind != ReduceKind::Prod && !groups.getAxes().empty() &&
               !(b.elementOf(value).isInteger(1));
  if (!cheap) {
    auto result = reduceGroups(im, computation, groups.open(value), groups);
    if (failed(result))
      return failure();
    return groups.closeUniform(*result);
  }
  return b.reduceLanes(*kind, value, groups.getAxes());
}

static Imported importAllReduce(Importer &im, stablehlo::AllReduceOp op) {
  auto groups = Groups::byIds(im, op, Members::Some);
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  for (Value operand : im.get(op.getOperands())) {
    operand = im.promoted(op.getComputation(), operand)[0];
    auto result = allReduce(im, *groups, op.getComputation(), operand);
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  return results;
}

static FailureOr<Value> importReduceScatter(Importer &im,
                                            stablehlo::ReduceScatterOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byIds(im, op);
  if (failed(groups))
    return failure();
  Value operand = im.promoted(op.getComputation(), im.get(op.getOperand()))[0];
  if (groups->trivial())
    return operand;
  int64_t dim = int64_t(op.getScatterDimension()), size = groups->getSize();
  if (dim < 0 || dim >= b.rankOf(operand) ||
      b.shapeOf(operand)[dim] % size != 0)
    return im.error("reduce_scatter cannot cut dim ")
           << dim << " of a " << b.typeOf(operand) << " into " << size
           << " parts";
  auto sum =
      reduceGroups(im, op.getComputation(), groups->open(operand), *groups);
  if (failed(sum))
    return failure();
  // [n, ...] -> [n, .., g, part, ..] -> [n, g, .., part, ..]
  return asWritten(
      im.b,
      groups->close(b.moveDim(
          b.splitDim(*sum, dim + 1, {size, b.shapeOf(*sum)[dim + 1] / size}),
          dim + 1, 1)),
      im.manualAxes);
}

/// The reduction over a group on its root, the first device or the one that
/// the last operand says for each other operand; 0 on all others.
static Imported importCollectiveReduce(Importer &im,
                                       stablehlo::CollectiveReduceOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byIds(im, op, Members::Some);
  if (failed(groups))
    return failure();
  SmallVector<Value> operands = im.get(op.getOperands()), results;
  Value roots = op.getHasDynamicRoot() && !operands.empty()
                    ? operands.pop_back_val()
                    : Value();
  if (roots && b.typeOf(roots) != RankedTensorType::get(
                                      int64_t(operands.size()), b.getI32Type()))
    return im.error("collective_reduce takes the roots of ")
           << operands.size() << " operands as a vector of i32, not a "
           << b.typeOf(roots);
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (groups->trivial()) {
      results.push_back(operand);
      continue;
    }
    Value opened = groups->open(operand);
    auto sum = reduceGroups(im, op.getComputation(), opened, *groups);
    if (failed(sum))
      return failure();
    SmallVector<int64_t> shape = b.shapeOf(opened), dims{0};
    for (int64_t dim = 2; dim < int64_t(shape.size()); ++dim)
      dims.push_back(dim);
    auto index = RankedTensorType::get(shape, b.getI32Type());
    Value root = b.splat(index, 0.0);
    if (roots) {
      Value its =
          b.sliceDim(groups->open(roots), 2, int64_t(i), int64_t(i) + 1);
      root = b.broadcast(b.reshape(its, {shape[0], shape[1]}), shape, {0, 1});
    }
    Value isRoot =
        b.compare(dtensor::ComparisonDirection::EQ, root, b.iota(index, 1));
    results.push_back(groups->close(
        b.select(isRoot, b.broadcast(*sum, shape, dims), b.like(opened, 0))));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

static Imported importAllGather(Importer &im, stablehlo::AllGatherOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byIds(im, op);
  if (failed(groups))
    return failure();
  int64_t dim = int64_t(op.getAllGatherDim());
  SmallVector<Value> results;
  for (Value operand : im.get(op.getOperands())) {
    if (groups->trivial()) {
      results.push_back(operand);
      continue;
    }
    if (dim < 0 || dim >= b.rankOf(operand))
      return im.error("all_gather joins dim ")
             << dim << " of a " << b.typeOf(operand);
    // [n, g, ...] -> [n, .., g, part, ..] -> [n, ...]
    Value joined = b.moveDim(groups->open(operand), 1, dim + 1);
    results.push_back(
        asWritten(im.b, groups->closeUniform(b.mergeDims(joined, dim + 1)),
                  im.manualAxes));
  }
  return results;
}

static Imported importAllToAll(Importer &im, stablehlo::AllToAllOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byChannel(im, op);
  if (failed(groups))
    return failure();
  int64_t from = int64_t(op.getSplitDimension()),
          to = int64_t(op.getConcatDimension()), size = groups->getSize();
  if (int64_t(op.getSplitCount()) != size)
    return im.error("all_to_all cuts into ")
           << op.getSplitCount() << " parts for groups of " << size
           << " devices";
  SmallVector<Value> results;
  for (Value operand : im.get(op.getOperands())) {
    if (groups->trivial()) {
      results.push_back(operand);
      continue;
    }
    int64_t rank = b.rankOf(operand);
    if (from < 0 || from >= rank || to < 0 || to >= rank ||
        b.shapeOf(operand)[from] % size != 0)
      return im.error("all_to_all cannot cut dim ")
             << from << " of a " << b.typeOf(operand) << " into " << size
             << " parts and join them along dim " << to;
    // [n, source, .., target, part, ..] -> [n, target, .., source, joined, ..]
    Value value = b.splitDim(groups->open(operand), from + 2,
                             {size, b.shapeOf(operand)[from] / size});
    value = b.moveDim(value, from + 2, 1);
    value = b.moveDim(value, 2, to + 2);
    results.push_back(asWritten(im.b, groups->close(b.mergeDims(value, to + 2)),
                                im.manualAxes));
  }
  return results;
}

static Imported importCollectiveBroadcast(Importer &im,
                                          stablehlo::CollectiveBroadcastOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byChannel(im, op, Members::Any);
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  for (Value operand : im.get(op.getOperands())) {
    if (groups->trivial()) {
      results.push_back(operand);
      continue;
    }
    Value first = b.sliceDim(groups->open(operand), 1, 0, 1);
    SmallVector<int64_t> shape = b.shapeOf(first);
    shape.erase(shape.begin() + 1);
    results.push_back(asWritten(
        im.b, groups->closeUniform(b.reshape(first, shape)), im.manualAxes));
  }
  return results;
}

static FailureOr<Value> importPermute(Importer &im,
                                      stablehlo::CollectivePermuteOp op) {
  LaneBuilder &b = im.b;
  const Mesh mesh = b.getMesh().getMesh();
  Value operand = im.get(op.getOperand());
  auto channel = op.getChannelHandle();
  mlir::DenseIntElementsAttr pairs = op.getSourceTargetPairs();
  if (pairs.getType().getRank() != 2 ||
      (pairs.getNumElements() && pairs.getType().getDimSize(1) != 2))
    return im.error("source_target_pairs must be pairs");
  // Which position each one's value comes from; -1: from nowhere.
  std::vector<int64_t> source(size_t(mesh.size()), -1);
  bool ofDevices = channel && channel->getHandle() > 0;
  if (!ofDevices) { // between replicas, of which there is one
    for (const llvm::APInt &id : pairs.getValues<llvm::APInt>())
      if (!id.isZero())
        return im.error("source_target_pairs name replica ")
               << id.getSExtValue()
               << ", but there is one only; between devices, "
                  "collective_permute needs a channel_handle";
    return pairs.empty() ? b.like(operand, 0) : operand;
  }
  auto ids = llvm::to_vector(pairs.getValues<llvm::APInt>());
  for (size_t i = 0; i + 1 < ids.size(); i += 2) {
    int64_t from = ids[i].getSExtValue(), to = ids[i + 1].getSExtValue();
    if (from < 0 || to < 0 || from >= mesh.size() || to >= mesh.size())
      return im.error("the mesh ") << mesh.spec_string() << " has no devices "
                                   << from << " -> " << to;
    from = im.positionOf(from);
    to = im.positionOf(to);
    if (source[size_t(to)] != -1)
      return im.error("device ") << to << " is the target of two pairs";
    source[size_t(to)] = from;
  }
  // The axes along which values move. If their moves are the same at all places
  // of the other axes, only these count.
  auto tableOver =
      [&](ArrayRef<unsigned> axes) -> std::optional<SmallVector<int64_t>> {
    int64_t count = 1;
    for (unsigned axis : axes)
      count *= mesh.axis_size(axis);
    constexpr int64_t unknown = -2;
    SmallVector<int64_t> table(count, unknown);
    auto placeOf = [&](ArrayRef<int64_t> coords) {
      int64_t place = 0;
      for (unsigned axis : axes)
        place = place * mesh.axis_size(axis) + coords[axis];
      return place;
    };
    for (int64_t to = 0; to < mesh.size(); ++to) {
      std::vector<int64_t> target = mesh.coords(to);
      int64_t from = source[size_t(to)], place = -1;
      if (from >= 0) {
        std::vector<int64_t> coords = mesh.coords(from);
        for (unsigned axis = 0; axis < mesh.rank(); ++axis)
          if (!contains(axes, axis) && coords[axis] != target[axis])
            return std::nullopt;
        place = placeOf(coords);
      }
      int64_t &entry = table[placeOf(target)];
      if (entry != unknown && entry != place)
        return std::nullopt;
      entry = place;
    }
    return table;
  };
  SmallVector<unsigned> moving, all = communicating(im);
  for (int64_t to = 0; to < mesh.size(); ++to)
    if (int64_t from = source[size_t(to)]; from >= 0)
      for (unsigned axis = 0; axis < mesh.rank(); ++axis)
        if (mesh.coords(from)[axis] != mesh.coords(to)[axis] &&
            !contains(moving, axis))
          moving.push_back(axis);
  llvm::sort(moving);
  SmallVector<unsigned> axes = moving;
  auto table = tableOver(axes);
  if (!table) {
    axes = all;
    table = tableOver(axes);
  }
  if (!table)
    return im.error("source_target_pairs go beyond the manual axes");
  if (axes.empty())
    return operand;
  SmallVector<int64_t> shape, flat{int64_t(table->size())};
  for (unsigned axis : axes)
    shape.push_back(mesh.axis_size(axis));
  llvm::append_range(shape, b.shapeOf(operand));
  llvm::append_range(flat, b.shapeOf(operand));
  Value value = b.reshape(b.expose(operand, axes), flat);
  return asWritten(im.b,
                   b.hide(b.reshape(b.take(value, 0, *table), shape), axes),
                   im.manualAxes);
}

//===----------------------------------------------------------------------===//
// Which device this is
//===----------------------------------------------------------------------===//

static bool devicesInOrder(Importer &im) {
  for (int64_t i = 0; i < im.b.getMesh().getMesh().size(); ++i)
    if (im.deviceAt(i) != i)
      return false;
  return true;
}

/// floor(id / divisor) mod modulus of the device's id, if that is made of whole
/// axes: then it is the same along all others.
static std::optional<Value> digitsOfId(Importer &im, int64_t divisor,
                                       int64_t modulus, Type element) {
  LaneBuilder &b = im.b;
  const Mesh mesh = b.getMesh().getMesh();
  if (!devicesInOrder(im))
    return std::nullopt;
  std::vector<int64_t> strides = mesh.strides();
  Value sum = b.splat(RankedTensorType::get({}, element), 0.0);
  int64_t covered = 1;
  for (unsigned axis : communicating(im)) {
    int64_t size = mesh.axis_size(axis);
    if (size == 1 || strides[axis] % divisor != 0 ||
        divisor * modulus % (strides[axis] * size) != 0)
      continue;
    covered *= size;
    Value term = b.coordinate(axis, element);
    term = b.apply<dtensor::MultiplyOp>(
        {term, b.like(term, double(strides[axis] / divisor))});
    sum = b.apply<dtensor::AddOp>({sum, term});
  }
  return covered == modulus ? std::optional(sum) : std::nullopt;
}

static Value importPartitionId(Importer &im, stablehlo::PartitionIdOp op) {
  LaneBuilder &b = im.b;
  RankedTensorType type = Importer::typeOf(op.getResult());
  const Mesh mesh = b.getMesh().getMesh();
  if (!im.shardings.any() || mesh.size() == 1)
    return b.splat(type, 0.0);
  if (auto id = digitsOfId(im, 1, mesh.size(), type.getElementType()))
    return *id;
  // A table over the manual axes, at place 0 of the others.
  SmallVector<unsigned> axes = communicating(im);
  SmallVector<int64_t> shape;
  SmallVector<llvm::APInt> ids;
  for (unsigned axis : axes)
    shape.push_back(mesh.axis_size(axis));
  for (int64_t position = 0; position < mesh.size(); ++position) {
    bool first = true;
    std::vector<int64_t> coords = mesh.coords(position);
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      first &= contains(axes, axis) || coords[axis] == 0;
    if (first)
      ids.emplace_back(type.getElementTypeBitWidth(),
                       uint64_t(im.deviceAt(position)));
  }
  auto table = RankedTensorType::get(shape, type.getElementType());
  return b.hide(b.constant(cast<mlir::ElementsAttr>(
                    Attribute(DenseElementsAttr::get(table, ids)))),
                axes);
}

/// remainder(divide(partition_id, d), m): JAX's axis_index.
static Value importRemainder(Importer &im, stablehlo::RemOp op) {
  Value id = op.getLhs();
  std::optional<int64_t> divisor = 1, modulus = constantNumber(op.getRhs());
  if (auto divide = id.getDefiningOp<stablehlo::DivOp>()) {
    divisor = constantNumber(divide.getRhs());
    id = divide.getLhs();
  }
  if (id.getDefiningOp<stablehlo::PartitionIdOp>() && im.shardings.any() &&
      divisor && modulus && *divisor > 0 && *modulus > 0)
    if (auto digits = digitsOfId(im, *divisor, *modulus,
                                 im.b.elementOf(im.get(op.getLhs()))))
      return *digits;
  return im.b.apply<dtensor::RemainderOp>(im.get(op->getOperands()));
}

void importer::addCollectives(Handlers &handlers) {
  handlers.add<stablehlo::AllReduceOp>(importAllReduce);
  handlers.add<stablehlo::CollectiveReduceOp>(importCollectiveReduce);
  handlers.add<stablehlo::ReduceScatterOp>(importReduceScatter);
  handlers.add<stablehlo::AllGatherOp>(importAllGather);
  handlers.add<stablehlo::AllToAllOp>(importAllToAll);
  handlers.add<stablehlo::CollectiveBroadcastOp>(importCollectiveBroadcast);
  handlers.add<stablehlo::CollectivePermuteOp>(importPermute);
  handlers.add<stablehlo::PartitionIdOp>(importPartitionId);
  handlers.add<stablehlo::RemOp>(importRemainder);
  // One replica: it is number 0, and sums over replicas are its own.
  handlers.add<stablehlo::ReplicaIdOp>(
      [](Importer &im, stablehlo::ReplicaIdOp op) {
        return im.b.splat(Importer::typeOf(op.getResult()), 0.0);
      });
  handlers.add<stablehlo::CrossReplicaSumOp>(
      [](Importer &im, stablehlo::CrossReplicaSumOp op) {
        return im.get(op.getOperand());
      });
}

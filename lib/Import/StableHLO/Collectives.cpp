// The collectives of manual computations, as global ops: the devices of a group
// are a dim, along which values are reduced, joined, exchanged or taken.
#include "Importer.h"

#include "ScalarMath.h"

using namespace meshloom;
using namespace meshloom::importer;

namespace {
/// Who takes part with whom. Values are opened as [n, g, ...]: n groups of g
/// devices; where the groups are what mesh axes span, n is 1 and the other axes
/// stay lanes.
class Groups {
public:
  /// The groups of a collective whose ids are devices' (not replicas').
  static FailureOr<Groups>
  of(Importer &im, Attribute groups,
     std::optional<stablehlo::ChannelHandleAttr> channel, bool globalIds,
     bool devicesByChannel);

  template <typename Op> static FailureOr<Groups> byIds(Importer &im, Op op) {
    return of(im, op.getReplicaGroups(), op.getChannelHandle(),
              op.getUseGlobalDeviceIds(), /*devicesByChannel=*/false);
  }
  template <typename Op>
  static FailureOr<Groups> byChannel(Importer &im, Op op) {
    return of(im, op.getReplicaGroups(), op.getChannelHandle(),
              /*globalIds=*/false, /*devicesByChannel=*/true);
  }

  /// Every device is alone.
  bool trivial() const { return size == 1; }
  int64_t getSize() const { return size; }
  /// Axes that the groups span, or nothing where they are others.
  ArrayRef<unsigned> getAxes() const { return axes; }

  Value open(Value value) const {
    SmallVector<int64_t> shape{count, size};
    llvm::append_range(shape, b->shapeOf(value));
    if (!axes.empty())
      return b->reshape(b->expose(value, axes), shape);
    SmallVector<int64_t> flat{count * size};
    llvm::append_range(flat, b->shapeOf(value));
    value = b->reshape(b->expose(value, all), flat);
    return b->reshape(b->take(value, 0, order), shape);
  }

  /// [n, g, ...] back to a value per device.
  Value close(Value value) const {
    ArrayRef<unsigned> dims = axes.empty() ? ArrayRef(all) : ArrayRef(axes);
    auto local = b->shapeOf(value);
    ArrayRef<int64_t> part = ArrayRef(local).drop_front(2);
    if (axes.empty()) {
      SmallVector<int64_t> flat{count * size}, inverse(order.size());
      llvm::append_range(flat, part);
      for (auto [i, place] : llvm::enumerate(order))
        inverse[place] = int64_t(i);
      value = b->take(b->reshape(value, flat), 0, inverse);
    }
    SmallVector<int64_t> shape;
    for (unsigned axis : dims)
      shape.push_back(b->getMesh().getSizes()[axis]);
    llvm::append_range(shape, part);
    return b->hide(b->reshape(value, shape), dims);
  }

  /// [n, ...]: the same on all devices of a group.
  Value closeUniform(Value value) const {
    SmallVector<int64_t> shape = b->shapeOf(value);
    if (!axes.empty())
      return b->reshape(value, ArrayRef(shape).drop_front());
    SmallVector<int64_t> dims{0};
    for (size_t dim = 1; dim < shape.size(); ++dim)
      dims.push_back(int64_t(dim) + 1);
    shape.insert(shape.begin() + 1, size);
    return close(b->broadcast(value, shape, dims));
  }

private:
  LaneBuilder *b = nullptr;
  int64_t count = 1, size = 1;
  SmallVector<unsigned> axes; ///< major to minor
  SmallVector<unsigned> all;  ///< without `axes`: what `order` is about
  SmallVector<int64_t> order; ///< positions over `all`, group by group
};

/// Dim `from` moved to `to`, its place once it has gone.
Value moved(LaneBuilder &b, Value value, int64_t from, int64_t to) {
  SmallVector<int64_t> order =
      llvm::to_vector(llvm::seq<int64_t>(0, b.rankOf(value)));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return b.transpose(value, order);
}

/// Dim `dim` and the next one as one.
Value merged(LaneBuilder &b, Value value, int64_t dim) {
  SmallVector<int64_t> shape = b.shapeOf(value);
  shape[dim] *= shape[dim + 1];
  shape.erase(shape.begin() + dim + 1);
  return b.reshape(value, shape);
}

/// Dim `dim` as [parts, rest].
Value cut(LaneBuilder &b, Value value, int64_t dim, int64_t parts) {
  SmallVector<int64_t> shape = b.shapeOf(value);
  shape[dim] /= parts;
  shape.insert(shape.begin() + dim, parts);
  return b.reshape(value, shape);
}
} // namespace

/// The axes that manual computations may communicate along: those around, or
/// all where GSPMD's markers delimit the manual part.
static SmallVector<unsigned> communicating(Importer &im) {
  if (!im.manualAxes.empty())
    return im.manualAxes;
  return llvm::to_vector(
      llvm::seq<unsigned>(0, unsigned(im.b.getMesh().getSizes().size())));
}

/// Axes that the groups of positions span, major to minor, or nothing.
static std::optional<SmallVector<unsigned>>
spannedAxes(const Mesh &mesh, ArrayRef<SmallVector<int64_t>> groups) {
  ArrayRef<int64_t> first = groups.front();
  std::vector<int64_t> origin = mesh.coords(first[0]);
  SmallVector<unsigned> minorFirst;
  for (size_t unit = 1; unit < first.size();) {
    std::vector<int64_t> coords = mesh.coords(first[unit]);
    std::optional<unsigned> changed;
    for (unsigned axis = 0; axis < mesh.rank(); ++axis)
      if (coords[axis] != origin[axis]) {
        if (changed || coords[axis] != origin[axis] + 1)
          return std::nullopt;
        changed = axis;
      }
    if (!changed || llvm::is_contained(minorFirst, *changed))
      return std::nullopt;
    minorFirst.push_back(*changed);
    unit *= size_t(mesh.axis_size(*changed));
    if (first.size() % unit != 0)
      return std::nullopt;
  }
  for (ArrayRef<int64_t> group : groups) {
    std::vector<int64_t> base = mesh.coords(group[0]);
    for (auto [i, position] : llvm::enumerate(group)) {
      std::vector<int64_t> expected = base;
      int64_t rest = int64_t(i);
      for (unsigned axis : minorFirst) {
        expected[axis] = rest % mesh.axis_size(axis);
        rest /= mesh.axis_size(axis);
      }
      if (mesh.coords(position) != expected)
        return std::nullopt;
    }
  }
  std::reverse(minorFirst.begin(), minorFirst.end());
  return minorFirst;
}

FailureOr<Groups>
Groups::of(Importer &im, Attribute attribute,
           std::optional<stablehlo::ChannelHandleAttr> channel, bool globalIds,
           bool devicesByChannel) {
  Groups result;
  result.b = &im.b;
  result.all = communicating(im);
  const Mesh mesh = im.b.getMesh().getMesh();
  auto spanning = [&](ArrayRef<unsigned> axes) {
    result.axes.assign(axes.begin(), axes.end());
    for (unsigned axis : axes)
      result.size *= mesh.axis_size(axis);
    return result;
  };
  if (auto named = dyn_cast<stablehlo::ReplicaGroupMeshAxesAttr>(attribute)) {
    auto axes = im.shardings.groupAxes(im.b.getLoc(), named);
    if (failed(axes))
      return failure();
    return spanning(*axes);
  }
  auto listed = dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!listed || listed.getType().getRank() != 2)
    return im.error("cannot read the replica groups ") << attribute;
  bool hasChannel = channel && channel->getHandle() > 0;
  bool ofDevices = hasChannel && (globalIds || devicesByChannel);
  if (!hasChannel) { // between replicas, of which there is one
    for (const llvm::APInt &id : listed.getValues<llvm::APInt>())
      if (id.getSExtValue() > 0)
        return im.error("replica groups name replica ")
               << id.getSExtValue()
               << ", but there is one only; between devices, the collective "
                  "needs a channel_handle";
    return result;
  }
  if (!ofDevices || listed.getNumElements() == 0)
    return spanning(result.all);

  int64_t perGroup = listed.getType().getDimSize(1);
  SmallVector<SmallVector<int64_t>> groups;
  llvm::BitVector seen(unsigned(mesh.size()));
  for (auto [i, id] : llvm::enumerate(listed.getValues<llvm::APInt>())) {
    int64_t device = id.getSExtValue();
    if (int64_t(i) % perGroup == 0)
      groups.emplace_back();
    if (device == -1)
      return im.error("replica groups of different sizes are not supported");
    if (device < 0 || device >= mesh.size() || seen.test(unsigned(device)))
      return im.error("replica groups name device ")
             << device << ", which the mesh " << mesh.spec_string()
             << " does not have or they name twice";
    seen.set(unsigned(device));
    groups.back().push_back(
        im.shardings.any() ? im.shardings.meshes().positionOf(device) : device);
  }
  if (!seen.all())
    return im.error("replica groups do not name every device of the mesh ")
           << mesh.spec_string();
  if (perGroup == 1)
    return result;
  if (auto axes = spannedAxes(mesh, groups))
    return spanning(*axes);

  // Not along axes: reorder the devices so that groups are neighbours.
  for (ArrayRef<int64_t> group : groups) {
    bool first = true;
    SmallVector<int64_t> places;
    for (int64_t position : group) {
      std::vector<int64_t> coords = mesh.coords(position);
      int64_t place = 0;
      for (unsigned axis = 0; axis < mesh.rank(); ++axis)
        if (contains(result.all, axis))
          place = place * mesh.axis_size(axis) + coords[axis];
        else
          first &= coords[axis] == 0;
      places.push_back(place);
    }
    if (first)
      llvm::append_range(result.order, places);
  }
  int64_t devices = 1;
  for (unsigned axis : result.all)
    devices *= mesh.axis_size(axis);
  if (int64_t(result.order.size()) != devices)
    return im.error("replica groups go beyond the manual axes");
  result.size = perGroup;
  result.count = devices / perGroup;
  return result;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// [n, g, ...] reduced along g by any function of two scalars.
static FailureOr<Value> reduceGroups(Importer &im, Region &computation,
                                     Value opened) {
  LaneBuilder &b = im.b;
  if (auto kind = Importer::kindOf(computation))
    return b.reduce(*kind, opened, 1);
  SmallVector<int64_t> shape = b.shapeOf(opened);
  int64_t size = shape[1];
  shape.erase(shape.begin() + 1);
  auto at = [&](int64_t i) {
    return b.reshape(b.sliceDim(opened, 1, i, i + 1), shape);
  };
  Value result = at(0);
  for (int64_t i = 1; i < size; ++i) {
    Imported next =
        importElementwiseRegion(im, computation, {result, at(i)}, shape);
    if (failed(next))
      return failure();
    result = next->front();
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
    auto result = reduceGroups(im, computation, groups.open(value));
    if (failed(result))
      return failure();
    return groups.closeUniform(*result);
  }
  // Along axes that the value has no lane for, all have the same.
  SmallVector<unsigned> differing;
  int64_t copies = 1;
  Lanes has(b.lanesOf(value));
  for (unsigned axis : groups.getAxes()) {
    if (contains(has, axis))
      differing.push_back(axis);
    else
      copies *= b.getMesh().getSizes()[axis];
  }
  if (!differing.empty())
    value = b.reduce(
        *kind, b.expose(value, differing),
        llvm::to_vector(llvm::seq<int64_t>(0, int64_t(differing.size()))));
  if (*kind == ReduceKind::Sum && copies > 1)
    value =
        b.apply<dtensor::MultiplyOp>({value, b.like(value, double(copies))});
  return value;
}

static Imported importAllReduce(Importer &im, stablehlo::AllReduceOp op) {
  auto groups = Groups::byIds(im, op);
  if (failed(groups))
    return failure();
  SmallVector<Value> results;
  for (Value operand : im.get(op.getOperands())) {
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
  Value operand = im.get(op.getOperand());
  if (groups->trivial())
    return operand;
  int64_t dim = int64_t(op.getScatterDimension()), size = groups->getSize();
  if (dim < 0 || dim >= b.rankOf(operand) ||
      b.shapeOf(operand)[dim] % size != 0)
    return im.error("reduce_scatter cannot cut dim ")
           << dim << " of a " << b.typeOf(operand) << " into " << size
           << " parts";
  auto sum = reduceGroups(im, op.getComputation(), groups->open(operand));
  if (failed(sum))
    return failure();
  // [n, ...] -> [n, .., g, part, ..] -> [n, g, .., part, ..]
  return groups->close(moved(b, cut(b, *sum, dim + 1, size), dim + 1, 1));
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
    Value joined = moved(b, groups->open(operand), 1, dim + 1);
    results.push_back(groups->closeUniform(merged(b, joined, dim + 1)));
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
    Value value = cut(b, groups->open(operand), from + 2, size);
    value = moved(b, value, from + 2, 1);
    value = moved(b, value, 2, to + 2);
    results.push_back(groups->close(merged(b, value, to + 2)));
  }
  return results;
}

static FailureOr<Value>
importCollectiveBroadcast(Importer &im, stablehlo::CollectiveBroadcastOp op) {
  LaneBuilder &b = im.b;
  auto groups = Groups::byChannel(im, op);
  if (failed(groups))
    return failure();
  Value operand = im.get(op.getOperand());
  if (groups->trivial())
    return operand;
  Value first = b.sliceDim(groups->open(operand), 1, 0, 1);
  SmallVector<int64_t> shape = b.shapeOf(first);
  shape.erase(shape.begin() + 1);
  return groups->closeUniform(b.reshape(first, shape));
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
    bool toItself = pairs.getNumElements() == 2;
    return toItself ? operand : b.like(operand, 0);
  }
  auto ids = llvm::to_vector(pairs.getValues<llvm::APInt>());
  for (size_t i = 0; i + 1 < ids.size(); i += 2) {
    int64_t from = ids[i].getSExtValue(), to = ids[i + 1].getSExtValue();
    if (from < 0 || to < 0 || from >= mesh.size() || to >= mesh.size())
      return im.error("the mesh ") << mesh.spec_string() << " has no devices "
                                   << from << " -> " << to;
    if (im.shardings.any()) {
      from = im.shardings.meshes().positionOf(from);
      to = im.shardings.meshes().positionOf(to);
    }
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
  return b.hide(b.reshape(b.take(value, 0, *table), shape), axes);
}

//===----------------------------------------------------------------------===//
// Which device this is
//===----------------------------------------------------------------------===//

/// The coordinate along `axis`, one a device.
static Value coordinate(LaneBuilder &b, unsigned axis, Type element) {
  auto type = RankedTensorType::get(b.getMesh().getSizes()[axis], element);
  return b.hide(b.iota(type, 0), axis);
}

static bool devicesInOrder(Importer &im) {
  for (int64_t i = 0; i < im.b.getMesh().getMesh().size(); ++i)
    if (im.shardings.any() && im.shardings.meshes().deviceAt(i) != i)
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
    if (strides[axis] % divisor != 0 ||
        divisor * modulus % (strides[axis] * size) != 0)
      continue;
    covered *= size;
    Value term = coordinate(b, axis, element);
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
  if (!im.shardings.any())
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
                       uint64_t(im.shardings.meshes().deviceAt(position)));
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

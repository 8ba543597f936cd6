// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// manual_computation (shard_map): values enter by getting lanes for the axes
// they are cut over, and leave by losing them.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

/// The manual axes of each dim, which must be major to the others.
static FailureOr<SmallVector<SmallVector<unsigned>>>
manualPerDim(Importer &im, const ValueSharding &sharding,
             ArrayRef<unsigned> manual, ArrayRef<int64_t> shape) {
  LaneBuilder &b = im.b;
  SmallVector<SmallVector<unsigned>> result;
  for (auto [d, dim] : llvm::enumerate(sharding.dims)) {
    auto &axes = result.emplace_back();
    int64_t shards = 1;
    bool free = false;
    for (unsigned axis : dim.axes) {
      if (!contains(manual, axis)) {
        free = true;
        continue;
      }
      if (free)
        return im.error("dim ")
               << d << " is cut over manual axis "
               << b.getMesh().getNames()[axis]
               << " after one that is not manual; manual axes come first";
      axes.push_back(axis);
      shards *= b.extentOf(axis);
    }
    if (shape[d] % shards != 0)
      return im.error("dim ")
             << d << " of size " << shape[d] << " is cut over manual axes into "
             << shards << " parts, which are not equal";
  }
  return result;
}

/// Returns the part of a sharding that is left inside.
static ValueSharding freePart(ValueSharding sharding,
                              ArrayRef<unsigned> manual) {
  for (ValueSharding::Dim &dim : sharding.dims)
    llvm::erase_if(dim.axes,
                   [&](unsigned axis) { return contains(manual, axis); });
  for (SmallVector<unsigned> *axes :
       {&sharding.replicated, &sharding.unreduced})
    llvm::erase_if(*axes,
                   [&](unsigned axis) { return contains(manual, axis); });
  return sharding;
}

/// Copies of a value in a new first dim, one for each device along `axis`.
static Value copies(LaneBuilder &b, Value value, unsigned axis) {
  SmallVector<int64_t> shape{b.extentOf(axis)}, dims;
  llvm::append_range(shape, b.shapeOf(value));
  for (int64_t d = 1; d < int64_t(shape.size()); ++d)
    dims.push_back(d);
  return b.broadcast(value, shape, dims);
}

/// `value` as what the devices along `axis` make up by `kind`: the first has
/// it, the others what changes nothing.
static Value addends(Importer &im, Value value, unsigned axis,
                     ReduceKind kind) {
  LaneBuilder &b = im.b;
  Value values = copies(b, value, axis);
  SmallVector<int64_t> shape = b.shapeOf(values);
  auto type = RankedTensorType::get(shape, b.getI32Type());
  Value first = b.compare(dtensor::ComparisonDirection::EQ, b.iota(type, 0),
                          b.splat(type, llvm::APInt(32, 0)));
  Value nothing = b.broadcast(im.identity(kind, b.elementOf(value)), shape);
  return b.hide(b.select(first, values, nothing), axis);
}

/// Combines the values of the devices along `axis` by `kind`. A value that all
/// have is the addend of each.
static FailureOr<Value> combined(Importer &im, Value value, unsigned axis,
                                 const ValueSharding &sharding,
                                 ArrayRef<unsigned> manual) {
  LaneBuilder &b = im.b;
  if (contains(b.lanesOf(value), axis))
    return b.reduce(sharding.unreducedKind, b.expose(value, axis), 0);
  ValueSharding ofCopies = freePart(sharding, manual);
  ofCopies.dims.insert(ofCopies.dims.begin(), {{axis}});
  auto addends = constrain(im, copies(b, value, axis), ofCopies);
  if (failed(addends))
    return failure();
  return b.reduce(sharding.unreducedKind, *addends, 0);
}

FailureOr<Value> importer::enterManual(Importer &im, Value value,
                                       const ValueSharding &sharding,
                                       ArrayRef<unsigned> manual) {
  LaneBuilder &b = im.b;
  SmallVector<int64_t> shape = b.shapeOf(value);
  auto perDim = manualPerDim(im, sharding, manual, shape);
  if (failed(perDim))
    return failure();
  for (unsigned axis : sharding.unreduced)
    if (contains(manual, axis))
      value = addends(im, value, axis, sharding.unreducedKind);
  value = toBlocks(b, value, *perDim);
  return constrain(im, value, freePart(sharding, manual));
}

FailureOr<Value> importer::leaveManual(Importer &im, Value value,
                                       const ValueSharding &sharding,
                                       ArrayRef<unsigned> manual,
                                       RankedTensorType type) {
  LaneBuilder &b = im.b;
  auto perDim = manualPerDim(im, sharding, manual, type.getShape());
  if (failed(perDim))
    return failure();
  for (unsigned axis : sharding.unreduced)
    if (contains(manual, axis)) {
      auto sum = combined(im, value, axis, sharding, manual);
      if (failed(sum))
        return failure();
      value = *sum;
    }
  if (size_t(b.rankOf(value)) != perDim->size())
    return im.error("the body's result has another rank than its sharding");
  int64_t elements = b.typeOf(value).getNumElements();
  for (ArrayRef<unsigned> itsAxes : *perDim)
    for (unsigned axis : itsAxes)
      elements *= b.extentOf(axis);
  if (elements != type.getNumElements())
    return im.error("the body gives a ")
           << b.typeOf(value) << " on each device, which does not make up a "
           << type;
  value = fromBlocks(b, value, *perDim, manual, type.getShape());
  return constrain(im, value, sharding);
}

/// The op's verifier has compared shardings, shapes and the body.
static Imported importManualComputation(Importer &im,
                                        sdy::ManualComputationOp op) {
  Location loc = op.getLoc();
  auto in = op.getInShardings().getShardings(),
       out = op.getOutShardings().getShardings();
  SmallVector<sdy::TensorShardingAttr> shardings(in);
  llvm::append_range(shardings, out);
  auto manual = im.shardings.manualAxes(loc, op.getManualAxes(), shardings);
  if (failed(manual))
    return failure();
  SmallVector<Value> inputs;
  for (auto [source, sharding] : llvm::zip_equal(op.getTensors(), in)) {
    auto meaning = im.shardings.of(loc, sharding, Importer::typeOf(source));
    if (failed(meaning))
      return failure();
    auto entered = enterManual(im, im.get(source), *meaning, *manual);
    if (failed(entered))
      return failure();
    inputs.push_back(*entered);
  }
  ArrayRef<int64_t> order;
  for (sdy::TensorShardingAttr sharding : shardings)
    if (order.empty())
      order = im.shardings.declaredOrder(sharding.getMeshOrRef());
  if (!im.manualAxes.empty() && order != im.manualOrder)
    return im.error("this manual computation in another one is over a mesh "
                    "that numbers its devices in another order");
  ArrayRef<int64_t> outerOrder = std::exchange(im.manualOrder, order);
  SmallVector<unsigned> outer = im.manualAxes;
  llvm::append_range(im.manualAxes, *manual);
  llvm::sort(im.manualAxes);
  Imported results = im.importInline(op.getBody(), inputs);
  im.manualAxes = outer;
  im.manualOrder = outerOrder;
  if (failed(results))
    return failure();
  for (auto [value, sharding, result] :
       llvm::zip_equal(*results, out, op->getResults())) {
    RankedTensorType type = Importer::typeOf(result);
    auto meaning = im.shardings.of(loc, sharding, type);
    if (failed(meaning))
      return failure();
    auto whole = leaveManual(im, value, *meaning, *manual, type);
    if (failed(whole))
      return failure();
    value = *whole;
  }
  return results;
}

void importer::addManualComputations(Handlers &handlers) {
  handlers.add<sdy::ManualComputationOp>(importManualComputation);
}

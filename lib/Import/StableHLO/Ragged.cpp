// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and exchanges of ragged parts. A group's part of a dim is what a
// mask leaves of the whole, so nothing depends on sizes known at run time only.
#include "Importer.h"

#include "meshloom/Math/FloatMath.h"

using namespace meshloom;
using namespace meshloom::importer;
using dtensor::ComparisonDirection;

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

namespace {
/// One ragged_dot. With dims b (batch), m and n (left), k (contracted) and g
/// groups, the ragged dim of lhs decides what is computed:
///
///   m:  [b, m, k] x [g, b, k, n] -> [b, m, n]    (each row by its group's rhs)
///   k:  [b, m, k] x [b, k, n]    -> [g, b, m, n] (each group a product)
///   b:  [b, m, k] x [b, k, n]    -> [b, m, n]    (as without groups)
///
/// Rows beyond the last group give 0.
class RaggedDot {
public:
  RaggedDot(Importer &im, chlo::RaggedDotOp op)
      : im(im), b(im.b), op(op), dims(op.getRaggedDotDimensionNumbers()),
        lhs(im.get(op.getLhs())), rhs(im.get(op.getRhs())),
        sizes(im.get(op.getGroupSizes())) {}

  FailureOr<Value> run() {
    if (failed(check()))
      return failure();
    Type element = Importer::typeOf(op.getResult()).getElementType();
    ArrayRef<int64_t> lhsBatch = dims.getLhsBatchingDimensions(),
                      rhsBatch = dims.getRhsBatchingDimensions(),
                      lhsSum = dims.getLhsContractingDimensions(),
                      rhsSum = dims.getRhsContractingDimensions();
    if (llvm::is_contained(lhsBatch, ragged))
      return importDot(im, lhs, rhs, lhsBatch, rhsBatch, lhsSum, rhsSum,
                       element);
    // [g, ...]: of each group only what is its part.
    Value parts = grouped();
    auto moved = [](ArrayRef<int64_t> list) {
      return llvm::to_vector(
          llvm::map_range(list, [](int64_t dim) { return dim + 1; }));
    };
    SmallVector<int64_t> batch = moved(lhsBatch), sum = moved(lhsSum);
    if (llvm::is_contained(lhsSum, ragged)) {
      auto product =
          importDot(im, parts, rhs, batch, rhsBatch, sum, rhsSum, element);
      if (failed(product))
        return failure();
      // [b.., g, ..] -> [g, b.., ..]
      SmallVector<int64_t> order{int64_t(batch.size())};
      for (int64_t dim = 0; dim < b.rankOf(*product); ++dim)
        if (dim != order[0])
          order.push_back(dim);
      return b.transpose(*product, order);
    }
    sum.insert(sum.begin(), 0);
    SmallVector<int64_t> others(rhsSum);
    others.insert(others.begin(), dims.getRhsGroupDimensions()[0]);
    return importDot(im, parts, rhs, batch, rhsBatch, sum, others, element);
  }

private:
  LogicalResult check() {
    if (dims.getLhsRaggedDimensions().size() != 1)
      return im.error("ragged_dot has one ragged dim, not ")
             << dims.getLhsRaggedDimensions().size();
    ragged = dims.getLhsRaggedDimensions()[0];
    int64_t rank = b.rankOf(lhs);
    ArrayRef<int64_t> batch = dims.getLhsBatchingDimensions(),
                      sum = dims.getLhsContractingDimensions();
    for (int64_t dim :
         llvm::concat<const int64_t>(batch, sum, dims.getLhsRaggedDimensions()))
      if (dim < 0 || dim >= rank)
        return im.error("ragged_dot: ")
               << dim << " is not a dim of a tensor of rank " << rank;
    if (batch.size() != dims.getRhsBatchingDimensions().size() ||
        sum.size() != dims.getRhsContractingDimensions().size())
      return im.error(
          "ragged_dot pairs different numbers of dims of lhs and rhs");
    bool isLeft =
        !llvm::is_contained(batch, ragged) && !llvm::is_contained(sum, ragged);
    ArrayRef<int64_t> group = dims.getRhsGroupDimensions();
    if (group.size() != (isLeft ? 1 : 0))
      return im.error("ragged_dot with ragged dim ")
             << ragged << " takes "
             << (isLeft ? "one group dim" : "no group dim") << " of rhs, not "
             << group.size();
    // Sizes may differ along dims of lhs: those that come before.
    SmallVector<int64_t> remaining;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(sum, dim))
        remaining.push_back(dim);
    for (ArrayRef<int64_t> list : {batch, ArrayRef<int64_t>(remaining), sum}) {
      const auto *end = llvm::find(list, ragged);
      prefix.append(list.begin(), end);
      if (end != list.end())
        break;
    }
    SmallVector<int64_t> expected;
    for (int64_t dim : prefix)
      expected.push_back(b.shapeOf(lhs)[dim]);
    SmallVector<int64_t> shape = b.shapeOf(sizes);
    if (shape.empty() || !isa<IntegerType>(b.elementOf(sizes)) ||
        (shape.size() > 1 && ArrayRef(shape).drop_back() != ArrayRef(expected)))
      return im.error("ragged_dot's group sizes are a ")
             << b.typeOf(sizes) << "; expected one integer a group, or that "
             << "for each index of the dims of lhs before the ragged one";
    if (shape.size() == 1)
      prefix.clear();
    if (isLeft && (group[0] < 0 || group[0] >= b.rankOf(rhs) ||
                   b.shapeOf(rhs)[group[0]] != shape.back()))
      return im.error("ragged_dot: rhs has no dim ")
             << group[0] << " of " << shape.back() << " groups";
    return success();
  }

  /// lhs once for each group, 0 beyond the group's part of the ragged dim.
  Value grouped() {
    FloatMath m(b);
    SmallVector<int64_t> counts = b.shapeOf(sizes), shape = b.shapeOf(lhs);
    int64_t groups = counts.back(), last = int64_t(counts.size()) - 1;
    // Ends: sums over the groups up to each.
    counts.push_back(groups);
    SmallVector<int64_t> tableDims =
        llvm::to_vector(llvm::seq<int64_t>(0, last));
    tableDims.push_back(last + 1);
    Value table = b.broadcast(sizes, counts, tableDims);
    auto index = RankedTensorType::get(counts, b.elementOf(sizes));
    Value counted = b.compare(ComparisonDirection::LE, b.iota(index, last + 1),
                              b.iota(index, last));
    Value ends =
        b.reduce(ReduceKind::Sum, m.select(counted, table, 0.0), last + 1);
    Value begins = m.sub(ends, sizes);
    shape.insert(shape.begin(), groups);
    SmallVector<int64_t> places;
    for (int64_t dim : prefix)
      places.push_back(dim + 1);
    places.push_back(0);
    Value position =
        b.iota(RankedTensorType::get(shape, b.elementOf(sizes)), ragged + 1);
    auto spread = [&](Value bound) {
      return b.broadcast(bound, shape, places);
    };
    Value mine =
        m.both(b.compare(ComparisonDirection::GE, position, spread(begins)),
               b.compare(ComparisonDirection::LT, position, spread(ends)));
    SmallVector<int64_t> lhsDims =
        llvm::to_vector(llvm::seq<int64_t>(1, b.rankOf(lhs) + 1));
    return m.select(mine, b.broadcast(lhs, shape, lhsDims), 0.0);
  }

  Importer &im;
  LaneBuilder &b;
  chlo::RaggedDotOp op;
  chlo::RaggedDotDimensionNumbersAttr dims;
  Value lhs, rhs, sizes;
  int64_t ragged = 0;
  SmallVector<int64_t> prefix; ///< dims of lhs that sizes differ along
};
} // namespace

//===----------------------------------------------------------------------===//
// ragged_all_to_all
//===----------------------------------------------------------------------===//

/// Rows of each device's operand go to rows of others' outputs: device i sends
/// rows [input_offsets[j], + send_sizes[j]) to rows from output_offsets[j] on
/// of device j. Who reads what is a table, by which rows are gathered.
Imported importer::importRaggedAllToAll(Importer &im,
                                        stablehlo::CustomCallOp op) {
  LaneBuilder &b = im.b;
  auto config = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr());
  if (op.getInputs().size() != 6 || op->getNumResults() != 1 || !config ||
      !config.get("replica_groups"))
    return im.error("ragged_all_to_all takes an operand, an output, two "
                    "offsets and two sizes, and its backend_config has "
                    "replica_groups");
  auto id = config.getAs<IntegerAttr>("channel_id");
  auto groups =
      groupsOf(im, config.get("replica_groups"), id ? id.getInt() : 0);
  if (failed(groups))
    return failure();
  SmallVector<Value> inputs = im.get(op.getInputs());
  int64_t size = groups->size;
  RankedTensorType from = b.typeOf(inputs[0]), to = b.typeOf(inputs[1]),
                   table = b.typeOf(inputs[2]);
  bool fits = from.getRank() > 0 && from.getRank() == to.getRank() &&
              from.getShape().drop_front() == to.getShape().drop_front() &&
              table.getRank() == 1 && table.getDimSize(0) > 0 &&
              table.getDimSize(0) % size == 0 &&
              isa<IntegerType>(table.getElementType());
  for (Value other : ArrayRef(inputs).drop_front(2))
    fits &= b.typeOf(other) == table;
  if (!fits)
    return im.error("ragged_all_to_all's output must differ from its operand, "
                    "a ")
           << from << ", in the first dim only, and its offsets and sizes must "
           << "be vectors of one type with a multiple of " << size
           << " entries";
  int64_t rows = from.getDimSize(0), slots = to.getDimSize(0),
          pieces = table.getDimSize(0) / size;
  Value operand = groups->open(inputs[0]), output = groups->open(inputs[1]);
  int64_t count = b.shapeOf(operand)[0];
  // For each receiver's slot: who has a piece that covers it.
  SmallVector<int64_t> shape{count, size, slots, size, pieces};
  auto index = RankedTensorType::get(shape, table.getElementType());
  auto spread = [&](Value numbers) {
    Value perReceiver = b.transpose(
        b.reshape(groups->open(numbers), {count, size, size, pieces}),
        {0, 2, 1, 3});
    return b.broadcast(perReceiver, shape, {0, 1, 3, 4});
  };
  auto add = [&](Value x, Value y) { return b.apply<dtensor::AddOp>({x, y}); };
  auto times = [&](Value x, int64_t by) {
    return b.apply<dtensor::MultiplyOp>({x, b.like(x, double(by))});
  };
  using Direction = dtensor::ComparisonDirection;
  Value slot = b.iota(index, 2), start = spread(inputs[4]);
  Value covered = b.apply<dtensor::AndOp>(
      {b.compare(Direction::GE, slot, start),
       b.compare(Direction::LT, slot, add(start, spread(inputs[3])))});
  // Its place among the rows of all, counted from 1: 0 says nobody.
  Value place = add(
      b.apply<dtensor::SubtractOp>({add(spread(inputs[2]), slot), start}),
      add(times(b.iota(index, 0), size * rows), times(b.iota(index, 3), rows)));
  place = b.select(covered, add(place, b.like(place, 1)), b.like(place, 0));
  place = b.reduce(ReduceKind::Sum, place, {3, 4});
  SmallVector<int64_t> flat{count * size * rows}, sizes(from.getShape()),
      offsets, whole{count, size};
  llvm::append_range(flat, from.getShape().drop_front());
  llvm::append_range(whole, to.getShape());
  sizes[0] = 1;
  for (int64_t dim = 1; dim < from.getRank(); ++dim)
    offsets.push_back(dim + 2);
  SmallVector<Value> sources =
      b.aligned({b.reshape(operand, flat),
                 b.apply<dtensor::SubtractOp>({place, b.like(place, 1)})});
  Lanes lanes = b.lanesOf(sources);
  Value moved = b.make<dtensor::GatherOp>(
      {RankedTensorType::get(whole, from.getElementType())}, sources, lanes,
      {b.list("offset_dims", offsets), b.list("collapsed_slice_dims", 0),
       b.list("operand_batching_dims", {}),
       b.list("start_indices_batching_dims", {}), b.list("start_index_map", 0),
       b.number("index_vector_dim", 3), b.list("slice_sizes", sizes)})[0];
  Value sent = b.compare(Direction::GT, place, b.like(place, 0));
  Value result = b.select(b.broadcast(sent, whole, {0, 1, 2}), moved, output);
  return SmallVector<Value>{groups->close(result)};
}

void importer::addRaggedOps(Handlers &handlers) {
  handlers.add<chlo::RaggedDotOp>([](Importer &im, chlo::RaggedDotOp op) {
    return RaggedDot(im, op).run();
  });
}

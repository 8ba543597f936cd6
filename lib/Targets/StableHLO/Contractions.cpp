// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and reductions: padding along the dims that disappear is replaced
// by what changes nothing.
#include "Exporter.h"

#include "meshloom/Dialect/DTensor/ElementwiseRegion.h"

namespace meshloom::exporting {

static Emitted product(Exporter &e, MutableArrayRef<Operand> operands,
                       const Held &result, ArrayRef<int64_t> lhsBatch,
                       ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsInner,
                       ArrayRef<int64_t> rhsInner) {
  Operand &lhs = operands[0], &rhs = operands[1];
  unsigned resultDim = 0;
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch)) {
    if (!e.fit(lhs, l, result, resultDim) || !e.fit(rhs, r, result, resultDim))
      return std::nullopt;
    ++resultDim;
  }
  for (auto [operand, batch, inner] : {std::tuple{&lhs, lhsBatch, lhsInner},
                                       std::tuple{&rhs, rhsBatch, rhsInner}})
    for (int64_t dim = 0; dim < operand->held.rank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(inner, dim) &&
          !e.fit(*operand, dim, result, resultDim++))
        return std::nullopt;
  for (auto [l, r] : llvm::zip(lhsInner, rhsInner))
    if (!e.fit(rhs, r, lhs.held, l))
      return std::nullopt;
  // Both: nan times zero is nan.
  Value maskedLhs =
      e.mask(lhs.value, lhs.held, lhsInner, e.zero(lhs.held.element));
  Value maskedRhs =
      e.mask(rhs.value, rhs.held, rhsInner, e.zero(rhs.held.element));
  auto dims = stablehlo::DotDimensionNumbersAttr::get(
      e.b.getContext(), lhsBatch, rhsBatch, lhsInner, rhsInner);
  return Values{e.one(
      "dot_general", result.type(), {maskedLhs, maskedRhs},
      {e.attr("dot_dimension_numbers", Attribute(dims)), e.fullPrecision()})};
}

static Emitted emitDot(Exporter &e, Operation *op,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  auto dot = cast<dtensor::DotGeneralOp>(op);
  return product(e, operands, results[0], dot.getLhsBatchingDimensions(),
                 dot.getRhsBatchingDimensions(),
                 dot.getLhsContractingDimensions(),
                 dot.getRhsContractingDimensions());
}

static Emitted emitMatMul(Exporter &e, Operation *,
                          MutableArrayRef<Operand> operands,
                          ArrayRef<Held> results) {
  int64_t rank = results[0].rank();
  SmallVector<int64_t> batch;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    batch.push_back(dim);
  return product(e, operands, results[0], batch, batch, rank - 1, rank - 2);
}

/// Lays the dims that stay out as the result's; false where that fails.
static bool fitFreeDims(Exporter &e, Operand &operand, ArrayRef<int64_t> dims,
                        const Held &result) {
  unsigned resultDim = 0;
  for (int64_t dim = 0; dim < operand.held.rank(); ++dim)
    if (!llvm::is_contained(dims, dim) &&
        !e.fit(operand, dim, result, resultDim++))
      return false;
  return true;
}

static Emitted emitReduce(Exporter &e, Operation *op,
                          MutableArrayRef<Operand> operands,
                          ArrayRef<Held> results) {
  auto reduce = cast<dtensor::ReduceOp>(op);
  ReduceKind kind = reduce.getKind();
  ArrayRef<int64_t> dims = reduce.getDimensions();
  Values values;
  for (auto [operand, result] : llvm::zip(operands, results)) {
    if (!fitFreeDims(e, operand, dims, result))
      return std::nullopt;
    Type element = result.element;
    Type inner = e.combinedIn(kind, element);
    Value value = e.convert(operand.value, inner);
    value = e.mask(value, operand.held, dims, e.identity(kind, inner));
    values.push_back(e.convert(e.reduce(kind, value, dims), element));
  }
  return values;
}

/// Applies a reducer of scalars to elements that are at the same place: `lhs`
/// are its first arguments, `rhs` its others. Shapes are alike.
static Emitted mapReducer(Exporter &e, mlir::Region &reducer,
                          ArrayRef<Value> lhs, ArrayRef<Value> rhs) {
  SmallVector<Value> operands(lhs);
  llvm::append_range(operands, rhs);
  Values results;
  for (unsigned i = 0; i < lhs.size(); ++i) {
    auto type = cast<RankedTensorType>(lhs[i].getType());
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    Operation *map = e.op("map", type, operands, e.list("dimensions", dims), 1);
    if (failed(e.copyScalars(reducer, map->getRegion(0))))
      return std::nullopt;
    // One result each.
    Operation *end = map->getRegion(0).front().getTerminator();
    end->setOperands(end->getOperand(i));
    results.push_back(map->getResult(0));
  }
  return results;
}

/// Reduces the last dim of `values`, of at least one element: neighbours first,
/// so that each element stays behind those before it.
static Emitted reduceNeighbours(Exporter &e, mlir::Region &reducer,
                                Values values) {
  auto type = cast<RankedTensorType>(values.front().getType());
  const auto last = unsigned(type.getRank() - 1);
  int64_t count = type.getDimSize(last);
  auto part = [&](int64_t begin, int64_t end, int64_t stride) {
    return llvm::map_to_vector(values, [&](Value value) {
      return e.slice(value, last, begin, end, stride);
    });
  };
  while (count > 1) {
    const int64_t pairs = count / 2;
    Emitted combined = mapReducer(e, reducer, part(0, 2 * pairs - 1, 2),
                                  part(1, 2 * pairs, 2));
    if (!combined)
      return std::nullopt;
    if (count % 2 == 1)
      for (auto [value, remainder] :
           llvm::zip(*combined, part(count - 1, count, 1))) {
        auto shape =
            llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
        ++shape[last];
        Type joined = RankedTensorType::get(
            shape, cast<RankedTensorType>(value.getType()).getElementType());
        value = e.one("concatenate", joined, {value, remainder},
                      e.attr("dimension", int64_t(last)));
      }
    values = std::move(*combined);
    count = pairs + count % 2;
  }
  return values;
}

/// Combines `values` in a loop over their last dim, in order.
static Emitted reduceInOrder(Exporter &e, mlir::Region &reducer,
                             ArrayRef<Value> values, Values state) {
  const auto reduced = unsigned(state.size());
  auto type = cast<RankedTensorType>(values.front().getType());
  const auto last = unsigned(type.getRank() - 1);
  Type counter = e.b.getI32Type();
  // The index, what was reduced, and what is reduced.
  SmallVector<Value> carried{e.number(counter, 0)};
  llvm::append_range(carried, state);
  llvm::append_range(carried, values);
  auto types =
      llvm::map_to_vector(carried, [](Value value) { return value.getType(); });
  SmallVector<Location> places(types.size(), e.loc);
  Operation *loop = e.op("while", types, carried, {}, 2);
  OpBuilder::InsertionGuard guard(e.b);
  using stablehlo::ComparisonDirection;
  Block *condition = e.b.createBlock(&loop->getRegion(0), {}, types, places);
  e.op("return", {},
       e.compare(ComparisonDirection::LT, condition->getArgument(0),
                 e.number(counter, type.getDimSize(last))));
  Block *body = e.b.createBlock(&loop->getRegion(1), {}, types, places);
  Value index = body->getArgument(0);
  SmallVector<Value> starts(last, e.number(counter, 0));
  starts.push_back(index);
  SmallVector<Value> next;
  for (unsigned i = 0; i < reduced; ++i) {
    Value from = body->getArgument(1 + reduced + i);
    auto whole = cast<RankedTensorType>(from.getType());
    auto sizes = llvm::to_vector(whole.getShape());
    sizes[last] = 1;
    SmallVector<Value> operands{from};
    llvm::append_range(operands, starts);
    Value element = e.one("dynamic_slice",
                          RankedTensorType::get(sizes, whole.getElementType()),
                          operands, e.list("slice_sizes", sizes));
    next.push_back(e.reshape(element, ArrayRef(sizes).drop_back()));
  }
  auto before = llvm::map_to_vector(body->getArguments().slice(1, reduced),
                                    [](Value value) { return value; });
  Emitted after = mapReducer(e, reducer, before, next);
  if (!after)
    return std::nullopt;
  SmallVector<Value> results{e.same("add", {index, e.number(counter, 1)})};
  llvm::append_range(results, *after);
  llvm::append_range(results, body->getArguments().drop_front(1 + reduced));
  e.op("return", {}, results);
  return Values(loop->getResults().slice(1, reduced));
}

/// Not by stablehlo.reduce, which may take elements in any order, and does on
/// GPUs: from the init values on, in order.
static Emitted emitGenericReduce(Exporter &e, Operation *op,
                                 MutableArrayRef<Operand> operands,
                                 ArrayRef<Held> results) {
  auto reduce = cast<dtensor::GenericReduceOp>(op);
  const auto count = unsigned(results.size());
  SmallVector<int64_t> order, kept;
  for (int64_t dim = 0; dim < operands[0].held.rank(); ++dim)
    if (!llvm::is_contained(reduce.getDimensions(), dim))
      order.push_back(dim);
  auto reduced = llvm::to_vector(reduce.getDimensions());
  llvm::sort(reduced);
  llvm::append_range(order, reduced);
  Values values, state;
  for (unsigned i = 0; i < count; ++i) {
    for (int64_t dim : reduced)
      if (!operands[i].held.isWhole(dim))
        return std::nullopt;
    if (!fitFreeDims(e, operands[i], reduced, results[i]))
      return std::nullopt;
    kept = results[i].buffer;
    int64_t number = 1;
    for (int64_t dim : reduced)
      number *= operands[i].held.global[dim];
    SmallVector<int64_t> shape = kept;
    shape.push_back(number);
    values.push_back(e.reshape(e.transpose(operands[i].value, order), shape));
    state.push_back(e.broadcast(operands[count + i].value, kept));
  }
  if (cast<RankedTensorType>(values.front().getType()).getShape().back() == 0)
    return state;
  if (!op->hasAttr(dtensor::associativeAttrName))
    return reduceInOrder(e, reduce.getComputation(), values, std::move(state));
  Emitted sum = reduceNeighbours(e, reduce.getComputation(), std::move(values));
  if (!sum)
    return std::nullopt;
  for (Value &value : *sum)
    value = e.reshape(value, kept);
  return mapReducer(e, reduce.getComputation(), state, *sum);
}

/// The extreme value, then the least index of an element that is it; nan is
/// the extreme where there is one.
static Emitted emitArg(Exporter &e, Operation *op,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  bool most = isa<dtensor::ArgMaxOp>(op);
  int64_t dim = op->getAttrOfType<IntegerAttr>("dimension").getInt();
  Operand &operand = operands[0];
  if (!operand.held.isWhole(dim) || !fitFreeDims(e, operand, dim, results[0]))
    return std::nullopt;
  using stablehlo::ComparisonDirection;
  ArrayRef<int64_t> shape = operand.held.buffer;
  Value x = operand.value;
  SmallVector<int64_t> otherDims;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != dim)
      otherDims.push_back(d);
  Value extreme =
      e.broadcast(e.reduce(most ? ReduceKind::Max : ReduceKind::Min, x, dim),
                  shape, otherDims);
  Value hit = e.compare(ComparisonDirection::EQ, x, extreme);
  if (isa<FloatType>(operand.held.element))
    hit = e.same("or", {hit, e.compare(ComparisonDirection::NE, x, x)});
  Type index = results[0].element;
  Value indices = e.iota(shape, dim, index);
  Value none = e.broadcast(e.identity(ReduceKind::Min, index), shape);
  return Values{
      e.reduce(ReduceKind::Min,
               e.one("select", indices.getType(), {hit, indices, none}), dim)};
}

void addContractions(Handlers &handlers) {
  handlers["dtensor.dot_general"] = emitDot;
  handlers["dtensor.matmul"] = emitMatMul;
  handlers["dtensor.reduce"] = emitReduce;
  handlers["dtensor.generic_reduce"] = emitGenericReduce;
  handlers["dtensor.argmax"] = emitArg;
  handlers["dtensor.argmin"] = emitArg;
}

} // namespace meshloom::exporting

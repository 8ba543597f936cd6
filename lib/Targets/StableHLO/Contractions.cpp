// Products and reductions: padding along the dims that disappear is replaced
// by what changes nothing.
#include "Exporter.h"

namespace meshloom::exporting {

static Emitted product(Exporter &e, MutableArrayRef<Operand> operands,
                       const Held &result, ArrayRef<int64_t> lhsBatch,
                       ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsInner,
                       ArrayRef<int64_t> rhsInner) {
  Operand &lhs = operands[0], &rhs = operands[1];
  unsigned at = 0;
  for (auto [l, r] : llvm::zip(lhsBatch, rhsBatch)) {
    if (!e.fit(lhs, l, result, at) || !e.fit(rhs, r, result, at))
      return std::nullopt;
    ++at;
  }
  for (auto [operand, batch, inner] : {std::tuple{&lhs, lhsBatch, lhsInner},
                                       std::tuple{&rhs, rhsBatch, rhsInner}})
    for (int64_t dim = 0; dim < operand->held.rank(); ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(inner, dim) &&
          !e.fit(*operand, dim, result, at++))
        return std::nullopt;
  for (auto [l, r] : llvm::zip(lhsInner, rhsInner))
    if (!e.fit(rhs, r, lhs.held, l))
      return std::nullopt;
  // Both: nan times zero is nan.
  Value left = e.mask(lhs.value, lhs.held, lhsInner, e.zero(lhs.held.element));
  Value right = e.mask(rhs.value, rhs.held, rhsInner, e.zero(rhs.held.element));
  auto dims = stablehlo::DotDimensionNumbersAttr::get(
      e.b.getContext(), lhsBatch, rhsBatch, lhsInner, rhsInner);
  return Values{e.one(
      "dot_general", result.type(), {left, right},
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
static bool fitKept(Exporter &e, Operand &operand, ArrayRef<int64_t> dims,
                    const Held &result) {
  unsigned at = 0;
  for (int64_t dim = 0; dim < operand.held.rank(); ++dim)
    if (!llvm::is_contained(dims, dim) && !e.fit(operand, dim, result, at++))
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
    if (!fitKept(e, operand, dims, result))
      return std::nullopt;
    Type element = result.element;
    Type inner = e.combinedIn(kind, element);
    Value value = e.convert(operand.value, inner);
    value = e.mask(value, operand.held, dims, e.identity(kind, inner));
    values.push_back(e.convert(e.reduce(kind, value, dims), element));
  }
  return values;
}

static Emitted emitGenericReduce(Exporter &e, Operation *op,
                                 MutableArrayRef<Operand> operands,
                                 ArrayRef<Held> results) {
  auto reduce = cast<dtensor::GenericReduceOp>(op);
  unsigned count = results.size();
  Values values;
  SmallVector<Type> types;
  for (unsigned i = 0; i < count; ++i) {
    for (int64_t dim : reduce.getDimensions())
      if (!operands[i].held.isWhole(dim))
        return std::nullopt;
    if (!fitKept(e, operands[i], reduce.getDimensions(), results[i]))
      return std::nullopt;
    types.push_back(results[i].type());
  }
  for (Operand &operand : operands)
    values.push_back(operand.value);
  Operation *made = e.op("reduce", types, values,
                         e.list("dimensions", reduce.getDimensions()), 1);
  if (failed(e.copyScalars(reduce.getComputation(), made->getRegion(0))))
    return std::nullopt;
  return Values(made->getResults());
}

/// The extreme value, then the least index of an element that is it; nan is
/// the extreme where there is one.
static Emitted emitArg(Exporter &e, Operation *op,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  bool most = isa<dtensor::ArgMaxOp>(op);
  int64_t dim = op->getAttrOfType<IntegerAttr>("dimension").getInt();
  Operand &operand = operands[0];
  if (!operand.held.isWhole(dim) || !fitKept(e, operand, dim, results[0]))
    return std::nullopt;
  using stablehlo::ComparisonDirection;
  ArrayRef<int64_t> shape = operand.held.buffer;
  Value x = operand.value;
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < int64_t(shape.size()); ++d)
    if (d != dim)
      kept.push_back(d);
  Value extreme = e.broadcast(
      e.reduce(most ? ReduceKind::Max : ReduceKind::Min, x, dim), shape, kept);
  Value hit = e.compare(ComparisonDirection::EQ, x, extreme);
  if (isa<FloatType>(operand.held.element))
    hit = e.same("or", {hit, e.compare(ComparisonDirection::NE, x, x)});
  Type index = results[0].element;
  Value at = e.iota(shape, dim, index);
  Value none = e.broadcast(e.identity(ReduceKind::Min, index), shape);
  return Values{e.reduce(ReduceKind::Min,
                         e.one("select", at.getType(), {hit, at, none}), dim)};
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

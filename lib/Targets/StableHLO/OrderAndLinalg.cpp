// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sorting, linear algebra and Fourier transforms: StableHLO's own ops on each
// device's batch. The dims they work along are whole; padded batches compute
// something that nobody reads.
#include "Exporter.h"

namespace meshloom::exporting {

static Emitted emitSort(Exporter &e, Operation *op,
                        MutableArrayRef<Operand> operands,
                        ArrayRef<Held> results) {
  auto sort = cast<dtensor::SortOp>(op);
  if (!results[0].isWhole(sort.getDimension()))
    return std::nullopt;
  Values values;
  SmallVector<Type> types;
  for (auto [operand, result] : llvm::zip(operands, results)) {
    if (!e.fitAll(operand, result))
      return std::nullopt;
    values.push_back(operand.value);
    types.push_back(result.type());
  }
  Operation *sorted = e.op(
      "sort", types, values,
      {e.attr("dimension", int64_t(sort.getDimension())),
       e.attr("is_stable", Attribute(e.b.getBoolAttr(sort.getIsStable())))},
      1);
  if (failed(e.copyScalars(sort.getComparator(), sorted->getRegion(0))))
    return std::nullopt;
  return Values(sorted->getResults());
}

static Emitted emitTopK(Exporter &e, Operation *op,
                        MutableArrayRef<Operand> operands,
                        ArrayRef<Held> results) {
  Operand &operand = operands[0];
  unsigned last = operand.held.rank() - 1;
  if (!operand.held.isWhole(last) || !results[0].isWhole(last))
    return std::nullopt;
  for (unsigned dim = 0; dim < last; ++dim)
    if (!e.fit(operand, dim, results[0], dim))
      return std::nullopt;
  auto indices = RankedTensorType::get(results[1].buffer, e.b.getI32Type());
  Operation *topK =
      e.op("chlo.top_k", {results[0].type(), indices}, operand.value,
           e.attr("k", int64_t(cast<dtensor::TopKOp>(op).getK())));
  return Values{topK->getResult(0),
                e.convert(topK->getResult(1), results[1].element)};
}

/// Returns whether the last `count` dims are whole; fits the others to the
/// result's.
static bool fitBatch(Exporter &e, Operand &operand, const Held &result,
                     unsigned count) {
  unsigned rank = operand.held.rank();
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (dim + count >= rank ? !operand.held.isWhole(dim)
                            : !e.fit(operand, dim, result, dim))
      return false;
  }
  return true;
}

static Emitted emitCholesky(Exporter &e, Operation *op,
                            MutableArrayRef<Operand> operands,
                            ArrayRef<Held> results) {
  if (!fitBatch(e, operands[0], results[0], 2))
    return std::nullopt;
  bool lower = cast<dtensor::CholeskyOp>(op).getLower();
  Value value = e.same("cholesky", operands[0].value,
                       e.attr("lower", Attribute(e.b.getBoolAttr(lower))));
  return Values{value};
}

static Emitted emitTriangularSolve(Exporter &e, Operation *op,
                                   MutableArrayRef<Operand> operands,
                                   ArrayRef<Held> results) {
  auto solve = cast<dtensor::TriangularSolveOp>(op);
  if (!fitBatch(e, operands[0], results[0], 2) ||
      !e.fitAll(operands[1], results[0]))
    return std::nullopt;
  unsigned rank = results[0].rank();
  if (!results[0].isWhole(solve.getLeftSide() ? rank - 2 : rank - 1))
    return std::nullopt;
  auto transpose = stablehlo::symbolizeTranspose(solve.getTransposeA());
  if (!transpose)
    return std::nullopt;
  auto flag = [&](StringRef name, bool value) {
    return e.attr(name, Attribute(e.b.getBoolAttr(value)));
  };
  return Values{e.one(
      "triangular_solve", results[0].type(),
      {operands[0].value, operands[1].value},
      {flag("left_side", solve.getLeftSide()), flag("lower", solve.getLower()),
       flag("unit_diagonal", solve.getUnitDiagonal()),
       e.attr("transpose_a", Attribute(stablehlo::TransposeAttr::get(
                                 e.b.getContext(), *transpose)))})};
}

static Emitted emitFft(Exporter &e, Operation *op,
                       MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  auto fft = cast<dtensor::FftOp>(op);
  auto type = stablehlo::symbolizeFftType(fft.getFftType());
  if (!type || !fitBatch(e, operands[0], results[0], fft.getFftLength().size()))
    return std::nullopt;
  return Values{e.one("fft", results[0].type(), operands[0].value,
                      {e.attr("fft_type", Attribute(stablehlo::FftTypeAttr::get(
                                              e.b.getContext(), *type))),
                       e.list("fft_length", fft.getFftLength())})};
}

/// Calls a target that XLA's compilers expand into plain ops, on every backend.
static Emitted callExpanded(Exporter &e, StringRef target, ArrayRef<Value> from,
                            ArrayRef<RankedTensorType> to,
                            StringRef config = "") {
  Type element = cast<RankedTensorType>(from[0].getType()).getElementType();
  // Half floats lose too much on the way.
  Type inner = element.isF16() || element.isBF16() ? e.b.getF32Type() : element;
  Values operands;
  SmallVector<Type> types;
  for (Value value : from)
    operands.push_back(e.convert(value, inner));
  for (RankedTensorType type : to)
    types.push_back(RankedTensorType::get(type.getShape(), inner));
  SmallVector<NamedAttribute> attributes{
      e.attr("call_target_name", Attribute(e.b.getStringAttr(target))),
      e.attr("api_version", Attribute(e.b.getI32IntegerAttr(1)))};
  if (!config.empty())
    attributes.push_back(
        e.attr("backend_config", Attribute(e.b.getStringAttr(config))));
  Operation *call = e.op("custom_call", types, operands, attributes);
  Values results;
  for (Value result : call->getResults())
    results.push_back(e.convert(result, element));
  return results;
}

static Emitted emitGeqrf(Exporter &e, Operation *,
                         MutableArrayRef<Operand> operands,
                         ArrayRef<Held> results) {
  if (!fitBatch(e, operands[0], results[0], 2))
    return std::nullopt;
  return callExpanded(e, "Qr", operands[0].value,
                      {results[0].type(), results[1].type()});
}

static Emitted emitHouseholderProduct(Exporter &e, Operation *,
                                      MutableArrayRef<Operand> operands,
                                      ArrayRef<Held> results) {
  if (!fitBatch(e, operands[0], results[0], 2) ||
      !fitBatch(e, operands[1], results[0], 1))
    return std::nullopt;
  return callExpanded(e, "ProductOfElementaryHouseholderReflectors",
                      {operands[0].value, operands[1].value},
                      results[0].type());
}

/// Columns of real numbers with the signs that ops define: the element of
/// greatest absolute value is positive, the first one of those within a
/// thousandth of it.
static Value withSigns(Exporter &e, Value columns) {
  using stablehlo::ComparisonDirection;
  auto type = cast<RankedTensorType>(columns.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t rows = type.getRank() - 2;
  SmallVector<int64_t> vectorDims =
      llvm::to_vector(llvm::seq<int64_t>(0, rows));
  vectorDims.push_back(rows + 1);
  auto along = [&](Value value) {
    return e.broadcast(value, shape, vectorDims);
  };
  auto select = [&](Value pred, Value yes, Value no) {
    return e.one("select", yes.getType(), {pred, yes, no});
  };
  Value sizes = e.same("abs", columns);
  Value most = along(e.reduce(ReduceKind::Max, sizes, rows));
  Value share = e.broadcast(
      e.constant(DenseElementsAttr::get(
          RankedTensorType::get({}, type.getElementType()),
          Attribute(e.b.getFloatAttr(type.getElementType(), 0.999)))),
      shape);
  Value isMost = e.compare(ComparisonDirection::GE, sizes,
                           e.same("multiply", {most, share}));
  Type index = e.b.getI32Type();
  Value row = e.iota(shape, unsigned(rows), index);
  Value beyond = e.broadcast(e.identity(ReduceKind::Min, index), shape);
  Value first =
      along(e.reduce(ReduceKind::Min, select(isMost, row, beyond), rows));
  Value zeros = e.broadcast(e.zero(type.getElementType()), shape);
  Value there = select(e.compare(ComparisonDirection::EQ, row, first),
                       e.same("sign", columns), zeros);
  return e.same("multiply",
                {columns, along(e.reduce(ReduceKind::Sum, there, rows))});
}

/// XLA's expander takes real numbers.
static Emitted emitEigh(Exporter &e, Operation *op,
                        MutableArrayRef<Operand> operands,
                        ArrayRef<Held> results) {
  if (!fitBatch(e, operands[0], results[0], 2) ||
      isa<mlir::ComplexType>(results[0].element))
    return std::nullopt;
  bool lower = cast<dtensor::EighOp>(op).getLower();
  bool isDouble = results[0].element.isF64();
  std::string config = std::string(lower ? "1" : "0") + ",1,100," +
                       (isDouble ? "1e-14" : "1e-6");
  Emitted eigh = callExpanded(e, "Eigh", operands[0].value,
                              {results[0].type(), results[1].type()}, config);
  if (eigh)
    (*eigh)[0] = withSigns(e, (*eigh)[0]);
  return eigh;
}

void addOrderAndLinalg(Handlers &handlers) {
  handlers["dtensor.sort"] = emitSort;
  handlers["dtensor.top_k"] = emitTopK;
  handlers["dtensor.cholesky"] = emitCholesky;
  handlers["dtensor.triangular_solve"] = emitTriangularSolve;
  handlers["dtensor.fft"] = emitFft;
  handlers["dtensor.eigh"] = emitEigh;
  handlers["dtensor.geqrf"] = emitGeqrf;
  handlers["dtensor.householder_product"] = emitHouseholderProduct;
}

} // namespace meshloom::exporting

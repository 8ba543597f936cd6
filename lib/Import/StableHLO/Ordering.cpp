// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort and top_k, which JAX also writes as a composite.
#include "Importer.h"

using namespace meshloom;
using namespace meshloom::importer;

static Imported importSort(Importer &im, stablehlo::SortOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inputs = b.aligned(im.get(op.getInputs()));
  if (inputs.empty())
    return im.error("sort needs at least one operand");
  Lanes lanes = b.lanesOf(inputs);
  int64_t rank = b.rankOf(inputs[0]), dim = int64_t(op.getDimension());
  if (dim < 0)
    dim += rank;
  if (dim < 0 || dim >= rank)
    return im.error("sorts dim ")
           << int64_t(op.getDimension()) << " of a tensor of rank " << rank;
  SmallVector<RankedTensorType> types;
  for (Value result : op->getResults())
    types.push_back(Importer::typeOf(result));
  SmallVector<NamedAttribute> attributes{b.number("dimension", dim)};
  if (op.getIsStable())
    attributes.push_back(b.named("is_stable", b.getUnitAttr()));
  SmallVector<Value> results =
      b.make<dtensor::SortOp>(types, inputs, lanes, attributes);
  if (failed(im.importScalarRegion(op.getComparator(),
                                   results[0].getDefiningOp()->getRegion(0))))
    return failure();
  return results;
}

/// `source`: the operand; `values` and `indices`: the results.
static SmallVector<Value> importTopK(Importer &im, Value source, Value values,
                                     Value indices, int64_t k) {
  LaneBuilder &b = im.b;
  Value operand = im.get(source);
  RankedTensorType type = Importer::typeOf(values);
  // Booleans are ordered as the numbers 0 and 1.
  bool isBool = b.elementOf(operand).isInteger(1);
  if (isBool) {
    operand = b.convert(operand, b.getIntegerType(8, /*isSigned=*/false));
    type = type.clone(b.elementOf(operand));
  }
  SmallVector<Value> results = b.make<dtensor::TopKOp>(
      {type, Importer::typeOf(indices)}, operand, Lanes(b.lanesOf(operand)),
      b.named("k", b.getI64IntegerAttr(k)));
  if (isBool)
    results[0] = b.convert(results[0], b.getI1Type());
  return results;
}

/// Returns the k of a composite that is a top_k. Its decomposition sorts all
/// elements.
static std::optional<int64_t> topKOf(stablehlo::CompositeOp op) {
  if (op.getName() != "chlo.top_k" || op.getInputs().size() != 1 ||
      op->getNumResults() != 2 || !op.getCompositeAttributes() ||
      op.getCompositeAttributes()->size() != 1)
    return std::nullopt;
  auto k = op.getCompositeAttributes()->getAs<mlir::IntegerAttr>("k");
  auto operand = dyn_cast<RankedTensorType>(op.getInputs()[0].getType());
  if (!k || !operand || operand.getRank() == 0 ||
      !operand.getElementType().isIntOrFloat())
    return std::nullopt;
  SmallVector<int64_t> shape(operand.getShape());
  shape.back() = k.getInt();
  if (op->getResult(0).getType() != operand.clone(shape) ||
      op->getResult(1).getType() !=
          operand.clone(shape, mlir::IntegerType::get(op.getContext(), 32)))
    return std::nullopt;
  return k.getInt();
}

static Imported importComposite(Importer &im, stablehlo::CompositeOp op) {
  if (auto k = topKOf(op))
    return importTopK(im, op.getInputs()[0], op->getResult(0), op->getResult(1),
                      *k);
  return im.importCall(op.getLoc(), op.getDecomposition(),
                       im.leaves(op.getInputs()));
}

void importer::addOrdering(Handlers &handlers) {
  handlers.add<stablehlo::SortOp>(importSort);
  handlers.add<chlo::TopKOp>([](Importer &im, chlo::TopKOp op) {
    return importTopK(im, op.getOperand(), op.getValues(), op.getIndices(),
                      int64_t(op.getK()));
  });
  handlers.add<stablehlo::CompositeOp>(importComposite);
}

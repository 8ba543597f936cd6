// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sort and top_k.
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

static SmallVector<Value> importTopK(Importer &im, chlo::TopKOp op) {
  LaneBuilder &b = im.b;
  Value operand = im.get(op.getOperand());
  RankedTensorType type = Importer::typeOf(op.getValues());
  // Booleans are ordered as the numbers 0 and 1.
  bool isBool = b.elementOf(operand).isInteger(1);
  if (isBool) {
    operand = b.convert(operand, b.getIntegerType(8, /*isSigned=*/false));
    type = type.clone(b.elementOf(operand));
  }
  SmallVector<Value> results = b.make<dtensor::TopKOp>(
      {type, Importer::typeOf(op.getIndices())}, operand,
      Lanes(b.lanesOf(operand)), b.named("k", b.getI64IntegerAttr(op.getK())));
  if (isBool)
    results[0] = b.convert(results[0], b.getI1Type());
  return results;
}

void importer::addOrdering(Handlers &handlers) {
  handlers.add<stablehlo::SortOp>(importSort);
  handlers.add<chlo::TopKOp>(importTopK);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradient rules of slices at run-time indices and of sorting.
#include "GradientRules.h"

#include "mlir/IR/IRMapping.h"

namespace meshloom {

using dtensor::ComparisonDirection;

static void gradientOf(dtensor::DynamicSliceOp op, OpGradient &g) {
  if (g.wants(0))
    g.give(0, g.create<dtensor::DynamicUpdateSliceOp>(
                  g.getLoc(), g.zeros(g.typeOf(op.getOperand())), g.of(),
                  op.getStartIndices()));
}

static void gradientOf(dtensor::DynamicUpdateSliceOp op, OpGradient &g) {
  RankedTensorType update = g.typeOf(op.getUpdate());
  if (g.wants(0))
    g.give(0, g.create<dtensor::DynamicUpdateSliceOp>(
                  g.getLoc(), g.of(), g.zeros(update), op.getStartIndices()));
  if (g.wants(1))
    g.give(1, g.create<dtensor::DynamicSliceOp>(
                  g.getLoc(), g.of(), op.getStartIndices(), update.getShape()));
}

/// Sorts again with the places along; gradients go back by sorting by those.
static void gradientOf(dtensor::SortOp op, OpGradient &g) {
  Value first = op.getInputs()[0];
  int64_t dim = op.getDimension();
  auto places =
      RankedTensorType::get(g.typeOf(first).getShape(), g.getI32Type());
  SmallVector<Value> inputs(op.getInputs());
  inputs.push_back(
      g.create<dtensor::IotaOp>(g.getLoc(), places, g.getI64IntegerAttr(dim)));
  auto sorted = g.create<dtensor::SortOp>(g.getLoc(), inputs, dim, true);
  mlir::IRMapping mapping;
  op.getComparator().cloneInto(&sorted.getComparator(), mapping);
  auto scalar = RankedTensorType::get({}, g.getI32Type());
  for (int i = 0; i < 2; ++i)
    sorted.getComparator().front().addArgument(scalar, g.getLoc());
  Value order = sorted.getResults().back();

  SmallVector<Value> keyed{order};
  SmallVector<unsigned> owners;
  for (unsigned i = 0; i < op.getInputs().size(); ++i)
    if (g.wants(i) && g.of(i)) {
      keyed.push_back(g.of(i));
      owners.push_back(i);
    }
  auto back = g.create<dtensor::SortOp>(g.getLoc(), keyed, dim, true);
  OpBuilder::InsertionGuard guard(g);
  Block *block = g.createBlock(&back.getComparator());
  for (Value value : keyed)
    for (int i = 0; i < 2; ++i)
      block->addArgument(
          RankedTensorType::get({}, g.typeOf(value).getElementType()),
          g.getLoc());
  Value less = g.compare(ComparisonDirection::LT, block->getArgument(0),
                         block->getArgument(1));
  g.create<dtensor::YieldOp>(g.getLoc(), less);
  for (auto [i, owner] : llvm::enumerate(owners))
    g.give(owner, back.getResults()[i + 1]);
}

/// Each of the k largest goes back to its place; no place is taken twice.
static void gradientOf(dtensor::TopKOp op, OpGradient &g) {
  if (!g.of(0))
    return;
  RankedTensorType from = g.typeOf(op.getOperand());
  SmallVector<int64_t> vectors(g.typeOf(op.getIndices()).getShape());
  int64_t last = from.getRank() - 1;
  vectors.push_back(1);
  SmallVector<int64_t> batch = range(0, last);
  g.give(0, g.create<dtensor::ScatterOp>(
                 g.getLoc(), ValueRange{g.zeros(from)},
                 g.reshape(op.getIndices(), vectors), ValueRange{g.of(0)},
                 ArrayRef<int64_t>{}, ArrayRef<int64_t>{last}, batch, batch,
                 ArrayRef<int64_t>{last}, last + 1, ReduceKind::Sum)
                .getResult(0));
}

void attachIndexGradients(MLIRContext *context) {
  using namespace dtensor;
  attachGradients<DynamicSliceOp, DynamicUpdateSliceOp, SortOp, TopKOp>(
      context);
}

} // namespace meshloom

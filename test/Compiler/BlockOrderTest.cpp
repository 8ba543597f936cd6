// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sortByUse: the order of mlir::sortTopologically, which it is the linear form
// of.
#include "meshloom/ControlFlow/BlockOrder.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>
#include <random>

using namespace meshloom;

namespace {
/// A block of ops that use earlier ones, put into an order of chance.
void fill(Block &block, unsigned count, unsigned seed, unsigned moved) {
  std::mt19937 random(seed);
  mlir::OpBuilder b = mlir::OpBuilder::atBlockEnd(&block);
  std::vector<Operation *> ops;
  for (unsigned i = 0; i < count; ++i) {
    mlir::OperationState state(b.getUnknownLoc(), "test.op");
    state.addTypes(b.getI32Type());
    state.addAttribute("id", b.getI32IntegerAttr(int32_t(i)));
    for (unsigned k = random() % 4; i > 0 && k > 0; --k)
      state.addOperands(ops[random() % i]->getResult(0));
    ops.push_back(b.create(state));
  }
  for (unsigned i = 0; i < moved; ++i)
    ops[random() % count]->moveBefore(ops[random() % count]);
}

std::vector<int64_t> idsOf(Block &block) {
  std::vector<int64_t> ids;
  for (Operation &op : block)
    ids.push_back(op.getAttrOfType<mlir::IntegerAttr>("id").getInt());
  return ids;
}
} // namespace

TEST(BlockOrderTest, IsTheOrderOfSortTopologically) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  for (unsigned seed = 0; seed < 200; ++seed) {
    mlir::OwningOpRef<mlir::ModuleOp> first =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    mlir::OwningOpRef<mlir::ModuleOp> second = first->clone();
    Block &ours = *first->getBody(), &theirs = *second->getBody();
    // None, some and all of the ops are out of place.
    const unsigned count = 1 + seed % 40, moved = seed % 3 * count / 2;
    fill(ours, count, seed, moved);
    fill(theirs, count, seed, moved);
    ASSERT_EQ(idsOf(ours), idsOf(theirs));
    sortByUse(ours);
    ASSERT_TRUE(mlir::sortTopologically(&theirs));
    ASSERT_EQ(idsOf(ours), idsOf(theirs)) << seed;
  }
}

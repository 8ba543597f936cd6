// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The turn of an op is the latest of its operands', and one more where such an
// operand stands behind it.
#include "meshloom/ControlFlow/BlockOrder.h"

#include "meshloom/ControlFlow/ControlFlow.h"

using namespace meshloom;

namespace {
struct Place {
  unsigned position = 0;
  unsigned turn = 0;  ///< 0: not known yet
  bool waits = false; ///< for the turns of its operands
};
} // namespace

void meshloom::sortByUse(Block &block) {
  DenseMap<Operation *, Place> places;
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      places[&op] = {unsigned(ops.size()), 0};
      ops.push_back(&op);
    }
  auto producers = [&](Operation *op) {
    SmallVector<Operation *> found;
    for (Value used : usedValues(op))
      if (Operation *producer = used.getDefiningOp())
        if (Operation *here = block.findAncestorOpInBlock(*producer))
          found.push_back(here);
    return found;
  };
  SmallVector<Operation *> stack;
  for (Operation *root : ops) {
    stack.push_back(root);
    while (!stack.empty()) {
      Operation *op = stack.back();
      const Place place = places.lookup(op);
      if (place.turn) {
        stack.pop_back();
        continue;
      }
      places[op].waits = true;
      unsigned turn = 1;
      bool complete = true;
      for (Operation *producer : producers(op)) {
        const Place other = places.lookup(producer);
        if (!other.turn) {
          assert(!other.waits && "an op waits for itself");
          stack.push_back(producer);
          complete = false;
        }
        turn = std::max(turn, other.turn + (other.position > place.position));
      }
      if (!complete)
        continue;
      places[op].turn = turn;
      stack.pop_back();
    }
  }
  llvm::sort(ops, [&](Operation *a, Operation *b) {
    const Place first = places.lookup(a), second = places.lookup(b);
    return std::pair(first.turn, first.position) <
           std::pair(second.turn, second.position);
  });
  Operation *before = nullptr;
  for (Operation *op : llvm::reverse(ops)) {
    before ? op->moveBefore(before)
           : op->moveBefore(&block, block.mightHaveTerminator()
                                        ? block.getTerminator()->getIterator()
                                        : block.end());
    before = op;
  }
}

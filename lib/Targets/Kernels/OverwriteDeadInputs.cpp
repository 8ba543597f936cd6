// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which values may share memory is a partition into classes: a value, its views
// (in shared memory a collective that only moves data is a view of its operand)
// and what overwrites it. Invariant: before an output joins an input's class,
// no op after the kernel reads a value of the class, and nothing else in the
// kernel does. An argument's class is left alone unless `dtensor.alias` gives
// the argument's memory to exactly the result that the output becomes; what
// carries a loop's value is given to that of the next iteration. Memory from
// outside of a loop or branch is left alone in it.
#include "OverwriteDeadInputs.h"

#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;

namespace {
/// A kernel or a library call, or null.
class Writer {
public:
  explicit Writer(Operation *op)
      : op(isa<KernelOp, LibraryCallOp>(op) ? op : nullptr) {}
  explicit operator bool() const { return op; }
  operator Operation *() const { return op; }
  Operation *operator->() const { return op; }

  ArrayRef<int32_t> inPlace() const {
    return op->getAttrOfType<mlir::DenseI32ArrayAttr>("inPlace");
  }
  void setInPlace(ArrayRef<int32_t> inputs) {
    op->setAttr("inPlace",
                mlir::DenseI32ArrayAttr::get(op->getContext(), inputs));
  }
  ArrayRef<int64_t> extents() const {
    return op->getAttrOfType<DenseI64ArrayAttr>("extents");
  }
  mlir::AffineMap inputAccess(unsigned i) const {
    auto accesses = op->getAttrOfType<mlir::ArrayAttr>("accesses");
    return cast<mlir::AffineMapAttr>(accesses[i]).getValue();
  }
  mlir::AffineMap outputAccess(unsigned i) const {
    return inputAccess(op->getNumOperands() + i);
  }
  /// Returns whether the code can write output `output` over input `input`.
  bool canWriteOver(unsigned input, unsigned output) const {
    auto call = dyn_cast<LibraryCallOp>(op);
    if (!call)
      return true;
    std::optional<ArrayRef<int32_t>> inputs = call.getOverwritable();
    return inputs && (*inputs)[output] == int32_t(input);
  }

private:
  Operation *op;
};

class Overwriter {
public:
  explicit Overwriter(Block &block) : block(block) {
    for (auto [i, op] : llvm::enumerate(block)) {
      positions[&op] = i;
      for (Value result : op.getResults())
        note(result);
      if (isView(&op))
        for (auto [from, to] : llvm::zip(op.getOperands(), op.getResults()))
          join(from, to);
      if (Writer writer(&op); writer)
        for (auto [output, input] : llvm::enumerate(writer.inPlace()))
          if (input >= 0)
            join(op.getOperand(input), op.getResult(output));
    }
    for (BlockArgument argument : block.getArguments())
      note(argument);
  }

  void run() {
    // Arguments first: nothing else can take their memory.
    for (bool toArguments : {true, false})
      for (Operation &op : block)
        if (Writer writer(&op); writer)
          for (unsigned i = 0; i < op.getNumResults(); ++i)
            overwrite(writer, i, toArguments);
  }

private:
  /// The result whose memory may be the argument's.
  static std::optional<int64_t> aliasOf(BlockArgument argument) {
    unsigned number = argument.getArgNumber();
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<dtensor::WhileOp>(parent)) {
      if (argument.getOwner() == &loop.getBody().front())
        return number;
      return std::nullopt;
    }
    if (auto func = dyn_cast<mlir::func::FuncOp>(parent))
      if (auto alias =
              func.getArgAttrOfType<IntegerAttr>(number, dtensor::aliasAttr))
        return alias.getInt();
    return std::nullopt;
  }

  static bool isView(Operation *op) {
    auto collective = dyn_cast<spmd::CollectiveOpInterface>(op);
    return collective && !collective.getReduceKind();
  }

  void note(Value value) { classes.insert(value.getAsOpaquePointer()); }
  void join(Value a, Value b) {
    classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }
  SmallVector<Value> classOf(Value value) {
    SmallVector<Value> members;
    auto leader = classes.findLeader(value.getAsOpaquePointer());
    for (auto member = leader; member != classes.member_end(); ++member)
      members.push_back(Value::getFromOpaquePointer(*member));
    return members;
  }

  void overwrite(Writer writer, unsigned output, bool toArguments) {
    if (writer.inPlace()[output] >= 0)
      return;
    for (unsigned input = 0; input < writer->getNumOperands(); ++input) {
      if (!fits(writer, input, output) ||
          !mayTake(writer, input, writer->getResult(output), toArguments))
        continue;
      SmallVector<int32_t> inPlace(writer.inPlace());
      inPlace[output] = input;
      writer.setInPlace(inPlace);
      join(writer->getOperand(input), writer->getResult(output));
      return;
    }
  }

  /// The same elements in the same places, every one of them written, by
  /// this output only.
  static bool fits(Writer writer, unsigned input, unsigned output) {
    Value from = writer->getOperand(input), to = writer->getResult(output);
    auto map = writer.outputAccess(output);
    if (!writer.canWriteOver(input, output) || from.getType() != to.getType() ||
        writer.inputAccess(input) != map ||
        llvm::is_contained(writer.inPlace(), int32_t(input)))
      return false;
    // Whole tensors only: a part would leave the old values elsewhere.
    int64_t written = 1, size = 1;
    for (auto [loop, extent] : llvm::enumerate(writer.extents()))
      if (map.isFunctionOfDim(loop))
        written *= extent;
    for (int64_t extent : spmd::globalShape(to.getType()))
      size *= extent;
    return written == size;
  }

  bool mayTake(Writer writer, unsigned input, Value output, bool toArguments) {
    unsigned now = positions[writer];
    BlockArgument argument;
    if (writer->getOperand(input).getParentBlock() != &block)
      return false;
    for (Value value : classOf(writer->getOperand(input))) {
      if (value.getParentBlock() != &block)
        return false;
      if (auto owner = dyn_cast<BlockArgument>(value)) {
        if (argument)
          return false;
        argument = owner;
      } else if (value.getDefiningOp()
                     ->hasTrait<mlir::OpTrait::ConstantLike>()) {
        return false;
      }
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        bool itself = user == writer && use.getOperandNumber() == input;
        if (!itself && positions[block.findAncestorOpInBlock(*user)] >= now)
          return false;
      }
    }
    if (bool(argument) != toArguments)
      return false;
    SmallVector<unsigned> becomes = resultsOf(output);
    if (!argument)
      return becomes.empty(); // what is returned has memory of its own
    auto alias = aliasOf(argument);
    return alias && becomes.size() == 1 && becomes[0] == *alias &&
           block.getTerminator()->getOperand(becomes[0]).getType() ==
               argument.getType();
  }

  /// The results of the block that `value` or a view of it is.
  SmallVector<unsigned> resultsOf(Value value) {
    SmallVector<unsigned> results;
    for (Value member : classOf(value))
      for (OpOperand &use : member.getUses())
        if (use.getOwner() == block.getTerminator())
          results.push_back(use.getOperandNumber());
    return results;
  }

  Block &block;
  DenseMap<Operation *, unsigned> positions;
  llvm::EquivalenceClasses<void *> classes;
};
} // namespace

void meshloom::overwriteDeadInputs(Block &block) {
  Overwriter(block).run();
}

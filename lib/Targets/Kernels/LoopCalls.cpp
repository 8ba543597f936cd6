// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop that touches little data in a turn is compiled whole: the steps of a
// turn take less time than starting them takes. The loop is moved into the
// region of a `spmd.library_call "loop"`, which has the loop's inits and what
// the loop captures as inputs. The target makes one function of it
// (lib/Targets/CPU/LoopEmitter.cpp).
//
// A loop is left as it is where a device holds only a part of some value in it
// (then other devices can help, or collectives are needed), where it calls a
// library function that the target does not write out, or where a turn does so
// much work that several cores are worth starting for it. Products of matrices,
// factorizations of small ones, running reductions, sorts of short lines and
// the first of lines are written out, too.
#include "LoopCalls.h"

#include "CallLoops.h"
#include "KernelBuilder.h"

#include "meshloom/ControlFlow/ControlFlow.h"
#include "meshloom/ControlFlow/Determinism.h"
#include "meshloom/ControlFlow/SmallLoops.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
using spmd::LibraryCallOp;

namespace {

/// Bytes of intermediate values, which lie on the stack of the thread that runs
/// the loop: in any loop, in one of many steps with little data, and for each
/// of those steps.
constexpr int64_t mostBytes = int64_t(1) << 18;
constexpr int64_t mostBytesOfSmallSteps = int64_t(1) << 20;
constexpr int64_t bytesOfSmallStep = int64_t(1) << 11;

int64_t elementsOf(Type type) {
  return mlir::ShapedType::getNumElements(globalShape(type));
}

/// Returns whether every device has all of it, without padding.
bool isWholeArray(Type type) {
  if (!isShard(type) || !dtypeOf(elementTypeOf(type)))
    return false;
  Layout layout = spmd::layoutOf(type);
  return !layout.is_partial() && windowsOf(type).empty() &&
         llvm::all_of(layout.dim_axes(),
                      [](const auto &axes) { return axes.empty(); });
}

/// Returns whether the loops of lib/Targets/CPU multiply and add such elements.
bool isMultiplied(Type element) {
  return element.isF32() || element.isF64() || element.isF16() ||
         element.isBF16() || element.isInteger(32);
}

/// Returns how often the body runs; -1: that is not known.
int64_t turnsOf(WhileOp loop) {
  // The counter may be in a kernel by now.
  auto count = loop->getAttrOfType<IntegerAttr>(tripCountAttr);
  return count ? count.getInt() : -1;
}

/// The work of one turn of a loop.
class Turn {
public:
  /// Returns whether the loop can be compiled whole.
  bool takes(WhileOp loop) {
    return add(loop) &&
           work <= mostLoopFlops * std::max<int64_t>(1, steps / 2) &&
           productWork <= mostLoopProducts / 2 &&
           bytes <= std::clamp(steps * bytesOfSmallStep, mostBytes,
                               mostBytesOfSmallSteps);
  }
  /// Returns the operations of a turn, with all turns of the loops inside. In
  /// products, a multiplication and an addition take the time of one.
  int64_t operations() const {
    return work + 2 * productWork + innerOperations;
  }

private:
  bool add(WhileOp loop) {
    if (!llvm::all_of(loop.getResultTypes(), isWholeArray) ||
        !add(loop.getCondition().front()) || !add(loop.getBody().front()))
      return false;
    // A next value that was not made in the memory of the last one is copied.
    for (auto [i, next] : llvm::enumerate(loop.getBodyYield().getOperands()))
      if (memoryOf(next) != loop.getBodyArgument(i))
        work += elementsOf(next.getType());
    return true;
  }

  bool add(Block &block) {
    return llvm::all_of(block.without_terminator(),
                        [this](Operation &op) { return add(op); });
  }

  bool add(Operation &op) {
    if (!llvm::all_of(op.getResultTypes(), isWholeArray))
      return false;
    if (!isSplat(&op) && llvm::any_of(op.getResultTypes(), [](Type type) {
          return elementsOf(type) > 1;
        }))
      ++steps;
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      work += kernel.getNumIterations() * std::max<int64_t>(1, flopsOf(kernel));
      addResults(kernel.getOutputs(), kernel.getInPlace(), /*copied=*/false);
      return true;
    }
    if (auto call = dyn_cast<LibraryCallOp>(op))
      return add(call);
    if (auto product = dyn_cast<DotGeneralOp>(op))
      return add(product);
    if (auto branch = dyn_cast<CaseOp>(op)) {
      for (Value result : branch.getResults()) {
        work += elementsOf(result.getType());
        bytes += bytesOf(result.getType());
      }
      return llvm::all_of(branch.getBranches(), [this](Region &region) {
        return add(region.front());
      });
    }
    if (!isSplat(&op))
      return false;
    bytes += bytesOf(op.getResult(0).getType());
    return true;
  }

  /// While a core does one simple instruction for eight elements, it starts 32
  /// multiplications, of which it gets to half, or reads eight elements.
  bool add(DotGeneralOp product) {
    const Operand lhs{product.getLhs(), product.getLhsBatchingDimensions(),
                      product.getLhsContractingDimensions(),
                      product.getLhsFreeDimensions()};
    const Operand rhs{product.getRhs(), product.getRhsBatchingDimensions(),
                      product.getRhsContractingDimensions(),
                      product.getRhsFreeDimensions()};
    if (!isLoopProduct(product))
      return false;
    const int64_t terms = lhs.extentOf(lhs.terms);
    productWork += std::max(elementsOf(product.getType()) * terms / 2,
                            lhs.elements() + rhs.elements());
    addResults(product.getResult(), {-1}, /*copied=*/false);
    constexpr int64_t manyTerms = 32;
    const bool copiesRhs =
        !rhs.isMatrix() || (rhs.isLast(rhs.terms) &&
                            (!lhs.isLast(lhs.terms) || terms < manyTerms));
    for (auto [operand, isCopied] :
         {std::pair(&lhs, !lhs.isMatrix()), std::pair(&rhs, copiesRhs)})
      if (isCopied) {
        bytes += bytesOf(operand->value.getType());
        work += 2 * operand->elements();
      }
    return true;
  }

  /// An operand of a product, with the lists of its dims.
  struct Operand {
    Value value;
    ArrayRef<int64_t> batch, terms;
    SmallVector<int64_t> free;

    int64_t elements() const { return elementsOf(value.getType()); }
    int64_t extentOf(ArrayRef<int64_t> dims) const {
      int64_t extent = 1;
      for (int64_t dim : dims)
        extent *= globalShape(value.getType())[dim];
      return extent;
    }
    bool isLast(ArrayRef<int64_t> dims) const {
      return llvm::is_contained(dims, rank() - 1);
    }
    /// Returns whether its rows and columns can surely be read where they are.
    bool isMatrix() const {
      auto isRun = [](ArrayRef<int64_t> dims) {
        for (size_t i = 1; i < dims.size(); ++i)
          if (dims[i] != dims[i - 1] + 1)
            return false;
        return true;
      };
      auto call = value.getDefiningOp<LibraryCallOp>();
      return isRun(terms) && isRun(free) && !isLast(batch) &&
             (!call || call.getCallee() != "dynamic_slice");
    }
    int64_t rank() const {
      return int64_t(globalShape(value.getType()).size());
    }
  };

  /// Returns whether lib/Targets/CPU/LoopFactorizations.cpp has code for it.
  /// For larger matrices the library has better ways, and reflections, which
  /// are more code, take long to compile; in deterministic functions the
  /// library decides in which order terms are added.
  static bool isFactorization(LibraryCallOp call) {
    constexpr int64_t mostRows = 16, mostReflections = 8;
    static constexpr StringRef callees[] = {
        "cholesky", "geqrf", "householder_product", "lu", "triangular_solve"};
    if (!llvm::is_contained(callees, call.getCallee()))
      return false;
    const Type type = call.getInputs()[0].getType();
    const SmallVector<int64_t> shape = globalShape(type);
    const auto [fewer, more] = std::minmax(shape.back(), shape.end()[-2]);
    const bool reflects = call.getCallee() == "geqrf" ||
                          call.getCallee() == "householder_product";
    return (elementTypeOf(type).isF32() || elementTypeOf(type).isF64()) &&
           !isDeterministic(call) && more <= mostRows &&
           (!reflects || fewer <= mostReflections);
  }

  /// Returns the extent of the dim that a call goes along.
  static int64_t lineOf(LibraryCallOp call) {
    const auto dim = call.getOptions()->getAs<IntegerAttr>("dimension");
    return globalShape(call.getInputs()[0].getType())[dim.getInt()];
  }

  /// Returns whether lib/Targets/CPU/LoopLines.cpp has code for the running
  /// reduction. Many f64 are added in pairs, which only the library does.
  static bool isCumulative(LibraryCallOp call) {
    constexpr int64_t mostTerms = 64;
    if (call.getCallee() != "cumulative")
      return false;
    const Type element = elementTypeOf(call.getInputs()[0].getType());
    if (isa<IntegerType>(element))
      return true;
    return isMultiplied(element) && !isDeterministic(call) &&
           (!element.isF64() || lineOf(call) <= mostTerms);
  }

  /// A line of so many elements is sorted by insertion before the library has
  /// begun.
  static constexpr int64_t mostInserted = 64;

  /// Returns whether LoopLines.cpp has code for the sort: by one key, of short
  /// lines.
  static bool isShortSort(LibraryCallOp call) {
    if (call.getCallee() != "sort")
      return false;
    const auto direction = call.getOptions()->getAs<StringAttr>("direction");
    return direction && (direction == "LT" || direction == "GT") &&
           lineOf(call) <= mostInserted;
  }

  static int64_t lastExtentOf(Value array) {
    return globalShape(array.getType()).back();
  }
  /// Returns whether LoopLines.cpp has code for the top_k, of few elements.
  static bool isShortTopK(LibraryCallOp call) {
    const Type element = elementTypeOf(call.getOperand(0).getType());
    return call.getCallee() == "top_k" &&
           lastExtentOf(call.getOutputs()[0]) <= mostInserted &&
           (isMultiplied(element) ||
            (isa<IntegerType>(element) && !element.isInteger(1)));
  }

  bool add(LibraryCallOp call) {
    const bool updates = call.getCallee() == "dynamic_update_slice" ||
                         call.getCallee() == "scatter" ||
                         call.getCallee() == "loop";
    addResults(call.getOutputs(), call.getInPlace(), updates);
    if (call.getCallee() == "loop") {
      // The turns inside have been looked at.
      Turn inner;
      bytes += inner.takes(loopOf(call)) ? inner.bytes : mostBytesOfSmallSteps;
      innerOperations +=
          inner.operations() * std::max<int64_t>(1, turnsOf(loopOf(call)));
      return true;
    }
    if (call.getCallee() == "dynamic_slice" || call.getCallee() == "gather") {
      work += elementsOf(call.getOutputs()[0].getType());
      return true;
    }
    const int64_t elements = elementsOf(call.getOperand(0).getType());
    if (isCumulative(call)) {
      work += 4 * elements;
      return true;
    }
    if (isShortSort(call)) {
      work += elements * lineOf(call);
      return true;
    }
    if (isShortTopK(call)) {
      const int64_t count = elementsOf(call.getOutputs()[0].getType());
      work += 8 * elements + count * lastExtentOf(call.getOutputs()[0]);
      return true;
    }
    if (call.getCallee() == "generic_reduce") {
      work += 8 * elements * call.getNumResults();
      return true;
    }
    if (isFactorization(call)) {
      const auto shape = globalShape(call.getInputs()[0].getType());
      work += 2 * elementsOf(call.getOutputs()[0].getType()) * shape.back();
      return true;
    }
    if (!updates)
      return false;
    if (call.getCallee() == "scatter") {
      const bool combines =
          call.getOptions() && call.getOptions()->contains("kind");
      for (Value update :
           call.getInputs().drop_front(call.getNumResults() + 1)) {
        work += 4 * elementsOf(update.getType());
        if (combines && isa<mlir::ComplexType>(elementTypeOf(update.getType())))
          return false;
      }
      return true;
    }
    work += elementsOf(call.getInputs()[1].getType());
    return true;
  }

  void addResults(ValueRange results, ArrayRef<int32_t> inPlace, bool copied) {
    for (auto [result, over] : llvm::zip_equal(results, inPlace)) {
      if (over >= 0)
        continue;
      bytes += bytesOf(result.getType());
      if (copied)
        work += elementsOf(result.getType());
    }
  }

  static int64_t bytesOf(Type type) {
    return elementsOf(type) * byteWidth(*dtypeOf(elementTypeOf(type)));
  }

  static WhileOp loopOf(LibraryCallOp call) {
    return *call.getScalar().front().getOps<WhileOp>().begin();
  }

  int64_t work = 0, productWork = 0, innerOperations = 0, bytes = 0;
  int64_t steps = 0; ///< those for more than one element
};

/// Returns the access of an array of such a type: dims of one size share a held
/// loop, but not in one array.
SmallVector<TermList> accessByHeldLoops(Type type, CallLoops &loops) {
  SmallVector<TermList> access;
  SmallVector<unsigned> used;
  for (int64_t extent : globalShape(type)) {
    unsigned loop = 0;
    while (loop < loops.extents.size() &&
           (loops.extents[loop] != extent || llvm::is_contained(used, loop)))
      ++loop;
    if (loop == loops.extents.size())
      loops.addHeld(extent);
    used.push_back(loop);
    access.push_back({{loop, 1}});
  }
  return access;
}

/// Moves `loop` into a call at its place. The call says how often it turns and
/// how many operations a turn has, for predictions; for scheduling, all loops
/// have the same work.
void formLoopCall(WhileOp loop, const Turn &turn) {
  OpBuilder b(loop);
  Location loc = loop.getLoc();
  Region region;
  Block &block = region.emplaceBlock();
  OpBuilder inside(b.getContext());
  inside.setInsertionPointToEnd(&block);
  SmallVector<Value> inputs;
  auto isLocal = [](Value value) {
    return value.getDefiningOp() && isSplat(value.getDefiningOp());
  };
  /// The value in the region that stands for a value from outside.
  auto bring = [&](Value value) -> Value {
    if (isLocal(value))
      return inside.clone(*value.getDefiningOp())->getResult(0);
    inputs.push_back(value);
    return block.addArgument(value.getType(), value.getLoc());
  };
  SmallVector<Value> captured = capturedValues(loop);
  SmallVector<int32_t> overwritable;
  for (mlir::OpOperand &init : loop.getInitsMutable()) {
    overwritable.push_back(isLocal(init.get()) ? -1 : int32_t(inputs.size()));
    init.set(bring(init.get()));
  }
  for (Value value : captured) {
    Value argument = bring(value);
    value.replaceUsesWithIf(argument, [&](mlir::OpOperand &use) {
      return loop->isProperAncestor(use.getOwner());
    });
  }

  CallLoops loops;
  SmallVector<SmallVector<TermList>> accesses;
  for (Type type : ValueRange(inputs).getTypes())
    accesses.push_back(accessByHeldLoops(type, loops));
  for (Type type : loop.getResultTypes())
    accesses.push_back(accessByHeldLoops(type, loops));
  auto call = createCall(loop, loop.getResultTypes(), inputs, loops, accesses,
                         spmd::layoutOf(loop.getResult(0).getType()).mesh(),
                         LibraryCall(loop, "loop")
                             .number("turns", turnsOf(loop))
                             .number("turn_operations", turn.operations()),
                         overwritable, mostLoopFlops);
  call->setAttr("ops", b.getStringAttr("while"));
  loop.replaceAllUsesWith(call.getOutputs());
  loop->remove();
  inside.insert(loop);
  inside.create<spmd::YieldOp>(loc, loop.getResults());
  call.getScalar().takeBody(region);
}

} // namespace

void meshloom::hoistConstants(mlir::func::FuncOp func) {
  Block &entry = func.getBody().front();
  SmallVector<ConstantOp> constants;
  for (Block *block : runBlocks(func))
    if (block != &entry)
      for (auto constant : block->getOps<ConstantOp>())
        if (!isSplat(constant))
          constants.push_back(constant);
  for (ConstantOp constant : llvm::reverse(constants))
    constant->moveBefore(&entry, entry.begin());
}

/// Returns whether an op of a loop's body computes the same in every turn, from
/// no fewer bytes than it stores, and enough of them to be worth a step.
static bool isInvariant(Operation &op, Block &body) {
  constexpr int64_t leastBytes = 4096;
  auto bytesOf = [](mlir::TypeRange types) {
    int64_t bytes = 0;
    for (Type type : types)
      if (auto element = dtypeOf(elementTypeOf(type)))
        bytes += elementsOf(type) * byteWidth(*element);
    return bytes;
  };
  const int64_t bytes = bytesOf(op.getResultTypes());
  return isa<KernelOp, DotGeneralOp>(op) && bytes >= leastBytes &&
         bytes <= bytesOf(op.getOperandTypes()) &&
         llvm::none_of(op.getOperands(), [&](Value operand) {
           return operand.getParentBlock() == &body;
         });
}

void meshloom::hoistInvariants(Block &block) {
  auto loop = dyn_cast_or_null<WhileOp>(block.getParentOp());
  if (!loop || &block != &loop.getBody().front())
    return;
  // An op comes after those whose results it reads, which have left by then.
  for (Operation &op : llvm::make_early_inc_range(block))
    if (isInvariant(op, block))
      op.moveBefore(loop);
}

bool meshloom::isLoopProduct(DotGeneralOp product) {
  // In a deterministic function the library decides in which order terms are
  // added.
  return isMultiplied(elementTypeOf(product.getType())) &&
         !product.isWidening() && !isDeterministic(product) &&
         llvm::all_of(product->getOperandTypes(), isWholeArray) &&
         isWholeArray(product.getType());
}

void meshloom::formLoopCalls(Block &block) {
  for (auto loop : llvm::make_early_inc_range(block.getOps<WhileOp>()))
    if (Turn turn; loop.getNumResults() > 0 && turn.takes(loop))
      formLoopCall(loop, turn);
}

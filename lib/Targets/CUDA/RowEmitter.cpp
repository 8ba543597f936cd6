// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RowEmitter.h"

#include "ThreadCode.h"

#include "meshloom/Targets/Kernels/KernelBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

#include <deque>
#include <numeric>

using namespace meshloom;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

//===----------------------------------------------------------------------===//
// Elements in registers
//===----------------------------------------------------------------------===//

/// Operands first, then results.
HeldElements::Element HeldElements::elementOf(KernelOp kernel,
                                              unsigned operand) {
  const unsigned numInputs = kernel.getInputs().size();
  return {operand < numInputs ? kernel.getInputs()[operand]
                              : kernel.getOutputs()[operand - numInputs],
          kernel.getInputAccess(operand)};
}

HeldElements::HeldElements(LibraryCallOp call, unsigned numRows,
                           unsigned threads)
    : numRows(numRows), threads(threads) {
  // The code has each term by itself, and threads have few registers.
  constexpr unsigned mostTerms = 8, mostBits = 64 * 32;
  for (int64_t extent : call.getExtents().drop_front(numRows))
    terms *= unsigned(extent);
  const unsigned count = unsigned(llvm::divideCeil(terms, threads));
  if (count > mostTerms)
    return;
  perThread = count;
  llvm::MapVector<Element, unsigned> uses;
  for (auto kernel : call.getScalar().front().getOps<KernelOp>()) {
    const unsigned numInputs = kernel.getInputs().size();
    for (unsigned i = 0; i < numInputs; ++i)
      if (!isOfRow(kernel, i) && !kernel.getBlock()->getArgument(i).use_empty())
        ++uses[elementOf(kernel, i)];
    for (unsigned i = 0; i < kernel.getOutputs().size(); ++i)
      if (!isOfRow(kernel, numInputs + i))
        ++uses[elementOf(kernel, numInputs + i)];
  }
  unsigned bits = 0;
  for (auto &[element, count] : uses) {
    const DType type = *dtensor::dtypeOf(
        cast<RankedTensorType>(element.first.getType()).getElementType());
    const unsigned taken =
        perThread * std::max<unsigned>(8 * unsigned(byteWidth(type)), 32);
    if (count < 2 || isComplex(type) || bits + taken > mostBits)
      continue;
    bits += taken;
    held.insert({element, {}});
  }
}

bool HeldElements::isPartial(unsigned number) const {
  return (number + 1) * threads > terms;
}

bool HeldElements::isOfRow(KernelOp kernel, unsigned operand) const {
  const mlir::AffineMap map = kernel.getInputAccess(operand);
  for (unsigned loop = numRows; loop < map.getNumDims(); ++loop)
    if (map.isFunctionOfDim(loop))
      return false;
  return true;
}

SmallVector<Value> *HeldElements::find(KernelOp kernel, unsigned operand) {
  const auto found = held.find(elementOf(kernel, operand));
  return found == held.end() ? nullptr : &found->second;
}

bool HeldElements::isOverwritten(KernelOp kernel, unsigned result) {
  Value value = kernel.getOutputs()[result];
  if (!find(kernel, kernel.getInputs().size() + result))
    return false;
  bool isGone = false;
  for (mlir::OpOperand &use : value.getUses()) {
    auto user = dyn_cast<KernelOp>(use.getOwner());
    if (!user || !find(user, use.getOperandNumber()))
      return false;
    isGone |=
        llvm::is_contained(user.getInPlace(), int32_t(use.getOperandNumber()));
  }
  return isGone;
}

/// Kernels of the rows alone have no terms.
bool ThreadEmitter::holdsElements() const {
  return held && held->termsOfThread() > 0 && !termLoops.empty();
}

SmallVector<Value> ThreadEmitter::reduceHeldTerm(const Position &row,
                                                 unsigned number,
                                                 ArrayRef<Value> ofRow,
                                                 ValueRange states) {
  Value index = b.create<arith::AddIOp>(
      loc, term, constant(int64_t(number) * held->numThreads()));
  const Position here = positionOf(termLoops, row, index, 32);
  SmallVector<Value> loaded(ofRow);
  for (BlockArgument argument : kernel.getBlock()->getArguments()) {
    const unsigned k = argument.getArgNumber();
    if (argument.use_empty() || loaded[k])
      continue;
    SmallVector<Value> *values = held->find(kernel, k);
    loaded[k] = values && !values->empty()
                    ? fromStorage((*values)[number], argument.getType())
                    : loadScalar(here.pointers[k], argument.getType());
  }
  const SmallVector<Value> yielded = emitBody(here, loaded);
  for (auto [i, reducer] : llvm::enumerate(reducers))
    if (!reducer && !held->isOverwritten(kernel, i))
      storeScalar(here.pointers[numInputs + i], yielded[i]);
  SmallVector<Value> results = combine(here, states, yielded);
  for (unsigned k : freshOperands)
    results.push_back(
        toStorage(k < numInputs ? loaded[k] : yielded[k - numInputs]));
  return results;
}

SmallVector<Value>
ThreadEmitter::emitWhere(Value condition, ValueRange others,
                         ArrayRef<Type> undefined,
                         function_ref<SmallVector<Value>()> emitValues) {
  SmallVector<Type> types(others.getTypes());
  types.append(undefined.begin(), undefined.end());
  auto branch = b.create<scf::IfOp>(loc, types, condition, /*withElse=*/true);
  // Branches without results end by themselves.
  auto yield = [&](ValueRange values) {
    if (!values.empty())
      b.create<scf::YieldOp>(loc, values);
  };
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  yield(emitValues());
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> values(others);
  for (Type type : undefined)
    values.push_back(b.create<LLVM::UndefOp>(loc, type));
  yield(values);
  return SmallVector<Value>(branch.getResults());
}

/// Threads without a term, and those of no row, keep nothing of it.
SmallVector<Value> ThreadEmitter::reduceHeld(Value result, Value inside) {
  findFreshOperands();
  SmallVector<Type> ofTerm, ofAllTerms;
  for (unsigned k : freshOperands)
    ofTerm.push_back(storageType(elements[k]));
  const unsigned count = held->termsOfThread();
  for (unsigned number = 0; number < count; ++number)
    ofAllTerms.append(ofTerm);
  const SmallVector<Value> none = identities();
  const SmallVector<Value> values = emitWhere(inside, none, ofAllTerms, [&] {
    const Position row = positionOf(resultLoops, start, result, 32);
    SmallVector<Value> ofRow(numInputs);
    for (BlockArgument argument : kernel.getBlock()->getArguments())
      if (const unsigned k = argument.getArgNumber();
          !argument.use_empty() && held->isOfRow(kernel, k))
        ofRow[k] = loadScalar(row.pointers[k], argument.getType());
    SmallVector<Value> states = none, fresh;
    for (unsigned number = 0; number < count; ++number) {
      auto reduce = [&] { return reduceHeldTerm(row, number, ofRow, states); };
      const SmallVector<Value> next =
          held->isPartial(number)
              ? emitWhere(hasTerm(number), states, ofTerm, reduce)
              : reduce();
      states.assign(next.begin(), next.begin() + none.size());
      fresh.append(next.begin() + none.size(), next.end());
    }
    states.append(fresh);
    return states;
  });
  const auto fresh = ArrayRef(values).drop_front(none.size());
  for (auto [i, k] : llvm::enumerate(freshOperands))
    for (unsigned number = 0; number < count; ++number)
      held->find(kernel, k)->push_back(fresh[number * ofTerm.size() + i]);
  return SmallVector<Value>(ArrayRef(values).take_front(none.size()));
}

/// Says whether this thread has a `number`-th term.
Value ThreadEmitter::hasTerm(unsigned number) {
  const int64_t others = int64_t(number) * held->numThreads();
  return b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, term,
                                 constant(int64_t(held->numTerms()) - others));
}

/// Operands and results that this kernel is the first to read or write.
void ThreadEmitter::findFreshOperands() {
  llvm::SmallDenseSet<SmallVector<Value> *> seen;
  for (unsigned k = 0; k < strideKinds.size(); ++k) {
    const bool isUsed =
        k >= numInputs || !kernel.getBlock()->getArgument(k).use_empty();
    SmallVector<Value> *values = held->find(kernel, k);
    if (isUsed && values && values->empty() && seen.insert(values).second)
      freshOperands.push_back(k);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {
/// Emits a call of `rows`.
class RowEmitter : ElementEmitter {
public:
  RowEmitter(LibraryCallOp call, ModuleOp module)
      : ElementEmitter(module.getContext(), call.getLoc()), call(call),
        module(module) {
    numRows = unsigned(llvm::count(call.getReductions(), false));
  }
  KernelShape emit(StringRef symbol);

private:
  /// Returns how many threads share a row.
  unsigned threadsOfRow();
  /// The call's pointer to the array that pointer `pointer` of a kernel is to.
  unsigned pointerOf(KernelOp kernel, unsigned pointer);
  /// The place of a kernel's parameter among those of the call.
  unsigned placeOf(KernelOp kernel, KernelParameter parameter);

  LibraryCallOp call;
  ModuleOp module;
  unsigned numRows = 0;
  std::vector<KernelParameter> parameters;
};
} // namespace

unsigned RowEmitter::threadsOfRow() {
  constexpr uint64_t termsOfThread = 8;
  uint64_t terms = 1;
  for (int64_t extent : call.getExtents().drop_front(numRows))
    terms *= uint64_t(extent);
  return unsigned(std::clamp<uint64_t>(
      llvm::bit_ceil(llvm::divideCeil(terms, termsOfThread)), warp,
      blockThreads));
}

unsigned RowEmitter::pointerOf(KernelOp kernel, unsigned pointer) {
  SmallVector<Value> arrays(kernel.getInputs());
  for (auto [result, over] :
       llvm::zip_equal(kernel.getOutputs(), kernel.getInPlace()))
    if (over < 0)
      arrays.push_back(result);
  Value array = memoryOf(arrays[pointer]);
  if (auto argument = dyn_cast<BlockArgument>(array))
    return argument.getArgNumber();
  unsigned next = call.getInputs().size();
  for (auto [result, over] :
       llvm::zip_equal(call.getScalar().front().getTerminator()->getOperands(),
                       call.getInPlace())) {
    if (memoryOf(result) == array)
      return over < 0 ? next : unsigned(over);
    next += over < 0;
  }
  llvm_unreachable("a result that the call does not yield");
}

unsigned RowEmitter::placeOf(KernelOp kernel, KernelParameter parameter) {
  using Kind = KernelParameter::Kind;
  if (parameter.kind == Kind::Pointer || parameter.kind == Kind::Stride)
    parameter.operand = pointerOf(kernel, parameter.operand);
  auto found = llvm::find(parameters, parameter);
  if (found == parameters.end())
    found = parameters.insert(found, parameter);
  return unsigned(found - parameters.begin());
}

KernelShape RowEmitter::emit(StringRef symbol) {
  const unsigned terms = threadsOfRow(), results = blockThreads / terms;
  std::vector<unsigned> rows(numRows);
  std::iota(rows.begin(), rows.end(), 0);
  for (unsigned row : rows)
    parameters.push_back({KernelParameter::Kind::Extent, 0, row});
  HeldElements held(call, numRows, terms);
  std::deque<ThreadEmitter> kernels; // which do not move
  SmallVector<SmallVector<unsigned>> places;
  for (auto kernel : call.getScalar().front().getOps<KernelOp>()) {
    kernels.emplace_back(kernel, module, numRows, terms, held);
    SmallVector<unsigned> &ofKernel = places.emplace_back();
    for (const KernelParameter &parameter : kernels.back().parameters())
      ofKernel.push_back(placeOf(kernel, parameter));
  }
  SmallVector<Type> types;
  for (const KernelParameter &parameter : parameters)
    types.push_back(parameter.kind == KernelParameter::Kind::Pointer ? pointer
                                                                     : i64);
  auto function = makeFunction(module, symbol, types, LLVM::Linkage::External);
  makeEntry(function);
  Value count = constant(1);
  for (unsigned row : rows)
    count = b.create<arith::MulIOp>(loc, count, function.getArgument(row));
  emitGroups(b, loc, results, count, [&](Block *block, Value group) {
    for (auto [i, kernel] : llvm::enumerate(kernels)) {
      SmallVector<Value> arguments;
      for (unsigned place : places[i])
        arguments.push_back(function.getArgument(place));
      kernel.emitGroup(block, arguments, group,
                       (symbol + "_" + Twine(i)).str());
    }
  });
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  return {symbol.str(), results, terms, rows, parameters};
}

KernelShape meshloom::emitRows(LibraryCallOp call, StringRef symbol,
                               ModuleOp module) {
  return RowEmitter(call, module).emit(symbol);
}

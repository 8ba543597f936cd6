// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One iteration of a kernel: where its operands lie, the body's ops, and what
// is stored or reduced.
#include "meshloom/Targets/Kernels/KernelBody.h"

#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
using spmd::KernelOp;
using spmd::Reducer;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

KernelBody::KernelBody(KernelOp kernel, ModuleOp module)
    : ElementEmitter(module.getContext(), kernel.getLoc()), kernel(kernel),
      module(module), order(loopOrder(kernel)), inPlace(kernel.getInPlace()) {
  numInputs = kernel.getInputs().size();
  for (unsigned k = 0; k < kernel.getAccesses().size(); ++k) {
    strideKinds.push_back(staticStrides(kernel, k));
    Value tensor = k < numInputs ? kernel.getInputs()[k]
                                 : kernel.getOutputs()[k - numInputs];
    elements.push_back(
        cast<RankedTensorType>(tensor.getType()).getElementType());
  }
  for (unsigned i = 0; i < kernel.getAccesses().size(); ++i)
    guarded.push_back(kernel.isGuarded(i));
  usesIndex.resize(kernel.getNumLoops());
  kernel.getBlock()->walk(
      [&](spmd::IndexOp op) { usesIndex[op.getLoop()] = true; });
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (kernel.getReducer(i) == Reducer::ArgMax ||
        kernel.getReducer(i) == Reducer::ArgMin)
      usesIndex[order.reduction.front()] = true;
}

unsigned KernelBody::pointerOf(unsigned operand) {
  if (operand < numInputs)
    return operand;
  unsigned next = numInputs;
  for (unsigned k = 0; k < operand - numInputs; ++k)
    next += inPlace[k] < 0;
  int32_t over = inPlace[operand - numInputs];
  return over >= 0 ? unsigned(over) : next;
}

unsigned KernelBody::numPointers() {
  return numInputs + llvm::count_if(inPlace, [](int32_t j) { return j < 0; });
}

void KernelBody::forDynamicStrides(function_ref<void(unsigned, unsigned)> use) {
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
      if (!strideKinds[k][loop].isStatic)
        use(k, loop);
}

SmallVector<Type> KernelBody::argumentTypes() {
  SmallVector<Type> types(numPointers(), pointer);
  types.append(kernel.getNumLoops(), i64); // extents
  types.append(llvm::count(usesIndex, true), i64);
  forDynamicStrides([&](unsigned, unsigned) { types.push_back(i64); });
  return types;
}

Position KernelBody::bindArguments(ValueRange arguments) {
  const unsigned loops = kernel.getNumLoops();
  unsigned next = numPointers();
  extents.clear();
  origins.clear();
  strides.clear();
  for (unsigned loop = 0; loop < loops; ++loop)
    extents.push_back(arguments[next++]);
  for (unsigned loop = 0; loop < loops; ++loop)
    origins.push_back(usesIndex[loop] ? Value(arguments[next++]) : Value());
  zero = constant(0);
  one = constant(1);
  strides.resize(strideKinds.size());
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    for (StaticStride stride : strideKinds[k])
      strides[k].push_back(!stride.isStatic    ? Value(arguments[next++])
                           : stride.value == 0 ? Value()
                                               : constant(stride.value));
  Position start;
  for (unsigned k = 0; k < strideKinds.size(); ++k)
    start.pointers.push_back(arguments[pointerOf(k)]);
  start.indices.resize(loops);
  return start;
}

void KernelBody::makeReducers() {
  reducers.clear();
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    reducers.push_back(makeReducer(kernel, i, !order.deterministic));
}

bool KernelBody::isPeriodic() {
  return llvm::any_of(*kernel.getBlock(),
                      [](Operation &op) { return losesHugeArguments(&op); });
}

Position KernelBody::advance(const Position &from, unsigned loop, Value index) {
  Position to = from;
  for (unsigned k = 0; k < strides.size(); ++k) {
    // In place: the very address of the input, or vectorised code would have
    // to find out that they do not overlap elsewhere.
    int32_t over = k < numInputs ? -1 : inPlace[k - numInputs];
    if (over >= 0) {
      to.pointers[k] = to.pointers[over];
      continue;
    }
    if (Value stride = strides[k][loop]) {
      bool unit = strideKinds[k][loop].is(1);
      // Vectorised code may read all that lies between elements that are
      // `stride` apart only if their places do not wrap.
      Value offset =
          unit ? index
               : b.create<arith::MulIOp>(loc, index, stride,
                                         arith::IntegerOverflowFlags::nsw)
                     .getResult();
      to.pointers[k] = element(to.pointers[k], storageType(elements[k]), offset,
                               !guarded[k]);
    }
  }
  Value before = from.indices[loop];
  to.indices[loop] =
      before ? b.create<arith::AddIOp>(loc, before, index).getResult() : index;
  return to;
}

Value KernelBody::readIf(Value condition, Value address, Type type) {
  auto complex = dyn_cast<mlir::ComplexType>(type);
  if (complex && complex.getElementType().isF32())
    return readPairIf(condition, address, complex);
  // Values leave the branch as they are in memory, complex ones in parts: no
  // block has arguments of types that the target lacks.
  SmallVector<Type> carried(complex ? 2 : 1, complex ? complex.getElementType()
                                                     : storageType(type));
  auto branch = b.create<scf::IfOp>(loc, TypeRange(carried), condition,
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> loaded{b.create<LLVM::LoadOp>(loc, carried[0], address)};
    if (complex)
      loaded.push_back(b.create<LLVM::LoadOp>(
          loc, carried[1], imaginaryPart(address, carried[1])));
    b.create<scf::YieldOp>(loc, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(carried[0]));
    b.create<scf::YieldOp>(loc, SmallVector<Value>(carried.size(), zero));
  }
  if (complex)
    return b.create<mlir::complex::CreateOp>(loc, type, branch.getResult(0),
                                             branch.getResult(1));
  return fromStorage(branch.getResult(0), type);
}

Value KernelBody::readPairIf(Value condition, Value address,
                             mlir::ComplexType type) {
  Type part = type.getElementType(), half = b.getI32Type();
  const unsigned alignment = part.getIntOrFloatBitWidth() / 8;
  auto branch = b.create<scf::IfOp>(loc, b.getI64Type(), condition,
                                    /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value loaded =
        b.create<LLVM::LoadOp>(loc, b.getI64Type(), address, alignment);
    b.create<scf::YieldOp>(loc, loaded);
    b.setInsertionPointToStart(branch.elseBlock());
    b.create<scf::YieldOp>(loc, constant(0));
  }
  auto partOf = [&](Value bits) -> Value {
    Value low = b.create<arith::TruncIOp>(loc, half, bits);
    return b.create<arith::BitcastOp>(loc, part, low);
  };
  Value bits = branch.getResult(0),
        behind = b.create<arith::ShRUIOp>(loc, bits, constant(32));
  return b.create<mlir::complex::CreateOp>(loc, type, partOf(bits),
                                           partOf(behind));
}

Value KernelBody::loadAt(spmd::LoadOp load, const Position &place,
                         const mlir::IRMapping &mapping) {
  const unsigned input = load.getInput();
  Value offset = zero;
  for (auto [loop, index] :
       llvm::zip_equal(load.getLoops(), load.getIndices())) {
    const StaticStride kind = strideKinds[input][loop];
    Value term = mapping.lookupOrDefault(index);
    if (kind.is(0))
      continue;
    if (!kind.is(1))
      term = b.createOrFold<arith::MulIOp>(loc, term, strides[input][loop]);
    offset = b.createOrFold<arith::AddIOp>(loc, offset, term);
  }
  Value address =
      element(place.pointers[input], storageType(elements[input]), offset);
  return loadScalar(address, load.getType());
}

Value KernelBody::globalIndex(const Position &position, unsigned loop) {
  return b.create<arith::AddIOp>(loc, origins[loop], position.indices[loop]);
}

SmallVector<Value> KernelBody::emitBody(const Position &position,
                                        ArrayRef<Value> loaded) {
  mlir::IRMapping mapping;
  for (BlockArgument argument : kernel.getBlock()->getArguments()) {
    const unsigned input = argument.getArgNumber();
    if (!argument.use_empty())
      mapping.map(argument,
                  loaded.empty()
                      ? loadScalar(position.pointers[input], argument.getType())
                      : loaded[input]);
  }
  for (Operation &op : kernel.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<spmd::IndexOp>(op))
      mapping.map(index.getResult(), globalIndex(position, index.getLoop()));
    else if (auto read = dyn_cast<spmd::ReadOp>(op))
      mapping.map(read.getResult(),
                  readIf(mapping.lookupOrDefault(read.getCondition()),
                         position.pointers[read.getInput()], read.getType()));
    else if (auto load = dyn_cast<spmd::LoadOp>(op))
      mapping.map(load.getResult(), loadAt(load, position, mapping));
    else if (auto outcome = outcomes.find(&op); outcome != outcomes.end())
      mapping.map(op.getResult(0), b.create<arith::ConstantOp>(
                                       loc, b.getBoolAttr(outcome->second)));
    else
      emitted(b.clone(op, mapping));
  }
  SmallVector<Value> yielded;
  for (Value value : kernel.getBlock()->getTerminator()->getOperands())
    yielded.push_back(mapping.lookupOrDefault(value));
  return yielded;
}

void KernelBody::storeElements(const Position &position, ValueRange yielded) {
  if (!stores)
    return;
  for (unsigned i = 0; i < reducers.size(); ++i)
    if (!reducers[i])
      storeScalar(position.pointers[numInputs + i], yielded[i]);
}

SmallVector<Value> KernelBody::identities() {
  SmallVector<Value> states;
  for (auto &reducer : reducers)
    if (reducer)
      states.append(reducer->identity(b, loc, origins));
  return states;
}

SmallVector<Value> KernelBody::combine(const Position &position,
                                       ValueRange states, ValueRange yielded) {
  SmallVector<Value> next;
  for (unsigned i = 0; i < reducers.size(); ++i)
    if (auto &reducer = reducers[i]) {
      unsigned count = reducer->stateTypes().size();
      Value index;
      if (reducer->usesIndex())
        index = globalIndex(position, order.reduction.front());
      next.append(reducer->combine(b, loc, states.take_front(count), yielded[i],
                                   index));
      states = states.drop_front(count);
    }
  return next;
}

SmallVector<Value> KernelBody::merge(ValueRange states, ValueRange other) {
  SmallVector<Value> merged;
  for (auto &reducer : reducers)
    if (reducer) {
      const unsigned count = reducer->stateTypes().size();
      merged.append(reducer->merge(b, loc, states.take_front(count),
                                   other.take_front(count)));
      states = states.drop_front(count);
      other = other.drop_front(count);
    }
  return merged;
}

void KernelBody::finish(const Position &position, ValueRange states) {
  if (!stores)
    return;
  for (unsigned i = 0; i < reducers.size(); ++i)
    if (auto &reducer = reducers[i]) {
      unsigned count = reducer->stateTypes().size();
      storeScalar(position.pointers[numInputs + i],
                  reducer->result(b, loc, states.take_front(count)));
      states = states.drop_front(count);
    }
}

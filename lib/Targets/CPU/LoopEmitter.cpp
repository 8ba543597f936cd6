// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a loop that is compiled whole (a library call of `loop`) to one
// function: the exported one, with the signature of Runtime/KernelFunction.h,
// reads where the arrays are and calls an inner one whose pointers are noalias.
//
// Every value has a place. The place of a carried value is the memory of the
// loop's result; what is computed in a turn has memory on the stack, a small
// value of which LLVM makes registers. Invariant: when a turn ends, each next
// value is in the place of its carried value. It is made there where the op
// that makes it overwrites the last value (`in_place`), or where nothing reads
// the last value from that op on; else it is copied there. A slice is a view of
// its operand as long as nothing overwrites the operand while the slice is
// read.
#include "LoopEmitter.h"
#include "meshloom/Targets/Kernels/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace meshloom;
using dtensor::CaseOp, dtensor::ConstantOp, dtensor::WhileOp;
using dtensor::dtypeOf, dtensor::elementTypeOf, dtensor::globalShape;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

namespace {

bool isSlice(Operation *op) {
  auto call = dyn_cast<LibraryCallOp>(op);
  return call && call.getCallee() == "dynamic_slice";
}

/// LLVM takes time that grows with the square of the loops in one function.
bool hasManyKernels(Region &region) {
  constexpr int64_t many = 128;
  int64_t count = 0;
  region.walk([&](KernelOp kernel) { count += kernel.getNumIterations() > 1; });
  return count > many;
}

/// Returns the array that an address points into.
Value arrayOf(Value address) {
  while (auto element = address.getDefiningOp<LLVM::GEPOp>())
    address = element.getBase();
  return address;
}

/// Returns whether no two of the addresses point into one array.
bool areOfDifferentArrays(ValueRange addresses) {
  DenseSet<Value> arrays;
  return llvm::all_of(addresses, [&](Value address) {
    return arrays.insert(arrayOf(address)).second;
  });
}
} // namespace

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

void LoopEmitter::emit(StringRef symbol) {
  const unsigned numInputs = call.getInputs().size();
  SmallVector<int32_t> inPlace = inPlaceOf(call);
  const unsigned numPointers =
      numInputs + llvm::count_if(inPlace, [](int32_t i) { return i < 0; });
  inner = makeInner((symbol + "_loop").str(), numPointers, true);
  kernelsAreCalled = hasManyKernels(call.getScalar());
  Block &entry = inner.getBody().front();
  SmallVector<ArrayPlace> inputs, results;
  for (auto [i, input] : llvm::enumerate(call.getInputs())) {
    inputs.push_back(
        {entry.getArgument(i), rowMajorStrides(globalShape(input.getType()))});
    if (!llvm::is_contained(inPlace, int32_t(i)))
      unchanged.insert(entry.getArgument(i));
  }
  unsigned next = numInputs;
  for (auto [over, result] : llvm::zip_equal(inPlace, call.getOutputs()))
    results.push_back({entry.getArgument(over >= 0 ? unsigned(over) : next++),
                       rowMajorStrides(globalShape(result.getType()))});
  for (auto [argument, place] :
       llvm::zip_equal(call.getScalar().getArguments(), inputs))
    places[argument] = place;
  emitCall(call, results);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  allocateOnce(inner);

  makeFunction(module, symbol, SmallVector<Type>(4, pointer),
               LLVM::Linkage::External);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < numPointers; ++i)
    arguments.push_back(loadArgument(0, pointer, i));
  b.create<LLVM::CallOp>(loc, inner, arguments);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
}

/// Has arrays on the stack allocated once, not in each turn of a loop.
void LoopEmitter::allocateOnce(LLVM::LLVMFuncOp function) {
  Operation *first = &function.getBody().front().front();
  OpBuilder::InsertionGuard guard(b);
  function.walk([&](LLVM::AllocaOp array) {
    b.setInsertionPoint(first);
    llvm::APInt size;
    bool isStatic =
        matchPattern(array.getArraySize(), mlir::m_ConstantInt(&size));
    assert(isStatic && "arrays of loops have known sizes");
    (void)isStatic;
    array.getArraySizeMutable().assign(constant(size.getSExtValue()));
    array->moveBefore(first);
  });
}

/// Makes an internal function of pointers, which LLVM does not inline.
LLVM::LLVMFuncOp LoopEmitter::makeInner(const std::string &name,
                                        unsigned numPointers,
                                        bool areDistinct) {
  auto function =
      makeFunction(module, name, SmallVector<Type>(numPointers, pointer),
                   LLVM::Linkage::Internal);
  // Inlined, the pointers would lose what noalias says about them.
  function.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("nounwind"), b.getStringAttr("noinline")}));
  if (areDistinct)
    for (unsigned i = 0; i < numPointers; ++i)
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
  return function;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

ArrayPlace LoopEmitter::newPlace(Type element, ArrayRef<int64_t> shape) {
  Value address = b.create<LLVM::AllocaOp>(
      loc, pointer, storageType(element),
      constant(mlir::ShapedType::getNumElements(shape)),
      /*alignment=*/64);
  return {address, rowMajorStrides(shape)};
}

ArrayPlace LoopEmitter::placeOf(Value value) {
  auto place = places.find(value);
  if (place != places.end())
    return place->second;
  // A splat is written once, before all loops.
  auto constant = value.getDefiningOp<ConstantOp>();
  assert(constant && "other values have been computed");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&inner.getBody().front());
  ArrayPlace splat = newPlace(value.getType());
  fill(splat, constant);
  places[value] = splat;
  return splat;
}

ArrayPlace LoopEmitter::resultPlace(Operation *op, unsigned result) {
  Value value = op->getResult(result);
  if (int32_t over = inPlaceOf(op)[result]; over >= 0)
    return placeOf(op->getOperand(over));
  auto chosen = destinations.find(value);
  return chosen != destinations.end() ? chosen->second
                                      : newPlace(value.getType());
}

void LoopEmitter::fill(const ArrayPlace &place, ConstantOp constantOp) {
  auto splat = cast<mlir::SplatElementsAttr>(constantOp.getValue());
  Type type = KernelOp::scalarType(elementTypeOf(constantOp.getType()));
  Value value;
  auto number = [&](Type part, const llvm::APFloat &x) -> Value {
    return b.create<arith::ConstantOp>(loc, FloatAttr::get(part, x));
  };
  if (auto complex = dyn_cast<mlir::ComplexType>(type)) {
    auto parts = splat.getSplatValue<std::complex<llvm::APFloat>>();
    Value real = number(complex.getElementType(), parts.real());
    Value imaginary = number(complex.getElementType(), parts.imag());
    value = b.create<mlir::complex::CreateOp>(loc, complex, real, imaginary);
  } else if (isa<FloatType>(type)) {
    value = number(type, splat.getSplatValue<llvm::APFloat>());
  } else {
    value = b.create<arith::ConstantOp>(
        loc, IntegerAttr::get(type, splat.getSplatValue<llvm::APInt>()));
  }
  const int64_t count =
      mlir::ShapedType::getNumElements(globalShape(constantOp.getType()));
  forEach({count}, [&](ArrayRef<Value> index) {
    storeScalar(element(place.address, storageType(type), index[0]), value);
  });
}

void LoopEmitter::forEach(ArrayRef<int64_t> extents,
                          function_ref<void(ArrayRef<Value>)> fill) {
  constexpr int64_t writtenOut = 4;
  SmallVector<Value> indices;
  std::function<void(ArrayRef<int64_t>)> nest = [&](ArrayRef<int64_t> inside) {
    if (inside.empty())
      return fill(indices);
    if (inside.front() <= writtenOut) {
      for (int64_t i = 0; i < inside.front(); ++i) {
        indices.push_back(constant(i));
        nest(inside.drop_front());
        indices.pop_back();
      }
      return;
    }
    b.create<scf::ForOp>(loc, constant(0), constant(inside.front()),
                         constant(1), ValueRange(),
                         [&](OpBuilder &, Location, Value index, ValueRange) {
                           OpBuilder::InsertionGuard guard(b);
                           b.setInsertionPointToEnd(index.getParentBlock());
                           indices.push_back(index);
                           nest(inside.drop_front());
                           indices.pop_back();
                           b.create<scf::YieldOp>(loc);
                         });
  };
  nest(extents);
}

Value LoopEmitter::offsetOf(ArrayRef<Value> indices,
                            ArrayRef<int64_t> strides) {
  Value sum = constant(0);
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    sum = b.createOrFold<arith::AddIOp>(
        loc, sum, b.createOrFold<arith::MulIOp>(loc, index, constant(stride)));
  return sum;
}

ArrayPlace LoopEmitter::moved(const ArrayPlace &place, Type elementType,
                              Value offset) {
  return {element(place.address, storageType(elementType), offset),
          place.strides};
}

void LoopEmitter::copy(Type elementType, ArrayRef<int64_t> shape,
                       const ArrayPlace &to, const ArrayPlace &from) {
  // Dims behind which both are contiguous are copied at once.
  int64_t run = 1;
  size_t outer = shape.size();
  while (outer > 0 &&
         (shape[outer - 1] == 1 ||
          (to.strides[outer - 1] == run && from.strides[outer - 1] == run)))
    run *= shape[--outer];
  Type stored = storageType(elementType);
  const int64_t bytes = byteWidth(*dtypeOf(elementType));
  forEach(shape.take_front(outer), [&](ArrayRef<Value> indices) {
    Value target =
        element(to.address, stored,
                offsetOf(indices, ArrayRef(to.strides).take_front(outer)));
    Value source =
        element(from.address, stored,
                offsetOf(indices, ArrayRef(from.strides).take_front(outer)));
    if (run == 1)
      b.create<LLVM::StoreOp>(
          loc, b.create<LLVM::LoadOp>(loc, stored, source).getResult(), target);
    else
      b.create<LLVM::MemcpyOp>(loc, target, source, constant(run * bytes),
                               /*isVolatile=*/false);
  });
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

bool LoopEmitter::isDeadBefore(BlockArgument argument, Operation *op) {
  Block *block = argument.getOwner();
  auto isBefore = [&](Operation *user) {
    return block->findAncestorOpInBlock(*user)->isBeforeInBlock(op);
  };
  return llvm::all_of(argument.getUses(), [&](mlir::OpOperand &use) {
    Operation *user = use.getOwner();
    if (!isBefore(user))
      return false;
    if (llvm::is_contained(inPlaceOf(user), int32_t(use.getOperandNumber())))
      return false;
    return !isSlice(user) || use.getOperandNumber() != 0 ||
           llvm::all_of(user->getUsers(), isBefore);
  });
}

void LoopEmitter::chooseDestinations(Block &block,
                                     ArrayRef<ArrayPlace> targets) {
  Operation *yield = block.getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || memoryOf(value) != value ||
        isa<ConstantOp>(op) || isSlice(op) ||
        llvm::count(yield->getOperands(), value) != 1)
      continue;
    const bool isLoop = block.getNumArguments() > 0;
    if (!isLoop || isDeadBefore(block.getArgument(i), op))
      destinations[value] = targets[i];
  }
}

void LoopEmitter::moveYields(Block &block, ArrayRef<ArrayPlace> targets) {
  SmallVector<ArrayPlace> sources;
  auto values = block.getTerminator()->getOperands();
  for (auto [i, value] : llvm::enumerate(values)) {
    ArrayPlace source = placeOf(value);
    // A value that another copy may overwrite is put aside.
    for (auto [j, target] : llvm::enumerate(targets))
      if (j != i && target.address == source.address) {
        ArrayPlace aside = newPlace(value.getType());
        copyArray(value.getType(), aside, source);
        source = aside;
        break;
      }
    sources.push_back(source);
  }
  for (auto [value, target, source] : llvm::zip_equal(values, targets, sources))
    copyArray(value.getType(), target, source);
}

void LoopEmitter::emitCall(LibraryCallOp op, ArrayRef<ArrayPlace> carried) {
  for (auto [argument, input] :
       llvm::zip_equal(op.getScalar().getArguments(), op.getInputs()))
    if (op != call)
      places[argument] = placeOf(input);
  emitLoop(*op.getScalar().front().getOps<WhileOp>().begin(), carried);
  for (auto [result, place] : llvm::zip_equal(op.getOutputs(), carried))
    places[result] = place;
}

void LoopEmitter::emitLoop(WhileOp op, ArrayRef<ArrayPlace> carried) {
  for (auto [i, init] : llvm::enumerate(op.getInits())) {
    auto constant = init.getDefiningOp<ConstantOp>();
    if (constant)
      fill(carried[i], constant);
    else
      copyArray(init.getType(), carried[i], placeOf(init));
    places[op.getConditionArgument(i)] = carried[i];
    places[op.getBodyArgument(i)] = carried[i];
  }
  chooseDestinations(op.getBody().front(), carried);
  auto loop = b.create<scf::WhileOp>(loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  emitBlock(op.getCondition().front());
  Value goesOn = loadScalar(
      placeOf(op.getConditionYield().getOperand(0)).address, b.getI1Type());
  b.create<scf::ConditionOp>(loc, goesOn, ValueRange());
  b.createBlock(&loop.getAfter());
  emitBlock(op.getBody().front());
  moveYields(op.getBody().front(), carried);
  b.create<scf::YieldOp>(loc);
}

void LoopEmitter::emitBranch(CaseOp op) {
  SmallVector<ArrayPlace> results;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    results.push_back(resultPlace(op, i));
    places[op.getResult(i)] = results.back();
  }
  Value index = loadScalar(placeOf(op.getIndex()).address, b.getI32Type());
  std::function<void(unsigned)> emitFrom = [&](unsigned branch) {
    Block &block = op.getBranches()[branch].front();
    auto emitIt = [&] {
      chooseDestinations(block, results);
      emitBlock(block);
      moveYields(block, results);
    };
    if (branch + 1 == op.getBranches().size())
      return emitIt();
    Value isIt = b.create<arith::CmpIOp>(
        loc, arith::CmpIPredicate::eq, index,
        b.create<arith::ConstantIntOp>(loc, branch, 32));
    auto inside = [&](function_ref<void()> emit) {
      return [this, emit](OpBuilder &builder, Location) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(builder.getInsertionBlock());
        emit();
        b.create<scf::YieldOp>(loc);
      };
    };
    auto emitOthers = [&] { emitFrom(branch + 1); };
    b.create<scf::IfOp>(loc, isIt, inside(emitIt), inside(emitOthers));
  };
  emitFrom(0);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void LoopEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    emitOp(op);
}

void LoopEmitter::emitOp(Operation &op) {
  if (isa<ConstantOp>(op))
    return; // made where it is needed
  if (auto kernel = dyn_cast<KernelOp>(op))
    return emitKernel(kernel);
  if (auto branch = dyn_cast<CaseOp>(op))
    return emitBranch(branch);
  if (auto product = dyn_cast<dtensor::DotGeneralOp>(op))
    return emitProduct(product);
  auto library = cast<LibraryCallOp>(op);
  if (library.getCallee() == "loop") {
    SmallVector<ArrayPlace> results;
    for (unsigned i = 0; i < op.getNumResults(); ++i)
      results.push_back(resultPlace(&op, i));
    return emitCall(library, results);
  }
  if (library.getCallee() == "dynamic_slice")
    return emitSlice(library);
  if (library.getCallee() == "dynamic_update_slice")
    return emitUpdateSlice(library);
  if (library.getCallee() == "gather")
    return emitGather(library);
  if (library.getCallee() == "cumulative")
    return emitCumulative(library);
  if (library.getCallee() == "generic_reduce")
    return emitGenericReduce(library);
  if (library.getCallee() == "sort")
    return emitSort(library);
  if (library.getCallee() == "top_k")
    return emitTopK(library);
  if (library.getCallee() == "scatter")
    return emitScatter(library);
  // LoopCalls.cpp takes no others.
  emitFactorization(library);
}

void LoopEmitter::emitKernel(KernelOp kernel) {
  SmallVector<ArrayPlace> operands;
  for (Value input : kernel.getInputs())
    operands.push_back(placeOf(input));
  // A kernel with functions that lose huge arguments may run twice: it
  // overwrites none of its inputs, unless it writes a part of the array only.
  const bool runsTwice = llvm::any_of(*kernel.getBlock(), [](Operation &op) {
    return losesHugeArguments(&op);
  });
  for (unsigned i = 0; i < kernel.getNumResults(); ++i) {
    const int32_t over = kernel.getInPlace()[i];
    ArrayPlace place;
    if (over < 0) {
      place = resultPlace(kernel, i);
    } else {
      int64_t written = 1;
      for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
        if (kernel.getOutputAccess(i).isFunctionOfDim(loop))
          written *= kernel.getExtents()[loop];
      const bool isWhole =
          written == mlir::ShapedType::getNumElements(
                         globalShape(kernel.getResult(i).getType()));
      place = isWhole && runsTwice ? newPlace(kernel.getResult(i).getType())
                                   : operands[over];
    }
    places[kernel.getResult(i)] = place;
    operands.push_back(place);
  }
  if (kernelsAreCalled && kernel.getNumIterations() > 1)
    return callKernel(kernel, operands);
  KernelEmitter(kernel, module).emitAtEnd(b.getBlock(), operands);
  b.setInsertionPointToEnd(b.getBlock());
}

/// Calls a function of its own for the kernel. An array that is an input and an
/// output is one argument.
void LoopEmitter::callKernel(KernelOp kernel, ArrayRef<ArrayPlace> operands) {
  llvm::SmallSetVector<Value, 8> addresses;
  for (const ArrayPlace &operand : operands)
    addresses.insert(operand.address);
  LLVM::LLVMFuncOp function;
  {
    OpBuilder::InsertionGuard guard(b);
    function = makeInner(
        (inner.getName() + "_kernel" + Twine(calledKernels++)).str(),
        addresses.size(), areOfDifferentArrays(addresses.getArrayRef()));
    Block &entry = function.getBody().front();
    SmallVector<ArrayPlace> places(operands);
    for (ArrayPlace &place : places)
      place.address = entry.getArgument(std::distance(
          addresses.begin(), llvm::find(addresses, place.address)));
    KernelEmitter(kernel, module).emitAtEnd(&entry, places);
    b.setInsertionPointToEnd(&entry);
    b.create<LLVM::ReturnOp>(loc, ValueRange());
    allocateOnce(function);
  }
  b.create<LLVM::CallOp>(loc, function, addresses.getArrayRef());
}

void meshloom::emitLoopCall(LibraryCallOp call, StringRef symbol,
                            ModuleOp module) {
  LoopEmitter(call, module).emit(symbol);
}

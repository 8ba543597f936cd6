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
#include "KernelEmitter.h"
#include "MathFunctions.h"

#include "meshloom/Targets/CPU/KernelToLLVM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace meshloom;
using dtensor::CaseOp, dtensor::ConstantOp, dtensor::WhileOp;
using dtensor::dtypeOf, dtensor::elementTypeOf, dtensor::globalShape;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

namespace {

SmallVector<int32_t> inPlaceOf(Operation *op) {
  if (isa<KernelOp, LibraryCallOp>(op))
    return llvm::to_vector(
        op->getAttrOfType<mlir::DenseI32ArrayAttr>("inPlace").asArrayRef());
  return SmallVector<int32_t>(op->getNumResults(), -1);
}

bool isSlice(Operation *op) {
  auto call = dyn_cast<LibraryCallOp>(op);
  return call && call.getCallee() == "dynamic_slice";
}

/// The value in whose memory `value` was made.
Value memoryOf(Value value) {
  while (auto result = dyn_cast<mlir::OpResult>(value)) {
    int32_t over = inPlaceOf(result.getOwner())[result.getResultNumber()];
    if (over < 0)
      break;
    value = result.getOwner()->getOperand(over);
  }
  return value;
}

class LoopEmitter : ElementEmitter {
public:
  LoopEmitter(LibraryCallOp call, ModuleOp module)
      : ElementEmitter(module.getContext(), call.getLoc()), call(call),
        module(module) {}
  void emit(StringRef symbol);

private:
  void emitBlock(Block &block);
  void emitOp(Operation &op);
  void emitKernel(KernelOp kernel);
  void emitCall(LibraryCallOp call, ArrayRef<ArrayPlace> carried);
  void emitLoop(WhileOp loop, ArrayRef<ArrayPlace> carried);
  void emitBranch(CaseOp branch);
  void emitSlice(LibraryCallOp call);
  void emitUpdateSlice(LibraryCallOp call);
  void emitGather(LibraryCallOp call);
  void emitScatter(LibraryCallOp call);
  void emitUpdate(LibraryCallOp call, ArrayRef<ArrayPlace> to,
                  ArrayRef<ArrayPlace> from, ArrayRef<int64_t> shape);
  Value combine(ReduceKind kind, Type type, Value old, Value update);

  /// Lets results be made where they are needed: `places` of `values`, which
  /// `block` yields.
  void chooseDestinations(Block &block, ArrayRef<ArrayPlace> places);
  /// Copies what `block` yields to where it is needed.
  void moveYields(Block &block, ArrayRef<ArrayPlace> places);
  static bool isDeadBefore(BlockArgument argument, Operation *op);
  static bool canBeView(LibraryCallOp slice);

  ArrayPlace &placeOf(Value value);
  ArrayPlace resultPlace(Operation *op, unsigned result);
  ArrayPlace newPlace(Type type);
  void fill(const ArrayPlace &place, ConstantOp constant);
  void copy(Type elementType, ArrayRef<int64_t> shape, const ArrayPlace &to,
            const ArrayPlace &from);
  void copyArray(Type type, const ArrayPlace &to, const ArrayPlace &from) {
    if (to.address != from.address)
      copy(elementTypeOf(type), globalShape(type), to, from);
  }

  /// Calls `fill` for all indices below `extents`, at the end of a block.
  void forEach(ArrayRef<int64_t> extents,
               function_ref<void(ArrayRef<Value>)> fill);
  Value offsetOf(ArrayRef<Value> indices, ArrayRef<int64_t> strides);
  ArrayPlace moved(const ArrayPlace &place, Type elementType, Value offset);
  /// An integer in memory; what is too large is the largest i64.
  Value loadIndex(Value address, Type type);
  Value clamped(Value start, int64_t most);
  ArrayPlace windowAt(const ArrayPlace &array, ValueRange starts,
                      ArrayRef<int64_t> sizes, Type type);
  ArrayRef<int64_t> list(LibraryCallOp call, StringRef name) {
    return call.getOptions()->getAs<DenseI64ArrayAttr>(name).asArrayRef();
  }

  LibraryCallOp call;
  ModuleOp module;
  DenseMap<Value, ArrayPlace> places, destinations;
  LLVM::LLVMFuncOp inner;
};

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

void LoopEmitter::emit(StringRef symbol) {
  const unsigned numInputs = call.getInputs().size();
  SmallVector<int32_t> inPlace = inPlaceOf(call);
  const unsigned numPointers =
      numInputs + llvm::count_if(inPlace, [](int32_t i) { return i < 0; });
  inner = makeFunction(module, (symbol + "_loop").str(),
                       SmallVector<Type>(numPointers, pointer),
                       LLVM::Linkage::Internal);
  // Inlined, the pointers would lose what noalias says about them.
  inner.setPassthroughAttr(b.getArrayAttr(
      {b.getStringAttr("nounwind"), b.getStringAttr("noinline")}));
  for (unsigned i = 0; i < numPointers; ++i)
    inner.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                     b.getUnitAttr());
  Block &entry = inner.getBody().front();
  SmallVector<ArrayPlace> inputs, results;
  for (auto [i, input] : llvm::enumerate(call.getInputs()))
    inputs.push_back(
        {entry.getArgument(i), rowMajorStrides(globalShape(input.getType()))});
  unsigned next = numInputs;
  for (auto [over, result] : llvm::zip_equal(inPlace, call.getOutputs()))
    results.push_back({entry.getArgument(over >= 0 ? unsigned(over) : next++),
                       rowMajorStrides(globalShape(result.getType()))});
  for (auto [argument, place] :
       llvm::zip_equal(call.getScalar().getArguments(), inputs))
    places[argument] = place;
  emitCall(call, results);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
  // Arrays on the stack are allocated once, not in each turn.
  Operation *first = &entry.front();
  inner.walk([&](LLVM::AllocaOp array) {
    b.setInsertionPoint(first);
    llvm::APInt size;
    bool isKnown =
        matchPattern(array.getArraySize(), mlir::m_ConstantInt(&size));
    assert(isKnown && "arrays of loops have known sizes");
    (void)isKnown;
    array.getArraySizeMutable().assign(constant(size.getSExtValue()));
    array->moveBefore(first);
  });

  makeFunction(module, symbol, SmallVector<Type>(4, pointer),
               LLVM::Linkage::External);
  SmallVector<Value> arguments;
  for (unsigned i = 0; i < numPointers; ++i)
    arguments.push_back(loadArgument(0, pointer, i));
  b.create<LLVM::CallOp>(loc, inner, arguments);
  b.create<LLVM::ReturnOp>(loc, ValueRange());
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

ArrayPlace LoopEmitter::newPlace(Type type) {
  SmallVector<int64_t> shape = globalShape(type);
  Type element = storageType(elementTypeOf(type));
  Value address = b.create<LLVM::AllocaOp>(
      loc, pointer, element, constant(mlir::ShapedType::getNumElements(shape)),
      /*alignment=*/64);
  return {address, rowMajorStrides(shape)};
}

ArrayPlace &LoopEmitter::placeOf(Value value) {
  auto known = places.find(value);
  if (known != places.end())
    return known->second;
  // A splat is written once, before all loops.
  auto constant = value.getDefiningOp<ConstantOp>();
  assert(constant && "other values have been computed");
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&inner.getBody().front());
  ArrayPlace place = newPlace(value.getType());
  fill(place, constant);
  return places[value] = place;
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
    places[op.getConditionArgument(i)] = places[op.getBodyArgument(i)] =
        carried[i];
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
  assert(library.getCallee() == "scatter" && "LoopCalls.cpp takes no others");
  emitScatter(library);
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
  KernelEmitter(kernel, module).emitAtEnd(b.getBlock(), operands);
  b.setInsertionPointToEnd(b.getBlock());
}

Value LoopEmitter::loadIndex(Value address, Type type) {
  auto integer = cast<IntegerType>(type);
  Value value = b.create<LLVM::LoadOp>(loc, storageType(type), address);
  if (integer.getWidth() < 64)
    return integer.isUnsigned() || integer.getWidth() == 1
               ? b.create<arith::ExtUIOp>(loc, i64, value).getResult()
               : b.create<arith::ExtSIOp>(loc, i64, value).getResult();
  if (!integer.isUnsigned())
    return value;
  return b.create<arith::MinUIOp>(
      loc, value, constant(std::numeric_limits<int64_t>::max()));
}

Value LoopEmitter::clamped(Value start, int64_t most) {
  Value positive = b.create<arith::MaxSIOp>(loc, start, constant(0));
  return b.create<arith::MinSIOp>(loc, positive, constant(most));
}

/// The window of `array`, of type `type`, that begins at `starts`.
ArrayPlace LoopEmitter::windowAt(const ArrayPlace &array, ValueRange starts,
                                 ArrayRef<int64_t> sizes, Type type) {
  SmallVector<Value> indices;
  for (auto [start, size, extent] :
       llvm::zip_equal(starts, sizes, globalShape(type)))
    indices.push_back(size == extent
                          ? constant(0)
                          : clamped(loadIndex(placeOf(start).address,
                                              elementTypeOf(start.getType())),
                                    extent - size));
  return moved(array, elementTypeOf(type), offsetOf(indices, array.strides));
}

bool LoopEmitter::canBeView(LibraryCallOp slice) {
  Value result = slice.getOutputs()[0];
  if (mlir::ShapedType::getNumElements(globalShape(result.getType())) == 1)
    return false; // a register
  Block *block = slice->getBlock();
  Operation *last = slice;
  for (mlir::OpOperand &use : result.getUses()) {
    Operation *user = use.getOwner();
    if (user->getBlock() != block || !isa<KernelOp, LibraryCallOp>(user) ||
        llvm::is_contained(inPlaceOf(user), int32_t(use.getOperandNumber())))
      return false;
    if (last->isBeforeInBlock(user))
      last = user;
  }
  Value memory = memoryOf(slice.getInputs()[0]);
  for (Operation *op = slice; op != last;) {
    op = op->getNextNode();
    for (int32_t over : inPlaceOf(op))
      if (over >= 0 && memoryOf(op->getOperand(over)) == memory)
        return false;
  }
  return true;
}

void LoopEmitter::emitSlice(LibraryCallOp op) {
  Value operand = op.getInputs()[0], result = op.getOutputs()[0];
  ArrayPlace slice = windowAt(placeOf(operand), op.getInputs().drop_front(),
                              list(op, "slice_sizes"), operand.getType());
  if (canBeView(op)) {
    places[result] = slice;
    return;
  }
  ArrayPlace place = resultPlace(op, 0);
  copyArray(result.getType(), place, slice);
  places[result] = place;
}

void LoopEmitter::emitUpdateSlice(LibraryCallOp op) {
  Value operand = op.getInputs()[0], update = op.getInputs()[1];
  ArrayPlace place = resultPlace(op, 0);
  copyArray(operand.getType(), place, placeOf(operand));
  SmallVector<int64_t> sizes = globalShape(update.getType());
  ArrayPlace window =
      windowAt(place, op.getInputs().drop_front(2), sizes, operand.getType());
  copy(elementTypeOf(operand.getType()), sizes, window, placeOf(update));
  places[op.getOutputs()[0]] = place;
}

/// The dims below `rank` that neither list has.
SmallVector<unsigned> otherDims(size_t rank, ArrayRef<int64_t> some,
                                ArrayRef<int64_t> more = {}) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(some, dim) && !llvm::is_contained(more, dim))
      dims.push_back(dim);
  return dims;
}

template <typename List, typename Dims>
auto pick(const List &values, const Dims &dims) {
  SmallVector<std::decay_t<decltype(values[0])>> picked;
  for (auto dim : dims)
    picked.push_back(values[size_t(dim)]);
  return picked;
}

void LoopEmitter::emitGather(LibraryCallOp op) {
  Value operand = op.getInputs()[0], indices = op.getInputs()[1],
        result = op.getOutputs()[0];
  SmallVector<int64_t> shape = globalShape(operand.getType()),
                       resultShape = globalShape(result.getType());
  ArrayRef<int64_t> sizes = list(op, "slice_sizes"),
                    offsetDims = list(op, "offset_dims"),
                    batching = list(op, "operand_batching_dims"),
                    indexBatching = list(op, "start_indices_batching_dims"),
                    indexMap = list(op, "start_index_map");
  const int64_t vector =
      op.getOptions()->getAs<IntegerAttr>("index_vector_dim").getInt();
  Type type = elementTypeOf(operand.getType()),
       indexType = elementTypeOf(indices.getType());
  const ArrayPlace from = placeOf(operand), index = placeOf(indices);
  const ArrayPlace to = resultPlace(op, 0);
  places[result] = to;
  auto batchDims = otherDims(resultShape.size(), offsetDims);
  auto indexDims = otherDims(index.strides.size(), {vector});
  auto sliceDims =
      otherDims(shape.size(), list(op, "collapsed_slice_dims"), batching);
  const int64_t entry =
      vector < int64_t(index.strides.size()) ? index.strides[vector] : 0;
  forEach(pick(resultShape, batchDims), [&](ArrayRef<Value> batch) {
    Value first = offsetOf(batch, pick(index.strides, indexDims));
    Value offset = constant(0);
    auto add = [&](Value start, int64_t dim) {
      offset = b.createOrFold<arith::AddIOp>(
          loc, offset, offsetOf({start}, {from.strides[dim]}));
    };
    for (auto [k, dim] : llvm::enumerate(indexMap)) {
      Value place = b.createOrFold<arith::AddIOp>(loc, first,
                                                  constant(int64_t(k) * entry));
      Value start = loadIndex(
          element(index.address, storageType(indexType), place), indexType);
      add(clamped(start, shape[dim] - sizes[dim]), dim);
    }
    for (auto [dim, indexDim] : llvm::zip_equal(batching, indexBatching))
      add(batch[llvm::find(indexDims, unsigned(indexDim)) - indexDims.begin()],
          dim);
    ArrayPlace target =
        moved(to, type, offsetOf(batch, pick(to.strides, batchDims)));
    target.strides = pick(to.strides, offsetDims);
    ArrayPlace source = moved(from, type, offset);
    source.strides = pick(from.strides, sliceDims);
    copy(type, pick(sizes, sliceDims), target, source);
  });
}

void LoopEmitter::emitScatter(LibraryCallOp op) {
  const unsigned count = op.getNumResults();
  Value indices = op.getInputs()[count];
  SmallVector<int64_t> shape = globalShape(op.getOutputs()[0].getType()),
                       updateShape =
                           globalShape(op.getInputs()[count + 1].getType());
  ArrayRef<int64_t> windowDims = list(op, "update_window_dims"),
                    batching = list(op, "input_batching_dims"),
                    indexBatching = list(op, "scatter_indices_batching_dims"),
                    indexMap = list(op, "scatter_dims_to_operand_dims");
  const int64_t vector =
      op.getOptions()->getAs<IntegerAttr>("index_vector_dim").getInt();
  Type indexType = elementTypeOf(indices.getType());
  const ArrayPlace index = placeOf(indices);
  SmallVector<ArrayPlace> results, updates;
  for (unsigned i = 0; i < count; ++i) {
    Value result = op.getOutputs()[i];
    results.push_back(resultPlace(op, i));
    copyArray(result.getType(), results.back(), placeOf(op.getInputs()[i]));
    places[result] = results.back();
    updates.push_back(placeOf(op.getInputs()[count + 1 + i]));
  }
  auto batchDims = otherDims(updateShape.size(), windowDims);
  auto indexDims = otherDims(index.strides.size(), {vector});
  auto sliceDims =
      otherDims(shape.size(), list(op, "inserted_window_dims"), batching);
  SmallVector<int64_t> sizes(shape.size(), 1);
  for (auto [dim, windowDim] : llvm::zip_equal(sliceDims, windowDims))
    sizes[dim] = updateShape[windowDim];
  const int64_t entry =
      vector < int64_t(index.strides.size()) ? index.strides[vector] : 0;
  forEach(pick(updateShape, batchDims), [&](ArrayRef<Value> batch) {
    Value first = offsetOf(batch, pick(index.strides, indexDims));
    SmallVector<Value> starts(shape.size(), constant(0));
    Value isInside = b.create<arith::ConstantIntOp>(loc, 1, 1);
    for (auto [k, dim] : llvm::enumerate(indexMap)) {
      Value place = b.createOrFold<arith::AddIOp>(loc, first,
                                                  constant(int64_t(k) * entry));
      starts[dim] = loadIndex(
          element(index.address, storageType(indexType), place), indexType);
      // Negative starts are large unsigned ones.
      Value here =
          b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, starts[dim],
                                  constant(shape[dim] - sizes[dim]));
      isInside = b.createOrFold<arith::AndIOp>(loc, isInside, here);
    }
    for (auto [dim, indexDim] : llvm::zip_equal(batching, indexBatching))
      starts[dim] =
          batch[llvm::find(indexDims, unsigned(indexDim)) - indexDims.begin()];
    b.create<scf::IfOp>(loc, isInside, [&](OpBuilder &builder, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(builder.getInsertionBlock());
      SmallVector<ArrayPlace> to, from;
      for (unsigned i = 0; i < count; ++i) {
        Type type = elementTypeOf(op.getOutputs()[i].getType());
        to.push_back(
            moved(results[i], type, offsetOf(starts, results[i].strides)));
        to.back().strides = pick(results[i].strides, sliceDims);
        from.push_back(
            moved(updates[i], type,
                  offsetOf(batch, pick(updates[i].strides, batchDims))));
        from.back().strides = pick(updates[i].strides, windowDims);
      }
      emitUpdate(op, to, from, pick(sizes, sliceDims));
      b.create<scf::YieldOp>(loc);
    });
  });
}

/// Applies one window of the updates.
void LoopEmitter::emitUpdate(LibraryCallOp op, ArrayRef<ArrayPlace> to,
                             ArrayRef<ArrayPlace> from,
                             ArrayRef<int64_t> shape) {
  KernelOp scalar = op.getScalarKernel();
  auto kind = op.getOptions()->getAs<StringAttr>("kind");
  if (!scalar && !kind) {
    for (auto [i, result] : llvm::enumerate(op.getOutputs()))
      copy(elementTypeOf(result.getType()), shape, to[i], from[i]);
    return;
  }
  const std::optional<ReduceKind> combined =
      kind ? parseReduceKind(kind.getValue()) : std::nullopt;
  forEach(shape, [&](ArrayRef<Value> indices) {
    SmallVector<ArrayPlace> operands;
    for (ArrayRef<ArrayPlace> arrays : {to, from})
      for (auto [i, result] : llvm::enumerate(op.getOutputs()))
        operands.push_back({moved(arrays[i], elementTypeOf(result.getType()),
                                  offsetOf(indices, arrays[i].strides))
                                .address,
                            {}});
    if (combined) {
      Type type =
          KernelOp::scalarType(elementTypeOf(op.getOutputs()[0].getType()));
      for (size_t i = 0; i < to.size(); ++i) {
        Type element = elementTypeOf(op.getOutputs()[i].getType());
        Value old = loadScalar(operands[i].address, type);
        Value update = loadScalar(operands[to.size() + i].address, type);
        storeScalar(operands[i].address,
                    combine(*combined, element, old, update));
      }
      return;
    }
    SmallVector<ArrayPlace> values;
    for (Value result : scalar.getOutputs())
      values.push_back(newPlace(result.getType()));
    SmallVector<ArrayPlace> places(operands);
    places.append(values);
    KernelEmitter(scalar, module).emitAtEnd(b.getBlock(), places);
    b.setInsertionPointToEnd(b.getBlock());
    for (auto [i, result] : llvm::enumerate(scalar.getOutputs()))
      copyArray(result.getType(), operands[i], values[i]);
  });
}

Value LoopEmitter::combine(ReduceKind kind, Type type, Value old,
                           Value update) {
  if (type.isBF16() || type.isF16()) {
    Type wide = b.getF32Type();
    Value sum = combine(kind, wide, b.create<arith::ExtFOp>(loc, wide, old),
                        b.create<arith::ExtFOp>(loc, wide, update));
    return b.create<arith::TruncFOp>(loc, type, sum);
  }
  const bool isFloat = isa<FloatType>(type), isTruth = type.isInteger(1),
             isUnsigned = type.isUnsignedInteger() || isTruth;
  auto make = [&](auto *op) -> Value {
    return b.create<std::remove_pointer_t<decltype(op)>>(loc, old, update);
  };
#define MAKE(Op) make((arith::Op *)nullptr)
  switch (kind) {
  case ReduceKind::Sum:
    return isFloat ? MAKE(AddFOp) : isTruth ? MAKE(OrIOp) : MAKE(AddIOp);
  case ReduceKind::Prod:
    return isFloat ? MAKE(MulFOp) : isTruth ? MAKE(AndIOp) : MAKE(MulIOp);
  case ReduceKind::Min:
    return isFloat      ? MAKE(MinimumFOp)
           : isUnsigned ? MAKE(MinUIOp)
                        : MAKE(MinSIOp);
  case ReduceKind::Max:
    return isFloat      ? MAKE(MaximumFOp)
           : isUnsigned ? MAKE(MaxUIOp)
                        : MAKE(MaxSIOp);
  case ReduceKind::And:
    return MAKE(AndIOp);
  case ReduceKind::Or:
    return MAKE(OrIOp);
  }
#undef MAKE
  llvm_unreachable("covered");
}

} // namespace

void meshloom::emitLoopCall(LibraryCallOp call, StringRef symbol,
                            ModuleOp module) {
  LoopEmitter(call, module).emit(symbol);
}

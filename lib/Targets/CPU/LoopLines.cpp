// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running reductions, reductions by a function of the program, sorts of short
// lines and the first of lines in a loop that is compiled whole.
#include "LoopEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace meshloom;
using namespace meshloom::dtensor;
using spmd::KernelOp;
using spmd::LibraryCallOp;
namespace arith = mlir::arith;
namespace LLVM = mlir::LLVM;
namespace scf = mlir::scf;

static int64_t dimensionOf(LibraryCallOp op) {
  return op.getOptions()->getAs<IntegerAttr>("dimension").getInt();
}

void LoopEmitter::forEachLine(ArrayRef<int64_t> shape, int64_t dim,
                              function_ref<void(ArrayRef<Value>)> fill) {
  SmallVector<int64_t> lines(shape);
  lines[size_t(dim)] = 1;
  forEach(lines, fill);
}

Value LoopEmitter::elementOfLine(const ArrayPlace &place, Type type,
                                 ArrayRef<Value> line, int64_t dim,
                                 Value position) {
  SmallVector<Value> indices(line);
  indices[size_t(dim)] = position;
  return moved(place, type, offsetOf(indices, place.strides)).address;
}

void LoopEmitter::emitCumulative(LibraryCallOp op) {
  Value input = op.getInputs()[0];
  const Type type = elementTypeOf(input.getType());
  const ArrayPlace from = placeOf(input), to = resultPlace(op, 0);
  places[op.getOutputs()[0]] = to;
  const SmallVector<int64_t> shape = globalShape(input.getType());
  const int64_t dim = dimensionOf(op), count = shape[size_t(dim)];
  const bool isReverse =
      op.getOptions()->getAs<mlir::BoolAttr>("reverse").getValue();
  const spmd::Reducer kind = *spmd::symbolizeReducer(
      op.getOptions()->getAs<StringAttr>("kind").getValue());
  const bool isFloatSum = isa<FloatType>(type) && kind == spmd::Reducer::Sum;
  const Type scalar = KernelOp::scalarType(type);
  // Sums have twice the bits that their terms have.
  const Type wide = !isFloatSum || type.isF64() ? scalar
                    : type.isF32()              ? b.getF64Type()
                                                : b.getF32Type();
  const ArrayPlace running = newPlace(isFloatSum ? wide : type, {});
  auto widened = [&](Value value) -> Value {
    return wide == scalar ? value : b.create<arith::ExtFOp>(loc, wide, value);
  };
  auto narrowed = [&](Value value) -> Value {
    return wide == scalar ? value
                          : b.create<arith::TruncFOp>(loc, scalar, value);
  };
  if (count == 0)
    return;
  forEachLine(shape, dim, [&](ArrayRef<Value> indices) {
    auto elementAt = [&](const ArrayPlace &place, Value step) {
      Value position =
          isReverse
              ? b.createOrFold<arith::SubIOp>(loc, constant(count - 1), step)
              : step;
      return elementOfLine(place, type, indices, dim, position);
    };
    Value first = loadScalar(elementAt(from, constant(0)), scalar);
    storeScalar(running.address, widened(first));
    storeScalar(elementAt(to, constant(0)), first);
    forRange(1, count, [&](Value step) {
      Value next = widened(loadScalar(elementAt(from, step), scalar));
      Value sum = combine(kind, isFloatSum ? wide : type,
                          loadScalar(running.address, wide), next);
      storeScalar(running.address, sum);
      storeScalar(elementAt(to, step), narrowed(sum));
    });
  });
}

void LoopEmitter::applyScalar(KernelOp scalar, ArrayRef<ArrayPlace> operands,
                              ArrayRef<ArrayPlace> results) {
  SmallVector<ArrayPlace> values;
  for (Value result : scalar.getOutputs())
    values.push_back(newPlace(result.getType()));
  SmallVector<ArrayPlace> arguments(operands);
  arguments.append(values);
  KernelEmitter(scalar, module).emitAtEnd(b.getBlock(), arguments);
  b.setInsertionPointToEnd(b.getBlock());
  for (auto [i, result] : llvm::enumerate(scalar.getOutputs()))
    copyArray(result.getType(), results[i], values[i]);
}

void LoopEmitter::emitGenericReduce(LibraryCallOp op) {
  const unsigned count = op.getNumResults();
  const ArrayRef<int64_t> dims = list(op, "dimensions");
  const SmallVector<int64_t> shape = globalShape(op.getInputs()[0].getType());
  // The reduced dims and the others, with one element in place of the dims of
  // the other list.
  SmallVector<int64_t> reduced(shape.size(), 1), others(shape);
  for (int64_t dim : dims) {
    reduced[size_t(dim)] = shape[size_t(dim)];
    others[size_t(dim)] = 1;
  }
  SmallVector<ArrayPlace> inputs, inits, results;
  for (unsigned i = 0; i < count; ++i) {
    inputs.push_back(placeOf(op.getInputs()[i]));
    inits.push_back(placeOf(op.getInputs()[count + i]));
    results.push_back(resultPlace(op, i));
    places[op.getOutputs()[i]] = results.back();
  }
  auto typeOf = [&](unsigned i) {
    return elementTypeOf(op.getInputs()[i].getType());
  };
  auto elementOf = [&](const ArrayPlace &place, Type type,
                       ArrayRef<Value> indices) -> ArrayPlace {
    return {moved(place, type, offsetOf(indices, place.strides)).address, {}};
  };
  forEach(others, [&](ArrayRef<Value> outer) {
    SmallVector<Value> resultIndices;
    for (auto [dim, index] : llvm::enumerate(outer))
      if (!llvm::is_contained(dims, int64_t(dim)))
        resultIndices.push_back(index);
    SmallVector<ArrayPlace> sums;
    for (unsigned i = 0; i < count; ++i) {
      sums.push_back(elementOf(results[i], typeOf(i), resultIndices));
      copy(typeOf(i), {}, sums.back(), inits[i]);
    }
    forEach(reduced, [&](ArrayRef<Value> inner) {
      SmallVector<Value> indices;
      for (size_t dim = 0; dim < shape.size(); ++dim)
        indices.push_back(llvm::is_contained(dims, int64_t(dim)) ? inner[dim]
                                                                 : outer[dim]);
      SmallVector<ArrayPlace> operands(sums);
      for (unsigned i = 0; i < count; ++i)
        operands.push_back(elementOf(inputs[i], typeOf(i), indices));
      applyScalar(op.getScalarKernel(), operands, sums);
    });
  });
}

/// By insertion, which is stable.
void LoopEmitter::emitSort(LibraryCallOp op) {
  const int64_t dim = dimensionOf(op);
  const SmallVector<int64_t> shape = globalShape(op.getInputs()[0].getType());
  const int64_t length = shape[size_t(dim)];
  SmallVector<ArrayPlace> arrays;
  SmallVector<Type> types;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    arrays.push_back(resultPlace(op, i));
    types.push_back(elementTypeOf(input.getType()));
    copyArray(input.getType(), arrays.back(), placeOf(input));
    places[op.getOutputs()[i]] = arrays.back();
  }
  const auto keyInput =
      size_t(op.getOptions()->getAs<IntegerAttr>("key_input").getInt());
  KernelOp scalar = op.getScalarKernel();
  // The keys move with the elements.
  const Type keyType = scalar ? elementTypeOf(scalar.getOutputs()[0].getType())
                              : types[keyInput];
  const ArrayPlace keys = newPlace(keyType, {length});
  types.push_back(keyType);
  const bool descends = op.getOptions()->getAs<StringAttr>("direction") == "GT";
  forEachLine(shape, dim, [&](ArrayRef<Value> indices) {
    auto elementAt = [&](size_t i, Value position) {
      if (i == arrays.size())
        return element(keys.address, storageType(keyType), position);
      return elementOfLine(arrays[i], types[i], indices, dim, position);
    };
    auto load = [&](size_t i, Value position) -> Value {
      return b.create<LLVM::LoadOp>(loc, storageType(types[i]),
                                    elementAt(i, position));
    };
    auto store = [&](size_t i, Value position, Value value) {
      b.create<LLVM::StoreOp>(loc, value, elementAt(i, position));
    };
    auto keyAt = [&](Value position) {
      return loadScalar(elementAt(arrays.size(), position),
                        KernelOp::scalarType(keyType));
    };
    forRange(0, length, [&](Value position) {
      ArrayPlace source{elementAt(keyInput, position), {}},
          key{elementAt(arrays.size(), position), {}};
      if (scalar)
        applyScalar(scalar, source, key);
      else
        copy(keyType, {}, key, source);
    });
    forRange(1, length, [&](Value position) {
      SmallVector<Value> inserted;
      for (size_t i = 0; i < types.size(); ++i)
        inserted.push_back(load(i, position));
      Value key = keyAt(position);
      Value place = insertionPlace(
          position,
          [&](Value before) {
            return descends ? isLess(keyType, keyAt(before), key)
                            : isLess(keyType, key, keyAt(before));
          },
          [&](Value to, Value from) {
            for (size_t i = 0; i < types.size(); ++i)
              store(i, to, load(i, from));
          });
      for (auto [i, value] : llvm::enumerate(inserted))
        store(i, place, value);
    });
  });
}

/// Moves each element before `end` up by one until `staysBehind` does not hold
/// for the next one, and returns the place that is free then.
Value LoopEmitter::insertionPlace(Value end,
                                  function_ref<Value(Value)> staysBehind,
                                  function_ref<void(Value, Value)> move) {
  const Type type = end.getType();
  auto loop = b.create<scf::WhileOp>(loc, TypeRange(type), ValueRange(end));
  OpBuilder::InsertionGuard guard(b);
  Value place = b.createBlock(&loop.getBefore(), {}, type, loc)->getArgument(0);
  Value isInside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt,
                                           place, constant(0));
  // At the first place this is an element that does not count.
  Value before = b.create<arith::MaxSIOp>(
      loc, b.create<arith::SubIOp>(loc, place, constant(1)), constant(0));
  Value goesOn = b.create<arith::AndIOp>(loc, isInside, staysBehind(before));
  b.create<scf::ConditionOp>(loc, goesOn, place);
  place = b.createBlock(&loop.getAfter(), {}, type, loc)->getArgument(0);
  Value from = b.create<arith::SubIOp>(loc, place, constant(1));
  move(place, from);
  b.create<scf::YieldOp>(loc, from);
  return loop.getResult(0);
}

/// Keeps a list of the first elements so far, with room for one more.
void LoopEmitter::emitTopK(LibraryCallOp op) {
  Value input = op.getInputs()[0];
  const Type type = elementTypeOf(input.getType()), i32 = b.getI32Type();
  const SmallVector<int64_t> shape = globalShape(input.getType());
  const int64_t last = int64_t(shape.size()) - 1,
                count = globalShape(op.getOutputs()[0].getType()).back();
  const ArrayPlace from = placeOf(input), values = resultPlace(op, 0),
                   indices = resultPlace(op, 1);
  places[op.getOutputs()[0]] = values;
  places[op.getOutputs()[1]] = indices;
  const auto key = cast<IntegerType>(orderType(type));
  const ArrayPlace keys = newPlace(key, {count + 1}),
                   positions = newPlace(i32, {count + 1});
  auto keyAt = [&](Value place) {
    return element(keys.address, storageType(key), place);
  };
  auto positionAt = [&](Value place) {
    return element(positions.address, i32, place);
  };
  forEachLine(shape, last, [&](ArrayRef<Value> line) {
    forRange(0, shape.back(), [&](Value position) {
      Value order =
          orderOf(elementOfLine(from, type, line, last, position), type);
      Value end = b.create<arith::MinSIOp>(loc, position, constant(count));
      Value place = insertionPlace(
          end,
          [&](Value before) {
            return isLess(key, loadScalar(keyAt(before), order.getType()),
                          order);
          },
          [&](Value to, Value source) {
            storeScalar(keyAt(to), loadScalar(keyAt(source), order.getType()));
            storeScalar(positionAt(to), loadScalar(positionAt(source), i32));
          });
      storeScalar(keyAt(place), order);
      storeScalar(positionAt(place),
                  b.createOrFold<arith::TruncIOp>(loc, i32, position));
    });
    forRange(0, count, [&](Value place) {
      Value position = loadScalar(positionAt(place), i32);
      storeScalar(elementOfLine(indices, i32, line, last, place), position);
      Value source = elementOfLine(
          from, type, line, last, b.create<arith::ExtSIOp>(loc, i64, position));
      copy(type, {}, {elementOfLine(values, type, line, last, place), {}},
           {source, {}});
    });
  });
}

/// The type of integers in whose order top_k takes elements.
Type LoopEmitter::orderType(Type type) {
  return isa<FloatType>(type) ? b.getIntegerType(type.getIntOrFloatBitWidth())
                              : type;
}

/// The integer in whose order top_k takes an element: for floats, that of their
/// total order, -nan, -inf, ..., -0, 0, ..., inf, nan.
Value LoopEmitter::orderOf(Value address, Type type) {
  if (!isa<FloatType>(type))
    return loadScalar(address, KernelOp::scalarType(type));
  const Type integer = orderType(type);
  const unsigned width = integer.getIntOrFloatBitWidth();
  auto number = [&](const llvm::APInt &value) -> Value {
    return b.create<arith::ConstantOp>(loc, b.getIntegerAttr(integer, value));
  };
  Value bits = b.create<LLVM::LoadOp>(loc, integer, address);
  Value sign = b.create<arith::ShRSIOp>(loc, bits,
                                        number(llvm::APInt(width, width - 1)));
  Value flipped = b.create<arith::AndIOp>(
      loc, sign, number(llvm::APInt::getSignedMaxValue(width)));
  return b.create<arith::XOrIOp>(loc, bits, flipped);
}

Value LoopEmitter::isLess(Type type, Value x, Value y) {
  if (isa<FloatType>(type)) {
    // Processors compare halves in f32, and LLVM has no code for those of bf16.
    if (type.isBF16() || type.isF16())
      for (Value *value : {&x, &y})
        *value = b.create<arith::ExtFOp>(loc, b.getF32Type(), *value);
    return b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::OLT, x, y);
  }
  const bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  return b.create<arith::CmpIOp>(
      loc, isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt,
      x, y);
}

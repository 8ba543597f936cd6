// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// KernelBody: the code of one iteration of an spmd.kernel. Targets derive from
// it the emitters of whole kernels, which differ in their loops only.
#pragma once

#include "meshloom/Targets/Kernels/ElementEmitter.h"
#include "meshloom/Targets/Kernels/KernelAccess.h"
#include "meshloom/Targets/Kernels/Reducer.h"

#include "mlir/IR/IRMapping.h"

namespace meshloom {

/// Where an iteration is: the element each operand points at, and the index of
/// each loop relative to the call's origin (null until its loop is entered).
struct Position {
  SmallVector<Value> pointers, indices;
};

class KernelBody : protected ElementEmitter {
protected:
  KernelBody(spmd::KernelOp kernel, ModuleOp module);
  virtual ~KernelBody() = default;

  /// Pointers are arguments [0, numPointers); output k in place of input j has
  /// none of its own.
  unsigned pointerOf(unsigned operand);
  unsigned numPointers();

  /// Calls `use(operand, loop)` for each stride that is an argument.
  void forDynamicStrides(function_ref<void(unsigned, unsigned)> use);

  /// The arguments of the function that has the loops: pointers, the extent of
  /// each loop, the origins of the loops whose index is used, and the strides
  /// that are not known when compiling.
  SmallVector<Type> argumentTypes();
  /// Takes extents, origins and strides from the function's arguments, and
  /// returns where the first iteration is.
  Position bindArguments(ValueRange arguments);
  /// The reducer of each output. Follows bindArguments.
  void makeReducers();

  /// Returns whether the body has functions that lose huge arguments.
  bool isPeriodic();

  /// The position `index` iterations of `loop` further.
  Position advance(const Position &from, unsigned loop, Value index);

  /// Returns the element at `address` where `condition` holds, else zero.
  Value readIf(Value condition, Value address, Type type);
  /// Does so for a complex number of two f32, as one load of 64 bits: LLVM
  /// makes vectors of it.
  Value readPairIf(Value condition, Value address, mlir::ComplexType type);

  /// The element that `load` picks, whose indices `mapping` has.
  Value loadAt(spmd::LoadOp load, const Position &place,
               const mlir::IRMapping &mapping);

  Value globalIndex(const Position &position, unsigned loop);

  /// `op`, the copy of an op of the body, was emitted.
  virtual void emitted(Operation *op) = 0;

  /// The values that the body yields at `position`. `loaded`: the values of its
  /// arguments, where they have been loaded.
  SmallVector<Value> emitBody(const Position &position,
                              ArrayRef<Value> loaded = {});

  /// Stores the outputs that nothing is reduced into.
  void storeElements(const Position &position, ValueRange yielded);

  /// The states of all reducers before the first term, and after another one.
  SmallVector<Value> identities();
  SmallVector<Value> combine(const Position &position, ValueRange states,
                             ValueRange yielded);
  /// The states of all reducers after the terms of both.
  SmallVector<Value> merge(ValueRange states, ValueRange other);

  /// Stores the results of all reducers.
  void finish(const Position &position, ValueRange states);

  spmd::KernelOp kernel;
  ModuleOp module;
  LoopOrder order;
  SmallVector<int32_t> inPlace;
  unsigned numInputs;
  SmallVector<SmallVector<StaticStride>> strideKinds;
  SmallVector<Type> elements;
  SmallVector<bool> usesIndex, guarded;
  // In the function: null strides are 0, origins null where not used.
  Value zero, one;
  SmallVector<Value> extents, origins;
  SmallVector<SmallVector<Value>> strides;
  SmallVector<std::unique_ptr<ScalarReducer>> reducers;
  /// The outcomes of ops of the body that are known at the place under
  /// construction.
  llvm::SmallDenseMap<Operation *, bool> outcomes;
  /// Says whether the function stores its results.
  bool stores = true;
};

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceCut: a function whose values are on several sets of devices, as a list
// of programs, each on one of them, and of values that move between them.
//
// Ops are taken in program order. Each joins the program that was begun last on
// its devices, as long as every operand from other devices is made by a program
// before that one; else it begins a new one. So programs are in an order in
// which they can be launched one after the other, and none waits for a later
// one; on one set of devices they keep the order of the function, and programs
// on different sets that do not depend on each other run at the same time. An
// op with another `dtensor.part` than the program has begins a new one, too.
//
// Example, @a and @b being sets: h = f(x@a); y = g(relayout h to @b); z = k(x)
// is a program on @a with f and k, and one on @b with g. Its gradient adds a
// third one, on @a.
//
// Values that are on no devices (constants, host arguments, what is computed of
// them) are computed in every program that uses them.
//
// A loop or branch that moves values between sets is a part by itself, which
// the host runs (see HostControl.h): its bodies are functions that are cut in
// turn. The parts behind it are all new ones.
//
// Rejected: one program on a mesh of all devices, in which a set is a slice of
// an axis (see docs/Rationale.md).
#pragma once

#include "meshloom/Engine/DeviceSets.h"

namespace meshloom::detail {

/// A value that is brought to other devices.
struct DeviceMove {
  size_t source;    ///< number of the value that is copied
  Value layoutLike; ///< whose layout it gets, where that is known; or null
  Layout layout;    ///< else this one
};

/// A program of a cut function, or a loop or branch that the host runs. Values
/// have numbers: the function's arguments come first.
struct DevicePart {
  int64_t deviceSet; ///< ANYWHERE where the host runs it
  int64_t label;     ///< see dtensor::partAttr
  SmallVector<Operation *> ops;
  SmallVector<size_t> operands, results; ///< numbers of values
  OwningOpRef<ModuleOp> module;
};

class DeviceCut {
public:
  /// Cuts the only function of `module`, whose variables have been lifted.
  /// `ofArguments`: the sets that its arguments are on; `resultSets`: those
  /// that results have to be on, ANYWHERE: where they are. `first`: where
  /// results are that are on no devices. Throws at what cannot be cut.
  DeviceCut(ModuleOp module, ArrayRef<int64_t> ofArguments,
            ArrayRef<int64_t> resultSets, ArrayRef<Mesh> meshes);

  size_t partCount() const { return parts.size(); }
  const DevicePart &part(size_t number) const { return parts[number]; }
  size_t argumentCount() const { return block.getNumArguments(); }
  size_t valueCount() const { return values.size(); }
  /// The numbers of the function's results.
  ArrayRef<size_t> results() const { return resultNumbers; }
  /// The move that makes a value; null where a program makes it.
  const DeviceMove *moveOf(size_t number) const;
  int64_t deviceSetOf(size_t number) const { return values[number].deviceSet; }
  /// Type of a value, without a layout.
  RankedTensorType typeOf(size_t number) const;
  /// With its layout, where it is on devices.
  RankedTensorType placedTypeOf(size_t number) const;

  /// The loop or branch that part `number` is; null: it is a program.
  Operation *controlOf(size_t number) const;
  /// Sets the operands of such a part: the carried values of a loop, the index
  /// of a branch, then what the bodies use.
  void useOperands(size_t number);
  /// The function of such a part's body: it takes the part's operands, without
  /// the index of a branch.
  OwningOpRef<ModuleOp> bodyOf(size_t number, Region &region);
  /// The module of part `number`; those before it have been built, and the
  /// layouts of their results are known. `mesh`: one over its devices.
  ModuleOp build(size_t number, const Mesh &mesh);
  OwningOpRef<ModuleOp> takeModule(size_t number) {
    return std::move(parts[number].module);
  }
  void setLayout(size_t number, Layout layout) {
    values[number].layout = std::move(layout);
  }
  /// Returns the layout of an argument as it was given, of a program's result
  /// as the compiler decided, of a moved value as it was asked for. As in all
  /// of the IR, it does not say on which devices.
  Layout layoutOf(size_t number) const;

private:
  struct Numbered {
    Value value;
    int64_t deviceSet = ANYWHERE;
    std::optional<Layout> layout = std::nullopt;
    std::optional<DeviceMove> move = std::nullopt;
  };
  class Builder;

  void eraseUnused();
  /// Puts the ops of what is on several sets in its place.
  void inlineSpread(ArrayRef<int64_t> ofArguments);
  /// A value that comes from a mesh over all processes to a submesh is on all
  /// of them first, so that the owner has it.
  void gatherTransferred();
  void place(Operation *op);
  void placeHosted(Operation *op);
  /// A value on no devices is computed by a program on `set`.
  void compute(Value value, int64_t set);
  /// Values that other parts use are results of their own.
  void numberShared();
  /// The function's name and attributes, without a body.
  OwningOpRef<ModuleOp> emptyModule(OpBuilder &b,
                                    mlir::func::FuncOp &emptyFunction);
  /// The values from outside that the bodies of a part take as arguments.
  SmallVector<Value, 0> argumentsOf(Operation *control) const;
  void placeResults(ArrayRef<int64_t> resultSets);
  bool isTransfer(Operation *op) const;
  /// The last part that a value waits for, or -1.
  int64_t positionOf(Value value) const;
  DevicePart &partFor(Operation *op, int64_t set);
  void addTo(DevicePart &part, Operation *op);
  size_t numberOf(Value value);
  /// The number of `value` on the devices `set`.
  size_t numberOn(Value value, int64_t set);

  mlir::func::FuncOp function;
  Block &block;
  const ArrayRef<Mesh> meshes;
  DevicePlaces places;
  std::vector<DevicePart> parts;
  DenseMap<Operation *, int64_t> partOf;
  DenseMap<int64_t, int64_t> lastPart; ///< of a set
  std::vector<Numbered> values;
  DenseMap<Value, size_t> numbers;
  std::map<std::pair<size_t, int64_t>, size_t> movedNumbers;
  DenseMap<int64_t, Value> transferred; ///< operands, by number of transfer
  DenseMap<Value, Value> gatheredOf;    ///< by what gatherTransferred adds
  SmallVector<size_t> resultNumbers;
  DenseMap<unsigned, unsigned> resultOfArgument; ///< of an assigned variable
};

} // namespace meshloom::detail

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Importer: walks StableHLO and builds dtensor. One handler an op, in tables by
// family; this header is what they share.
#pragma once

#include "Shardings.h"

#include "meshloom/Lanes/Blocks.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace meshloom::importer {
using namespace lanes;

class Importer;

/// The dtensor values of an op's results, one after the other.
using Imported = FailureOr<SmallVector<Value>>;

/// Who imports which op.
class Handlers {
public:
  using Handler = std::function<Imported(Importer &, Operation *)>;

  /// `handler` takes (Importer &, OpTy) and returns a Value, a
  /// FailureOr<Value>, a SmallVector<Value> or Imported.
  template <typename OpTy, typename F> void add(F handler) {
    add(OpTy::getOperationName(), [handler](Importer &importer, Operation *op) {
      return imported(handler(importer, cast<OpTy>(op)));
    });
  }
  void add(StringRef op, Handler handler) { table[op] = std::move(handler); }
  const Handler *find(Operation *op) const {
    auto entry = op->isRegistered() ? table.find(op->getName().getStringRef())
                                    : table.end();
    return entry == table.end() ? nullptr : &entry->second;
  }

private:
  static Imported imported(Value value) { return SmallVector<Value>{value}; }
  static Imported imported(FailureOr<Value> value) {
    return succeeded(value) ? imported(*value) : Imported(failure());
  }
  static Imported imported(SmallVector<Value> values) { return values; }
  static Imported imported(Imported values) { return values; }

  llvm::StringMap<Handler> table; ///< by the name of the op
};

// The families, one file each.
void addElementwise(Handlers &handlers, MLIRContext *context);
void addMovement(Handlers &handlers);
void addContractions(Handlers &handlers);
void addEinsums(Handlers &handlers);
void addRaggedOps(Handlers &handlers);
void addReductions(Handlers &handlers);
void addWindows(Handlers &handlers);
void addIndexing(Handlers &handlers);
void addOrdering(Handlers &handlers);
void addLinalg(Handlers &handlers);
void addControlFlow(Handlers &handlers);
void addManualComputations(Handlers &handlers);
void addCollectives(Handlers &handlers);
void addAnnotations(Handlers &handlers);
void addSpecialFunctions(Handlers &handlers);
void addBroadcasting(Handlers &handlers);
void addNormalization(Handlers &handlers);
void addRandomBits(Handlers &handlers);
void addCustomCalls(Handlers &handlers);

class Importer {
public:
  /// `shardings` must live as long as this. The program is of `size` ops when
  /// its calls are inlined.
  Importer(ModuleOp module, const Shardings &shardings, int64_t size);

  LaneBuilder b;
  ModuleOp module;
  const Shardings &shardings;

  /// Imports `func` as a function of the same name that is in no module yet.
  /// Null after a failure, which is reported.
  mlir::func::FuncOp importFunction(mlir::func::FuncOp func);

  //===--------------------------------------------------------------------===//
  // For handlers
  //===--------------------------------------------------------------------===//

  /// The dtensor value of a tensor. (One that was not imported, because the
  /// program is malformed, has none; operands are checked before.)
  Value get(Value source) const;
  SmallVector<Value> get(ValueRange sources) const;
  /// The tensors that make up a value, which may be a tuple.
  ArrayRef<Value> leaves(Value source) const;
  SmallVector<Value> leaves(ValueRange sources) const;
  void set(Value source, ArrayRef<Value> leaves);

  /// The local type, without an encoding.
  static RankedTensorType typeOf(Value source);

  /// Imports all ops of `block` but the terminator.
  LogicalResult importBlock(Block &block);
  /// Imports a region of one block inline: `arguments` are its arguments, the
  /// result what its terminator returns.
  Imported importInline(Region &region, ArrayRef<Value> arguments);
  /// Imports a function of scalars (a reducer, a comparator) into `target`.
  LogicalResult importScalarRegion(Region &source, Region &target);
  /// Imports the body of the function that `symbol` names.
  Imported importCall(Location loc, StringRef symbol,
                      ArrayRef<Value> arguments);

  /// The values of a reduction as its reducer takes them: it may be of a wider
  /// element type than they are.
  SmallVector<Value> promoted(Region &reducer, ArrayRef<Value> values);
  /// The kind that a reducer of two scalars combines by, if it is a plain one.
  static std::optional<ReduceKind> kindOf(Region &reducer);
  /// The identity of a kind for `element`, as a scalar.
  Value identity(ReduceKind kind, Type element);
  /// Returns whether `source` is a constant that is the identity of `kind`.
  bool isIdentity(ReduceKind kind, Value value);

  InFlightDiagnostic error(const Twine &message) {
    return mlir::emitError(b.getLoc(), message);
  }

  /// Returns whether what is being imported is a function of scalars.
  bool inScalarRegion() const { return scalarRegion; }
  /// Forgets the ops made inside `region`, which is about to go.
  void forget(Region &region);
  /// Forgets the ops made inside `op` and erases it: it did not fit.
  void retract(Operation *op);

  /// How many `rng` ops came before: each has numbers of its own.
  unsigned randomOps = 0;
  /// Which turn it is of each loop around that draws random numbers: each turn
  /// has numbers of its own. Scalars of ui32.
  SmallVector<Value> turns;
  /// Says at which places what is being imported is run, where these are not
  /// all: a scalar of i1 with lanes.
  Value running;
  /// Verifies the ops that were made after the first `since`, if `soFar`
  /// succeeded.
  LogicalResult verifyNewOps(size_t since, LogicalResult soFar);
  /// The layout that `annotation` spells for `which`, an argument or a result
  /// of type `type`; null where the type says the same, or has other blocks.
  dtensor::LayoutAttr writtenAs(const std::string &which, Attribute annotation,
                                Type type);
  /// Notes (WrittenLayouts.h) that what is being imported is not put on the one
  /// device that `sharding` asks for.
  void noteOnlyDevice(const ValueSharding &sharding);

  /// The axes that enclosing manual computations are manual over.
  SmallVector<unsigned> manualAxes;
  /// How the mesh of the manual computation around numbers its devices, where
  /// the values are laid out in another order (Shardings::declaredOrder); else
  /// empty.
  ArrayRef<int64_t> manualOrder;
  /// The number of the device at a position of the mesh, and back.
  int64_t deviceAt(int64_t position) const;
  int64_t positionOf(int64_t device) const;
  /// A sharding group of the function, by its first member.
  struct Group {
    Location loc;
    SmallVector<int64_t> shape;
    Operation *around; ///< the manual computation, or null
    SmallVector<unsigned> manualAxes;
    Lanes lanes;
    dtensor::LayoutAttr layout; ///< of the first member that is decided
    /// The wishes of members that came before it.
    SmallVector<dtensor::ConstraintOp> open;
  };
  std::map<int64_t, Group> groups;

private:
  LogicalResult importOp(Operation &op);
  LogicalResult checkTypes(Operation &op);
  /// Makes constants from outside that `region` uses again, where ops go now.
  LogicalResult
  importCaptured(Region &region,
                 SmallVectorImpl<std::pair<Value, SmallVector<Value>>> &outer);
  /// Leaves on `func` what is known of the program's meshes.
  void rememberMeshes(mlir::func::FuncOp func);
  FailureOr<SmallVector<Value>> annotated(Operation &op,
                                          SmallVector<Value> results);

  /// Collects what handlers make.
  struct Recorder : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op,
                                 OpBuilder::InsertPoint) override {
      created.push_back(op);
    }
    SmallVector<Operation *> created;
  };
  Recorder recorder;
  const Handlers &handlers;
  DenseMap<Value, SmallVector<Value, 1>> values;
  int64_t budget;                 ///< how many ops may still be imported
  Region *scalarRegion = nullptr; ///< the function of scalars being imported
  SmallVector<std::string> notes; ///< for the function being imported
};

/// Reports a type that no dtensor program has.
LogicalResult checkType(Location loc, Type type);

/// The number that a constant of the program is, where it is one integer.
std::optional<int64_t> constantNumber(Value value);
/// The tensors in a type: itself, or those of a tuple, flattened.
void flatten(Type type, SmallVectorImpl<RankedTensorType> &tensors);

/// The product of two values, as dot_general's attributes say: its dims are the
/// batching ones, then those left of `lhs`, then those left of `rhs`.
FailureOr<Value> importDot(Importer &importer, Value lhs, Value rhs,
                           ArrayRef<int64_t> lhsBatching,
                           ArrayRef<int64_t> rhsBatching,
                           ArrayRef<int64_t> lhsContracting,
                           ArrayRef<int64_t> rhsContracting, Type element);

/// Devices by groups of `size`: `open` makes [groups, size, ...] of a value of
/// each device, `close` is the inverse (Collectives.cpp).
struct DeviceGroups {
  int64_t size;
  std::function<Value(Value)> open, close;
};
/// The groups of a collective between devices.
FailureOr<DeviceGroups> groupsOf(Importer &importer, Attribute replicaGroups,
                                 int64_t channel);

/// The custom call @ragged_all_to_all (Ragged.cpp).
Imported importRaggedAllToAll(Importer &importer, stablehlo::CustomCallOp op);

//===----------------------------------------------------------------------===//
// What annotations do (Wishes.cpp)
//===----------------------------------------------------------------------===//

/// The layout of an argument with this sharding; null where it leaves that
/// open.
FailureOr<dtensor::LayoutAttr> argumentLayout(Importer &importer,
                                              const ValueSharding &sharding);
/// The value as `sharding`, which is about its local dims, wants it.
FailureOr<Value> constrain(Importer &importer, Value value,
                           const ValueSharding &sharding);
/// Likewise by an attribute.
FailureOr<Value> constrain(Importer &importer, Value value, Attribute sharding);
/// The value moved to `sharding`.
FailureOr<Value> reshard(Importer &importer, Value value,
                         const ValueSharding &sharding);

/// `value` as a member of a sharding group. The first one whose layout is
/// decided decides for those with another: as in Shardy, they are resharded.
FailureOr<Value> joinGroup(Importer &importer, Value value, int64_t group,
                           Operation *manualComputation);

/// `value`, whose layout is told once it is decided, by the name `name`, to a
/// custom call whose backend_config is `config`.
Value inspected(Importer &importer, Value value, StringRef name,
                StringRef config);

//===----------------------------------------------------------------------===//
// Into and out of manual computations (ManualComputations.cpp)
//===----------------------------------------------------------------------===//

/// A value cut by `sharding` as its part on each device along the axes
/// `manual`: it gets lanes for those among them that it is cut over.
FailureOr<Value> enterManual(Importer &importer, Value value,
                             const ValueSharding &sharding,
                             ArrayRef<unsigned> manual);
/// The inverse: the value of type `type` whose parts are `value`.
FailureOr<Value> leaveManual(Importer &importer, Value value,
                             const ValueSharding &sharding,
                             ArrayRef<unsigned> manual, RankedTensorType type);

} // namespace meshloom::importer

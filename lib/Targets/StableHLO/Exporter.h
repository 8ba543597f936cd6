// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the export's files: which part of a tensor each device
// holds, the builder of StableHLO ops, and moving elements along one dim. All
// devices run one program, so where they differ it looks a number up by
// replica_id.
#pragma once

#include "meshloom/Core/Window.h"
#include "meshloom/Dialect/SPMD/SPMD.h"
#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

namespace meshloom::exporting {

/// The parts of a global tensor that devices have: at index `i` of dim `d`,
/// device `k` has the global index `ranges[d][k].begin + i`. Elements from the
/// range's end to `buffer[d]` are padding; they may be anything.
struct Held {
  SmallVector<int64_t> global, buffer;
  std::vector<std::vector<Interval>> ranges;
  Type element;

  /// Returns the part that `type` names: a shard's, or the whole of a plain
  /// tensor.
  static Held of(Type type, int64_t devices);
  static Held whole(ArrayRef<int64_t> shape, Type element, int64_t devices);

  unsigned rank() const { return unsigned(global.size()); }
  RankedTensorType type() const {
    return RankedTensorType::get(buffer, element);
  }
  /// Every device has all of the dim.
  bool isWhole(unsigned dim) const;
  bool isWhole() const;
  /// Some device has padding there.
  bool isPadded(unsigned dim) const;
  /// Both have the same ranges and buffer along these dims.
  bool agrees(unsigned dim, const Held &other, unsigned otherDim) const;
  /// Takes over dim `otherDim` of `other`.
  void setDim(unsigned dim, const Held &other, unsigned otherDim);
};

struct Operand {
  Value value;
  Held held;
};

/// A row a device, an entry an element: the local index to take it from.
using Table = std::vector<std::vector<int64_t>>;
constexpr int64_t fillEntry = -1; ///< not from anywhere: the fill value
constexpr int64_t anyEntry = -2;  ///< padding: whatever is simplest

using Values = SmallVector<Value>;
/// The results of an op; nothing where its local form is not known for the
/// parts that devices hold.
using Emitted = std::optional<Values>;

class Exporter {
public:
  Exporter(MLIRContext *context, const Mesh &mesh, bool describes);

  OpBuilder b;
  Location loc;
  const Mesh mesh;
  const int64_t devices;
  const bool describes; ///< see dtensor::describeAttr

  //===--------------------------------------------------------------------===//
  // Building ops
  //===--------------------------------------------------------------------===//
  using Attrs = ArrayRef<NamedAttribute>;
  NamedAttribute attr(StringRef name, Attribute value);
  NamedAttribute list(StringRef name, ArrayRef<int64_t> value);
  NamedAttribute attr(StringRef name, int64_t value);
  /// `precision_config` of a product: f32 is multiplied as f32. By default XLA
  /// rounds it to TF32 on GPUs and to bf16 on TPUs.
  NamedAttribute fullPrecision();
  /// The op `stablehlo.name` (or `chlo....`), with empty regions.
  Operation *op(StringRef name, mlir::TypeRange types,
                mlir::ValueRange operands, Attrs attrs = {},
                unsigned regions = 0);
  Value one(StringRef name, Type type, mlir::ValueRange operands,
            Attrs attrs = {});
  /// An op whose result has the first operand's type.
  Value same(StringRef name, mlir::ValueRange operands, Attrs attrs = {}) {
    return one(name, operands[0].getType(), operands, attrs);
  }
  Value constant(DenseElementsAttr value);
  Value zero(Type element);
  Value number(Type integer, int64_t value, ArrayRef<int64_t> shape = {});
  Value identity(ReduceKind kind, Type element);
  Value broadcast(Value value, ArrayRef<int64_t> shape,
                  ArrayRef<int64_t> dims = {});
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int64_t> permutation);
  Value convert(Value value, Type element);
  Value iota(ArrayRef<int64_t> shape, unsigned dim, Type element);
  Value compare(stablehlo::ComparisonDirection direction, Value lhs, Value rhs);
  Value slice(Value value, unsigned dim, int64_t begin, int64_t end,
              int64_t stride = 1);
  Value pad(Value value, unsigned dim, int64_t low, int64_t high, Value fill);
  /// The type in which elements are combined by `kind`: f16 and bf16 are summed
  /// and multiplied in f32, and rounded once.
  Type combinedIn(ReduceKind kind, Type element) {
    bool wider = (element.isF16() || element.isBF16()) &&
                 (kind == ReduceKind::Sum || kind == ReduceKind::Prod);
    return wider ? Type(b.getF32Type()) : element;
  }
  /// Combines along `dims`, from the kind's identity on.
  Value reduce(ReduceKind kind, Value value, ArrayRef<int64_t> dims);
  /// The op that combines two values.
  static StringRef reducerName(ReduceKind kind);
  /// A block of two scalars that `kind` combines.
  void fillReducer(mlir::Region &region, ReduceKind kind, Type element);
  /// The ops of a scalar region.
  LogicalResult copyScalars(mlir::Region &from, mlir::Region &to);

  //===--------------------------------------------------------------------===//
  // Devices
  //===--------------------------------------------------------------------===//
  /// This device's number, i32.
  Value deviceId();
  /// This device's entry, i32.
  Value lookup(ArrayRef<int64_t> perDevice);
  /// This device's row, of `element`s.
  Value lookupRow(const Table &table, Type element);
  /// Row-major over `axes`: the devices that differ from `device` only there.
  std::vector<int64_t> groupOf(int64_t device, ArrayRef<unsigned> axes) const;

  /// `value` on the first device along the partial's axis, the kind's identity
  /// on others: its addends.
  Value onFirstAlong(Partial partial, Value value);

  //===--------------------------------------------------------------------===//
  // Movement
  //===--------------------------------------------------------------------===//
  /// `value` with `size` elements along `dim`, from where `table` says.
  Value take(Value value, unsigned dim, const Table &table, int64_t size,
             Value fill = {});
  /// `value` with the padding along `dims` replaced.
  Value mask(Value value, const Held &held, ArrayRef<int64_t> dims, Value fill);
  /// Moves what the device holds so that it lies as in dim `targetDim` of
  /// `target`; false if it does not hold all of that.
  bool fit(Operand &operand, unsigned dim, const Held &target,
           unsigned targetDim);
  bool fitAll(Operand &operand, const Held &target);
  /// Likewise by an index map, of a dim that is one of the target's.
  bool move(Operand &operand, unsigned dim, const Held &target,
            const dtensor::SourceDim &map, Value fill = {});
  /// The element at each global index `g` of the target's range is the one at
  /// `source(g)` of the operand's dim, or `fillEntry`.
  bool move(Operand &operand, unsigned dim, const Held &target,
            unsigned targetDim, llvm::function_ref<int64_t(int64_t)> source,
            Value fill = {});

  //===--------------------------------------------------------------------===//
  // Between devices
  //===--------------------------------------------------------------------===//
  NamedAttribute groups(ArrayRef<unsigned> axes);
  Value allReduce(Value value, ReduceKind kind, ArrayRef<unsigned> axes);
  Value permute(Value value,
                ArrayRef<std::pair<int64_t, int64_t>> sourcesAndTargets);
  /// Gathers the dim over `axes`, then lays it out as the target's. Elements
  /// that no device of the group has become padding.
  void collect(Operand &operand, unsigned dim, ArrayRef<unsigned> axes,
               const Held &target, unsigned targetDim);
  /// The whole of a value of that type on every device.
  Operand gatherWhole(Value value, Type type);
  LogicalResult emitCollective(spmd::CollectiveOpInterface op);

  //===--------------------------------------------------------------------===//
  // Programs
  //===--------------------------------------------------------------------===//
  LogicalResult exportFunction(mlir::func::FuncOp function);
  LogicalResult exportBlock(Block &block);
  Value get(Value value) const { return values.lookup(value); }
  void set(Value from, Value to) { values.map(from, to); }

  /// Handlers are given gathered operands, and results that nobody shares.
  bool onWholeValues = false;

private:
  LogicalResult exportOp(Operation *op);
  /// A custom call of the op's name on the parts that devices hold.
  Values callByName(Operation *op, ArrayRef<Operand> operands,
                    ArrayRef<Held> results);
  LogicalResult exportControl(Operation *op);
  /// Devices leave a loop by themselves only where nothing in it communicates,
  /// not even what runs on gathered operands here: else all ask all.
  void decideTogether(dtensor::WhileOp loop, Operation *exported);
  Emitted emit(Operation *op, MutableArrayRef<Operand> operands,
               ArrayRef<Held> results);
  Emitted emitWhole(Operation *op);
  std::optional<Value> scatterReduced(Operand operand, const CollectiveOp &plan,
                                      ReduceKind kind, const Held &to);
  std::optional<Value> exchangeDims(Operand operand, const CollectiveOp &plan,
                                    const Held &to);
  Value blocksToFront(Value value, ArrayRef<SmallVector<unsigned>> axes);
  Value blocksFromFront(Value value, ArrayRef<unsigned> front,
                        ArrayRef<SmallVector<unsigned>> axes);
  Value permuteShards(Operand operand, const CollectiveOp &plan,
                      const Held &to);
  void exchangeHalo(Operand &operand, unsigned dim, ArrayRef<unsigned> axes,
                    const Held &to);
  bool padToGroup(Operand &operand, unsigned dim, ArrayRef<unsigned> axes,
                  const Held &to);

  mlir::IRMapping values;
  DenseMap<Block *, Value> ids; ///< device ids by the block they are in
};

using Handler = Emitted (*)(Exporter &, Operation *, MutableArrayRef<Operand>,
                            ArrayRef<Held>);
using Handlers = llvm::StringMap<Handler>;
/// Emits any op with ElementwiseOpInterface that StableHLO has.
Emitted emitElementwise(Exporter &e, Operation *op,
                        MutableArrayRef<Operand> operands,
                        ArrayRef<Held> results);
void addElementwise(Handlers &handlers);
void addStructural(Handlers &handlers);
void addMovement(Handlers &handlers);
void addContractions(Handlers &handlers);
void addWindows(Handlers &handlers);
void addIndexing(Handlers &handlers);
void addOrderAndLinalg(Handlers &handlers);

} // namespace meshloom::exporting

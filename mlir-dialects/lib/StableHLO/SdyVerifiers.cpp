// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of shardings and sharding rules, wherever they are written: as
// attributes of functions and ops, and in the ops of sdy.

#include "meshloom/Dialect/StableHLO/Mpmd.h"

#include "SdyAxes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::sdy;
using llvm::Twine;
using mlir::InFlightDiagnostic;
using mlir::LogicalResult;
using mlir::NamedAttribute;
using mlir::TypeRange;

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

LogicalResult
MeshAxisAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     StringRef name, int64_t size) {
  if (size < 1)
    return emitError() << "axis '" << name << "' has size " << size
                       << "; it is at least 1";
  return success();
}

LogicalResult
MeshAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                 ArrayRef<MeshAxisAttr> axes, ArrayRef<int64_t> deviceIds) {
  for (int64_t id : deviceIds)
    if (id < 0)
      return emitError() << "there is no device " << id;
  if (axes.empty()) {
    if (deviceIds.size() > 1)
      return emitError() << "a mesh without axes has one device at most, not "
                         << deviceIds.size();
    return success();
  }
  int64_t devices = 1;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    for (MeshAxisAttr before : axes.take_front(i))
      if (before.getName() == axis.getName())
        return emitError() << "axis '" << axis.getName()
                           << "' is in the mesh twice";
    if (llvm::MulOverflow(devices, axis.getSize(), devices))
      return emitError() << "the mesh has more devices than can be counted";
  }
  if (deviceIds.empty())
    return success();
  if (int64_t(deviceIds.size()) != devices)
    return emitError() << "device_ids has " << deviceIds.size()
                       << " devices, but the axes make " << devices;
  SmallVector<int64_t> order(deviceIds);
  llvm::sort(order);
  for (auto [i, id] : llvm::enumerate(order))
    if (id != int64_t(i))
      return emitError() << "device_ids is an order of the devices 0 to "
                         << devices - 1 << ", but "
                         << (id < int64_t(i) ? "names " + Twine(id) + " twice"
                                             : "lacks " + Twine(i));
  return success();
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

/// The manual computation around `op` that binds `axis`, or null.
static ManualComputationOp binderOf(Operation *op, StringRef axis) {
  auto around = op->getParentOfType<ManualComputationOp>();
  while (around &&
         llvm::none_of(around.getManualAxes().getValue(),
                       [&](StringAttr manual) { return manual == axis; }))
    around = around->getParentOfType<ManualComputationOp>();
  return around;
}

static LogicalResult verifyFree(Operation *op, ArrayRef<AxisRefAttr> axes,
                                EmitError emitError) {
  for (AxisRefAttr axis : axes)
    if (auto binder = binderOf(op, axis.getName()))
      return (emitError() << "axis '" << axis.getName()
                          << "' is manual in a computation around, where "
                             "shardings do not use it")
                 .attachNote(binder.getLoc())
             << "the manual computation";
  return success();
}

static bool saysNothing(TensorShardingAttr sharding) {
  return sharding.getRank() == 0 && sharding.getReplicatedAxes().empty() &&
         sharding.getUnreducedAxes().empty();
}

LogicalResult sdy::verifySharding(Operation *op, TensorShardingAttr sharding,
                                  Type type, EmitError emitError) {
  MeshAttr mesh = meshOf(op, sharding.getMeshOrRef());
  if (!mesh)
    return emitError() << "there is no mesh " << sharding.getMeshOrRef();
  if (mesh.getAxes().empty() && !mesh.getDeviceIds().empty()) {
    if (saysNothing(sharding))
      return success();
    return emitError() << "a value on device " << mesh.getDeviceIds()[0]
                       << " only has no dims and no axes in its sharding";
  }
  if (auto tuple = dyn_cast_or_null<mlir::TupleType>(type)) {
    if (tuple.size() != 1)
      return emitError() << "a tuple of " << tuple.size()
                         << " has no sharding, but " << type << " got one";
    type = tuple.getType(0);
  }
  if (auto onMesh = dyn_cast_or_null<mpmd::MeshTensorType>(type))
    type = onMesh.getTensor();
  auto tensor = dyn_cast_or_null<mlir::ShapedType>(type);
  if (!tensor) {
    if (saysNothing(sharding))
      return success();
    return emitError() << "a value that is not a tensor has no dims and no "
                          "axes in its sharding";
  }
  if (!tensor.hasRank())
    return emitError() << "a value of type " << type
                       << " has no rank, so it cannot be sharded";
  if (int64_t(sharding.getRank()) != tensor.getRank())
    return emitError() << "the sharding has " << sharding.getRank() << " dim"
                       << (sharding.getRank() == 1 ? "" : "s")
                       << ", but the value has rank " << tensor.getRank();
  AxisUses uses(sharding.getMeshOrRef(), mesh, emitError);
  for (auto [d, dim] : llvm::enumerate(sharding.getDimShardings())) {
    if (dim.getPriority() && dim.getIsClosed() && dim.getAxes().empty())
      return emitError() << "dim " << d
                         << " has a priority, but is closed and on no axes: "
                            "there is nothing to decide";
    if (failed(uses.add(dim.getAxes(), "dim " + Twine(d))) ||
        failed(verifyFree(op, dim.getAxes(), emitError)))
      return failure();
  }
  for (auto [axes, name] :
       {std::pair(sharding.getReplicatedAxes(), StringRef("replicated")),
        {sharding.getUnreducedAxes(), "unreduced"}})
    if (failed(uses.add(axes, name, /*inOrder=*/true)) ||
        failed(verifyFree(op, axes, emitError)))
      return failure();
  return success();
}

LogicalResult sdy::verifyShardings(Operation *op,
                                   TensorShardingPerValueAttr shardings,
                                   TypeRange types, StringRef role) {
  ArrayRef<TensorShardingAttr> list = shardings.getShardings();
  // An op without results may still be on one device, or on all.
  if (types.empty() && list.size() == 1 && saysNothing(list[0]))
    return verifySharding(op, list[0], {}, [&] { return op->emitOpError(); });
  if (list.size() != types.size())
    return op->emitOpError("has ")
           << list.size() << " shardings for " << types.size() << " " << role
           << (types.size() == 1 ? "" : "s");
  for (auto [i, sharding] : llvm::enumerate(list)) {
    auto emitError = [&, index = i] {
      return op->emitOpError() << role << " #" << index << ": ";
    };
    if (failed(verifySharding(op, sharding, types[i], emitError)))
      return failure();
  }
  return success();
}

static LogicalResult verifyOfFunction(Operation *op, NamedAttribute attr,
                                      Type type, StringRef role,
                                      unsigned index) {
  if (attr.getName() != "sdy.sharding")
    return success();
  auto emitError = [&] {
    return op->emitOpError() << role << " #" << index << ": ";
  };
  auto sharding = dyn_cast<TensorShardingAttr>(attr.getValue());
  if (!sharding)
    return emitError() << "expected a sharding, got " << attr.getValue();
  return verifySharding(op, sharding, type, emitError);
}

LogicalResult SdyDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned index,
                                                   NamedAttribute attr) {
  auto func = dyn_cast<mlir::FunctionOpInterface>(op);
  if (!func)
    return success();
  return verifyOfFunction(op, attr, func.getArgumentTypes()[index], "argument",
                          index);
}

LogicalResult SdyDialect::verifyRegionResultAttribute(Operation *op, unsigned,
                                                      unsigned index,
                                                      NamedAttribute attr) {
  auto func = dyn_cast<mlir::FunctionOpInterface>(op);
  if (!func)
    return success();
  return verifyOfFunction(op, attr, func.getResultTypes()[index], "result",
                          index);
}

LogicalResult SdyDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attr) {
  if (attr.getName() == "sdy.sharding") {
    auto perValue = dyn_cast<TensorShardingPerValueAttr>(attr.getValue());
    if (!perValue)
      return op->emitOpError(
                 "expected #sdy.sharding_per_value as its sharding, "
                 "got ")
             << attr.getValue();
    return verifyShardings(op, perValue, op->getResultTypes(), "result");
  }
  if (attr.getName() == "sdy.sharding_rule") {
    auto rule = dyn_cast<OpShardingRuleAttr>(attr.getValue());
    if (!rule)
      return op->emitOpError("expected #sdy.op_sharding_rule as its rule, got ")
             << attr.getValue();
    return verifyRule(op, rule);
  }
  if (attr.getName() == "sdy.propagation_edges") {
    auto edges = dyn_cast<PropagationEdgesAttr>(attr.getValue());
    if (!edges)
      return op->emitOpError("expected #sdy.propagation_edges as its "
                             "sdy.propagation_edges, got ")
             << attr.getValue();
    return verifyEdges(op, edges);
  }
  if (attr.getName() == "sdy.result_propagation_edges" ||
      attr.getName() == "sdy.block_arg_propagation_edges") {
    auto lists = dyn_cast<mlir::ArrayAttr>(attr.getValue());
    if (!lists || !llvm::all_of(lists, [](Attribute edges) {
          return isa<PropagationEdgesAttr>(edges);
        }))
      return op->emitOpError(
                 "expected a list of #sdy.propagation_edges as its ")
             << attr.getName() << ", got " << attr.getValue();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Checks the mappings of operands or results; adds their factors to `seen`.
static LogicalResult verifyMappings(Operation *op, TypeRange types,
                                    ArrayRef<TensorMappingAttr> mappings,
                                    ArrayRef<int64_t> sizes,
                                    llvm::BitVector &seen, StringRef role) {
  if (mappings.size() != types.size())
    return op->emitOpError("its rule has ")
           << mappings.size() << " " << role << "s, but the op has "
           << types.size();
  if (mappings.empty())
    return op->emitOpError("has a rule, but no ") << role << "s";
  for (auto [i, mapping] : llvm::enumerate(mappings)) {
    auto error = [&, index = i] {
      return op->emitOpError("its rule for ") << role << " #" << index << " ";
    };
    auto tensor = dyn_cast<RankedTensorType>(types[i]);
    if (!tensor || !tensor.hasStaticShape())
      return error() << "needs a tensor of static shape, but that is a "
                     << types[i];
    if (int64_t(mapping.getDimMappings().size()) != tensor.getRank())
      return error() << "has " << mapping.getDimMappings().size()
                     << " dims, but that has rank " << tensor.getRank();
    llvm::BitVector here(unsigned(sizes.size()));
    for (auto [d, dim] : llvm::enumerate(mapping.getDimMappings()))
      for (int64_t factor : dim.getFactorIndices()) {
        if (here.test(unsigned(factor)))
          return error() << "has factor #" << factor << " twice";
        if (sizes[factor] == 1 && dim.getFactorIndices().size() > 1)
          return error() << "has a factor of size 1 beside others in dim " << d;
        here.set(unsigned(factor));
      }
    seen |= here;
  }
  return success();
}

LogicalResult sdy::verifyRule(Operation *op, OpShardingRuleAttr rule) {
  ArrayRef<int64_t> sizes = rule.getFactorSizes();
  llvm::BitVector inOperands(unsigned(sizes.size())), inResults = inOperands;
  if (failed(verifyMappings(op, op->getOperandTypes(),
                            rule.getOperandMappings(), sizes, inOperands,
                            "operand")) ||
      failed(verifyMappings(op, op->getResultTypes(), rule.getResultMappings(),
                            sizes, inResults, "result")))
    return failure();
  llvm::BitVector used = inOperands;
  used |= inResults;
  if (!used.all())
    return op->emitOpError("its rule gives the size of factor #")
           << used.find_first_unset() << ", which no dim has";
  // The sets in which a factor is once, at most.
  std::pair<StringRef, ArrayRef<int64_t>> sets[] = {
      {"reduction", rule.getReductionFactors()},
      {"need_replication", rule.getNeedReplicationFactors()},
      {"permutation", rule.getPermutationFactors()},
      {"blocked_propagation", rule.getBlockedPropagationFactors()}};
  llvm::BitVector special(unsigned(sizes.size()));
  for (auto [name, factors] : sets) {
    for (size_t i = 1; i < factors.size(); ++i)
      if (factors[i - 1] >= factors[i])
        return op->emitOpError("its rule's ")
               << name << " factors are not in order, each once";
    if (name == "blocked_propagation")
      continue;
    for (int64_t factor : factors) {
      if (special.test(unsigned(factor)))
        return op->emitOpError("its rule has factor #")
               << factor << " in two of reduction, need_replication and "
               << "permutation";
      special.set(unsigned(factor));
    }
  }
  for (int64_t factor : rule.getReductionFactors())
    if (inResults.test(unsigned(factor)))
      return op->emitOpError("its rule reduces factor #")
             << factor << ", which a result has";
  return success();
}

//===----------------------------------------------------------------------===//
// Pending reductions
//===----------------------------------------------------------------------===//

LogicalResult sdy::verifyPending(Operation *op, TensorShardingAttr from,
                                 TensorShardingAttr to, bool begins,
                                 ReductionOp ends) {
  MeshAttr mesh = meshOf(op, to.getMeshOrRef());
  if (!from || !mesh || meshOf(op, from.getMeshOrRef()) != mesh)
    return success();
  AxisParts before = partsOf(mesh, from.getUnreducedAxes()),
            after = partsOf(mesh, to.getUnreducedAxes());
  AxisParts begun = without(after, before), ended = without(before, after);
  if (!begun.empty() && !begins)
    return op->emitOpError("cannot begin a pending reduction along ")
           << text(mesh, begun);
  if (!begun.empty() && to.getReductionOp() != ReductionOp::SUM)
    return op->emitOpError("begins a pending ")
           << stringifyReductionOp(to.getReductionOp()) << " along "
           << text(mesh, begun) << "; only sums can begin";
  if (!ended.empty() && from.getReductionOp() != ends)
    return op->emitOpError("ends a pending ")
           << stringifyReductionOp(from.getReductionOp()) << " along "
           << text(mesh, ended) << " by a " << stringifyReductionOp(ends);
  AxisParts remaining = without(after, begun);
  if (!remaining.empty() && from.getReductionOp() != to.getReductionOp())
    return op->emitOpError("turns a pending ")
           << stringifyReductionOp(from.getReductionOp()) << " along "
           << text(mesh, remaining) << " into a "
           << stringifyReductionOp(to.getReductionOp());
  return success();
}

static Value behindBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<PropagationBarrierOp>())
    value = barrier.getInput();
  return value;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// A value that gets a sharding.
template <typename OpTy> static LogicalResult verifyPin(OpTy op) {
  if (failed(verifySharding(op, op.getSharding(), op.getResult().getType(),
                            [&] { return op.emitOpError(); })))
    return failure();
  TensorShardingAttr from = shardingOf(behindBarriers(op.getInput()));
  return verifyPending(op, from, op.getSharding(), /*begins=*/true,
                       from ? from.getReductionOp() : ReductionOp::SUM);
}

LogicalResult ShardingConstraintOp::verify() {
  return verifyPin(*this);
}
LogicalResult ReshardOp::verify() {
  return verifyPin(*this);
}

LogicalResult PropagationBarrierOp::verify() {
  if (getAllowedDirection() == PropagationDirection::BOTH)
    return emitOpError("lets shardings pass both ways: without it they do");
  return success();
}

static bool isStatic(Value value) {
  auto type = dyn_cast<mlir::ShapedType>(value.getType());
  return type && type.hasStaticShape();
}

LogicalResult DataFlowEdgeOp::verify() {
  if (!isStatic(getResult()))
    return emitOpError("needs a static shape, not ") << getResult().getType();
  if (!getInput().hasOneUse())
    return emitOpError("must be the only user of its input");
  Operation *maker = getInput().getDefiningOp();
  if (maker && isa_and_nonnull<SdyDialect>(maker->getDialect()) &&
      !isa<NamedComputationOp, ManualComputationOp>(maker))
    return (emitOpError("its input is made by '")
            << maker->getName()
            << "'; edges belong to values of other dialects and of "
               "computations")
               .attachNote(maker->getLoc())
           << "made here";
  auto sharding = getShardingAttr();
  if (!sharding)
    return success();
  return verifySharding(*this, sharding, getResult().getType(),
                        [&] { return emitOpError(); });
}

LogicalResult FuncDataFlowEdgeOp::verify() {
  if (!isStatic(getResult()))
    return emitOpError("needs a static shape, not ") << getResult().getType();
  if (!getOperand().hasOneUse())
    return emitOpError("must be the only user of its operand");
  auto argument = dyn_cast<BlockArgument>(getOperand());
  bool ofFunction =
      argument
          ? isa<mlir::FunctionOpInterface>(argument.getOwner()->getParentOp())
          : isa<mlir::func::CallOp>(getOperand().getDefiningOp());
  if (!ofFunction)
    return emitOpError("its operand must be an argument of a function or a "
                       "result of a call");
  return success();
}

static TypeRange returnedTypes(Region &body) {
  return TypeRange(body.front().getTerminator()->getOperandTypes());
}

LogicalResult NamedComputationOp::verifyRegions() {
  auto inner = getBody().getArgumentTypes();
  auto outer = getOperandTypes();
  if (inner.size() != outer.size())
    return emitOpError("its body has ")
           << inner.size() << " arguments for " << outer.size() << " operands";
  for (auto [i, types] : llvm::enumerate(llvm::zip_equal(inner, outer)))
    if (std::get<0>(types) != std::get<1>(types))
      return emitOpError("argument #")
             << i << " of its body is a " << std::get<0>(types)
             << ", but the operand a " << std::get<1>(types);
  if (!llvm::equal(returnedTypes(getBody()), getResultTypes()))
    return emitOpError("its body returns (")
           << returnedTypes(getBody()) << "), but the results are ("
           << getResultTypes() << ")";
  if (auto in = getInShardings();
      in && failed(verifyShardings(*this, *in, getOperandTypes(), "operand")))
    return failure();
  if (auto out = getOutShardings();
      out && failed(verifyShardings(*this, *out, getResultTypes(), "result")))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Manual computations
//===----------------------------------------------------------------------===//

/// The type that `type` has inside, on one device.
static FailureOr<Type> localType(ManualComputationOp op, Type type,
                                 TensorShardingAttr sharding,
                                 const Twine &where) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  MeshAttr mesh = meshOf(op, sharding.getMeshOrRef());
  if (!tensor || mesh.getAxes().empty())
    return type;
  SmallVector<int64_t> shape(tensor.getShape());
  for (auto [d, dim] : llvm::enumerate(sharding.getDimShardings())) {
    int64_t parts = 1;
    AxisRefAttr before;
    for (AxisRefAttr axis : dim.getAxes()) {
      bool manual = llvm::any_of(
          op.getManualAxes().getValue(),
          [&](StringAttr manualAxis) { return manualAxis == axis.getName(); });
      if (!manual) {
        before = axis;
        continue;
      }
      if (before)
        return op.emitOpError()
               << where << ": dim " << d << " is cut over manual axis '"
               << axis.getName() << "' after '" << before.getName()
               << "', which is not manual; manual axes come first";
      parts *= partOf(mesh, axis)->size;
    }
    if (mlir::ShapedType::isDynamic(shape[d]))
      continue;
    if (shape[d] % parts != 0)
      return op.emitOpError() << where << ": dim " << d << " of size "
                              << shape[d] << " is cut over manual axes into "
                              << parts << " parts, which are not equal";
    shape[d] /= parts;
  }
  return Type(RankedTensorType::get(shape, tensor.getElementType()));
}

static LogicalResult verifyEnds(ManualComputationOp op, TypeRange outer,
                                TypeRange inner,
                                TensorShardingPerValueAttr shardings,
                                StringRef role) {
  if (outer.size() != inner.size())
    return op.emitOpError("has ") << outer.size() << " " << role
                                  << "s, but its body has " << inner.size();
  for (size_t i = 0; i < outer.size(); ++i) {
    std::string where = (role + " #" + Twine(i)).str();
    auto local = localType(op, outer[i], shardings.getShardings()[i], where);
    if (failed(local))
      return failure();
    if (*local != inner[i])
      return op.emitOpError()
             << where << " is a " << outer[i] << ", so a " << *local
             << " on each device, but the body has a " << inner[i];
  }
  return success();
}

LogicalResult ManualComputationOp::verifyRegions() {
  for (StringAttr axis : getManualAxes().getValue())
    if (auto around = binderOf(*this, axis.getValue()))
      return (emitOpError("axis '")
              << axis.getValue()
              << "' is manual here and in a manual computation around this one")
                 .attachNote(around.getLoc())
             << "the computation around";
  if (failed(verifyShardings(*this, getInShardings(), getOperandTypes(),
                             "operand")) ||
      failed(verifyShardings(*this, getOutShardings(), getResultTypes(),
                             "result")))
    return failure();
  // One mesh, beside those without axes.
  MeshAttr mesh;
  for (auto perValue : {getInShardings(), getOutShardings()})
    for (TensorShardingAttr sharding : perValue.getShardings()) {
      MeshAttr its = meshOf(*this, sharding.getMeshOrRef());
      if (its.getAxes().empty() || its == mesh)
        continue;
      if (mesh)
        return emitOpError("its shardings are of several meshes");
      mesh = its;
    }
  for (StringAttr axis : getManualAxes().getValue())
    if (mesh && llvm::none_of(mesh.getAxes(), [&](MeshAxisAttr meshAxis) {
          return meshAxis.getName() == axis.getValue();
        }))
      return emitOpError("there is no axis '")
             << axis.getValue() << "' in the mesh of this manual computation";
  if (failed(verifyEnds(*this, getOperandTypes(), getBody().getArgumentTypes(),
                        getInShardings(), "operand")))
    return failure();
  return verifyEnds(*this, getResultTypes(), returnedTypes(getBody()),
                    getOutShardings(), "result");
}

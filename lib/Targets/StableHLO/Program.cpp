// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk: functions, blocks, loops and branches, and what happens to an op
// whose local form is not known for what its devices hold (it runs on whole
// values, and each device keeps its part).
#include "Exporter.h"

#include "meshloom/Dialect/DTensor/Description.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Targets/StableHLO/ExportStableHLO.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/SaveAndRestore.h"

namespace meshloom {
namespace exporting {

static const Handlers &handlers() {
  static const auto &table = *new Handlers([] {
    Handlers handlers;
    addElementwise(handlers);
    addStructural(handlers);
    addMovement(handlers);
    addContractions(handlers);
    addWindows(handlers);
    addIndexing(handlers);
    addOrderAndLinalg(handlers);
    return handlers;
  }());
  return table;
}

/// Returns whether the op is elementwise, and StableHLO has the op that it
/// names.
static bool isElementwiseThere(mlir::RegisteredOperationName name) {
  auto *elementwise = name.getInterface<dtensor::ElementwiseOpInterface>();
  if (!elementwise)
    return false;
  StringRef there = elementwise->getStableHLOName();
  return mlir::RegisteredOperationName::lookup(
             there.contains('.') ? there.str() : ("stablehlo." + there).str(),
             name.getDialect().getContext())
      .has_value();
}

static Handler handlerOf(Operation *op) {
  if (Handler handler = handlers().lookup(op->getName().getStringRef()))
    return handler;
  auto info = op->getRegisteredInfo();
  return info && isElementwiseThere(*info) ? emitElementwise : nullptr;
}

Emitted Exporter::emit(Operation *op, MutableArrayRef<Operand> operands,
                       ArrayRef<Held> results) {
  Handler handler = handlerOf(op);
  if (!handler)
    return std::nullopt;
  Block *block = b.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  Emitted emitted = handler(*this, op, operands, results);
  if (emitted)
    return emitted;
  // Erases the ops that a handler built before it gave up; ids are kept, others
  // may use them.
  Value id = ids.lookup(block);
  while (!block->empty() && &block->back() != last &&
         block->back().use_empty() &&
         !(id && id.getDefiningOp() == &block->back()))
    block->back().erase();
  return std::nullopt;
}

Value Exporter::onFirstAlong(Partial partial, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> coords;
  for (int64_t device = 0; device < devices; ++device)
    coords.push_back(mesh.coords(device)[partial.axis]);
  Value first = compare(stablehlo::ComparisonDirection::EQ, lookup(coords),
                        number(b.getI32Type(), 0));
  return one("select", type,
             {broadcast(first, type.getShape()), value,
              broadcast(identity(partial.kind, type.getElementType()),
                        type.getShape())});
}

Emitted Exporter::emitWhole(Operation *op) {
  llvm::SaveAndRestore whole(onWholeValues, true);
  std::vector<Operand> operands;
  for (Value operand : op->getOperands())
    operands.push_back(gatherWhole(get(operand), operand.getType()));
  std::vector<Held> results, wholeResults;
  for (Type type : op->getResultTypes()) {
    results.push_back(Held::of(type, devices));
    wholeResults.push_back(
        Held::whole(results.back().global, results.back().element, devices));
  }
  Emitted emitted = emit(op, operands, wholeResults);
  if (!emitted)
    return emitted;
  for (auto [i, value] : llvm::enumerate(*emitted)) {
    Operand operand{value, wholeResults[i]};
    if (!fitAll(operand, results[i]))
      return std::nullopt;
    value = operand.value;
    Type type = op->getResult(i).getType();
    if (!dtensor::isShard(type))
      continue;
    // A partial result: the first device along the axis has it all.
    for (Partial partial : spmd::layoutOf(type).partial())
      value = onFirstAlong(partial, value);
  }
  return emitted;
}

void Exporter::decideTogether(dtensor::WhileOp loop, Operation *exported) {
  Type flag = loop.getConditionYield().getOperand(0).getType();
  if (!dtensor::isShard(flag))
    return;
  Layout layout = spmd::layoutOf(flag);
  bool communicates =
      layout.is_partial() &&
      exported
          ->walk([](Operation *op) {
            return isa<stablehlo::AllReduceOp, stablehlo::AllGatherOp,
                       stablehlo::AllToAllOp, stablehlo::ReduceScatterOp,
                       stablehlo::CollectivePermuteOp>(op)
                       ? mlir::WalkResult::interrupt()
                       : mlir::WalkResult::advance();
          })
          .wasInterrupted();
  if (!communicates)
    return;
  OpBuilder::InsertionGuard guard(b);
  Operation *end = exported->getRegion(0).front().getTerminator();
  b.setInsertionPoint(end);
  SmallVector<unsigned> axes;
  for (Partial partial : layout.partial())
    axes.push_back(partial.axis);
  end->setOperand(0, allReduce(end->getOperand(0), ReduceKind::Or, axes));
}

LogicalResult Exporter::exportControl(Operation *op) {
  Values operands;
  SmallVector<Type> types;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  for (Type type : op->getResultTypes())
    types.push_back(Held::of(type, devices).type());
  Operation *exported = this->op(isa<dtensor::WhileOp>(op) ? "while" : "case",
                                 types, operands, {}, op->getNumRegions());
  for (auto [from, to] : llvm::zip(op->getRegions(), exported->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    Block *block = b.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      set(argument, block->addArgument(
                        Held::of(argument.getType(), devices).type(), loc));
    if (failed(exportBlock(from.front())))
      return failure();
  }
  if (auto loop = dyn_cast<dtensor::WhileOp>(op))
    decideTogether(loop, exported);
  for (auto [from, to] : llvm::zip(op->getResults(), exported->getResults()))
    set(from, to);
  return success();
}

Values Exporter::callByName(Operation *op, ArrayRef<Operand> operands,
                            ArrayRef<Held> results) {
  Values values;
  SmallVector<Type> types;
  for (const Operand &operand : operands)
    values.push_back(operand.value);
  for (const Held &result : results)
    types.push_back(result.type());
  Operation *call = this->op(
      "custom_call", types, values,
      {attr("call_target_name", Attribute(op->getName().getIdentifier())),
       attr("api_version", Attribute(b.getI32IntegerAttr(1)))});
  return Values(call->getResults());
}

LogicalResult Exporter::exportOp(Operation *op) {
  loc = op->getLoc();
  if (isa<dtensor::WhileOp, dtensor::CaseOp>(op))
    return exportControl(op);
  if (auto collective = dyn_cast<spmd::CollectiveOpInterface>(op))
    return emitCollective(collective);
  if (isa<dtensor::YieldOp, mlir::func::ReturnOp>(op)) {
    Values values;
    for (Value operand : op->getOperands())
      values.push_back(get(operand));
    if (isa<dtensor::YieldOp>(op))
      this->op("return", {}, values);
    else
      b.create<mlir::func::ReturnOp>(loc, values);
    return success();
  }
  std::vector<Operand> operands;
  std::vector<Held> results;
  bool local = true;
  for (Value operand : op->getOperands())
    operands.push_back({get(operand), Held::of(operand.getType(), devices)});
  for (Type type : op->getResultTypes())
    results.push_back(Held::of(type, devices));
  // A partial constant or counter would count once a device.
  if (op->getNumOperands() == 0)
    for (Type type : op->getResultTypes())
      local &= !dtensor::isShard(type) || !spmd::layoutOf(type).is_partial();
  Emitted emitted = local ? emit(op, operands, results) : std::nullopt;
  // Nothing is sent where the program itself runs.
  if (!emitted && describes && op->getNumRegions() == 0)
    emitted = callByName(op, operands, results);
  if (!emitted && handlerOf(op)) {
    emitted = emitWhole(op);
    if (emitted && local)
      op->emitWarning("runs on whole values in StableHLO: the part of one "
                      "device is not a plain local op");
  }
  if (!emitted) {
    InFlightDiagnostic diagnostic =
        op->emitError("cannot be exported to StableHLO: ")
        << op->getName().getStringRef() << " on (";
    llvm::interleaveComma(op->getOperandTypes(), diagnostic);
    diagnostic << ") -> (";
    llvm::interleaveComma(op->getResultTypes(), diagnostic);
    diagnostic << ")";
    if (StringRef why = whyNotExported(op->getName()); !why.empty())
      diagnostic << ": " << why;
    return diagnostic;
  }
  for (auto [i, value] : llvm::enumerate(*emitted)) {
    if (value.getType() != results[i].type())
      return op->emitError("becomes ")
             << value.getType() << " in StableHLO, not " << results[i].type();
    set(op->getResult(i), value);
  }
  return success();
}

LogicalResult Exporter::exportBlock(Block &block) {
  for (Operation &op : block)
    if (failed(exportOp(&op)))
      return failure();
  return success();
}

/// `meshloom.shape`, `meshloom.boxes` and, where it is partial,
/// `meshloom.partial` of an argument or result.
static DictionaryAttr partsAttr(OpBuilder &b, const Held &held, Type type,
                                DictionaryAttr old) {
  int64_t devices = held.rank() == 0 ? 1 : held.ranges[0].size();
  SmallVector<int64_t> bounds;
  for (int64_t device = 0; device < devices; ++device)
    for (unsigned dim = 0; dim < held.rank(); ++dim)
      bounds.append(
          {held.ranges[dim][device].begin, held.ranges[dim][device].end});
  auto boxes = RankedTensorType::get({devices, held.rank(), 2}, b.getI64Type());
  SmallVector<NamedAttribute> attrs{
      b.getNamedAttr("meshloom.boxes",
                     DenseElementsAttr::get(boxes, ArrayRef<int64_t>(bounds))),
      b.getNamedAttr("meshloom.shape", b.getI64ArrayAttr(held.global))};
  if (old)
    if (Attribute name = old.get(dtensor::nameAttr))
      attrs.push_back(b.getNamedAttr("meshloom.name", name));
  Layout layout = spmd::layoutOf(type);
  SmallVector<NamedAttribute> kinds;
  for (Partial partial : layout.partial())
    kinds.push_back(b.getNamedAttr(layout.mesh().axis_names()[partial.axis],
                                   b.getStringAttr(name(partial.kind))));
  if (!kinds.empty())
    attrs.push_back(
        b.getNamedAttr("meshloom.partial", b.getDictionaryAttr(kinds)));
  return b.getDictionaryAttr(attrs);
}

LogicalResult Exporter::exportFunction(mlir::func::FuncOp function) {
  for (auto [role, types] : {std::pair{"argument", function.getArgumentTypes()},
                             std::pair{"result", function.getResultTypes()}})
    for (auto [i, type] : llvm::enumerate(types)) {
      if (!isa<RankedTensorType>(type))
        return function.emitError() << role << " #" << i << " is not a tensor";
      if (!dtensor::isShard(type))
        return function.emitError()
               << role << " #" << i
               << " is not a shard: run --dtensor-partition first";
    }
  SmallVector<Type> arguments, results;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    Held held = Held::of(type, devices);
    arguments.push_back(held.type());
    argumentAttrs.push_back(partsAttr(b, held, function.getArgumentTypes()[i],
                                      function.getArgAttrDict(i)));
  }
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    Held held = Held::of(type, devices);
    results.push_back(held.type());
    resultAttrs.push_back(partsAttr(b, held, function.getResultTypes()[i],
                                    function.getResultAttrDict(i)));
  }
  b.setInsertionPoint(function);
  auto exported = b.create<mlir::func::FuncOp>(
      function.getLoc(), function.getName(),
      mlir::FunctionType::get(b.getContext(), arguments, results));
  exported.setVisibility(function.getVisibility());
  // A variable's new value may take the memory of the old one.
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto alias =
            function.getArgAttrOfType<IntegerAttr>(i, dtensor::aliasAttr))
      if (uint64_t(alias.getInt()) < function.getNumResults() &&
          function.getResultTypes()[alias.getInt()] ==
              function.getArgumentTypes()[i]) {
        mlir::NamedAttrList attributes(argumentAttrs[i]);
        attributes.set("tf.aliasing_output",
                       b.getI32IntegerAttr(int32_t(alias.getInt())));
        argumentAttrs[i] = attributes.getDictionary(b.getContext());
      }
  exported.setAllArgAttrs(argumentAttrs);
  exported.setAllResultAttrs(resultAttrs);
  b.setInsertionPointToStart(exported.addEntryBlock());
  for (auto [from, to] :
       llvm::zip(function.getArguments(), exported.getArguments()))
    set(from, to);
  if (failed(exportBlock(function.getBody().front()))) {
    exported.erase();
    return failure();
  }
  function.erase();
  return success();
}

} // namespace exporting

StringRef whyNotExported(mlir::OperationName name) {
  StringRef op = name.getStringRef();
  if (llvm::is_contained(ArrayRef<StringRef>{"dtensor.lu", "dtensor.svd",
                                             "dtensor.eig", "dtensor.schur",
                                             "dtensor.pivoted_qr",
                                             "dtensor.hessenberg",
                                             "dtensor.tridiagonal_solve"},
                         op))
    return "StableHLO has no such op, and XLA's compilers expand no call of "
           "it; Meshloom's own devices (--platform=cpu) run it";
  return "";
}

bool isExported(mlir::RegisteredOperationName name) {
  return exporting::handlers().contains(name.getStringRef()) ||
         exporting::isElementwiseThere(name);
}

LogicalResult exportStableHLO(ModuleOp module) {
  Mesh mesh = dtensor::meshOf(module).getMesh();
  Builder b(module.getContext());
  for (auto function :
       llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>())) {
    if (function.isExternal())
      continue;
    exporting::Exporter exporter(module.getContext(), mesh,
                                 module->hasAttr(dtensor::describeAttr));
    if (failed(exporter.exportFunction(function)))
      return failure();
  }
  SmallVector<StringAttr> dropped;
  for (NamedAttribute attribute : module->getAttrs())
    if (attribute.getName().strref().starts_with("dtensor."))
      dropped.push_back(attribute.getName());
  for (StringAttr name : dropped)
    module->removeAttr(name);
  module->setAttr("mhlo.num_partitions", b.getI32IntegerAttr(1));
  module->setAttr("mhlo.num_replicas", b.getI32IntegerAttr(mesh.size()));
  return success();
}

namespace {
class SPMDToStableHLOPass
    : public mlir::PassWrapper<SPMDToStableHLOPass,
                               mlir::OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SPMDToStableHLOPass)
  StringRef getArgument() const override { return "spmd-to-stablehlo"; }
  StringRef getDescription() const override {
    return "Turn partitioned functions into one device's StableHLO";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<dtensor::DTensorDialect, spmd::SPMDDialect>();
    registerStableHLODialects(registry);
  }
  void runOnOperation() override {
    if (failed(exportStableHLO(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<mlir::Pass> createSPMDToStableHLO() {
  return std::make_unique<SPMDToStableHLOPass>();
}

void registerSPMDToStableHLO() {
  mlir::registerPass([] { return createSPMDToStableHLO(); });
}

} // namespace meshloom

// Shardy's annotations as text, in `mhlo.frontend_attributes`: so they outlive
// what knows nothing of Shardy, in programs that JAX exported in 2025 and in
// those of torch_xla. They are written as the annotations that they stand for,
//
//   module attributes {xla.sdy.meshes = "{mesh = #sdy.mesh<[...]>}"}
//   %0 = stablehlo.sine %a {xla.sdy.sharding = "#sdy.sharding_per_value<...>"}
//
// as `sdy.mesh`, `sdy.sharding` and `sdy.manual_computation`. As XLA does, what
// `mhlo.sharding` says beside them is dropped.
#include "Prepare.h"
#include "Shardings.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

static constexpr StringRef frontendName = "mhlo.frontend_attributes";
static constexpr StringRef enterTarget = "xla.sdy.GlobalToLocalShape";
static constexpr StringRef leaveTarget = "xla.sdy.LocalToGlobalShape";

/// What `attributes` say of `name` beside what they are about, or null.
static StringAttr frontendText(DictionaryAttr attributes, StringRef name) {
  auto texts = attributes ? attributes.getAs<DictionaryAttr>(frontendName)
                          : DictionaryAttr();
  return texts ? texts.getAs<StringAttr>(name) : StringAttr();
}

/// The text `name` of `attributes` as the attribute that it is; null where
/// there is none.
template <typename T>
static FailureOr<T> frontend(Location loc, DictionaryAttr attributes,
                             StringRef name) {
  StringAttr text = frontendText(attributes, name);
  if (!text)
    return T();
  // Quotes were escaped once more until 2025.
  std::string plain;
  for (char c : text.getValue())
    if (c != '\\')
      plain += c;
  T parsed;
  {
    // Errors of the text itself have no place in the file.
    mlir::ScopedDiagnosticHandler quiet(
        loc.getContext(), [](mlir::Diagnostic &) { return success(); });
    parsed = dyn_cast_or_null<T>(mlir::parseAttribute(plain, loc.getContext()));
  }
  if (parsed)
    return parsed;
  return mlir::emitError(loc)
         << "cannot read '" << plain << "', which is " << name;
}

static stablehlo::CustomCallOp callOf(Operation *op, StringRef target) {
  auto call = dyn_cast_or_null<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == target ? call
                                                    : stablehlo::CustomCallOp();
}

static bool saysSharding(DictionaryAttr attributes) {
  auto texts = attributes ? attributes.getAs<DictionaryAttr>(frontendName)
                          : DictionaryAttr();
  return texts && llvm::any_of(texts, [](NamedAttribute text) {
           return text.getName().getValue().starts_with("xla.sdy.");
         });
}

bool importer::holdsFrontendShardings(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    auto func = dyn_cast<FuncOp>(op);
    bool found = saysSharding(op->getDiscardableAttrDictionary());
    for (unsigned i = 0; func && i < func.getNumArguments(); ++i)
      found |= saysSharding(func.getArgAttrDict(i));
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

static LogicalResult declareMeshes(ModuleOp module) {
  auto meshes = frontend<DictionaryAttr>(module.getLoc(),
                                         module->getDiscardableAttrDictionary(),
                                         "xla.sdy.meshes");
  if (failed(meshes) || !*meshes)
    return meshes;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  for (NamedAttribute mesh : *meshes) {
    auto axes = dyn_cast<sdy::MeshAttr>(mesh.getValue());
    if (!axes)
      return module.emitError("xla.sdy.meshes has ")
             << mesh.getValue() << ", which is no mesh";
    if (!module.lookupSymbol(mesh.getName()))
      b.create<sdy::MeshOp>(module.getLoc(), mesh.getName(), axes);
  }
  return success();
}

/// Arguments say their sharding themselves, results by the call that gives
/// them.
static LogicalResult annotateSignature(FuncOp func) {
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto sharding = frontend<sdy::TensorShardingAttr>(
        func.getArgument(i).getLoc(), func.getArgAttrDict(i),
        "xla.sdy.sharding");
    if (failed(sharding))
      return failure();
    func.removeArgAttr(i, gspmdName);
    if (*sharding)
      func.setArgAttr(i, shardyName, *sharding);
  }
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    func.removeResultAttr(i,
                          mlir::StringAttr::get(func.getContext(), gspmdName));
  return success();
}

static LogicalResult annotate(Operation *op) {
  auto shardings = frontend<sdy::TensorShardingPerValueAttr>(
      op->getLoc(), op->getDiscardableAttrDictionary(), "xla.sdy.sharding");
  if (failed(shardings))
    return failure();
  op->removeAttr(gspmdName);
  if (!*shardings)
    return success();
  auto call = callOf(op, "xla.sdy.FuncResultSharding");
  if (!call || call.getInputs().size() != 1 || call->getNumResults() != 1 ||
      (*shardings).getShardings().size() != 1) {
    op->setAttr(shardyName, *shardings);
    return success();
  }
  for (mlir::OpOperand &use : call->getResult(0).getUses())
    if (auto func = dyn_cast<FuncOp>(use.getOwner()->getParentOp());
        func && isa<mlir::func::ReturnOp>(use.getOwner()))
      func.setResultAttr(use.getOperandNumber(), shardyName,
                         (*shardings).getShardings().front());
  call->getResult(0).replaceAllUsesWith(call.getInputs()[0]);
  call.erase();
  return success();
}

/// `leave`, of the results of a call of what was entered, as one op.
static LogicalResult writeAsManualComputation(stablehlo::CustomCallOp leave) {
  auto call = leave.getInputs().empty()
                  ? mlir::func::CallOp()
                  : leave.getInputs()[0].getDefiningOp<mlir::func::CallOp>();
  auto module = leave->getParentOfType<ModuleOp>();
  auto body = call ? module.lookupSymbol<FuncOp>(call.getCallee()) : FuncOp();
  if (!body || body.isExternal() ||
      leave.getInputs() != mlir::ValueRange(call.getResults()))
    return leave.emitError("expected the results of one call of a function");
  if (body->isAncestor(leave))
    return leave.emitError("'") << body.getSymName() << "' calls itself";
  stablehlo::CustomCallOp enter;
  if (!call.getOperands().empty()) {
    enter = callOf(call.getOperand(0).getDefiningOp(), enterTarget);
    if (!enter || call.getOperands() != mlir::ValueRange(enter->getResults()))
      return call.emitError("expected operands of one call of ") << enterTarget;
  }
  // All three at the call, or each where it is used.
  DictionaryAttr atCall = call->getDiscardableAttrDictionary();
  bool isAtCall = bool(frontendText(atCall, "xla.sdy.manual_axes"));
  DictionaryAttr atLeave =
      isAtCall ? atCall : leave->getDiscardableAttrDictionary();
  DictionaryAttr atEnter =
      isAtCall || !enter ? atCall : enter->getDiscardableAttrDictionary();
  using PerValue = sdy::TensorShardingPerValueAttr;
  auto in = frontend<PerValue>(call.getLoc(), atEnter, "xla.sdy.in_shardings");
  auto out =
      frontend<PerValue>(call.getLoc(), atLeave, "xla.sdy.out_shardings");
  auto axes = frontend<sdy::ManualAxesAttr>(call.getLoc(), atLeave,
                                            "xla.sdy.manual_axes");
  if (failed(in) || failed(out) || failed(axes))
    return failure();
  if (!*out || !*axes || (enter && !*in))
    return call.emitError("expected xla.sdy.in_shardings, "
                          "xla.sdy.out_shardings and xla.sdy.manual_axes");
  OpBuilder b(leave);
  auto manual = b.create<sdy::ManualComputationOp>(
      call.getLoc(), leave->getResultTypes(),
      enter ? mlir::ValueRange(enter.getInputs()) : mlir::ValueRange(),
      *in ? *in : PerValue::get(b.getContext(), {}), *out, *axes);
  mlir::IRMapping mapping;
  body.getBody().cloneInto(&manual.getBody(), mapping);
  Operation *end = manual.getBody().back().getTerminator();
  b.setInsertionPoint(end);
  b.create<sdy::ReturnOp>(end->getLoc(), end->getOperands());
  end->erase();
  leave->replaceAllUsesWith(manual.getResults());
  leave.erase();
  if (call.use_empty())
    call.erase();
  if (enter && enter.use_empty())
    enter.erase();
  if (mlir::SymbolTable::symbolKnownUseEmpty(body, module))
    body.erase();
  return success();
}

LogicalResult importer::readFrontendShardings(ModuleOp module) {
  if (!holdsFrontendShardings(module))
    return success();
  module.getContext()->loadDialect<sdy::SdyDialect>();
  if (failed(declareMeshes(module)))
    return failure();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    auto func = dyn_cast<FuncOp>(op);
    if (failed(func ? annotateSignature(func) : annotate(op)))
      return failure();
  }
  while (true) {
    stablehlo::CustomCallOp leave;
    module.walk([&](stablehlo::CustomCallOp call) {
      leave = callOf(call, leaveTarget);
      return leave ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
    });
    if (!leave)
      return success();
    if (failed(writeAsManualComputation(leave)))
      return failure();
  }
}

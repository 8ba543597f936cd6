// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shardy's annotations as text, in `mhlo.frontend_attributes`: so they outlive
// what knows nothing of Shardy, in programs that JAX exported in 2025 and in
// those of torch_xla. They are written as the annotations that they stand for,
//
//   module attributes {xla.sdy.meshes = "{mesh = #sdy.mesh<[...]>}"}
//   %0 = stablehlo.sine %a {xla.sdy.sharding = "#sdy.sharding_per_value<...>"}
//
// as `sdy.mesh`, `sdy.sharding`, `sdy.manual_computation` and so on. As XLA
// does, what `mhlo.sharding` says beside them is dropped.
#include "Prepare.h"
#include "Shardings.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

static constexpr StringRef frontendName = "mhlo.frontend_attributes";
static constexpr StringRef enterTarget = "xla.sdy.GlobalToLocalShape";
static constexpr StringRef leaveTarget = "xla.sdy.LocalToGlobalShape";
static constexpr StringRef ruleName = "xla.sdy.sharding_rule";

/// All that `attributes` say beside what they are about, or null.
static DictionaryAttr frontendTexts(DictionaryAttr attributes) {
  return attributes ? attributes.getAs<DictionaryAttr>(frontendName)
                    : DictionaryAttr();
}

/// Returns the text among them that is called `name`, or null.
static StringAttr frontendText(DictionaryAttr attributes, StringRef name) {
  DictionaryAttr texts = frontendTexts(attributes);
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

/// Returns whether `isSought` of the name of one of Shardy's texts in `module`.
static bool holdsText(ModuleOp module,
                      llvm::function_ref<bool(StringRef)> isSought) {
  auto found = [&](DictionaryAttr attributes) {
    DictionaryAttr texts = frontendTexts(attributes);
    return texts && llvm::any_of(texts, [&](NamedAttribute text) {
             StringRef name = text.getName();
             return name.starts_with("xla.sdy.") && isSought(name);
           });
  };
  auto result = module.walk([&](Operation *op) {
    auto func = dyn_cast<FuncOp>(op);
    bool here = found(op->getDiscardableAttrDictionary());
    for (unsigned i = 0; func && i < func.getNumArguments(); ++i)
      here |= found(func.getArgAttrDict(i));
    return here ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool importer::holdsFrontendShardings(ModuleOp module) {
  return holdsText(module, [](StringRef) { return true; });
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
             << mesh.getValue() << ", which is not a mesh";
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

/// Calls that stand for ops of Shardy.
static LogicalResult writeAsOp(stablehlo::CustomCallOp call) {
  const StringRef target = call.getCallTargetName();
  const bool isGroup = target == "xla.sdy.ShardingGroup";
  if (!isGroup && target != "xla.sdy.PropagationBarrier")
    return success();
  const StringRef name =
      isGroup ? "xla.sdy.sharding_group_id" : "xla.sdy.allowed_direction";
  auto text = frontend<mlir::IntegerAttr>(
      call.getLoc(), call->getDiscardableAttrDictionary(), name);
  if (failed(text))
    return failure();
  // The number has any type and width, as the text has it.
  std::optional<int64_t> number =
      *text ? (*text).getValue().trySExtValue() : std::nullopt;
  if (!number || call.getInputs().size() != 1)
    return call.emitError("expected one operand, and a number as ")
           << name << " in " << frontendName;
  OpBuilder b(call);
  Value input = call.getInputs()[0];
  if (isGroup) {
    if (!call->use_empty())
      return call.emitError("expected a sharding group whose result is unused");
    b.create<sdy::ShardingGroupOp>(call.getLoc(), input,
                                   b.getI64IntegerAttr(*number));
  } else {
    auto direction = *number >= 0 && *number <= 3
                         ? sdy::symbolizePropagationDirection(uint32_t(*number))
                         : std::nullopt;
    if (!direction || call->getNumResults() != 1 ||
        call->getResult(0).getType() != input.getType())
      return call.emitError("expected an ")
             << name << " of 0 to 3 and a result like the operand";
    call->getResult(0).replaceAllUsesWith(b.create<sdy::PropagationBarrierOp>(
        call.getLoc(), input.getType(), input, *direction));
  }
  call.erase();
  return success();
}

namespace {
/// shard_map as a call of a function between calls that enter and leave what is
/// manual, written as one op. Each function is gone through once, those that it
/// calls so before it.
class ManualComputations {
public:
  explicit ManualComputations(ModuleOp module)
      : module(module), functions(module) {}

  LogicalResult write() {
    for (FuncOp func : llvm::to_vector(module.getOps<FuncOp>()))
      if (failed(writeIn(func)))
        return failure();
    llvm::DenseSet<mlir::StringAttr> used;
    if (auto uses = mlir::SymbolTable::getSymbolUses(module))
      for (const mlir::SymbolTable::SymbolUse &use : *uses)
        used.insert(use.getSymbolRef().getRootReference());
    for (FuncOp body : bodies)
      if (!used.contains(body.getSymNameAttr()))
        functions.erase(body);
    return success();
  }

private:
  LogicalResult writeIn(FuncOp func) {
    if (!states.try_emplace(func, State::Begun).second)
      return success();
    SmallVector<stablehlo::CustomCallOp> leaves;
    func.walk([&](stablehlo::CustomCallOp call) {
      if (call.getCallTargetName() == leaveTarget)
        leaves.push_back(call);
    });
    for (stablehlo::CustomCallOp leave : leaves)
      if (failed(writeAsOne(leave)))
        return failure();
    states[func] = State::Done;
    return success();
  }

  /// `leave`, of the results of a call of what was entered.
  LogicalResult writeAsOne(stablehlo::CustomCallOp leave) {
    auto call = leave.getInputs().empty()
                    ? mlir::func::CallOp()
                    : leave.getInputs()[0].getDefiningOp<mlir::func::CallOp>();
    auto body = call ? functions.lookup<FuncOp>(call.getCallee()) : FuncOp();
    if (!body || body.isExternal() ||
        leave.getInputs() != mlir::ValueRange(call.getResults()))
      return leave.emitError("expected the results of one call of a function");
    if (auto state = states.find(body);
        state != states.end() && state->second == State::Begun)
      return leave.emitError("'") << body.getSymName() << "' calls itself";
    if (failed(writeIn(body)))
      return failure();
    stablehlo::CustomCallOp enter;
    if (!call.getOperands().empty()) {
      enter = callOf(call.getOperand(0).getDefiningOp(), enterTarget);
      if (!enter || call.getOperands() != mlir::ValueRange(enter->getResults()))
        return call.emitError("expected operands of one call of ")
               << enterTarget;
    }
    // All three at the call, or each where it is used.
    DictionaryAttr atCall = call->getDiscardableAttrDictionary();
    bool isAtCall = bool(frontendText(atCall, "xla.sdy.manual_axes"));
    DictionaryAttr atLeave =
        isAtCall ? atCall : leave->getDiscardableAttrDictionary();
    DictionaryAttr atEnter =
        isAtCall || !enter ? atCall : enter->getDiscardableAttrDictionary();
    using PerValue = sdy::TensorShardingPerValueAttr;
    auto in =
        frontend<PerValue>(call.getLoc(), atEnter, "xla.sdy.in_shardings");
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
    bodies.insert(body);
    return success();
  }

  enum class State : uint8_t { Begun, Done };
  ModuleOp module;
  mlir::SymbolTable functions;
  llvm::DenseMap<FuncOp, State> states;
  llvm::SetVector<FuncOp> bodies;
};
} // namespace

LogicalResult importer::readFrontendShardings(ModuleOp module) {
  if (!holdsFrontendShardings(module))
    return success();
  module.getContext()->loadDialect<sdy::SdyDialect>();
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) { ops.push_back(op); });
  // Rules of custom calls stand beside GSPMD's annotations too.
  for (Operation *op : ops) {
    auto rule = frontend<sdy::OpShardingRuleAttr>(
        op->getLoc(), op->getDiscardableAttrDictionary(), ruleName);
    if (failed(rule))
      return failure();
    if (*rule)
      op->setAttr("sdy.sharding_rule", *rule);
  }
  if (!holdsText(module, [](StringRef name) { return name != ruleName; }))
    return success();
  if (failed(declareMeshes(module)))
    return failure();
  for (Operation *op : ops) {
    auto func = dyn_cast<FuncOp>(op);
    if (failed(func ? annotateSignature(func) : annotate(op)))
      return failure();
  }
  SmallVector<stablehlo::CustomCallOp> calls;
  module.walk([&](stablehlo::CustomCallOp call) { calls.push_back(call); });
  for (stablehlo::CustomCallOp call : calls)
    if (failed(writeAsOp(call)))
      return failure();
  return ManualComputations(module).write();
}

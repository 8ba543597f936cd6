// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions: arguments and results with their layouts and names, and
// importStableHLO(), which replaces a module's functions.
#include "meshloom/Dialect/DTensor/Donated.h"
#include "meshloom/Dialect/DTensor/Notes.h"
#include "meshloom/Dialect/StableHLO/Mpmd.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"

#include "Importer.h"
#include "Prepare.h"

#include "meshloom/Dialect/DTensor/OpenSignature.h"
#include "meshloom/Dialect/DTensor/WrittenLayouts.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"

#include "mlir/Pass/Pass.h"

using namespace meshloom;
using namespace meshloom::importer;
using mlir::func::FuncOp;

/// The name of an argument: JAX gives it as an attribute or as its location.
static StringAttr nameOf(BlockArgument argument, DictionaryAttr attributes) {
  const StringRef names[] = {dtensor::nameAttr, "jax.arg_info",
                             "tf_saved_model.index_path"};
  for (StringRef name : names)
    if (attributes)
      if (auto attribute = dyn_cast_or_null<StringAttr>(attributes.get(name)))
        return attribute;
  StringAttr found;
  argument.getLoc()->walk([&](Location loc) {
    if (auto named = dyn_cast<mlir::NameLoc>(loc))
      found = named.getName();
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found && !found.empty() ? found : StringAttr();
}

static RankedTensorType withLayout(RankedTensorType type,
                                   dtensor::LayoutAttr layout) {
  return layout ? RankedTensorType::get(type.getShape(), type.getElementType(),
                                        layout)
                : type;
}

namespace {
/// One tensor of a function's arguments or results, which may be tuples.
struct Leaf {
  unsigned number;  ///< of the argument or result
  std::string path; ///< ".1.0" in a tuple, or empty
  RankedTensorType type;
  Attribute sharding; ///< or null
};
} // namespace

static void addPaths(Type type, const std::string &path,
                     SmallVectorImpl<std::string> &paths) {
  auto tuple = dyn_cast<mlir::TupleType>(type);
  if (!tuple)
    return paths.push_back(path);
  for (auto [i, element] : llvm::enumerate(tuple.getTypes()))
    addPaths(element, path + "." + std::to_string(i), paths);
}

/// Appends the tensors of `type`, a value whose attributes are `attributes`.
static LogicalResult addLeaves(Location loc, Type type, unsigned number,
                               DictionaryAttr attributes,
                               SmallVectorImpl<Leaf> &leaves) {
  if (failed(checkType(loc, type)))
    return failure();
  SmallVector<RankedTensorType> tensors;
  SmallVector<std::string> paths;
  flatten(type, tensors);
  addPaths(type, "", paths);
  Attribute sharding = shardingIn(attributes);
  SmallVector<Attribute> perLeaf(tensors.size());
  if (!isa<mlir::TupleType>(type) || tensors.size() == 1) {
    perLeaf.assign(tensors.size(), sharding);
  } else if (auto text = dyn_cast_or_null<StringAttr>(sharding)) {
    auto parts = splitGspmdTuple(text.getValue().str());
    if (!parts)
      return mlir::emitError(loc) << parts.error().message();
    if (parts->size() != tensors.size())
      return mlir::emitError(loc)
             << "a tuple of " << tensors.size() << " tensors has "
             << parts->size() << " shardings";
    for (auto [part, its] : llvm::zip_equal(*parts, perLeaf))
      its = StringAttr::get(loc.getContext(), part);
  }
  for (auto [tensor, path, its] : llvm::zip_equal(tensors, paths, perLeaf))
    leaves.push_back({number, path, tensor, its});
  return success();
}

/// "f.mlir:3:4", or nothing.
static std::string positionText(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto position = dyn_cast<mlir::FileLineColLoc>(inner);
    if (!position)
      return mlir::WalkResult::advance();
    text = (position.getFilename().getValue() + ":" +
            Twine(position.getLine()) + ":" + Twine(position.getColumn()))
               .str();
    return mlir::WalkResult::interrupt();
  });
  return text;
}

void Importer::noteOnlyDevice(const ValueSharding &sharding) {
  std::string position = positionText(b.getLoc());
  notes.push_back((position.empty() ? "a value" : "a value at " + position) +
                  " is to be on device " +
                  std::to_string(*sharding.onlyDevice) +
                  " alone; it is laid out as if nothing was said");
}

dtensor::LayoutAttr Importer::writtenAs(const std::string &which,
                                        Attribute annotation, Type type) {
  dtensor::LayoutAttr layout = dtensor::layoutAttrOf(type);
  std::optional<Layout> written =
      layout ? shardings.written(annotation) : std::nullopt;
  if (!written || written->mesh() == layout.getMesh())
    return {};
  SmallVector<int64_t> dims = dtensor::globalShape(type);
  if (haveSameShards(*written, layout.getLayout(),
                     Shape(dims.begin(), dims.end())))
    return dtensor::LayoutAttr::get(b.getContext(), *written);
  notes.push_back(
      dtensor::noteOfOtherBlocks(which, layout.getLayout(), *written));
  return {};
}

namespace {
/// Imports one function: its arguments, its body, its results.
class FunctionImport {
public:
  FunctionImport(Importer &importer, FuncOp func)
      : im(importer), b(importer.b), func(func) {}

  /// Null after a failure.
  FuncOp run() {
    if (failed(findLeaves()) || failed(decideArguments()))
      return {};
    result = FuncOp::create(func.getLoc(), func.getName(),
                            b.getFunctionType(argumentTypes, {}));
    Imported values = importBody();
    if (failed(values) || failed(returnValues(*values)))
      return {};
    result->setFunctionType(b.getFunctionType(argumentTypes, resultTypes));
    if (failed(im.verifyNewOps(0, success())))
      return {};
    keepAttributes();
    result->setAllArgAttrs(argumentAttributes);
    result->setAllResultAttrs(resultAttributes);
    result->setVisibility(func.getVisibility());
    return result.release();
  }

private:
  LogicalResult findLeaves() {
    for (BlockArgument argument : func.getArguments()) {
      unsigned number = argument.getArgNumber();
      if (failed(addLeaves(argument.getLoc(), argument.getType(), number,
                           func.getArgAttrDict(number), inputs)))
        return failure();
    }
    for (auto [i, type] : llvm::enumerate(func.getResultTypes()))
      if (failed(addLeaves(func.getLoc(), type, i, func.getResultAttrDict(i),
                           outputs)))
        return failure();
    return success();
  }

  /// The types of the arguments, with their layouts, and their attributes.
  LogicalResult decideArguments() {
    for (const Leaf &leaf : inputs) {
      BlockArgument argument = func.getArgument(leaf.number);
      dtensor::LayoutAttr layout;
      if (leaf.sharding) {
        b.setLoc(argument.getLoc());
        auto sharding =
            im.shardings.of(argument.getLoc(), leaf.sharding, leaf.type);
        if (failed(sharding))
          return failure();
        auto decided = argumentLayout(im, *sharding);
        if (failed(decided))
          return failure();
        layout = *decided;
      }
      argumentTypes.push_back(withLayout(leaf.type, layout));
      SmallVector<NamedAttribute> ofArgument;
      StringAttr name = nameOf(argument, func.getArgAttrDict(leaf.number));
      if (name) {
        name = b.getStringAttr(name.getValue() + leaf.path);
        ofArgument.push_back(b.getNamedAttr(dtensor::nameAttr, name));
      }
      std::string which =
          "argument " +
          (name ? "'" + name.str() + "'" : "#" + std::to_string(leaf.number));
      if (Attribute written =
              im.writtenAs(which, leaf.sharding, argumentTypes.back()))
        ofArgument.push_back(b.getNamedAttr(dtensor::writtenAttr, written));
      addDevices(leaf, ofArgument);
      argumentAttributes.push_back(b.getDictionaryAttr(ofArgument));
    }
    return success();
  }

  Imported importBody() {
    Block *entry = result->addEntryBlock();
    for (auto [argument, leaf] : llvm::zip_equal(entry->getArguments(), inputs))
      argument.setLoc(func.getArgument(leaf.number).getLoc());
    b.setInsertionPointToStart(entry);
    SmallVector<Value> arguments(entry->getArguments());
    for (auto [leaf, value] : llvm::zip_equal(inputs, arguments)) {
      if (!leaf.sharding || dtensor::layoutAttrOf(value.getType()))
        continue;
      b.setLoc(value.getLoc());
      auto wished = constrain(im, value, leaf.sharding);
      if (failed(wished))
        return failure();
      value = *wished;
    }
    b.setLoc(func.getLoc());
    return im.importInline(func.getBody(), arguments);
  }

  /// Returns `values`, laid out as the function's results say.
  LogicalResult returnValues(MutableArrayRef<Value> values) {
    for (auto [leaf, value] : llvm::zip_equal(outputs, values)) {
      b.setLoc(func.getLoc());
      if (!b.lanesOf(value).empty())
        return im.error("result #")
               << leaf.number
               << " is different on each device: it comes from a manual "
                  "computation that does not end";
      auto laidOut = layOutResult(leaf, value);
      if (failed(laidOut))
        return failure();
      value = *laidOut;
      resultTypes.push_back(value.getType());
      resultAttributes.push_back(attributesOfResult(leaf, value.getType()));
    }
    b.create<mlir::func::ReturnOp>(func.getLoc(), values);
    return success();
  }

  FailureOr<Value> layOutResult(const Leaf &leaf, Value value) {
    // A wish that leaves everything open adds nothing.
    if (leaf.sharding)
      return constrain(im, value, leaf.sharding);
    // A result that nobody annotated is never partial.
    auto layout = dtensor::layoutAttrOf(value.getType());
    if (!layout || layout.getPartial().empty())
      return value;
    return Value(b.create<dtensor::ConstraintOp>(
        func.getLoc(), value,
        dtensor::LayoutAttr::get(b.getContext(),
                                 layout.getLayout().without_partial())));
  }

  void addDevices(const Leaf &leaf, SmallVectorImpl<NamedAttribute> &list) {
    if (auto devices = im.shardings.declaredDevices(leaf.sharding);
        !devices.empty())
      list.push_back(b.getNamedAttr(dtensor::devicesAttr,
                                    b.getDenseI64ArrayAttr(devices)));
  }

  DictionaryAttr attributesOfResult(const Leaf &leaf, Type type) {
    SmallVector<NamedAttribute> ofResult;
    if (Attribute written = im.writtenAs(
            "result #" + std::to_string(leaf.number), leaf.sharding, type))
      ofResult.push_back(b.getNamedAttr(dtensor::writtenAttr, written));
    addDevices(leaf, ofResult);
    DictionaryAttr attributes = func.getResultAttrDict(leaf.number);
    if (auto name = attributes ? attributes.getAs<StringAttr>("jax.result_info")
                               : StringAttr();
        name && !name.empty())
      ofResult.push_back(b.getNamedAttr(
          dtensor::nameAttr, b.getStringAttr(name.getValue() + leaf.path)));
    return b.getDictionaryAttr(ofResult);
  }

  /// The source's attributes of arguments that are one tensor each: notes on
  /// inputs, and a result that may take the argument's memory.
  void keepAttributes() {
    if (inputs.size() != func.getNumArguments() ||
        outputs.size() != func.getNumResults())
      return;
    for (auto [i, attributes] : llvm::enumerate(argumentAttributes)) {
      mlir::NamedAttrList list(attributes);
      for (StringRef name : {dtensor::bitsAttr, dtensor::inputRangeAttr})
        if (Attribute present = func.getArgAttr(inputs[i].number, name))
          list.set(name, present);
      // The argument is donated. Its memory fits if both are laid out alike.
      auto alias = func.getArgAttrOfType<IntegerAttr>(inputs[i].number,
                                                      "tf.aliasing_output");
      if (alias && alias.getValue().ult(resultTypes.size()) &&
          resultTypes[alias.getInt()] == argumentTypes[i])
        list.set(dtensor::aliasAttr, b.getI64IntegerAttr(alias.getInt()));
      else if (alias || func.getArgAttr(inputs[i].number, "jax.buffer_donor"))
        list.set(dtensor::donatedAttr, b.getUnitAttr());
      attributes = list.getDictionary(b.getContext());
    }
  }

  Importer &im;
  LaneBuilder &b;
  FuncOp func;
  mlir::OwningOpRef<FuncOp> result;
  SmallVector<Leaf> inputs, outputs;
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
};
} // namespace

FuncOp Importer::importFunction(FuncOp func) {
  notes.clear();
  groups.clear();
  b.setLoc(func.getLoc());
  FuncOp result = FunctionImport(*this, func).run();
  if (result)
    rememberMeshes(result);
  return result;
}

void Importer::rememberMeshes(FuncOp func) {
  for (const std::string &note : notes)
    dtensor::addNote(func, note);
  if (!shardings.any())
    return;
  for (const std::string &note : shardings.notesOnOrders())
    dtensor::addNote(func, note);
  SmallVector<Attribute> meshes;
  for (const Mesh &mesh : shardings.writtenMeshes())
    meshes.push_back(dtensor::MeshAttr::get(b.getContext(), mesh));
  if (!meshes.empty() &&
      (meshes.size() > 1 || meshes.front() != shardings.getMesh()))
    func->setAttr(dtensor::meshesAttr, b.getArrayAttr(meshes));
  if (auto order = shardings.deviceOrder(); !order.empty())
    func->setAttr(dtensor::devicesAttr, b.getDenseI64ArrayAttr(order));
}

bool meshloom::holdsStableHLO(ModuleOp module) {
  auto foreign = [](mlir::Dialect *dialect) {
    return isa_and_nonnull<stablehlo::StableHLODialect, chlo::CHLODialect,
                           sdy::SdyDialect, mpmd::MpmdDialect>(dialect);
  };
  auto annotated = [](DictionaryAttr attributes) {
    return attributes &&
           (attributes.contains(shardyName) || attributes.contains(gspmdName));
  };
  // Calls of functions that do nothing are all that a program may hold, or
  // arguments that it returns, of which each replica has its own.
  if (module->hasAttr("mhlo.num_partitions") ||
      module->hasAttr("mhlo.num_replicas") || holdsFrontendShardings(module))
    return true;
  auto found = module.walk([&](Operation *op) {
    if (foreign(op->getDialect()) || annotated(op->getAttrDictionary()) ||
        isa<mlir::func::CallOp>(op)) // only the importer knows calls
      return mlir::WalkResult::interrupt();
    if (auto func = dyn_cast<FuncOp>(op)) {
      for (unsigned i = 0; i < func.getNumArguments(); ++i)
        if (annotated(func.getArgAttrDict(i)))
          return mlir::WalkResult::interrupt();
      for (unsigned i = 0; i < func.getNumResults(); ++i)
        if (annotated(func.getResultAttrDict(i)))
          return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// Imports what needs no preparing (any more).
static LogicalResult importPrepared(ModuleOp module, int64_t size) {
  module.getContext()->loadDialect<dtensor::DTensorDialect>();
  auto replicas = module->getAttrOfType<IntegerAttr>("mhlo.num_replicas");
  if (replicas && replicas.getInt() > 1)
    return module.emitError("the program is for ")
           << replicas.getInt()
           << " replicas that each have values of their own (JAX's pmap); "
              "expected one program on global values (jit, shard_map)";
  // Comparators and the like, which custom calls name, are functions of
  // scalars.
  llvm::SmallDenseSet<StringRef> named;
  module.walk([&](stablehlo::CustomCallOp call) {
    if (auto computations = call.getCalledComputations())
      for (auto symbol : computations->getAsRange<mlir::FlatSymbolRefAttr>())
        named.insert(symbol.getValue());
  });
  auto isOfScalars = [&](FuncOp func) {
    return !func.isExternal() && named.contains(func.getName()) &&
           isa<stablehlo::ReturnOp>(func.getBody().back().getTerminator());
  };
  for (auto func : module.getOps<FuncOp>())
    if (!func.isExternal() && !isOfScalars(func) &&
        !isa<mlir::func::ReturnOp>(func.getBody().back().getTerminator()))
      return func.emitError("function '")
             << func.getName() << "' must end in func.return";
  auto shardings = Shardings::collect(module);
  if (failed(shardings))
    return failure();
  Importer importer(module, *shardings, size);

  SmallVector<FuncOp> old(module.getOps<FuncOp>()), imported;
  auto erase = [](ArrayRef<FuncOp> functions) {
    for (FuncOp func : functions)
      func.erase();
  };
  for (FuncOp func : old) {
    // A function that others call is inlined there.
    if (func.isExternal() || func.isPrivate() || isOfScalars(func))
      continue;
    FuncOp result = importer.importFunction(func);
    if (!result) {
      erase(imported);
      return failure();
    }
    imported.push_back(result);
  }
  for (FuncOp func : old)
    func.erase();
  for (auto mesh : llvm::make_early_inc_range(module.getOps<sdy::MeshOp>()))
    mesh.erase();
  for (FuncOp func : imported)
    module.push_back(func);
  SmallVector<NamedAttribute> functionAttributes;
  for (NamedAttribute attribute : module->getDiscardableAttrs())
    if (attribute.getName().getValue().starts_with("dtensor."))
      functionAttributes.push_back(attribute);
  module->setDiscardableAttrs(
      DictionaryAttr::get(module.getContext(), functionAttributes));
  module->setAttr(dtensor::DTensorDialect::meshAttrName, shardings->getMesh());
  module->setAttr(dtensor::openSignatureAttr,
                  mlir::UnitAttr::get(module.getContext()));
  return success();
}

/// Imports a program on one mesh; after an error some of it may be.
static LogicalResult importOnOneMesh(ModuleOp module, bool prepares) {
  auto size = inlinedSize(module);
  if (failed(size) || (prepares && failed(prepare(module))))
    return failure();
  return importPrepared(module, *size);
}

LogicalResult meshloom::importStableHLO(ModuleOp module) {
  const bool isOnMeshes = holdsFragments(module);
  if (!isOnMeshes && !needsPreparing(module))
    return importOnOneMesh(module, /*prepares=*/false);
  // The work is done on a copy: after an error the module is as it was.
  mlir::OwningOpRef<ModuleOp> copy(module.clone());
  if (isOnMeshes && failed(inlineFragments(*copy)))
    return failure();
  const bool prepares = !isOnMeshes || needsPreparing(*copy);
  if (failed(importOnOneMesh(*copy, prepares)))
    return failure();
  module.getBodyRegion().takeBody(copy->getBodyRegion());
  module->setAttrs(copy.get()->getAttrDictionary());
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct StableHLOToDTensorPass
    : mlir::PassWrapper<StableHLOToDTensorPass, mlir::OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StableHLOToDTensorPass)

  StringRef getArgument() const override { return "stablehlo-to-dtensor"; }
  StringRef getDescription() const override {
    return "Turn StableHLO, CHLO and Shardy into the dtensor dialect";
  }
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<dtensor::DTensorDialect, chlo::CHLODialect,
                    mlir::func::FuncDialect, sdy::SdyDialect>();
  }
  void runOnOperation() override {
    if (holdsStableHLO(getOperation()) &&
        failed(importStableHLO(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<mlir::Pass> meshloom::createStableHLOToDTensor() {
  return std::make_unique<StableHLOToDTensorPass>();
}

void meshloom::registerStableHLOToDTensor() {
  mlir::registerPass([] { return createStableHLOToDTensor(); });
}

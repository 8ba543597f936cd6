// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// custom_call: the targets that JAX emits (LAPACK's are in LapackCalls.cpp),
// what users registered, and an error that names any other.
#include "CustomCalls.h"

#include "NarrowFormats.h"
#include "Prepare.h"
#include "meshloom/Math/FloatMath.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/DebugPrint.h"
#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Import/StableHLO/ImportStableHLO.h"

#include "llvm/ADT/StringMap.h"

using namespace meshloom;
using namespace meshloom::importer;

std::optional<int64_t> importer::configured(Call op, StringRef name) {
  for (StringRef where : {"mhlo.backend_config", "mhlo.attributes"})
    if (auto config = op->getAttrOfType<DictionaryAttr>(where))
      if (auto number = config.getAs<IntegerAttr>(name))
        return number.getValue().getZExtValue();
  if (auto config = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr()))
    if (auto number = config.getAs<IntegerAttr>(name))
      return number.getValue().getZExtValue();
  return std::nullopt;
}

LogicalResult importer::checkCounts(Importer &im, Call op, size_t operands,
                                    size_t results) {
  if (op.getInputs().size() == operands && op->getNumResults() == results)
    return success();
  return im.error("custom call '")
         << op.getCallTargetName() << "' takes " << operands
         << " operands and gives " << results << " results, here "
         << op.getInputs().size() << " and " << op->getNumResults();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static Imported importTopKCall(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 1, 2)))
    return failure();
  if (configured(op, "largest").value_or(1) == 0)
    return im.error("top-k of the smallest elements is not supported");
  Value operand = im.get(op.getInputs()[0]);
  RankedTensorType values = Importer::typeOf(op->getResult(0));
  if (values.getRank() < 1)
    return im.error("top-k needs at least one dim");
  int64_t k =
      configured(op, "k").value_or(values.getDimSize(values.getRank() - 1));
  return b.make<dtensor::TopKOp>({values, Importer::typeOf(op->getResult(1))},
                                 operand, Lanes(b.lanesOf(operand)),
                                 b.named("k", b.getI64IntegerAttr(k)));
}

/// How a comparator of elements and their indices compares the elements, where
/// it does nothing else.
static std::optional<stablehlo::ComparisonDirection>
directionOf(mlir::func::FuncOp comparator) {
  Block &block = comparator.getBody().front();
  auto compare = dyn_cast<stablehlo::CompareOp>(block.front());
  if (comparator.getNumArguments() != 4 || !compare ||
      block.getOperations().size() != 2 ||
      compare.getLhs() != block.getArgument(0) ||
      compare.getRhs() != block.getArgument(1))
    return std::nullopt;
  return compare.getComparisonDirection();
}

/// The largest, or the smallest, numbers of the last dim and their indices:
/// a sort of all would take longer. Nothing where the call asks for other ones.
static SmallVector<Value> importExtremes(Importer &im, Call op,
                                         mlir::func::FuncOp comparator,
                                         int64_t dim, RankedTensorType wanted) {
  using stablehlo::ComparisonDirection;
  LaneBuilder &b = im.b;
  auto indices = op.getInputs().size() == 4
                     ? op.getInputs()[1].getDefiningOp<stablehlo::IotaOp>()
                     : stablehlo::IotaOp();
  const auto direction = directionOf(comparator);
  Value operand = im.get(op.getInputs()[0]);
  if (!indices || int64_t(indices.getIotaDimension()) != dim ||
      dim != b.rankOf(operand) - 1 || !isa<FloatType>(b.elementOf(operand)) ||
      !mlir::getElementTypeOrSelf(indices.getType()).isInteger(32) ||
      (direction != ComparisonDirection::GT &&
       direction != ComparisonDirection::LT))
    return {};
  const bool isSmallest = direction == ComparisonDirection::LT;
  auto negated = [&](Value value) {
    return isSmallest ? b.apply<dtensor::NegateOp>(value) : value;
  };
  SmallVector<Value> results = b.make<dtensor::TopKOp>(
      {wanted, Importer::typeOf(op->getResult(1))}, negated(operand),
      Lanes(b.lanesOf(operand)),
      b.named("k", b.getI64IntegerAttr(wanted.getDimSize(dim))));
  results[0] = negated(results[0]);
  return results;
}

/// An exact answer is the best approximation: sort by the comparator, and take
/// the first ones. Where the program wants more candidates than it names
/// (aggregate_to_topk = false, PartialReduce), as many as its type says.
static Imported importApproximateTopK(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  auto dim = configured(op, "reduction_dim");
  auto computations = op.getCalledComputations();
  auto symbol = computations && computations->size() == 1
                    ? dyn_cast<mlir::FlatSymbolRefAttr>((*computations)[0])
                    : mlir::FlatSymbolRefAttr();
  auto comparator = symbol ? im.module.lookupSymbol<mlir::func::FuncOp>(symbol)
                           : mlir::func::FuncOp();
  size_t count = op.getInputs().size() / 2;
  if (!dim || !comparator || comparator.isExternal() || count == 0 ||
      op->getNumResults() != count)
    return im.error("custom call '")
           << op.getCallTargetName()
           << "' without reduction_dim or a comparator, or without a result "
              "for each operand that has an initial value";
  SmallVector<Value> inputs =
      b.aligned(im.get(op.getInputs().take_front(count)));
  RankedTensorType wanted = Importer::typeOf(op->getResult(0));
  bool isDim = *dim >= 0 && *dim < b.rankOf(inputs[0]) &&
               wanted.getRank() == b.rankOf(inputs[0]);
  if (!isDim || wanted.getDimSize(*dim) > b.shapeOf(inputs[0])[*dim])
    return im.error("custom call '")
           << op.getCallTargetName() << "' cannot take a " << wanted
           << " along dim " << *dim << " of a " << b.typeOf(inputs[0]);
  SmallVector<Value> extremes =
      importExtremes(im, op, comparator, *dim, wanted);
  if (!extremes.empty())
    return extremes;
  Lanes lanes = b.lanesOf(inputs);
  SmallVector<RankedTensorType> types;
  for (Value input : inputs)
    types.push_back(b.typeOf(input));
  SmallVector<Value> results = b.make<dtensor::SortOp>(
      types, inputs, lanes,
      {b.number("dimension", *dim), b.named("is_stable", b.getUnitAttr())});
  if (failed(im.importScalarRegion(comparator.getBody(),
                                   results[0].getDefiningOp()->getRegion(0))))
    return failure();
  for (Value &result : results)
    result = b.sliceDim(result, *dim, 0, wanted.getDimSize(*dim));
  return results;
}

//===----------------------------------------------------------------------===//
// GSPMD's markers
//===----------------------------------------------------------------------===//

/// The sharding that a call carries; dims that its config leaves open are.
static FailureOr<ValueSharding> markedSharding(Importer &im, Call op,
                                               RankedTensorType type) {
  Attribute attribute = op->getDiscardableAttr(gspmdName);
  if (!attribute)
    attribute = shardingIn(op->getDiscardableAttrDictionary());
  if (!attribute)
    return im.error("custom call '")
           << op.getCallTargetName() << "' needs the attribute " << gspmdName;
  auto sharding = im.shardings.of(op.getLoc(), attribute, type);
  auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  if (failed(sharding) || !config)
    return sharding;
  StringRef remaining = config.getValue();
  if (!remaining.consume_front("unspecified_dims=["))
    return sharding;
  SmallVector<StringRef> dims;
  remaining.split(']').first.split(dims, ',');
  for (StringRef text : dims) {
    unsigned dim;
    if (!text.trim().getAsInteger(10, dim) && dim < sharding->dims.size())
      sharding->dims[dim].isOpen = true;
  }
  return sharding;
}

static Imported importShardingMarker(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, 1)))
    return failure();
  Value value = im.get(op.getInputs()[0]);
  auto sharding = markedSharding(im, op, im.b.typeOf(value));
  if (failed(sharding))
    return failure();
  if (sharding->manual.size() == im.b.getMesh().getSizes().size())
    return SmallVector<Value>{value}; // one per device, and stays so
  auto pinned = constrain(im, value, *sharding);
  if (succeeded(pinned) && sharding->group)
    pinned = joinGroup(im, *pinned, *sharding->group, nullptr);
  if (failed(pinned))
    return failure();
  return SmallVector<Value>{*pinned};
}

/// The axes that are manual by `inside`, but not yet by `outside`.
static SmallVector<unsigned> enteredAxes(ArrayRef<unsigned> inside,
                                         ArrayRef<unsigned> outside) {
  SmallVector<unsigned> entered(inside);
  llvm::erase_if(entered,
                 [&](unsigned axis) { return contains(outside, axis); });
  return entered;
}

/// The @Sharding call that gives `value`.
static Call markerOf(Value value) {
  auto call = value.getDefiningOp<Call>();
  return call && call.getCallTargetName() == "Sharding" ? call : Call();
}

static Imported importFullToShard(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, 1)))
    return failure();
  Value source = op.getInputs()[0];
  if (im.shardings.haveDeclaredOrders())
    return im.error("SPMDFullToShardShape is not supported where the program's "
                    "meshes number the devices in orders that have no common "
                    "refinement");
  Call marker = markerOf(source);
  if (!marker)
    return im.error("SPMDFullToShardShape takes the result of @Sharding, which "
                    "says how the value is cut");
  auto cut = markedSharding(im, marker, Importer::typeOf(source));
  auto inside = markedSharding(im, op, Importer::typeOf(op->getResult(0)));
  if (failed(cut) || failed(inside))
    return failure();
  auto entered = enterManual(im, im.get(source), *cut,
                             enteredAxes(inside->manual, cut->manual));
  if (failed(entered))
    return failure();
  return SmallVector<Value>{*entered};
}

static Imported importShardToFull(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, 1)))
    return failure();
  Value source = op.getInputs()[0];
  RankedTensorType type = Importer::typeOf(op->getResult(0));
  auto cut = markedSharding(im, op, type);
  if (failed(cut))
    return failure();
  SmallVector<unsigned> manual;
  if (Call marker = markerOf(source)) {
    auto inside = markedSharding(im, marker, Importer::typeOf(source));
    if (failed(inside))
      return failure();
    manual = inside->manual;
  }
  if (manual.empty())
    manual = llvm::to_vector(
        llvm::seq<unsigned>(0, unsigned(im.b.getMesh().getSizes().size())));
  if (im.b.rankOf(im.get(source)) != type.getRank())
    return im.error("SPMDShardToFullShape changes the rank");
  auto result = leaveManual(im, im.get(source), *cut,
                            enteredAxes(manual, cut->manual), type);
  if (failed(result))
    return failure();
  return SmallVector<Value>{*result};
}

static Imported importNothing(Importer &im, Call op) {
  return im.leaves(op.getInputs().take_front(op->getNumResults()));
}

/// Tells how a value is laid out. The call gives nothing, or its operand.
static Imported importInspection(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, op->getNumResults())))
    return failure();
  Value source = op.getInputs()[0];
  if (!isa<RankedTensorType>(source.getType()) || im.inScalarRegion())
    return im.leaves(op.getInputs().take_front(op->getNumResults()));
  std::string name;
  if (auto named = dyn_cast<mlir::NameLoc>(source.getLoc()))
    name = named.getName().str();
  else if (auto argument = dyn_cast<BlockArgument>(source))
    name = "argument #" + std::to_string(argument.getArgNumber());
  else
    name =
        "result of " + source.getDefiningOp()->getName().getStringRef().str();
  auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  Value told = inspected(im, im.get(source), name,
                         config ? config.getValue() : StringRef());
  im.set(source, told);
  return op->getNumResults() == 0 ? SmallVector<Value>()
                                  : SmallVector<Value>{told};
}

//===----------------------------------------------------------------------===//
// Functions under other names, and users' own
//===----------------------------------------------------------------------===//

/// "a b, c -> a c!" of Shardy's rule: factors as letters, `!` where each call
/// needs all of them.
static FailureOr<std::string> ruleText(Importer &im,
                                       sdy::OpShardingRuleAttr rule) {
  llvm::SmallDenseSet<int64_t> shown, whole, reduced;
  for (sdy::TensorMappingAttr tensor : rule.getResultMappings())
    for (sdy::DimMappingAttr dim : tensor.getDimMappings())
      for (int64_t factor : dim.getFactorIndices())
        shown.insert(factor);
  for (int64_t factor : rule.getReductionFactors())
    (shown.contains(factor) ? whole : reduced).insert(factor);
  for (ArrayRef<int64_t> list :
       {rule.getNeedReplicationFactors(), rule.getPermutationFactors()})
    whole.insert(list.begin(), list.end());
  auto tensors = [&](ArrayRef<sdy::TensorMappingAttr> mappings) {
    std::string text;
    for (sdy::TensorMappingAttr tensor : mappings) {
      if (!text.empty())
        text += ", ";
      if (tensor.getDimMappings().empty())
        text += "[]";
      std::string dims;
      for (sdy::DimMappingAttr dim : tensor.getDimMappings()) {
        dims += dims.empty() ? "" : " ";
        ArrayRef<int64_t> factors = dim.getFactorIndices();
        dims += factors.size() > 1 ? "(" : "";
        for (auto [i, factor] : llvm::enumerate(factors)) {
          dims += i ? " f" : "f";
          dims += std::to_string(factor);
          bool cuts = shown.contains(factor) || reduced.contains(factor);
          dims += whole.contains(factor) || !cuts ? "!" : "";
        }
        dims += factors.size() > 1 ? ")" : "";
        dims += factors.empty() ? "1" : "";
      }
      text += dims;
    }
    return text;
  };
  return tensors(rule.getOperandMappings()) + " -> " +
         tensors(rule.getResultMappings());
}

/// Returns the name that a call's function is registered as. JAX numbers the
/// callbacks of a program, which are Python's: `target:3`, or one function for
/// all.
static FailureOr<std::string> registeredName(Importer &im, Call op) {
  std::string target = op.getCallTargetName().str();
  auto index = configured(op, "index");
  bool isCallback = index && StringRef(target).contains("python") &&
                    StringRef(target).contains("callback");
  std::string numbered = target + ":" + std::to_string(index.value_or(0));
  if (isCallback && find_custom_call(numbered))
    return numbered;
  if (target == debugPrintTarget || target == assertTarget ||
      find_custom_call(target))
    return target;
  if (isCallback)
    return im.error("custom call '")
           << target << "' is callback " << *index
           << " of the program, a Python function that is not in its text; a "
              "function in its place can be registered with "
              "meshloom::register_custom_call as '"
           << numbered << "', or as '" << target
           << "' for all callbacks; mesh-run --print-callbacks runs the "
              "program "
              "until one has to give a result";
  return im.error("custom call '")
         << target
         << "' is not known; a function for it can be registered with "
            "meshloom::register_custom_call";
}

/// A call with side effects: after the one before it in the same block.
static Imported importCallback(Importer &im, Call op, StringRef target) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inputs = im.get(op.getInputs());
  if (im.running)
    inputs.insert(inputs.begin(), im.running);
  // In a manual computation each device calls the function.
  Lanes lanes = unionOf(b.lanesOf(inputs), im.manualAxes);
  auto layoutOf = [&](int64_t rank) {
    Layout::DimAxes dims(size_t(rank) + lanes.size());
    for (auto [i, lane] : llvm::enumerate(lanes))
      dims[i] = {lane};
    return dtensor::LayoutAttr::get(
        b.getContext(), *Layout::get(b.getMesh().getMesh(), std::move(dims)));
  };
  auto calledAbout = [&](RankedTensorType local) -> RankedTensorType {
    if (lanes.empty())
      return local;
    return RankedTensorType::get(b.laned(local, lanes).getShape(),
                                 local.getElementType(),
                                 layoutOf(local.getRank()));
  };
  if (!lanes.empty())
    for (Value &input : inputs)
      input = b.create<dtensor::ConstraintOp>(
          b.getLoc(), b.withLanes(input, lanes), layoutOf(b.rankOf(input)));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    SmallVector<RankedTensorType> tensors;
    flatten(type, tensors);
    for (RankedTensorType tensor : tensors)
      types.push_back(calledAbout(tensor));
  }
  auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  auto number = RankedTensorType::get({}, b.getI32Type());
  auto callback = dtensor::createCallback(
      b, b.getLoc(), types, inputs, target, config ? config.getValue() : "",
      lanes.empty() ? RankedTensorType() : calledAbout(number));
  callback.setMasked(bool(im.running));
  // jax.debug.print(partitioned=True).
  callback.setByShard(lanes.empty() && types.empty() &&
                      target.contains("partitioned"));
  SmallVector<Value> results(callback.getResults().drop_back());
  if (!lanes.empty())
    for (Value result : results)
      b.note(result, lanes);
  return results;
}

static Imported importUsers(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  auto name = registeredName(im, op);
  if (failed(name))
    return failure();
  StringRef target = *name;
  if (op.getHasSideEffect())
    return importCallback(im, op, target);
  // In a manual computation each device calls the function about its own
  // values.
  SmallVector<Value> inputs = b.aligned(im.get(op.getInputs()));
  Lanes lanes = b.lanesOf(inputs);
  SmallVector<NamedAttribute> attributes{
      b.named("call_target_name", b.getStringAttr(target))};
  if (!lanes.empty())
    attributes.push_back(
        b.named("batch_dims", b.getI64IntegerAttr(int64_t(lanes.size()))));
  if (auto rule =
          op->getAttrOfType<sdy::OpShardingRuleAttr>("sdy.sharding_rule")) {
    auto text = ruleText(im, rule);
    if (failed(text))
      return failure();
    attributes.push_back(b.named("rule", b.getStringAttr(*text)));
  }
  if (auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr()))
    attributes.push_back(b.named("backend_config", config));
  SmallVector<RankedTensorType> types;
  for (Value result : op->getResults())
    types.push_back(Importer::typeOf(result));
  return b.make<dtensor::CustomCallOp>(types, inputs, lanes, attributes);
}

/// A function of one real tensor.
template <Value (FloatMath::*function)(Value)>
static Imported importFunction(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, 1)))
    return failure();
  Value x = im.get(op.getInputs()[0]);
  if (!isa<FloatType>(im.b.elementOf(x)))
    return im.error("custom call '") << op.getCallTargetName() << "' of a "
                                     << im.b.typeOf(x) << " is not supported";
  FloatMath m(im.b);
  return SmallVector<Value>{
      m.finish((m.*function)(m.compute(x)), im.b.elementOf(x))};
}

template <typename OpTy> static Imported importUnary(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 1, 1)))
    return failure();
  return SmallVector<Value>{im.b.apply<OpTy>(im.get(op.getInputs()[0]))};
}

/// Imports the calls that unpackNarrowTypes() left to the import.
template <auto convert, bool... flags>
static Imported importNarrow(Importer &im, Call op) {
  auto format = op->getAttrOfType<mlir::TypeAttr>(narrowFormatName);
  if (failed(checkCounts(im, op, 1, 1)) || !format ||
      !isNarrow(format.getValue()))
    return im.error("custom call '")
           << op.getCallTargetName() << "' is for the import's own use";
  return SmallVector<Value>{
      convert(im.b, im.get(op.getInputs()[0]), format.getValue(), flags...)};
}

static CustomCallHandler handlerOf(StringRef target) {
  static const auto &table = *new llvm::StringMap<CustomCallHandler>{
      {"Sharding", importShardingMarker},
      {"SPMDFullToShardShape", importFullToShard},
      {"SPMDShardToFullShape", importShardToFull},
      {"annotate_device_placement", importNothing},
      {"control_dep", importNothing}, // the order is this compiler's decision
      {"LayoutConstraint", importNothing},
      {"MoveToDevice", importNothing},
      {"MoveToHost", importNothing},
      {unpackTarget, importNarrow<emitUnpack>},
      {packTarget, importNarrow<emitPack>},
      {orderForMax, importNarrow<emitOrder, true>},
      {unorderForMax, importNarrow<emitUnorder, true>},
      {orderForMin, importNarrow<emitOrder, false>},
      {unorderForMin, importNarrow<emitUnorder, false>},
      {"ragged_all_to_all", importRaggedAllToAll},
      {"cpu_csr_sparse_dense_ffi", importSparseProduct},
      {"mhlo.topk", importTopKCall},
      {"TopK", importTopKCall},
      {"ApproxTopK", importApproximateTopK},
      {"PartialReduce", importApproximateTopK},
      // With a sharding it is none by now (FrontendShardings.cpp).
      {"xla.sdy.FuncResultSharding", importNothing},
      {"InspectSharding", importInspection},
      {"mhlo.erf", importUnary<dtensor::ErfOp>},
      {"mhlo.tan", importUnary<dtensor::TanOp>},
      {"mhlo.erf_inv", importFunction<&FloatMath::erfInv>},
      {"mhlo.sinh", importFunction<&FloatMath::sinh>}};
  if (auto entry = table.find(target); entry != table.end())
    return entry->second;
  if (CustomCallHandler handler = matrixCallHandler(target))
    return handler;
  return importUsers;
}

bool meshloom::importsCustomCall(StringRef target) {
  return handlerOf(target) != importUsers;
}

void importer::addCustomCalls(Handlers &handlers) {
  handlers.add<Call>([](Importer &im, Call op) -> Imported {
    for (Value operand : op.getInputs())
      if (isa<mlir::TupleType>(operand.getType()))
        return im.error("custom call '")
               << op.getCallTargetName() << "' of a tuple is not supported";
    return handlerOf(op.getCallTargetName())(im, op);
  });
}

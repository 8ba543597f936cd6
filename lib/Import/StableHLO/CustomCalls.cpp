// custom_call: the targets that JAX emits on CPUs (LAPACK, top-k, sharding
// markers), what users registered, and an error that names any other.
#include "Importer.h"
#include "Prepare.h"
#include "meshloom/Math/FloatMath.h"
#include "meshloom/Math/NarrowFormats.h"

#include "meshloom/Core/CustomCall.h"
#include "meshloom/Core/DebugPrint.h"
#include "meshloom/Dialect/DTensor/Callback.h"

#include "llvm/ADT/StringMap.h"

using namespace meshloom;
using namespace meshloom::importer;

using Call = stablehlo::CustomCallOp;

/// An integer in the call's backend config, or nothing.
static std::optional<int64_t> configured(Call op, StringRef name) {
  for (StringRef where : {"mhlo.backend_config", "mhlo.attributes"})
    if (auto config = op->getAttrOfType<DictionaryAttr>(where))
      if (auto number = config.getAs<IntegerAttr>(name))
        return number.getValue().getZExtValue();
  if (auto config = dyn_cast_or_null<DictionaryAttr>(op.getBackendConfigAttr()))
    if (auto number = config.getAs<IntegerAttr>(name))
      return number.getValue().getZExtValue();
  return std::nullopt;
}

static LogicalResult checkCounts(Importer &im, Call op, size_t operands,
                                 size_t results) {
  if (op.getInputs().size() == operands && op->getNumResults() == results)
    return success();
  return im.error("custom call '")
         << op.getCallTargetName() << "' takes " << operands
         << " operands and gives " << results << " results, here "
         << op.getInputs().size() << " and " << op->getNumResults();
}

//===----------------------------------------------------------------------===//
// LAPACK
//===----------------------------------------------------------------------===//

static LogicalResult checkMatrices(Importer &im, Call op) {
  for (Value operand : im.get(op.getInputs()))
    if (im.b.rankOf(operand) < 1 ||
        !isa<FloatType, mlir::ComplexType>(im.b.elementOf(operand)))
      return im.error("custom call '")
             << op.getCallTargetName() << "' takes matrices of floats, not a "
             << im.b.typeOf(operand);
  return success();
}

/// potrf: the factor, and per matrix 0 or where it stops being definite.
static Imported importCholesky(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (failed(checkCounts(im, op, 1, 2)) || failed(checkMatrices(im, op)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  int64_t rank = b.rankOf(a);
  if (rank < 2)
    return im.error("potrf takes matrices");
  SmallVector<NamedAttribute> attributes;
  if (configured(op, "uplo").value_or('L') == 'L')
    attributes.push_back(b.named("lower", b.getUnitAttr()));
  Value factor = b.make<dtensor::CholeskyOp>(
      {b.typeOf(a)}, a, Lanes(b.lanesOf(a)), attributes)[0];
  // A matrix that is not definite has a nan in its factor.
  FloatMath m(b);
  Value failed =
      b.reduce(ReduceKind::Or, m.ne(factor, factor), {rank - 2, rank - 1});
  Value info =
      b.convert(failed, Importer::typeOf(op->getResult(1)).getElementType());
  return SmallVector<Value>{factor, info};
}

static Value solve(LaneBuilder &b, Value a, Value c, bool left, bool lower,
                   bool unit, StringRef transpose) {
  SmallVector<Value> operands = b.aligned({a, c});
  SmallVector<NamedAttribute> attributes{
      b.named("transpose_a", b.getStringAttr(transpose))};
  auto flag = [&](StringRef name, bool set) {
    if (set)
      attributes.push_back(b.named(name, b.getUnitAttr()));
  };
  flag("left_side", left);
  flag("lower", lower);
  flag("unit_diagonal", unit);
  return b.make<dtensor::TriangularSolveOp>({b.typeOf(c)}, operands,
                                            b.lanesOf(operands), attributes)[0];
}

static Imported importTriangularSolve(Importer &im, Call op) {
  if (failed(checkCounts(im, op, 2, 1)) || failed(checkMatrices(im, op)))
    return failure();
  int64_t transpose = configured(op, "trans_x").value_or('N');
  return SmallVector<Value>{solve(im.b, im.get(op.getInputs()[0]),
                                  im.get(op.getInputs()[1]),
                                  configured(op, "side").value_or('L') == 'L',
                                  configured(op, "uplo").value_or('L') == 'L',
                                  configured(op, "diag").value_or('N') == 'U',
                                  transpose == 'C'   ? "ADJOINT"
                                  : transpose == 'T' ? "TRANSPOSE"
                                                     : "NO_TRANSPOSE")};
}

/// The older form, whose flags are operands: (left, lower, transpose, unit
/// diagonal, m, n, batch, alpha, a, b).
static Imported importOldTriangularSolve(Importer &im, Call op) {
  LaneBuilder &b = im.b;
  if (op.getInputs().size() < 10)
    return im.error("custom call '")
           << op.getCallTargetName() << "' takes at least 10 operands";
  auto flag = [&](unsigned i) { return constantNumber(op.getInputs()[i]); };
  auto left = flag(0), lower = flag(1), transpose = flag(2), unit = flag(3);
  if (!left || !lower || !transpose || !unit)
    return im.error("the flags of '")
           << op.getCallTargetName() << "' must be constants";
  Value right = im.get(op.getInputs().back()),
        a = im.get(op.getInputs().drop_back(1).back()),
        alpha = im.get(op.getInputs().drop_back(2).back());
  if (!im.isIdentity(ReduceKind::Prod, alpha))
    right = b.apply<dtensor::MultiplyOp>(
        {right, b.broadcast(alpha, b.shapeOf(right))});
  return SmallVector<Value>{solve(b, a, right, *left, *lower, *unit,
                                  *transpose == 2   ? "ADJOINT"
                                  : *transpose == 1 ? "TRANSPOSE"
                                                    : "NO_TRANSPOSE")};
}

static Imported importQr(Importer &im, Call op) {
  if (failed(checkMatrices(im, op)) || failed(checkCounts(im, op, 1, 2)))
    return failure();
  Value a = im.get(op.getInputs()[0]);
  return im.b.make<dtensor::GeqrfOp>(
      {Importer::typeOf(op->getResult(0)), Importer::typeOf(op->getResult(1))},
      a, Lanes(im.b.lanesOf(a)));
}

static Imported importHouseholder(Importer &im, Call op) {
  if (failed(checkMatrices(im, op)) || failed(checkCounts(im, op, 2, 1)))
    return failure();
  SmallVector<Value> operands = im.b.aligned(im.get(op.getInputs()));
  return im.b.make<dtensor::HouseholderProductOp>(
      {Importer::typeOf(op->getResult(0))}, operands, im.b.lanesOf(operands));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static Imported importTopK(Importer &im, Call op) {
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
  StringRef rest = config.getValue();
  if (!rest.consume_front("unspecified_dims=["))
    return sharding;
  SmallVector<StringRef> dims;
  rest.split(']').first.split(dims, ',');
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
  auto left = leaveManual(im, im.get(source), *cut,
                          enteredAxes(manual, cut->manual), type);
  if (failed(left))
    return failure();
  return SmallVector<Value>{*left};
}

static Imported importNothing(Importer &im, Call op) {
  return im.leaves(op.getInputs());
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

/// What a call's function is registered as. JAX numbers the callbacks of a
/// program, which are Python's: `target:3`, or one function for all.
static FailureOr<std::string> registeredName(Importer &im, Call op) {
  std::string target = op.getCallTargetName().str();
  auto index = configured(op, "index");
  bool isCallback = index && StringRef(target).contains("python") &&
                    StringRef(target).contains("callback");
  std::string own = target + ":" + std::to_string(index.value_or(0));
  if (isCallback && findCustomCall(own))
    return own;
  if (target == debugPrintTarget || findCustomCall(target))
    return target;
  if (isCallback)
    return im.error("custom call '")
           << target << "' is callback " << *index
           << " of the program, a Python function that is not in its text; a "
              "function in its place can be registered with "
              "meshloom::registerCustomCall as '"
           << own << "', or as '" << target << "' for all callbacks";
  return im.error("custom call '")
         << target
         << "' is not known; a function for it can be registered with "
            "meshloom::registerCustomCall";
}

/// A call with side effects: after the one before it in the same block.
static Imported importCallback(Importer &im, Call op, StringRef target) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inputs = im.get(op.getInputs());
  if (!b.lanesOf(inputs).empty())
    return im.error("custom call '")
           << op.getCallTargetName()
           << "' has side effects and is about values that are different on "
              "each device of a manual computation; call it outside, or about "
              "values that are the same on all";
  dtensor::CallbackOp before;
  Block *block = b.getInsertionBlock();
  for (auto it = b.getInsertionPoint(); !before && it != block->begin();)
    before = dyn_cast<dtensor::CallbackOp>(*--it);
  if (before)
    inputs.push_back(before.getResults().back());
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    SmallVector<RankedTensorType> tensors;
    flatten(type, tensors);
    types.append(tensors.begin(), tensors.end());
  }
  types.push_back(RankedTensorType::get({}, b.getI32Type()));
  auto config = dyn_cast_or_null<StringAttr>(op.getBackendConfigAttr());
  auto made = b.create<dtensor::CallbackOp>(
      b.getLoc(), types, inputs, b.getStringAttr(target),
      config ? config : b.getStringAttr(""),
      before ? b.getUnitAttr() : mlir::UnitAttr());
  return SmallVector<Value>(made.getResults().drop_back());
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

using Handler = Imported (*)(Importer &, Call);

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

/// What unpackNarrowTypes() left to the import.
template <Value (*convert)(ElementwiseBuilder &, Value, Type)>
static Imported importNarrow(Importer &im, Call op) {
  auto format = op->getAttrOfType<mlir::TypeAttr>(narrowFormatName);
  if (failed(checkCounts(im, op, 1, 1)) || !format ||
      !isNarrow(format.getValue()))
    return im.error("custom call '")
           << op.getCallTargetName() << "' is for the import's own use";
  return SmallVector<Value>{
      convert(im.b, im.get(op.getInputs()[0]), format.getValue())};
}

static Handler handlerOf(StringRef target) {
  static const llvm::StringMap<Handler> table{
      {"Sharding", importShardingMarker},
      {"SPMDFullToShardShape", importFullToShard},
      {"SPMDShardToFullShape", importShardToFull},
      {"annotate_device_placement", importNothing},
      {"LayoutConstraint", importNothing},
      {"MoveToDevice", importNothing},
      {"MoveToHost", importNothing},
      {unpackTarget, importNarrow<emitUnpack>},
      {packTarget, importNarrow<emitPack>},
      {"ragged_all_to_all", importRaggedAllToAll},
      {"mhlo.topk", importTopK},
      {"TopK", importTopK},
      {"ApproxTopK", importApproximateTopK},
      {"PartialReduce", importApproximateTopK},
      {"InspectSharding", importNothing},
      {"Qr", importQr},
      {"ProductOfElementaryHouseholderReflectors", importHouseholder},
      {"mhlo.erf", importUnary<dtensor::ErfOp>},
      {"mhlo.tan", importUnary<dtensor::TanOp>},
      {"mhlo.erf_inv", importFunction<&FloatMath::erfInv>},
      {"mhlo.sinh", importFunction<&FloatMath::sinh>}};
  if (auto it = table.find(target); it != table.end())
    return it->second;
  // lapack_spotrf_ffi and so on: s, d, c and z are element types.
  StringRef name = target;
  if (name.consume_front("lapack_") && name.consume_back("_ffi") &&
      !name.empty() && StringRef("sdcz").contains(name[0])) {
    name = name.drop_front();
    if (name == "potrf")
      return importCholesky;
    if (name == "trsm")
      return importTriangularSolve;
    if (name == "geqrf")
      return importQr;
    if (name == "orgqr" || name == "ungqr")
      return importHouseholder;
  }
  name = target;
  if (name.consume_front("blas_") && name.size() == 5 &&
      name.drop_front() == "trsm")
    return importOldTriangularSolve;
  return importUsers;
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

// spmd.kernel: assembly form and verifier. The numbers in messages are those
// of the op's description.
#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpImplementation.h"

using namespace meshloom;
using namespace meshloom::spmd;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::AffineMapAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

Type KernelOp::scalarType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

Mesh KernelOp::getMesh() {
  return layoutOf(getOutputs().front().getType()).mesh();
}

SmallVector<SmallVector<unsigned>> KernelOp::getAxisIndices() {
  Mesh mesh = getMesh();
  SmallVector<SmallVector<unsigned>> result;
  for (Attribute loop : getAxes()) {
    auto &indices = result.emplace_back();
    for (Attribute axis : cast<mlir::ArrayAttr>(loop))
      indices.push_back(*mesh.axis_index(cast<StringAttr>(axis).strref()));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Assembly form
//===----------------------------------------------------------------------===//

namespace {
/// `[` (`reduce`? extent (`over` `[` axis, ... `]`)?), ... `]`
ParseResult parseLoops(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<int64_t> extents;
  SmallVector<bool> reductions;
  SmallVector<Attribute> axes;
  auto parseLoop = [&]() -> ParseResult {
    reductions.push_back(succeeded(parser.parseOptionalKeyword("reduce")));
    if (parser.parseInteger(extents.emplace_back()))
      return failure();
    SmallVector<Attribute> names;
    auto parseAxis = [&]() -> ParseResult {
      std::string name;
      if (failed(parser.parseKeywordOrString(&name)))
        return failure();
      names.push_back(builder.getStringAttr(name));
      return success();
    };
    if (succeeded(parser.parseOptionalKeyword("over")) &&
        parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                       parseAxis))
      return failure();
    axes.push_back(builder.getArrayAttr(names));
    return success();
  };
  if (parser.parseKeyword("loops") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseLoop))
    return failure();
  state.addAttribute("extents", builder.getDenseI64ArrayAttr(extents));
  state.addAttribute("reductions", builder.getDenseBoolArrayAttr(reductions));
  state.addAttribute("axes", builder.getArrayAttr(axes));
  return success();
}
} // namespace

/// The names of all reducers but `none`.
static ArrayRef<StringRef> reducerNames() {
  static const SmallVector<StringRef> names = [] {
    SmallVector<StringRef> result;
    for (unsigned i = 1; i <= getMaxEnumValForReducer(); ++i)
      result.push_back(stringifyReducer(Reducer(i)));
    return result;
  }();
  return names;
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  if (parseLoops(parser, state))
    return failure();

  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  SmallVector<Attribute> accesses;
  SmallVector<int32_t> reducers, inPlace;
  auto parseMap = [&]() -> ParseResult {
    AffineMapAttr map;
    if (parser.parseAttribute(map))
      return failure();
    accesses.push_back(map);
    return success();
  };
  auto parseInput = [&]() -> ParseResult {
    // A bare `#map` behind the operand would be read as a result number.
    return failure(parser.parseOperand(inputs.emplace_back()) ||
                   parser.parseKeyword("at") || parseMap());
  };
  auto parseOutput = [&]() -> ParseResult {
    // Not every keyword: a map begins with one.
    StringRef keyword;
    Reducer reducer = Reducer::None;
    if (succeeded(parser.parseOptionalKeyword(&keyword, reducerNames())))
      reducer = *symbolizeReducer(keyword);
    reducers.push_back(int32_t(reducer));
    return parseMap();
  };
  auto paren = OpAsmParser::Delimiter::Paren;
  if (parser.parseKeyword("ins") ||
      parser.parseCommaSeparatedList(paren, parseInput) ||
      parser.parseKeyword("outs") ||
      parser.parseCommaSeparatedList(paren, parseOutput))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("in_place"))) {
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
          return parser.parseInteger(inPlace.emplace_back());
        }))
      return failure();
  } else {
    inPlace.assign(reducers.size(), -1);
  }
  state.addAttribute("accesses", builder.getArrayAttr(accesses));
  state.addAttribute("reducers", builder.getDenseI32ArrayAttr(reducers));
  state.addAttribute("inPlace", builder.getDenseI32ArrayAttr(inPlace));

  mlir::FunctionType type;
  auto loc = parser.getCurrentLocation();
  return failure(
      parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), loc, state.operands) ||
      parser.addTypesToList(type.getResults(), state.types) ||
      parser.parseRegion(*state.addRegion()));
}

void KernelOp::print(OpAsmPrinter &p) {
  p << " loops [";
  llvm::interleaveComma(llvm::seq(getNumLoops()), p, [&](unsigned i) {
    p << (getReductions()[i] ? "reduce " : "") << getExtents()[i];
    auto names = cast<mlir::ArrayAttr>(getAxes()[i]);
    if (names.empty())
      return;
    p << " over [";
    llvm::interleaveComma(names, p, [&](Attribute name) {
      p.printKeywordOrString(cast<StringAttr>(name).getValue());
    });
    p << "]";
  });
  p << "] ins (";
  unsigned numInputs = getInputs().size();
  llvm::interleaveComma(llvm::seq(numInputs), p, [&](unsigned i) {
    p << getInputs()[i] << " at " << getAccesses()[i];
  });
  p << ") outs (";
  llvm::interleaveComma(llvm::seq(unsigned(getNumResults())), p,
                        [&](unsigned i) {
                          if (getReducer(i) != Reducer::None)
                            p << stringifyReducer(getReducer(i)) << " ";
                          p << getAccesses()[numInputs + i];
                        });
  p << ")";
  if (llvm::any_of(getInPlace(), [](int32_t j) { return j >= 0; })) {
    p << " in_place [";
    llvm::interleaveComma(getInPlace(), p);
    p << "]";
  }
  p.printOptionalAttrDict(
      (*this)->getAttrs(),
      {"extents", "reductions", "axes", "accesses", "reducers", "inPlace"});
  p << " : ";
  p.printFunctionalType(getInputs().getTypes(), getOutputs().getTypes());
  p << " ";
  p.printRegion(getBody());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {
/// The smallest and largest value of a linear expression over the loops;
/// nothing where it is not linear.
struct Range {
  int64_t low, high;
};
std::optional<Range> rangeOf(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(expr))
    return Range{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr))
    return Range{0, extents[dim.getPosition()] - 1};
  auto binary = dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto lhs = rangeOf(binary.getLHS(), extents);
  auto rhs = rangeOf(binary.getRHS(), extents);
  if (!lhs || !rhs)
    return std::nullopt;
  if (binary.getKind() == mlir::AffineExprKind::Add)
    return Range{lhs->low + rhs->low, lhs->high + rhs->high};
  if (binary.getKind() != mlir::AffineExprKind::Mul ||
      !isa<mlir::AffineConstantExpr>(binary.getRHS()))
    return std::nullopt;
  int64_t a = lhs->low * rhs->low, b = lhs->high * rhs->low;
  return Range{std::min(a, b), std::max(a, b)};
}
} // namespace

LogicalResult KernelOp::verify() {
  unsigned loops = getNumLoops(), numInputs = getInputs().size(),
           numOutputs = getNumResults();
  if (numOutputs == 0)
    return emitOpError("has no output");
  if (getReductions().size() != loops || getAxes().size() != loops)
    return emitOpError("has ")
           << loops << " extents, " << getReductions().size()
           << " reduction flags and " << getAxes().size()
           << " lists of axes (C1)";
  if (llvm::any_of(getExtents(), [](int64_t e) { return e < 0; }))
    return emitOpError("has a negative extent (C1)");
  SmallVector<Value> tensors(getInputs());
  llvm::append_range(tensors, getOutputs());
  for (Value value : tensors)
    if (!isShard(value.getType()))
      return emitOpError("takes and gives tensors with #spmd.shard, got ")
             << value.getType();
  Mesh mesh = getMesh();
  DenseSet<Attribute> seen;
  for (Attribute list : getAxes()) {
    auto names = dyn_cast<mlir::ArrayAttr>(list);
    if (!names)
      return emitOpError("needs a list of axis names a loop (C1)");
    for (Attribute name : names) {
      auto text = dyn_cast<StringAttr>(name);
      if (!text || !mesh.contains_axis(text.strref()))
        return emitOpError("names ") << name << ", no axis of the mesh (C1)";
      if (!seen.insert(name).second)
        return emitOpError("names axis ") << name << " twice (C1)";
    }
  }

  if (getAccesses().size() != numInputs + numOutputs)
    return emitOpError("has ")
           << getAccesses().size() << " maps for " << numInputs
           << " inputs and " << numOutputs << " outputs (C2)";
  bool empty = llvm::is_contained(getExtents(), 0);
  for (auto [i, value] : llvm::enumerate(tensors)) {
    AffineMap map = getInputAccess(i);
    SmallVector<int64_t> global = globalShape(value.getType());
    if (map.getNumDims() != loops || map.getNumSymbols() != 0 ||
        map.getNumResults() != global.size())
      return emitOpError("has map ")
             << AffineMapAttr::get(map) << " for " << loops
             << " loops and a tensor of " << global.size() << " dims (C2)";
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto range = rangeOf(expr, getExtents());
      if (!range)
        return emitOpError("has a map that is not linear: ")
               << AffineMapAttr::get(map) << " (C2)";
      if (!empty && (range->low < 0 || range->high >= global[dim]))
        return emitOpError("reaches indices ")
               << range->low << " to " << range->high << " of dim " << dim
               << " with extent " << global[dim] << " (C3)";
    }
  }

  auto yield =
      getBlock()->empty() ? YieldOp() : dyn_cast<YieldOp>(&getBlock()->back());
  if (!yield || getBlock()->getNumArguments() != numInputs ||
      yield.getNumOperands() != numOutputs)
    return emitOpError("has a body with ")
           << getBlock()->getNumArguments() << " arguments that yields "
           << (yield ? yield.getNumOperands() : 0) << " values (C4)";
  auto elementOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  for (unsigned i = 0; i < numInputs; ++i)
    if (getBlock()->getArgument(i).getType() !=
        scalarType(elementOf(getInputs()[i])))
      return emitOpError("has a body argument ")
             << i << " that is not the input's element (C4)";

  if (getReducers().size() != numOutputs || getInPlace().size() != numOutputs)
    return emitOpError("needs one reducer and one in_place entry an output");
  unsigned numReductions = llvm::count(getReductions(), true);
  for (unsigned i = 0; i < numOutputs; ++i) {
    Reducer reducer = getReducer(i);
    Type element = elementOf(getOutputs()[i]);
    Type scalar = scalarType(element), yielded = yield.getOperand(i).getType();
    bool arg = reducer == Reducer::ArgMax || reducer == Reducer::ArgMin;
    bool typesMatch = yielded == scalar;
    if (arg)
      typesMatch = yielded.isF32() || yielded.isF64() || yielded.isInteger(64);
    else if (reducer != Reducer::None && element.isBF16())
      typesMatch = yielded.isF32();
    if (!typesMatch)
      return emitOpError("yields ")
             << yielded << " for output " << i << " of " << element << " (C4)";

    bool usesReduction = false;
    for (unsigned loop = 0; loop < loops; ++loop)
      usesReduction |=
          getReductions()[loop] && getOutputAccess(i).isFunctionOfDim(loop);
    if (reducer != Reducer::None && (usesReduction || numReductions == 0))
      return emitOpError("reduces output ")
             << i << " that its reduction loops do not leave out (C5)";
    if (reducer == Reducer::None && numReductions != 0 && !usesReduction)
      return emitOpError("stores output ")
             << i << " many times: it needs a reducer (C5)";
    if (arg && (numReductions != 1 || !(element.isSignlessInteger(32) ||
                                        element.isSignlessInteger(64))))
      return emitOpError("needs one reduction loop and an i32 or i64 output "
                         "for argmax and argmin (C5)");
  }

  DenseSet<int32_t> overwritten;
  for (unsigned i = 0; i < numOutputs; ++i) {
    int32_t j = getInPlace()[i];
    if (j < 0)
      continue;
    if (unsigned(j) >= numInputs || !overwritten.insert(j).second ||
        getInputs()[j].getType() != getOutputs()[i].getType() ||
        getInputAccess(j) != getOutputAccess(i))
      return emitOpError("cannot write output ")
             << i << " over input " << j << " (C6)";
  }
  return success();
}

LogicalResult IndexOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError("is for the body of a spmd.kernel");
  if (getLoop() >= kernel.getNumLoops())
    return emitOpError("names loop ")
           << getLoop() << " of " << kernel.getNumLoops() << " (C1)";
  return success();
}

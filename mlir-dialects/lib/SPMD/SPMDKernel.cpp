// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spmd.kernel: assembly form and verifier. The numbers in messages are those
// of the op's description.
#include "LoopSyntax.h"

using namespace meshloom;
using namespace meshloom::spmd;
using mlir::AffineMapAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

Type KernelOp::scalarType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

int64_t KernelOp::getNumIterations() {
  int64_t iterations = 1;
  for (auto [loop, extent] : llvm::enumerate(getExtents()))
    if (!isHeld(loop))
      iterations *= extent;
  return iterations;
}

Mesh KernelOp::getMesh() {
  return layoutOf(getOutputs().front().getType()).mesh();
}

SmallVector<SmallVector<unsigned>> KernelOp::getAxisIndices() {
  return axisIndicesOf(getAxes(), getMesh());
}

//===----------------------------------------------------------------------===//
// Assembly form
//===----------------------------------------------------------------------===//

std::vector<Interval> KernelOp::getLoopRanges(unsigned loop) {
  return getRanges() ? rangesFrom((*getRanges())[loop])
                     : std::vector<Interval>();
}

bool KernelOp::isGuarded(unsigned i) {
  if (i >= getInputs().size() || !getBlock()->getArgument(i).use_empty())
    return false;
  return llvm::any_of(getBlock()->getOps<ReadOp>(),
                      [&](ReadOp read) { return read.getInput() == i; });
}

/// The names of all reducers but `none`.
static ArrayRef<StringRef> reducerNames() {
  static const auto &names = *new SmallVector<StringRef>([] {
    SmallVector<StringRef> result;
    for (unsigned i = 1; i <= getMaxEnumValForReducer(); ++i)
      result.push_back(stringifyReducer(Reducer(i)));
    return result;
  }());
  return names;
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  InputSyntax inputs;
  if (parseLoops(parser, state, /*library=*/false) ||
      parseInputs(parser, inputs))
    return failure();

  SmallVector<int32_t> reducers, inPlace;
  auto parseMap = [&]() -> ParseResult {
    AffineMapAttr map;
    if (parser.parseAttribute(map))
      return failure();
    inputs.accesses.push_back(map);
    return success();
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
  if (parser.parseKeyword("outs") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseOutput) ||
      parseInPlace(parser, reducers.size(), inPlace))
    return failure();
  state.addAttribute("accesses", builder.getArrayAttr(inputs.accesses));
  state.addAttribute("reducers", builder.getDenseI32ArrayAttr(reducers));
  state.addAttribute("inPlace", builder.getDenseI32ArrayAttr(inPlace));

  mlir::FunctionType type;
  auto loc = parser.getCurrentLocation();
  return failure(parser.parseOptionalAttrDict(state.attributes) ||
                 parser.parseColonType(type) ||
                 parser.resolveOperands(inputs.operands, type.getInputs(), loc,
                                        state.operands) ||
                 parser.addTypesToList(type.getResults(), state.types) ||
                 parser.parseRegion(*state.addRegion()));
}

void KernelOp::print(OpAsmPrinter &p) {
  printLoops(p, *this);
  printInputs(p, getInputs(), getAccesses());
  unsigned numInputs = getInputs().size();
  p << " outs (";
  llvm::interleaveComma(llvm::seq(unsigned(getNumResults())), p,
                        [&](unsigned i) {
                          if (getReducer(i) != Reducer::None)
                            p << stringifyReducer(getReducer(i)) << " ";
                          p << getAccesses()[numInputs + i];
                        });
  p << ")";
  printInPlace(p, getInPlace());
  p.printOptionalAttrDict((*this)->getAttrs(),
                          {"extents", "reductions", "axes", "ranges", "held",
                           "accesses", "reducers", "inPlace"});
  p << " : ";
  p.printFunctionalType(getInputs().getTypes(), getOutputs().getTypes());
  p << " ";
  p.printRegion(getBody());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

LogicalResult KernelOp::verify() {
  unsigned loops = getNumLoops(), numInputs = getInputs().size(),
           numOutputs = getNumResults();
  if (failed(verifyIterationSpace(*this, getExtents(), getReductions(),
                                  getAxes(), /*held=*/{}, getAccesses(),
                                  [&](unsigned i) { return isGuarded(i); })))
    return failure();
  if (getHeld() && getHeld()->size() != loops)
    return emitOpError("has ") << loops << " extents and " << getHeld()->size()
                               << " held flags (C1)";
  if (std::optional<mlir::ArrayAttr> ranges = getRanges()) {
    if (ranges->size() != loops)
      return emitOpError("has ") << loops << " extents and " << ranges->size()
                                 << " lists of ranges (C1)";
    for (Attribute bounds : *ranges)
      if (auto list = dyn_cast<DenseI64ArrayAttr>(bounds);
          !list || list.size() % 2 != 0)
        return emitOpError("has ranges that are not pairs of numbers (C1)");
  }

  for (unsigned loop = 0; loop < loops; ++loop) {
    if (!isHeld(loop))
      continue;
    if (getReductions()[loop] ||
        !cast<mlir::ArrayAttr>(getAxes()[loop]).empty())
      return emitOpError("has axes on the held loop ")
             << loop << ", or reduces it (C7)";
    for (unsigned i = 0; i < getAccesses().size(); ++i)
      if (getInputAccess(i).isFunctionOfDim(loop) &&
          (i >= numInputs || i >= getBlock()->getNumArguments() ||
           !getBlock()->getArgument(i).use_empty()))
        return emitOpError("uses the held loop ")
               << loop << " for more than spmd.load (C7)";
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
    else if (reducer != Reducer::None && (element.isBF16() || element.isF16()))
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

  return verifyInPlace(*this, getInPlace(), getAccesses(), 6);
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

LogicalResult ReadOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel || getInput() >= kernel.getInputs().size())
    return emitOpError("names input ") << getInput() << " of no kernel (C1)";
  BlockArgument argument = kernel.getBlock()->getArgument(getInput());
  if (argument.getType() != getType() || !argument.use_empty())
    return emitOpError("reads ")
           << getType() << " from input " << getInput() << " of "
           << argument.getType() << ", or one that is read everywhere (C1)";
  return success();
}

LogicalResult LoadOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel || getInput() >= kernel.getInputs().size())
    return emitOpError("names input ") << getInput() << " of no kernel (C1)";
  BlockArgument argument = kernel.getBlock()->getArgument(getInput());
  if (argument.getType() != getType() || !argument.use_empty())
    return emitOpError("loads ")
           << getType() << " from input " << getInput() << " of "
           << argument.getType() << ", or one that is read everywhere (C1)";
  SmallVector<int64_t> held;
  for (unsigned loop = 0; loop < kernel.getNumLoops(); ++loop)
    if (kernel.isHeld(loop) &&
        kernel.getInputAccess(getInput()).isFunctionOfDim(loop))
      held.push_back(loop);
  if (getLoops() != ArrayRef(held) || getIndices().size() != held.size())
    return emitOpError("has ")
           << getIndices().size() << " indices for " << getLoops().size()
           << " loops, where input " << getInput() << " has " << held.size()
           << " held ones (C2)";
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// spmd.library_call: assembly form and verifier. The numbers in messages are
// those of the op's description.
#include "LoopSyntax.h"

using namespace meshloom;
using namespace meshloom::spmd;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

Mesh LibraryCallOp::getMesh() {
  return layoutOf(getOutputs().front().getType()).mesh();
}

SmallVector<SmallVector<unsigned>> LibraryCallOp::getAxisIndices() {
  return axisIndicesOf(getAxes(), getMesh());
}

std::vector<Interval> LibraryCallOp::getLoopRanges(unsigned loop) {
  return rangesFrom(getRanges()[loop]);
}

KernelOp LibraryCallOp::getScalarKernel() {
  if (getScalar().empty() || getCallee() == "loop" || getCallee() == "rows")
    return {};
  return cast<KernelOp>(getScalar().front().front());
}

ParseResult LibraryCallOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  StringAttr callee;
  InputSyntax inputs;
  if (parser.parseAttribute(callee, "callee", state.attributes) ||
      parseLoops(parser, state, /*library=*/true) ||
      parseInputs(parser, inputs))
    return failure();
  size_t numOutputs = 0;
  auto parseOutput = [&]() -> ParseResult {
    mlir::AffineMapAttr map;
    if (parser.parseAttribute(map))
      return failure();
    inputs.accesses.push_back(map);
    ++numOutputs;
    return success();
  };
  SmallVector<int32_t> inPlace;
  mlir::FunctionType type;
  if (parser.parseKeyword("outs") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                     parseOutput) ||
      parseInPlace(parser, numOutputs, inPlace))
    return failure();
  state.addAttribute("accesses", builder.getArrayAttr(inputs.accesses));
  state.addAttribute("inPlace", builder.getDenseI32ArrayAttr(inPlace));
  auto loc = parser.getCurrentLocation();
  Region *scalar = state.addRegion();
  if (parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) ||
      parser.resolveOperands(inputs.operands, type.getInputs(), loc,
                             state.operands) ||
      parser.addTypesToList(type.getResults(), state.types))
    return failure();
  mlir::OptionalParseResult region = parser.parseOptionalRegion(*scalar);
  return failure(region.has_value() && failed(*region));
}

void LibraryCallOp::print(OpAsmPrinter &p) {
  p << " " << getCalleeAttr();
  printLoops(p, *this);
  printInputs(p, getInputs(), getAccesses());
  p << " outs (";
  llvm::interleaveComma(getAccesses().getValue().drop_front(getInputs().size()),
                        p);
  p << ")";
  printInPlace(p, getInPlace());
  SmallVector<StringRef> elided{"callee", "extents", "reductions", "axes",
                                "held",   "ranges",  "accesses",   "inPlace"};
  if (getFlops() == 0)
    elided.push_back("flops");
  p.printOptionalAttrDict((*this)->getAttrs(), elided);
  p << " : ";
  p.printFunctionalType(getInputs().getTypes(), getOutputs().getTypes());
  if (getScalar().empty())
    return;
  p << " ";
  p.printRegion(getScalar());
}

/// Returns whether the region takes the inputs and yields the outputs.
static bool isFunctionOfArrays(LibraryCallOp call) {
  if (call.getScalar().empty())
    return false;
  Block &block = call.getScalar().front();
  return block.getArgumentTypes() == call.getInputs().getTypes() &&
         !block.empty() && isa<YieldOp>(block.back()) &&
         block.back().getOperandTypes() == call.getOutputs().getTypes();
}

/// Returns whether `op` is a kernel over all loops of the call, or over those
/// that are not reduced.
static bool goesOverRows(Operation &op, LibraryCallOp call) {
  auto kernel = dyn_cast<KernelOp>(op);
  const ArrayRef<int64_t> extents = call.getExtents();
  return kernel && kernel.getNumLoops() <= extents.size() &&
         kernel.getExtents() == extents.take_front(kernel.getNumLoops()) &&
         (kernel.getNumLoops() == extents.size() ||
          int64_t(kernel.getNumLoops()) ==
              llvm::count(call.getReductions(), false));
}

LogicalResult LibraryCallOp::verify() {
  if (getHeld().size() != getNumLoops() || getRanges().size() != getNumLoops())
    return emitOpError("has ")
           << getNumLoops() << " extents, " << getHeld().size()
           << " held flags and " << getRanges().size() << " ranges (C1)";
  if (failed(verifyIterationSpace(*this, getExtents(), getReductions(),
                                  getAxes(), getHeld(), getAccesses())))
    return failure();
  for (Attribute bounds : getRanges())
    if (auto list = dyn_cast<DenseI64ArrayAttr>(bounds);
        !list || list.size() % 2 != 0)
      return emitOpError("has ranges that are not pairs of numbers (C1)");
  if (getCallee() == "loop") {
    if (!isFunctionOfArrays(*this) ||
        !llvm::hasSingleElement(getScalar().front().getOps<dtensor::WhileOp>()))
      return emitOpError("has a region that is not one loop on its arguments, "
                         "whose results it yields (C4)");
  } else if (getCallee() == "rows") {
    if (!isFunctionOfArrays(*this) ||
        !llvm::all_of(getScalar().front().without_terminator(),
                      [&](Operation &op) { return goesOverRows(op, *this); }))
      return emitOpError("has a region that is not kernels over its first "
                         "loops, whose results it yields (C4)");
  } else if (!getScalar().empty()) {
    Block &block = getScalar().front();
    auto kernel =
        block.empty() ? KernelOp() : dyn_cast<KernelOp>(block.front());
    auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
    if (!kernel || !yield || &block.front() == &block.back() ||
        kernel->getNextNode() != yield || kernel.getNumLoops() != 0 ||
        ValueRange(kernel.getInputs()) != ValueRange(block.getArguments()) ||
        ValueRange(yield.getOperands()) != ValueRange(kernel.getOutputs()))
      return emitOpError("has a region that is not one kernel without loops on "
                         "its arguments (C4)");
  }
  if (std::optional<DictionaryAttr> options = getOptions())
    for (NamedAttribute option : *options)
      if (!isa<IntegerAttr, StringAttr, DenseI64ArrayAttr>(option.getValue()))
        return emitOpError("has the option ")
               << option.getName() << " = " << option.getValue()
               << ", which is not an integer, a text or a list of integers "
                  "(C6)";
  if (std::optional<ArrayRef<int32_t>> inputs = getOverwritable())
    if (inputs->size() != getNumResults() ||
        llvm::any_of(*inputs, [&](int32_t input) {
          return input < -1 || input >= int32_t(getInputs().size());
        }))
      return emitOpError("has an 'overwritable' that is not an input or -1 for "
                         "each output (C7)");
  if (getInPlace().size() != getNumResults())
    return emitOpError("needs one in_place entry an output (C5)");
  return verifyInPlace(*this, getInPlace(), getAccesses(), 5);
}

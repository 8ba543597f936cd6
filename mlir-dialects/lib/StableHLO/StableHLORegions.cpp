// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of reduce and while, whose regions are not written like others.

#include "Assembly.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using Argument = OpAsmParser::Argument;
using Operand = OpAsmParser::UnresolvedOperand;

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// `applies stablehlo.add`: a region of that op on two scalars of `type`.
static ParseResult parseApplied(OpAsmParser &parser, Type type,
                                const mlir::OperationName &name, SMLoc loc,
                                Region &body) {
  Location location = parser.getEncodedSourceLoc(loc);
  Block &block = body.emplaceBlock();
  block.addArguments({type, type}, {location, location});
  // The region has no op yet, so the builder cannot ask it for the context.
  OpBuilder ops(parser.getContext());
  ops.setInsertionPointToStart(&block);
  OperationState state(location, name, block.getArguments(), type);
  if (!name.isRegistered())
    return parser.emitError(loc) << "unknown op " << name;
  Operation *op = ops.create(state);
  ops.create<stablehlo::ReturnOp>(location, op->getResults());
  return success();
}

/// `reducer(%a: t, %b: t) (%c: u, %d: u) { ... }`: pairs of arguments, one from
/// each side, where the region's are all of the left before all of the right.
static ParseResult parseReducer(OpAsmParser &parser, Region &body) {
  SmallVector<Argument> lhs, rhs;
  if (parser.parseLParen())
    return failure();
  do {
    if (parser.parseArgument(lhs.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() ||
        parser.parseArgument(rhs.emplace_back(), /*allowType=*/true) ||
        parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalLParen()));
  lhs.append(rhs);
  return parser.parseRegion(body, lhs);
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Operand> inputs, inits;
  do {
    if (parser.parseLParen() || parser.parseOperand(inputs.emplace_back()) ||
        parser.parseKeyword("init") || parser.parseColon() ||
        parser.parseOperand(inits.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));

  std::optional<mlir::OperationName> applied;
  SMLoc appliedLoc;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    appliedLoc = parser.getCurrentLocation();
    auto name = parser.parseCustomOperationName();
    if (failed(name))
      return failure();
    applied = *name;
  }
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") ||
      parser.parseEqual())
    return failure();
  auto dimensions = parseDims(parser);
  mlir::FunctionType type;
  if (failed(dimensions) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type))
    return failure();
  inputs.append(inits);
  if (parser.resolveOperands(inputs, type.getInputs(), loc, state.operands))
    return failure();
  state.addAttribute(getDimensionsAttrName(state.name),
                     parser.getBuilder().getDenseI64ArrayAttr(*dimensions));
  state.addTypes(type.getResults());

  Region &body = *state.addRegion();
  if (!applied)
    return failure(parser.parseKeyword("reducer") ||
                   parseReducer(parser, body));
  auto result = type.getNumResults() == 1
                    ? dyn_cast<RankedTensorType>(type.getResult(0))
                    : RankedTensorType();
  if (!result)
    return parser.emitError(appliedLoc)
           << "`applies` takes a reduction of one tensor";
  return parseApplied(parser,
                      RankedTensorType::get({}, result.getElementType()),
                      *applied, appliedLoc, body);
}

/// The op of a region that `applies` can state, else null.
static Operation *appliedOp(ReduceOp reduce) {
  if (reduce->getNumResults() != 1 || !reduce.getBody().hasOneBlock())
    return nullptr;
  Block &block = reduce.getBody().front();
  auto result = dyn_cast<RankedTensorType>(reduce->getResultTypes()[0]);
  if (!result || !llvm::hasNItems(block, 2) || block.getNumArguments() != 2)
    return nullptr;
  Type type = RankedTensorType::get({}, result.getElementType());
  Operation &op = block.front();
  Operation &last = block.back();
  bool plain = op.getNumRegions() == 0 && op.getAttrs().empty() &&
               op.getName().isRegistered() &&
               ValueRange(op.getOperands()) == ValueRange(block.getArguments());
  bool scalars = block.getArgument(0).getType() == type &&
                 block.getArgument(1).getType() == type &&
                 TypeRange(op.getResultTypes()) == TypeRange(type);
  return plain && scalars && isa<stablehlo::ReturnOp>(last) &&
                 ValueRange(last.getOperands()) == ValueRange(op.getResults())
             ? &op
             : nullptr;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  auto pairs = llvm::zip(getInputs(), getInitValues());
  llvm::interleaveComma(pairs, printer, [&](auto pair) {
    printer << '(' << std::get<0>(pair) << " init: " << std::get<1>(pair)
            << ')';
  });
  Operation *applied = appliedOp(*this);
  if (applied)
    printer << " applies " << applied->getName();
  printer << " across dimensions = ";
  printDims(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {getDimensionsAttrName()});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (applied)
    return;
  printer.printNewline();
  printer << " reducer";
  unsigned half = getBody().getNumArguments() / 2;
  for (unsigned i = 0; i < half; ++i) {
    printer << (i ? " (" : "(");
    printer.printRegionArgument(getBody().getArgument(i));
    printer << ", ";
    printer.printRegionArgument(getBody().getArgument(i + half));
    printer << ')';
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

/// `(%a = %x, %b = %y) : t, u attributes {...} cond {...} do {...}`: the names
/// on the left stand for the arguments of both regions.
ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Argument> arguments;
  SmallVector<Operand> operands;
  SmallVector<Type> types;
  auto carried = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) ||
                   parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, carried) ||
      parser.parseOptionalColonTypeList(types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(loc)
           << "carries " << operands.size() << " values, but lists "
           << types.size() << " types";
  if (parser.resolveOperands(operands, types, loc, state.operands) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes))
    return failure();
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  state.addTypes(types);
  return failure(parser.parseKeyword("cond") ||
                 parser.parseRegion(*state.addRegion(), arguments) ||
                 parser.parseKeyword("do") ||
                 parser.parseRegion(*state.addRegion(), arguments));
}

void WhileOp::print(OpAsmPrinter &printer) {
  // The body's arguments are printed under the condition's names.
  ValueRange arguments = getCond().getArguments();
  printer << '(';
  llvm::interleaveComma(
      llvm::zip(arguments, getOperand()), printer, [&](auto pair) {
        printer << std::get<0>(pair) << " = " << std::get<1>(pair);
      });
  printer << ')';
  if (!getOperand().empty()) {
    printer << " : ";
    llvm::interleaveComma(getOperand().getTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.shadowRegionArgs(getBody(), arguments);
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

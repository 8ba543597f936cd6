// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Iteration spaces of kernels and library calls: text and checks. The numbers
// in messages are those of the ops' descriptions.
#include "LoopSyntax.h"

#include "mlir/IR/AffineExpr.h"

using namespace meshloom;
using namespace meshloom::spmd;
using mlir::AffineExpr;
using mlir::AffineMap;
using mlir::AffineMapAttr;
using mlir::ArrayAttr;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::ParseResult;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

ParseResult spmd::parseLoops(OpAsmParser &parser, OperationState &state,
                             bool library) {
  Builder &builder = parser.getBuilder();
  SmallVector<int64_t> extents;
  SmallVector<bool> reductions, held;
  SmallVector<Attribute> axes, ranges;
  auto square = OpAsmParser::Delimiter::Square;
  auto parseLoop = [&]() -> ParseResult {
    held.push_back(succeeded(parser.parseOptionalKeyword("held")));
    reductions.push_back(succeeded(parser.parseOptionalKeyword("reduce")));
    if (parser.parseInteger(extents.emplace_back()))
      return failure();
    SmallVector<Attribute> names;
    SmallVector<int64_t> bounds;
    auto parseAxis = [&]() -> ParseResult {
      StringRef name;
      if (parser.parseKeyword(&name))
        return failure();
      names.push_back(builder.getStringAttr(name));
      return success();
    };
    if (succeeded(parser.parseOptionalKeyword("over")) &&
        parser.parseCommaSeparatedList(square, parseAxis))
      return failure();
    if (succeeded(parser.parseOptionalKeyword("ranges")) &&
        parser.parseCommaSeparatedList(
            square, [&] { return parser.parseInteger(bounds.emplace_back()); }))
      return failure();
    axes.push_back(builder.getArrayAttr(names));
    ranges.push_back(builder.getDenseI64ArrayAttr(bounds));
    return success();
  };
  if (parser.parseKeyword("loops") ||
      parser.parseCommaSeparatedList(square, parseLoop))
    return failure();
  state.addAttribute("extents", builder.getDenseI64ArrayAttr(extents));
  state.addAttribute("reductions", builder.getDenseBoolArrayAttr(reductions));
  state.addAttribute("axes", builder.getArrayAttr(axes));
  if (library || llvm::is_contained(held, true))
    state.addAttribute("held", builder.getDenseBoolArrayAttr(held));
  bool ranged = llvm::any_of(ranges, [](Attribute bounds) {
    return !cast<DenseI64ArrayAttr>(bounds).empty();
  });
  if (library || ranged)
    state.addAttribute("ranges", builder.getArrayAttr(ranges));
  return success();
}

void spmd::printLoops(OpAsmPrinter &p, Operation *op) {
  auto extents = op->getAttrOfType<DenseI64ArrayAttr>("extents");
  auto reductions = op->getAttrOfType<mlir::DenseBoolArrayAttr>("reductions");
  auto held = op->getAttrOfType<mlir::DenseBoolArrayAttr>("held");
  auto axes = op->getAttrOfType<ArrayAttr>("axes");
  auto ranges = op->getAttrOfType<ArrayAttr>("ranges");
  p << " loops [";
  llvm::interleaveComma(llvm::seq(int64_t(extents.size())), p, [&](int64_t i) {
    if (held && held[i])
      p << "held ";
    p << (reductions[i] ? "reduce " : "") << extents[i];
    auto names = cast<ArrayAttr>(axes[i]);
    if (!names.empty()) {
      p << " over [";
      llvm::interleaveComma(names, p, [&](Attribute name) {
        p << cast<StringAttr>(name).getValue();
      });
      p << "]";
    }
    auto bounds = ranges ? cast<DenseI64ArrayAttr>(ranges[i]) : nullptr;
    if (!bounds || bounds.empty())
      return;
    p << " ranges [";
    llvm::interleaveComma(bounds.asArrayRef(), p);
    p << "]";
  });
  p << "]";
}

ParseResult spmd::parseInputs(OpAsmParser &parser, InputSyntax &inputs) {
  auto parseInput = [&]() -> ParseResult {
    // A bare `#map` behind the operand would be read as a result number.
    AffineMapAttr map;
    if (parser.parseOperand(inputs.operands.emplace_back()) ||
        parser.parseKeyword("at") || parser.parseAttribute(map))
      return failure();
    inputs.accesses.push_back(map);
    return success();
  };
  return failure(parser.parseKeyword("ins") ||
                 parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren,
                                                parseInput));
}

void spmd::printInputs(OpAsmPrinter &p, ValueRange inputs, ArrayAttr accesses) {
  p << " ins (";
  llvm::interleaveComma(llvm::seq(unsigned(inputs.size())), p, [&](unsigned i) {
    p << inputs[i] << " at " << accesses[i];
  });
  p << ")";
}

ParseResult spmd::parseInPlace(OpAsmParser &parser, size_t count,
                               SmallVectorImpl<int32_t> &inPlace) {
  if (failed(parser.parseOptionalKeyword("in_place"))) {
    inPlace.assign(count, -1);
    return success();
  }
  return parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(inPlace.emplace_back());
  });
}

void spmd::printInPlace(OpAsmPrinter &p, ArrayRef<int32_t> inPlace) {
  if (llvm::none_of(inPlace, [](int32_t j) { return j >= 0; }))
    return;
  p << " in_place [";
  llvm::interleaveComma(inPlace, p);
  p << "]";
}

//===----------------------------------------------------------------------===//
// Checks
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

SmallVector<Value> tensorsOf(Operation *op) {
  SmallVector<Value> tensors(op->getOperands());
  llvm::append_range(tensors, op->getResults());
  return tensors;
}
} // namespace

LogicalResult spmd::verifyIterationSpace(Operation *op,
                                         ArrayRef<int64_t> extents,
                                         ArrayRef<bool> reductions,
                                         ArrayAttr axes, ArrayRef<bool> held,
                                         ArrayAttr accesses,
                                         function_ref<bool(unsigned)> guarded) {
  size_t loops = extents.size();
  if (op->getNumResults() == 0)
    return op->emitOpError("has no output");
  if (reductions.size() != loops || axes.size() != loops)
    return op->emitOpError("has ")
           << loops << " extents, " << reductions.size()
           << " reduction flags and " << axes.size() << " lists of axes (C1)";
  if (llvm::any_of(extents, [](int64_t e) { return e < 0; }))
    return op->emitOpError("has a negative extent (C1)");
  SmallVector<Value> tensors = tensorsOf(op);
  for (Value value : tensors)
    if (!isShard(value.getType()))
      return op->emitOpError("takes and gives tensors with #spmd.shard, got ")
             << value.getType();
  Mesh mesh = layoutOf(op->getResult(0).getType()).mesh();
  DenseSet<Attribute> seen;
  for (auto [loop, list] : llvm::enumerate(axes)) {
    auto names = dyn_cast<ArrayAttr>(list);
    if (!names)
      return op->emitOpError("needs a list of axis names a loop (C1)");
    for (Attribute name : names) {
      auto text = dyn_cast<StringAttr>(name);
      if (!text || !mesh.contains_axis(text.strref()))
        return op->emitOpError("names ")
               << name << ", no axis of the mesh (C1)";
      bool again = held.empty() || !held[loop];
      if (again && !seen.insert(name).second)
        return op->emitOpError("names axis ") << name << " twice (C1)";
    }
  }

  if (accesses.size() != tensors.size())
    return op->emitOpError("has ")
           << accesses.size() << " maps for " << op->getNumOperands()
           << " inputs and " << op->getNumResults() << " outputs (C2)";
  bool empty = llvm::is_contained(extents, 0);
  for (auto [index, attr, value] : llvm::enumerate(accesses, tensors)) {
    bool anywhere = empty || (guarded && guarded(index));
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    SmallVector<int64_t> global = globalShape(value.getType());
    if (map.getNumDims() != loops || map.getNumSymbols() != 0 ||
        map.getNumResults() != global.size())
      return op->emitOpError("has map ")
             << attr << " for " << loops << " loops and a tensor of "
             << global.size() << " dims (C2)";
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto range = rangeOf(expr, extents);
      if (!range)
        return op->emitOpError("has a map that is not linear: ")
               << attr << " (C2)";
      if (!anywhere && (range->low < 0 || range->high >= global[dim]))
        return op->emitOpError("reaches indices ")
               << range->low << " to " << range->high << " of dim " << dim
               << " with extent " << global[dim] << " (C3)";
    }
  }
  return success();
}

LogicalResult spmd::verifyInPlace(Operation *op, ArrayRef<int32_t> inPlace,
                                  ArrayAttr accesses, unsigned number) {
  unsigned numInputs = op->getNumOperands();
  DenseSet<int32_t> overwritten;
  for (auto [i, j] : llvm::enumerate(inPlace)) {
    if (j < 0)
      continue;
    if (unsigned(j) >= numInputs || !overwritten.insert(j).second ||
        op->getOperand(j).getType() != op->getResult(i).getType() ||
        accesses[j] != accesses[numInputs + i])
      return op->emitOpError("cannot write output ")
             << i << " over input " << j << " (C" << number << ")";
  }
  return success();
}

SmallVector<SmallVector<unsigned>> spmd::axisIndicesOf(ArrayAttr axes,
                                                       const Mesh &mesh) {
  SmallVector<SmallVector<unsigned>> result;
  for (Attribute loop : axes) {
    auto &indices = result.emplace_back();
    for (Attribute axis : cast<ArrayAttr>(loop))
      indices.push_back(*mesh.axis_index(cast<StringAttr>(axis).strref()));
  }
  return result;
}

std::vector<Interval> spmd::rangesFrom(Attribute attribute) {
  ArrayRef<int64_t> bounds = cast<DenseI64ArrayAttr>(attribute);
  std::vector<Interval> ranges;
  for (size_t i = 0; i + 1 < bounds.size(); i += 2)
    ranges.push_back({bounds[i], bounds[i + 1]});
  return ranges;
}

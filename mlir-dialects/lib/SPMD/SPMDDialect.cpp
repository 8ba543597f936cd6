// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The spmd dialect: registration, the shard attribute, and types of shards.

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::spmd;
using dtensor::LayoutAttr;

#include "meshloom/Dialect/SPMD/SPMDDialect.cpp.inc"
#include "meshloom/Dialect/SPMD/SPMDEnums.cpp.inc"

/// (`,` `windows` `[` (`*` | `[` begin `:` end, ... `]`), ... `]`)?
static mlir::ParseResult parseWindows(mlir::AsmParser &parser,
                                      SmallVector<unsigned> &counts,
                                      SmallVector<int64_t> &bounds) {
  if (failed(parser.parseOptionalComma()))
    return success();
  auto parseRange = [&]() -> mlir::ParseResult {
    ++counts.back();
    return failure(parser.parseInteger(bounds.emplace_back()) ||
                   parser.parseColon() ||
                   parser.parseInteger(bounds.emplace_back()));
  };
  auto parseDim = [&]() -> mlir::ParseResult {
    counts.push_back(0);
    if (succeeded(parser.parseOptionalStar()))
      return success();
    return parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                          parseRange);
  };
  return failure(parser.parseKeyword("windows") ||
                 parser.parseCommaSeparatedList(
                     mlir::AsmParser::Delimiter::Square, parseDim));
}

static void printWindows(mlir::AsmPrinter &printer, ArrayRef<unsigned> counts,
                         ArrayRef<int64_t> bounds) {
  if (counts.empty())
    return;
  printer << ", windows [";
  llvm::interleaveComma(counts, printer, [&](unsigned count) {
    if (count == 0) {
      printer << "*";
      return;
    }
    printer << "[";
    llvm::interleaveComma(llvm::seq(count), printer, [&](unsigned i) {
      printer << bounds[2 * i] << ":" << bounds[2 * i + 1];
    });
    printer << "]";
    bounds = bounds.drop_front(2 * count);
  });
  printer << "]";
}

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/SPMD/SPMDAttrs.cpp.inc"

void SPMDDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/SPMD/SPMDOps.cpp.inc"
      >();
}

void SPMDDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/SPMD/SPMDAttrs.cpp.inc"
      >();
}

Operation *SPMDDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return builder.getContext()
      ->getLoadedDialect<dtensor::DTensorDialect>()
      ->materializeConstant(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// ShardAttr
//===----------------------------------------------------------------------===//

static Windows windowsFrom(ArrayRef<unsigned> counts,
                           ArrayRef<int64_t> bounds) {
  Windows windows(counts.size());
  for (auto [dim, count] : llvm::zip_equal(windows, counts))
    for (unsigned i = 0; i < count; ++i) {
      dim.push_back({bounds[0], bounds[1]});
      bounds = bounds.drop_front(2);
    }
  return windows;
}

LogicalResult ShardAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<int64_t> globalShape,
                                LayoutAttr layout, ArrayRef<unsigned> counts,
                                ArrayRef<int64_t> bounds) {
  if (globalShape.size() != layout.getRank())
    return emitError() << "violates constraint C1 of #spmd.shard: the global "
                          "shape has "
                       << globalShape.size() << " dims, the layout "
                       << layout.getRank();
  if (llvm::any_of(globalShape, [](int64_t extent) { return extent < 0; }))
    return emitError() << "#spmd.shard: the global shape has a negative extent";
  if (Status ok = verifyWindows(layout.getLayout(),
                                Shape(globalShape.begin(), globalShape.end()),
                                windowsFrom(counts, bounds));
      !ok)
    return emitError() << "violates constraint C3 of #spmd.shard: "
                       << ok.error().message();
  return success();
}

ShardAttr ShardAttr::get(MLIRContext *context, ArrayRef<int64_t> globalShape,
                         LayoutAttr layout, const Windows &windows) {
  SmallVector<unsigned> counts;
  SmallVector<int64_t> bounds;
  for (const std::vector<Interval> &dim : windows) {
    counts.push_back(dim.size());
    for (Interval window : dim)
      bounds.append({window.begin, window.end});
  }
  // No windows have one form.
  if (bounds.empty())
    counts.clear();
  return get(context, globalShape, layout, counts, bounds);
}

Windows ShardAttr::getWindows() const {
  return windowsFrom(getWindowCounts(), getWindowBounds());
}

Attribute ShardAttr::getEncodedLayout() const {
  return getLayout();
}
SmallVector<int64_t> ShardAttr::getGlobalShape(RankedTensorType) const {
  return SmallVector<int64_t>(getGlobalShape());
}
bool ShardAttr::isShard() const {
  return true;
}

static Shape localShape(ArrayRef<int64_t> global, LayoutAttr layout,
                        const Windows &windows) {
  return heldShape(layout.getLayout(), Shape(global.begin(), global.end()),
                   windows);
}

LogicalResult
ShardAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                          function_ref<InFlightDiagnostic()> emitError) const {
  Shape expected = localShape(getGlobalShape(), getLayout(), getWindows());
  if (shape == ArrayRef<int64_t>(expected))
    return success();
  InFlightDiagnostic error = emitError();
  error << "violates constraint C2 of #spmd.shard: the local shape must be [";
  llvm::interleaveComma(expected, error);
  return error << "]";
}

//===----------------------------------------------------------------------===//
// Types of shards
//===----------------------------------------------------------------------===//

Layout spmd::layoutOf(Type type) {
  LayoutAttr layout = dtensor::layoutAttrOf(type);
  assert(layout && "the layout of this type is not decided");
  return layout.getLayout();
}

RankedTensorType spmd::shardType(ArrayRef<int64_t> global, Type elementType,
                                 LayoutAttr layout, const Windows &windows) {
  return RankedTensorType::get(
      localShape(global, layout, windows), elementType,
      ShardAttr::get(elementType.getContext(), global, layout, windows));
}

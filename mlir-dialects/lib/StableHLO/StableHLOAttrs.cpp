// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes and types of stablehlo: their text.

#include "Assembly.h"
#include "DimensionFields.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::AsmParser;
using mlir::AsmPrinter;

#include "meshloom/Dialect/StableHLO/StableHLOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOTypes.cpp.inc"

void StableHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/StableHLO/StableHLOAttrs.cpp.inc"
      >();
}

void StableHLODialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "meshloom/Dialect/StableHLO/StableHLOTypes.cpp.inc"
      >();
}

unsigned MinifloatType::getWidth() const {
  switch (getFormat()) {
  case MinifloatFormat::F4E2M1FN:
    return 4;
  case MinifloatFormat::F6E2M3FN:
  case MinifloatFormat::F6E3M2FN:
    return 6;
  case MinifloatFormat::F8E3M4:
  case MinifloatFormat::F8E8M0FNU:
    return 8;
  }
  llvm_unreachable("all formats have a width");
}

//===----------------------------------------------------------------------===//
// Dimension numbers
//===----------------------------------------------------------------------===//

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatch, indexBatch, map;
  int64_t vector = 0;
  if (parseFields(parser, {{"offset_dims", &offset},
                           {"collapsed_slice_dims", &collapsed},
                           {"operand_batching_dims", &operandBatch},
                           {"start_indices_batching_dims", &indexBatch},
                           {"start_index_map", &map},
                           {"index_vector_dim", nullptr, &vector}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatch, indexBatch,
             map, vector);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("offset_dims", getOffsetDims());
  fields.dims("collapsed_slice_dims", getCollapsedSliceDims());
  fields.dims("operand_batching_dims", getOperandBatchingDims());
  fields.dims("start_indices_batching_dims", getStartIndicesBatchingDims());
  fields.dims("start_index_map", getStartIndexMap());
  fields.number("index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> window, inserted, inputBatch, indexBatch, map;
  int64_t vector = 0;
  if (parseFields(parser, {{"update_window_dims", &window},
                           {"inserted_window_dims", &inserted},
                           {"input_batching_dims", &inputBatch},
                           {"scatter_indices_batching_dims", &indexBatch},
                           {"scatter_dims_to_operand_dims", &map},
                           {"index_vector_dim", nullptr, &vector}}))
    return {};
  return get(parser.getContext(), window, inserted, inputBatch, indexBatch, map,
             vector);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("update_window_dims", getUpdateWindowDims());
  fields.dims("inserted_window_dims", getInsertedWindowDims());
  fields.dims("input_batching_dims", getInputBatchingDims());
  fields.dims("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  fields.dims("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  fields.number("index_vector_dim", getIndexVectorDim());
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract;
  if (parseFields(parser, {{"lhs_batching_dimensions", &lhsBatch},
                           {"rhs_batching_dimensions", &rhsBatch},
                           {"lhs_contracting_dimensions", &lhsContract},
                           {"rhs_contracting_dimensions", &rhsContract}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.dims("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.dims("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.dims("rhs_contracting_dimensions", getRhsContractingDimensions());
}

/// Each dim is something: `first`, `second`, or one of the spatial dims.
static bool isComplete(int64_t first, int64_t second,
                       ArrayRef<int64_t> spatial) {
  SmallVector<int64_t> dims{first, second};
  llvm::append_range(dims, spatial);
  llvm::sort(dims);
  return llvm::equal(dims, llvm::seq<int64_t>(0, int64_t(dims.size())));
}

/// `input_batch_dimension = 0, ...>`, one field for each thing.
static Attribute parseRawConvolution(AsmParser &parser) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  int64_t in[2] = {0, 0}, kernel[2] = {0, 0}, out[2] = {0, 0};
  SmallVector<int64_t> inSpatial, kernelSpatial, outSpatial;
  if (parseFieldsToEnd(
          parser, {{"input_batch_dimension", nullptr, &in[0]},
                   {"input_feature_dimension", nullptr, &in[1]},
                   {"input_spatial_dimensions", &inSpatial},
                   {"kernel_input_feature_dimension", nullptr, &kernel[0]},
                   {"kernel_output_feature_dimension", nullptr, &kernel[1]},
                   {"kernel_spatial_dimensions", &kernelSpatial},
                   {"output_batch_dimension", nullptr, &out[0]},
                   {"output_feature_dimension", nullptr, &out[1]},
                   {"output_spatial_dimensions", &outSpatial}}))
    return {};
  std::pair<StringRef, bool> parts[] = {
      {"input", isComplete(in[0], in[1], inSpatial)},
      {"kernel", isComplete(kernel[0], kernel[1], kernelSpatial)},
      {"output", isComplete(out[0], out[1], outSpatial)}};
  for (auto [name, complete] : parts)
    if (!complete) {
      parser.emitError(loc) << "the dims of the " << name
                            << " are not numbered from 0, each once";
      return {};
    }
  return ConvDimensionNumbersAttr::get(
      parser.getContext(), in[0], in[1], inSpatial, kernel[0], kernel[1],
      kernelSpatial, out[0], out[1], outSpatial);
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr dims;
  if (parser.parseLess())
    return {};
  if (succeeded(parser.parseOptionalKeyword("raw")))
    return parseRawConvolution(parser);
  if (parseConvolutionDimensions(parser, dims) || parser.parseGreater())
    return {};
  return dims;
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  Type f64 = parser.getBuilder().getF64Type();
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  auto field = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "atol")
      return parser.parseFloat(atol);
    if (name == "rtol")
      return parser.parseFloat(rtol);
    if (name == "ulps")
      return parser.parseInteger(ulps);
    if (name == "mode")
      return parser.parseCustomAttributeWithFallback(mode);
    return parser.emitError(loc)
           << "expected atol, rtol, ulps or mode, but got " << name;
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, field))
    return {};
  auto error = [&] { return parser.emitError(start); };
  return getChecked(error, parser.getContext(), FloatAttr::get(f64, atol),
                    FloatAttr::get(f64, rtol), ulps,
                    mode ? mode.getValue() : ResultAccuracyMode::DEFAULT);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto number = [&](StringRef name, FloatAttr value) {
    printer << name << " = ";
    printer.printFloat(value.getValue());
    printer << ", ";
  };
  if (getMode() == ResultAccuracyMode::TOLERANCE) {
    number("atol", getAtol());
    number("rtol", getRtol());
    printer << "ulps = " << getUlps() << ", ";
  }
  printer << "mode = " << ResultAccuracyModeAttr::get(getContext(), getMode())
          << '>';
}

Attribute TypeExtensionsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  auto bound = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      bounds.push_back(mlir::ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(bounds.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, bound))
    return {};
  return get(parser.getContext(), bounds);
}

void TypeExtensionsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer.getStream(), [&](int64_t bound) {
    if (mlir::ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

LogicalResult TypeExtensionsAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "has " << getBounds().size()
                       << " bounds for a tensor of rank " << shape.size();
  return success();
}

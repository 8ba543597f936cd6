// Attributes and types of stablehlo and chlo: their text.

#include "Assembly.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace meshloom;
using namespace meshloom::stablehlo;
using mlir::AsmParser;
using mlir::AsmPrinter;

#include "meshloom/Dialect/StableHLO/StableHLOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOAttrs.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/CHLOAttrs.cpp.inc"
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

void chlo::CHLODialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "meshloom/Dialect/StableHLO/CHLOAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Dimension numbers: `<name = [0, 1], other = 2>`, absent where empty or zero
//===----------------------------------------------------------------------===//

namespace {
/// A field of a dimension-numbers attribute: a list or a number.
struct Field {
  StringRef name;
  SmallVector<int64_t> *dims = nullptr;
  int64_t *number = nullptr;
};
} // namespace

static ParseResult parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  llvm::SmallDenseSet<StringRef> seen;
  auto field = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const Field *found =
        llvm::find_if(fields, [&](const Field &f) { return f.name == name; });
    if (found == fields.end())
      return parser.emitError(loc)
             << "expected "
             << llvm::join(llvm::map_range(
                               fields, [](const Field &f) { return f.name; }),
                           ", ")
             << ", but got " << name;
    if (!seen.insert(found->name).second)
      return parser.emitError(loc) << name << " is given twice";
    if (found->number)
      return parser.parseInteger(*found->number);
    auto dims = parseDims(parser);
    if (failed(dims))
      return failure();
    *found->dims = std::move(*dims);
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                        field);
}

namespace {
/// Prints fields, leaving out empty ones.
class FieldPrinter {
public:
  explicit FieldPrinter(AsmPrinter &printer) : printer(printer) {
    printer << '<';
  }
  ~FieldPrinter() { printer << '>'; }
  void dims(StringRef name, ArrayRef<int64_t> dims) {
    if (dims.empty())
      return;
    begin(name);
    printDims(printer, dims);
  }
  void number(StringRef name, int64_t value) {
    if (value == 0)
      return;
    begin(name);
    printer << value;
  }

private:
  void begin(StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  }
  AsmPrinter &printer;
  StringRef separator = "";
};
} // namespace

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

Attribute chlo::RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContract, rhsContract, ragged,
      group;
  if (parseFields(parser, {{"lhs_batching_dimensions", &lhsBatch},
                           {"rhs_batching_dimensions", &rhsBatch},
                           {"lhs_contracting_dimensions", &lhsContract},
                           {"rhs_contracting_dimensions", &rhsContract},
                           {"lhs_ragged_dimensions", &ragged},
                           {"rhs_group_dimensions", &group}}))
    return {};
  return get(parser.getContext(), lhsBatch, rhsBatch, lhsContract, rhsContract,
             ragged, group);
}

void chlo::RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  FieldPrinter fields(printer);
  fields.dims("lhs_batching_dimensions", getLhsBatchingDimensions());
  fields.dims("rhs_batching_dimensions", getRhsBatchingDimensions());
  fields.dims("lhs_contracting_dimensions", getLhsContractingDimensions());
  fields.dims("rhs_contracting_dimensions", getRhsContractingDimensions());
  fields.dims("lhs_ragged_dimensions", getLhsRaggedDimensions());
  fields.dims("rhs_group_dimensions", getRhsGroupDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr dims;
  if (parser.parseLess() || parseConvolutionDimensions(parser, dims) ||
      parser.parseGreater())
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
  return get(parser.getContext(), atol, rtol, ulps,
             mode ? mode.getValue() : ResultAccuracyMode::DEFAULT);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto number = [&](StringRef name, double value) {
    printer << name << " = ";
    printer.printFloat(llvm::APFloat(value));
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing of dimension numbers.

#include "DimensionFields.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace meshloom;

mlir::ParseResult meshloom::parseFields(mlir::AsmParser &parser,
                                        ArrayRef<DimensionField> fields) {
  return failure(parser.parseLess() || parseFieldsToEnd(parser, fields));
}

mlir::ParseResult meshloom::parseFieldsToEnd(mlir::AsmParser &parser,
                                             ArrayRef<DimensionField> fields) {
  llvm::SmallDenseSet<StringRef> seen;
  auto field = [&]() -> mlir::ParseResult {
    llvm::SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    const DimensionField *found = llvm::find_if(
        fields, [&](const DimensionField &f) { return f.name == name; });
    if (found == fields.end())
      return parser.emitError(loc)
             << "expected "
             << llvm::join(
                    llvm::map_range(
                        fields, [](const DimensionField &f) { return f.name; }),
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
  // A comma may follow the last field.
  while (failed(parser.parseOptionalGreater())) {
    if (field())
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

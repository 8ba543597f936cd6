// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of dimension numbers: `<name = [0, 1], other = 2>`, where fields may
// come in any order and are absent where empty or zero.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom {
/// A field: a list or a number.
struct DimensionField {
  StringRef name;
  SmallVector<int64_t> *dims = nullptr;
  int64_t *number = nullptr;
};

/// Fills the fields that the text gives.
mlir::ParseResult parseFields(mlir::AsmParser &parser,
                              ArrayRef<DimensionField> fields);
/// The same behind the `<` and what may come first.
mlir::ParseResult parseFieldsToEnd(mlir::AsmParser &parser,
                                   ArrayRef<DimensionField> fields);

/// Prints fields, leaving out empty ones.
class FieldPrinter {
public:
  explicit FieldPrinter(mlir::AsmPrinter &printer) : printer(printer) {
    printer << '<';
  }
  FieldPrinter(const FieldPrinter &) = delete;
  FieldPrinter &operator=(const FieldPrinter &) = delete;
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
  mlir::AsmPrinter &printer;
  StringRef separator = "";
};
} // namespace meshloom

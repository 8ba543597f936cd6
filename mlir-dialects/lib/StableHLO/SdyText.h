// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lists of sdy attributes, which are written without their dialect's prefix.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace meshloom::sdy {
template <typename Attr>
mlir::ParseResult parseOne(mlir::AsmParser &parser, Attr &attr) {
  attr = dyn_cast_or_null<Attr>(Attr::parse(parser, Type()));
  return success(bool(attr));
}

template <typename Attr>
mlir::ParseResult parseList(
    mlir::AsmParser &parser, SmallVector<Attr> &attrs,
    mlir::AsmParser::Delimiter delimiter = mlir::AsmParser::Delimiter::Square) {
  return parser.parseCommaSeparatedList(
      delimiter, [&] { return parseOne(parser, attrs.emplace_back()); });
}

template <typename Attr>
void printList(mlir::AsmPrinter &printer, ArrayRef<Attr> attrs, char open = '[',
               char close = ']') {
  printer << open;
  llvm::interleaveComma(attrs, printer.getStream(),
                        [&](Attr attr) { attr.print(printer); });
  printer << close;
}
} // namespace meshloom::sdy

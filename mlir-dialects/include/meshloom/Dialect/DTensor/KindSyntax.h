// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a kind of reduction in ops' assembly formats: `sum`, `max`, ...
// ODS finds these by their argument, in every dialect.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "mlir/IR/OpImplementation.h"

namespace meshloom::dtensor {

inline mlir::ParseResult parseKindKeyword(mlir::OpAsmParser &parser,
                                          ReduceKindAttr &attr) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  std::optional<ReduceKind> kind = meshloom::parseReduceKind(keyword);
  if (!kind)
    return parser.emitError(loc, "unknown kind of reduction '")
           << keyword << "'; expected sum, prod, min, max, and, or";
  attr = ReduceKindAttr::get(parser.getContext(), *kind);
  return success();
}

inline void printKindKeyword(mlir::OpAsmPrinter &printer, Operation *,
                             ReduceKindAttr attr) {
  printer << meshloom::name(attr.getValue());
}

} // namespace meshloom::dtensor

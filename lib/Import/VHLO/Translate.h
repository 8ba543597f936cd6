// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates ops of an artifact into ops of this program's dialects.
#pragma once

#include "ByteReader.h"

#include "mlir/IR/OperationSupport.h"

namespace meshloom::vhlo {

/// The names of the attributes that ops of that name have, in the order in
/// which artifacts write them, with "?" after optional ones; none: there is no
/// such op in any release of StableHLO.
std::optional<ArrayRef<StringRef>> attributesOfOp(StringRef name);

/// An op, as an artifact or this program calls it.
struct OpDescription {
  std::string name;
  /// The attributes that belong to the op.
  mlir::NamedAttrList attributes;
};

/// Replaces an op of VHLO by the one of stablehlo or func that does the same;
/// ops of other dialects stay. `parent`: the name of the op around it. `reader`
/// fails where attributes are malformed.
LogicalResult translate(OpDescription &op, StringRef parent,
                        MLIRContext *context, const ByteReader &reader);

} // namespace meshloom::vhlo

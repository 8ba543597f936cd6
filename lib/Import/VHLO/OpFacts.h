// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops that artifacts have, and their attributes: OpFacts.def.
#pragma once

#include "meshloom/Support/LLVM.h"

#include "mlir/IR/OperationSupport.h"

#include <string>

namespace meshloom::vhlo {

struct OpFacts {
  /// The k of the first release 1.k that has the op.
  unsigned release;
  /// The names of the op's attributes, in the order in which artifacts write
  /// them, with "?" after optional ones.
  SmallVector<StringRef> attributes;
};

/// The facts of the op of that name ("vhlo.add_v1"); null: there is no such op
/// in any release of StableHLO.
const OpFacts *factsOf(StringRef name);

/// An op, as an artifact or this program calls it.
struct OpDescription {
  std::string name;
  /// The attributes that belong to the op.
  mlir::NamedAttrList attributes;
  /// The others, as "sdy.sharding".
  mlir::NamedAttrList discardable;
};

} // namespace meshloom::vhlo

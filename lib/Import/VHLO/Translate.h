// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates ops of an artifact into ops of this program's dialects.
#pragma once

#include "ByteReader.h"
#include "OpFacts.h"

namespace meshloom::vhlo {

/// Replaces an op of VHLO by the one of stablehlo or func that does the same;
/// ops of other dialects stay. `parent`: the name of the op around it. `reader`
/// fails where attributes are malformed.
LogicalResult translate(OpDescription &op, StringRef parent,
                        MLIRContext *context, const ByteReader &reader);

} // namespace meshloom::vhlo

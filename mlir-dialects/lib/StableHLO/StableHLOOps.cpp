// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ops of stablehlo that are not elementwise. StableHLORegions.cpp has the
// text of reduce and while.

#include "Assembly.h"

using namespace meshloom;
using namespace meshloom::stablehlo;

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/StableHLOOps.cpp.inc"

void StableHLODialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "meshloom/Dialect/StableHLO/StableHLOOps.cpp.inc"
      >();
}

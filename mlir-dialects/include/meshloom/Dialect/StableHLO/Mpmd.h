// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect mpmd, which few files of the import know; MpmdOps.td is the
// reference.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "meshloom/Dialect/StableHLO/MpmdDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdTypes.h.inc"

#define GET_OP_CLASSES
#include "meshloom/Dialect/StableHLO/MpmdOps.h.inc"

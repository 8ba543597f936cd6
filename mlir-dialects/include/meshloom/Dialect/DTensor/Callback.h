// dtensor.callback: calls of host functions for what they do. Few files know
// the op, so its class is not in DTensor.h.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#define GET_OP_CLASSES
#include "meshloom/Dialect/DTensor/DTensorCallbackOps.h.inc"

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the dialects stablehlo, chlo, sdy and mpmd.

#include "meshloom/Dialect/StableHLO/Mpmd.h"

#include "mlir/Dialect/Quant/QuantOps.h"

using namespace meshloom;

#include "meshloom/Dialect/StableHLO/CHLODialect.cpp.inc"
#include "meshloom/Dialect/StableHLO/SdyDialect.cpp.inc"
#include "meshloom/Dialect/StableHLO/StableHLODialect.cpp.inc"

void stablehlo::StableHLODialect::initialize() {
  registerAttributes();
  registerTypes();
  registerElementwiseOps();
  registerOps();
}

void chlo::CHLODialect::initialize() {
  registerAttributes();
  registerOps();
}

void sdy::SdyDialect::initialize() {
  registerAttributes();
  registerOps();
}

void meshloom::registerStableHLODialects(mlir::DialectRegistry &registry) {
  // Quantized types are upstream's.
  registry
      .insert<stablehlo::StableHLODialect, chlo::CHLODialect, sdy::SdyDialect,
              mpmd::MpmdDialect, mlir::quant::QuantizationDialect>();
}

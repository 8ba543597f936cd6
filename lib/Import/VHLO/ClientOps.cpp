// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Import/VHLO/ClientOps.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/IR/Builders.h"

namespace meshloom {

static StringRef callTargetOf(Operation *op) {
  return isa<chlo::ErfOp>(op)      ? "mhlo.erf"
         : isa<chlo::ErfInvOp>(op) ? "mhlo.erf_inv"
         : isa<chlo::TopKOp>(op)   ? "mhlo.topk"
                                   : "";
}

static void replaceByCall(Operation *op, StringRef target) {
  OpBuilder builder(op);
  mlir::NamedAttrList configuration;
  if (auto topK = dyn_cast<chlo::TopKOp>(op)) {
    configuration.append("k", topK.getKAttr());
    configuration.append("largest", builder.getBoolAttr(true));
  }
  mlir::OperationState call(op->getLoc(),
                            stablehlo::CustomCallOp::getOperationName(),
                            op->getOperands(), op->getResultTypes(),
                            op->getDiscardableAttrDictionary().getValue());
  call.addAttribute("call_target_name", builder.getStringAttr(target));
  call.addAttribute("mhlo.attributes",
                    configuration.getDictionary(op->getContext()));
  call.addAttribute("mhlo.version", builder.getI64IntegerAttr(1));
  op->replaceAllUsesWith(builder.create(call));
  op->erase();
}

void replaceClientOps(ModuleOp module) {
  module->walk([](Operation *op) {
    if (StringRef target = callTargetOf(op); !target.empty())
      replaceByCall(op, target);
  });
}

} // namespace meshloom

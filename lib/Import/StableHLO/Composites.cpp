// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JAX's portable artifacts have composites in place of chlo's ops: a top_k is
// `stablehlo.composite "chlo.top_k"`, whose decomposition is a sort of all
// elements. They become the ops that their names say.
#include "Prepare.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/IR/Verifier.h"

using namespace meshloom;

bool importer::isOpOfChlo(Operation *op) {
  auto composite = dyn_cast<stablehlo::CompositeOp>(op);
  if (!composite || !composite.getName().starts_with("chlo."))
    return false;
  op->getContext()->loadDialect<chlo::CHLODialect>();
  return mlir::RegisteredOperationName::lookup(composite.getName(),
                                               op->getContext())
      .has_value();
}

/// Replaces `composite` by the op of its name where that takes its operands and
/// attributes.
static void raiseComposite(stablehlo::CompositeOp composite) {
  OpBuilder b(composite);
  OperationState state(composite.getLoc(), composite.getName());
  state.addOperands(composite.getInputs());
  state.addTypes(composite->getResultTypes());
  state.addAttributes(llvm::to_vector(composite->getDiscardableAttrs()));
  if (auto attributes = composite.getCompositeAttributes())
    state.addAttributes(attributes->getValue());
  // The decomposition does the same.
  mlir::ScopedDiagnosticHandler quiet(composite.getContext(),
                                      [](auto &) { return success(); });
  Operation *op = b.create(state);
  if (failed(mlir::verify(op)))
    return op->erase();
  composite->replaceAllUsesWith(op->getResults());
  composite.erase();
}

void importer::raiseComposites(ModuleOp module) {
  SmallVector<stablehlo::CompositeOp> composites;
  module.walk([&](stablehlo::CompositeOp composite) {
    if (isOpOfChlo(composite))
      composites.push_back(composite);
  });
  llvm::for_each(composites, raiseComposite);
}

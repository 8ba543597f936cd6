// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ops have a gradient: those of the files of gradients. Why others have
// none.
#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Dialect/DTensor/Map.h"

#include "GradientRules.h"

namespace meshloom {
namespace {

template <typename... Ops> bool isOneOf(mlir::OperationName name) {
  return ((name.getStringRef() == Ops::getOperationName()) || ...);
}

} // namespace

/// All but the casts of bits, Schur forms and the users' functions give no
/// floats, so that no gradient asks for them.
StringRef whyNoGradient(mlir::OperationName op) {
  using namespace dtensor;
  if (isOneOf<CompareOp, IsFiniteOp>(op))
    return "its results are truth values";
  if (isOneOf<AndOp, OrOp, XorOp, NotOp, ShiftLeftOp, ShiftRightArithmeticOp,
              ShiftRightLogicalOp, PopcntOp, CountLeadingZerosOp>(op))
    return "it is an op on integers and truth values";
  if (isOneOf<ArgMaxOp, ArgMinOp>(op))
    return "its results are indices";
  if (isOneOf<ConstantOp, IotaOp, RngOp>(op))
    return "its result depends on no float";
  if (isOneOf<BitcastConvertOp>(op))
    return "the bits of a number do not change smoothly with it; "
           "dtensor.convert has a gradient";
  if (isOneOf<CustomCallOp, CallbackOp>(op))
    return "the formula of the function that it calls is not known; mark it "
           "with dtensor.stop_gradient, so that it counts as a constant, or "
           "compute it with ops";
  if (isOneOf<SchurOp>(op))
    return "no formula for a Schur form's is known here; eigh and eig have one";
  if (isOneOf<HessenbergOp>(op))
    return "no formula for its reflections is known here; geqrf, pivoted_qr, "
           "eigh and eig have one";
  if (isOneOf<MapOp>(op))
    return "it stands for ops on the values of all; make it those first "
           "(--dtensor-vectorise-maps)";
  if (isOneOf<AssignVariableOp, YieldOp>(op))
    return "it has no result";
  return "";
}

void registerGradients(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, dtensor::DTensorDialect *) {
    attachConvolutionGradients(context);
    attachDecompositionGradients(context);
    attachElementwiseGradients(context);
    attachFactorizationGradients(context);
    attachIndexGradients(context);
    attachLinalgGradients(context);
    attachMapGradients(context);
    attachRegionGradients(context);
    attachScatterGradients(context);
    attachStructuralGradients(context);
    attachWindowGradients(context);
  });
}

} // namespace meshloom

// The table of differentiable ops: each gets the interface, implemented by its
// overload of gradientOf.
#include "GradientRules.h"

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom {
namespace {

template <typename Op>
struct GradientModel
    : DifferentiableOpInterface::ExternalModel<GradientModel<Op>, Op> {
  void buildGradient(Operation *op, OpGradient &gradient) const {
    gradientOf(cast<Op>(op), gradient);
  }
};

template <typename... Ops> void attach(MLIRContext *context) {
  (Ops::template attachInterface<GradientModel<Ops>>(*context), ...);
}

} // namespace

void registerGradients(mlir::DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, dtensor::DTensorDialect *) {
    using namespace dtensor;
    attach<NegateOp, AbsOp, SignOp, ExpOp, Expm1Op, LogOp, Log1pOp, SqrtOp,
           RsqrtOp, CbrtOp, TanhOp, LogisticOp, SineOp, CosineOp, ErfOp,
           FloorOp, CeilOp, RoundOp, ConvertOp, AddOp, SubtractOp, MultiplyOp,
           DivideOp, RemainderOp, PowerOp, MaximumOp, MinimumOp, SelectOp,
           ClampOp, BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp,
           ConcatenateOp, ReverseOp, PadOp, TakeOp, DotGeneralOp, MatMulOp, ReduceOp,
           ConvolutionOp, ReduceWindowOp, SelectAndScatterOp, CumulativeOp,
           RelayoutOp, ConstraintOp, ReadVariableOp>(context);
  });
}

} // namespace meshloom

// The table of differentiable ops: each gets the interface, implemented by its
// overload of gradientOf.
#include "GradientRules.h"

#include "meshloom/Autodiff/Autodiff.h"

namespace meshloom {
namespace {

/// Whether the op's rule multiplies by its derivative. The gradient of a real L
/// with respect to a complex z = x + iy is dL/dx + i dL/dy (TensorFlow's and
/// PyTorch's; JAX gives its conjugate), so for a holomorphic f it is multiplied
/// by the conjugate of f'. Ops that are linear with real coefficients do not
/// care; those from complex to real numbers or back say themselves.
template <typename Op>
constexpr bool multipliesByDerivative = llvm::is_one_of<
    Op, dtensor::ExpOp, dtensor::Expm1Op, dtensor::LogOp, dtensor::Log1pOp,
    dtensor::SqrtOp, dtensor::RsqrtOp, dtensor::TanhOp, dtensor::LogisticOp,
    dtensor::SineOp, dtensor::CosineOp, dtensor::TanOp, dtensor::MultiplyOp,
    dtensor::DivideOp, dtensor::PowerOp, dtensor::DotGeneralOp,
    dtensor::MatMulOp, dtensor::ReduceOp, dtensor::ConvolutionOp,
    dtensor::ReduceWindowOp, dtensor::CumulativeOp, dtensor::FftOp>::value;

template <typename Op>
struct GradientModel
    : DifferentiableOpInterface::ExternalModel<GradientModel<Op>, Op> {
  void buildGradient(Operation *op, OpGradient &gradient) const {
    if (multipliesByDerivative<Op>)
      gradient.conjugateResults();
    gradientOf(cast<Op>(op), gradient);
    if (multipliesByDerivative<Op>)
      gradient.conjugateOperands();
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
           RsqrtOp, CbrtOp, TanhOp, LogisticOp, SineOp, CosineOp, TanOp, ErfOp,
           RoundNearestAfzOp, ReducePrecisionOp, RealOp, ImagOp, ComplexOp,
           Atan2Op, FloorOp, CeilOp, RoundOp, ConvertOp, AddOp, SubtractOp,
           MultiplyOp, DivideOp, RemainderOp, PowerOp, MaximumOp, MinimumOp,
           SelectOp, ClampOp, BroadcastInDimOp, ReshapeOp, TransposeOp, SliceOp,
           ConcatenateOp, ReverseOp, PadOp, TakeOp, DotGeneralOp, MatMulOp,
           ReduceOp, ConvolutionOp, ReduceWindowOp, SelectAndScatterOp,
           CumulativeOp, GatherOp, ScatterOp, DynamicSliceOp,
           DynamicUpdateSliceOp, SortOp, TopKOp, CholeskyOp, TriangularSolveOp,
           FftOp, RelayoutOp, ConstraintOp, ReadVariableOp>(context);
  });
}

} // namespace meshloom

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

template <typename... Ops> bool isOneOf(mlir::OperationName name) {
  return ((name.getStringRef() == Ops::getOperationName()) || ...);
}

} // namespace

/// All but the casts of bits and the users' functions give no floats, so that
/// no gradient asks for them.
StringRef whyNoGradient(mlir::OperationName op) {
  using namespace dtensor;
  if (isOneOf<CompareOp, IsFiniteOp>(op))
    return "it gives truth values";
  if (isOneOf<AndOp, OrOp, XorOp, NotOp, ShiftLeftOp, ShiftRightArithmeticOp,
              ShiftRightLogicalOp, PopcntOp, CountLeadingZerosOp>(op))
    return "it is an op on integers and truth values";
  if (isOneOf<ArgMaxOp, ArgMinOp>(op))
    return "it gives indices";
  if (isOneOf<ConstantOp, IotaOp, RngOp>(op))
    return "its result depends on no float";
  if (isOneOf<BitcastConvertOp>(op))
    return "the bits of a number do not change smoothly with it; "
           "dtensor.convert has a gradient";
  if (isOneOf<CustomCallOp>(op))
    return "what the function that it calls computes is not known; mark it "
           "dtensor.stop_gradient for it to count as a constant, or compute "
           "this with ops";
  if (isOneOf<AssignVariableOp, YieldOp>(op))
    return "it gives no value";
  return "";
}

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
           FftOp, GenericReduceOp, GeqrfOp, HouseholderProductOp, RelayoutOp,
           ConstraintOp, ReadVariableOp>(context);
  });
}

} // namespace meshloom

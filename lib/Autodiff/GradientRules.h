// One overload of gradientOf for each op that has a gradient. It calls
// OpGradient::give for the operands that want one.
#pragma once

#include "meshloom/Autodiff/GradientBuilder.h"

namespace meshloom {

void gradientOf(dtensor::NegateOp op, OpGradient &g);
void gradientOf(dtensor::AbsOp op, OpGradient &g);
void gradientOf(dtensor::SignOp op, OpGradient &g);
void gradientOf(dtensor::ExpOp op, OpGradient &g);
void gradientOf(dtensor::Expm1Op op, OpGradient &g);
void gradientOf(dtensor::LogOp op, OpGradient &g);
void gradientOf(dtensor::Log1pOp op, OpGradient &g);
void gradientOf(dtensor::SqrtOp op, OpGradient &g);
void gradientOf(dtensor::RsqrtOp op, OpGradient &g);
void gradientOf(dtensor::CbrtOp op, OpGradient &g);
void gradientOf(dtensor::TanhOp op, OpGradient &g);
void gradientOf(dtensor::LogisticOp op, OpGradient &g);
void gradientOf(dtensor::SineOp op, OpGradient &g);
void gradientOf(dtensor::CosineOp op, OpGradient &g);
void gradientOf(dtensor::ErfOp op, OpGradient &g);
void gradientOf(dtensor::TanOp op, OpGradient &g);
void gradientOf(dtensor::RoundNearestAfzOp op, OpGradient &g);
void gradientOf(dtensor::ReducePrecisionOp op, OpGradient &g);
void gradientOf(dtensor::RealOp op, OpGradient &g);
void gradientOf(dtensor::ImagOp op, OpGradient &g);
void gradientOf(dtensor::ComplexOp op, OpGradient &g);
void gradientOf(dtensor::Atan2Op op, OpGradient &g);
void gradientOf(dtensor::FloorOp op, OpGradient &g);
void gradientOf(dtensor::CeilOp op, OpGradient &g);
void gradientOf(dtensor::RoundOp op, OpGradient &g);
void gradientOf(dtensor::ConvertOp op, OpGradient &g);
void gradientOf(dtensor::AddOp op, OpGradient &g);
void gradientOf(dtensor::SubtractOp op, OpGradient &g);
void gradientOf(dtensor::MultiplyOp op, OpGradient &g);
void gradientOf(dtensor::DivideOp op, OpGradient &g);
void gradientOf(dtensor::RemainderOp op, OpGradient &g);
void gradientOf(dtensor::PowerOp op, OpGradient &g);
void gradientOf(dtensor::MaximumOp op, OpGradient &g);
void gradientOf(dtensor::MinimumOp op, OpGradient &g);
void gradientOf(dtensor::SelectOp op, OpGradient &g);
void gradientOf(dtensor::ClampOp op, OpGradient &g);
void gradientOf(dtensor::BroadcastInDimOp op, OpGradient &g);
void gradientOf(dtensor::ReshapeOp op, OpGradient &g);
void gradientOf(dtensor::TransposeOp op, OpGradient &g);
void gradientOf(dtensor::SliceOp op, OpGradient &g);
void gradientOf(dtensor::ConcatenateOp op, OpGradient &g);
void gradientOf(dtensor::ReverseOp op, OpGradient &g);
void gradientOf(dtensor::PadOp op, OpGradient &g);
void gradientOf(dtensor::TakeOp op, OpGradient &g);
void gradientOf(dtensor::DotGeneralOp op, OpGradient &g);
void gradientOf(dtensor::MatMulOp op, OpGradient &g);
void gradientOf(dtensor::ReduceOp op, OpGradient &g);
void gradientOf(dtensor::ConvolutionOp op, OpGradient &g);
void gradientOf(dtensor::ReduceWindowOp op, OpGradient &g);
void gradientOf(dtensor::SelectAndScatterOp op, OpGradient &g);
void gradientOf(dtensor::CumulativeOp op, OpGradient &g);
void gradientOf(dtensor::GatherOp op, OpGradient &g);
void gradientOf(dtensor::ScatterOp op, OpGradient &g);
void gradientOf(dtensor::DynamicSliceOp op, OpGradient &g);
void gradientOf(dtensor::DynamicUpdateSliceOp op, OpGradient &g);
void gradientOf(dtensor::SortOp op, OpGradient &g);
void gradientOf(dtensor::TopKOp op, OpGradient &g);
void gradientOf(dtensor::CholeskyOp op, OpGradient &g);
void gradientOf(dtensor::TriangularSolveOp op, OpGradient &g);
void gradientOf(dtensor::FftOp op, OpGradient &g);
void gradientOf(dtensor::GenericReduceOp op, OpGradient &g);
void gradientOf(dtensor::GeqrfOp op, OpGradient &g);
void gradientOf(dtensor::HouseholderProductOp op, OpGradient &g);
void gradientOf(dtensor::RelayoutOp op, OpGradient &g);
void gradientOf(dtensor::ConstraintOp op, OpGradient &g);
void gradientOf(dtensor::ReadVariableOp op, OpGradient &g);

/// The gradient of what a window's region or kinds make of its elements, one
/// after the other.
void gradientInTurn(dtensor::ReduceWindowOp op, OpGradient &g);
void gradientInTurn(dtensor::SelectAndScatterOp op, OpGradient &g);

} // namespace meshloom

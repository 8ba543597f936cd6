// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuDNN's types, numbers and functions, as the backend states them, against
// NVIDIA's cudnn.h. It checks as it is compiled.
#include "../../../lib/Runtime/Backends/CUDA/DnnFacts.h"
#include "FactsTest.h"

#include <cudnn.h>

namespace {
using namespace meshloom::cuda;

#define MESHLOOM_DNN_FUNCTION(name, ...)                                       \
  static_assert(isSame<DnnResult, cudnnStatus_t, DnnResult(__VA_ARGS__),       \
                       decltype(::name)>,                                      \
                #name);
#include "../../../lib/Runtime/Backends/CUDA/DnnFunctions.def"
#undef MESHLOOM_DNN_FUNCTION

SAME(DnnResult::Success, CUDNN_STATUS_SUCCESS);
SAME(DnnResult::NotInitialized, CUDNN_STATUS_NOT_INITIALIZED);
SAME(DnnResult::BadParam, CUDNN_STATUS_BAD_PARAM);
SAME(DnnResult::NotSupported, CUDNN_STATUS_NOT_SUPPORTED);
SAME(DnnResult::InternalError, CUDNN_STATUS_INTERNAL_ERROR);
SAME(DnnResult::ExecutionFailed, CUDNN_STATUS_EXECUTION_FAILED);
SAME(DnnObject::Convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
SAME(DnnObject::Engine, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
SAME(DnnObject::EngineConfiguration, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
SAME(DnnObject::Heuristics, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
SAME(DnnObject::Plan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
SAME(DnnObject::Forward,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
SAME(DnnObject::FilterGradient,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
SAME(DnnObject::DataGradient,
     CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
SAME(DnnObject::OperationGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
SAME(DnnObject::VariantPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
SAME(DnnObject::Tensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
SAME(DnnObject::Pointwise, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
SAME(DnnObject::PointwiseOperation,
     CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
SAME(DnnObject::Matmul, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
SAME(DnnObject::MatmulOperation, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
SAME(DnnObject::Reduction, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
SAME(DnnObject::ReductionOperation,
     CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
SAME(DnnValue::Handle, CUDNN_TYPE_HANDLE);
SAME(DnnValue::Boolean, CUDNN_TYPE_BOOLEAN);
SAME(DnnValue::PointwiseMode, CUDNN_TYPE_POINTWISE_MODE);
SAME(DnnValue::ReductionOperator, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
SAME(DnnValue::DataType, CUDNN_TYPE_DATA_TYPE);
SAME(DnnValue::Int64, CUDNN_TYPE_INT64);
SAME(DnnValue::Float, CUDNN_TYPE_FLOAT);
SAME(DnnValue::Double, CUDNN_TYPE_DOUBLE);
SAME(DnnValue::Pointer, CUDNN_TYPE_VOID_PTR);
SAME(DnnValue::ConvolutionMode, CUDNN_TYPE_CONVOLUTION_MODE);
SAME(DnnValue::HeuristicsMode, CUDNN_TYPE_HEUR_MODE);
SAME(DnnValue::NumericalNote, CUDNN_TYPE_NUMERICAL_NOTE);
SAME(DnnValue::Descriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
SAME(DnnAttribute::ConvolutionCompute, CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
SAME(DnnAttribute::ConvolutionMode, CUDNN_ATTR_CONVOLUTION_CONV_MODE);
SAME(DnnAttribute::ConvolutionDilations, CUDNN_ATTR_CONVOLUTION_DILATIONS);
SAME(DnnAttribute::ConvolutionStrides, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
SAME(DnnAttribute::ConvolutionPadAfter, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
SAME(DnnAttribute::ConvolutionPadBefore, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
SAME(DnnAttribute::ConvolutionRank, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
SAME(DnnAttribute::HeuristicsMode, CUDNN_ATTR_ENGINEHEUR_MODE);
SAME(DnnAttribute::HeuristicsGraph, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
SAME(DnnAttribute::HeuristicsResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
SAME(DnnAttribute::ConfigurationEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
SAME(DnnAttribute::PlanHandle, CUDNN_ATTR_EXECUTION_PLAN_HANDLE);
SAME(DnnAttribute::PlanConfiguration, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
SAME(DnnAttribute::PlanWorkspaceBytes,
     CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
SAME(DnnAttribute::ForwardAlpha,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA);
SAME(DnnAttribute::ForwardBeta, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA);
SAME(DnnAttribute::ForwardConvolution,
     CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC);
SAME(DnnAttribute::ForwardFilter, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W);
SAME(DnnAttribute::ForwardImage, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X);
SAME(DnnAttribute::ForwardResponse, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
SAME(DnnAttribute::DataGradientAlpha,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA);
SAME(DnnAttribute::DataGradientBeta,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA);
SAME(DnnAttribute::DataGradientConvolution,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC);
SAME(DnnAttribute::DataGradientFilter,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W);
SAME(DnnAttribute::DataGradientImage,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX);
SAME(DnnAttribute::DataGradientResponse,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
SAME(DnnAttribute::FilterGradientAlpha,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA);
SAME(DnnAttribute::FilterGradientBeta,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA);
SAME(DnnAttribute::FilterGradientConvolution,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC);
SAME(DnnAttribute::FilterGradientFilter,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW);
SAME(DnnAttribute::FilterGradientImage,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X);
SAME(DnnAttribute::FilterGradientResponse,
     CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY);
SAME(DnnAttribute::GraphHandle, CUDNN_ATTR_OPERATIONGRAPH_HANDLE);
SAME(DnnAttribute::GraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
SAME(DnnAttribute::TensorAlignment, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
SAME(DnnAttribute::TensorType, CUDNN_ATTR_TENSOR_DATA_TYPE);
SAME(DnnAttribute::TensorExtents, CUDNN_ATTR_TENSOR_DIMENSIONS);
SAME(DnnAttribute::TensorStrides, CUDNN_ATTR_TENSOR_STRIDES);
SAME(DnnAttribute::TensorId, CUDNN_ATTR_TENSOR_UNIQUE_ID);
SAME(DnnAttribute::PackIds, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
SAME(DnnAttribute::PackPointers, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
SAME(DnnAttribute::PackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
SAME(DnnAttribute::EngineNumericalNotes, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
SAME(DnnAttribute::PointwiseMode, CUDNN_ATTR_POINTWISE_MODE);
SAME(DnnAttribute::PointwiseCompute, CUDNN_ATTR_POINTWISE_MATH_PREC);
SAME(DnnAttribute::PointwiseAxis, CUDNN_ATTR_POINTWISE_AXIS);
SAME(DnnAttribute::PointwisePointwise,
     CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
SAME(DnnAttribute::PointwiseX, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
SAME(DnnAttribute::PointwiseB, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
SAME(DnnAttribute::PointwiseY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
SAME(DnnAttribute::PointwiseCondition, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
SAME(DnnAttribute::TensorIsVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
SAME(DnnAttribute::TensorIsByValue, CUDNN_ATTR_TENSOR_IS_BY_VALUE);
SAME(DnnAttribute::MatmulCompute, CUDNN_ATTR_MATMUL_COMP_TYPE);
SAME(DnnAttribute::MatmulA, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
SAME(DnnAttribute::MatmulB, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
SAME(DnnAttribute::MatmulC, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
SAME(DnnAttribute::MatmulMatmul, CUDNN_ATTR_OPERATION_MATMUL_DESC);
SAME(DnnAttribute::ReductionOperator, CUDNN_ATTR_REDUCTION_OPERATOR);
SAME(DnnAttribute::ReductionCompute, CUDNN_ATTR_REDUCTION_COMP_TYPE);
SAME(DnnAttribute::ReductionX, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
SAME(DnnAttribute::ReductionY, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
SAME(DnnAttribute::ReductionReduction, CUDNN_ATTR_OPERATION_REDUCTION_DESC);
SAME(DnnPointwise::Add, CUDNN_POINTWISE_ADD);
SAME(DnnPointwise::Multiply, CUDNN_POINTWISE_MUL);
SAME(DnnPointwise::Divide, CUDNN_POINTWISE_DIV);
SAME(DnnPointwise::Subtract, CUDNN_POINTWISE_SUB);
SAME(DnnPointwise::Exponential, CUDNN_POINTWISE_EXP);
SAME(DnnPointwise::Logarithm, CUDNN_POINTWISE_LOG);
SAME(DnnPointwise::IsGreaterOrEqual, CUDNN_POINTWISE_CMP_GE);
SAME(DnnPointwise::Index, CUDNN_POINTWISE_GEN_INDEX);
SAME(DnnPointwise::Select, CUDNN_POINTWISE_BINARY_SELECT);
SAME(DnnReduction::Sum, CUDNN_REDUCE_TENSOR_ADD);
SAME(DnnReduction::Largest, CUDNN_REDUCE_TENSOR_MAX);
SAME(DnnType::I32, CUDNN_DATA_INT32);
SAME(DnnType::Boolean, CUDNN_DATA_BOOLEAN);
SAME(DnnType::F32, CUDNN_DATA_FLOAT);
SAME(DnnType::F64, CUDNN_DATA_DOUBLE);
SAME(DnnType::F16, CUDNN_DATA_HALF);
SAME(DnnType::BF16, CUDNN_DATA_BFLOAT16);
SAME(DnnMode::Convolution, CUDNN_CONVOLUTION);
SAME(DnnMode::CrossCorrelation, CUDNN_CROSS_CORRELATION);
SAME(DnnHeuristics::Fallback, CUDNN_HEUR_MODE_FALLBACK);
SAME(DnnHeuristics::A, CUDNN_HEUR_MODE_A);
SAME(DnnNote::TensorCore, CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
SAME(DnnNote::DownConvertInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
SAME(DnnNote::ReducedPrecisionReduction,
     CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION);
SAME(DnnNote::FourierTransform, CUDNN_NUMERICAL_NOTE_FFT);
SAME(DnnNote::Nondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
SAME(DnnNote::Winograd, CUDNN_NUMERICAL_NOTE_WINOGRAD);

// The checks above are part of the compilation; this lists them as a test.
TEST(DnnFactsTest, AgreeWithCudnnHeader) {
  EXPECT_EQ(CUDNN_MAJOR, 9);
}
} // namespace

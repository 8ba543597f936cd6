// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The facts about NVIDIA's cuDNN 9 that this backend needs: its types, numbers
// and functions. Where cudnn.h is there, a test compares it with them.
#pragma once

#include "DriverFacts.h"

namespace meshloom::cuda {

/// The results of the functions. A thousand of numbers is a category: BadParam
/// and NotSupported are the first numbers of theirs.
enum class DnnResult : int {
  Success = 0,
  NotInitialized = 1001,
  BadParam = 2000,
  NotSupported = 3000,
  InternalError = 4000,
  ExecutionFailed = 5000
};

/// The kinds of descriptors, which are all objects but the handle.
enum class DnnObject : int {
  Pointwise = 0,
  Convolution = 1,
  Engine = 2,
  EngineConfiguration = 3,
  Heuristics = 4,
  Plan = 5,
  Forward = 10,
  FilterGradient = 11,
  DataGradient = 12,
  PointwiseOperation = 13,
  OperationGraph = 15,
  VariantPack = 16,
  Tensor = 17,
  Matmul = 18,
  MatmulOperation = 19,
  Reduction = 21,
  ReductionOperation = 22,
  ReshapeOperation = 31
};

/// The types of attributes' values.
enum class DnnValue : int {
  Handle = 0,
  DataType = 1,
  Boolean = 2,
  Int64 = 3,
  Float = 4,
  Double = 5,
  Pointer = 6,
  ConvolutionMode = 7,
  HeuristicsMode = 8,
  NumericalNote = 11,
  PointwiseMode = 14,
  Descriptor = 15,
  ReductionOperator = 18
};

enum class DnnAttribute : int {
  PointwiseMode = 0,
  PointwiseCompute = 1,
  PointwiseAxis = 9,
  ConvolutionCompute = 100,
  ConvolutionMode = 101,
  ConvolutionDilations = 102,
  ConvolutionStrides = 103,
  ConvolutionPadAfter = 104,
  ConvolutionPadBefore = 105,
  ConvolutionRank = 106,
  HeuristicsMode = 200,
  HeuristicsGraph = 201,
  HeuristicsResults = 202,
  ConfigurationEngine = 300,
  PlanHandle = 400,
  PlanConfiguration = 401,
  PlanWorkspaceBytes = 402,
  ForwardAlpha = 700,
  ForwardBeta = 701,
  ForwardConvolution = 702,
  ForwardFilter = 703,
  ForwardImage = 704,
  ForwardResponse = 705,
  DataGradientAlpha = 706,
  DataGradientBeta = 707,
  DataGradientConvolution = 708,
  DataGradientFilter = 709,
  DataGradientImage = 710,
  DataGradientResponse = 711,
  FilterGradientAlpha = 712,
  FilterGradientBeta = 713,
  FilterGradientConvolution = 714,
  FilterGradientFilter = 715,
  FilterGradientImage = 716,
  FilterGradientResponse = 717,
  PointwisePointwise = 750,
  PointwiseX = 751,
  PointwiseB = 752,
  PointwiseY = 753,
  PointwiseCondition = 758,
  GraphHandle = 800,
  GraphOperations = 801,
  TensorAlignment = 900,
  TensorType = 901,
  TensorExtents = 902,
  TensorStrides = 903,
  TensorId = 906,
  TensorIsVirtual = 907,
  TensorIsByValue = 908,
  PackIds = 1000,
  PackPointers = 1001,
  PackWorkspace = 1003,
  EngineNumericalNotes = 1303,
  MatmulCompute = 1500,
  MatmulA = 1520,
  MatmulB = 1521,
  MatmulC = 1522,
  MatmulMatmul = 1523,
  ReductionOperator = 1600,
  ReductionCompute = 1601,
  ReductionX = 1610,
  ReductionY = 1611,
  ReductionReduction = 1612,
  ReshapeX = 2200,
  ReshapeY = 2201
};

enum class DnnType : int {
  F32 = 0,
  F64 = 1,
  F16 = 2,
  I32 = 4,
  BF16 = 9,
  Boolean = 11
};
/// Convolution: a filter is read from its end.
enum class DnnMode : int { Convolution = 0, CrossCorrelation = 1 };
/// Operations on elements. Select: x where the condition holds, else b.
enum class DnnPointwise : int {
  Add = 0,
  Multiply = 1,
  Divide = 6,
  Subtract = 9,
  Exponential = 13,
  Logarithm = 15,
  IsGreaterOrEqual = 303,
  IsLess = 304,
  Index = 501,
  Select = 601
};
enum class DnnReduction : int { Sum = 0, Largest = 3 };
enum class DnnHeuristics : int { Fallback = 2, A = 3 };
/// An engine's remarks on its numbers.
enum class DnnNote : int {
  TensorCore = 0,
  DownConvertInputs = 1,
  ReducedPrecisionReduction = 2,
  FourierTransform = 3,
  Nondeterministic = 4,
  Winograd = 5
};

using DnnHandle = struct DnnHandleObject *;
using DnnDescriptorHandle = void *;

} // namespace meshloom::cuda

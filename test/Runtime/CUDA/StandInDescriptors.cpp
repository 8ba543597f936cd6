// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors, operations and graphs of the stand-in cuDNN, when they are finished.
#include "StandInDescriptors.h"

#include <algorithm>
#include <array>
#include <utility>

namespace meshloom::cuda::standin {
namespace {

DType numbersOf(DnnType type) {
  switch (type) {
  case DnnType::F64:
    return DType::F64;
  case DnnType::F16:
    return DType::F16;
  case DnnType::BF16:
    return DType::BF16;
  case DnnType::Boolean:
    return DType::I1;
  default:
    return DType::F32;
  }
}

bool arePositive(std::span<const int64_t> values) {
  return std::ranges::all_of(values, [](int64_t value) { return value > 0; });
}

bool finishTensor(Descriptor &descriptor) {
  using Attribute = DnnAttribute;
  const auto type =
      descriptor.value<DnnType>(Attribute::TensorType, DnnValue::DataType);
  const auto extents = descriptor.list<int64_t>(Attribute::TensorExtents,
                                                DnnValue::Int64),
             strides = descriptor.list<int64_t>(Attribute::TensorStrides,
                                                DnnValue::Int64);
  const auto id = descriptor.value<int64_t>(Attribute::TensorId,
                                            DnnValue::Int64),
             alignment = descriptor.value<int64_t>(Attribute::TensorAlignment,
                                                   DnnValue::Int64);
  if (!type || !extents || !strides || !id || !alignment ||
      extents->size() != strides->size() || !arePositive(*extents) ||
      !arePositive(*strides))
    return false;
  auto flag = [&](Attribute attribute) {
    return descriptor.value<char>(attribute, DnnValue::Boolean).value_or(0) !=
           0;
  };
  descriptor.tensor = {{numbersOf(*type), *extents, *strides, *id, *alignment},
                       *type,
                       flag(Attribute::TensorIsVirtual),
                       flag(Attribute::TensorIsByValue)};
  // The library has a bit for each truth value in memory, as nobody else has.
  return *alignment > 0 &&
         (*type == DnnType::Boolean
              ? descriptor.tensor.isVirtual
              : *alignment % numberWidth(descriptor.tensor.type) == 0);
}

bool finishWindows(Descriptor &descriptor) {
  using Attribute = DnnAttribute;
  const auto rank =
      descriptor.value<int64_t>(Attribute::ConvolutionRank, DnnValue::Int64);
  const auto compute = descriptor.value<DnnType>(Attribute::ConvolutionCompute,
                                                 DnnValue::DataType);
  const auto mode = descriptor.value<DnnMode>(Attribute::ConvolutionMode,
                                              DnnValue::ConvolutionMode);
  auto list = [&](Attribute attribute) {
    return descriptor.list<int64_t>(attribute, DnnValue::Int64)
        .value_or(std::vector<int64_t>());
  };
  if (!rank || !compute || !mode)
    return false;
  ConvolutionWindows &windows = descriptor.windows;
  windows = {numbersOf(*compute),
             *mode == DnnMode::Convolution,
             list(Attribute::ConvolutionStrides),
             list(Attribute::ConvolutionDilations),
             list(Attribute::ConvolutionPadBefore),
             list(Attribute::ConvolutionPadAfter)};
  auto areNotNegative = [](std::span<const int64_t> values) {
    return std::ranges::all_of(values,
                               [](int64_t value) { return value >= 0; });
  };
  const auto lists = {&windows.strides, &windows.dilations, &windows.before,
                      &windows.after};
  return std::ranges::all_of(lists,
                             [&](const std::vector<int64_t> *values) {
                               return std::ssize(*values) == *rank;
                             }) &&
         arePositive(windows.strides) && arePositive(windows.dilations) &&
         areNotNegative(windows.before) && areNotNegative(windows.after);
}

/// Returns whether the tensors have the extents that the windows give them.
bool fits(const ConvolutionOperation &operation) {
  const ConvolutionWindows &windows = operation.windows;
  const auto &[image, filter, response] = operation.tensors;
  const size_t rank = windows.strides.size() + 2;
  for (const ConvolutionTensor &tensor : operation.tensors)
    if (tensor.extents.size() != rank || tensor.type != image.type)
      return false;
  const int64_t channels = filter.extents[1];
  if (image.extents[0] != response.extents[0] ||
      filter.extents[0] != response.extents[1] ||
      image.extents[1] % channels != 0 ||
      filter.extents[0] % (image.extents[1] / channels) != 0)
    return false;
  for (size_t d = 0; d + 2 < rank; ++d) {
    const int64_t room = image.extents[d + 2] + windows.before[d] +
                         windows.after[d] -
                         (filter.extents[d + 2] - 1) * windows.dilations[d] - 1;
    if (room < 0 || response.extents[d + 2] != room / windows.strides[d] + 1)
      return false;
  }
  return windows.compute ==
         (image.type == DType::F64 ? DType::F64 : DType::F32);
}

/// The attributes of a form of the operation.
struct FormNames {
  ConvolutionRole result;
  DnnAttribute alpha, beta, windows;
  std::array<DnnAttribute, 3> tensors;
};

FormNames namesOf(DnnObject kind) {
  using A = DnnAttribute;
  switch (kind) {
  case DnnObject::Forward:
    return {Response,
            A::ForwardAlpha,
            A::ForwardBeta,
            A::ForwardConvolution,
            {A::ForwardImage, A::ForwardFilter, A::ForwardResponse}};
  case DnnObject::DataGradient:
    return {
        Image,
        A::DataGradientAlpha,
        A::DataGradientBeta,
        A::DataGradientConvolution,
        {A::DataGradientImage, A::DataGradientFilter, A::DataGradientResponse}};
  default:
    return {Filter,
            A::FilterGradientAlpha,
            A::FilterGradientBeta,
            A::FilterGradientConvolution,
            {A::FilterGradientImage, A::FilterGradientFilter,
             A::FilterGradientResponse}};
  }
}

/// The work of one convolution.
class Convolution : public StandInOperations {
public:
  explicit Convolution(ConvolutionOperation operation)
      : operation(std::move(operation)) {
    for (size_t role = 0; role < 3; ++role)
      if (role != operation.result)
        order.push_back(role);
    order.push_back(operation.result);
  }
  std::vector<ConvolutionTensor> tensors() const override {
    std::vector<ConvolutionTensor> tensors;
    for (size_t role : order)
      tensors.push_back(operation.tensors[role]);
    return tensors;
  }
  void run(std::span<char *const> arrays, bool isRounded) const override {
    std::array<char *, 3> byRole{};
    for (size_t i = 0; i < order.size(); ++i)
      byRole[order[i]] = arrays[i];
    convolve(operation, byRole, isRounded);
  }

private:
  const ConvolutionOperation operation;
  std::vector<size_t> order; ///< roles, of which the last is the result
};

bool finishConvolution(Descriptor &descriptor) {
  const FormNames names = namesOf(descriptor.kind);
  ConvolutionOperation operation;
  operation.result = names.result;
  const Descriptor *windows =
      descriptor.descriptor(names.windows, DnnObject::Convolution);
  if (!windows)
    return false;
  operation.windows = windows->windows;
  for (size_t role = 0; role < 3; ++role) {
    const Descriptor *tensor =
        descriptor.descriptor(names.tensors[role], DnnObject::Tensor);
    if (!tensor)
      return false;
    operation.tensors[role] = tensor->tensor;
  }
  auto scale = [&](DnnAttribute attribute) -> std::optional<double> {
    if (operation.windows.compute == DType::F64)
      return descriptor.value<double>(attribute, DnnValue::Double);
    return descriptor.value<float>(attribute, DnnValue::Float);
  };
  // We have no use for other scales.
  if (scale(names.alpha) != 1 || scale(names.beta) != 0 || !fits(operation))
    return false;
  descriptor.work = std::make_shared<Convolution>(std::move(operation));
  return true;
}

/// Reads the tensors of an operation on two operands or elements.
bool finishOperation(Descriptor &descriptor,
                     std::initializer_list<DnnAttribute> operands,
                     DnnAttribute result) {
  StandInOperation &operation = descriptor.operation;
  operation.kind = descriptor.kind;
  for (DnnAttribute attribute : operands)
    if (const Descriptor *tensor =
            descriptor.descriptor(attribute, DnnObject::Tensor)) {
      operation.operands.push_back(tensor->tensor);
      operation.hasCondition = attribute == DnnAttribute::PointwiseCondition;
    }
  const Descriptor *tensor = descriptor.descriptor(result, DnnObject::Tensor);
  if (!tensor || operation.operands.empty())
    return false;
  operation.result = tensor->tensor;
  return fits(operation);
}

bool finishProduct(Descriptor &descriptor) {
  return descriptor.descriptor(DnnAttribute::MatmulMatmul, DnnObject::Matmul) &&
         descriptor.descriptor(DnnAttribute::MatmulB, DnnObject::Tensor) &&
         finishOperation(descriptor,
                         {DnnAttribute::MatmulA, DnnAttribute::MatmulB},
                         DnnAttribute::MatmulC);
}

bool finishReshape(Descriptor &descriptor) {
  return finishOperation(descriptor, {DnnAttribute::ReshapeX},
                         DnnAttribute::ReshapeY);
}

bool finishReduction(Descriptor &descriptor) {
  const Descriptor *reduction = descriptor.descriptor(
      DnnAttribute::ReductionReduction, DnnObject::Reduction);
  if (!reduction)
    return false;
  descriptor.operation.reduction = *reduction->value<DnnReduction>(
      DnnAttribute::ReductionOperator, DnnValue::ReductionOperator);
  return finishOperation(descriptor, {DnnAttribute::ReductionX},
                         DnnAttribute::ReductionY);
}

bool finishPointwise(Descriptor &descriptor) {
  const Descriptor *pointwise = descriptor.descriptor(
      DnnAttribute::PointwisePointwise, DnnObject::Pointwise);
  if (!pointwise)
    return false;
  descriptor.operation.pointwise = *pointwise->value<DnnPointwise>(
      DnnAttribute::PointwiseMode, DnnValue::PointwiseMode);
  descriptor.operation.axis = size_t(
      pointwise->value<int64_t>(DnnAttribute::PointwiseAxis, DnnValue::Int64)
          .value_or(0));
  return finishOperation(descriptor,
                         {DnnAttribute::PointwiseX, DnnAttribute::PointwiseB,
                          DnnAttribute::PointwiseCondition},
                         DnnAttribute::PointwiseY);
}

/// Returns whether sums are f32, and the mode is there.
bool finishMode(const Descriptor &descriptor, DnnAttribute compute,
                DnnAttribute mode, DnnValue type) {
  return descriptor.value<DnnType>(compute, DnnValue::DataType) ==
             DnnType::F32 &&
         (descriptor.kind == DnnObject::Matmul ||
          descriptor.value<int>(mode, type));
}

bool finishOperations(Descriptor &descriptor) {
  const auto handle =
      descriptor.value<DnnHandle>(DnnAttribute::GraphHandle, DnnValue::Handle);
  const auto handles = descriptor.list<DnnDescriptorHandle>(
      DnnAttribute::GraphOperations, DnnValue::Descriptor);
  if (!handle || !*handle || !handles || handles->empty())
    return false;
  std::vector<StandInOperation> operations;
  for (DnnDescriptorHandle operation : *handles) {
    const auto *part = static_cast<const Descriptor *>(operation);
    if (!part || !part->isFinished)
      return false;
    descriptor.work = part->work;
    operations.push_back(part->operation);
  }
  if (!descriptor.work)
    descriptor.work = standInGraph(std::move(operations));
  return descriptor.work != nullptr;
}

} // namespace

bool finishGraph(Descriptor &descriptor) {
  switch (descriptor.kind) {
  case DnnObject::Tensor:
    return finishTensor(descriptor);
  case DnnObject::Convolution:
    return finishWindows(descriptor);
  case DnnObject::Forward:
  case DnnObject::DataGradient:
  case DnnObject::FilterGradient:
    return finishConvolution(descriptor);
  case DnnObject::MatmulOperation:
    return finishProduct(descriptor);
  case DnnObject::ReshapeOperation:
    return finishReshape(descriptor);
  case DnnObject::ReductionOperation:
    return finishReduction(descriptor);
  case DnnObject::PointwiseOperation:
    return finishPointwise(descriptor);
  case DnnObject::Matmul:
    return finishMode(descriptor, DnnAttribute::MatmulCompute, {}, {});
  case DnnObject::Reduction:
    return finishMode(descriptor, DnnAttribute::ReductionCompute,
                      DnnAttribute::ReductionOperator,
                      DnnValue::ReductionOperator);
  case DnnObject::Pointwise:
    return finishMode(descriptor, DnnAttribute::PointwiseCompute,
                      DnnAttribute::PointwiseMode, DnnValue::PointwiseMode);
  case DnnObject::OperationGraph:
    return finishOperations(descriptor);
  default:
    return false;
  }
}

} // namespace meshloom::cuda::standin

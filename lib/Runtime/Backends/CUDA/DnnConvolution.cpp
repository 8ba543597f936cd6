// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A convolution as a graph of cuDNN's.
#include "DnnGraph.h"

#include <array>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
/// The names of an operation's attributes.
struct ConvolutionNames {
  DnnObject kind;
  DnnAttribute alpha, beta, convolution;
  std::array<DnnAttribute, 3> tensors;
};
} // namespace

static ConvolutionNames namesOf(ConvolutionForm form) {
  using Attribute = DnnAttribute;
  switch (form) {
  case ConvolutionForm::Forward:
    return {DnnObject::Forward,
            Attribute::ForwardAlpha,
            Attribute::ForwardBeta,
            Attribute::ForwardConvolution,
            {Attribute::ForwardImage, Attribute::ForwardFilter,
             Attribute::ForwardResponse}};
  case ConvolutionForm::DataGradient:
    return {DnnObject::DataGradient,
            Attribute::DataGradientAlpha,
            Attribute::DataGradientBeta,
            Attribute::DataGradientConvolution,
            {Attribute::DataGradientImage, Attribute::DataGradientFilter,
             Attribute::DataGradientResponse}};
  case ConvolutionForm::FilterGradient:
    break;
  }
  return {DnnObject::FilterGradient,
          Attribute::FilterGradientAlpha,
          Attribute::FilterGradientBeta,
          Attribute::FilterGradientConvolution,
          {Attribute::FilterGradientImage, Attribute::FilterGradientFilter,
           Attribute::FilterGradientResponse}};
}

const DnnDescriptor &
DnnConvolution::addWindows(const ImageConvolution &convolution) {
  DnnDescriptor &described = add(DnnObject::Convolution);
  described.set(DnnAttribute::ConvolutionCompute, DnnValue::DataType,
                dnnSumTypeOf(convolution.type));
  described.set(DnnAttribute::ConvolutionMode, DnnValue::ConvolutionMode,
                convolution.isFlipped ? DnnMode::Convolution
                                      : DnnMode::CrossCorrelation);
  described.set(DnnAttribute::ConvolutionRank, DnnValue::Int64,
                int64_t(convolution.dims.size()));
  for (auto [attribute, member] :
       {std::pair(DnnAttribute::ConvolutionStrides,
                  &ImageConvolution::Dim::stride),
        std::pair(DnnAttribute::ConvolutionDilations,
                  &ImageConvolution::Dim::dilation),
        std::pair(DnnAttribute::ConvolutionPadBefore,
                  &ImageConvolution::Dim::padBefore),
        std::pair(DnnAttribute::ConvolutionPadAfter,
                  &ImageConvolution::Dim::padAfter)}) {
    std::vector<int64_t> values;
    values.reserve(convolution.dims.size());
    for (const ImageConvolution::Dim &dim : convolution.dims)
      values.push_back(dim.*member);
    described.setList(attribute, DnnValue::Int64, values);
  }
  described.finish();
  return described;
}

DnnConvolution::DnnConvolution(const DnnLibrary &library, DnnHandle handle,
                               std::mutex &running,
                               const ImageConvolution &convolution)
    : DnnGraph(library, handle, running, convolution.type) {
  const ConvolutionNames names = namesOf(convolution.form);
  const DnnDescriptor &windows = addWindows(convolution);
  DnnDescriptor &operation = add(names.kind);
  operation.set(names.convolution, windows);
  for (size_t role = 0; role < convolution.tensors.size(); ++role) {
    const ImageConvolution::Tensor &tensor = convolution.tensors[role];
    operation.set(
        names.tensors[role],
        addTensor({dnnTypeOf(convolution.type), tensor.extents, tensor.strides,
                   tensor.alignment},
                  tensor.operand,
                  tensor.offset * int64_t(byteWidth(convolution.type))));
  }
  if (convolution.type == DType::F64) {
    operation.set(names.alpha, DnnValue::Double, 1.0);
    operation.set(names.beta, DnnValue::Double, 0.0);
  } else {
    operation.set(names.alpha, DnnValue::Float, 1.0F);
    operation.set(names.beta, DnnValue::Float, 0.0F);
  }
  addOperation(operation);
}

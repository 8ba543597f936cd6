// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The library function "convolution": reads the op's numbers, and turns the
// boxes of one call into a convolution of boxes.
#include "Convolution.h"
#include "Denormals.h"
#include "LibraryArrays.h"
#include "LibraryTable.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::library;

namespace {

class ConvolutionRoutine final : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    auto routine = std::make_unique<ConvolutionRoutine>();
    if (Status ok = routine->read(step); !ok)
      return ok.error();
    return RoutineOrError(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const DenormalsAreZeros mode;
    const LibraryOperand &lhs = arguments.inputs[0], &rhs = arguments.inputs[1],
                         &out = arguments.outputs[0];
    auto extent = [&](int64_t loop) {
      return loop < 0 ? 1 : std::max<int64_t>(arguments.extents[loop], 0);
    };
    Convolution c;
    c.call = this;
    c.by = by;
    c.groups = extent(groupLoop);
    c.batch = extent(batchLoop);
    c.input = extent(inputLoop);
    c.output = extent(outputLoop);
    const Shape &rhsShape = *rhs.global;
    const int64_t outputs =
        rhsShape[kernelOutput] / (featureGroups * batchGroups);
    c.lhsBatchStep = lhs.strides[inputBatch];
    c.lhsInputStep = lhs.strides[inputFeature];
    c.rhsInputStep = rhs.strides[kernelInput];
    c.rhsOutputStep = rhs.strides[kernelOutput];
    c.outBatchStep = out.strides[outputBatch];
    c.outOutputStep = out.strides[outputFeature];
    c.groupStep = {featureGroups > 1
                       ? rhsShape[kernelInput] * c.lhsInputStep
                       : (*out.global)[outputBatch] * c.lhsBatchStep,
                   outputs * c.rhsOutputStep, outputs * c.outOutputStep};
    for (const Spatial &s : spatial) {
      ConvolutionDim dim;
      dim.in = std::max<int64_t>(lhs.extent[s.lhs], 0);
      dim.kernel = std::max<int64_t>(rhs.extent[s.rhs], 0);
      dim.out = std::max<int64_t>(out.extent[s.out], 0);
      dim.stride = s.stride;
      dim.lhsDilation = s.lhsDilation;
      dim.rhsDilation = s.rhsDilation;
      dim.reversed = s.reversed;
      dim.hasLargeKernel = rhsShape[s.rhs] > (*out.global)[s.out];
      dim.lhsStep = lhs.strides[s.lhs];
      dim.rhsStep = rhs.strides[s.rhs];
      dim.outStep = out.strides[s.out];
      // The first place of the window in lhs, counted from its box.
      const int64_t first =
          s.reversed ? rhsShape[s.rhs] - rhs.end(s.rhs) : rhs.begin(s.rhs);
      dim.low = lhs.begin(s.lhs) * s.lhsDilation -
                (out.begin(s.out) * s.stride - s.low + first * s.rhsDilation);
      c.dims.push_back(dim);
    }
    return convolve(c, out.type, lhs.data, rhs.data, out.data);
  }

private:
  struct Spatial {
    size_t lhs, rhs, out;
    int64_t stride, low, lhsDilation, rhsDilation;
    bool reversed;
  };

  Status read(const LibraryStep &step) {
    OptionReader options(step.step);
    if (step.inputs.size() != 2 || step.outputs.size() != 1)
      return Error("a convolution takes two operands and has one result");
    const size_t rank = step.outputs[0]->shape.size();
    for (const BufferDecl *decl :
         {step.inputs[0], step.inputs[1], step.outputs[0]})
      if (decl->shape.size() != rank || decl->type != step.outputs[0]->type)
        return Error("a convolution's operands differ in rank or type");
    bool good = rank >= 2;
    auto loop = [&](std::string_view name) {
      const int64_t value = options.number(name);
      good &= value >= 0 && value < int64_t(step.step.loops.size());
      return value;
    };
    auto inRank = [&](int64_t value) {
      good &= value >= 0 && value < int64_t(rank);
      return size_t(value);
    };
    auto dim = [&](std::string_view name) {
      return inRank(options.number(name));
    };
    auto atLeast = [&](int64_t value, int64_t least) {
      good &= value >= least;
      return value;
    };
    if (options.has("group_loop"))
      groupLoop = loop("group_loop");
    batchLoop = loop("batch_loop");
    inputLoop = loop("input_feature_loop");
    outputLoop = loop("output_feature_loop");
    inputBatch = dim("input_batch_dimension");
    inputFeature = dim("input_feature_dimension");
    kernelInput = dim("kernel_input_feature_dimension");
    kernelOutput = dim("kernel_output_feature_dimension");
    outputBatch = dim("output_batch_dimension");
    outputFeature = dim("output_feature_dimension");
    featureGroups = atLeast(options.number("feature_group_count"), 1);
    batchGroups = atLeast(options.number("batch_group_count"), 1);
    const auto in = options.list("input_spatial_dimensions"),
               kernel = options.list("kernel_spatial_dimensions"),
               out = options.list("output_spatial_dimensions"),
               strides = options.list("window_strides"),
               low = options.list("padding_low"),
               lhsDilation = options.list("lhs_dilation"),
               rhsDilation = options.list("rhs_dilation"),
               reversal = options.list("window_reversal");
    for (const auto *list : {&in, &kernel, &out, &strides, &low, &lhsDilation,
                             &rhsDilation, &reversal})
      good &= list->size() + 2 == rank;
    if (!good || !options.ok())
      return Error("a convolution's options are missing or out of range");
    for (size_t i = 0; i < in.size(); ++i)
      spatial.push_back({inRank(in[i]), inRank(kernel[i]), inRank(out[i]),
                         atLeast(strides[i], 1), low[i],
                         atLeast(lhsDilation[i], 1), atLeast(rhsDilation[i], 1),
                         reversal[i] != 0});
    if (!good)
      return Error("a convolution's options are missing or out of range");
    // The extents of the whole op decide, not those of a box: where a group has
    // few results, products would mostly compute zeros.
    const int64_t outputs =
        step.inputs[1]->shape[kernelOutput] / (featureGroups * batchGroups);
    if (step.deterministic)
      by = outputs < 4 ? Convolution::By::Loops : Convolution::By::Products;
    return Success();
  }

  int64_t groupLoop = -1, batchLoop = -1, inputLoop = -1, outputLoop = -1;
  size_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0,
         outputBatch = 0, outputFeature = 0;
  int64_t featureGroups = 1, batchGroups = 1;
  Convolution::By by = Convolution::By::Any;
  std::vector<Spatial> spatial;
};

} // namespace

namespace meshloom::library {
LibraryRows functionsOfConvolutionCall() {
  static constexpr LibraryRow rows[] = {
      {"convolution", ConvolutionRoutine::make, {.isProduct = true}}};
  return rows;
}
} // namespace meshloom::library

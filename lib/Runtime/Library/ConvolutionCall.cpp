// The library function "convolution": reads the op's numbers, and turns the
// boxes of one call into a convolution of boxes.
#include "Convolution.h"
#include "LibraryFunctions.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::library;

namespace {

/// Reads `step.attributes`, in order: the loops of groups (-1: none), batch,
/// input and output features; the dims of batch and feature of lhs, input and
/// output feature of rhs, batch and feature of the result; feature groups and
/// batch groups; then of every spatial dim: its dim in lhs, rhs and the result,
/// stride, low padding, lhs dilation, rhs dilation, reversal.
class ConvolutionRoutine final : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step) {
    auto routine = std::make_unique<ConvolutionRoutine>();
    if (Status ok = routine->read(step); !ok)
      return ok.error();
    return MadeRoutine(std::move(routine));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &lhs = arguments.inputs[0], &rhs = arguments.inputs[1],
                         &out = arguments.outputs[0];
    auto extent = [&](int64_t loop) {
      return loop < 0 ? 1 : std::max<int64_t>(arguments.extents[loop], 0);
    };
    Convolution c;
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
    const std::vector<int64_t> &values = step.step.attributes;
    if (step.inputs.size() != 2 || step.outputs.size() != 1 ||
        values.size() < 12 || (values.size() - 12) % 8 != 0)
      return Error("a convolution takes two operands, and its numbers");
    const size_t rank = 2 + (values.size() - 12) / 8;
    for (const BufferDecl *decl :
         {step.inputs[0], step.inputs[1], step.outputs[0]})
      if (decl->shape.size() != rank || decl->type != step.outputs[0]->type)
        return Error("a convolution's operands differ in rank or type");
    bool good = true;
    auto loop = [&](size_t i) {
      good &= values[i] >= -1 && values[i] < int64_t(step.step.loops.size());
      return values[i];
    };
    auto dim = [&](size_t i) {
      good &= values[i] >= 0 && values[i] < int64_t(rank);
      return size_t(values[i]);
    };
    auto atLeast = [&](size_t i, int64_t least) {
      good &= values[i] >= least;
      return values[i];
    };
    groupLoop = loop(0);
    batchLoop = loop(1);
    inputLoop = loop(2);
    outputLoop = loop(3);
    inputBatch = dim(4);
    inputFeature = dim(5);
    kernelInput = dim(6);
    kernelOutput = dim(7);
    outputBatch = dim(8);
    outputFeature = dim(9);
    featureGroups = atLeast(10, 1);
    batchGroups = atLeast(11, 1);
    for (size_t i = 12; i < values.size(); i += 8)
      spatial.push_back({dim(i), dim(i + 1), dim(i + 2), atLeast(i + 3, 1),
                         values[i + 4], atLeast(i + 5, 1), atLeast(i + 6, 1),
                         values[i + 7] != 0});
    if (!good)
      return Error("a convolution's numbers are out of range");
    return Success();
  }

  int64_t groupLoop = -1, batchLoop = -1, inputLoop = -1, outputLoop = -1;
  size_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0,
         outputBatch = 0, outputFeature = 0;
  int64_t featureGroups = 1, batchGroups = 1;
  std::vector<Spatial> spatial;
};

} // namespace

MadeRoutine library::makeConvolution(const LibraryStep &step) {
  return ConvolutionRoutine::make(step);
}

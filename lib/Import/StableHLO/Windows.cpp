// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// reduce_window, which JAX also writes running sums with, and
// select_and_scatter.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Windows.h"

#include <numeric>

using namespace meshloom;
using namespace meshloom::importer;

/// The window of an op, whose lists may be left out, behind `lanes`.
template <typename OpTy>
static FailureOr<dtensor::WindowSpec>
windowOf(Importer &im, OpTy op, int64_t rank, ArrayRef<unsigned> lanes) {
  dtensor::WindowSpec spec;
  std::string wrong;
  auto list = [&](std::optional<ArrayRef<int64_t>> values, StringRef name) {
    if (values && (int64_t(values->size()) != rank ||
                   llvm::any_of(*values, [](int64_t n) { return n < 1; })))
      wrong = name.str();
    SmallVector<int64_t> result(lanes.size(), 1);
    if (values)
      llvm::append_range(result, *values);
    else
      result.append(rank, 1);
    return result;
  };
  spec.dimensions = list(op.getWindowDimensions(), "window_dimensions");
  spec.strides = list(op.getWindowStrides(), "window_strides");
  if constexpr (std::is_same_v<OpTy, stablehlo::ReduceWindowOp>) {
    spec.baseDilations = list(op.getBaseDilations(), "base_dilations");
    spec.windowDilations = list(op.getWindowDilations(), "window_dilations");
  } else {
    spec.baseDilations = list(std::nullopt, "");
    spec.windowDilations = list(std::nullopt, "");
  }
  spec.padding.assign(2 * lanes.size(), 0);
  if (auto padding = op.getPadding()) {
    if (padding->getNumElements() != 2 * rank)
      wrong = "padding";
    llvm::append_range(spec.padding, padding->template getValues<int64_t>());
  } else {
    spec.padding.append(2 * rank, 0);
  }
  if (!wrong.empty())
    return im.error(wrong) << " does not fit a tensor of rank " << rank;
  return spec;
}

/// A running reduction as JAX writes it: a window as large as the dim, all of
/// which but one place is padding, on one side.
struct Running {
  int64_t dim;
  bool reverse;
};
static std::optional<Running> runningOf(const dtensor::WindowSpec &spec,
                                        ArrayRef<int64_t> shape) {
  std::optional<Running> result;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (spec.strides[dim] != 1 || spec.baseDilations[dim] != 1 ||
        spec.windowDilations[dim] != 1)
      return std::nullopt;
    int64_t window = spec.dimensions[dim], low = spec.padding[2 * dim],
            high = spec.padding[2 * dim + 1];
    if (window == 1 && low == 0 && high == 0)
      continue;
    bool forward = low == window - 1 && high == 0,
         reverse = low == 0 && high == window - 1;
    if (result || window != shape[dim] || (!forward && !reverse))
      return std::nullopt;
    result = {int64_t(dim), reverse};
  }
  return result;
}

static Imported importReduceWindow(Importer &im, stablehlo::ReduceWindowOp op) {
  LaneBuilder &b = im.b;
  SmallVector<Value> inputs = b.aligned(im.get(op.getInputs())),
                     inits = im.get(op.getInitValues());
  if (inputs.empty())
    return im.error("reduce_window needs at least one operand");
  inputs = im.promoted(op.getBody(), inputs);
  inits = im.promoted(op.getBody(), inits);
  Lanes lanes = b.lanesOf(inputs);
  auto spec = windowOf(im, op, b.rankOf(inputs[0]), lanes);
  if (failed(spec))
    return failure();
  if (!b.lanesOf(inits).empty())
    return im.error("init values of a window that differ from device to device "
                    "are not supported");
  auto kind = inputs.size() == 1 ? Importer::kindOf(op.getBody())
                                 : std::optional<ReduceKind>();
  RankedTensorType first = Importer::typeOf(op->getResult(0));
  if (kind && im.isIdentity(*kind, inits[0]) && first == b.typeOf(inputs[0]))
    if (auto running = runningOf(
            *spec, cast<RankedTensorType>(inputs[0].getType()).getShape())) {
      auto result = b.create<dtensor::CumulativeOp>(
          b.getLoc(), *kind, inputs[0], running->dim, running->reverse);
      return SmallVector<Value>{b.note(result, lanes)};
    }
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return b.named(name, b.getDenseI64ArrayAttr(values));
  };
  SmallVector<NamedAttribute> attributes{
      list("window_dimensions", spec->dimensions),
      list("window_strides", spec->strides),
      list("base_dilations", spec->baseDilations),
      list("window_dilations", spec->windowDilations),
      list("padding", spec->padding)};
  if (kind)
    attributes.push_back(
        b.named("kind", dtensor::ReduceKindAttr::get(b.getContext(), *kind)));
  SmallVector<RankedTensorType> types;
  for (Value result : op->getResults())
    types.push_back(Importer::typeOf(result));
  SmallVector<Value> operands = inputs;
  llvm::append_range(operands, inits);
  SmallVector<Value> results =
      b.make<dtensor::ReduceWindowOp>(types, operands, lanes, attributes);
  if (!kind && failed(im.importScalarRegion(
                   op.getBody(), results[0].getDefiningOp()->getRegion(0))))
    return failure();
  return results;
}

/// Where windows meet but do not overlap, a dim of n elements under a window of
/// w is [n / w, w] with windows of [1, w]: then devices that have whole windows
/// need nothing from each other. Applies that to `spec`, and gives the
/// operand's (and the result's) shape and the source's; all are about values
/// with lanes.
struct SplitWindows {
  SmallVector<int64_t> operand, source;
  bool any = false;
};
static SplitWindows splitWindows(dtensor::WindowSpec &spec,
                                 ArrayRef<int64_t> operand) {
  SplitWindows result;
  dtensor::WindowSpec split;
  for (auto [dim, size] : llvm::enumerate(operand)) {
    int64_t window = spec.dimensions[dim], stride = spec.strides[dim],
            low = spec.padding[2 * dim], high = spec.padding[2 * dim + 1];
    auto add = [&](int64_t extent, int64_t itsWindow, int64_t itsStride,
                   int64_t itsLow, int64_t itsHigh) {
      result.operand.push_back(extent);
      result.source.push_back(dtensor::windowCount(extent, itsWindow, itsStride,
                                                   1, 1, itsLow, itsHigh));
      split.dimensions.push_back(itsWindow);
      split.strides.push_back(itsStride);
      llvm::append_values(split.padding, itsLow, itsHigh);
    };
    if (window > 1 && stride == window && low == 0 && high == 0 &&
        size % window == 0) {
      add(size / window, 1, 1, 0, 0);
      add(window, window, window, 0, 0);
      result.any = true;
    } else {
      add(size, window, stride, low, high);
    }
  }
  if (result.any)
    spec = split;
  return result;
}

static Imported importSelectAndScatter(Importer &im,
                                       stablehlo::SelectAndScatterOp op) {
  LaneBuilder &b = im.b;
  Value init = im.get(op.getInitValue());
  SmallVector<Value> inputs =
      b.aligned({im.get(op.getOperand()), im.get(op.getSource())});
  if (!b.lanesOf(init).empty())
    return im.error("an init value that differs from device to device is not "
                    "supported");
  Lanes lanes = b.lanesOf(inputs);
  auto spec = windowOf(im, op, b.rankOf(inputs[0]), lanes);
  if (failed(spec))
    return failure();
  auto list = [&](StringRef name, ArrayRef<int64_t> values) {
    return b.named(name, b.getDenseI64ArrayAttr(values));
  };
  RankedTensorType type = Importer::typeOf(op.getResult());
  SplitWindows split = splitWindows(
      *spec, cast<RankedTensorType>(inputs[0].getType()).getShape());
  auto count = [](ArrayRef<int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                           std::multiplies<>());
  };
  bool fits = b.typeOf(inputs[0]) == type &&
              count(split.source) ==
                  cast<RankedTensorType>(inputs[1].getType()).getNumElements();
  if (split.any && !fits)
    return im.error("the shapes of select_and_scatter do not fit its window");
  if (split.any) {
    inputs[0] =
        b.reshape(inputs[0], ArrayRef(split.operand).drop_front(lanes.size()));
    inputs[1] =
        b.reshape(inputs[1], ArrayRef(split.source).drop_front(lanes.size()));
  }
  SmallVector<NamedAttribute> attributes{
      list("window_dimensions", spec->dimensions),
      list("window_strides", spec->strides), list("padding", spec->padding)};
  Value result = b.make<dtensor::SelectAndScatterOp>(
      {b.typeOf(inputs[0])}, {inputs[0], inputs[1], init}, lanes,
      attributes)[0];
  auto selectAndScatter = result.getDefiningOp<dtensor::SelectAndScatterOp>();
  if (failed(im.importScalarRegion(op.getSelect(),
                                   selectAndScatter.getSelect())) ||
      failed(im.importScalarRegion(op.getScatter(),
                                   selectAndScatter.getScatter())))
    return failure();
  return SmallVector<Value>{b.reshape(result, type.getShape())};
}

void importer::addWindows(Handlers &handlers) {
  handlers.add<stablehlo::ReduceWindowOp>(importReduceWindow);
  handlers.add<stablehlo::SelectAndScatterOp>(importSelectAndScatter);
}

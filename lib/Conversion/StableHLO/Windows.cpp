// reduce_window, which JAX also writes running sums with, and
// select_and_scatter.
#include "Importer.h"

#include "meshloom/Dialect/DTensor/Windows.h"

using namespace meshloom;
using namespace meshloom::importer;

/// The window of an op, whose lists may be left out, behind `lanes`.
template <typename OpTy>
static FailureOr<dtensor::WindowSpec>
windowOf(Importer &im, OpTy op, int64_t rank, ArrayRef<unsigned> lanes) {
  dtensor::WindowSpec spec;
  std::string wrong;
  auto list = [&](std::optional<ArrayRef<int64_t>> given, StringRef name) {
    if (given && int64_t(given->size()) != rank)
      wrong = name.str();
    SmallVector<int64_t> all(lanes.size(), 1);
    if (given)
      llvm::append_range(all, *given);
    else
      all.append(rank, 1);
    return all;
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
  SmallVector<NamedAttribute> attributes{
      list("window_dimensions", spec->dimensions),
      list("window_strides", spec->strides), list("padding", spec->padding)};
  Value result = b.make<dtensor::SelectAndScatterOp>(
      {Importer::typeOf(op.getResult())}, {inputs[0], inputs[1], init}, lanes,
      attributes)[0];
  auto made = result.getDefiningOp<dtensor::SelectAndScatterOp>();
  if (failed(im.importScalarRegion(op.getSelect(), made.getSelect())) ||
      failed(im.importScalarRegion(op.getScatter(), made.getScatter())))
    return failure();
  return SmallVector<Value>{result};
}

void importer::addWindows(Handlers &handlers) {
  handlers.add<stablehlo::ReduceWindowOp>(importReduceWindow);
  handlers.add<stablehlo::SelectAndScatterOp>(importSelectAndScatter);
}

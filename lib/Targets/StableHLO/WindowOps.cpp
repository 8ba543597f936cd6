// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions and windowed reductions. Along a dim that is cut, the operand is
// first laid out as the positions that the device's windows cover, holes and
// padding written out; then the windows need no padding of their own.
#include "Exporter.h"

namespace meshloom::exporting {

namespace {
struct WindowDim {
  int64_t size, stride, low, high, baseDilation, windowDilation;
};
} // namespace

/// Lays `dim` out for the windows of the device's part of the result; holes and
/// padding become `fill`.
static bool spread(Exporter &e, Operand &operand, unsigned dim,
                   const Held &result, unsigned resultDim, WindowDim window,
                   Value fill) {
  int64_t count = result.buffer[resultDim];
  int64_t reach = (window.size - 1) * window.windowDilation + 1;
  int64_t size = count == 0 ? 0 : (count - 1) * window.stride + reach;
  Table table(e.devices, std::vector<int64_t>(size, anyEntry));
  for (int64_t device = 0; device < e.devices; ++device) {
    Interval computed = result.ranges[resultDim][device];
    Interval held = operand.held.ranges[dim][device];
    for (int64_t out = 0; out < computed.size(); ++out)
      for (int64_t k = 0; k < window.size; ++k) {
        int64_t local = out * window.stride + k * window.windowDilation;
        int64_t position = computed.begin * window.stride + local - window.low;
        int64_t source = position / window.baseDilation;
        if (position < 0 || position % window.baseDilation != 0 ||
            source >= operand.held.global[dim]) {
          table[device][local] = fillEntry;
        } else if (source < held.begin || source >= held.end) {
          return false;
        } else {
          table[device][local] = source - held.begin;
        }
      }
  }
  operand.value = e.take(operand.value, dim, table, size, fill);
  operand.held.buffer[dim] = size;
  return true;
}

static NamedAttribute paddingAttr(Exporter &e, ArrayRef<int64_t> padding) {
  auto type =
      RankedTensorType::get({int64_t(padding.size()) / 2, 2}, e.b.getI64Type());
  return e.attr("padding", Attribute(DenseElementsAttr::get(type, padding)));
}

/// How many feature groups each device has, where all have as many, whole ones,
/// and the same of the input and of the result.
static std::optional<int64_t> localGroups(const Held &lhs, int64_t in,
                                          const Held &result, int64_t out,
                                          int64_t groups) {
  int64_t inputs = lhs.global[in] / groups;
  int64_t outputs = result.global[out] / groups;
  if (inputs == 0 || outputs == 0 || lhs.isPadded(in) || result.isPadded(out))
    return std::nullopt;
  for (auto [from, to] : llvm::zip(lhs.ranges[in], result.ranges[out]))
    if (from.begin % inputs || from.end % inputs || to.begin % outputs ||
        to.end % outputs || from.begin / inputs != to.begin / outputs ||
        from.end / inputs != to.end / outputs)
      return std::nullopt;
  return lhs.buffer[in] / inputs;
}

static Emitted emitConvolution(Exporter &e, Operation *op,
                               MutableArrayRef<Operand> operands,
                               ArrayRef<Held> results) {
  dtensor::ConvolutionSpec spec = cast<dtensor::ConvolutionOp>(op).getSpec();
  Operand &lhs = operands[0], &rhs = operands[1];
  const Held &result = results[0];
  auto whole = [](const Held &held, int64_t dim) { return held.isWhole(dim); };
  if (spec.batchGroups > 1 && !(whole(lhs.held, spec.inputBatch) &&
                                whole(lhs.held, spec.inputFeature) &&
                                whole(rhs.held, spec.kernelInput) &&
                                whole(rhs.held, spec.kernelOutput) &&
                                whole(result, spec.outputFeature)))
    return std::nullopt;
  if (spec.featureGroups > 1) {
    std::optional<int64_t> groups =
        localGroups(lhs.held, spec.inputFeature, result, spec.outputFeature,
                    spec.featureGroups);
    if (!groups || !whole(rhs.held, spec.kernelInput))
      return std::nullopt;
    spec.featureGroups = *groups;
  }
  if ((spec.batchGroups == 1 &&
       !e.fit(lhs, spec.inputBatch, result, spec.outputBatch)) ||
      !e.fit(rhs, spec.kernelOutput, result, spec.outputFeature))
    return std::nullopt;
  bool grouped =
      rhs.held.global[spec.kernelInput] != lhs.held.global[spec.inputFeature];
  if (!grouped && !e.fit(rhs, spec.kernelInput, lhs.held, spec.inputFeature))
    return std::nullopt;
  Value zero = e.zero(lhs.held.element);
  for (unsigned i = 0; i < spec.inputSpatial.size(); ++i) {
    int64_t in = spec.inputSpatial[i], out = spec.outputSpatial[i];
    int64_t kernel = spec.kernelSpatial[i];
    if (!whole(rhs.held, kernel))
      return std::nullopt;
    if (whole(lhs.held, in) && whole(result, out))
      continue;
    WindowDim window{rhs.held.global[kernel], spec.strides[i],
                     spec.padding[2 * i],     spec.padding[2 * i + 1],
                     spec.lhsDilation[i],     spec.rhsDilation[i]};
    if (!spread(e, lhs, in, result, out, window, zero))
      return std::nullopt;
    spec.padding[2 * i] = spec.padding[2 * i + 1] = 0;
    spec.lhsDilation[i] = 1;
  }
  Value maskedLhs = e.mask(lhs.value, lhs.held, spec.inputFeature, zero);
  Value maskedRhs =
      e.mask(rhs.value, rhs.held, spec.kernelInput, e.zero(rhs.held.element));
  auto dims = stablehlo::ConvDimensionNumbersAttr::get(
      e.b.getContext(), spec.inputBatch, spec.inputFeature, spec.inputSpatial,
      spec.kernelInput, spec.kernelOutput, spec.kernelSpatial, spec.outputBatch,
      spec.outputFeature, spec.outputSpatial);
  return Values{e.one(
      "convolution", result.type(), {maskedLhs, maskedRhs},
      {e.list("window_strides", spec.strides), paddingAttr(e, spec.padding),
       e.list("lhs_dilation", spec.lhsDilation),
       e.list("rhs_dilation", spec.rhsDilation),
       e.attr("window_reversal",
              Attribute(e.b.getDenseBoolArrayAttr(spec.reversal))),
       e.attr("dimension_numbers", Attribute(dims)),
       e.attr("feature_group_count", spec.featureGroups),
       e.attr("batch_group_count", spec.batchGroups), e.fullPrecision()})};
}

static Operation *reduceWindow(Exporter &e, mlir::TypeRange types,
                               ArrayRef<Value> values,
                               const dtensor::WindowSpec &window) {
  return e.op("reduce_window", types, values,
              {e.list("window_dimensions", window.dimensions),
               e.list("window_strides", window.strides),
               e.list("base_dilations", window.baseDilations),
               e.list("window_dilations", window.windowDilations),
               paddingAttr(e, window.padding)},
              1);
}

/// Writes the window's padding and holes out as elements that hold `fill`.
static void padWindow(Exporter &e, Value &value, dtensor::WindowSpec &window,
                      Value fill) {
  SmallVector<int64_t> low, high, interior;
  auto type = cast<RankedTensorType>(value.getType());
  auto shape = llvm::to_vector(type.getShape());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    low.push_back(window.padding[2 * dim]);
    high.push_back(window.padding[2 * dim + 1]);
    interior.push_back(extent == 0 ? 0 : window.baseDilations[dim] - 1);
    extent += low.back() + high.back() +
              std::max<int64_t>(extent - 1, 0) * interior.back();
  }
  auto padded = RankedTensorType::get(shape, type.getElementType());
  if (padded == type && llvm::all_equal(low) && llvm::all_equal(high) &&
      (low.empty() || (low[0] == 0 && high[0] == 0)))
    return;
  value =
      e.one("pad", padded, {value, fill},
            {e.list("edge_padding_low", low), e.list("edge_padding_high", high),
             e.list("interior_padding", interior)});
}

static bool sameConstant(Value a, Value b) {
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  return first && second && first->hasAttr("value") &&
         first->getAttr("value") == second->getAttr("value");
}

/// XLA leaves padding out, where StableHLO's holds the init value, and may
/// start with that more than once: an init that is not an identity is written
/// into the padding, and combined with the results.
static Emitted emitReduceWindow(Exporter &e, Operation *op,
                                MutableArrayRef<Operand> operands,
                                ArrayRef<Held> results) {
  auto reduce = cast<dtensor::ReduceWindowOp>(op);
  dtensor::WindowSpec window = reduce.getWindow();
  unsigned count = results.size();
  const Held &result = results[0];
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    if (operands[0].held.isWhole(dim) && result.isWhole(dim))
      continue;
    WindowDim along{window.dimensions[dim],    window.strides[dim],
                    window.padding[2 * dim],   window.padding[2 * dim + 1],
                    window.baseDilations[dim], window.windowDilations[dim]};
    for (unsigned i = 0; i < count; ++i)
      if (!spread(e, operands[i], dim, result, dim, along,
                  operands[count + i].value))
        return std::nullopt;
    window.padding[2 * dim] = window.padding[2 * dim + 1] = 0;
    window.baseDilations[dim] = 1;
  }
  Values values;
  SmallVector<Type> types;
  for (Operand &operand : operands)
    values.push_back(operand.value);
  for (const Held &held : results)
    types.push_back(held.type());
  std::optional<ReduceKind> kind = reduce.getKind();
  Value identity = kind ? e.identity(*kind, result.element) : Value();
  bool plain = kind && sameConstant(values[1], identity);
  if (!plain) {
    for (unsigned i = 0; i < count; ++i)
      padWindow(e, values[i], window, values[count + i]);
    std::ranges::fill(window.padding, 0);
    std::ranges::fill(window.baseDilations, 1);
  }
  Value init = values[1];
  Type inner = kind ? e.combinedIn(*kind, result.element) : result.element;
  if (kind) {
    init = e.convert(init, inner);
    values = {e.convert(values[0], inner), e.convert(identity, inner)};
    types = {RankedTensorType::get(result.buffer, inner)};
  }
  Operation *windowOp = reduceWindow(e, types, values, window);
  if (!kind) {
    if (failed(e.copyScalars(reduce.getBody(), windowOp->getRegion(0))))
      return std::nullopt;
    return Values(windowOp->getResults());
  }
  e.fillReducer(windowOp->getRegion(0), *kind, inner);
  Value reduced = windowOp->getResult(0);
  if (!plain)
    reduced = e.same(Exporter::reducerName(*kind),
                     {e.broadcast(init, result.buffer), reduced});
  return Values{e.convert(reduced, result.element)};
}

/// A window as long as the dim that ends, or starts, at each element.
static Emitted emitCumulative(Exporter &e, Operation *op,
                              MutableArrayRef<Operand> operands,
                              ArrayRef<Held> results) {
  auto run = cast<dtensor::CumulativeOp>(op);
  const Held &result = results[0];
  unsigned dim = run.getDimension();
  if (!result.isWhole(dim) || !e.fitAll(operands[0], result))
    return std::nullopt;
  SmallVector<int64_t> ones(result.rank(), 1);
  auto window = dtensor::WindowSpec::of(ones);
  int64_t extent = result.buffer[dim];
  if (extent == 0)
    return Values{operands[0].value};
  window.dimensions[dim] = extent;
  window.padding[2 * dim + (run.getReverse() ? 1 : 0)] = extent - 1;
  Type inner = e.combinedIn(run.getKind(), result.element);
  Value value = e.convert(operands[0].value, inner);
  Operation *reduced = reduceWindow(
      e, value.getType(), {value, e.identity(run.getKind(), inner)}, window);
  e.fillReducer(reduced->getRegion(0), run.getKind(), inner);
  return Values{e.convert(reduced->getResult(0), result.element)};
}

static void fillComparison(Exporter &e, mlir::Region &region, ReduceKind kind,
                           Type element) {
  OpBuilder::InsertionGuard guard(e.b);
  auto scalar = RankedTensorType::get({}, element);
  Block *block =
      e.b.createBlock(&region, region.end(), {scalar, scalar}, {e.loc, e.loc});
  e.op("return", {},
       e.compare(kind == ReduceKind::Max ? stablehlo::ComparisonDirection::GE
                                         : stablehlo::ComparisonDirection::LE,
                 block->getArgument(0), block->getArgument(1)));
}

static Emitted emitSelectAndScatter(Exporter &e, Operation *op,
                                    MutableArrayRef<Operand> operands,
                                    ArrayRef<Held> results) {
  auto select = cast<dtensor::SelectAndScatterOp>(op);
  dtensor::WindowSpec window = select.getWindow();
  const Held &result = results[0];
  for (unsigned dim = 0; dim < result.rank(); ++dim) {
    bool plain = window.dimensions[dim] == 1 && window.strides[dim] == 1 &&
                 window.padding[2 * dim] == 0 &&
                 window.padding[2 * dim + 1] == 0;
    if (!plain && !(operands[0].held.isWhole(dim) &&
                    operands[1].held.isWhole(dim) && result.isWhole(dim)))
      return std::nullopt;
    if (!e.fit(operands[0], dim, result, dim) ||
        (plain && !e.fit(operands[1], dim, result, dim)))
      return std::nullopt;
  }
  Operation *scattered =
      e.op("select_and_scatter", result.type(),
           {operands[0].value, operands[1].value, operands[2].value},
           {e.list("window_dimensions", window.dimensions),
            e.list("window_strides", window.strides),
            paddingAttr(e, window.padding)},
           2);
  if (auto kind = select.getSelectKind())
    fillComparison(e, scattered->getRegion(0), *kind, result.element);
  else if (failed(e.copyScalars(select.getSelect(), scattered->getRegion(0))))
    return std::nullopt;
  if (auto kind = select.getScatterKind())
    e.fillReducer(scattered->getRegion(1), *kind, result.element);
  else if (failed(e.copyScalars(select.getScatter(), scattered->getRegion(1))))
    return std::nullopt;
  return Values{scattered->getResult(0)};
}

void addWindows(Handlers &handlers) {
  handlers["dtensor.convolution"] = emitConvolution;
  handlers["dtensor.reduce_window"] = emitReduceWindow;
  handlers["dtensor.cumulative"] = emitCumulative;
  handlers["dtensor.select_and_scatter"] = emitSelectAndScatter;
}

} // namespace meshloom::exporting

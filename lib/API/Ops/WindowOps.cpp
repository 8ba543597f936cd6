// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions, pooling and running reductions.
#include "meshloom/API/WindowOps.h"

#include "Operands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <limits>

namespace meshloom::dtensor {

template <typename F> void visitFields(const ConvolutionSpec &spec, F visit) {
  const auto &[strides, padding, lhsDilation, rhsDilation, reversal, inputBatch,
               inputFeature, inputSpatial, kernelInput, kernelOutput,
               kernelSpatial, outputBatch, outputFeature, outputSpatial,
               featureGroups, batchGroups] = spec;
  for (const auto *list : {&strides, &padding, &lhsDilation, &rhsDilation,
                           &inputSpatial, &kernelSpatial, &outputSpatial})
    visit(*list);
  visit(reversal);
  for (int64_t number :
       {inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch,
        outputFeature, featureGroups, batchGroups})
    visit(number);
}
template <typename F> void visitFields(const WindowSpec &spec, F visit) {
  const auto &[dimensions, strides, baseDilations, windowDilations, padding] =
      spec;
  for (const auto *list :
       {&dimensions, &strides, &baseDilations, &windowDilations, &padding})
    visit(*list);
}

} // namespace meshloom::dtensor

namespace meshloom {
using namespace detail;

template <typename F>
void visitFields(const CumulativeOptions &options, F visit) {
  const auto &[exclusive, reverse] = options;
  visit(exclusive);
  visit(reverse);
}

namespace {

using List = std::vector<int64_t>;

/// No window, stride or padding is larger: their products fit an int64_t.
constexpr int64_t largestExtent = std::numeric_limits<int32_t>::max();

/// `list`, or `count` times `missing` where it is empty.
List listOf(const List &list, size_t count, int64_t missing,
            std::string_view role, std::string_view op,
            const std::source_location &where) {
  if (list.empty())
    return List(count, missing);
  if (list.size() != count)
    fail(op,
         fmt::format("expected {} {}, one for each spatial dim, got {}", count,
                     role, list.size()),
         &where);
  for (int64_t value : list)
    if (value < 1 || value > largestExtent)
      fail(op,
           fmt::format("expected {} of at least 1 and at most {}, got {}", role,
                       largestExtent, value),
           &where);
  return list;
}

/// Low and high padding of each dim, one after the other.
List paddingOf(const Padding &padding, const List &extents, const List &window,
               const List &strides, const List &baseDilations,
               const List &windowDilations, std::string_view op,
               const std::source_location &where) {
  const size_t count = extents.size();
  List result(2 * count, 0);
  if (padding.name.empty()) {
    if (padding.counts.size() != count)
      fail(op,
           fmt::format("expected {} pairs of padding, one for each spatial "
                       "dim, got {}",
                       count, padding.counts.size()),
           &where);
    for (size_t d = 0; d < count; ++d) {
      const auto &[low, high] = padding.counts[d];
      if (std::min(low, high) < -largestExtent ||
          std::max(low, high) > largestExtent)
        fail(op,
             fmt::format("expected padding of at most {} elements, got {} and "
                         "{}",
                         largestExtent, low, high),
             &where);
      result[2 * d] = low;
      result[2 * d + 1] = high;
    }
    return result;
  }
  std::string name = padding.name;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  if (name == "VALID")
    return result;
  if (name != "SAME")
    fail(op,
         fmt::format("expected padding \"VALID\", \"SAME\" or counts, got "
                     "\"{}\"",
                     padding.name),
         &where);
  for (size_t d = 0; d < count; ++d) {
    const int64_t extent = dtensor::dilated(extents[d], baseDilations[d]);
    const int64_t places = (extent + strides[d] - 1) / strides[d];
    const int64_t padding = std::max<int64_t>(
        0, (places - 1) * strides[d] +
               dtensor::dilated(window[d], windowDilations[d]) - extent);
    result[2 * d] = padding / 2;
    result[2 * d + 1] = padding - padding / 2;
  }
  return result;
}

/// Throws where no window of size `window[d]` lies in the padded extent: there
/// would be no result. A dim without elements may have none.
void expectWindowsFit(const List &extents, const List &window,
                      const List &padding, const List &baseDilations,
                      const List &windowDilations,
                      const std::string &windowText, const Tensor &x,
                      std::string_view op, const std::source_location &where) {
  for (size_t d = 0; d < extents.size(); ++d) {
    const int64_t padded = dtensor::dilated(extents[d], baseDilations[d]) +
                           padding[2 * d] + padding[2 * d + 1];
    const int64_t reach = dtensor::dilated(window[d], windowDilations[d]);
    if (extents[d] == 0 || reach <= padded)
      continue;
    fail(op,
         fmt::format("expected a window that fits into {}: in spatial dim {} "
                     "it takes {} elements, but there are {}, padding "
                     "included; {}",
                     typeText(x), d, reach, std::max<int64_t>(padded, 0),
                     windowText),
         &where);
  }
}

void expectNumbers(const Tensor &x, std::string_view op,
                   const std::source_location &where) {
  nodeOf(x, op, &where);
  if (x.dtype() == DType::I1)
    fail(op,
         fmt::format("expected numbers, got {}: cast it first", typeText(x)),
         &where);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The dims of `letters`: those of `first` and `second`, and of each letter of
/// `spatial`, in its order.
struct NamedDims {
  int64_t first = 0, second = 0;
  SmallVector<int64_t> spatial;
};

NamedDims dimsOf(const std::string &letters, char first, char second,
                 const std::string &spatial, const Tensor &of,
                 std::string_view op, const std::source_location &where) {
  NamedDims dims;
  auto find = [&](char letter) {
    const size_t position = letters.find(letter);
    if (position == letters.npos ||
        letters.find(letter, position + 1) != letters.npos)
      fail(
          op,
          fmt::format("expected '{}' once in the dims \"{}\"", letter, letters),
          &where);
    return int64_t(position);
  };
  if (int64_t(letters.size()) != of.rank() ||
      letters.size() != spatial.size() + 2)
    fail(op,
         fmt::format("expected {} dims, got \"{}\" for {}", spatial.size() + 2,
                     letters, typeText(of)),
         &where);
  dims.first = find(first);
  dims.second = find(second);
  for (char letter : spatial)
    dims.spatial.push_back(find(letter));
  return dims;
}

/// Checks features against groups, then runs `spec`.
Tensor convolve(std::string_view op, const Tensor &x, const Tensor &filters,
                const dtensor::ConvolutionSpec &spec,
                const std::source_location &where) {
  auto size = [](const Tensor &of, int64_t dim) {
    return of.shape()[size_t(dim)];
  };
  const int64_t features = size(x, spec.inputFeature),
                taken = size(filters, spec.kernelInput),
                made = size(filters, spec.kernelOutput);
  if (spec.featureGroups < 1 || spec.batchGroups < 1 ||
      (spec.featureGroups > 1 && spec.batchGroups > 1))
    fail(op,
         fmt::format("expected groups of features or of the batch, got {} and "
                     "{}",
                     spec.featureGroups, spec.batchGroups),
         &where);
  if (features != taken * spec.featureGroups)
    fail(op,
         fmt::format("expected filters for {} input features, got filters {} "
                     "that take {} (dim {}) in each of {} groups",
                     features, typeText(filters), taken, spec.kernelInput,
                     spec.featureGroups),
         &where);
  if (made % (spec.featureGroups * spec.batchGroups) != 0 ||
      size(x, spec.inputBatch) % spec.batchGroups != 0)
    fail(op,
         fmt::format("expected output features ({}) and batch ({}) that the "
                     "group counts {} and {} divide",
                     made, size(x, spec.inputBatch), spec.featureGroups,
                     spec.batchGroups),
         &where);
  OpCall call;
  call.name = op;
  call.operands = {x, filters};
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &spec) {
        return one(e.create<dtensor::ConvolutionOp>(e.getLoc(), operands[0],
                                                    operands[1], spec));
      },
      spec);
  return runOp(std::move(call));
}

Tensor conv(std::string_view op, unsigned spatial, const Tensor &x,
            const Tensor &filters, const ConvOptions &options,
            const std::source_location &where) {
  expectNumbers(x, op, where);
  operandPair({x, where}, {filters, where}, op);
  if (x.rank() != spatial + 2 || filters.rank() != spatial + 2)
    fail(op,
         fmt::format("expected tensors of rank {}, got {} and filters {}",
                     spatial + 2, typeText(x), typeText(filters)),
         &where);
  dtensor::ConvolutionSpec spec = dtensor::ConvolutionSpec::of(spatial);
  if (options.channels_first) {
    spec.inputFeature = spec.outputFeature = 1;
    for (unsigned i = 0; i < spatial; ++i)
      spec.inputSpatial[i] = spec.outputSpatial[i] = i + 2;
  }
  List extents, window;
  for (unsigned i = 0; i < spatial; ++i) {
    extents.push_back(x.shape()[size_t(spec.inputSpatial[i])]);
    window.push_back(filters.shape()[i]);
  }
  List strides = listOf(options.strides, spatial, 1, "strides", op, where),
       dilations =
           listOf(options.dilations, spatial, 1, "dilations", op, where);
  List padding = paddingOf(options.padding, extents, window, strides,
                           List(spatial, 1), dilations, op, where);
  spec.strides.assign(strides.begin(), strides.end());
  spec.rhsDilation.assign(dilations.begin(), dilations.end());
  spec.padding.assign(padding.begin(), padding.end());
  const int64_t features = x.shape()[size_t(spec.inputFeature)],
                taken = filters.shape()[spatial];
  if (taken > 0 && features % taken == 0)
    spec.featureGroups = std::max<int64_t>(features / taken, 1);
  constexpr std::string_view orders[] = {"width", "height, width",
                                         "depth, height, width"};
  expectWindowsFit(extents, window, padding, List(spatial, 1), dilations,
                   fmt::format("filters are [{0}, in / groups, out], got {1}; "
                               "bring PyTorch's [out, in / groups, {0}] into "
                               "that order with transpose",
                               orders[spatial - 1], typeText(filters)),
                   x, op, where);
  return convolve(op, x, filters, spec, where);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

Value reduceWindow(Emitter &e, Value x, double init, ReduceKind kind,
                   const dtensor::WindowSpec &window) {
  Value start = e.real(e.elementType(x), init);
  return e.create<dtensor::ReduceWindowOp>(e.getLoc(), kind, x, start, window)
      .getResult(0);
}

/// The window over all dims of `x`, from sizes of the spatial ones.
dtensor::WindowSpec poolWindow(std::string_view op, const Tensor &x,
                               const List &window, const PoolOptions &options,
                               const std::source_location &where) {
  const size_t spatial = window.size();
  if (x.rank() != int64_t(spatial) + 2)
    fail(op,
         fmt::format("expected a tensor of rank {} for {} window sizes, got {}",
                     spatial + 2, spatial, typeText(x)),
         &where);
  listOf(window, spatial, 1, "window sizes", op, where);
  List strides = options.strides.empty() ? window
                                         : listOf(options.strides, spatial, 1,
                                                  "strides", op, where);
  const size_t first = options.channels_first ? 2 : 1;
  List extents(x.shape().begin() + long(first),
               x.shape().begin() + long(first + spatial));
  List ones(spatial, 1);
  List padding = paddingOf(options.padding, extents, window, strides, ones,
                           ones, op, where);
  expectWindowsFit(extents, window, padding, ones, ones,
                   fmt::format("the window is [{}]", fmt::join(window, ", ")),
                   x, op, where);
  SmallVector<int64_t> none(spatial + 2, 1);
  dtensor::WindowSpec spec = dtensor::WindowSpec::of(none);
  for (size_t d = 0; d < spatial; ++d) {
    spec.dimensions[first + d] = window[d];
    spec.strides[first + d] = strides[d];
    spec.padding[2 * (first + d)] = padding[2 * d];
    spec.padding[2 * (first + d) + 1] = padding[2 * d + 1];
  }
  return spec;
}

//===----------------------------------------------------------------------===//
// Running reductions
//===----------------------------------------------------------------------===//

Tensor cumulative(std::string_view op, ReduceKind kind, const Tensor &x,
                  int64_t axis, CumulativeOptions options,
                  const std::source_location &where) {
  expectNumbers(x, op, where);
  if (isComplex(x.dtype()) &&
      (kind == ReduceKind::Max || kind == ReduceKind::Min))
    fail(op, fmt::format("expected numbers with an order, got {}", typeText(x)),
         &where);
  axis = axisOf(axis, x.rank(), op, where);
  OpCall call;
  call.name = op;
  call.operands = {x};
  call.where = where;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &kind,
         const auto &axis, const auto &options) {
        Value value = operands[0];
        SmallVector<int64_t> shape(e.shape(value));
        if (options.exclusive && shape[axis] > 0) {
          // All moves on by one; the first gets what nothing adds up to.
          SmallVector<int64_t> start(shape.size()), limit(shape), first(shape);
          (options.reverse ? start[axis] : limit[axis]) +=
              options.reverse ? 1 : -1;
          first[axis] = 1;
          Value shifted = e.slice(value, start, limit);
          Value edge = e.number(e.elementType(value),
                                kind == ReduceKind::Prod ? 1 : 0, first);
          value = options.reverse ? e.concatenate({shifted, edge}, axis)
                                  : e.concatenate({edge, shifted}, axis);
        }
        return one(e.create<dtensor::CumulativeOp>(e.getLoc(), kind, value,
                                                   axis, options.reverse));
      },
      kind, axis, options);
  return runOp(std::move(call));
}

} // namespace

Tensor conv1d(const Tensor &x, const Tensor &filters,
              const ConvOptions &options, Where loc) {
  return conv("conv1d", 1, x, filters, options, loc);
}
Tensor conv2d(const Tensor &x, const Tensor &filters,
              const ConvOptions &options, Where loc) {
  return conv("conv2d", 2, x, filters, options, loc);
}
Tensor conv3d(const Tensor &x, const Tensor &filters,
              const ConvOptions &options, Where loc) {
  return conv("conv3d", 3, x, filters, options, loc);
}

Tensor conv_general_dilated(const Tensor &lhs, const Tensor &rhs,
                            const ConvGeneralOptions &options, Where loc) {
  constexpr std::string_view op = "conv_general_dilated";
  expectNumbers(lhs, op, loc);
  operandPair({lhs, loc}, {rhs, loc}, op);
  if (lhs.rank() < 2)
    fail(op,
         fmt::format("expected a batch and a feature dim, got {}",
                     typeText(lhs)),
         &loc);
  const size_t spatial = size_t(lhs.rank()) - 2;
  // Default letters: the last ones of ...DHW.
  std::string letters = std::string("UVWXYZDHW");
  if (spatial <= 3)
    letters = letters.substr(letters.size() - spatial);
  else
    letters = std::string("ABDEFGHJKLMPQRSTUVWXYZ").substr(0, spatial);
  if (!options.lhs_dims.empty()) {
    letters.clear();
    for (char letter : options.lhs_dims)
      if (letter != 'N' && letter != 'C')
        letters += letter;
  }
  // Lists go by the order of the kernel's dims, as in JAX.
  std::string order;
  for (char letter : options.rhs_dims)
    if (letter != 'O' && letter != 'I')
      order += letter;
  if (!std::ranges::is_permutation(order, letters))
    order = letters;
  auto named = [&](const std::string &option, const std::string &otherwise,
                   char first, char second, const Tensor &of) {
    return dimsOf(option.empty() ? otherwise : option, first, second, order, of,
                  op, loc);
  };
  NamedDims lhsDims =
      named(options.lhs_dims, "N" + letters + "C", 'N', 'C', lhs);
  NamedDims rhsDims = named(options.rhs_dims, letters + "IO", 'I', 'O', rhs);
  NamedDims outDims =
      named(options.out_dims, "N" + letters + "C", 'N', 'C', lhs);
  List extents, window;
  for (size_t i = 0; i < spatial; ++i) {
    extents.push_back(lhs.shape()[size_t(lhsDims.spatial[i])]);
    window.push_back(rhs.shape()[size_t(rhsDims.spatial[i])]);
  }
  auto list = [&](const List &values, std::string_view role) {
    return listOf(values, spatial, 1, role, op, loc);
  };
  List strides = list(options.strides, "strides"),
       lhsDilation = list(options.lhs_dilation, "lhs dilations"),
       rhsDilation = list(options.rhs_dilation, "rhs dilations");
  List padding = paddingOf(options.padding, extents, window, strides,
                           lhsDilation, rhsDilation, op, loc);
  expectWindowsFit(
      extents, window, padding, lhsDilation, rhsDilation,
      fmt::format("the dims of rhs, {}, are \"{}\"", typeText(rhs),
                  options.rhs_dims.empty() ? letters + "IO" : options.rhs_dims),
      lhs, op, loc);
  dtensor::ConvolutionSpec spec = dtensor::ConvolutionSpec::of(spatial);
  spec.strides.assign(strides.begin(), strides.end());
  spec.lhsDilation.assign(lhsDilation.begin(), lhsDilation.end());
  spec.rhsDilation.assign(rhsDilation.begin(), rhsDilation.end());
  spec.padding.assign(padding.begin(), padding.end());
  spec.inputBatch = lhsDims.first;
  spec.inputFeature = lhsDims.second;
  spec.inputSpatial = lhsDims.spatial;
  spec.kernelInput = rhsDims.first;
  spec.kernelOutput = rhsDims.second;
  spec.kernelSpatial = rhsDims.spatial;
  spec.outputBatch = outDims.first;
  spec.outputFeature = outDims.second;
  spec.outputSpatial = outDims.spatial;
  spec.featureGroups = options.feature_group_count;
  spec.batchGroups = options.batch_group_count;
  return convolve(op, lhs, rhs, spec, loc);
}

Tensor max_pool(const Tensor &x, std::vector<int64_t> window,
                const PoolOptions &options, Where loc) {
  constexpr std::string_view op = "max_pool";
  expectFloat(x, op, loc);
  dtensor::WindowSpec spec = poolWindow(op, x, window, options, loc);
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &spec) {
        return one(reduceWindow(e, operands[0],
                                -std::numeric_limits<double>::infinity(),
                                ReduceKind::Max, spec));
      },
      spec);
  return runOp(std::move(call));
}

Tensor avg_pool(const Tensor &x, std::vector<int64_t> window,
                const PoolOptions &options, Where loc) {
  constexpr std::string_view op = "avg_pool";
  expectFloat(x, op, loc);
  dtensor::WindowSpec spec = poolWindow(op, x, window, options, loc);
  OpCall call = callOf(op, {x}, loc);
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &spec) {
        Value sum = reduceWindow(e, operands[0], 0, ReduceKind::Sum, spec);
        // Every window has as many elements where nothing is padded.
        double elements = 1;
        for (int64_t size : spec.dimensions)
          elements *= double(size);
        bool isPadded =
            llvm::any_of(spec.padding, [](int64_t count) { return count > 0; });
        Value count = isPadded ? reduceWindow(e, e.like(operands[0], 1), 0,
                                              ReduceKind::Sum, spec)
                               : e.like(sum, elements);
        return one(e.divide(sum, count));
      },
      spec);
  return runOp(std::move(call));
}

Tensor reduce_window(const Tensor &x, double init, ReduceKind kind,
                     const WindowOptions &options, Where loc) {
  constexpr std::string_view op = "reduce_window";
  nodeOf(x, op, &loc);
  (void)name(kind); // throws where it is none
  const bool logical = kind == ReduceKind::And || kind == ReduceKind::Or;
  if (logical ? isFloat(x.dtype()) || isComplex(x.dtype())
              : x.dtype() == DType::I1 ||
                    (isComplex(x.dtype()) && kind != ReduceKind::Sum &&
                     kind != ReduceKind::Prod))
    fail(op,
         fmt::format("a reduction by {} does not take {}", name(kind),
                     typeText(x)),
         &loc);
  const size_t rank = size_t(x.rank());
  auto list = [&](const List &values, std::string_view role) {
    return listOf(values, rank, 1, role, op, loc);
  };
  List window = list(options.window, "window sizes"),
       strides = list(options.strides, "strides"),
       base = list(options.base_dilations, "base dilations"),
       dilations = list(options.window_dilations, "window dilations");
  List padding = paddingOf(options.padding, x.shape(), window, strides, base,
                           dilations, op, loc);
  expectWindowsFit(x.shape(), window, padding, base, dilations,
                   fmt::format("the window is [{}]", fmt::join(window, ", ")),
                   x, op, loc);
  auto values = [](const List &from) {
    return SmallVector<int64_t>(from.begin(), from.end());
  };
  dtensor::WindowSpec spec{values(window), values(strides), values(base),
                           values(dilations), values(padding)};
  OpCall call;
  call.name = op;
  call.operands = {x};
  call.where = loc;
  call.setBody(
      [](Emitter &e, ArrayRef<Value> operands, const auto &init,
         const auto &kind, const auto &spec) {
        return one(reduceWindow(e, operands[0], init, kind, spec));
      },
      init, kind, spec);
  return runOp(std::move(call));
}

/// Bools are counted.
static Tensor boolsAsNumbers(const Tensor &x, std::string_view op,
                             const Where &loc) {
  return nodeOf(x, op, &loc).dtype == DType::I1 ? cast(x, DType::I64, loc) : x;
}

Tensor cumsum(const Tensor &x, int64_t axis, CumulativeOptions options,
              Where loc) {
  return cumulative("cumsum", ReduceKind::Sum, boolsAsNumbers(x, "cumsum", loc),
                    axis, options, loc);
}
Tensor cumprod(const Tensor &x, int64_t axis, CumulativeOptions options,
               Where loc) {
  return cumulative("cumprod", ReduceKind::Prod,
                    boolsAsNumbers(x, "cumprod", loc), axis, options, loc);
}
Tensor cummax(const Tensor &x, int64_t axis, bool reverse, Where loc) {
  return cumulative("cummax", ReduceKind::Max, x, axis, {false, reverse}, loc);
}
Tensor cummin(const Tensor &x, int64_t axis, bool reverse, Where loc) {
  return cumulative("cummin", ReduceKind::Min, x, axis, {false, reverse}, loc);
}

} // namespace meshloom

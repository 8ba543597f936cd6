// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makers of convolutions and windows, with any strides, dilations, padding and
// groups.
#include "Generator.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::fuzz {
namespace {

/// A window along one dim, and how many places it has.
struct Window {
  int64_t size, stride, low, high, baseDilation, windowDilation, places;
};

/// Nothing where there would be no place.
std::optional<Window> windowOver(Generator &g, int64_t extent, bool dilations) {
  Window w{g.between(1, 3), g.between(1, 2), 0, 0, 1, 1, 0};
  if (g.chance(0.6)) {
    w.low = g.between(0, w.size);
    w.high = g.between(0, w.size);
  }
  if (dilations && g.chance(0.3))
    w.baseDilation = 2;
  if (dilations && g.chance(0.3))
    w.windowDilation = 2;
  int64_t span = (w.size - 1) * w.windowDilation + 1;
  int64_t padded =
      (extent == 0 ? 0 : (extent - 1) * w.baseDilation + 1) + w.low + w.high;
  if (padded < span)
    return std::nullopt;
  w.places = (padded - span) / w.stride + 1;
  return w;
}

Window one(int64_t extent) {
  return {1, 1, 0, 0, 1, 1, extent};
}

std::vector<int64_t> collect(const std::vector<Window> &windows,
                             int64_t Window::*field) {
  std::vector<int64_t> list;
  for (const Window &w : windows)
    list.push_back(w.*field);
  return list;
}

std::vector<int64_t> padding(const std::vector<Window> &windows) {
  std::vector<int64_t> list;
  for (const Window &w : windows) {
    list.push_back(w.low);
    list.push_back(w.high);
  }
  return list;
}

bool convolution(Generator &g) {
  int64_t spatial = g.between(1, 2);
  int64_t rank = spatial + 2;
  int64_t featureGroups = g.chance(0.2) ? 2 : 1;
  int64_t batchGroups = featureGroups == 1 && g.chance(0.15) ? 2 : 1;
  int64_t batch = g.extent() * batchGroups,
          in = g.between(1, 4) * featureGroups;
  int64_t out = g.between(1, 4) * std::max(featureGroups, batchGroups);
  std::vector<int64_t> lhsOrder = g.permutation(rank),
                       rhsOrder = g.permutation(rank),
                       outOrder = g.permutation(rank);
  Shape lhs(static_cast<size_t>(rank)), rhs(lhs), to(lhs);
  std::vector<Window> windows;
  int64_t terms = in / featureGroups;
  lhs[size_t(lhsOrder[0])] = batch;
  lhs[size_t(lhsOrder[1])] = in;
  rhs[size_t(rhsOrder[0])] = in / featureGroups;
  rhs[size_t(rhsOrder[1])] = out;
  to[size_t(outOrder[0])] = batch / batchGroups;
  to[size_t(outOrder[1])] = out;
  std::vector<int64_t> lhsSpatial, rhsSpatial, outSpatial;
  std::vector<std::string> reversal;
  for (int64_t s = 0; s < spatial; ++s) {
    int64_t extent = g.extent();
    auto window = windowOver(g, extent, true);
    if (!window)
      return false;
    windows.push_back(*window);
    lhs[size_t(lhsOrder[size_t(s + 2)])] = extent;
    rhs[size_t(rhsOrder[size_t(s + 2)])] = window->size;
    to[size_t(outOrder[size_t(s + 2)])] = window->places;
    terms *= window->size;
    lhsSpatial.push_back(lhsOrder[size_t(s + 2)]);
    rhsSpatial.push_back(rhsOrder[size_t(s + 2)]);
    outSpatial.push_back(outOrder[size_t(s + 2)]);
    reversal.push_back(g.chance(0.2) ? "true" : "false");
  }
  if (elementCount(lhs) > 3000 || elementCount(to) > 3000)
    return false;
  DType type = g.choose(
      std::vector<DType>{DType::F32, DType::F32, DType::F32, DType::F64});
  unsigned x = g.like(type, lhs), k = g.like(type, rhs);
  double most = double(terms) * g[x].range.magnitude() * g[k].range.magnitude();
  if (most > 600)
    return false;
  Range both = joined(g[x].range, g[k].range);
  g.emitOne(
      "dtensor.convolution", {x, k},
      {type, to,
       rangeIn(type, -most, most,
               both.exact() ? g[x].range.fraction + g[k].range.fraction : -1,
               both.epsilon)},
      fmt::format(
          "batch_group_count = {} : i64, feature_group_count = {} : i64, "
          "input_batch_dimension = {} : i64, input_feature_dimension = {} : "
          "i64, input_spatial_dimensions = {}, kernel_input_feature_dimension "
          "= {} : i64, kernel_output_feature_dimension = {} : i64, "
          "kernel_spatial_dimensions = {}, lhs_dilation = {}, "
          "output_batch_dimension = {} : i64, output_feature_dimension = {} : "
          "i64, output_spatial_dimensions = {}, padding = {}, rhs_dilation = "
          "{}, window_reversal = array<i1: {}>, window_strides = {}",
          batchGroups, featureGroups, lhsOrder[0], lhsOrder[1],
          listText(lhsSpatial), rhsOrder[0], rhsOrder[1], listText(rhsSpatial),
          listText(collect(windows, &Window::baseDilation)), outOrder[0],
          outOrder[1], listText(outSpatial), listText(padding(windows)),
          listText(collect(windows, &Window::windowDilation)),
          fmt::join(reversal, ", "),
          listText(collect(windows, &Window::stride))),
      true);
  return true;
}

/// Windows over some dims of a shape.
std::optional<std::vector<Window>> windowsOver(Generator &g, const Shape &shape,
                                               bool dilations) {
  std::vector<Window> windows;
  for (int64_t extent : shape) {
    if (g.chance(0.4)) {
      windows.push_back(one(extent));
      continue;
    }
    auto window = windowOver(g, extent, dilations);
    if (!window)
      return std::nullopt;
    windows.push_back(*window);
  }
  return windows;
}

OpMaker reduceWindow(const std::string &kind) {
  return {"reduce_window " + kind, [kind](Generator &g) {
            unsigned x = g.anyFloat(1, 3);
            const Value v = g[x];
            auto windows = windowsOver(g, v.shape, kind != "max");
            if (!windows)
              return false;
            double terms = 1;
            for (const Window &w : *windows)
              terms *= double(w.size);
            Range range = v.range;
            unsigned init = g.splat(v.type, {}, kind == "sum" ? 0 : -2);
            if (kind == "sum")
              range = rangeIn(v.type, std::min(0.0, range.low * terms),
                              std::max(0.0, range.high * terms), range.fraction,
                              range.epsilon);
            else
              range.low = std::min(range.low, -2.0),
              range.high = std::max(range.high, -2.0);
            if (kind == "function") {
              double most = 2 * range.magnitude();
              range = rangeIn(v.type, -most, most, -1, range.epsilon);
            }
            if (range.magnitude() > 600)
              return false;
            Shape to = collect(*windows, &Window::places);
            std::string attributes = fmt::format(
                "base_dilations = {}, {}padding = {}, window_dilations = {}, "
                "window_dimensions = {}, window_strides = {}",
                listText(collect(*windows, &Window::baseDilation)),
                kind == "region" || kind == "function"
                    ? ""
                    : fmt::format("kind = #dtensor.kind<{}>, ", kind),
                listText(padding(*windows)),
                listText(collect(*windows, &Window::windowDilation)),
                listText(collect(*windows, &Window::size)),
                listText(collect(*windows, &Window::stride)));
            std::string scalar = tensorText(v.type, {}), region = "{}";
            if (kind == "region")
              region = fmt::format(
                  "{{\n^bb0(%a: {0}, %b: {0}):\n  %m = \"dtensor.maximum\"(%a, "
                  "%b) : ({0}, {0}) -> {0}\n  \"dtensor.yield\"(%m) : ({0}) -> "
                  "()\n}}",
                  scalar);
            if (kind == "function")
              region = fmt::format(
                  "{{\n^bb0(%a: {0}, %b: {0}):\n  %h = \"dtensor.constant\"() "
                  "<{{value = dense<0.5> : {0}}}> : () -> {0}\n  %s = "
                  "\"dtensor.multiply\"(%a, %h) : ({0}, {0}) -> {0}\n  %m = "
                  "\"dtensor.add\"(%s, %b) : ({0}, {0}) -> {0}\n  "
                  "\"dtensor.yield\"(%m) : ({0}) -> ()\n}}",
                  scalar);
            const bool smooth = kind == "sum" || kind == "function";
            g.emitOne("dtensor.reduce_window", {x, init}, {v.type, to, range},
                      attributes, smooth, region);
            if (!smooth)
              g.refuseGradient();
            return true;
          }};
}

bool selectAndScatter(Generator &g) {
  unsigned x = g.exactFloat(1, 3);
  const Value v = g[x];
  auto windows = windowsOver(g, v.shape, false);
  if (!windows)
    return false;
  // A window in the padding alone chooses nothing.
  for (const Window &w : *windows)
    if (w.low >= w.size || w.high >= w.size)
      return false;
  unsigned source = g.like(v.type, collect(*windows, &Window::places));
  unsigned zero = g.splat(v.type, {}, 0);
  double terms = 1;
  for (const Window &w : *windows)
    terms *= double(w.size);
  Range range = g[source].range;
  range =
      rangeIn(v.type, std::min(0.0, range.low * terms),
              std::max(0.0, range.high * terms), range.fraction, range.epsilon);
  if (range.magnitude() > 600)
    return false;
  g.emitOne("dtensor.select_and_scatter", {x, source, zero},
            {v.type, v.shape, range},
            fmt::format("padding = {}, scatter_kind = #dtensor.kind<sum>, "
                        "select_kind = #dtensor.kind<max>, window_dimensions = "
                        "{}, window_strides = {}",
                        listText(padding(*windows)),
                        listText(collect(*windows, &Window::size)),
                        listText(collect(*windows, &Window::stride))),
            false, "{}, {}");
  return true;
}

OpMaker cumulative(const std::string &kind) {
  return {"cumulative " + kind, [kind](Generator &g) {
            unsigned x = g.anyFloat(1, 3);
            if (kind == "prod")
              x = g.into(x, 0.75, 1.25);
            const Value v = g[x];
            size_t dim = size_t(g.below(int64_t(v.shape.size())));
            double n = double(std::max<int64_t>(v.shape[dim], 1));
            Range range = v.range;
            if (kind == "sum")
              range = rangeIn(v.type, std::min(range.low, range.low * n),
                              std::max(range.high, range.high * n),
                              range.fraction, range.epsilon);
            if (kind == "prod") {
              if (n > 24)
                return false;
              range = rangeIn(v.type, std::pow(0.75, n), std::pow(1.25, n), -1,
                              range.epsilon);
            }
            if (range.magnitude() > 600)
              return false;
            g.emitOne("dtensor.cumulative", {x}, {v.type, v.shape, range},
                      fmt::format("dimension = {} : i64, kind = "
                                  "#dtensor.kind<{}>{}",
                                  dim, kind, g.chance(0.4) ? ", reverse" : ""),
                      kind == "sum");
            if (kind != "sum")
              g.refuseGradient();
            return true;
          }};
}

} // namespace

void addWindowMakers(OpMakers &makers) {
  makers.push_back({"convolution", convolution});
  for (const char *kind : {"sum", "max", "region", "function"})
    makers.push_back(reduceWindow(kind));
  makers.push_back({"select_and_scatter", selectAndScatter});
  for (const char *kind : {"sum", "prod", "max"})
    makers.push_back(cumulative(kind));
}

} // namespace meshloom::fuzz

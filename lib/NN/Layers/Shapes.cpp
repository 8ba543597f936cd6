// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that change shapes, and those that put tensors together; see Shapes.h.
#include "meshloom/NN/Layers/Shapes.h"
#include "Interpolation.h"
#include "Spatial.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Einsum.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>

namespace meshloom::layers {
namespace {

using namespace detail;

bool isChannelsFirst(const LayerImpl &layer, const std::string &format) {
  if (format != "channels_last" && format != "channels_first")
    Error(fmt::format("[{}] layer '{}': expected the data_format "
                      "'channels_last' or 'channels_first', got '{}'",
                      layer.class_name(), layer.name(), format))
        .raise();
  return format == "channels_first";
}

/// A layer without weights that is known by a list of numbers, its `argument`.
template <typename Impl, typename Options = PlainOptions>
class ShapeLayer : public BuiltIn<Impl, Options> {
public:
  ShapeLayer(std::string class_name, Shape numbers, Options options)
      : BuiltIn<Impl, Options>(std::move(class_name), std::move(options)),
        numbers(std::move(numbers)) {}
  template <typename F> static void fields(F &, Options &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn<Impl, Options>::get_config();
    config[Impl::argument] = numbers;
    return config;
  }
  /// Steps are other steps, mostly.
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

protected:
  Shape numbers;
};

class ReshapeImpl : public ShapeLayer<ReshapeImpl> {
public:
  static constexpr const char *argument = "target_shape";
  ReshapeImpl(std::string class_name, Shape sizes, PlainOptions options)
      : ShapeLayer(std::move(class_name), std::move(sizes),
                   std::move(options)) {
    if (std::ranges::count(numbers, -1) > 1 ||
        std::ranges::any_of(numbers, [](int64_t size) { return size < -1; }))
      refuse(fmt::format("expected a target_shape of sizes of 0 or more and "
                         "at most one -1, got [{}]",
                         fmt::join(numbers, ", ")));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (x.rank() == 0)
      refuse("expected a tensor [batch, ...], got a scalar");
    const std::span<const int64_t> inputSizes(x.shape().begin() + 1,
                                              x.shape().end());
    auto product = [](std::span<const int64_t> sizes) {
      // A product beyond the largest possible count need not be exact.
      __int128 count = 1;
      for (int64_t size : sizes)
        count = std::min<__int128>(count * (size == -1 ? 1 : size),
                                   std::numeric_limits<int64_t>::max());
      return int64_t(count);
    };
    const int64_t elements = product(inputSizes), asked = product(numbers);
    const bool hasOpen = std::ranges::count(numbers, -1) > 0;
    if (hasOpen ? asked == 0 || elements % asked != 0 : elements != asked)
      refuse(fmt::format("expected {}{} elements, as the input [None{}{}] has, "
                         "got [{}]",
                         hasOpen ? "a divisor of " : "", elements,
                         inputSizes.empty() ? "" : ", ",
                         fmt::join(inputSizes, ", "),
                         fmt::join(numbers, ", ")));
    Shape shape{x.shape()[0]};
    shape.insert(shape.end(), numbers.begin(), numbers.end());
    return reshape(x, std::move(shape));
  }
};

class FlattenImpl : public BuiltIn<FlattenImpl, DataFormatOptions> {
public:
  explicit FlattenImpl(DataFormatOptions options)
      : BuiltIn("Flatten", std::move(options)),
        channelsFirst(isChannelsFirst(*this, settings.data_format)) {}
  explicit FlattenImpl(const nn::Config &config) : FlattenImpl(read(config)) {}
  template <typename F> static void fields(F &field, DataFormatOptions &o) {
    field("data_format", o.data_format);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    const Shape &shape = x.shape();
    if (shape.empty())
      refuse("expected a tensor [batch, ...], got a scalar");
    return reshape(
        channelsFirst && x.rank() > 2 ? featuresLast(x) : x,
        {shape[0], std::accumulate(shape.begin() + 1, shape.end(), int64_t(1),
                                   std::multiplies<>())});
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  const bool channelsFirst;
};

class PermuteImpl : public ShapeLayer<PermuteImpl> {
public:
  static constexpr const char *argument = "dims";
  PermuteImpl(std::string class_name, Shape dims, PlainOptions options)
      : ShapeLayer(std::move(class_name), std::move(dims), std::move(options)) {
    Shape sorted = numbers;
    std::ranges::sort(sorted);
    for (size_t i = 0; i < sorted.size(); ++i)
      if (sorted[i] != int64_t(i) + 1)
        refuse(fmt::format("expected the dims 1 to {}, each once, as they "
                           "count from 1 behind the batch, got [{}]",
                           sorted.size(), fmt::join(numbers, ", ")));
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (x.rank() != int64_t(numbers.size()) + 1)
      refuse(fmt::format("expected a tensor of rank {}, got {}",
                         numbers.size() + 1, sizesText(x.shape())));
    std::vector<int64_t> order{0};
    order.insert(order.end(), numbers.begin(), numbers.end());
    return transpose(x, std::move(order));
  }
};

class RepeatVectorImpl : public ShapeLayer<RepeatVectorImpl> {
public:
  static constexpr const char *argument = "n";
  using ShapeLayer::ShapeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (x.rank() != 2)
      refuse("expected a tensor [batch, features], got " +
             sizesText(x.shape()));
    return broadcast_to(expand_dims(x, 1),
                        {x.shape()[0], numbers.at(0), x.shape()[1]});
  }
};

/// Has two numbers for each spatial dim, before and after it.
template <typename Derived>
class EdgeLayer : public ShapeLayer<Derived, DataFormatOptions> {
public:
  EdgeLayer(std::string class_name, Shape numbers, DataFormatOptions options)
      : ShapeLayer<Derived, DataFormatOptions>(
            std::move(class_name), std::move(numbers), std::move(options)),
        first(isChannelsFirst(*this, this->settings.data_format) ? 2 : 1) {
    for (int64_t number : this->numbers) {
      if (number < 0)
        this->refuse(fmt::format("expected {} of 0 or more, got {}",
                                 Derived::argument, number));
      this->expectSize(Derived::argument, number);
    }
  }
  template <typename F> static void fields(F &field, DataFormatOptions &o) {
    field("data_format", o.data_format);
  }

protected:
  /// How many spatial dims there are; refuses an `x` of another rank.
  size_t spatialDims(const Tensor &x) const {
    const size_t spatial = this->numbers.size() / 2;
    if (size_t(x.rank()) != spatial + 2)
      this->refuse(fmt::format(
          "expected a tensor [batch, {}] of rank {}, got {}",
          first == 2 ? "features, spatial..." : "spatial..., features",
          spatial + 2, sizesText(x.shape())));
    return spatial;
  }

  const size_t first; ///< spatial dim
};

class ZeroPaddingImpl : public EdgeLayer<ZeroPaddingImpl> {
public:
  static constexpr const char *argument = "padding";
  using EdgeLayer::EdgeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    const size_t spatial = spatialDims(x);
    std::vector<PadDim> dims(spatial + 2);
    for (size_t d = 0; d < spatial; ++d)
      dims[d + first] = {numbers[2 * d], numbers[2 * d + 1]};
    return pad(x, dims);
  }
};

class CroppingImpl : public EdgeLayer<CroppingImpl> {
public:
  static constexpr const char *argument = "cropping";
  using EdgeLayer::EdgeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    const size_t spatial = spatialDims(x);
    Shape begins(x.shape().size(), 0), sizes = x.shape();
    for (size_t d = 0; d < spatial; ++d) {
      begins[d + first] = numbers[2 * d];
      sizes[d + first] -= numbers[2 * d] + numbers[2 * d + 1];
      if (sizes[d + first] < 1)
        refuse(fmt::format("cropping {} and {} leaves nothing of dim {} of {}",
                           numbers[2 * d], numbers[2 * d + 1], d + first,
                           sizesText(x.shape())));
    }
    return slice(x, begins, sizes);
  }
};

class DotImpl : public BuiltIn<DotImpl, DotOptions> {
public:
  DotImpl(std::array<int64_t, 2> axes, DotOptions options)
      : BuiltIn("Dot", std::move(options)), axes(axes) {}
  explicit DotImpl(const nn::Config &config)
      : DotImpl(axesOf(config.at("axes")), read(config)) {}
  template <typename F> static void fields(F &field, DotOptions &o) {
    field("normalize", o.normalize);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["axes"] = Shape{axes[0], axes[1]};
    return config;
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    if (xs.size() != 2)
      refuse(fmt::format("expected two tensors, got {}: call it with a list",
                         xs.size()));
    std::string terms[2], result = "a";
    for (size_t i = 0; i < 2; ++i) {
      const int64_t rank = xs[i].rank();
      const int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i];
      if (axis < 1 || axis >= rank)
        refuse(fmt::format("expected an axis in [1, {}] of {}, got {}",
                           rank - 1, sizesText(xs[i].shape()), axes[i]));
      terms[i] = "a";
      for (int64_t d = 1; d < rank; ++d) {
        const char letter = d == axis ? 'z' : char((i ? 'n' : 'b') + d);
        terms[i] += letter;
        if (d != axis)
          result += letter;
      }
    }
    std::vector<Tensor> operands = xs;
    if (settings.normalize)
      for (size_t i = 0; i < 2; ++i)
        operands[i] =
            operands[i] *
            rsqrt(
                maximum(reduce_sum(square(operands[i]), axes[i], true), 1e-12));
    Tensor y = einsum(terms[0] + "," + terms[1] + "->" + result, operands);
    return {y.rank() == 1 ? expand_dims(y, -1) : y};
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  static std::array<int64_t, 2> axesOf(const nn::Config &config) {
    if (config.is_integer())
      return {config.as_int(), config.as_int()};
    const Shape both = config.as_ints();
    return {both.at(0), both.at(1)};
  }
  const std::array<int64_t, 2> axes;
};

class UpSamplingImpl : public ShapeLayer<UpSamplingImpl, UpSamplingOptions> {
public:
  static constexpr const char *argument = "size";
  UpSamplingImpl(std::string class_name, Shape sizes, UpSamplingOptions options)
      : ShapeLayer(std::move(class_name), std::move(sizes),
                   std::move(options)) {
    if (numbers.size() != 2 && settings.interpolation != "nearest")
      refuse(fmt::format("expected interpolation to be 'nearest', as only "
                         "images have others, got '{}'",
                         settings.interpolation));
    for (int64_t number : numbers)
      expectPositive("size", number);
    falloff = falloffOf(*this, settings.interpolation);
    channelsFirst = isChannelsFirst(*this, settings.data_format);
  }
  template <typename F> static void fields(F &field, UpSamplingOptions &o) {
    field("interpolation", o.interpolation);
    field("data_format", o.data_format);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (size_t(x.rank()) != numbers.size() + 2)
      refuse(fmt::format("expected a tensor [batch, {}] of rank {}, got {}",
                         channelsFirst ? "features, spatial..."
                                       : "spatial..., features",
                         numbers.size() + 2, sizesText(x.shape())));
    const int64_t first = channelsFirst ? 2 : 1; // spatial dim
    if (falloff) {
      auto weights = [&](int64_t d) {
        const int64_t size = x.shape()[size_t(first + d)];
        return cast(interpolation(size, size * numbers[size_t(d)], falloff),
                    x.dtype());
      };
      return einsum(channelsFirst ? "bchw,hm,wn->bcmn" : "bhwc,hm,wn->bmnc",
                    {x, weights(0), weights(1)});
    }
    Tensor y = x;
    for (size_t d = 0; d < numbers.size(); ++d)
      y = repeat(y, numbers[d], int64_t(d) + first);
    return y;
  }

private:
  Falloff falloff = nullptr;
  bool channelsFirst = false;
};

/// Returns the tensors with one rank: those of fewer dims get dims of extent 1
/// after the batch, as in Keras.
std::vector<Tensor> withOneRank(std::vector<Tensor> xs) {
  const int64_t rank =
      std::ranges::max(xs, {}, [](const Tensor &x) { return x.rank(); }).rank();
  for (Tensor &x : xs)
    while (x.rank() < rank)
      x = expand_dims(x, std::min<int64_t>(1, x.rank()));
  return xs;
}

/// Combines two or more tensors: one class for all, known by its name.
class MergeImpl : public ShapeLayer<MergeImpl> {
public:
  static constexpr const char *argument = "axis";
  using ShapeLayer::ShapeLayer;
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    const std::string &kind = class_name();
    if (xs.size() < 2 || (kind == "Subtract" && xs.size() != 2))
      refuse(fmt::format("expected {} tensors, got {}: call it with a list",
                         kind == "Subtract" ? "two" : "at least two",
                         xs.size()));
    if (kind == "Concatenate")
      return {concat(xs, numbers.at(0))};
    const std::vector<Tensor> operands = withOneRank(xs);
    Tensor y = operands[0];
    for (size_t i = 1; i < operands.size(); ++i)
      y = kind == "Subtract"   ? y - operands[i]
          : kind == "Multiply" ? y * operands[i]
          : kind == "Maximum"  ? maximum(y, operands[i])
          : kind == "Minimum"  ? minimum(y, operands[i])
                               : y + operands[i];
    return {kind == "Average" ? y / double(operands.size()) : y};
  }
  /// A position counts where it does in any input; of what is put together
  /// along steps, each step as in its own.
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &xs,
                                   const std::vector<Tensor> &masks) override {
    const auto masked = size_t(
        std::ranges::count_if(masks, [](auto &m) { return m.defined(); }));
    if (masked == 0 || (class_name() != "Concatenate" && masked < masks.size()))
      return {};
    if (class_name() != "Concatenate") {
      Tensor any = masks[0];
      for (size_t i = 1; i < masks.size(); ++i)
        any = logical_or(any, masks[i]);
      return {any};
    }
    const int64_t rank = xs[0].rank();
    const int64_t axis = numbers[0] < 0 ? numbers[0] + rank : numbers[0];
    std::vector<Tensor> parts;
    for (size_t i = 0; i < xs.size(); ++i) {
      const Shape shape(xs[i].shape().begin(),
                        xs[i].shape().begin() + firstOf(masks).rank());
      parts.push_back(masks[i].defined() ? masks[i]
                                         : broadcast_to(tensor(true), shape));
    }
    if (axis < parts[0].rank())
      return {concat(parts, axis)};
    // Elements of several inputs: it counts where any does.
    Tensor counts = parts[0];
    for (size_t i = 1; i < parts.size(); ++i)
      counts = logical_or(counts, parts[i]);
    return {counts};
  }

private:
  static const Tensor &firstOf(const std::vector<Tensor> &masks) {
    return *std::ranges::find_if(masks, [](auto &m) { return m.defined(); });
  }
};

template <typename Impl, typename Options>
Layer make(const char *class_name, Shape numbers, Options options) {
  return Layer(
      makeLayer<Impl>(class_name, std::move(numbers), std::move(options)));
}

template <int Rank> Shape forEach(const Sizes &sizes, const char *layer) {
  if (sizes.values.size() == 1)
    return Shape(Rank, sizes.values[0]);
  if (sizes.values.size() != Rank)
    Error(fmt::format("[{}] expected one size, or {}, got {}", layer, Rank,
                      sizes.values.size()))
        .raise();
  return sizes.values;
}
template <int Rank> Shape flat(const Ends<Rank> &ends, const char *layer) {
  if (ends.values.size() != 1 && ends.values.size() != Rank)
    Error(fmt::format("[{}{}D] expected one number, or {} numbers or "
                      "pairs of them, got {}",
                      layer, Rank, Rank, ends.values.size()))
        .raise();
  Shape numbers;
  for (size_t d = 0; d < Rank; ++d)
    for (int64_t number : ends.values[ends.values.size() == 1 ? 0 : d])
      numbers.push_back(number);
  return numbers;
}

} // namespace

Flatten::Flatten(DataFormatOptions options)
    : Layer(makeLayer<FlattenImpl>(std::move(options))) {}
Reshape::Reshape(Shape target_shape, PlainOptions options)
    : Layer(make<ReshapeImpl>("Reshape", std::move(target_shape),
                              std::move(options))) {}
Permute::Permute(std::vector<int64_t> dims, PlainOptions options)
    : Layer(make<PermuteImpl>("Permute", std::move(dims), std::move(options))) {
}
RepeatVector::RepeatVector(int64_t n, PlainOptions options)
    : Layer(make<RepeatVectorImpl>("RepeatVector", {n}, std::move(options))) {
  if (n <= 0)
    Error(fmt::format("[RepeatVector] expected a positive n, got {}", n))
        .raise();
}
template <int Rank>
ZeroPadding<Rank>::ZeroPadding(Ends<Rank> padding, DataFormatOptions options)
    : Layer(make<ZeroPaddingImpl>(ranked("ZeroPadding", Rank).c_str(),
                                  flat<Rank>(padding, "ZeroPadding"),
                                  std::move(options))) {}
template <int Rank>
UpSampling<Rank>::UpSampling(Sizes size, UpSamplingOptions options)
    : Layer(make<UpSamplingImpl>(ranked("UpSampling", Rank).c_str(),
                                 forEach<Rank>(size, "UpSampling"),
                                 std::move(options))) {}
template class ZeroPadding<1>;
template class ZeroPadding<2>;
template class ZeroPadding<3>;
template <int Rank>
Cropping<Rank>::Cropping(Ends<Rank> cropping, DataFormatOptions options)
    : Layer(make<CroppingImpl>(ranked("Cropping", Rank).c_str(),
                               flat<Rank>(cropping, "Cropping"),
                               std::move(options))) {}
template class Cropping<1>;
template class Cropping<2>;
template class Cropping<3>;
template class UpSampling<1>;
template class UpSampling<2>;
template class UpSampling<3>;

Concatenate::Concatenate(int64_t axis, PlainOptions options)
    : Layer(make<MergeImpl>("Concatenate", {axis}, std::move(options))) {}
Add::Add(PlainOptions options)
    : Layer(make<MergeImpl>("Add", {}, std::move(options))) {}
Subtract::Subtract(PlainOptions options)
    : Layer(make<MergeImpl>("Subtract", {}, std::move(options))) {}
Multiply::Multiply(PlainOptions options)
    : Layer(make<MergeImpl>("Multiply", {}, std::move(options))) {}
Dot::Dot(int64_t axis, DotOptions options)
    : Dot(std::array<int64_t, 2>{axis, axis}, std::move(options)) {}
Dot::Dot(std::array<int64_t, 2> axes, DotOptions options)
    : Layer(makeLayer<DotImpl>(axes, std::move(options))) {}
Average::Average(PlainOptions options)
    : Layer(make<MergeImpl>("Average", {}, std::move(options))) {}
Maximum::Maximum(PlainOptions options)
    : Layer(make<MergeImpl>("Maximum", {}, std::move(options))) {}
Minimum::Minimum(PlainOptions options)
    : Layer(make<MergeImpl>("Minimum", {}, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::shapeLayers() {
  using namespace layers;
  LayerList list;
  auto add = [&]<typename Impl>(std::initializer_list<const char *> names) {
    for (const char *name : names)
      list.emplace_back(name, [name](const nn::Config &config) {
        return make<Impl>(name, config.at(Impl::argument).as_ints(),
                          Impl::read(config));
      });
  };
  list.emplace_back("Flatten", createLayer<FlattenImpl>);
  add.operator()<ReshapeImpl>({"Reshape"});
  add.operator()<PermuteImpl>({"Permute"});
  add.operator()<RepeatVectorImpl>({"RepeatVector"});
  add.operator()<ZeroPaddingImpl>(
      {"ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"});
  add.operator()<CroppingImpl>({"Cropping1D", "Cropping2D", "Cropping3D"});
  list.emplace_back("Dot", createLayer<DotImpl>);
  add.operator()<UpSamplingImpl>(
      {"UpSampling1D", "UpSampling2D", "UpSampling3D"});
  add.operator()<MergeImpl>({"Concatenate", "Add", "Subtract", "Multiply",
                             "Average", "Maximum", "Minimum"});
  return list;
}

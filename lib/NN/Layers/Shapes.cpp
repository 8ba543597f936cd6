// Layers that change shapes, and those that put tensors together; see Shapes.h.
#include "meshloom/NN/Layers/Shapes.h"
#include "BuiltIn.h"

#include "meshloom/API/IndexOps.h"
#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>

#include <numeric>

namespace meshloom::layers {
namespace {

using namespace detail;

/// A layer without weights that is known by a list of numbers, its `argument`.
template <typename Impl> class ShapeLayer : public BuiltIn<Impl, PlainOptions> {
public:
  ShapeLayer(std::string class_name, Shape numbers, PlainOptions options)
      : BuiltIn<Impl, PlainOptions>(std::move(class_name), std::move(options)),
        numbers(std::move(numbers)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  Config get_config() const override {
    Config config = BuiltIn<Impl, PlainOptions>::get_config();
    config[Impl::argument] = numbers;
    return config;
  }

protected:
  Shape numbers;
};

class ReshapeImpl : public ShapeLayer<ReshapeImpl> {
public:
  static constexpr const char *argument = "target_shape";
  using ShapeLayer::ShapeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    Shape shape{x.shape().at(0)};
    shape.insert(shape.end(), numbers.begin(), numbers.end());
    return reshape(x, std::move(shape));
  }
};

class FlattenImpl : public ShapeLayer<FlattenImpl> {
public:
  static constexpr const char *argument = "sizes";
  using ShapeLayer::ShapeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    const Shape &shape = x.shape();
    if (shape.empty())
      refuse("expected a tensor [batch, ...], got a scalar");
    return reshape(
        x, {shape[0], std::accumulate(shape.begin() + 1, shape.end(),
                                      int64_t(1), std::multiplies<>())});
  }
};

class PermuteImpl : public ShapeLayer<PermuteImpl> {
public:
  static constexpr const char *argument = "dims";
  using ShapeLayer::ShapeLayer;
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

class ZeroPaddingImpl : public ShapeLayer<ZeroPaddingImpl> {
public:
  static constexpr const char *argument = "padding";
  using ShapeLayer::ShapeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    const size_t spatial = numbers.size() / 2;
    if (size_t(x.rank()) != spatial + 2)
      refuse(fmt::format("expected a tensor [batch, spatial..., features] of "
                         "rank {}, got {}",
                         spatial + 2, sizesText(x.shape())));
    std::vector<PadDim> dims(spatial + 2);
    for (size_t d = 0; d < spatial; ++d)
      dims[d + 1] = {numbers[2 * d], numbers[2 * d + 1]};
    return pad(x, dims);
  }
};

class UpSamplingImpl : public ShapeLayer<UpSamplingImpl> {
public:
  static constexpr const char *argument = "size";
  using ShapeLayer::ShapeLayer;
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (size_t(x.rank()) != numbers.size() + 2)
      refuse(fmt::format("expected a tensor [batch, spatial..., features] of "
                         "rank {}, got {}",
                         numbers.size() + 2, sizesText(x.shape())));
    Tensor y = x;
    for (size_t d = 0; d < numbers.size(); ++d)
      y = repeat(y, numbers[d], int64_t(d) + 1);
    return y;
  }
};

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
    Tensor y = xs[0];
    for (size_t i = 1; i < xs.size(); ++i)
      y = kind == "Subtract"   ? y - xs[i]
          : kind == "Multiply" ? y * xs[i]
          : kind == "Maximum"  ? maximum(y, xs[i])
          : kind == "Minimum"  ? minimum(y, xs[i])
                               : y + xs[i];
    return {kind == "Average" ? y / double(xs.size()) : y};
  }
};

template <typename Impl>
Layer make(const char *class_name, Shape numbers, PlainOptions options) {
  return Layer(std::make_shared<Impl>(class_name, std::move(numbers),
                                      std::move(options)));
}

template <int Rank> Shape forEach(const Sizes &sizes, const char *what) {
  if (sizes.values.size() == 1)
    return Shape(Rank, sizes.values[0]);
  if (sizes.values.size() != Rank)
    throw Error(fmt::format("[{}] expected one size, or {}, got {}", what, Rank,
                            sizes.values.size()));
  return sizes.values;
}
template <int Rank> Shape doubled(const Sizes &sizes) {
  Shape numbers;
  for (int64_t size : forEach<Rank>(sizes, "ZeroPadding"))
    numbers.insert(numbers.end(), {size, size});
  return numbers;
}
template <int Rank>
Shape flat(const std::array<std::array<int64_t, 2>, Rank> &padding) {
  Shape numbers;
  for (auto &[before, after] : padding)
    numbers.insert(numbers.end(), {before, after});
  return numbers;
}

std::string ranked(const char *name, int rank) {
  return fmt::format("{}{}D", name, rank);
}

} // namespace

Flatten::Flatten(PlainOptions options)
    : Layer(make<FlattenImpl>("Flatten", {}, std::move(options))) {}
Reshape::Reshape(Shape target_shape, PlainOptions options)
    : Layer(make<ReshapeImpl>("Reshape", std::move(target_shape),
                              std::move(options))) {}
Permute::Permute(std::vector<int64_t> dims, PlainOptions options)
    : Layer(make<PermuteImpl>("Permute", std::move(dims), std::move(options))) {
}
RepeatVector::RepeatVector(int64_t n, PlainOptions options)
    : Layer(make<RepeatVectorImpl>("RepeatVector", {n}, std::move(options))) {
  if (n <= 0)
    throw Error(fmt::format("[RepeatVector] expected a positive n, got {}", n));
}
template <int Rank>
ZeroPadding<Rank>::ZeroPadding(Sizes padding, PlainOptions options)
    : Layer(make<ZeroPaddingImpl>(ranked("ZeroPadding", Rank).c_str(),
                                  doubled<Rank>(padding), std::move(options))) {
}
template <int Rank>
ZeroPadding<Rank>::ZeroPadding(
    const std::array<std::array<int64_t, 2>, Rank> &padding,
    PlainOptions options)
    : Layer(make<ZeroPaddingImpl>(ranked("ZeroPadding", Rank).c_str(),
                                  flat<Rank>(padding), std::move(options))) {}
template <int Rank>
UpSampling<Rank>::UpSampling(Sizes size, PlainOptions options)
    : Layer(make<UpSamplingImpl>(ranked("UpSampling", Rank).c_str(),
                                 forEach<Rank>(size, "UpSampling"),
                                 std::move(options))) {}
template class ZeroPadding<1>;
template class ZeroPadding<2>;
template class ZeroPadding<3>;
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
Average::Average(PlainOptions options)
    : Layer(make<MergeImpl>("Average", {}, std::move(options))) {}
Maximum::Maximum(PlainOptions options)
    : Layer(make<MergeImpl>("Maximum", {}, std::move(options))) {}
Minimum::Minimum(PlainOptions options)
    : Layer(make<MergeImpl>("Minimum", {}, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::shapeLayers() {
  using namespace layers;
  LayerList all;
  auto add = [&]<typename Impl>(std::initializer_list<const char *> names) {
    for (const char *name : names)
      all.emplace_back(name, [name](const Config &config) {
        return make<Impl>(name, config.at(Impl::argument).as_ints(),
                          Impl::read(config));
      });
  };
  add.operator()<FlattenImpl>({"Flatten"});
  add.operator()<ReshapeImpl>({"Reshape"});
  add.operator()<PermuteImpl>({"Permute"});
  add.operator()<RepeatVectorImpl>({"RepeatVector"});
  add.operator()<ZeroPaddingImpl>(
      {"ZeroPadding1D", "ZeroPadding2D", "ZeroPadding3D"});
  add.operator()<UpSamplingImpl>(
      {"UpSampling1D", "UpSampling2D", "UpSampling3D"});
  add.operator()<MergeImpl>({"Concatenate", "Add", "Subtract", "Multiply",
                             "Average", "Maximum", "Minimum"});
  return all;
}

// What is done to data before a model sees them; see Preprocessing.h.
#include "meshloom/NN/Layers/Preprocessing.h"
#include "Interpolation.h"

#include "meshloom/API/Create.h"
#include "meshloom/NN/Normalization.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

class NormalizationImpl
    : public BuiltIn<NormalizationImpl, NormalizationOptions> {
public:
  explicit NormalizationImpl(NormalizationOptions options)
      : BuiltIn("Normalization", std::move(options)) {
    if (own.mean.size() != own.variance.size())
      refuse(fmt::format("expected as many means as variances, got {} and {}",
                         own.mean.size(), own.variance.size()));
  }
  explicit NormalizationImpl(const Config &config)
      : NormalizationImpl(withMoments(read(config), config)) {}
  template <typename F> static void fields(F &field, NormalizationOptions &o) {
    field("axis", o.axis);
    field("invert", o.invert);
  }
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    if (areGiven()) {
      config["mean"] = Config::List(own.mean.begin(), own.mean.end());
      config["variance"] =
          Config::List(own.variance.begin(), own.variance.end());
    }
    return config;
  }

  void build(const Shape &input) override {
    dims.clear();
    InputSpec spec{.rank = int64_t(input.size())};
    Shape sizes;
    for (int64_t axis : own.axis) {
      const int64_t dim = axis < 0 ? axis + int64_t(input.size()) : axis;
      if (dim < 0 || dim >= int64_t(input.size()) || input[size_t(dim)] < 0)
        refuse(fmt::format("expected an input whose dim {} is there and has a "
                           "known size, got {}",
                           axis, sizesText(input)));
      dims.push_back(dim);
    }
    std::ranges::sort(dims);
    int64_t elements = 1;
    for (int64_t dim : dims) {
      sizes.push_back(input[size_t(dim)]);
      spec.sizes[dim] = sizes.back();
      elements *= sizes.back();
    }
    if (areGiven()) {
      if (own.mean.size() != 1 && int64_t(own.mean.size()) != elements)
        refuse(fmt::format("expected one mean, or {} for an input {}, got {}",
                           elements, sizesText(input), own.mean.size()));
    } else {
      const WeightOptions kept{.initializer = "zeros", .trainable = false};
      mean = add_weight("mean", sizes, kept);
      variance = add_weight("variance", sizes,
                            {.initializer = "ones", .trainable = false});
      count = add_weight(
          "count", {},
          {.initializer = "zeros", .dtype = DType::I32, .trainable = false});
    }
    set_input_spec(std::move(spec));
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    const Tensor wide = isFloat(x.dtype()) ? x : cast(x, DType::F32);
    Shape shape(size_t(x.rank()), 1);
    for (int64_t dim : dims)
      shape[size_t(dim)] = x.shape()[size_t(dim)];
    auto fitting = [&](const std::vector<double> &given,
                       const DVariable &weight) {
      const Tensor moment = weight.defined()
                                ? weight.read_value()
                                : tensor(given, {int64_t(given.size())});
      return cast(moment.size() == 1 ? reshape(moment, {})
                                     : reshape(moment, shape),
                  wide.dtype());
    };
    const Tensor centre = fitting(own.mean, mean);
    const Tensor scale =
        maximum(sqrt(fitting(own.variance, variance)), 1e-7); // Keras's
    return own.invert ? centre + wide * scale : (wide - centre) / scale;
  }

  void adapt(const Tensor &data) {
    if (areGiven())
      refuse("its moments were given: make one without, to adapt it");
    Shape any = data.shape();
    if (!any.empty())
      any[0] = std::ranges::find(own.axis, 0) == own.axis.end() ? -1 : any[0];
    const Layer self = handle();
    self.build(any);
    for (size_t i = 0; i < dims.size(); ++i)
      if (data.rank() <= dims[i] ||
          data.shape()[size_t(dims[i])] != mean.shape()[i])
        refuse(fmt::format("expected data of the sizes that it was built for, "
                           "{}, got {}",
                           sizesText(mean.shape()), sizesText(data.shape())));
    std::vector<int64_t> others;
    for (int64_t d = 0; d < data.rank(); ++d)
      if (std::ranges::find(dims, d) == dims.end())
        others.push_back(d);
    const Tensor wide = isFloat(data.dtype()) ? data : cast(data, DType::F32);
    const nn::Moments now = nn::moments(wide, Axis(others));
    mean.assign(cast(now.mean, mean.dtype()));
    variance.assign(cast(now.variance, variance.dtype()));
  }

private:
  bool areGiven() const { return !own.mean.empty(); }
  /// One number, a list, or lists in lists.
  static void numbersIn(const Config &config, std::vector<double> &numbers) {
    if (config.is_list())
      for (const Config &entry : config.as_list())
        numbersIn(entry, numbers);
    else if (!config.is_null())
      numbers.push_back(config.as_double());
  }
  static NormalizationOptions withMoments(NormalizationOptions options,
                                          const Config &config) {
    if (const Config *given = config.find("mean"))
      numbersIn(*given, options.mean);
    if (const Config *given = config.find("variance"))
      numbersIn(*given, options.variance);
    return options;
  }

  Shape dims; ///< with moments of their own, in order
  DVariable mean, variance, count;
};

} // namespace

Normalization::Normalization(NormalizationOptions options)
    : Layer(std::make_shared<NormalizationImpl>(std::move(options))) {}
void Normalization::adapt(const Tensor &data) const {
  implOf<NormalizationImpl>(*this).adapt(data);
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::preprocessingLayers() {
  LayerList all{{"Normalization", madeOf<layers::NormalizationImpl>}};
  for (auto &layer : imageLayers())
    all.push_back(std::move(layer));
  return all;
}

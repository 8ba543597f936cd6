// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that change data before a model sees them; see Preprocessing.h.
#include "meshloom/NN/Layers/Preprocessing.h"
#include "../Errors.h"
#include "Interpolation.h"
#include "Vocabulary.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Debugging.h"
#include "meshloom/API/Histograms.h"
#include "meshloom/NN/Normalization.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

class NormalizationImpl
    : public BuiltIn<NormalizationImpl, NormalizationOptions> {
public:
  explicit NormalizationImpl(NormalizationOptions options)
      : BuiltIn("Normalization", std::move(options)) {
    if (settings.mean.size() != settings.variance.size())
      refuse(fmt::format("expected one variance for each mean, got {} and {}",
                         settings.mean.size(), settings.variance.size()));
    for (double variance : settings.variance)
      expectBound("Normalization", "variance", variance, Bound::NotNegative);
  }
  explicit NormalizationImpl(const nn::Config &config)
      : NormalizationImpl(withMoments(read(config), config)) {}
  template <typename F> static void fields(F &field, NormalizationOptions &o) {
    field("axis", o.axis);
    field("invert", o.invert);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    if (haveStatistics()) {
      config["mean"] =
          nn::Config::List(settings.mean.begin(), settings.mean.end());
      config["variance"] =
          nn::Config::List(settings.variance.begin(), settings.variance.end());
    }
    return config;
  }

  void build(const Shape &input) override {
    dims.clear();
    InputSpec spec{.rank = int64_t(input.size())};
    Shape sizes;
    for (int64_t axis : settings.axis) {
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
    if (haveStatistics()) {
      if (settings.mean.size() != 1 &&
          int64_t(settings.mean.size()) != elements)
        refuse(fmt::format("expected one mean, or {} for an input {}, got {}",
                           elements, sizesText(input), settings.mean.size()));
    } else {
      const WeightOptions fixed{.initializer = "zeros", .trainable = false};
      mean = add_weight("mean", sizes, fixed);
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
    auto fitting = [&](const std::vector<double> &statistics,
                       const DVariable &weight) {
      const Tensor moment =
          weight.defined() ? weight.read_value()
                           : tensor(statistics, {int64_t(statistics.size())});
      return cast(moment.size() == 1 ? reshape(moment, {})
                                     : reshape(moment, shape),
                  wide.dtype());
    };
    const Tensor centre = fitting(settings.mean, mean);
    const Tensor scale =
        maximum(sqrt(fitting(settings.variance, variance)), 1e-7); // Keras's
    return settings.invert ? centre + wide * scale : (wide - centre) / scale;
  }

  void adapt(const Tensor &data) {
    if (haveStatistics())
      refuse("its moments were given: make one without, to adapt it");
    Shape any = data.shape();
    if (!any.empty())
      any[0] = std::ranges::find(settings.axis, 0) == settings.axis.end()
                   ? -1
                   : any[0];
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
  bool haveStatistics() const { return !settings.mean.empty(); }
  /// One number, a list, or lists in lists.
  static void numbersIn(const nn::Config &config,
                        std::vector<double> &numbers) {
    if (config.is_list())
      for (const nn::Config &entry : config.as_list())
        numbersIn(entry, numbers);
    else if (!config.is_null())
      numbers.push_back(config.as_double());
  }
  static NormalizationOptions withMoments(NormalizationOptions options,
                                          const nn::Config &config) {
    if (const nn::Config *entry = config.find("mean"))
      numbersIn(*entry, options.mean);
    if (const nn::Config *entry = config.find("variance"))
      numbersIn(*entry, options.variance);
    return options;
  }

  Shape dims; ///< with moments of their own, in order
  DVariable mean, variance, count;
};

/// [batch, n] categories as vectors of floats; see CategoryEncodingOptions.
Tensor encoded(const Tensor &categories, int64_t depth, const std::string &mode,
               const Tensor &weights = {}) {
  Tensor x = cast(categories, DType::I32);
  if (mode == "int")
    return x;
  if (mode == "one_hot") {
    if (x.rank() > 1 && x.shape().back() == 1)
      x = squeeze(x, {-1});
    return one_hot(x, depth);
  }
  Tensor hot = one_hot(x, depth);
  const int64_t n = x.rank() > 1 ? 1 : 0;
  if (mode == "multi_hot")
    return reduce_max(hot, n);
  if (weights.defined())
    hot = hot * expand_dims(cast(weights, hot.dtype()), -1);
  return reduce_sum(hot, n);
}
void expectMode(const LayerImpl &layer, const std::string &mode,
                bool takesInt) {
  if (mode != "one_hot" && mode != "multi_hot" && mode != "count" &&
      !(takesInt && mode == "int"))
    Error(fmt::format("[{}] layer '{}': expected the output_mode {}"
                      "'multi_hot', 'count' or 'one_hot', got '{}'",
                      layer.class_name(), layer.name(),
                      takesInt ? "'int', " : "", mode))
        .raise();
}

class CategoryEncodingImpl
    : public BuiltIn<CategoryEncodingImpl, CategoryEncodingOptions> {
public:
  CategoryEncodingImpl(int64_t categories, CategoryEncodingOptions options)
      : BuiltIn("CategoryEncoding", std::move(options)),
        categories(categories) {
    expectPositive("num_tokens", categories);
    expectMode(*this, settings.output_mode, false);
  }
  explicit CategoryEncodingImpl(const nn::Config &config)
      : CategoryEncodingImpl(config.at("num_tokens").as_int(), read(config)) {}
  template <typename F>
  static void fields(F &field, CategoryEncodingOptions &o) {
    field("output_mode", o.output_mode);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["num_tokens"] = categories;
    return config;
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    if (xs.size() > 2 || (xs.size() == 2 && settings.output_mode != "count"))
      refuse(fmt::format("expected categories, and of 'count' weights, got {} "
                         "inputs for '{}'",
                         xs.size(), settings.output_mode));
    return {encoded(xs[0], categories, settings.output_mode,
                    xs.size() == 2 ? xs[1] : Tensor())};
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  const int64_t categories;
};

class IntegerLookupImpl
    : public BuiltIn<IntegerLookupImpl, IntegerLookupOptions> {
public:
  explicit IntegerLookupImpl(IntegerLookupOptions options)
      : BuiltIn("IntegerLookup", std::move(options)),
        vocabulary(*this, {settings.max_tokens, settings.num_oov_indices,
                           settings.mask_token, settings.oov_token,
                           settings.output_mode, settings.pad_to_max_tokens}) {
    expectTextOption(*this, "output_mode", settings.output_mode,
                     {"int", "one_hot", "multi_hot", "count", "tf_idf"});
    if (!settings.vocabulary.empty())
      vocabulary.set(settings.vocabulary, settings.idf_weights);
  }
  explicit IntegerLookupImpl(const nn::Config &config)
      : IntegerLookupImpl(read(config)) {
    vocabulary.read(config);
  }
  template <typename F> static void fields(F &field, IntegerLookupOptions &o) {
    field("max_tokens", o.max_tokens);
    field("num_oov_indices", o.num_oov_indices);
    field("mask_token", o.mask_token);
    field("oov_token", o.oov_token);
    field("output_mode", o.output_mode);
    field("pad_to_max_tokens", o.pad_to_max_tokens);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    vocabulary.write(config);
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    expectIntegers(x, "its inputs");
    if (vocabulary.isEmpty())
      refuse("it has no vocabulary yet: call adapt or set_vocabulary first");
    const Tensor indices = indicesOf(cast(x, DType::I64));
    if (settings.output_mode == "int")
      return indices;
    const bool isCount = settings.output_mode == "tf_idf";
    const Tensor vectors = encoded(indices, vocabulary.depth(),
                                   isCount ? "count" : settings.output_mode);
    return isCount
               ? vectors *
                     cast(tensor(vocabulary.idfWeights(), {vocabulary.depth()}),
                          vectors.dtype())
               : vectors;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }
  Tensor integersOf(const Tensor &indices) const {
    expectIntegers(indices, "the indices for to_tokens");
    std::vector<int64_t> byIndex;
    for (int64_t i = 0; i < vocabulary.size(); ++i)
      byIndex.push_back(vocabulary.tokenOf(i));
    const Tensor i = cast(indices, DType::I64);
    const int64_t last = vocabulary.size() - 1;
    const Tensor place = maximum(minimum(i, last), int64_t(0));
    return where(equal(place, i),
                 take(tensor(byIndex, {vocabulary.size()}), place, 0),
                 settings.oov_token);
  }
  void expectIntegers(const Tensor &x, const char *values) const {
    if (!isInteger(x.dtype()))
      refuse(fmt::format("expected {} to be integers, got {}", values,
                         nn::text(x)));
  }

  VocabularyOf<int64_t> vocabulary;

private:
  Tensor indicesOf(const Tensor &x) const {
    // In the order of the integers, where a binary search finds them.
    const std::map<int64_t, int64_t> sorted(vocabulary.byToken().begin(),
                                            vocabulary.byToken().end());
    std::vector<int64_t> integers, indices;
    for (auto &[integer, index] : sorted) {
      integers.push_back(integer);
      indices.push_back(index);
    }
    const Shape shape{int64_t(integers.size())};
    const Tensor table = tensor(integers, shape);
    const Tensor place =
        minimum(searchsorted(table, x), int64_t(integers.size()) - 1);
    Tensor isFound = equal(take(table, place, 0), x);
    const int64_t unknown = vocabulary.unknownIndices();
    Tensor found = meshloom::where(
        isFound, take(tensor(indices, shape), place, 0),
        unknown > 1 ? vocabulary.firstUnknown() + x % unknown
                    : zeros_like(x) + vocabulary.firstUnknown());
    if (const std::optional<int64_t> mask = vocabulary.maskToken()) {
      const Tensor isMask = equal(x, *mask);
      found = meshloom::where(isMask, vocabulary.maskIndex(), found);
      isFound = logical_or(isFound, isMask);
    }
    if (unknown == 0)
      debugging::Assert(reduce_all(isFound),
                        fmt::format("[IntegerLookup] layer '{}': an integer is "
                                    "not in the vocabulary, and "
                                    "num_oov_indices is 0",
                                    name()),
                        {x});
    return found;
  }
};

/// A point of a distribution, and how many elements it stands for.
struct Quantile {
  double value, weight;
};

/// At most about 1 / epsilon points for many, at equal shares of their weight.
std::vector<Quantile> compressed(const std::vector<Quantile> &points,
                                 double epsilon) {
  if (double(points.size()) * epsilon < 1)
    return points;
  std::vector<double> reached; // weights up to each, of all
  double sum = 0;
  for (const Quantile &point : points)
    reached.push_back(sum += point.weight);
  // Between two points both value and weight are on a line.
  auto valueAt = [&](double share, auto &&of) {
    const double weight = share * sum;
    const auto after = std::ranges::lower_bound(reached, weight);
    if (after == reached.begin())
      return of(0);
    if (after == reached.end())
      return of(points.size() - 1);
    const auto i = size_t(after - reached.begin());
    const double part =
        (weight - reached[i - 1]) / (reached[i] - reached[i - 1]);
    return of(i - 1) + part * (of(i) - of(i - 1));
  };
  std::vector<Quantile> few;
  double before = 0;
  const auto count = int64_t(std::ceil(1 / epsilon));
  for (int64_t i = 0; i < count; ++i) {
    const double share = epsilon + double(i) * epsilon;
    const double value =
        valueAt(share, [&](size_t k) { return points[k].value; });
    const double weight = valueAt(share, [&](size_t k) { return reached[k]; });
    few.push_back({value, weight - before});
    before = weight;
  }
  return few;
}

class DiscretizationImpl
    : public BuiltIn<DiscretizationImpl, DiscretizationOptions> {
public:
  explicit DiscretizationImpl(DiscretizationOptions options)
      : BuiltIn("Discretization", std::move(options)) {
    if (settings.num_bins == 0 && settings.bin_boundaries.empty())
      refuse("expected bin_boundaries, or num_bins to find some for, got "
             "neither");
    if (settings.num_bins != 0)
      expectPositive("num_bins", settings.num_bins);
    if (!std::ranges::is_sorted(settings.bin_boundaries))
      refuse(fmt::format("expected bin_boundaries that rise, got [{}]",
                         fmt::join(settings.bin_boundaries, ", ")));
    if (!(settings.epsilon > 0 && settings.epsilon < 1))
      refuse(fmt::format("expected an epsilon between 0 and 1, got {}",
                         settings.epsilon));
    expectMode(*this, settings.output_mode, true);
  }
  /// The config of an adapted layer has both boundaries and the number of bins.
  explicit DiscretizationImpl(const nn::Config &config)
      : DiscretizationImpl(withBoundaries(read(config), config)) {}
  template <typename F> static void fields(F &field, DiscretizationOptions &o) {
    field("num_bins", o.num_bins);
    field("epsilon", o.epsilon, Bound::NotNegative);
    field("output_mode", o.output_mode);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["bin_boundaries"] = nn::Config::List(settings.bin_boundaries.begin(),
                                                settings.bin_boundaries.end());
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (settings.bin_boundaries.empty())
      refuse("expected bin_boundaries, or a call of adapt before");
    const Tensor wide = isFloat(x.dtype()) ? x : cast(x, DType::F32);
    const auto count = int64_t(settings.bin_boundaries.size());
    const Tensor boundaries =
        cast(tensor(settings.bin_boundaries, {count}), wide.dtype());
    const Tensor bins = reduce_sum(
        cast(greater_equal(expand_dims(wide, -1), boundaries), DType::I32), -1);
    return encoded(bins, count + 1, settings.output_mode);
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &masks) override {
    return {settings.output_mode == "int" ? masks.at(0) : Tensor()};
  }

  bool hasBoth() const {
    return settings.num_bins != 0 && !settings.bin_boundaries.empty();
  }
  void adapt(const Tensor &data) {
    if (settings.num_bins == 0)
      refuse("its bin_boundaries were given: make one with num_bins, to adapt "
             "it");
    std::vector<float> values = cast(data, DType::F32).to_vector<float>();
    if (values.empty())
      refuse("expected data with elements, got " + sizesText(data.shape()));
    std::ranges::sort(values);
    const double step = std::max(double(values.size()) * settings.epsilon, 1.0);
    std::vector<Quantile> points;
    for (auto index = size_t(step - 1); index < values.size();
         index += size_t(step))
      points.push_back({double(values[index]), step});
    points = compressed(compressed(points, settings.epsilon),
                        1.0 / double(settings.num_bins));
    settings.bin_boundaries.clear();
    for (size_t i = 0; i + 1 < points.size(); ++i)
      settings.bin_boundaries.push_back(double(float(points[i].value)));
  }

private:
  static DiscretizationOptions withBoundaries(DiscretizationOptions options,
                                              const nn::Config &config) {
    if (const nn::Config *entry = config.find("bin_boundaries");
        entry && !entry->is_null())
      for (const nn::Config &boundary : entry->as_list())
        options.bin_boundaries.push_back(boundary.as_double());
    return options;
  }
};

} // namespace

CategoryEncoding::CategoryEncoding(int64_t num_tokens,
                                   CategoryEncodingOptions options)
    : Layer(makeLayer<CategoryEncodingImpl>(num_tokens, std::move(options))) {}
IntegerLookup::IntegerLookup(IntegerLookupOptions options)
    : Layer(makeLayer<IntegerLookupImpl>(std::move(options))) {}
IntegerLookup::IntegerLookup(const Layer &layer)
    : Layer(expectClass<IntegerLookupImpl>(layer, "IntegerLookup")) {}
Tensor IntegerLookup::to_tokens(const Tensor &indices) const {
  return implOf<IntegerLookupImpl>(*this).integersOf(indices);
}
void IntegerLookup::adapt(const Tensor &integers) const {
  auto &layer = implOf<IntegerLookupImpl>(*this);
  layer.expectIntegers(integers, "what adapt gets");
  VocabularyOf<int64_t>::Counts counts;
  const std::vector<int64_t> values =
      cast(integers, DType::I64).to_vector<int64_t>();
  const size_t documents =
      integers.rank() > 0 ? size_t(integers.shape().front()) : 1;
  const size_t length = documents ? values.size() / documents : 0;
  for (size_t i = 0; i < documents; ++i)
    counts.add({values.begin() + ptrdiff_t(i * length),
                values.begin() + ptrdiff_t((i + 1) * length)});
  layer.vocabulary.learn(counts);
}
void IntegerLookup::adapt(const data::Dataset<Tensor> &integers) const {
  auto &layer = implOf<IntegerLookupImpl>(*this);
  VocabularyOf<int64_t>::Counts counts;
  for (const Tensor &document : integers) {
    layer.expectIntegers(document, "what adapt gets");
    counts.add(cast(document, DType::I64).to_vector<int64_t>());
  }
  layer.vocabulary.learn(counts);
}
void IntegerLookup::set_vocabulary(
    const std::vector<int64_t> &vocabulary,
    const std::vector<double> &idf_weights) const {
  implOf<IntegerLookupImpl>(*this).vocabulary.set(vocabulary, idf_weights);
}
std::vector<int64_t>
IntegerLookup::get_vocabulary(bool include_special_tokens) const {
  return implOf<IntegerLookupImpl>(*this).vocabulary.tokenList(
      include_special_tokens);
}
int64_t IntegerLookup::vocabulary_size() const {
  return implOf<IntegerLookupImpl>(*this).vocabulary.size();
}
Discretization::Discretization(DiscretizationOptions options)
    : Layer(makeLayer<DiscretizationImpl>(std::move(options))) {
  // A config of an adapted one has both.
  if (implOf<DiscretizationImpl>(*this).hasBoth())
    Error("[Discretization] expected bin_boundaries or num_bins, got "
          "both")
        .raise();
}
void Discretization::adapt(const Tensor &data) const {
  implOf<DiscretizationImpl>(*this).adapt(data);
}
Normalization::Normalization(NormalizationOptions options)
    : Layer(makeLayer<NormalizationImpl>(std::move(options))) {}
void Normalization::adapt(const Tensor &data) const {
  implOf<NormalizationImpl>(*this).adapt(data);
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::preprocessingLayers() {
  using namespace layers;
  LayerList registered{{"Normalization", createLayer<NormalizationImpl>},
                       {"CategoryEncoding", createLayer<CategoryEncodingImpl>},
                       {"Discretization", createLayer<DiscretizationImpl>},
                       {"IntegerLookup", createLayer<IntegerLookupImpl>}};
  for (LayerList list : {imageLayers(), augmentationLayers()})
    for (auto &layer : list)
      registered.push_back(std::move(layer));
  return registered;
}

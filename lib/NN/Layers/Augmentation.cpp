// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random layers of images; see Augmentation.h. A transform is a place in the
// image for each pixel of the result (Keras's affine matrices, written out),
// and all are read by one function.
#include "meshloom/NN/Layers/Augmentation.h"

#include "Interpolation.h"

#include "meshloom/API/Distributions.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Random.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numbers>

namespace meshloom::layers {
namespace {

using namespace detail;

void expectOneOf(const LayerImpl &layer, const char *option,
                 const std::string &value,
                 const std::vector<std::string> &choices) {
  if (std::ranges::find(choices, value) == choices.end())
    Error(fmt::format("[{}] layer '{}': expected {} to be one of '{}', "
                      "got '{}'",
                      layer.class_name(), layer.name(), option,
                      fmt::join(choices, "', '"), value))
        .raise();
}

/// A layer that changes images of floats [batch, rows, columns, features] in
/// training, whatever the type and order of dims of its input.
template <typename Impl, typename Options>
class AugmentationLayer : public BuiltIn<Impl, Options> {
public:
  AugmentationLayer(const char *className, Options options)
      : BuiltIn<Impl, Options>(className, std::move(options)) {
    expectOneOf(*this, "data_format", this->settings.data_format,
                {"channels_last", "channels_first"});
    this->seedFrom(this->settings.seed);
    this->set_input_spec({.rank = 4});
  }
  void build(const Shape &) override { this->add_seed(); }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    const Tensor images = isFloat(x.dtype()) ? x : cast(x, DType::F32);
    if (!*options.training)
      return images;
    if (this->settings.data_format == "channels_last")
      return changed(images);
    return transpose(changed(transpose(images, {0, 2, 3, 1})), {0, 3, 1, 2});
  }

protected:
  virtual Tensor changed(const Tensor &images) = 0;

  /// A number for each image, [batch, 1, 1, 1].
  Tensor drawn(const Tensor &images, const FactorRange &range) {
    const Tensor part = random::stateless_uniform({images.shape()[0], 1, 1, 1},
                                                  this->next_seed());
    return range.lower + part * (range.upper - range.lower);
  }
  void expectRange(const char *argument, const FactorRange &range,
                   double least = -std::numeric_limits<double>::infinity(),
                   double most = std::numeric_limits<double>::infinity()) {
    if (!(range.lower <= range.upper) || !(range.lower >= least) ||
        !(range.upper <= most) || !std::isfinite(range.upper - range.lower))
      this->refuse(fmt::format("expected {} to rise from {} or more to {} or "
                               "less, got {} to {}",
                               argument, least, most, range.lower,
                               range.upper));
  }
  static nn::Config configOfRange(const FactorRange &range) {
    return nn::Config(nn::Config::List{range.lower, range.upper});
  }
  /// Keras writes a number where the range goes from its negative.
  static FactorRange rangeOf(const nn::Config &config) {
    if (config.is_number())
      return {config.as_double()};
    const nn::Config::List &ends = config.as_list();
    if (ends.size() != 2)
      Error("[Config] expected a factor to be a number or two, got " +
            config.to_json())
          .raise();
    return {ends[0].as_double(), ends[1].as_double()};
  }
  template <typename F> static void commonFields(F &field, Options &options) {
    seedField(field, options.seed);
    field("data_format", options.data_format);
  }
};

class RandomFlipImpl
    : public AugmentationLayer<RandomFlipImpl, AugmentationOptions> {
public:
  RandomFlipImpl(std::string mode, AugmentationOptions options)
      : AugmentationLayer("RandomFlip", std::move(options)),
        mode(std::move(mode)) {
    expectOneOf(*this, "mode", this->mode,
                {"horizontal", "vertical", "horizontal_and_vertical"});
  }
  explicit RandomFlipImpl(const nn::Config &config)
      : RandomFlipImpl(config.at("mode").as_string(), read(config)) {}
  template <typename F> static void fields(F &field, AugmentationOptions &o) {
    commonFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["mode"] = mode;
    return config;
  }

protected:
  Tensor changed(const Tensor &images) override {
    Tensor y = images;
    if (mode != "vertical")
      y = where(less(drawn(y, {0, 1}), 0.5), flip(y, 2), y);
    if (mode != "horizontal")
      y = where(less(drawn(y, {0, 1}), 0.5), flip(y, 1), y);
    return y;
  }

private:
  const std::string mode;
};

/// Where the pixels of a result are read: rows and columns of the image,
/// [batch, rows, columns, 1] or less by broadcasting.
struct Places {
  Tensor rows, columns;
};

/// A layer that reads each pixel at another place.
template <typename Impl>
class TransformLayer : public AugmentationLayer<Impl, RandomTransformOptions> {
public:
  TransformLayer(const char *className, RandomTransformOptions options)
      : AugmentationLayer<Impl, RandomTransformOptions>(className,
                                                        std::move(options)) {
    expectOneOf(*this, "fill_mode", this->settings.fill_mode,
                {"reflect", "wrap", "nearest", "constant"});
    expectOneOf(*this, "interpolation", this->settings.interpolation,
                {"bilinear", "nearest"});
  }
  template <typename F>
  static void fields(F &field, RandomTransformOptions &options) {
    field("fill_mode", options.fill_mode);
    field("interpolation", options.interpolation);
    field("fill_value", options.fill_value);
    Impl::commonFields(field, options);
  }

protected:
  Tensor changed(const Tensor &images) override {
    const Shape &shape = images.shape();
    const Places source =
        places(images, reshape(range(shape[1], DType::F32), {1, -1, 1, 1}),
               reshape(range(shape[2], DType::F32), {1, 1, -1, 1}));
    const Shape pixels{shape[0], shape[1], shape[2], 1};
    const Tensor rows = within(broadcast_to(source.rows, pixels), shape[1]),
                 columns =
                     within(broadcast_to(source.columns, pixels), shape[2]);
    if (this->settings.interpolation == "nearest")
      return pixelsAt(images, floor(rows + 0.5), floor(columns + 0.5));
    const Tensor top = floor(rows), left = floor(columns);
    const Tensor down = cast(rows - top, images.dtype()),
                 right = cast(columns - left, images.dtype());
    auto mixed = [&](const Tensor &row) {
      return pixelsAt(images, row, left) * (1 - right) +
             pixelsAt(images, row, left + 1) * right;
    };
    return mixed(top) * (1 - down) + mixed(top + 1) * down;
  }

  /// Where the pixels of rows and columns are read.
  virtual Places places(const Tensor &images, const Tensor &rows,
                        const Tensor &columns) = 0;

private:
  /// Places that lie outside of 0 to size - 1, as fill_mode says.
  Tensor within(const Tensor &place, int64_t size) const {
    const double n = double(size);
    const std::string &mode = this->settings.fill_mode;
    if (mode == "constant")
      return place;
    Tensor inside = place;
    if (mode == "reflect") {
      const Tensor period = modulo(place + 0.5, 2 * n);
      inside = minimum(period, 2 * n - period) - 0.5;
    } else if (mode == "wrap") {
      inside = modulo(place, n);
    }
    return clip_by_value(inside, 0, n - 1);
  }
  /// Between 0 and n, whatever the sign of x.
  static Tensor modulo(const Tensor &x, double n) {
    return x - floor(x * (1 / n)) * n;
  }
  /// The pixels of whole rows and columns [batch, rows, columns, 1];
  /// fill_value outside of the image.
  Tensor pixelsAt(const Tensor &images, const Tensor &rows,
                  const Tensor &columns) const {
    const Shape &shape = images.shape();
    const double height = double(shape[1]), width = double(shape[2]);
    const Tensor row = clip_by_value(rows, 0, height - 1),
                 column = clip_by_value(columns, 0, width - 1);
    const Tensor index =
        cast(reshape(row, {shape[0], shape[1], shape[2]}), DType::I32) *
            int32_t(shape[2]) +
        cast(reshape(column, {shape[0], shape[1], shape[2]}), DType::I32);
    const Tensor values = gather(
        reshape(images, {shape[0], shape[1] * shape[2], shape[3]}), index,
        /*axis=*/1, /*batch_dims=*/1);
    if (this->settings.fill_mode != "constant")
      return values;
    const Tensor isInside =
        logical_and(equal(row, rows), equal(column, columns));
    return where(isInside, values, this->settings.fill_value);
  }
};

class RandomRotationImpl : public TransformLayer<RandomRotationImpl> {
public:
  RandomRotationImpl(FactorRange factor, RandomTransformOptions options)
      : TransformLayer("RandomRotation", std::move(options)), factor(factor) {
    expectRange("factor", factor);
  }
  explicit RandomRotationImpl(const nn::Config &config)
      : RandomRotationImpl(rangeOf(config.at("factor")), read(config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["factor"] = configOfRange(factor);
    return config;
  }

protected:
  Places places(const Tensor &images, const Tensor &rows,
                const Tensor &columns) override {
    const Tensor angle = drawn(images, factor) * (2 * std::numbers::pi);
    const Tensor sine = sin(angle), cosine = cos(angle);
    const double midRow = double(images.shape()[1] - 1) / 2,
                 midColumn = double(images.shape()[2] - 1) / 2;
    const Tensor y = rows - midRow, x = columns - midColumn;
    return {sine * x + cosine * y + midRow, cosine * x - sine * y + midColumn};
  }

private:
  const FactorRange factor;
};

class RandomTranslationImpl : public TransformLayer<RandomTranslationImpl> {
public:
  RandomTranslationImpl(FactorRange height, FactorRange width,
                        RandomTransformOptions options)
      : TransformLayer("RandomTranslation", std::move(options)), height(height),
        width(width) {
    expectRange("height_factor", height);
    expectRange("width_factor", width);
  }
  explicit RandomTranslationImpl(const nn::Config &config)
      : RandomTranslationImpl(rangeOf(config.at("height_factor")),
                              rangeOf(config.at("width_factor")),
                              read(config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["height_factor"] = configOfRange(height);
    config["width_factor"] = configOfRange(width);
    return config;
  }

protected:
  Places places(const Tensor &images, const Tensor &rows,
                const Tensor &columns) override {
    const Tensor down = drawn(images, height) * double(images.shape()[1]),
                 right = drawn(images, width) * double(images.shape()[2]);
    return {rows - down, columns - right};
  }

private:
  const FactorRange height, width;
};

class RandomZoomImpl : public TransformLayer<RandomZoomImpl> {
public:
  RandomZoomImpl(FactorRange height, std::optional<FactorRange> width,
                 RandomTransformOptions options)
      : TransformLayer("RandomZoom", std::move(options)), height(height),
        width(width) {
    constexpr double least = -1 + 1e-6;
    expectRange("height_factor", height, least);
    if (width)
      expectRange("width_factor", *width, least);
  }
  explicit RandomZoomImpl(const nn::Config &config)
      : RandomZoomImpl(rangeOf(config.at("height_factor")), widthOf(config),
                       read(config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["height_factor"] = configOfRange(height);
    config["width_factor"] = width ? configOfRange(*width) : nn::Config();
    return config;
  }

protected:
  Places places(const Tensor &images, const Tensor &rows,
                const Tensor &columns) override {
    const Tensor down = drawn(images, height) + 1;
    const Tensor right = width ? drawn(images, *width) + 1 : down;
    const double midRow = double(images.shape()[1] - 1) / 2,
                 midColumn = double(images.shape()[2] - 1) / 2;
    return {(rows - midRow) * down + midRow,
            (columns - midColumn) * right + midColumn};
  }

private:
  const FactorRange height;
  static std::optional<FactorRange> widthOf(const nn::Config &config) {
    const nn::Config *width = config.find("width_factor");
    return width && !width->is_null() ? std::optional(rangeOf(*width))
                                      : std::nullopt;
  }
  const std::optional<FactorRange> width;
};

/// A layer that changes the values of images within their range.
template <typename Impl>
class ValueLayer : public AugmentationLayer<Impl, RandomValueOptions> {
public:
  ValueLayer(const char *className, FactorRange factor,
             RandomValueOptions options)
      : AugmentationLayer<Impl, RandomValueOptions>(className,
                                                    std::move(options)),
        factor(factor) {
    const std::vector<double> &range = this->settings.value_range;
    if (range.size() != 2 || !(range[0] < range[1]))
      this->refuse(fmt::format("expected value_range to be a lower and a "
                               "higher number, got [{}]",
                               fmt::join(range, ", ")));
  }
  template <typename F>
  static void fields(F &field, RandomValueOptions &options) {
    field("value_range", options.value_range);
    Impl::commonFields(field, options);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn<Impl, RandomValueOptions>::get_config();
    config["factor"] = this->configOfRange(factor);
    return config;
  }

protected:
  Tensor withinRange(const Tensor &images) const {
    return clip_by_value(images, this->settings.value_range[0],
                         this->settings.value_range[1]);
  }
  const FactorRange factor;
};

class RandomContrastImpl : public ValueLayer<RandomContrastImpl> {
public:
  RandomContrastImpl(FactorRange factor, RandomValueOptions options)
      : ValueLayer("RandomContrast", factor, std::move(options)) {
    expectRange("factor", factor, -1);
  }
  explicit RandomContrastImpl(const nn::Config &config)
      : RandomContrastImpl(rangeOf(config.at("factor")), read(config)) {}

protected:
  Tensor changed(const Tensor &images) override {
    const Tensor mean = reduce_mean(images, {1, 2}, /*keepdims=*/true);
    const Tensor scale = cast(drawn(images, factor) + 1, images.dtype());
    return withinRange((images - mean) * scale + mean);
  }
};

class RandomBrightnessImpl : public ValueLayer<RandomBrightnessImpl> {
public:
  RandomBrightnessImpl(FactorRange factor, RandomValueOptions options)
      : ValueLayer("RandomBrightness", factor, std::move(options)) {
    expectRange("factor", factor, -1, 1);
  }
  explicit RandomBrightnessImpl(const nn::Config &config)
      : RandomBrightnessImpl(rangeOf(config.at("factor")), read(config)) {}

protected:
  Tensor changed(const Tensor &images) override {
    const double span = settings.value_range[1] - settings.value_range[0];
    return withinRange(images +
                       cast(drawn(images, factor) * span, images.dtype()));
  }
};

class MixUpImpl : public BuiltIn<MixUpImpl, AugmentationOptions> {
public:
  MixUpImpl(double alpha, AugmentationOptions options)
      : BuiltIn("MixUp", std::move(options)), alpha(alpha) {
    if (!(alpha > 0) || !std::isfinite(alpha))
      refuse(fmt::format("expected a positive alpha, got {}", alpha));
    seedFrom(settings.seed);
    set_input_spec({.rank = 4});
  }
  explicit MixUpImpl(const nn::Config &config)
      : MixUpImpl(config.at("alpha").as_double(), read(config)) {}
  template <typename F> static void fields(F &field, AugmentationOptions &o) {
    seedField(field, o.seed);
    field("data_format", o.data_format);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["alpha"] = alpha;
    return config;
  }
  void build(const Shape &) override { add_seed(); }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (xs.size() > 2)
      refuse(fmt::format("expected images, or images and labels, got {} inputs",
                         xs.size()));
    std::vector<Tensor> ys = xs;
    if (!isFloat(ys[0].dtype()))
      ys[0] = cast(ys[0], DType::F32);
    const int64_t batch = ys[0].shape()[0];
    if (ys.size() == 2 && (!isFloat(ys[1].dtype()) || ys[1].rank() < 2 ||
                           ys[1].shape()[0] != batch))
      refuse(fmt::format("expected labels [{}, classes] of floats, such as "
                         "one_hot gives, got {} {}",
                         batch, meshloom::name(ys[1].dtype()),
                         sizesText(ys[1].shape())));
    if (!*options.training)
      return ys;
    const Tensor weights =
        random::stateless_beta({batch}, next_seed(), alpha, alpha);
    const Tensor order = random::stateless_permutation(batch, next_seed());
    for (Tensor &y : ys) {
      Shape shape(size_t(y.rank()), 1);
      shape[0] = batch;
      const Tensor weight = cast(reshape(weights, shape), y.dtype());
      y = weight * y + (1 - weight) * gather(y, order);
    }
    return ys;
  }

private:
  const double alpha;
};

} // namespace

RandomFlip::RandomFlip(std::string mode, AugmentationOptions options)
    : Layer(makeLayer<RandomFlipImpl>(std::move(mode), std::move(options))) {}
RandomRotation::RandomRotation(FactorRange factor,
                               RandomTransformOptions options)
    : Layer(makeLayer<RandomRotationImpl>(factor, std::move(options))) {}
RandomTranslation::RandomTranslation(FactorRange height_factor,
                                     FactorRange width_factor,
                                     RandomTransformOptions options)
    : Layer(makeLayer<RandomTranslationImpl>(height_factor, width_factor,
                                             std::move(options))) {}
RandomZoom::RandomZoom(FactorRange height_factor,
                       std::optional<FactorRange> width_factor,
                       RandomTransformOptions options)
    : Layer(makeLayer<RandomZoomImpl>(height_factor, width_factor,
                                      std::move(options))) {}
RandomContrast::RandomContrast(FactorRange factor, RandomValueOptions options)
    : Layer(makeLayer<RandomContrastImpl>(factor, std::move(options))) {}
RandomBrightness::RandomBrightness(FactorRange factor,
                                   RandomValueOptions options)
    : Layer(makeLayer<RandomBrightnessImpl>(factor, std::move(options))) {}

MixUp::MixUp(double alpha, AugmentationOptions options)
    : Layer(makeLayer<MixUpImpl>(alpha, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::augmentationLayers() {
  using namespace layers;
  return {{"RandomFlip", createLayer<RandomFlipImpl>},
          {"RandomRotation", createLayer<RandomRotationImpl>},
          {"RandomTranslation", createLayer<RandomTranslationImpl>},
          {"RandomZoom", createLayer<RandomZoomImpl>},
          {"RandomContrast", createLayer<RandomContrastImpl>},
          {"RandomBrightness", createLayer<RandomBrightnessImpl>},
          {"MixUp", createLayer<MixUpImpl>}};
}

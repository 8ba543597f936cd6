// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers that change images before a model sees them; see Preprocessing.h.
#include "Interpolation.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Einsum.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/Random.h"
#include "meshloom/NN/Layers/Augmentation.h"
#include "meshloom/NN/Layers/Preprocessing.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

using Size = std::array<int64_t, 2>; ///< rows, columns

/// A layer for images of a size.
template <typename Impl, typename Options>
class ImageLayer : public BuiltIn<Impl, Options> {
public:
  ImageLayer(const char *className, Size size, Options options)
      : BuiltIn<Impl, Options>(className, std::move(options)), size(size) {
    this->expectPositive("height", size[0]);
    this->expectPositive("width", size[1]);
    const std::string &format = this->settings.data_format;
    if (format != "channels_last" && format != "channels_first")
      this->refuse(fmt::format("expected the data_format 'channels_last' or "
                               "'channels_first', got '{}'",
                               format));
    rows = format == "channels_first" ? 2 : 1;
    this->set_input_spec({.rank = 4});
  }
  ImageLayer(const char *className, const nn::Config &config)
      : ImageLayer(className,
                   {config.at("height").as_int(), config.at("width").as_int()},
                   ImageLayer::read(config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn<Impl, Options>::get_config();
    config["height"] = size[0];
    config["width"] = size[1];
    return config;
  }

protected:
  Size sizeOf(const Tensor &x) const {
    return {x.shape()[rows], x.shape()[rows + 1]};
  }
  /// The middle of that size, which x has.
  Tensor middle(const Tensor &x, Size of) const {
    const Size full = sizeOf(x);
    Shape begin(4, 0), sizes(4, -1);
    for (size_t d = 0; d < 2; ++d) {
      begin[rows + d] = (full[d] - of[d]) / 2;
      sizes[rows + d] = of[d];
    }
    return slice(x, begin, sizes);
  }
  /// The largest size in x with the aspect ratio that is asked for.
  Size inRatio(const Tensor &x) const {
    const auto [height, width] = sizeOf(x);
    return {std::max<int64_t>(std::min(height, width * size[0] / size[1]), 1),
            std::max<int64_t>(std::min(width, height * size[1] / size[0]), 1)};
  }
  Tensor resized(const Tensor &x, Falloff falloff, bool antialiases) const {
    const Size from = sizeOf(x);
    if (falloff) {
      auto weights = [&](size_t d) {
        return cast(interpolation(from[d], size[d], falloff, antialiases),
                    x.dtype());
      };
      return einsum(rows == 2 ? "bchw,hm,wn->bcmn" : "bhwc,hm,wn->bmnc",
                    {x, weights(0), weights(1)});
    }
    Tensor y = x;
    for (size_t d = 0; d < 2; ++d) {
      std::vector<int32_t> nearest;
      for (int64_t to = 0; to < size[d]; ++to)
        nearest.push_back(int32_t((2 * to + 1) * from[d] / (2 * size[d])));
      y = take(y, tensor(nearest, {size[d]}), int64_t(rows + d));
    }
    return y;
  }

  const Size size;
  size_t rows = 1; ///< which dim has them; columns are in the next one
};

class ResizingImpl : public ImageLayer<ResizingImpl, ResizingOptions> {
public:
  ResizingImpl(Size size, ResizingOptions options)
      : ImageLayer("Resizing", size, std::move(options)) {
    prepare();
  }
  explicit ResizingImpl(const nn::Config &config)
      : ImageLayer("Resizing", config) {
    prepare();
  }
  template <typename F> static void fields(F &field, ResizingOptions &o) {
    field("interpolation", o.interpolation);
    field("crop_to_aspect_ratio", o.crop_to_aspect_ratio);
    field("pad_to_aspect_ratio", o.pad_to_aspect_ratio);
    field("fill_value", o.fill_value);
    field("antialias", o.antialias);
    field("data_format", o.data_format);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    const bool isRounded = falloff && !isFloat(x.dtype());
    Tensor y = isRounded ? cast(x, DType::F32) : x;
    if (settings.crop_to_aspect_ratio)
      y = middle(y, inRatio(y));
    if (settings.pad_to_aspect_ratio)
      y = filled(y);
    y = resized(y, falloff, settings.antialias);
    return isRounded ? cast(round(y), x.dtype()) : y;
  }

private:
  void prepare() {
    falloff = falloffOf(*this, settings.interpolation);
    if (settings.crop_to_aspect_ratio && settings.pad_to_aspect_ratio)
      refuse("expected crop_to_aspect_ratio or pad_to_aspect_ratio, got both");
  }
  Tensor filled(const Tensor &x) const {
    const auto [height, width] = sizeOf(x);
    const Size padded{std::max(height, width * size[0] / size[1]),
                      std::max(width, height * size[1] / size[0])};
    std::vector<PadDim> around(4);
    for (size_t d = 0; d < 2; ++d) {
      const int64_t more =
          (padded[d] - sizeOf(x)[d]) / 2; // of an odd one, less
      around[rows + d] = {more, more};
    }
    return pad(x, around, settings.fill_value);
  }

  Falloff falloff = nullptr;
};

class CenterCropImpl : public ImageLayer<CenterCropImpl, DataFormatOptions> {
public:
  CenterCropImpl(Size size, DataFormatOptions options)
      : ImageLayer("CenterCrop", size, std::move(options)) {}
  explicit CenterCropImpl(const nn::Config &config)
      : ImageLayer("CenterCrop", config) {}
  template <typename F> static void fields(F &field, DataFormatOptions &o) {
    field("data_format", o.data_format);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    const Tensor wide = isFloat(x.dtype()) ? x : cast(x, DType::F32);
    const auto [height, width] = sizeOf(x);
    if (height >= size[0] && width >= size[1])
      return middle(wide, size);
    return resized(middle(wide, inRatio(wide)), triangle, false);
  }
};

class RandomCropImpl : public ImageLayer<RandomCropImpl, AugmentationOptions> {
public:
  RandomCropImpl(Size size, AugmentationOptions options)
      : ImageLayer("RandomCrop", size, std::move(options)) {
    seedFrom(settings.seed);
  }
  explicit RandomCropImpl(const nn::Config &config)
      : ImageLayer("RandomCrop", config) {
    seedFrom(settings.seed);
  }
  template <typename F> static void fields(F &field, AugmentationOptions &o) {
    seedField(field, o.seed);
    field("data_format", o.data_format);
  }
  void build(const Shape &) override { add_seed(); }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    const Tensor wide = isFloat(x.dtype()) ? x : cast(x, DType::F32);
    const Size full = sizeOf(x);
    if (full[0] < size[0] || full[1] < size[1])
      return resized(middle(wide, inRatio(wide)), triangle, false);
    if (!*options.training)
      return middle(wide, size);
    std::vector<TensorLike> starts(4, 0);
    Shape sizes = x.shape();
    for (size_t d = 0; d < 2; ++d) {
      starts[rows + d] = random::stateless_uniform(
          {}, next_seed(), 0, double(full[d] - size[d] + 1), DType::I32);
      sizes[rows + d] = size[d];
    }
    return dynamic_slice(wide, starts, sizes);
  }
};

} // namespace

Resizing::Resizing(int64_t height, int64_t width, ResizingOptions options)
    : Layer(makeLayer<ResizingImpl>(Size{height, width}, std::move(options))) {}
RandomCrop::RandomCrop(int64_t height, int64_t width,
                       AugmentationOptions options)
    : Layer(
          makeLayer<RandomCropImpl>(Size{height, width}, std::move(options))) {}
CenterCrop::CenterCrop(int64_t height, int64_t width, DataFormatOptions options)
    : Layer(
          makeLayer<CenterCropImpl>(Size{height, width}, std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::imageLayers() {
  return {{"Resizing", createLayer<layers::ResizingImpl>},
          {"CenterCrop", createLayer<layers::CenterCropImpl>},
          {"RandomCrop", createLayer<layers::RandomCropImpl>}};
}

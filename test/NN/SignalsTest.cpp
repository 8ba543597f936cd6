// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spectrograms, decoding of CTC and MixUp: values of Keras 3.15, which are
// those of independent sums where a search is exact.
#include "../API/Testing.h"

#include "meshloom/NN/CTC.h"
#include "meshloom/NN/Layers/Augmentation.h"
#include "meshloom/NN/Layers/Spectrograms.h"
#include "meshloom/NN/State/KerasModel.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

using namespace layers;
using Values = std::vector<double>;

/// The first elements of x.
Tensor firstOf(const Tensor &x, int64_t count) {
  return slice(reshape(x, {-1}), {0}, {count});
}
Values signalValues(const Tensor &x) {
  return cast(x, DType::F64).to_vector<double>();
}

Tensor waves(const Shape &shape, double step, double shift, double height) {
  std::vector<float> values;
  for (int64_t i = 0; i < elementCount(shape); ++i)
    values.push_back(float(std::sin(double(i) * step + shift) * height));
  return tensor(values, shape);
}
Tensor sampleSignal() {
  return waves({1, 20, 2}, 0.7, 0.3, 0.5);
}
STFTSpectrogramOptions stft(const std::string &mode) {
  return {.mode = mode, .frame_length = 6, .frame_step = 4};
}

TEST(SignalsTest, SpectraOfFramesAreThoseOfKeras) {
  const std::vector<std::pair<std::string, Values>> modes = {
      {"log", {-1.4645252, -0.9541177, -0.7938889, -1.1703415, -1.8059340}},
      {"magnitude", {0.2311877, 0.3851518, 0.4520833, 0.3102610, 0.1643209}},
      {"psd", {0.0534478, 0.2966838, 0.4087586, 0.1925237, 0.0270014}},
      {"real", {-0.2311877, 0.3639240, -0.0608999, -0.2695907, 0.1643209}},
      {"imag", {0, 0.1261002, -0.4479626, 0.1535667, 0}},
      {"stft",
       {-0.2311877, 0.3639240, -0.0608999, -0.2695907, 0.1643209, 0, 0.1261002,
        -0.4479626}}};
  for (const auto &[mode, expected] : modes) {
    SCOPED_TRACE(mode);
    const Tensor y = STFTSpectrogram(stft(mode))(sampleSignal());
    EXPECT_EQ(y.shape(), (Shape{1, 4, mode == "stft" ? 20 : 10}));
    expectNear(firstOf(y, int64_t(expected.size())), expected, 2e-5);
  }
  expectNear(slice(STFTSpectrogram(stft("angle"))(sampleSignal()), {0, 0, 1},
                   {1, 1, 3}),
             {0.3335547, -1.7059166, 2.6238041});
}

TEST(SignalsTest, WindowsAndPaddingAreThoseOfKeras) {
  auto options = [](auto &&change) {
    STFTSpectrogramOptions o = stft("magnitude");
    change(o);
    return o;
  };
  const Tensor spectrum = STFTSpectrogram(options([](auto &o) {
    o.scaling = "spectrum";
    o.periodic = true;
  }))(sampleSignal());
  expectNear(firstOf(spectrum, 5),
             {0.1277045, 0.1969563, 0.2452376, 0.1370645, 0.0446305});
  const Tensor padded = STFTSpectrogram(options([](auto &o) {
    o.window = "hamming";
    o.scaling = "none";
    o.padding = "same";
    o.fft_length = 16;
  }))(sampleSignal());
  EXPECT_EQ(padded.shape(), (Shape{1, 5, 18}));
  expectNear(firstOf(padded, 5),
             {0.3206117, 0.4157056, 0.5679089, 0.6553936, 0.6472066});
  expectNear(reduce_sum(padded), {39.276493}, 1e-4);
  const Tensor wide = STFTSpectrogram(options([](auto &o) {
    o.window = "none";
    o.expand_dims = true;
  }))(sampleSignal());
  EXPECT_EQ(wide.shape(), (Shape{1, 4, 5, 2}));
  expectNear(firstOf(wide, 5),
             {0.4138978, 0.6612606, 0.7802643, 0.8656109, 1.4110905});
  // The same with channels first.
  expectNear(
      STFTSpectrogram(options([](auto &o) {
        o.data_format = "channels_first";
      }))(transpose(sampleSignal(), {0, 2, 1})),
      signalValues(transpose(STFTSpectrogram(stft("magnitude"))(sampleSignal()),
                             {0, 2, 1})));
}

TEST(SignalsTest, MelSpectraAreThoseOfKeras) {
  std::vector<float> values;
  for (int i = 0; i < 200; ++i)
    values.push_back(float(std::sin(std::pow(double(i), 1.3) * 0.05)));
  const Tensor x = tensor(values, {2, 100});
  auto mel = [&](MelSpectrogramOptions o) {
    o.fft_length = 16;
    o.sequence_stride = 20;
    o.sampling_rate = 8000;
    o.num_mel_bins = 4;
    const Tensor y = MelSpectrogram(o)(x);
    EXPECT_EQ(y.shape(), (Shape{2, 4, 6}));
    return y;
  };
  expectNear(
      firstOf(mel({}), 7),
      {-21.08226, 7.962518, 7.038293, 9.199096, 9.407570, 5.508762, -6.233072},
      2e-4);
  expectNear(
      firstOf(mel({.sequence_length = 10, .power_to_db = false, .mag_exp = 1}),
              6),
      {0.1608881, 1.568951, 0.8196647, 1.783394, 1.767236, 1.089397});
  expectNear(firstOf(mel({.window = "hamming",
                          .min_freq = 100,
                          .max_freq = 3000,
                          .top_db = 20,
                          .ref_power = 2}),
                     5),
             {-12.124878, 5.264432, 5.076547, 6.856250, 6.969866}, 2e-4);
  EXPECT_EQ(
      MelSpectrogram({.fft_length = 16})(slice(x, {0, 0}, {1, 100})[0]).rank(),
      2);
}

// The gradient of a spectrogram, by differences.
TEST(SignalsTest, SpectrogramsHaveGradients) {
  const STFTSpectrogram layer(stft("psd"));
  const Tensor x = sampleSignal();
  const GradientTape tape;
  const Tensor slope = tape.gradient(reduce_sum(layer(x)), x);
  const Values exact = signalValues(slope);
  for (int64_t i : {0, 13, 30}) {
    std::vector<float> moved = x.to_vector<float>();
    moved[size_t(i)] += 0.05f;
    const float high =
        reduce_sum(layer(tensor(moved, x.shape()))).item<float>();
    moved[size_t(i)] -= 0.1f;
    const float low = reduce_sum(layer(tensor(moved, x.shape()))).item<float>();
    EXPECT_NEAR(exact[size_t(i)], (high - low) / 0.1, 1e-3) << i;
  }
}

Tensor ctcInputs() {
  return waves({2, 6, 4}, 0.9, 0.2, 3);
}

TEST(SignalsTest, GreedyDecodingIsThatOfKeras) {
  auto decode = [](nn::CTCDecodeOptions options) {
    return nn::ctc_decode(ctcInputs(), tensor({6, 4}), options);
  };
  const nn::CTCDecoded decoded = decode({});
  EXPECT_EQ(decoded.sequences.shape(), (Shape{1, 2, 6}));
  EXPECT_EQ(decoded.sequences.to_vector<int32_t>(),
            (std::vector<int32_t>{2, 3, 1, 3, 2, -1, 1, 3, -1, -1, -1, -1}));
  expectNear(decoded.scores, {-14.2208424, -6.9482474});
  EXPECT_EQ(decode({.mask_index = 3}).sequences.to_vector<int32_t>(),
            (std::vector<int32_t>{2, 1, 0, 2, -1, -1, 0, 1, 0, -1, -1, -1}));
  // A class in a row counts once, unless the blank is in between.
  const Tensor classes = tensor({1, 1, 0, 1, 2, 2}, {1, 6});
  const Tensor clear = one_hot(classes, 3) * 9;
  auto lettersOf = [&](bool merges) {
    return nn::ctc_decode(clear, tensor({6}), {.merge_repeated = merges})
        .sequences.to_vector<int32_t>();
  };
  EXPECT_EQ(lettersOf(true), (std::vector<int32_t>{1, 1, 2, -1, -1, -1}));
  EXPECT_EQ(lettersOf(false), (std::vector<int32_t>{1, 1, 1, 2, 2, -1}));
  // In a function it is the same.
  EXPECT_EQ(function([](const Tensor &x) {
              return nn::ctc_decode(x, tensor({6, 4})).sequences;
            })(ctcInputs())
                .to_vector<int32_t>(),
            decoded.sequences.to_vector<int32_t>());
}

TEST(SignalsTest, BeamSearchIsThatOfKeras) {
  auto decode = [](int64_t width, int64_t paths, int64_t blank) {
    return nn::ctc_decode(ctcInputs(), tensor({6, 4}),
                          {.strategy = "beam_search",
                           .beam_width = width,
                           .top_paths = paths,
                           .mask_index = blank});
  };
  const nn::CTCDecoded wide = decode(4000, 3, 0);
  EXPECT_EQ(wide.sequences.to_vector<int32_t>(),
            (std::vector<int32_t>{2, 3, 1, 3, 2,  -1, 1, 3, -1, -1, -1, -1,
                                  2, 3, 3, 2, -1, -1, 1, 3, 1,  -1, -1, -1,
                                  1, 3, 1, 3, 2,  -1, 2, 3, -1, -1, -1, -1}));
  expectNear(
      wide.scores,
      {-2.6998348, -2.7102954, -2.7541053, -1.6548611, -1.8283303, -1.8357047},
      1e-4);
  expectNear(decode(3, 2, 0).scores,
             {-2.7100010, -2.7203922, -1.6637882, -1.8369589}, 1e-4);
  expectNear(decode(100, 2, 3).scores,
             {-2.5633361, -2.5891082, -1.6764107, -1.7339633}, 1e-4);
  EXPECT_ERROR(function([](const Tensor &x) {
                 return nn::ctc_decode(x, tensor({6, 4}),
                                       {.strategy = "beam_search"})
                     .scores;
               })(ctcInputs()),
               HAS("outside of the function"));
}

// Each image is a mixture of two by one weight, and so are its labels.
TEST(SignalsTest, MixUpMixesImagesAndLabelsAlike) {
  const int64_t batch = 8;
  const Tensor numbers = range(batch, DType::F32);
  const Tensor images =
      broadcast_to(reshape(numbers, {batch, 1, 1, 1}), {batch, 2, 2, 1});
  const Tensor labels = one_hot(range(batch), batch);
  const MixUp layer(2.0, {.seed = 3});
  const std::vector<Tensor> mixed =
      layer.call_many({images, labels}, {.training = true});
  // The label of image i is i, so labels say what the pixels are.
  expectNear(mixed[0],
             signalValues(broadcast_to(
                 reshape(reduce_sum(mixed[1] * numbers, -1), {batch, 1, 1, 1}),
                 {batch, 2, 2, 1})));
  expectNear(reduce_sum(mixed[1], -1), Values(size_t(batch), 1.0));
  EXPECT_GT(reduce_max(abs(mixed[0] - images)).item<float>(), 0.1f);
  EXPECT_EQ(signalValues(layer.call_many({images, labels})[0]),
            signalValues(images));
  EXPECT_ERROR(layer.call_many({images, range(batch)}), HAS("one_hot"));
}

// Values of Keras, whose window is a list of numbers, or None.
TEST(SignalsTest, AWindowMayBeNumbers) {
  const Tensor x =
      tensor({.5f, -1.f, 2.f, .25f, 1.5f, -.75f, 0.f, 3.f, 1.f, -2.f, .5f, 1.f},
             {1, 12, 1});
  auto values = [&](const FrameWindow &window, const std::string &scaling) {
    const STFTSpectrogram layer({.mode = "magnitude",
                                 .frame_length = 4,
                                 .frame_step = 4,
                                 .fft_length = 4,
                                 .window = window,
                                 .scaling = scaling});
    const Layer again = Layer::from_config(layer.config());
    EXPECT_EQ(signalValues(again(x)), signalValues(layer(x)));
    return layer(x);
  };
  const FrameWindow numbers{.1, .5, 1, .25};
  expectNear(values(numbers, "density"),
             {1.4021740, 1.7647904, 2.1630437, .4565217, .9869182, .1956522,
              .1304348, 1.1412526, 1.1739130},
             1e-6);
  expectNear(values(numbers, "spectrum"),
             {.8716216, 1.0970318, 1.3445946, .2837838, .6134897, .1216216,
              .0810811, .7094272, .7297297},
             1e-6);
  expectNear(
      values(numbers, "none"),
      {1.6125, 2.0295088, 2.4875, .525, 1.1349561, .225, .15, 1.3124405, 1.35},
      1e-6);
  const Layer mel = MelSpectrogram({.fft_length = 8,
                                    .sequence_stride = 4,
                                    .sequence_length = 4,
                                    .window = numbers,
                                    .sampling_rate = 160,
                                    .num_mel_bins = 2,
                                    .min_freq = 1,
                                    .max_freq = 80});
  expectNear(mel(reshape(x, {1, 12})),
             {-11.2996912, 4.1189928, 7.8439474, .7716053, -.1875453, 4.2681637,
              6.1566973, .5080222},
             1e-4);
  EXPECT_ERROR(STFTSpectrogram({.frame_length = 4, .window = {1, 2, 3}}),
               HAS("a window of frame_length = 4 numbers, got 3"));
  EXPECT_ERROR(MelSpectrogram({.window = "han"}), HAS("'han'"));
}

// Keras's None is no window, and not the usual one.
TEST(SignalsTest, SpectrogramsOfKerasJson) {
  const Model model = model_from_json(
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 12, 1],
       "dtype": "float32", "name": "x"}},
      {"class_name": "STFTSpectrogram", "config": {"name": "stft", "mode":
       "magnitude", "frame_length": 4, "frame_step": 4, "fft_length": 4,
       "window": null, "periodic": false, "scaling": null, "padding": "valid",
       "data_format": "channels_last", "expand_dims": false}}]}})");
  const Tensor x =
      tensor({.5f, -1.f, 2.f, .25f, 1.5f, -.75f, 0.f, 3.f, 1.f, -2.f, .5f, 1.f},
             {1, 12, 1});
  expectNear(model(x),
             {1.75, 1.9525626, 3.25, 3.75, 4.0388737, .75, .5, 3.0413814, 2.5},
             1e-6);
  const Layer mel = layer_from_json(
      R"({"module": "keras.layers", "class_name": "MelSpectrogram", "config":
      {"name": "mel", "fft_length": 8, "sequence_stride": 4, "sequence_length":
       4, "window": [0.1, 0.5, 1.0, 0.25], "sampling_rate": 160,
       "num_mel_bins": 2, "min_freq": 1.0, "max_freq": 80, "power_to_db": true,
       "top_db": 80.0, "mag_exp": 2.0, "min_power": 1e-10, "ref_power": 1.0}})");
  EXPECT_NEAR(signalValues(mel(reshape(x, {1, 12})))[0], -11.2996912, 1e-4);
}

// The options that Keras wrote of layers that change images at random.
TEST(SignalsTest, AugmentationOfKerasJson) {
  auto layer = [](const std::string &name, const std::string &options) {
    return layer_from_json(fmt::format(
        R"({{"module": "keras.layers", "class_name": "{0}", "config": {{"name":
        "{0}", "trainable": true, "data_format": "channels_last", "seed": null,
        "dtype": {{"module": "keras", "class_name": "DTypePolicy", "config":
        {{"name": "float32"}}, "registered_name": null}}{1}}}}})",
        name, options));
  };
  const std::string transform =
      R"(, "fill_mode": "reflect", "interpolation": "bilinear", "fill_value":
         0.0)";
  auto option = [](const Layer &read, const char *name) {
    return read.config().at("config").at(name).to_json();
  };
  EXPECT_EQ(option(layer("RandomFlip", R"(, "mode": "horizontal")"), "mode"),
            R"("horizontal")");
  EXPECT_EQ(
      option(layer("RandomRotation", R"(, "factor": [-0.1, 0.1])" + transform),
             "factor"),
      "[-0.1,0.1]");
  EXPECT_EQ(option(layer("RandomTranslation", R"(, "height_factor": 0.1,
      "width_factor": [-0.2, 0.3])" + transform),
                   "height_factor"),
            "[-0.1,0.1]");
  EXPECT_EQ(option(layer("RandomZoom", R"(, "height_factor": 0.1,
      "width_factor": null)" + transform),
                   "height_factor"),
            "[-0.1,0.1]");
  EXPECT_EQ(
      option(layer("RandomCrop", R"(, "height": 3, "width": 4)"), "width"),
      "4");
  // Keras draws from 1 - 0.1 to 1 + 0.2.
  EXPECT_EQ(option(layer("RandomContrast", R"(, "factor": [0.1, 0.2],
      "value_range": [0, 255])"),
                   "factor"),
            "[-0.1,0.2]");
  EXPECT_EQ(option(layer("RandomBrightness", R"(, "factor": [-0.1, 0.1],
      "value_range": [0, 1])"),
                   "value_range"),
            "[0.0,1.0]");
  EXPECT_EQ(option(layer("MixUp", R"(, "alpha": 0.3)"), "alpha"), "0.3");
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spectrograms: frames of signals times a window, and their Fourier
// transforms; see Spectrograms.h.
#include "meshloom/NN/Layers/Spectrograms.h"
#include "BuiltIn.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/LinalgOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>

namespace meshloom::layers {
namespace {

using namespace detail;

constexpr double leastPower = 1e-7; // Keras's epsilon

void expectChoice(const LayerImpl &layer, const char *option,
                  const std::string &value,
                  const std::vector<std::string> &allowed) {
  if (std::ranges::find(allowed, value) == allowed.end())
    Error(fmt::format("[{}] layer '{}': expected {} to be one of '{}', "
                      "got '{}'",
                      layer.class_name(), layer.name(), option,
                      fmt::join(allowed, "', '"), value))
        .raise();
}

void expectWindow(const LayerImpl &layer, const FrameWindow &window,
                  const char *lengthName, int64_t length) {
  if (window.numbers.empty())
    return expectChoice(layer, "window", window.name,
                        {"hann", "hamming", "blackman", "bartlett", "none"});
  if (int64_t(window.numbers.size()) != length)
    Error(fmt::format("[{}] layer '{}': expected a window of {} = {} "
                      "numbers, got {}",
                      layer.class_name(), layer.name(), lengthName, length,
                      window.numbers.size()))
        .raise();
}
nn::Config configOfWindow(const FrameWindow &window) {
  return window.numbers.empty()
             ? nn::Config(window.name)
             : nn::Config(nn::Config::List(window.numbers.begin(),
                                           window.numbers.end()));
}
/// `options`, with the window that the config has.
template <typename Options>
Options withWindow(Options options, const nn::Config &config) {
  const nn::Config *window = config.find("window");
  if (window && window->is_list()) {
    std::vector<double> numbers;
    for (const nn::Config &number : window->as_list())
      numbers.push_back(number.as_double());
    options.window = std::move(numbers);
  } else if (window) {
    options.window = window->as_string();
  }
  return options;
}
/// The samples of the window. A periodic one is a symmetric one of one element
/// more, without the last.
std::vector<double> taperOf(const FrameWindow &taper, int64_t length,
                            bool isPeriodic) {
  if (!taper.numbers.empty())
    return taper.numbers;
  const std::string &name = taper.name;
  static const auto &cosines = *new std::map<std::string, std::vector<double>>{
      {"hann", {0.5, -0.5}},
      {"hamming", {0.54, -0.46}},
      {"blackman", {0.42, -0.5, 0.08}}};
  std::vector<double> window(size_t(length), 1);
  if (name == "none" || length == 1)
    return window;
  const double period = double(isPeriodic ? length : length - 1);
  for (int64_t i = 0; i < length; ++i) {
    double value = 1 - std::abs(2 * double(i) / period - 1); // bartlett
    if (const auto found = cosines.find(name); found != cosines.end()) {
      value = 0;
      for (size_t k = 0; k < found->second.size(); ++k)
        value += found->second[k] * std::cos(2 * std::numbers::pi * double(k) *
                                             double(i) / period);
    }
    window[size_t(i)] = value;
  }
  return window;
}

/// [..., time] -> [..., frames, length]: a frame begins every `step` elements.
Tensor framesOf(const Tensor &x, int64_t length, int64_t step) {
  const int64_t count = (x.shape().back() - length) / step + 1;
  std::vector<int32_t> indices;
  for (int64_t frame = 0; frame < count; ++frame)
    for (int64_t i = 0; i < length; ++i)
      indices.push_back(int32_t(frame * step + i));
  return gather(x, tensor(indices, {count, length}), x.rank() - 1);
}
/// Numbers of the host in x's type.
Tensor like(const Tensor &x, const std::vector<double> &values, Shape shape) {
  return cast(tensor(values, std::move(shape)), x.dtype());
}
/// Padding of the last dim alone.
std::vector<PadDim> atTheEnd(const Tensor &x, int64_t low, int64_t high) {
  std::vector<PadDim> padding(size_t(x.rank()));
  padding.back() = {low, high};
  return padding;
}
/// f32 or f64, which Fourier transforms are of.
Tensor wideEnough(const Tensor &x) {
  return x.dtype() == DType::F64 ? x : cast(x, DType::F32);
}

class STFTSpectrogramImpl
    : public BuiltIn<STFTSpectrogramImpl, STFTSpectrogramOptions> {
public:
  explicit STFTSpectrogramImpl(STFTSpectrogramOptions options)
      : BuiltIn("STFTSpectrogram", std::move(options)) {
    expectChoice(*this, "mode", settings.mode,
                 {"log", "magnitude", "psd", "real", "imag", "angle", "stft"});
    expectChoice(*this, "scaling", settings.scaling,
                 {"density", "spectrum", "none"});
    expectChoice(*this, "padding", settings.padding, {"valid", "same"});
    expectChoice(*this, "data_format", settings.data_format,
                 {"channels_last", "channels_first"});
    expectPositive("frame_length", settings.frame_length);
    expectWindow(*this, settings.window, "frame_length", settings.frame_length);
    step = settings.frame_step.value_or(
        std::max<int64_t>(settings.frame_length / 2, 1));
    if (step <= 0 || step > settings.frame_length)
      refuse(fmt::format("expected a frame_step between 1 and frame_length = "
                         "{}, got {}",
                         settings.frame_length, step));
    fftLength = settings.fft_length.value_or(std::max<int64_t>(
        int64_t(std::bit_ceil(uint64_t(settings.frame_length))), 2));
    if (fftLength < settings.frame_length || fftLength % 2 != 0)
      refuse(fmt::format("expected an even fft_length of frame_length = {} or "
                         "more, got {}",
                         settings.frame_length, fftLength));
    set_input_spec({.rank = 3});
  }
  explicit STFTSpectrogramImpl(const nn::Config &config)
      : STFTSpectrogramImpl(withWindow(read(config), config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["window"] = configOfWindow(settings.window);
    return config;
  }
  template <typename F>
  static void fields(F &field, STFTSpectrogramOptions &o) {
    field("mode", o.mode);
    field("frame_length", o.frame_length);
    field("frame_step", o.frame_step);
    field("fft_length", o.fft_length);
    field("periodic", o.periodic);
    field("scaling", o.scaling);
    field("padding", o.padding);
    field("expand_dims", o.expand_dims);
    field("data_format", o.data_format);
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    const bool isLast = settings.data_format == "channels_last";
    Tensor signal = wideEnough(isLast ? transpose(x, {0, 2, 1}) : x);
    const int64_t time = signal.shape().back();
    if (settings.padding == "same") {
      const int64_t frames = (time + step - 1) / step;
      const int64_t more = std::max<int64_t>(
          (frames - 1) * step + settings.frame_length - time, 0);
      signal = pad(signal, atTheEnd(signal, more / 2, more - more / 2));
    } else if (time < settings.frame_length) {
      refuse(fmt::format("expected signals of frame_length = {} samples or "
                         "more, got {}",
                         settings.frame_length, sizesText(x.shape())));
    }
    const Tensor frames = framesOf(signal, settings.frame_length, step) *
                          like(signal, window(), {settings.frame_length});
    // [batch, channels, frames, frequencies]
    const Tensor y = valuesOf(rfft(
        pad(frames, atTheEnd(frames, 0, fftLength - settings.frame_length))));
    const Shape &shape = y.shape();
    Tensor result;
    if (settings.expand_dims)
      result = isLast ? transpose(y, {0, 2, 3, 1}) : y;
    else if (isLast)
      result = reshape(transpose(y, {0, 2, 1, 3}),
                       {shape[0], shape[2], shape[1] * shape[3]});
    else
      result = reshape(transpose(y, {0, 1, 3, 2}),
                       {shape[0], shape[1] * shape[3], shape[2]});
    return isFloat(x.dtype()) ? cast(result, x.dtype()) : result;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  std::vector<double> window() const {
    std::vector<double> values =
        taperOf(settings.window, settings.frame_length, settings.periodic);
    if (settings.window.name == "none" || settings.scaling == "none")
      return values;
    double sum = 0;
    for (double value : values)
      sum += settings.scaling == "density" ? value * value : std::abs(value);
    for (double &value : values)
      value /= settings.scaling == "density" ? std::sqrt(sum) : sum;
    return values;
  }
  Tensor valuesOf(const Tensor &spectrum) const {
    const Tensor re = real(spectrum), im = imag(spectrum);
    if (settings.mode == "real")
      return re;
    if (settings.mode == "imag")
      return im;
    if (settings.mode == "angle")
      return atan2(im, re);
    if (settings.mode == "stft")
      return concat({re, im}, -1);
    const Tensor power = re * re + im * im;
    if (settings.mode == "psd") {
      // All frequencies but the first and the last come twice.
      std::vector<double> counts(size_t(fftLength / 2 + 1), 2);
      counts.front() = counts.back() = 1;
      return power * like(power, counts, {int64_t(counts.size())});
    }
    const Tensor magnitude = sqrt(maximum(power, leastPower));
    return settings.mode == "magnitude" ? magnitude : log(magnitude);
  }

  int64_t step, fftLength;
};

class MelSpectrogramImpl
    : public BuiltIn<MelSpectrogramImpl, MelSpectrogramOptions> {
public:
  explicit MelSpectrogramImpl(MelSpectrogramOptions options)
      : BuiltIn("MelSpectrogram", std::move(options)) {
    expectPositive("fft_length", settings.fft_length);
    expectPositive("sequence_stride", settings.sequence_stride);
    expectPositive("num_mel_bins", settings.num_mel_bins);
    windowLength = settings.sequence_length.value_or(settings.fft_length);
    expectPositive("sequence_length", windowLength);
    expectWindow(*this, settings.window, "sequence_length", windowLength);
    if (windowLength > settings.fft_length)
      refuse(fmt::format("expected a sequence_length of fft_length = {} or "
                         "less, got {}",
                         settings.fft_length, windowLength));
    highest =
        settings.max_freq.value_or(std::floor(settings.sampling_rate / 2));
    if (!(settings.min_freq >= 0) || !(highest > settings.min_freq))
      refuse(fmt::format("expected max_freq to be more than min_freq, which is "
                         "0 or more, got {} and {}",
                         highest, settings.min_freq));
    set_input_spec({.min_rank = 1});
  }
  explicit MelSpectrogramImpl(const nn::Config &config)
      : MelSpectrogramImpl(withWindow(read(config), config)) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["window"] = configOfWindow(settings.window);
    return config;
  }
  template <typename F> static void fields(F &field, MelSpectrogramOptions &o) {
    field("fft_length", o.fft_length);
    field("sequence_stride", o.sequence_stride);
    field("sequence_length", o.sequence_length);
    field("sampling_rate", o.sampling_rate);
    field("num_mel_bins", o.num_mel_bins);
    field("min_freq", o.min_freq);
    field("max_freq", o.max_freq);
    field("power_to_db", o.power_to_db);
    field("top_db", o.top_db);
    field("mag_exp", o.mag_exp);
    field("min_power", o.min_power);
    field("ref_power", o.ref_power);
  }

  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor signal = wideEnough(x);
    const int64_t half = settings.fft_length / 2;
    if (signal.shape().back() <= half)
      refuse(fmt::format("expected signals of more than fft_length / 2 = {} "
                         "samples, got {}",
                         half, sizesText(x.shape())));
    signal = pad(signal, atTheEnd(signal, half, half), PadMode::Reflect);
    std::vector<double> window(size_t(settings.fft_length), 0);
    std::ranges::copy(taperOf(settings.window, windowLength, true),
                      window.begin() +
                          ptrdiff_t((settings.fft_length - windowLength) / 2));
    const Tensor spectrum =
        rfft(framesOf(signal, settings.fft_length, settings.sequence_stride) *
             like(signal, window, {settings.fft_length}));
    const Tensor re = real(spectrum), im = imag(spectrum);
    Tensor power = re * re + im * im;
    if (settings.mag_exp != 2)
      power = pow(power, settings.mag_exp / 2);
    const int64_t bins = settings.fft_length / 2 + 1;
    Tensor y = matmul(
        power, like(power, melWeights(bins), {bins, settings.num_mel_bins}));
    if (settings.power_to_db) {
      y = log(maximum(y, settings.min_power)) * (10 / std::numbers::ln10) -
          10 * std::log10(
                   std::max(std::abs(settings.ref_power), settings.min_power));
      y = maximum(y, reduce_max(y) - settings.top_db);
    }
    std::vector<int64_t> order(size_t(y.rank()));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    y = transpose(y, order);
    return isFloat(x.dtype()) ? cast(y, x.dtype()) : y;
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  static double mel(double hertz) { return 1127 * std::log1p(hertz / 700); }
  /// [bins, mel bins]: triangles of height 1 over the mels between their
  /// neighbours. The frequency 0 counts nowhere.
  std::vector<double> melWeights(int64_t bins) const {
    const double low = mel(settings.min_freq),
                 width =
                     (mel(highest) - low) / double(settings.num_mel_bins + 1);
    std::vector<double> weights;
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double place =
          (mel(settings.sampling_rate / 2 * double(bin) / double(bins - 1)) -
           low) /
          width;
      for (int64_t i = 0; i < settings.num_mel_bins; ++i)
        weights.push_back(
            bin == 0 ? 0 : std::max(0.0, 1 - std::abs(place - double(i + 1))));
    }
    return weights;
  }

  int64_t windowLength;
  double highest;
};

} // namespace

STFTSpectrogram::STFTSpectrogram(STFTSpectrogramOptions options)
    : Layer(makeLayer<STFTSpectrogramImpl>(std::move(options))) {}
MelSpectrogram::MelSpectrogram(MelSpectrogramOptions options)
    : Layer(makeLayer<MelSpectrogramImpl>(std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::spectrogramLayers() {
  using namespace layers;
  return {{"STFTSpectrogram", createLayer<STFTSpectrogramImpl>},
          {"MelSpectrogram", createLayer<MelSpectrogramImpl>}};
}

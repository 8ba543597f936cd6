// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: spectrograms of signals, with the options and numbers of Keras. They
// have gradients, and no weights.
#pragma once

#include "meshloom/NN/Layers/Core.h"

namespace meshloom::layers {

/// The window that each frame of a signal is multiplied by: "hann", "hamming",
/// "blackman", "bartlett", "none", or its numbers.
class FrameWindow {
public:
  /// By name.
  FrameWindow(std::string name) : name(std::move(name)) {}
  /// By name.
  FrameWindow(const char *name,
              std::source_location where = std::source_location::current())
      : name(textOrThrow(name, "the name of a window", where)) {}
  /// By one number for each sample of a frame: {0.1, 0.5, 1, 0.25}.
  FrameWindow(std::vector<double> numbers) : numbers(std::move(numbers)) {}
  /// The same.
  FrameWindow(std::initializer_list<double> numbers) : numbers(numbers) {}

  std::string name;            ///< or empty
  std::vector<double> numbers; ///< or empty
};

/// The options of STFTSpectrogram.
struct STFTSpectrogramOptions {
  /// The result for a complex number z: "magnitude" |z|, "log" log |z|, "psd"
  /// |z|^2 of both sides of the spectrum, "real", "imag", "angle", or "stft":
  /// all real parts, then all imaginary ones. |z|^2 is at least 1e-7.
  std::string mode = "log";
  int64_t frame_length = 256; ///< samples of a frame
  /// Samples from one frame to the next. None: half of frame_length.
  std::optional<int64_t> frame_step = std::nullopt;
  /// Frames are filled up with zeros to this even length. None: the next power
  /// of two.
  std::optional<int64_t> fft_length = std::nullopt;
  FrameWindow window = "hann"; ///< numbers: frame_length of them
  bool periodic = false;       ///< whether a named window is that of a period
  /// The window is divided by the root of its sum of squares ("density"), by
  /// its sum ("spectrum"), or by nothing ("none").
  std::string scaling = "density";
  std::string padding = "valid"; ///< "same": zeros around the signal
  bool expand_dims = false;      ///< whether features stay a dim of their own
  std::string data_format = "channels_last"; ///< or "channels_first"
  std::string name = "";                     ///< default: "stft_spectrogram"
  LayerOptions common = {};                  ///< of all layers
};
/// Spectra of the frames of signals: [batch, time, channels] -> [batch, frames,
/// channels * frequencies], or with expand_dims [batch, frames, frequencies,
/// channels]. "channels_first": [batch, channels, time] -> [batch, channels *
/// frequencies, frames], or [batch, channels, frames, frequencies].
class STFTSpectrogram : public Layer {
public:
  /// Throws meshloom::Error if an option is not one of the values above, if the
  /// step or the frame is too long, or if there are more or fewer numbers of a
  /// window than samples of a frame.
  explicit STFTSpectrogram(STFTSpectrogramOptions options = {});
};

/// The options of MelSpectrogram.
struct MelSpectrogramOptions {
  int64_t fft_length = 2048;     ///< samples of a frame
  int64_t sequence_stride = 512; ///< samples from one frame to the next
  /// The length of the window, in the middle of the frame. None: fft_length.
  std::optional<int64_t> sequence_length = std::nullopt;
  /// Named ones are periodic; numbers: sequence_length of them.
  FrameWindow window = "hann";
  double sampling_rate = 16000; ///< samples per second
  int64_t num_mel_bins = 128;   ///< frequencies of the result
  double min_freq = 20;         ///< of the lowest band, in Hertz
  /// The frequency of the highest band, in Hertz. None: half of the sampling
  /// rate.
  std::optional<double> max_freq = std::nullopt;
  bool power_to_db = true;  ///< whether the result is in decibels
  double top_db = 80;       ///< decibels are at most so far below the highest
  double mag_exp = 2;       ///< the exponent of magnitudes
  double min_power = 1e-10; ///< the least power that decibels are taken of
  double ref_power = 1;     ///< the power of 0 decibels
  std::string name = "";    ///< default: "mel_spectrogram"
  LayerOptions common = {}; ///< of all layers
};
/// Spectra of signals on the mel scale (2595 log10(1 + f / 700), as HTK has
/// it): [time] -> [bins, frames], or [batch, time] -> [batch, bins, frames].
/// Signals are mirrored at both ends by half of fft_length.
class MelSpectrogram : public Layer {
public:
  /// Throws meshloom::Error if an option is not one of the values above, if
  /// sequence_length is more than fft_length, or if a window has another number
  /// of samples.
  explicit MelSpectrogram(MelSpectrogramOptions options = {});
};

} // namespace meshloom::layers

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Predictions as text for people, as JSON, and as a picture.
#pragma once

#include "meshloom/Core/Prediction.h"

#include <cstddef>
#include <span>

namespace meshloom {

/// A table: memory with the largest tensors at its peak, time, and the `count`
/// steps that take longest.
std::string predictionText(const Prediction &prediction, size_t count = 10);

/// A JSON object with everything. Times are in picoseconds, as integers.
std::string predictionJson(const Prediction &prediction);

/// The memory of one device over the steps of the program, as an SVG picture.
std::string memoryPicture(const Prediction &prediction);

/// A table of predictions of one program for several numbers of devices.
std::string scalingText(std::span<const Prediction> predictions);

/// The same as an SVG picture: three curves over the number of devices. All
/// axes are logarithmic.
std::string scalingPicture(std::span<const Prediction> predictions);

/// "384.2 MB", of 10^6 bytes each.
std::string bytesText(int64_t bytes);

} // namespace meshloom

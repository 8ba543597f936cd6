// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MNIST's files as a dataset.
#pragma once

#include "meshloom/Data/Dataset.h"

namespace meshloom::data {

/// One image, or a batch of them.
struct LabelledImages {
  Tensor images; ///< [784] or [n, 784] f32 in [0, 1]
  Tensor labels; ///< [] or [n] i32
  /// n, of a batch.
  int64_t size() const { return labels.size(); }
};

/// Which pair of MNIST's four files.
enum class MnistPart : uint8_t { Train, Test };

/// The images of train-images-idx3-ubyte and train-labels-idx1-ubyte (or
/// t10k-...), or the same with .gz, in `folder`, one an element. Throws
/// meshloom::Error if a file is missing, truncated or mislabelled (the message
/// names it), if counts differ, or if images are not 28 x 28.
///
///   auto train = data::load_mnist("mnist", data::MnistPart::Train)
///                    .shuffle(60000)
///                    .batch(128);
Dataset<LabelledImages>
load_mnist(const std::filesystem::path &folder, MnistPart part,
           std::source_location where = std::source_location::current());

} // namespace meshloom::data

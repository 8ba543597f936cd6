// Dataset: images and labels in memory, shuffled and cut into batches.
#pragma once

#include "meshloom/API/Tensor.h"

#include <filesystem>

/// Data sets in memory and on disk.
namespace meshloom::data {

/// images [n, features] f32, labels [n] i32: host tensors.
struct Batch {
  Tensor images; ///< [n, features] f32
  Tensor labels; ///< [n] i32
  /// n.
  int64_t size() const { return labels.size(); }
};

/// Which pair of MNIST's four files.
enum class MnistPart : uint8_t { Train, Test };

/// An immutable value, cheap to copy: copies, `take` and `shuffle` share data.
/// One that was moved from throws meshloom::Error at every use.
///
///   data::Dataset train = data::load_mnist("mnist", data::MnistPart::Train);
///   data::Dataset epoch = train.shuffle(7);
///   for (int64_t i = 0; i < epoch.batch_count(128); ++i)
///     step(epoch.batch(i, 128));
class Dataset {
public:
  /// images [n, ...] (each row flattened, bytes scaled to [0, 1]), labels [n].
  /// Throws meshloom::Error if the counts differ, or if there is no feature.
  Dataset(std::vector<float> images, int64_t features,
          std::vector<int32_t> labels);

  /// Number of images.
  int64_t size() const;
  /// Numbers an image has.
  int64_t features() const;
  /// The first n (all of them where there are fewer).
  Dataset take(int64_t n) const;
  /// In an order that depends on the seed and the present order alone.
  Dataset shuffle(uint64_t seed) const;
  /// Number of batches; the last one is short where the size does not divide.
  /// Throws meshloom::Error if batchSize is below 1.
  int64_t batch_count(int64_t batchSize) const;
  /// Throws meshloom::Error if index is not in [0, batch_count).
  Batch batch(int64_t index, int64_t batchSize) const;

private:
  struct Storage;
  /// Throws where the dataset was moved from.
  const Storage &stored() const;
  std::shared_ptr<const Storage> storage;
  std::shared_ptr<const std::vector<int64_t>> order; ///< rows, or null: as is
  int64_t count = 0;
};

/// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte (or t10k-...), or
/// the same with .gz, from `folder`. Throws meshloom::Error if a file is
/// missing, truncated or mislabelled (the message names it), if counts differ,
/// or if images are not 28 x 28.
Dataset load_mnist(const std::filesystem::path &folder, MnistPart part);

} // namespace meshloom::data

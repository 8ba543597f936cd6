// Dataset and the loader of MNIST's files.
#include "meshloom/Data/Dataset.h"

#include "Random.h"
#include "meshloom/API/Create.h"
#include "meshloom/Data/Idx.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace meshloom::data {

struct Dataset::Storage {
  std::vector<float> images;
  int64_t features;
  std::vector<int32_t> labels;
};

Dataset::Dataset(std::vector<float> images, int64_t features,
                 std::vector<int32_t> labels) {
  count = int64_t(labels.size());
  if (features < 1)
    throw Error(fmt::format(
        "[Dataset] an image needs at least one feature, not {}", features));
  // The largest int64_t where the product is larger: no vector has that size.
  if (int64_t expected = elementCount({count, features});
      int64_t(images.size()) != expected)
    throw Error(fmt::format(
        "[Dataset] {} labels need {} image values of {} features each, but {} "
        "are given",
        count, expected, features, images.size()));
  storage = std::make_shared<Storage>(
      Storage{std::move(images), features, std::move(labels)});
}

const Dataset::Storage &Dataset::stored() const {
  if (!storage)
    throw Error("[Dataset] expected a dataset, got one that was moved from");
  return *storage;
}

int64_t Dataset::size() const {
  stored();
  return count;
}
int64_t Dataset::features() const {
  return stored().features;
}

Dataset Dataset::take(int64_t n) const {
  stored();
  if (n < 0)
    throw Error(fmt::format("[take] cannot take {} images", n));
  Dataset result = *this;
  result.count = std::min(n, count);
  return result;
}

Dataset Dataset::shuffle(uint64_t seed) const {
  stored();
  auto rows = std::make_shared<std::vector<int64_t>>(size_t(count));
  if (order)
    std::copy_n(order->begin(), count, rows->begin());
  else
    std::iota(rows->begin(), rows->end(), 0);
  Random random(seed);
  for (int64_t i = count; i > 1; --i)
    std::swap((*rows)[i - 1], (*rows)[random.below(uint64_t(i))]);
  Dataset result = *this;
  result.order = std::move(rows);
  return result;
}

int64_t Dataset::batch_count(int64_t batchSize) const {
  stored();
  if (batchSize < 1)
    throw Error(fmt::format("[batch] a batch holds at least one image, not {}",
                            batchSize));
  return count / batchSize + (count % batchSize != 0);
}

Batch Dataset::batch(int64_t index, int64_t batchSize) const {
  int64_t batches = batch_count(batchSize);
  if (index < 0 || index >= batches)
    throw Error(fmt::format(
        "[batch] there is no batch {}: {} images make {} batches of {}", index,
        count, batches, batchSize));
  int64_t first = index * batchSize, rows = std::min(batchSize, count - first);
  int64_t width = storage->features;
  std::vector<float> images(size_t(rows * width));
  std::vector<int32_t> labels(size_t(rows), 0);
  for (int64_t i = 0; i < rows; ++i) {
    int64_t row = order ? (*order)[first + i] : first + i;
    std::copy_n(&storage->images[size_t(row * width)], width,
                &images[size_t(i * width)]);
    labels[i] = storage->labels[row];
  }
  return {tensor(images, {rows, width}), tensor(labels, {rows})};
}

namespace {
/// The file of MNIST's that is there, plain or packed, under either spelling
/// that is in use.
std::filesystem::path findFile(const std::filesystem::path &folder,
                               const std::string &part,
                               const std::string &kind) {
  for (const char *dash : {"-", "."})
    for (const char *packed : {"", ".gz"}) {
      auto path = folder / part;
      for (const char *piece : {dash, kind.c_str(), packed})
        path += piece;
      if (std::filesystem::exists(path))
        return path;
    }
  throw Error(fmt::format("[load_mnist] there is no '{0}-{1}' or '{0}-{1}.gz' "
                          "in '{2}'; give the folder of MNIST's IDX files",
                          part, kind, folder.string()));
}

/// Reads one of MNIST's files and checks that it holds what its name says.
IdxArray readPart(const std::filesystem::path &path, size_t rank,
                  std::string_view what) {
  IdxArray array = read_idx(path);
  if (array.type != DType::UI8)
    throw Error(fmt::format("[load_mnist] '{}' holds elements of {}; MNIST's "
                            "are ui8",
                            path.string(), name(array.type)));
  if (array.shape.size() != rank)
    throw Error(fmt::format(
        "[load_mnist] '{}' is mislabelled: {} have {} dims, but it has {} "
        "(shape [{}])",
        path.string(), what, rank, array.shape.size(),
        fmt::join(array.shape, ", ")));
  return array;
}
} // namespace

Dataset load_mnist(const std::filesystem::path &folder, MnistPart part) {
  std::string prefix = part == MnistPart::Train ? "train" : "t10k";
  auto imagesPath = findFile(folder, prefix + "-images", "idx3-ubyte");
  auto labelsPath = findFile(folder, prefix + "-labels", "idx1-ubyte");
  IdxArray images = readPart(imagesPath, 3, "images");
  IdxArray labels = readPart(labelsPath, 1, "labels");
  if (images.shape[1] != 28 || images.shape[2] != 28)
    throw Error(
        fmt::format("[load_mnist] '{}' holds images of {} x {}; MNIST's "
                    "are 28 x 28",
                    imagesPath.string(), images.shape[1], images.shape[2]));
  if (images.shape[0] != labels.shape[0])
    throw Error(fmt::format(
        "[load_mnist] '{}' holds {} images, but '{}' holds {} labels; they "
        "belong to different data sets",
        imagesPath.string(), images.shape[0], labelsPath.string(),
        labels.shape[0]));
  std::vector<float> pixels(images.bytes.size());
  for (size_t i = 0; i < pixels.size(); ++i)
    pixels[i] = float(uint8_t(images.bytes[i])) / 255.f;
  std::vector<int32_t> classes(labels.bytes.size());
  for (size_t i = 0; i < classes.size(); ++i) {
    classes[i] = uint8_t(labels.bytes[i]);
    if (classes[i] > 9)
      throw Error(fmt::format("[load_mnist] '{}' is mislabelled: label {} is "
                              "{}; MNIST's are 0 to 9",
                              labelsPath.string(), i, classes[i]));
  }
  return Dataset(std::move(pixels), 28 * 28, std::move(classes));
}

} // namespace meshloom::data

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loader of MNIST's files.
#include "meshloom/Data/Mnist.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Data/Idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace meshloom::data {

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
      if (std::error_code none; std::filesystem::exists(path, none))
        return path;
    }
  Error(fmt::format("[load_mnist] there is no '{0}-{1}' or '{0}-{1}.gz' "
                    "in '{2}'; give the folder of MNIST's IDX files",
                    part, kind, folder.string()),
        ErrorCode::NOT_FOUND)
      .raise();
}

/// Reads one of MNIST's files and checks that it holds what its name says.
IdxArray readPart(const std::filesystem::path &path, size_t rank,
                  std::string_view role) {
  IdxArray array = read_idx(path);
  if (array.type != DType::UI8)
    Error(fmt::format("[load_mnist] '{}' holds elements of {}; MNIST's "
                      "are ui8",
                      path.string(), name(array.type)))
        .raise();
  if (array.shape.size() != rank)
    Error(
        fmt::format(
            "[load_mnist] '{}' is mislabelled: {} have {} dims, but it has {} "
            "(shape [{}])",
            path.string(), role, rank, array.shape.size(),
            fmt::join(array.shape, ", ")))
        .raise();
  return array;
}
} // namespace

Dataset<LabelledImages> load_mnist(const std::filesystem::path &folder,
                                   MnistPart part, std::source_location where) {
  return meshloom::detail::atLine(where, [&]() -> Dataset<LabelledImages> {
    std::string prefix = part == MnistPart::Train ? "train" : "t10k";
    auto imagesPath = findFile(folder, prefix + "-images", "idx3-ubyte");
    auto labelsPath = findFile(folder, prefix + "-labels", "idx1-ubyte");
    IdxArray images = readPart(imagesPath, 3, "images");
    IdxArray labels = readPart(labelsPath, 1, "labels");
    if (images.shape[1] != 28 || images.shape[2] != 28)
      Error(fmt::format("[load_mnist] '{}' holds images of {} x {}; MNIST's "
                        "are 28 x 28",
                        imagesPath.string(), images.shape[1], images.shape[2]))
          .raise();
    if (images.shape[0] != labels.shape[0])
      Error(fmt::format("[load_mnist] '{}' holds {} images, but '{}' holds {} "
                        "labels; they "
                        "belong to different data sets",
                        imagesPath.string(), images.shape[0],
                        labelsPath.string(), labels.shape[0]))
          .raise();
    std::vector<float> pixels(images.bytes.size());
    for (size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = float(uint8_t(images.bytes[i])) / 255.f;
    std::vector<int32_t> classes(labels.bytes.size());
    for (size_t i = 0; i < classes.size(); ++i) {
      classes[i] = uint8_t(labels.bytes[i]);
      if (classes[i] > 9)
        Error(fmt::format("[load_mnist] '{}' is mislabelled: label {} is "
                          "{}; MNIST's are 0 to 9",
                          labelsPath.string(), i, classes[i]))
            .raise();
    }
    meshloom::detail::HostScope host;
    const int64_t count = images.shape[0];
    return from_tensor_slices(LabelledImages{tensor(pixels, {count, 28 * 28}),
                                             tensor(classes, {count})});
  });
}

} // namespace meshloom::data

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains a ResNet-50 on CIFAR-10's binary files (records of a label and 3 x 32
// x 32 bytes), data parallel over virtual CPUs:
//
//   resnet cifar-10-batches-bin [devices [batch [steps]]]
#include "ResNet.h"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

using namespace meshloom;

namespace {

constexpr int64_t side = 32, pixels = side * side, record = 1 + 3 * pixels;

/// Images [n, 32, 32, 3] around zero and labels [n] of one file.
struct Images {
  std::vector<float> values;
  std::vector<int32_t> labels;
  int64_t count() const { return int64_t(labels.size()); }
};

Images load(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file || bytes.empty() || int64_t(bytes.size()) % record != 0)
    throw Error("\"" + path +
                "\" has no whole number of CIFAR-10's records of " +
                std::to_string(record) + " bytes");
  Images images;
  for (size_t offset = 0; offset < bytes.size(); offset += size_t(record)) {
    auto byte = [&](int64_t i) { return uint8_t(bytes[offset + size_t(i)]); };
    images.labels.push_back(byte(0));
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t c = 0; c < 3; ++c)
        images.values.push_back(float(byte(1 + c * pixels + p)) / 127.5f - 1);
  }
  return images;
}

int64_t number(int argc, char **argv, int index, int64_t otherwise) {
  return argc > index ? std::atoll(argv[index]) : otherwise;
}

void run(int argc, char **argv) {
  const Images images = load(std::string(argv[1]) + "/data_batch_1.bin");
  const int64_t devices = number(argc, argv, 2, 1),
                batch = number(argc, argv, 3, 64),
                steps = number(argc, argv, 4, 100);
  if (devices < 1 || batch < 1 || batch > images.count() || steps < 0)
    throw Error("expected at least one device and a batch of 1 to " +
                std::to_string(images.count()));
  Mesh mesh = create_mesh({{"batch", devices}}, virtual_cpus(devices));
  auto scope = default_mesh(mesh);
  const Layout rows({"batch", UNSHARDED, UNSHARDED, UNSHARDED}, mesh),
      labels({"batch"}, mesh);
  const resnet::ResNet model({.classes = 10, .small = true});
  // The linear scaling rule (Goyal et al., 2017): 0.1 for 256 images.
  const optimizers::SGD sgd(
      {.learning_rate = 0.1 * double(batch) / 256, .momentum = 0.9});
  auto step = function(
      [&](const Tensor &x, const Tensor &y) {
        GradientTape tape;
        Tensor loss = reduce_mean(nn::sparse_softmax_cross_entropy_with_logits(
            {.labels = y, .logits = model(x, true)}));
        sgd.apply_gradients(tape.gradient(loss, model.trainable_variables()));
        return loss;
      },
      {.name = "step"});
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t first = i % (images.count() / batch) * batch;
    auto *x = images.values.data() + first * 3 * pixels;
    auto *y = images.labels.data() + first;
    Tensor loss =
        step(distribute(tensor(std::vector<float>(x, x + batch * 3 * pixels),
                               {batch, side, side, 3}),
                        rows),
             distribute(tensor(std::vector<int32_t>(y, y + batch), {batch}),
                        labels));
    std::cout << "step " << i + 1 << ": loss " << loss.item<float>()
              << std::endl;
  }
}

} // namespace

int main(int argc, char **argv) try {
  if (argc < 2) {
    std::cerr << "usage: resnet FOLDER [devices [batch [steps]]]\n";
    return 2;
  }
  run(argc, argv);
} catch (const Error &error) {
  std::cerr << "resnet: " << error.what() << "\n";
  return 1;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The behaviour that TensorFlow's multi-client tests of DTensor check: mesh x
// over the processes, y within each.
#include "../Distribute/Testing.h"
#include "meshloom/Meshloom.h"

#include <filesystem>
#include <fmt/format.h>

#include <unistd.h>

namespace meshloom {
namespace {

class DTensorProcessesTest : public testing::Test {
protected:
  /// A letter a dim: x, y, or u for unsharded.
  Layout on(std::string_view letters) const {
    std::vector<DimSpec> specs;
    specs.reserve(letters.size());
    for (char letter : letters)
      specs.push_back(letter == 'u' ? DimSpec(UNSHARDED)
                                    : DimSpec(std::string(1, letter)));
    return Layout(specs, mesh);
  }
  static Tensor sample(const Shape &shape, uint32_t seed) {
    return random::stateless_normal(shape, Seed{seed, 1});
  }
  /// Values of one device's memory, or of all.
  static void expectSame(const Tensor &got, const Tensor &expected,
                         float tolerance = 1e-5f) {
    EXPECT_THAT(detail::replicateUnlessLocal(got).to_vector<float>(),
                testing::Pointwise(testing::FloatNear(tolerance),
                                   expected.to_vector<float>()));
  }

  const Mesh mesh = create_distributed_mesh({{"x", num_clients()}, {"y", 2}});
};

TEST_F(DTensorProcessesTest, SavedInOneLayoutAndRestoredInAnother) {
  const std::filesystem::path folder =
      detail::gatherTexts("folder",
                          (std::filesystem::temp_directory_path() /
                           fmt::format("meshloom-processes-{}", ::getpid()))
                              .string())
          .front();
  const std::vector<std::string> layouts = {"xu", "ux", "xy", "uu"};
  const Tensor value = sample({8, 6}, 1);
  Checkpoint::Objects saved, restored;
  std::vector<DVariable> others;
  for (size_t i = 0; i < layouts.size(); ++i) {
    saved.emplace_back(layouts[i], DVariable(distribute(value * double(i + 1),
                                                        on(layouts[i]))));
    others.emplace_back(
        distribute(zeros({8, 6}), on(layouts[(i + 1) % layouts.size()])));
    restored.emplace_back(layouts[i], others.back());
  }
  Checkpoint(saved).write(folder);
  Checkpoint(restored).restore(folder);
  for (size_t i = 0; i < others.size(); ++i)
    expectSame(others[i].read_value(), value * double(i + 1), 0);
  detail::waitForAll("read");
  if (client_id() == 0)
    std::filesystem::remove_all(folder);
}

TEST_F(DTensorProcessesTest, CopiesKeepTheirSharding) {
  const Mesh here = create_mesh(
      {{"x", num_clients()}, {"y", 2}},
      [&] {
        std::vector<DeviceSpec> devices;
        for (int64_t i = 0; i < mesh.size(); ++i)
          devices.push_back({"CPU", i, client_id()});
        return devices;
      }(),
      "here");
  const Tensor x = distribute(sample({8, 6}, 2), on("xy"));
  EXPECT_THAT(errorOf([&] { copy_to_mesh(x, Layout({"x", "y"}, here)); }),
              testing::HasSubstr("relayout it to one that is replicated"));
  const Tensor copied =
      copy_to_mesh(relayout(x, on("uu")), Layout({"x", "y"}, here));
  EXPECT_EQ(copied.to_vector<float>(), sample({8, 6}, 2).to_vector<float>());
  expectSame(copy_to_mesh(copied, on("xy")), sample({8, 6}, 2), 0);
  EXPECT_THAT(errorOf([&] { (void)(x + copied); }),
              testing::HasSubstr("[add]"));
}

// A convolution, a product and a bias: five steps of gradient descent on a
// batch of eight, the weights' columns cut over y.
TEST_F(DTensorProcessesTest, TrainingIsThatOfOneDevice) {
  const Tensor images = sample({8, 6, 6, 2}, 3), labels = sample({8, 4}, 4);
  const std::vector<Tensor> initial = {sample({3, 3, 2, 3}, 5) * 0.3,
                                       sample({48, 4}, 6) * 0.3, zeros({4})};
  auto train = [&](const std::vector<DVariable> &model, const Tensor &x,
                   const Tensor &y) {
    auto step = function([&] {
      GradientTape tape;
      const Tensor features = conv2d(x, model[0], {.padding = "VALID"});
      const Tensor loss = reduce_mean(
          square(matmul(reshape(features, {8, 48}), model[1]) + model[2] - y));
      for (const auto &[gradient, variable] : tape.gradient(loss, model))
        variable.assign_sub(0.1 * gradient);
      return loss;
    });
    std::vector<float> losses;
    for (int i = 0; i < 5; ++i)
      losses.push_back(step().item<float>());
    return losses;
  };
  std::vector<DVariable> whole, sharded;
  const std::vector<std::string> layouts = {"uuuu", "uy", "y"};
  for (size_t i = 0; i < initial.size(); ++i) {
    whole.emplace_back(initial[i]);
    sharded.emplace_back(distribute(initial[i], on(layouts[i])));
  }
  const std::vector<float> expected = train(whole, images, labels);
  EXPECT_THAT(train(sharded, distribute(images, on("xuuu")),
                    distribute(labels, on("xu"))),
              testing::Pointwise(testing::FloatNear(5e-4f), expected));
  for (size_t i = 0; i < whole.size(); ++i)
    expectSame(sharded[i].read_value(), whole[i].read_value());
}

} // namespace
} // namespace meshloom

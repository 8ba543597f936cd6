// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors of functions that are no ops name the user's line, as ops' do.
#include "Testing.h"

#include "meshloom/Data/Mnist.h"
#include "meshloom/Data/Npz.h"
#include "meshloom/Data/Safetensors.h"

namespace meshloom {
namespace {

/// The message of what `f` throws has this file's name and `line`, in
/// parentheses, once.
template <typename F> void expectLine(F f, uint32_t line) {
  try {
    f();
  } catch (const Error &error) {
    const std::string text = error.what();
    EXPECT_THAT(text, testing::HasSubstr(
                          "LinesTest.cpp:" + std::to_string(line) + ")"));
    EXPECT_EQ(text.find("(at "), text.rfind("(at ")) << text;
    return;
  }
  FAIL() << "nothing was thrown in line " << line;
}
#define EXPECT_LINE(...) expectLine([&] { __VA_ARGS__; }, __LINE__)

TEST(LinesTest, ReadingValues) {
  const Tensor x = tensor({1.f, 2.f}), none;
  DVariable w(x);
  EXPECT_LINE((void)x.item<float>());
  EXPECT_LINE((void)w.item<float>());
  EXPECT_LINE((void)x.to_vector<int>());
  EXPECT_LINE((void)w.to_vector<int>());
  EXPECT_LINE((void)none.to_vector<float>());
  EXPECT_LINE((void)none.item<float>());
}

TEST(LinesTest, MeshesAndLayouts) {
  const Mesh mesh = mesh2x4();
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_LINE(Layout({"q"}, mesh));
  EXPECT_LINE(create_mesh({{"x", 3}}, virtual_cpus(2)));
  EXPECT_LINE((void)distribute(x, Layout::replicated(mesh, 2)));
  EXPECT_LINE((void)pack({x}, Layout::replicated(mesh, 2)));
  EXPECT_LINE((void)unpack(Tensor()));
}

TEST(LinesTest, Files) {
  const Tensor x = tensor({1.f, 2.f});
  EXPECT_LINE((void)load_npy("/none/x.npy"));
  EXPECT_LINE(save_npy("/none/x.npy", x));
  EXPECT_LINE((void)load_function("/none/x.mlprog"));
  EXPECT_LINE((void)data::load_npz("/none/x.npz"));
  EXPECT_LINE((void)data::load_safetensors("/none/x.safetensors"));
  EXPECT_LINE(data::save_safetensors("/none/x.safetensors", {{"x", x}}));
  EXPECT_LINE((void)data::load_mnist("/none", data::MnistPart::Train));
  EXPECT_LINE((void)load_model("/none/model"));
  Checkpoint checkpoint({{"x", DVariable(x)}});
  EXPECT_LINE(checkpoint.restore("/none/checkpoint"));
}

TEST(LinesTest, Models) {
  EXPECT_LINE(Sequential({Input({4}), layers::Reshape({3})}));
  Sequential model({Input({4}), layers::Dense(1)});
  const Tensor x = ones({8, 4}), y = ones({8, 1});
  EXPECT_LINE(model.fit(x, y, {.verbose = 0})); // not compiled
  EXPECT_LINE(model.evaluate(x, y, {.verbose = 0}));
  EXPECT_LINE(load_weights(model, "/none/weights"));
}

// It takes the number of elements that the message names.
TEST(LinesTest, ReshapeNamesTheLayerAndTheSizes) {
  try {
    Sequential({Input({4}), layers::Reshape({3})});
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("layer 'reshape': expected 4 elements, as "
                                   "the input [None, 4] has, got [3] (at "));
  }
}

} // namespace
} // namespace meshloom

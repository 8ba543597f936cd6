// Layers and models: building, calling, names and paths, graphs, configs.
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/NN/Layers/Core.h"
#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Optimizers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace meshloom;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

template <typename F> std::string errorOf(F &&f) {
  try {
    f();
  } catch (const Error &error) {
    return error.message();
  }
  return "no error";
}

std::vector<std::string> pathsOf(const Layer &layer) {
  std::vector<std::string> paths;
  for (const NamedVariable &each : layer.named_variables())
    paths.push_back(each.path);
  return paths;
}

// Copies are the same layer, built by the first call.
TEST(LayerTest, IsBuiltByItsFirstInput) {
  layers::Dense dense(2, {.kernel_initializer = "ones"});
  layers::Dense copy = dense;
  EXPECT_FALSE(copy.built());
  EXPECT_THAT(errorOf([&] { copy.variables(); }),
              HasSubstr("has no weights yet"));
  EXPECT_THAT(dense(tensor({{1.f, 2.f, 3.f}})).to_vector<float>(),
              ElementsAre(6, 6));
  EXPECT_TRUE(copy.built());
  EXPECT_TRUE(copy.kernel().is(dense.kernel()));
  EXPECT_EQ(copy.count_params(), 8);
  EXPECT_THAT(errorOf([&] { copy(ones({1, 4})); }),
              HasSubstr("expected an input [..., 3], as it was built for, got "
                        "f32 [1, 4]"));
}

struct ScaleImpl : LayerImpl {
  explicit ScaleImpl(double factor) : LayerImpl("Scale"), factor(factor) {}
  explicit ScaleImpl(const Config &config)
      : ScaleImpl(config.at("factor").as_double()) {}
  void build(const Shape &input) override {
    weight = add_weight("weight", {input.back()}, {.initializer = "ones"});
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    add_loss(reduce_sum(x));
    return *options.training ? x * weight : x * weight * factor;
  }
  Config get_config() const override {
    Config config = LayerImpl::get_config();
    config["factor"] = factor;
    return config;
  }
  double factor;
  DVariable weight;
};
using Scale = LayerOf<ScaleImpl>;

struct BlockImpl : LayerImpl {
  BlockImpl() : LayerImpl("Block") {
    track("up", up);
    track("scale", scale);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return scale(up(x));
  }
  layers::Dense up{3};
  Scale scale{2};
};

// A part takes `training` from the call that it is in; its losses are those of
// the last call.
TEST(LayerTest, UsersDerive) {
  LayerOf<BlockImpl> block;
  Tensor x = ones({2, 4});
  Tensor y = block(x), trained = block(x, {.training = true});
  EXPECT_THAT(
      y.to_vector<float>(),
      testing::Pointwise(testing::FloatEq(), (trained * 2).to_vector<float>()));
  EXPECT_THAT(pathsOf(block),
              ElementsAre("up/kernel", "up/bias", "scale/weight"));
  EXPECT_EQ(block->up.kernel().name(), "block/up/kernel");
  ASSERT_EQ(block.losses().size(), 1u);
  block->scale.set_trainable(false);
  EXPECT_EQ(block.trainable_variables().size(), 2u);
  EXPECT_EQ(block.non_trainable_variables().size(), 1u);
}

TEST(SequentialTest, RunsOneLayerAfterTheOther) {
  Sequential model(
      {Input({4}), layers::Dense(3, {.activation = "relu"}), layers::Dense(2)});
  EXPECT_TRUE(model.built());
  EXPECT_THAT(pathsOf(model), ElementsAre("dense/kernel", "dense/bias",
                                          "dense_1/kernel", "dense_1/bias"));
  EXPECT_EQ(model.outputs()[0].shape(), (Shape{-1, 2}));
  EXPECT_EQ(model(ones({5, 4})).shape(), (Shape{5, 2}));
  EXPECT_EQ(model.variables()[2].name(), "dense_1/kernel");

  Sequential lazy({layers::Dense(3), layers::Dense(2)});
  lazy(ones({5, 7}));
  EXPECT_EQ(lazy.inputs()[0].shape(), (Shape{-1, 7}));
  EXPECT_EQ(lazy.get_layer("dense").count_params(), 24);
  EXPECT_THAT(errorOf([&] { lazy.get_layer("desne"); }),
              HasSubstr("it has dense, dense_1"));
}

// Two inputs, two outputs, and a layer that is called twice.
TEST(FunctionalTest, RunsAGraph) {
  SymbolicTensor a = Input({3}, {.name = "a"}), b = Input({3}, {.name = "b"});
  layers::Dense shared(2, {.name = "shared"});
  SymbolicTensor first = shared(a), second = shared(b);
  Model model({a, b}, {first, layers::Dense(1)(second)});
  EXPECT_THAT(pathsOf(model), ElementsAre("shared/kernel", "shared/bias",
                                          "dense/kernel", "dense/bias"));
  std::vector<Tensor> ys = model.call_many({ones({2, 3}), ones({2, 3})});
  EXPECT_EQ(ys[0].shape(), (Shape{2, 2}));
  EXPECT_EQ(ys[1].shape(), (Shape{2, 1}));
  EXPECT_THAT(errorOf([&] { Model(a, second); }),
              HasSubstr("needs the Input 'b' [None, 3]"));

  // As a part of another model, and made again from its config.
  SymbolicTensor x = Input({3});
  Model outer(x, layers::Dense(1)(model.call_many({x, x})[0]));
  EXPECT_EQ(pathsOf(outer)[0], "functional/shared/kernel");
  Model again(Layer::from_config(Config::parse(outer.config().to_json())));
  EXPECT_EQ(pathsOf(again), pathsOf(outer));
  again.set_weights(outer.get_weights());
  EXPECT_EQ(again(ones({2, 3})).to_vector<float>(),
            outer(ones({2, 3})).to_vector<float>());
}

struct NetImpl : ModelImpl {
  NetImpl() : ModelImpl("Net") {
    track("hidden", hidden);
    track("out", out);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return out(hidden(x));
  }
  layers::Dense hidden{4, {.activation = "tanh"}}, out{1};
};

// Trained on a mesh, where its weights are made by the first step.
TEST(SubclassedTest, LearnsOnAMesh) {
  Mesh mesh = create_mesh({{"batch", 2}}, virtual_cpus(2));
  Layout rows = Layout::batch_sharded(mesh, "batch", 2);
  ModelOf<NetImpl> net;
  optimizers::SGD sgd(0.1);
  auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = reduce_mean(square(net(x) - y));
    sgd.apply_gradients(tape.gradient(loss, net.trainable_variables()));
    return loss;
  });
  Tensor x = distribute(tensor({{0.f, 1.f}, {1.f, 0.f}}), rows);
  Tensor y = distribute(tensor({{1.f}, {0.f}}), rows);
  const float first = step(x, y).item<float>();
  float last = first;
  for (int i = 0; i < 5; ++i)
    last = step(x, y).item<float>();
  EXPECT_LT(last, first);
  EXPECT_EQ(net->hidden.kernel().layout().mesh(), mesh);
  EXPECT_THAT(pathsOf(net), ElementsAre("hidden/kernel", "hidden/bias",
                                        "out/kernel", "out/bias"));
}

struct HolderModule : Module {
  layers::Dense dense{2};
  HolderModule() { track(dense); }
};

TEST(LayerTest, IsAPartOfAModule) {
  HolderModule holder;
  EXPECT_THAT(errorOf([&] { holder.variables(); }),
              HasSubstr("has no weights yet"));
  holder.dense(ones({1, 3}));
  EXPECT_EQ(holder.trainable_variables().size(), 2u);
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers and models: building, calling, names and paths, graphs, configs.
#include "../API/Testing.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/Function.h"
#include "meshloom/API/GradientTape.h"
#include "meshloom/NN/Layers/Core.h"
#include "meshloom/NN/Models/Model.h"
#include "meshloom/NN/Optimizers.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>
#include <memory>
#include <optional>

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
  for (const NamedVariable &variable : layer.named_variables())
    paths.push_back(variable.path);
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
  explicit ScaleImpl(const nn::Config &config)
      : ScaleImpl(config.at("factor").as_double()) {}
  void build(const Shape &input) override {
    weight = add_weight("weight", {input.back()}, {.initializer = "ones"});
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    add_loss(reduce_sum(x));
    return *options.training ? x * weight : x * weight * factor;
  }
  nn::Config get_config() const override {
    nn::Config config = LayerImpl::get_config();
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

  // The model is a part of another one, and is made again from its config.
  SymbolicTensor x = Input({3});
  Model outer(x, layers::Dense(1)(model.call_many({x, x})[0]));
  EXPECT_EQ(pathsOf(outer)[0], "functional/shared/kernel");
  Model again(Layer::from_config(nn::Config::parse(outer.config().to_json())));
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

/// Layers in containers, of which some are filled after `track`.
struct LateImpl : LayerImpl {
  LateImpl() : LayerImpl("Late") {
    blocks.emplace_back(4);
    track(blocks);
    track("first", first);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor y = first(x);
    for (layers::Dense &block : blocks)
      y = block(y);
    for (auto &[name, layer] : byName)
      y = layer(y);
    if (last)
      y = (*last)(y);
    return other ? (*other)(layers::Activation("relu")(y)) : y;
  }
  void trackLast() { track("last", *last); }
  layers::Dense first{4};
  std::vector<layers::Dense> blocks;
  std::map<std::string, layers::Dense> byName;
  std::optional<layers::Dense> last;
  std::unique_ptr<layers::Dense> other;
};

// A layer that calls one which it was not told to be made of says so, however
// it came to be there; one without weights, or that nobody is to train, may be
// called.
TEST(LayerTest, PartsThatCameAfterTrackAreErrors) {
  using LateLayer = LayerOf<LateImpl>;
  const Tensor x = ones({2, 4});
  auto says = [&](auto change) {
    LateLayer layer;
    layer(x);
    EXPECT_EQ(layer.trainable_variables().size(), 4u);
    change(*layer.operator->());
    return errorOf([&] { layer(x); });
  };
  EXPECT_THAT(says([](LateImpl &late) { late.blocks.emplace_back(4); }),
              AllOf(HasSubstr("[Dense] layer 'dense'"),
                    HasSubstr("it is called by 'late' (Late), which was not "
                              "told that it is a part"),
                    HasSubstr("Call track in the constructor or in build")));
  const auto notTold = HasSubstr("not told that it is a part");
  EXPECT_THAT(
      says([](LateImpl &late) { late.byName.emplace("a", layers::Dense(4)); }),
      notTold);
  EXPECT_THAT(says([](LateImpl &late) { late.last.emplace(4); }), notTold);
  EXPECT_THAT(says([](LateImpl &late) {
                late.other = std::make_unique<layers::Dense>(4);
              }),
              notTold);
  EXPECT_THAT(says([](LateImpl &late) { late.first = layers::Dense(4); }),
              notTold);
  // Built before it is a part, and frozen, or told.
  EXPECT_EQ(says([](LateImpl &late) {
              late.last.emplace(4);
              late.trackLast();
            }),
            "no error");
  EXPECT_EQ(says([](LateImpl &late) {
              late.last.emplace(4);
              late.last->set_trainable(false);
            }),
            "no error");
}

struct HolderModule : Module {
  layers::Dense dense{2};
  HolderModule() { track(dense); }
};

// The caller's line, and sizes as the caller knows them.
TEST(FunctionalTest, MessagesAreInTheCallersTerms) {
  EXPECT_ERROR(layers::Add()({Input({4}), Input({3})}), HAS("[None, 4]"),
               HAS("in add"), HAS("ModelsTest.cpp:"));
  const SymbolicTensor a = Input({4}, {.name = "a"}),
                       b = Input({4}, {.name = "b"});
  const Model both({a, b}, a + b);
  EXPECT_ERROR(
      both.predict(ones({2, 4}), {.verbose = 0}),
      HAS("takes 2 inputs, 'a', 'b', got 1: give several as a vector"));
}

TEST(FunctionalTest, LayersKnowTheirOutputShapes) {
  Sequential model({Input({3}), layers::Dense(4, {.name = "hidden"}),
                    layers::Dense(2, {.name = "out"})});
  const Tensor x = sample({5, 3});
  const Layer hidden = model.get_layer("hidden");
  const Model features(model.inputs(), {hidden.output(), model.output()});
  const std::vector<Tensor> both = features.call_many({x});
  expectSame(both[0], hidden(x));
  expectSame(both[1], model(x));
  EXPECT_TRUE(model.get_layer("out").input().is(hidden.output()));
  EXPECT_ERROR(layers::Dense(1, {.name = "alone"}).output(),
               HAS("layer 'alone' has no output of its own: it was not called"),
               HAS("ModelsTest.cpp:"));
  const layers::Dense twice(3);
  const SymbolicTensor once = twice(Input({3})), again = twice(once);
  EXPECT_ERROR(twice.output(), HAS("it was called 2 times"));
}

/// Is trained by an optimizer of its own, and shows what it likes.
struct CompressorImpl : ModelImpl {
  layers::Dense encoder{2}, decoder{4};
  optimizers::SGD descent{0.1};
  metrics::Mean shown{"loss"}, size{"size"};
  CompressorImpl() : ModelImpl("Compressor") {
    track("encoder", encoder);
    track("decoder", decoder);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return decoder(encoder(x));
  }
  void train_step(TrainingStep &step) override {
    const Tensor &x = step.x()[0];
    GradientTape tape;
    const Tensor code = encoder(x);
    const Tensor loss = reduce_mean(square(decoder(code) - x));
    descent.apply_gradients(
        tape.gradient(loss, handle().trainable_variables()));
    shown.update_state(loss);
    size.update_state(reduce_mean(abs(code)));
  }
  std::vector<metrics::Metric> own_metrics() const override {
    return {shown, size};
  }
};

/// Uses what it was compiled with.
struct PlainImpl : ModelImpl {
  layers::Dense dense{1, {.kernel_initializer = "ones"}};
  PlainImpl() : ModelImpl("Plain") { track("dense", dense); }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return dense(x);
  }
  void train_step(TrainingStep &step) override {
    GradientTape tape;
    const Tensor y = handle()(step.x()[0], {.training = true});
    const Tensor loss = step.compute_loss(y);
    step.optimizer().apply_gradients(
        tape.gradient(loss, handle().trainable_variables()));
  }
};

// fit's loop, callbacks and loops of steps around it.
TEST(SubclassedTest, MayHaveAStepOfItsOwn) {
  const Tensor x = sample({12, 4}), y = sample({12, 1}, 3);
  ModelOf<CompressorImpl> compressor;
  compressor.compile({.steps_per_execution = 2});
  const History history =
      compressor.fit(x, {.batch_size = 3, .epochs = 4, .verbose = 0});
  ASSERT_EQ(history["loss"].size(), 4u);
  EXPECT_LT(history["loss"][3], history["loss"][0]);
  EXPECT_EQ(compressor.metrics_names(),
            (std::vector<std::string>{"loss", "size"}));

  ModelOf<PlainImpl> plain;
  Sequential usual({layers::Dense(1, {.kernel_initializer = "ones"})});
  std::vector<std::vector<double>> losses;
  for (Model model : {Model(plain), Model(usual)}) {
    model.compile(
        {.optimizer = optimizers::SGD(0.1), .loss = "mse", .metrics = {"mae"}});
    const History of =
        model.fit(x, y,
                  {.batch_size = 5,
                   .epochs = 2,
                   .verbose = 0,
                   .callbacks = {callbacks::LearningRateScheduler(
                       [](int64_t epoch) { return 0.1 / double(epoch + 1); })},
                   .shuffle = false});
    losses.push_back(of["loss"]);
    losses.push_back(of["mae"]);
  }
  EXPECT_EQ(losses[0], losses[2]);
  EXPECT_EQ(losses[1], losses[3]);
  plain.compile({.loss = "mse"});
  EXPECT_ERROR(plain.fit(x, y, {.verbose = 0}), HAS("without an optimizer"));
}

TEST(LayerTest, IsAPartOfAModule) {
  HolderModule holder;
  EXPECT_THAT(errorOf([&] { holder.variables(); }),
              HasSubstr("has no weights yet"));
  holder.dense(ones({1, 3}));
  EXPECT_EQ(holder.trainable_variables().size(), 2u);
}

} // namespace

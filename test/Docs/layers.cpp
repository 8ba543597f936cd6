// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of docs/Layers.md.
#include <meshloom/Meshloom.h>

#include <iostream>

using namespace meshloom;

struct LinearImpl : LayerImpl {
  explicit LinearImpl(int64_t units) : LayerImpl("Linear"), units(units) {}
  explicit LinearImpl(const Config &config)
      : LinearImpl(config.at("units").as_int()) {}
  void build(const Shape &input) override {
    kernel = add_weight("kernel", {input.back(), units},
                        {.initializer = "he_normal", .regularizer = "l2"});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return matmul(x, kernel);
  }
  Config get_config() const override {
    Config config = LayerImpl::get_config();
    config["units"] = units;
    return config;
  }
  int64_t units;
  DVariable kernel;
};
using Linear = LayerOf<LinearImpl>;

struct NetImpl : ModelImpl {
  layers::Dense hidden{64, {.activation = "relu"}};
  layers::Dropout drop{0.5};
  Linear out{10};
  NetImpl() : ModelImpl("Net") {
    track("hidden", hidden);
    track("drop", drop);
    track("out", out);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return out(drop(hidden(x)));
  }
};
using Net = ModelOf<NetImpl>;

int main() {
  {
    Sequential model({Input({784}), layers::Dense(64, {.activation = "relu"}),
                      layers::Dense(10)});
    Tensor logits = model(ones({32, 784}));
    std::cout << summary(model);
  }
  {
    SymbolicTensor image = Input({28, 28, 1}), side = Input({4});
    SymbolicTensor x =
        layers::Conv2D(8, 3, {.strides = 2, .activation = "relu"})(image);
    x = layers::GlobalAveragePooling2D()(x);
    x = layers::Concatenate()({x, side});
    Model model({image, side}, layers::Dense(10)(x));
    Tensor y = model({ones({2, 28, 28, 1}), ones({2, 4})});
    plot_model(model, "model.svg");
  }
  {
    SymbolicTensor a = Input({6, 8}), b = Input({6, 8});
    SymbolicTensor mixed = (1 - a) * b / 2 + a(all, range({}, {}, -1));
    Model pair({a, b}, layers::Dense(3)(mixed[all] - a));
  }
  {
    Sequential tagger(
        {Input({5}, {.dtype = DType::I32}),
         layers::Embedding(100, 8, {.mask_zero = true}),
         layers::Bidirectional(layers::LSTM(4, {.return_sequences = true})),
         layers::Dense(3)});
    Tensor scores = tagger(tensor({7, 3, 9, 0, 0}, {1, 5}));
    Tensor counts = get_mask(scores); // true for three steps
    Tensor loss = losses::SparseCategoricalCrossentropy({.from_logits = true})(
        tensor({0, 2, 1, 0, 0}, {1, 5}), scores); // of those three
  }
  {
    Net net;
    Tensor y = net(ones({2, 784}), {.training = true});
    Tensor penalty = net.losses()[0];
    DVariable kernel = net.variable("out/kernel");
  }
  {
    register_layer<LinearImpl>("Linear");
    Linear linear(10);
    std::string json = linear.config().to_json();
    Layer again = Layer::from_config(nn::Config::parse(json));
  }
  {
    layers::MultiHeadAttention attention(2, 4, {.name = "attention"});
    attention.build({-1, 6, 8});
    WeightMap torch({
        {{"in_proj_weight"}, {"query", "key", "value"}, "i h d -> (h d) i"},
        {{"in_proj_bias"},
         {"query_bias", "key_bias", "value_bias"},
         "h d -> (h d)"},
        {{"out_proj.weight"}, {"output"}, "h d o -> o (h d)"},
        {{"out_proj.bias"}, {"output_bias"}},
    });
    save_weights(attention, "attention.safetensors", torch);
    load_weights(attention, "attention.safetensors", torch);
  }
  {
    layers::MultiHeadAttention attention(2, 4, {.causal = true});
    attention.build({-1, 6, 8});
    layers::AttentionCache empty = attention.make_cache(1, 6);
    DVariable keys(empty.key), values(empty.value);
    auto next = function([&](const Tensor &x, const Tensor &position) {
      auto [y, cache] = attention.call_with_cache(x, {keys, values}, position);
      keys.assign(cache.key);
      values.assign(cache.value);
      return y;
    });
    Tensor first = next(ones({1, 1, 8}), tensor(0));
  }
  {
    Mesh mesh = create_mesh({{"batch", 2}, {"model", 2}}, virtual_cpus(4));
    auto scope = default_mesh(mesh);
    Sequential model({Input({784}), layers::Dense(64), layers::Dense(10)});
    set_layouts(model,
                {{"dense/kernel", Layout({UNSHARDED, "model"}, mesh)},
                 {"dense_1/kernel", Layout({"model", UNSHARDED}, mesh)}});
    set_layouts(model, [&](const std::string &, const DVariable &weight) {
      return Layout::batch_sharded(mesh, "batch", unsigned(weight.rank()));
    });
  }
}

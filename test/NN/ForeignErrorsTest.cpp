// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Only meshloom::Error leaves the API, whatever a config has in it: every entry
// of configs of layers and of a model of Keras is taken away, and becomes every
// other kind of value.
#include "../API/Testing.h"

#include "meshloom/NN/Config.h"
#include "meshloom/NN/Layers/EinsumDense.h"
#include "meshloom/NN/Layers/Text.h"
#include "meshloom/NN/State/KerasModel.h"

namespace meshloom {
namespace {

/// Calls `use` with each config in which one value of `config` is another one.
void withDamages(const nn::Config &config,
                 const std::function<void(const nn::Config &)> &use) {
  static const auto &values =
      *new std::vector<nn::Config>{nn::Config(),
                                   nn::Config(-1),
                                   nn::Config(0),
                                   nn::Config(1.5),
                                   nn::Config("x"),
                                   nn::Config(true),
                                   nn::Config(nn::Config::List{}),
                                   nn::Config(nn::Config::Map{}),
                                   nn::Config(Shape{1, -3})};
  for (const nn::Config &value : values)
    use(value);
  if (config.is_map())
    for (size_t i = 0; i < config.as_map().size(); ++i) {
      nn::Config::Map without = config.as_map();
      without.erase(without.begin() + ptrdiff_t(i));
      use(without);
      withDamages(config.as_map()[i].second, [&](const nn::Config &entry) {
        nn::Config::Map damaged = config.as_map();
        damaged[i].second = entry;
        use(damaged);
      });
    }
  if (config.is_list())
    for (size_t i = 0; i < config.as_list().size(); ++i) {
      nn::Config::List without = config.as_list();
      without.erase(without.begin() + ptrdiff_t(i));
      use(without);
      withDamages(config.as_list()[i], [&](const nn::Config &entry) {
        nn::Config::List damaged = config.as_list();
        damaged[i] = entry;
        use(damaged);
      });
    }
}

/// Whether body() threw an Error; another exception fails the test.
bool isRefused(const std::function<void()> &body, const std::string &input) {
  try {
    body();
    return false;
  } catch (const Error &) {
    return true;
  } catch (const std::exception &error) {
    ADD_FAILURE() << error.what() << " for " << input;
    return true;
  }
}

TEST(ForeignErrorsTest, ConfigsOfLayersAreRefusedByOurErrors) {
  using namespace layers;
  const std::vector<Layer> layerList{
      Dense(3, "relu"),
      Embedding(4, 2),
      EinsumDense("abc,cd->abd", {-1, 2}, {.bias_axes = "d"}),
      Conv2D(2, 3),
      LSTM(2),
      RandomZoom(0.5),
      RandomContrast(0.5),
      MixUp(),
      StringLookup({.vocabulary = {"a", "b"}}),
      TextVectorization({.vocabulary = {"a"}}),
      Hashing(3),
      STFTSpectrogram(),
      MelSpectrogram(),
      Normalization(),
      Discretization(std::vector<double>{0, 1}),
      Sequential({Input({4}), Dense(2), Dense(1)})};
  for (const Layer &layer : layerList) {
    int refused = 0;
    withDamages(layer.config(), [&](const nn::Config &config) {
      refused +=
          isRefused([&] { Layer::from_config(config); }, config.to_json());
    });
    EXPECT_GT(refused, 5) << layer.class_name();
  }
}

TEST(ForeignErrorsTest, ModelsOfKerasAreRefusedByOurErrors) {
  const nn::Config keras =
      nn::Config::parse(R"({"class_name": "Functional", "config": {
    "name": "m", "trainable": true, "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_shape":
     [null, 4], "dtype": "float32", "name": "x"}, "inbound_nodes": []},
    {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 2,
     "activation": "linear"}, "inbound_nodes": [{"args": [{"class_name":
     "__keras_tensor__", "config": {"shape": [null, 4], "dtype": "float32",
     "keras_history": ["x", 0, 0]}}], "kwargs": {}}]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})");
  model_from_json(keras.to_json());
  int refused = 0;
  withDamages(keras, [&](const nn::Config &config) {
    refused +=
        isRefused([&] { model_from_json(config.to_json()); }, config.to_json());
  });
  EXPECT_GT(refused, 50);
}

template <typename T>
concept NamesFiles = requires(T name) { data::FileNames{name}; };
static_assert(!NamesFiles<std::nullptr_t>);
static_assert(NamesFiles<const char *> && NamesFiles<std::string>);

TEST(ForeignErrorsTest, NullNamesOfFilesAreRefused) {
  const char *none = nullptr;
  EXPECT_ERROR(data::FileNames{none}, HAS("a file's name"));
  EXPECT_ERROR((data::FileNames{"a", none}), HAS("a file's name"));
  EXPECT_EQ(data::FileNames({"a", "b"}).paths.size(), 2u);
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks beside tensors: who makes them, passes them on and goes by them; layers
// of sequences with states and dropout; operators on symbolic tensors.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include "meshloom/Data/Safetensors.h"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace meshloom {
namespace {

Tensor mask(std::initializer_list<int> counts, const Shape &shape) {
  return tensor(std::vector<int32_t>(counts.begin(), counts.end()), shape) > 0;
}

std::vector<bool> maskOf(const Tensor &x) {
  return get_mask(x).to_vector<bool>();
}

TEST(MasksTest, GoFromLayerToLayer) {
  using namespace layers;
  const Tensor ids = tensor({1, 2, 0, 3, 0, 0}, {2, 3});
  const std::vector<bool> expected{true, true, false, true, false, false};
  Tensor x = Embedding(4, 2, {.mask_zero = true})(ids);
  EXPECT_EQ(maskOf(x), expected);
  EXPECT_EQ(maskOf(Dropout(0.5)(Dense(3)(x))), expected);
  EXPECT_EQ(maskOf(LSTM(2, {.return_sequences = true})(x)), expected);
  EXPECT_FALSE(get_mask(LSTM(2)(x)).defined());
  EXPECT_FALSE(get_mask(Flatten()(x)).defined());
  EXPECT_FALSE(get_mask(x + 1).defined());
  EXPECT_EQ(
      maskOf(Concatenate(1)({x, ones({2, 1, 2})})),
      (std::vector<bool>{true, true, false, true, true, false, false, true}));
  EXPECT_EQ(maskOf(Masking()(tensor({1.f, 0.f, 0.f, 0.f}, {1, 2, 2}))),
            (std::vector<bool>{true, false}));
  // A mean over what counts; the first example has one step more.
  Tensor values = tensor({1.f, 3.f, 8.f, 5.f, 7.f, 9.f}, {2, 3, 1});
  set_mask(values, get_mask(x));
  expectNear(GlobalAveragePooling1D()(values), {2, 5});
  EXPECT_ERROR(set_mask(values, mask({1, 0, 1, 0}, {2, 2})),
               HAS("a mask of type i1 of the first dims of f32 [2, 3, 1]"));
}

TEST(MasksTest, LossesLeaveOutWhatIsMasked) {
  const Tensor t = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3, 1});
  const Tensor p = tensor({1.5f, 2.f, 2.f, 4.f, 4.f, 9.f}, {2, 3, 1});
  set_mask(p, mask({1, 1, 0, 0, 1, 0}, {2, 3}));
  expectNear(losses::MeanSquaredError()(t, p), {(0.25 + 0 + 1) / 3});
  expectNear(losses::MeanSquaredError({.reduction = "sum"})(t, p), {1.25});
  expectNear(losses::MeanSquaredError()(t, p, tensor({1.f, 3.f})),
             {(0.25 + 3) / 3});
}

TEST(MasksTest, AQueryWithoutKeysIsNoNan) {
  Tensor x = sample({1, 3, 4});
  layers::MultiHeadAttention attention(2, 2, {.value_dim = 3});
  Tensor none = attention(x, {.mask = mask({0, 0, 0}, {1, 1, 3})});
  for (float value : none.to_vector<float>())
    EXPECT_EQ(value, value);
  EXPECT_EQ(attention.variable("output").shape(), (Shape{2, 3, 4}));
  // Keys that are masked are not seen: their values do not matter.
  Tensor same = x * 1.f,
         other = where(tensor({true, true, false}, {1, 3, 1}), x, 9.f);
  for (const Tensor &masked : {same, other})
    set_mask(masked, mask({1, 1, 0}, {1, 3}));
  expectSame(attention(std::vector{x, other}), attention(std::vector{x, same}));
}

TEST(MasksTest, StatesStayFromBatchToBatch) {
  layers::GRU gru(2, {.stateful = true});
  Tensor x = sample({2, 4, 3});
  gru(x);
  gru.reset_states();
  Tensor first = gru(slice(x, {0, 0, 0}, {-1, 2, -1}));
  Tensor second = gru(slice(x, {0, 2, 0}, {-1, 2, -1}));
  gru.reset_states();
  expectNear(second, gru(x).to_vector<double>());
  EXPECT_ERROR(gru(sample({3, 4, 3})), HAS("batches of 2 examples, got 3"));
  EXPECT_ERROR(layers::LSTM(2).reset_states(), HAS(".stateful = true"));
}

// Each replica goes on from the states of its own examples.
TEST(MasksTest, StatesStayInReplicas) {
  const std::vector<DeviceSpec> devices = virtual_cpus(2);
  const MirroredStrategy strategy(devices);
  auto scope = strategy.scope();
  const layers::GRU gru(2, {.stateful = true}), whole(2);
  const Tensor x = sample({4, 4, 3});
  std::vector<Tensor> values;
  auto run = [&](const Tensor &steps) {
    for (const auto &rows : strategy.experimental_distribute_dataset(
             data::from_tensor_slices(steps).batch(4)))
      values.push_back(strategy.gather(
          strategy.run([&](const Tensor &part) { return gru(part); }, rows),
          0));
  };
  for (int times = 0; times < 2; ++times) {
    run(slice(x, {0, 0, 0}, {-1, 2, -1}));
    run(slice(x, {0, 2, 0}, {-1, 2, -1}));
    gru.reset_states();
  }
  whole(x);
  whole.set_weights(gru.get_weights());
  for (size_t i : {1, 3})
    expectNear(values[i], whole(x).to_vector<double>());
}

// In training only, and the same steps of one call.
TEST(MasksTest, RecurrentLayersDrop) {
  layers::LSTM lstm(3, {.dropout = 0.5,
                        .recurrent_dropout = 0.5,
                        .seed = 4,
                        .return_sequences = true});
  Tensor x = sample({2, 4, 3});
  const std::vector<float> plain = lstm(x).to_vector<float>();
  EXPECT_EQ(lstm(x).to_vector<float>(), plain);
  EXPECT_NE(lstm(x, {.training = true}).to_vector<float>(), plain);
  EXPECT_ERROR(layers::GRU(2, {.dropout = 1}), HAS("[0, 1), got 1"));
}

TEST(SymbolicTest, OperatorsAreLayers) {
  SymbolicTensor x = Input({4}), y = Input({4});
  SymbolicTensor z = (1 - x) * y / 2 + 3;
  Model model({x, y}, {z, -x(all, range(1, 3)), z[all] - 1});
  const Tensor a = tensor({1.f, 2.f, 3.f, 4.f}, {1, 4}), b = full({1, 4}, 2.f);
  Model again(Layer::from_config(nn::Config::parse(model.config().to_json())));
  for (const Model &copy : {model, again}) {
    std::vector<Tensor> results = copy.call_many({a, b});
    expectNear(results[0], {3, 2, 1, 0});
    expectNear(results[1], {-2, -3});
    expectNear(results[2], {2, 1, 0, -1});
  }
  EXPECT_ERROR(x + Input({3}), HAS("[None, 4]"));
  EXPECT_ERROR(SymbolicTensor() * 2, HAS("got an empty one"));
}

std::string textOf(const std::string &name) {
  std::ifstream file(std::string(MESHLOOM_SOURCE) + "/test/NN/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Embedding with a mask, Bidirectional(LSTM), causal attention, operators,
// pooling, a shared layer: as Keras 3.15 wrote it, and its numbers.
TEST(KerasModelTest, ModelsOfKerasGiveItsNumbers) {
  Model model = model_from_json(textOf("keras_model.json"));
  const char *paths[] = {"embedding/embeddings",
                         "both/forward_lstm/lstm_cell/kernel",
                         "both/forward_lstm/lstm_cell/recurrent_kernel",
                         "both/forward_lstm/lstm_cell/bias",
                         "both/backward_lstm/lstm_cell/kernel",
                         "both/backward_lstm/lstm_cell/recurrent_kernel",
                         "both/backward_lstm/lstm_cell/bias",
                         "attention/query/kernel",
                         "attention/query/bias",
                         "attention/key/kernel",
                         "attention/key/bias",
                         "attention/value/kernel",
                         "attention/value/bias",
                         "attention/attention_output/kernel",
                         "attention/attention_output/bias",
                         "dense/kernel",
                         "dense/bias"};
  const std::vector<DVariable> weights = model.weights();
  ASSERT_EQ(weights.size(), std::size(paths));
  data::NamedTensors file;
  for (size_t k = 0; k < weights.size(); ++k) {
    const Shape &shape = weights[k].shape();
    file[paths[k]] =
        reshape(meshloom::sin(arange(double(elementCount(shape))) * 0.7 +
                              double(k + 1)) *
                    0.5,
                shape);
  }
  const test::TemporaryFolder folder;
  const std::filesystem::path path = folder / "keras.safetensors";
  data::save_safetensors(path, file);
  load_keras_weights(model, path);
  const Tensor ids =
      tensor({1, 2, 3, 4, 5, 5, 4, 0, 0, 0, 2, 0, 3, 1, 0}, {3, 5});
  std::vector<Tensor> results =
      function([&](const Tensor &x) { return model.call_many({x}); })(ids);
  // The last steps of the other rows are masked: their results differ.
  expectNear(slice(results[0], {0, 0}, {1, 2}), {-0.84568036, -0.86567855});
  expectNear(slice(results[1], {0, 0}, {1, 2}), {1.84406805, 1.86564970});
  file.erase("dense/bias");
  data::save_safetensors(path, file);
  EXPECT_ERROR(load_keras_weights(model, path), HAS("'dense/bias' is missing"));
}

TEST(KerasModelTest, UnknownLayersAndOptionsAreRefused) {
  auto layer = [](const std::string &className, const std::string &options) {
    return R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
      {"class_name": "InputLayer", "config": {"batch_shape": [null, 4],
       "dtype": "float32", "name": "x"}},
      {"class_name": ")" +
           className + R"(", "config": {"name": "l")" + options + "}}]}}";
  };
  EXPECT_EQ(model_from_json(layer("Dense", R"(, "units": 3)")).count_params(),
            15);
  EXPECT_ERROR(model_from_json(layer("Hashing", "")), HAS("Hashing 'l'"));
  EXPECT_ERROR(model_from_json(layer("Dense", R"(, "units": 3, "groups": 2)")),
               HAS("Dense 'l': its option 'groups' = 2 is not known here"));
  EXPECT_ERROR(
      model_from_json(R"({"class_name": "Net", "config": {"name": "n"}})"),
      HAS("a subclassed model"));
}

} // namespace
} // namespace meshloom

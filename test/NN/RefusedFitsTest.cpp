// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Input that does not fit the model is refused by compile, fit and evaluate,
// and nothing has changed then.
#include "../TemporaryFolder.h"
#include "Fits.h"

#include "meshloom/NN/Training/Callbacks.h"

#include <cmath>

namespace meshloom {
namespace {

using RefusedFitsInFolderTest = test::TemporaryFolderTest;

TEST(RefusedFitsTest, ChangeNothing) {
  Sequential model({Input({1}), layers::Dense(1)});
  const Tensor x = ones({4, 1});
  EXPECT_ERROR(model.fit(x, x), HAS("not compiled"));
  EXPECT_ERROR(model.compile({.optimizer = "sgdd"}), HAS("'SGD'"));
  EXPECT_ERROR(model.compile({.loss = "msee"}), HAS("'mse'"));
  EXPECT_ERROR(model.compile({.steps_per_execution = 0}), HAS("got 0"));
  model.compile({.loss = "mse"});
  EXPECT_ERROR(model.fit(x, x), HAS("without an optimizer"));
  model.compile({.optimizer = "sgd", .loss = "mse", .check_numerics = true});
  EXPECT_ERROR(model.fit(data::from_tensors(tensor(1.f), tensor(1.f)), silent),
               HAS("call batch()"));
  EXPECT_ERROR(model.fit(data::from_tensor_slices(ones({4, 2}), x), silent),
               HAS("call batch()"));
  EXPECT_ERROR(model.fit(x, cast(x, DType::C64), silent), HAS("real numbers"));
  Sequential withoutInput({layers::Dense(1)});
  withoutInput.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_ERROR(withoutInput.fit(cast(x, DType::I32), x, silent), HAS("[Dense]"),
               HAS("cast it first"));
  EXPECT_ERROR(initializers::Initializer("glorot"), HAS("'glorot_uniform'"));
  EXPECT_ERROR(model.fit(x, ones({3, 1}), silent), HAS("equally many rows"));
  EXPECT_ERROR(model.fit(ofOnes(4, 2), {.batch_size = 2}), HAS("batch_size"));
  EXPECT_ERROR(model.fit(ofOnes(4, 2).repeat(), silent),
               HAS("repeats without end"));
  EXPECT_ERROR(model.fit(ones({4, 3}), x, silent),
               HAS("expected an input [None, 1]"));
  EXPECT_ERROR(model.fit(x, tensor({"none"[0], 'b', 'c', 'd'}, {2, 2}), silent),
               HAS("equally many rows"));
  EXPECT_ERROR(model.fit(x, ones({4, 1, 5}), silent), HAS("[4, 1, 5]"));
  EXPECT_ERROR(model.fit(x, silent), HAS("labels"));
  EXPECT_ERROR(model.fit(full({4, 1}, INFINITY), x, silent), HAS("nan"));
  EXPECT_ERROR(model.fit(x, x, {.validation_split = 1.5}), HAS("1.5"));
  EXPECT_ERROR(model.set_learning_rate(std::nan("")),
               HAS("0 or more, got nan"));
  EXPECT_ERROR(
      model.fit(x, x, {.verbose = 0, .class_weight = {{0, std::nan("")}}}),
      HAS("for label 0"));
  EXPECT_ERROR(callbacks::EarlyStopping({.patience = -1}), HAS("patience"));
  EXPECT_ERROR(callbacks::TensorBoard({.update_freq = -1}), HAS("update_freq"));
  auto noRate = [](int64_t) { return std::nan(""); };
  EXPECT_ERROR(
      model.fit(x, x,
                {.verbose = 0,
                 .callbacks = {callbacks::LearningRateScheduler(noRate)}}),
      HAS("[LearningRateScheduler]"), HAS("epoch 0"));
}

// Each batch is looked at, not the first one alone.
TEST(RefusedFitsTest, LabelsMustBeAsManyAsOutputs) {
  SymbolicTensor x = Input({2});
  Model model(x, {layers::Dense(1)(x), layers::Dense(2)(x)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor inputs = ones({4, 2}), one = ones({4, 1}), two = ones({4, 2});
  const std::vector<Tensor> both{one, two};
  model.fit(inputs, both, silent);
  model.evaluate(inputs, both, silently);
  const auto tooFew = HAS("each of the model's 2 outputs, got 1");
  EXPECT_ERROR(model.fit(inputs, one, silent), HAS("[fit]"), tooFew);
  EXPECT_ERROR(model.evaluate(inputs, one, silently), HAS("[evaluate]"),
               tooFew);
  model.fit(inputs, both, silent);
}

// Nothing has changed then, under any strategy; validation data are looked at
// before the first step.
TEST_F(RefusedFitsInFolderTest, UnderEveryStrategy) {
  const std::vector<DeviceSpec> devices = virtual_cpus(3);
  const std::filesystem::path another = folder / "another";
  save_weights(Sequential({Input({2}), layers::Dense(2, {.name = "other"})}),
               another);
  for (const Strategy &strategy : {Strategy(MirroredStrategy(devices)),
                                   Strategy(CentralStorageStrategy(devices)),
                                   Strategy(OneDeviceStrategy(devices.front())),
                                   Strategy(TPUStrategy(devices))}) {
    SCOPED_TRACE(strategy.name());
    auto scope = strategy.scope();
    Sequential model({Input({2}), layers::Dense(3, {.name = "classes"})});
    model.compile(
        {.optimizer = optimizers::SGD(0.1),
         .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
         .metrics = {"accuracy"},
         .check_numerics = true});
    const std::vector<float> before = model.get_weights()[0].to_vector<float>();
    const Tensor x = ones({7, 2}), y = zeros({7}, DType::I32),
                 wrong = zeros({7, 5}, DType::I32);
    const auto fits = data::from_tensor_slices(x, y);
    EXPECT_ERROR(model.fit(fits, silent), HAS("call batch()"));
    EXPECT_ERROR(model.fit(x, wrong, silent), HAS("[7, 5]"),
                 HAS("in the loss of the model's output of layer 'classes'"),
                 HAS("RefusedFitsTest.cpp:")); // compile's line
    EXPECT_ERROR(model.fit(x, cast(y, DType::C64), silent),
                 HAS("numbers of classes"));
    EXPECT_ERROR(model.fit(fits.batch(4),
                           {.verbose = 0,
                            .validation_data =
                                data::from_tensor_slices(x, wrong).batch(4)}),
                 HAS("[fit] validation_data do not fit"), HAS("[4, 5]"));
    EXPECT_ERROR(model.fit(ones({7, 4}), y, silent),
                 HAS("expected an input [None, 2]"));
    EXPECT_ERROR(model.fit(full({7, 2}, INFINITY), y, silent),
                 HAS("classes: in 'dot_general'"));
    EXPECT_ERROR(model.compile({.optimizer = "adan", .loss = "mse"}),
                 HAS("adam"));
    const layers::Dense dense(3);
    dense(x);
    EXPECT_ERROR(dense(ones({7, 4})),
                 HAS("expected an input [..., 2], as it was built for"));
    EXPECT_ERROR(load_weights(model, another), HAS("model/other/kernel"),
                 HAS("model/classes/kernel"));
    EXPECT_EQ(model.get_weights()[0].to_vector<float>(), before);
    // A dataset may end before an epoch does: this epoch is the last one.
    std::string log;
    Logger logger =
        set_logger([&](LogLevel, std::string_view text) { log += text; });
    const History history = model.fit(
        fits.batch(4), {.epochs = 3, .verbose = 0, .steps_per_epoch = 3});
    set_logger(logger);
    EXPECT_EQ(history.epoch.size(), 1u);
    EXPECT_THAT(log, HAS("2 of 3 batches of epoch 1"));
  }
}

} // namespace
} // namespace meshloom

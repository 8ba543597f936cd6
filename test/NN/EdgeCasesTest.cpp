// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Edge cases of layers and training, and objects that were moved from: each
// computes the right result, or throws an Error that says what to do.
#include "../API/Testing.h"
#include "../TemporaryFolder.h"

#include "meshloom/NN/Training/Preemption.h"
#include "meshloom/NN/Training/TensorBoard.h"

#include <limits>

namespace meshloom {
namespace {

using test::TemporaryFolderTest;

class MovedFromTest : public TemporaryFolderTest {};

TEST_F(MovedFromTest, MovedFromCheckpointsAreErrors) {
  int64_t number = 1;
  Checkpoint checkpoint({{"number", &number}});
  Checkpoint taken = std::move(checkpoint);
  const auto says = HAS(
      "[Checkpoint] this one was moved from: use the one that it was moved");
  EXPECT_ERROR(checkpoint.variables(), says);
  EXPECT_ERROR(checkpoint.write(folder / "a"), says);
  EXPECT_ERROR(checkpoint.save(folder / "a"), says);
  EXPECT_ERROR(checkpoint.wait(), says);
  EXPECT_ERROR(checkpoint.restore(folder / "a"), says);
  EXPECT_ERROR(checkpoint.save_counter(), says);
  EXPECT_EQ(taken.save_counter(), 0);

  CheckpointManager manager(taken, folder / "managed");
  CheckpointManager other = std::move(manager);
  const auto managed = HAS("[CheckpointManager] this one was moved from");
  EXPECT_ERROR(manager.save(), managed);
  EXPECT_ERROR(manager.wait(), managed);
  EXPECT_ERROR(manager.restore_or_initialize(), managed);
  EXPECT_ERROR(manager.latest_checkpoint(), managed);
  EXPECT_ERROR(manager.checkpoints(), managed);
  EXPECT_ERROR(manager.directory(), managed);
  EXPECT_ERROR(manager.checkpoint(), managed);
  EXPECT_EQ(other.checkpoints().size(), 0u);
  EXPECT_ERROR(CheckpointManager(std::move(checkpoint), folder / "b").save(),
               says);
}

TEST_F(MovedFromTest, MovedFromTrainingObjectsAreErrors) {
  SummaryWriter writer(folder / "logs"), taken = std::move(writer);
  const auto says = HAS("[SummaryWriter] this one was moved from");
  EXPECT_ERROR(writer.scalar("a", 1, 1), says);
  EXPECT_ERROR(writer.histogram("a", ones({2}), 1), says);
  EXPECT_ERROR(writer.flush(), says);
  EXPECT_ERROR(writer.path(), says);
  taken.scalar("a", std::numeric_limits<double>::infinity(), -1);
  taken.flush();

  Model model = Sequential({Input({2}), layers::Dense(1)});
  Model other = std::move(model);
  const auto empty = HAS("empty");
  EXPECT_FALSE(model.defined());
  EXPECT_ERROR(model(ones({1, 2})), empty);
  EXPECT_ERROR(model.variables(), empty);
  EXPECT_ERROR(model.compile({.optimizer = "sgd", .loss = "mse"}), empty);
  EXPECT_ERROR(model.fit(ones({1, 2}), ones({1, 1})), empty);
  EXPECT_ERROR(model.predict(ones({1, 2})), empty);
  EXPECT_ERROR(save(model, folder / "m"), empty);
  EXPECT_ERROR(Sequential({model}), empty);
  EXPECT_EQ(other(ones({1, 2})).shape(), (Shape{1, 1}));

  metrics::Mean mean, moved = std::move(mean);
  EXPECT_ERROR(mean.update_state(ones({2})), empty);
  EXPECT_ERROR(mean.result(), empty);
  EXPECT_ERROR(mean.reset_state(), empty);
}

TEST(EdgeCasesTest, BatchesWithoutRows) {
  layers::Dense dense(3);
  EXPECT_EQ(dense(zeros({0, 2})).shape(), (Shape{0, 3}));
  layers::BatchNormalization norm;
  Tensor y = norm(zeros({0, 2}), {.training = true});
  EXPECT_EQ(y.shape(), (Shape{0, 2}));
  Model model = Sequential({Input({2}), layers::Dense(1)});
  EXPECT_EQ(model(zeros({0, 2})).shape(), (Shape{0, 1}));
  EXPECT_ERROR(model.predict(zeros({0, 2})), HAS("got an empty dataset"));
  model.compile({.optimizer = "sgd", .loss = "mse"});
  EXPECT_ERROR(model.fit(zeros({0, 2}), zeros({0, 1})), HAS("[fit]"));
}

TEST(EdgeCasesTest, RanksThatLayersDoNotTake) {
  EXPECT_ERROR(layers::Dense(3)(tensor(1.f)), HAS("dense"));
  EXPECT_ERROR(layers::Conv2D(3, 3)(ones({2, 3})), HAS("conv2d"));
  EXPECT_ERROR(layers::LSTM(3)(ones({2, 3})), HAS("lstm"));
  EXPECT_ERROR(layers::Dense(0), HAS("units"));
  EXPECT_ERROR(layers::Dense(-1), HAS("units"));
  EXPECT_ERROR(layers::Dropout(1.5), HAS("1.5"));
  EXPECT_ERROR(layers::Dropout(std::nan("")), HAS("nan"));
}

TEST(EdgeCasesTest, SizesThatOverflow) {
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  const auto tooLarge = HAS("a shape of at most 144115188075855871 elements");
  EXPECT_ERROR(layers::Dense(most), HAS("units of at most 2147483647"));
  EXPECT_ERROR(zeros({most, most}), tooLarge);
  EXPECT_ERROR(layers::Reshape({most, most})(ones({2, 4})), HAS("reshape"));
  EXPECT_ERROR(layers::ZeroPadding2D(most)(ones({1, 2, 2, 1})),
               HAS("zero_padding2d"));
  EXPECT_ERROR(layers::RepeatVector(most)(ones({2, 4})), tooLarge);
  EXPECT_ERROR(layers::Embedding(most, 2), HAS("input_dim of at most"));
}

TEST(EdgeCasesTest, DeepModelsOnOneDeviceAndOnThree) {
  set_random_seed(7);
  auto train = [](const Strategy &strategy) {
    set_random_seed(7);
    auto scope = strategy.scope();
    std::vector<SequentialPart> parts{Input({5})};
    for (int i = 0; i < 24; ++i)
      parts.push_back(layers::Dense(5, {.activation = "tanh"}));
    Model model = Sequential(parts);
    model.compile({.optimizer = optimizers::SGD(0.1), .loss = "mse"});
    model.fit(sample({7, 5}), sample({7, 5}, 2),
              {.batch_size = 7, .epochs = 2, .verbose = 0});
    return model.get_weights();
  };
  const std::vector<Tensor> one = train(OneDeviceStrategy("CPU:0"));
  const std::vector<Tensor> three =
      train(MirroredStrategy({"CPU:0", "CPU:1", "CPU:2"}));
  ASSERT_EQ(one.size(), 48u);
  for (size_t i = 0; i < one.size(); ++i)
    expectSame(three[i], one[i]);
}

TEST(EdgeCasesTest, NamesWithOddCharacters) {
  layers::Dense dense(2, {.name = "größe \"1\"\n"});
  dense(ones({1, 3}));
  EXPECT_EQ(dense.name(), "größe \"1\"\n");
  Model model = Sequential({Input({3}), dense});
  Model again(Layer::from_config(nn::Config::parse(model.config().to_json())));
  EXPECT_EQ(again.layers()[0].name(), dense.name());
  EXPECT_ERROR(layers::Dense(2, {.name = "a/b"}), HAS("'a/b'"));
}

} // namespace
} // namespace meshloom

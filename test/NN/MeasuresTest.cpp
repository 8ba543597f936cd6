// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The training programs of TensorFlow's guides, small, under every synchronous
// strategy and as DTensor: after 20 steps their losses are those of one device,
// to the bit in the deterministic mode.
#include "../API/Testing.h"

#include <cstring>
#include <optional>

namespace meshloom::measures {
namespace {

using Batch = std::pair<Tensor, Tensor>;
using Losses = std::vector<float>;

/// Where a program runs.
struct Place {
  std::string strategy;
  int64_t replicas;
};

const std::vector<Place> everywhere = {
    {"one_device", 1}, {"mirrored", 1}, {"mirrored", 2}, {"mirrored", 3},
    {"mirrored", 8},   {"central", 2},  {"central", 3},  {"central", 8},
    {"tpu", 2},        {"tpu", 3},      {"tpu", 8},      {"dtensor", 2},
    {"dtensor", 3},    {"dtensor", 8}};
/// The places for programs that take long to compile: one of each kind and
/// number.
const std::vector<Place> someOfAll = {
    {"one_device", 1}, {"mirrored", 2}, {"mirrored", 3}, {"mirrored", 8},
    {"central", 3},    {"tpu", 8},      {"dtensor", 2},  {"dtensor", 8}};

/// The strategy of a place, entered. The strategy of "dtensor" is the default
/// one, on a mesh of one axis.
class Entered {
public:
  explicit Entered(const Place &place) : strategy(strategyOf(place)) {
    if (place.strategy == "dtensor") {
      mesh = create_mesh({{"batch", place.replicas}},
                         virtual_cpus(place.replicas));
      meshScope.emplace(*mesh);
    } else if (place.strategy != "default") {
      scope.emplace(strategy);
    }
  }

  const Strategy strategy;

  /// Returns the input of your own training loop: all rows, cut.
  data::Dataset<PerReplica<Batch>> distributed(data::Dataset<Batch> rows,
                                               const Batch &like) const {
    if (mesh) {
      auto cut = [&](const Tensor &tensor) {
        return Layout::batch_sharded(*mesh, "batch", unsigned(tensor.rank()));
      };
      rows = rows.prefetch(2, {cut(like.first), cut(like.second)});
    }
    return strategy.experimental_distribute_dataset(rows);
  }

private:
  static Strategy strategyOf(const Place &place) {
    const std::vector<DeviceSpec> devices = virtual_cpus(place.replicas);
    if (place.strategy == "mirrored")
      return MirroredStrategy(devices);
    if (place.strategy == "central")
      return CentralStorageStrategy(devices);
    if (place.strategy == "tpu")
      return TPUStrategy(devices);
    if (place.strategy == "one_device")
      return OneDeviceStrategy(devices.front());
    return get_strategy();
  }

  std::optional<Mesh> mesh;
  std::optional<StrategyScope> scope;
  std::optional<DefaultMeshScope> meshScope;
};

/// Numbers that no sum of which is exact.
Tensor numbers(const Shape &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return reshape(sin(cast(iota({count}, 0), DType::F32) + 1), shape);
}

Tensor classes(int64_t count, int64_t kinds) {
  return cast(iota({count}, 0, DType::I32) * 7 % int32_t(kinds), DType::I32);
}

/// The losses of 20 steps of fit.
Losses fitted(Model model, const Batch &rows, int64_t batch) {
  const auto dataset =
      data::from_tensor_slices(rows.first, rows.second).batch(batch).repeat();
  const History history =
      model.fit(dataset, {.epochs = 20, .verbose = 0, .steps_per_epoch = 1});
  Losses losses;
  for (double loss : history["loss"])
    losses.push_back(float(loss));
  return losses;
}

/// 20 steps of `model` by strategy.run, each on `batch` of the rows.
template <typename LossOf>
Losses looped(const Entered &in, const Model &model,
              const optimizers::Optimizer &optimizer, const Batch &rows,
              int64_t batch, LossOf lossOf) {
  auto trainStep = [&](const Batch &inputs) {
    GradientTape tape;
    const Tensor loss = lossOf(inputs, model(inputs.first, {.training = true}));
    optimizer.apply_gradients(tape.gradient(loss, model.trainable_variables()));
    return loss;
  };
  auto step = function([&](const PerReplica<Batch> &inputs) {
    return in.strategy.reduce(ReduceOp::SUM,
                              in.strategy.run(trainStep, inputs));
  });
  Losses losses;
  const auto dataset =
      data::from_tensor_slices(rows.first, rows.second).batch(batch).repeat();
  auto iterator = in.distributed(dataset, rows).iterate();
  for (int number = 0; number < 20; ++number)
    losses.push_back(step(iterator.get_next()).template item<float>());
  return losses;
}

//===-- The programs ------------------------------------------------------===//

Losses line(const Entered &) {
  Sequential model({Input({1}), layers::Dense(1)});
  model.compile({.optimizer = optimizers::SGD(0.01), .loss = "mse"});
  return fitted(model, {numbers({40, 1}), numbers({40, 1}) * 2}, 10);
}

/// 13 rows, which no number of replicas divides, and 24, which all do.
template <int64_t batch> Losses lineLoop(const Entered &in) {
  Sequential model({Input({1}), layers::Dense(1)});
  const auto crossentropy =
      losses::BinaryCrossentropy({.from_logits = true, .reduction = "none"});
  return looped(in, model, optimizers::SGD({.learning_rate = 0.1}),
                {numbers({2 * batch, 1}),
                 cast(classes(2 * batch, 2), DType::F32)(all, newaxis)},
                batch, [&](const Batch &inputs, const Tensor &predictions) {
                  return nn::compute_average_loss(
                      crossentropy(inputs.second, predictions),
                      {.global_batch_size = batch});
                });
}

Losses digits(const Entered &) {
  const SymbolicTensor inputs = Input({40});
  SymbolicTensor x = layers::Dense(24, {.activation = "relu"})(inputs);
  x = layers::Dense(24, {.activation = "relu"})(x);
  Model model(inputs, layers::Dense(10)(x));
  model.compile(
      {.optimizer = optimizers::Adam(),
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
       .metrics = {metrics::SparseCategoricalAccuracy()}});
  return fitted(model, {numbers({60, 40}), classes(60, 10)}, 32);
}

Sequential convolutions() {
  const auto l2 = regularizers::L2(1e-3);
  return Sequential(
      {Input({8, 8, 1}),
       layers::Conv2D(4, 3, {.activation = "relu", .kernel_regularizer = l2}),
       layers::Conv2D(4, 3, {.activation = "relu", .kernel_regularizer = l2}),
       layers::Flatten(),
       layers::Dense(16, {.activation = "relu", .kernel_regularizer = l2}),
       layers::Dense(10, {.kernel_regularizer = l2})});
}

Losses images(const Entered &) {
  Sequential model = convolutions();
  model.compile(
      {.optimizer = "adam",
       .loss = losses::SparseCategoricalCrossentropy({.from_logits = true})});
  return fitted(model, {numbers({26, 8, 8, 1}), classes(26, 10)}, 13);
}

Losses imagesLoop(const Entered &in) {
  constexpr int64_t batch = 24;
  Sequential model = convolutions();
  const auto crossentropy = losses::SparseCategoricalCrossentropy(
      {.from_logits = true, .reduction = "none"});
  return looped(
      in, model, optimizers::Adam(), {numbers({48, 8, 8, 1}), classes(48, 10)},
      batch, [&](const Batch &inputs, const Tensor &logits) {
        Tensor loss = nn::compute_average_loss(
            crossentropy(inputs.second, logits), {.global_batch_size = batch});
        Tensor penalty = tensor(0.f);
        for (const Tensor &term : model.losses())
          penalty = penalty + term;
        return loss + nn::scale_regularization_loss(penalty);
      });
}

struct Program {
  const char *name;
  Losses (*run)(const Entered &);
  const std::vector<Place> &places;
};
void PrintTo(const Program &program, std::ostream *to) {
  *to << program.name;
}

class MeasuresTest : public testing::TestWithParam<Program> {
protected:
  void TearDown() override { enable_op_determinism(false); }
  static Losses lossesAt(const Place &place) {
    const Entered in(place);
    set_random_seed(5);
    return GetParam().run(in);
  }
};

TEST_P(MeasuresTest, LossesAreThoseOfOneDevice) {
  const Losses alone = lossesAt({"default", 1});
  for (const Place &place : GetParam().places) {
    const Losses got = lossesAt(place);
    for (size_t step = 0; step < 20; ++step)
      EXPECT_NEAR(got[step], alone[step], 1e-5 * std::abs(alone[step]))
          << place.strategy << " " << place.replicas << ", step " << step;
  }
}

TEST_P(MeasuresTest, DeterministicLossesHaveTheBitsOfOneProcess) {
  enable_op_determinism(true);
  const Losses alone = lossesAt({"default", 1});
  for (const Place &place : GetParam().places) {
    const Losses got = lossesAt(place);
    size_t same = 0;
    while (same < 20 && !std::memcmp(&got[same], &alone[same], sizeof(float)))
      ++same;
    EXPECT_EQ(same, 20u) << place.strategy << " " << place.replicas << ": step "
                         << same << " differs, " << got[same] << " and "
                         << alone[same];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Programs, MeasuresTest,
    testing::Values(Program{"Line", line, everywhere},
                    Program{"LineLoop", lineLoop<24>, everywhere},
                    Program{"UnevenLineLoop", lineLoop<13>, everywhere},
                    Program{"Digits", digits, someOfAll},
                    Program{"Images", images, someOfAll},
                    Program{"ImagesLoop", imagesLoop, someOfAll}),
    [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace meshloom::measures

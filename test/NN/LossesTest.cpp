// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses against Keras, with gradients; reductions and weights; layouts; what
// does not fit.
#include "Samples.h"

namespace meshloom {
namespace {

using losses::Loss;

/// Probabilities that are no classes.
Tensor shares() {
  return tensor({{0.f, 1.f, 0.f}, {0.2f, 0.3f, 0.5f}});
}

struct LossCase {
  Loss loss;
  Tensor y_true, y_pred;
  // Keras 3.15 on JAX, f32: of each example, and the gradient of the weighted
  // mean with respect to predictions.
  std::vector<double> values, gradient;
};

std::vector<LossCase> lossCases() {
  using namespace losses;
  const Tensor p = probabilities(), z = logits(), hot = oneHot(), t = shares();
  return {
      {"mse",
       t,
       p,
       {0.04666667, 0.006666667},
       {0.01666667, -0.05, 0.03333334, 0.06666668, -0, -0.06666666}},
      {"MeanAbsoluteError",
       t + 0.01f,
       p,
       {0.2 - 0.01 / 3, 0.06666667 + 0.01 / 3},
       {0.08333334, -0.08333334, 0.08333334, 0.3333333, -0.3333333,
        -0.3333333}},
      {"mape",
       t + 1.f,
       p,
       {78.33333, 75.08546},
       {-8.333334, -4.166667, -8.333334, -27.77778, -25.64103, -22.22222}},
      {"msle",
       t,
       p,
       {0.02291251, 0.003722281},
       {0.01444092, -0.01593323, 0.02532243, 0.04104751, 0, -0.03285376}},
      {"bce",
       t,
       p,
       {0.228393, 0.6168524},
       {0.0925926, -0.1190476, 0.1041667, 0.1587302, 0, -0.1388889}},
      {BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1}),
       hot,
       z,
       {0.4475656, 0.6276129},
       {0.01103546, -0.005766909, 0.04370354, 0.1985521, 0.1171041,
        -0.06657996}},
      {BinaryFocalCrossentropy({.apply_class_balancing = true}),
       hot,
       p,
       {0.005169899, 0.0435391},
       {0.002011452, -0.007137009, 0.008703588, 0.08564411, 0.08564411,
        -0.1666291}},
      {"categorical_crossentropy",
       t,
       p,
       {0.356675, 1.060132},
       {0.25, -0.1071429, 0.25, 0.3333334, 0, -0.25}},
      {CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.1}),
       hot,
       z,
       {0.3663318, 0.6707973},
       {-0.002109024, -0.02721252, 0.02932154, 0.2981656, 0.08861832,
        -0.386784}},
      {"SparseCategoricalCrossentropy",
       classes(),
       p,
       {0.356675, 0.9162907},
       {0.25, -0.1071429, 0.25, 1, 1, -1.5}},
      {SparseCategoricalCrossentropy({.from_logits = true}),
       expand_dims(classes(), -1),
       z,
       {0.1929984, 0.6041306},
       {0.00622431, -0.04387918, 0.03765488, 0.331499, 0.1219517, -0.4534506}},
      {SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = 1}),
       classes(),
       z,
       {0, 0.6041306},
       {0, 0, 0, 0.6629979, 0.2439033, -0.9069012}},
      {Huber({.delta = 0.5}),
       t,
       z,
       {0.3483333, 0.16},
       {-0.04166667, 0.04166667, 0.025, 0.1333334, -0.1666667, 0.1666667}},
      {"log_cosh",
       t,
       z,
       {0.4445206, 0.158453},
       {-0.07542903, 0.06346618, 0.02427606, 0.1266497, -0.201456, 0.1790165}},
      {"hinge",
       hot,
       z,
       {0.4333333, 0.7333333},
       {0, -0, 0.08333334, 0.3333333, 0.3333333, -0}},
      {"squared_hinge",
       hot,
       z,
       {0.5633333, 0.9733334},
       {0, -0, 0.2166667, 1.066667, 0.4, -0}},
      {"categorical_hinge", hot, z, {0, 0.5}, {0, 0, 0, 1, 0, -1}},
      {"kld",
       t,
       p,
       {0.3566721, 0.03047874},
       {-2.5e-07, -0.3571428, -1.25e-07, -0.6666667, -1, -1.25}},
      {"poisson",
       t,
       p,
       {0.452225, 0.6867105},
       {0.08333334, -0.03571427, 0.08333334, 0.1111112, 8.940697e-08,
        -0.08333322}},
      {"cosine_similarity",
       t,
       z,
       {-0.7943015, -0.6783406},
       {-0.04698155, -0.03664561, 0.009396311, -0.01140666, -0.5268458,
        -0.1853584}},
  };
}

// Keras 3.15's numbers on JAX.
TEST(LossesTest, LossesOfClassesPairsAndSequences) {
  using namespace losses;
  expectNear(CategoricalFocalCrossentropy(
                 {.alpha = 0.3, .gamma = 1.5, .label_smoothing = 0.1})(
                 tensor({{1.f, 0.f, 0.f}, {0.f, 0.2f, 0.8f}}),
                 tensor({{0.7f, 0.2f, 0.1f}, {0.3f, 0.3f, 0.4f}})),
             {0.09800401});
  expectNear(Tversky({.alpha = 0.3, .beta = 0.7})(
                 tensor({{1.f, 0.f, 0.f}, {0.f, 0.2f, 0.8f}}),
                 tensor({{0.7f, 0.2f, 0.1f}, {0.3f, 0.3f, 0.4f}})),
             {0.46});
  Tensor e = reshape(meshloom::sin(arange(12.) * 0.7), {4, 3});
  e = e * rsqrt(reduce_sum(square(e), -1, true));
  const Tensor pairs = tensor({0, 1, 0, 1});
  expectNear(Circle({.gamma = 8, .reduction = "none"})(pairs, e),
             {29.423706, 8.5862064, 23.398571, 15.037357});
  expectNear(Circle({.gamma = 8})(pairs, e), {19.111460});
  const Tensor steps = reshape(meshloom::sin(arange(48.) * 0.7), {2, 6, 4});
  const Tensor labels = tensor({1, 1, 2, 3, 0, 0}, {2, 3});
  expectNear(Loss("ctc", {{"reduction", std::string("none")}})(labels, steps),
             {5.3603983, 5.8998518});
  expectSharded([&](const Tensor &x) { return ctc(labels, x); }, steps,
                {"xyu"});
  EXPECT_ERROR(CTC()(cast(labels, DType::F32), steps),
               HAS("labels [batch, n] of integers"));
}

TEST(LossesTest, ValuesAndGradientsAreThoseOfKeras) {
  const std::vector<LossCase> cases = lossCases();
  auto compute = function([&](const std::vector<Tensor> &predictions) {
    std::vector<Tensor> results;
    for (size_t i = 0; i < cases.size(); ++i) {
      const LossCase &one = cases[i];
      GradientTape tape;
      Tensor loss = one.loss(one.y_true, predictions[i], weights());
      results.push_back(tape.gradient(loss, predictions[i]));
      results.push_back(one.loss.per_example(one.y_true, predictions[i]));
    }
    return results;
  });
  std::vector<Tensor> predictions;
  for (const LossCase &one : cases)
    predictions.push_back(one.y_pred);
  std::vector<Tensor> results = compute(predictions);
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].loss.name());
    expectNear(results[2 * i + 1], cases[i].values);
    expectNear(results[2 * i], cases[i].gradient);
  }
  expectNear(Loss("dice")(shares(), probabilities()), {0.475});
}

TEST(LossesTest, ReductionsAndWeights) {
  Tensor t = shares(), p = probabilities();
  const double first = 0.14 / 3, second = 0.02 / 3;
  Loss mse = "mse";
  expectNear(mse(t, p), {(first + second) / 2});
  expectNear(mse(t, p, weights()), {(first * 0.5 + second * 2) / 2});
  expectNear(mse(t, p, expand_dims(weights(), -1)),
             {(first * 0.5 + second * 2) / 2});
  expectNear(mse.with_reduction("sum")(t, p), {first + second});
  expectNear(mse.with_reduction(losses::Reduction::NONE)(t, p, weights()),
             {first * 0.5, second * 2});
  expectNear(losses::MeanSquaredError({.reduction = "mean_with_sample_weight"})(
                 t, p, weights()),
             {(first * 0.5 + second * 2) / 2.5});
  // Labels of class 1 neither cost nor count.
  auto ignoring = losses::SparseCategoricalCrossentropy(
      {.from_logits = true, .ignore_class = 1});
  expectNear(ignoring(classes(), logits()), {0.6041306});
  expectNear(ignoring(classes(), logits(), weights()), {1.208261});
  // Steps in time take weights of examples, or of steps.
  Tensor steps = stack({p, p}), labels = stack({t, t});
  expectNear(mse(labels, steps, weights()), {2.5 * (first + second) / 4});
  expectNear(mse(labels, steps, stack({weights(), weights()})),
             {(first * 0.5 + second * 2) / 2});
  // [batch] and [batch, 1] go together.
  expectNear(mse(tensor({1.f, 2.f}), tensor({{1.f}, {4.f}})), {2});
  // Narrow predictions are computed in f32.
  EXPECT_EQ(mse(t, cast(p, DType::BF16)).dtype(), DType::F32);
}

TEST(LossesTest, MadeAgainOfNameAndConfig) {
  Loss loss = losses::Huber({.delta = 0.5, .reduction = "sum"});
  Loss again(loss.name(), loss.config());
  EXPECT_EQ(again.reduction().kind, losses::Reduction::SUM);
  expectSame(again(shares(), logits()), loss(shares(), logits()), 0);
  EXPECT_EQ(loss.with_reduction("mean").config().at("reduction").as_string(),
            "sum_over_batch_size");
  Loss custom = [](const Tensor &y_true, const Tensor &y_pred) {
    return reduce_max(abs(y_pred - y_true), -1);
  };
  EXPECT_EQ(custom.name(), "");
  expectNear(custom(shares(), probabilities()), {0.2});
  EXPECT_FALSE(Loss());
}

TEST(LossesTest, AreTheSameUnderEveryLayout) {
  Tensor labels = tensor({0, 1, 2, 3, 3, 2, 1});
  auto loss = losses::SparseCategoricalCrossentropy({.from_logits = true});
  expectSharded([&](const Tensor &x) { return loss(labels, x); },
                sample({7, 4}), {"xu", "uy", "yx"});
}

TEST(LossesTest, AveragesOverTheWholeBatch) {
  Tensor losses = tensor({1.f, 2.f, 6.f});
  expectNear(nn::compute_average_loss(losses), {3});
  expectNear(nn::compute_average_loss(losses, {.global_batch_size = 6}), {1.5});
  expectNear(nn::compute_average_loss(losses,
                                      {.sample_weight = tensor({2.f, 0.f, 1.f}),
                                       .global_batch_size = tensor(4)}),
             {2});
  expectNear(nn::scale_regularization_loss(losses), {9});
  EXPECT_ERROR(nn::compute_average_loss(tensor(1.f)), HAS("none"));
  EXPECT_ERROR(nn::compute_average_loss(losses, {.global_batch_size = 0}),
               HAS("positive integer, got 0"));
}

TEST(LossesTest, AveragesOverReplicasOfDifferentSizes) {
  MirroredStrategy strategy({"CPU:0", "CPU:1", "CPU:2"});
  const std::vector<float> losses{1, 2, 3, 4, 5, 6, 14};
  const auto batch =
      *strategy
           .experimental_distribute_dataset(
               data::from_tensor_slices(tensor(losses, {7})).batch(7))
           .iterate()
           .next();
  const auto parts = strategy.run(
      [](const Tensor &part) { return nn::compute_average_loss(part); }, batch);
  expectNear(strategy.reduce(ReduceOp::SUM, parts), {5});
}

TEST(LossesTest, WrongShapesAndTypesAreRefused) {
  Tensor p = probabilities();
  EXPECT_ERROR(Loss("mse_loss"), HAS("the name of a loss"), HAS("'mse'"));
  EXPECT_ERROR(losses::Reduction("average"), HAS("'none'"));
  EXPECT_ERROR(Loss("mse")(tensor({1.f, 2.f, 3.f}), p),
               HAS("[mean_squared_error] expected labels of the shape"),
               HAS("y_true f32 [3] and y_pred f32 [2, 3]"),
               HAS("LossesTest.cpp"));
  EXPECT_ERROR(Loss("categorical_crossentropy")(classes(), p),
               HAS("numbers of classes"), HAS("sparse"));
  auto sparse = losses::SparseCategoricalCrossentropy();
  EXPECT_ERROR(sparse(oneHot(), p), HAS("labels [...] and predictions"),
               HAS("without 'sparse'"));
  EXPECT_ERROR(sparse(greater(tensor({1, 2}), 1), p), HAS("cast them to i32"));
  EXPECT_ERROR(sparse(tensor({1, 2, 0}), p), HAS("y_true i32 [3]"));
  EXPECT_ERROR(sparse(p, classes()), HAS("swapped"));
  EXPECT_ERROR(sparse(classes(), logits()), HAS("from_logits = true"));
  EXPECT_ERROR(sparse(classes(), tensor({{0.5f}, {0.2f}})),
               HAS("BinaryCrossentropy"));
  EXPECT_ERROR(Loss("mse")(p, p, tensor({1.f, 1.f, 1.f})),
               HAS("weights of the first dims"), HAS("f32 [3]"));
  EXPECT_ERROR(losses::BinaryCrossentropy({.label_smoothing = 2}),
               HAS("label_smoothing"));
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initializers, regularizers, constraints and activations by name and with
// options: values against Keras, the same ones under every layout, clear
// errors.
#include "../API/Testing.h"

namespace meshloom {
namespace {

using activations::Activation;
using constraints::Constraint;
using initializers::Initializer;
using regularizers::Regularizer;

struct Expected {
  const char *name;
  std::vector<double> values;
};

TEST(PartsTest, ActivationsAreThoseOfKeras) {
  Tensor x = tensor({{-3.2f, -1.f, -0.4f, 0.3f, 0.9f, 6.5f}});
  // Keras 3.15 on JAX, f32.
  const std::vector<Expected> expected{
      {"celu", {-0.9592378, -0.6321205, -0.3296799, 0.3, 0.9, 6.5}},
      {"elu", {-0.9592378, -0.6321205, -0.3296799, 0.3, 0.9, 6.5}},
      {"exponential",
       {0.0407622, 0.3678795, 0.67032, 1.349859, 2.459603, 665.1417}},
      {"gelu",
       {-0.00219884, -0.1586553, -0.1378313, 0.1853734, 0.7343459, 6.5}},
      {"glu", {-1.838216, -0.7109495, -0.3993995}},
      {"hard_shrink", {-3.2, -1, 0, 0, 0.9, 6.5}},
      {"hard_sigmoid", {0, 0.3333333, 0.4333333, 0.55, 0.65, 1}},
      {"hard_silu", {-0, -0.3333333, -0.1733333, 0.165, 0.585, 6.5}},
      {"hard_tanh", {-1, -1, -0.4, 0.3, 0.9, 1}},
      {"leaky_relu", {-0.64, -0.2, -0.08000001, 0.3, 0.9, 6.5}},
      {"linear", {-3.2, -1, -0.4, 0.3, 0.9, 6.5}},
      {"log_sigmoid",
       {-3.239953, -1.313262, -0.9130152, -0.5543553, -0.3411539, -0.00150231}},
      {"log_softmax",
       {-9.707322, -7.507323, -6.907323, -6.207323, -5.607323, -0.007322615}},
      {"mish",
       {-0.1277827, -0.3034014, -0.1889165, 0.2080014, 0.7612059, 6.49997}},
      {"relu", {0, 0, 0, 0.3, 0.9, 6.5}},
      {"relu6", {0, 0, 0, 0.3, 0.9, 6}},
      {"selu",
       {-1.686435, -1.111331, -0.57961, 0.3152103, 0.9456309, 6.829556}},
      {"sigmoid",
       {0.03916572, 0.2689414, 0.4013124, 0.5744425, 0.7109495, 0.9984988}},
      {"silu",
       {-0.1253303, -0.2689414, -0.1605249, 0.1723328, 0.6398545, 6.490242}},
      {"softmax",
       {6.083639e-05, 0.0005490491, 0.001000433, 0.002014625, 0.003670885,
        0.9927042}},
      {"soft_shrink", {-2.7, -0.5, 0, 0, 0.4, 6}},
      {"softplus",
       {0.03995333, 0.3132617, 0.5130153, 0.8543553, 1.241154, 6.501503}},
      {"softsign",
       {-0.7619048, -0.5, -0.2857143, 0.2307692, 0.4736842, 0.8666667}},
      {"sparse_plus", {0, 0, 0.09, 0.4225, 0.9025, 6.5}},
      {"sparse_sigmoid", {0, 0, 0.3, 0.65, 0.95, 1}},
      {"sparsemax", {0, 0, 0, 0, 0, 1}},
      {"squareplus",
       {0.2867962, 0.618034, 0.8198039, 1.161187, 1.546586, 6.650368}},
      {"tanh",
       {-0.9966825, -0.7615942, -0.379949, 0.2913126, 0.7162979, 0.9999955}},
      {"tanh_shrink",
       {-2.203318, -0.2384058, -0.020051, 0.008687407, 0.1837021, 5.500005}},
  };
  // One program for all of them.
  auto compute = function([&](const Tensor &x) {
    std::vector<Tensor> results;
    for (const Expected &one : expected)
      results.push_back(Activation(one.name)(x));
    results.push_back(Activation("gelu", {{"approximate", true}})(x));
    results.push_back(Activation("relu", {{"negative_slope", 0.1},
                                          {"max_value", int64_t(2)},
                                          {"threshold", 0.5}})(x));
    return results;
  });
  std::vector<Tensor> results = compute(x);
  for (size_t i = 0; i < expected.size(); ++i) {
    SCOPED_TRACE(expected[i].name);
    expectNear(results[i], expected[i].values, 1e-6);
  }
  expectNear(results[expected.size()],
             {-0.001869774, -0.158808, -0.1378388, 0.1853709, 0.7342285, 6.5});
  expectNear(results[expected.size() + 1],
             {-0.37, -0.15, -0.09, -0.02, 0.9, 2});
  // Two results of sparsemax can be positive: 1 + 2 * 0.5 > 0.8 + 0.5.
  expectNear(activations::sparsemax(tensor({{0.8f, 0.5f, -0.5f}})),
             {0.65, 0.35, 0});
}

TEST(PartsTest, RegularizersAndConstraintsAreThoseOfKeras) {
  Tensor w = tensor({{0.5f, -2.f}, {1.5f, 0.25f}, {-3.f, 1.f}});
  // Keras 3.15 on JAX, f32.
  expectNear(Regularizer("l1")(w), {0.0825});
  expectNear(regularizers::L2(0.1)(w), {1.65625});
  expectNear(regularizers::L1L2({.l1 = 0.1, .l2 = 0.2})(w), {4.1375});
  expectNear(regularizers::OrthogonalRegularizer(0.5)(w), {0.2500681});
  expectNear(regularizers::OrthogonalRegularizer(0.5, "columns")(w),
             {0.2375454});
  const std::vector<std::pair<Constraint, std::vector<double>>> constraintList{
      {"max_norm",
       {0.2948839, -1.777778, 0.8846517, 0.2222222, -1.769303, 0.8888889}},
      {constraints::MaxNorm(1.5, {0, 1}),
       {0.1842885, -0.7371542, 0.5528656, 0.09214427, -1.105731, 0.3685771}},
      {"NonNeg", {0.5, 0, 1.5, 0.25, 0, 1}},
      {constraints::UnitNorm({1}),
       {0.2425356, -0.9701425, 0.9863938, 0.164399, -0.9486833, 0.3162278}},
      {Constraint("min_max_norm",
                  {{"min_value", 1.}, {"max_value", 2.}, {"rate", 0.5}}),
       {0.3974419, -1.888889, 1.192326, 0.2361111, -2.384652, 0.9444444}},
  };
  for (auto &[constraint, expected] : constraintList) {
    SCOPED_TRACE(constraint.name());
    expectNear(constraint(w), expected);
    // Made again of its name and config it is the same.
    expectNear(Constraint(constraint.name(), constraint.config())(w), expected);
  }
}

TEST(PartsTest, InitializersFollowShapeAndSeed) {
  using namespace initializers;
  auto statistics = [](const Initializer &init) {
    Tensor x = init({3, 40, 80}, DType::F32, Seed{1, 2});
    return std::array{reduce_mean(x).item<float>(),
                      meshloom::std(x).item<float>(),
                      reduce_max(abs(x)).item<float>()};
  };
  // Standard deviations: Glorot's is of (3 * 40 + 3 * 80) / 2 = 180.
  for (auto [name, expected, most] :
       {std::tuple{"glorot_uniform", 1 / std::sqrt(180.), std::sqrt(3 / 180.)},
        {"he_normal", std::sqrt(2 / 120.), 2 * std::sqrt(2 / 120.) / 0.8796256},
        {"lecun_normal", std::sqrt(1 / 120.),
         2 * std::sqrt(1 / 120.) / 0.8796256},
        {"random_uniform", 0.05 / std::sqrt(3.), 0.05},
        {"truncated_normal", 0.05 * 0.8796256, 0.1}}) {
    SCOPED_TRACE(name);
    auto [mean, deviation, greatest] = statistics(name);
    EXPECT_NEAR(mean, 0, 0.03 * expected);
    EXPECT_NEAR(deviation, expected, 0.03 * expected);
    EXPECT_LE(greatest, most * (1 + 1e-6));
    EXPECT_GE(greatest, 0.98 * most);
  }
  auto [mean, deviation, greatest] =
      statistics(RandomNormal({.mean = 1, .stddev = 0.5}));
  EXPECT_NEAR(mean, 1, 0.02);
  EXPECT_NEAR(deviation, 0.5, 0.02);

  expectNear(Constant(3)({2}, DType::F32, {}), {3, 3});
  expectNear(Initializer("identity")({2, 3}, DType::F32, {}),
             {1, 0, 0, 0, 1, 0});
  EXPECT_EQ(Initializer("ones")({2}, DType::BF16, {}).dtype(), DType::BF16);
  Tensor wide = Orthogonal(2)({2, 3, 8}, DType::F32, Seed{3, 4});
  Tensor rows = reshape(wide, {6, 8});
  expectSame(matmul(rows, rows, {.transpose_b = true}), 4 * eye(6));

  // A seed of its own wins over the caller's, and is kept in the config.
  Initializer seeded = GlorotUniform(Seed{7, 8});
  Tensor drawn = seeded({4, 4}, DType::F32, Seed{1, 1});
  expectSame(
      Initializer(seeded.name(), seeded.config())({4, 4}, DType::F32, {}),
      drawn, 0);
  expectSame(Initializer("GlorotUniform")({4, 4}, DType::F32, Seed{7, 8}),
             drawn, 0);
}

TEST(PartsTest, AVariableBeginsAlikeUnderEveryLayout) {
  Mesh mesh = mesh2x4();
  for (const char *name : {"he_normal", "orthogonal"}) {
    SCOPED_TRACE(name);
    Initializer init = name;
    auto make = [&] { return init({8, 12}, DType::F32, Seed{5, 6}); };
    Tensor cut = call_with_layout(make, specs("xy", mesh));
    EXPECT_EQ(cut.layout(), specs("xy", mesh));
    expectSame(cut, make(), name == std::string("orthogonal") ? 1e-6 : 0);
  }
}

TEST(PartsTest, PartsOfOnesOwnHaveNames) {
  Activation square = [](const Tensor &x) { return x * x; };
  EXPECT_TRUE(square);
  EXPECT_EQ(square.name(), "");
  expectNear(square(tensor({3.f})), {9});
  EXPECT_EQ(Activation(nn::gelu).name(), "gelu");
  EXPECT_FALSE(Activation());

  Activation::add("times", [](const nn::Config &config) {
    return
        [by = config.at("by").as_double()](const Tensor &x) { return x * by; };
  });
  Activation twice("Times", {{"by", 2.}});
  expectNear(twice(tensor({3.f})), {6});
  EXPECT_EQ(twice.name(), "times");
  EXPECT_EQ(twice.config().at("by").as_double(), 2.);
  EXPECT_ERROR(Activation::add("times", {}), HAS("'times'"), HAS("already"));
}

TEST(PartsTest, UnknownOptionsAreRefused) {
  EXPECT_ERROR(Activation("relo"), HAS("the name of an activation"),
               HAS("'relo'"), HAS("'relu'"));
  EXPECT_ERROR(Initializer("glorot"), HAS("'glorot_normal'"));
  EXPECT_ERROR(Activation("relu", {{"slope", 0.1}}),
               HAS("[relu] has no option 'slope'"), HAS("'negative_slope'"));
  EXPECT_ERROR(Activation("elu", {{"alpha", std::string("1")}}),
               HAS("[elu] expected option 'alpha' to be a number"));
  EXPECT_ERROR(initializers::VarianceScaling({.mode = "fan"}),
               HAS("the name of a mode"), HAS("'fan_in'"));
  EXPECT_ERROR(initializers::Identity()({3}, DType::F32, {}), HAS("[3]"));
  EXPECT_ERROR(Activation()(tensor({1.f})), HAS("empty"));
}

// Each option is saved and read again, and wrong ones are named.
TEST(PartsTest, AConfigHasEveryOption) {
  EXPECT_EQ(losses::Huber({.delta = 2, .reduction = "sum"}).config().to_json(),
            R"({"delta":2.0,"reduction":"sum"})");
  EXPECT_EQ(initializers::RandomNormal({.stddev = 0.5, .seed = Seed{1, 2}})
                .config()
                .to_json(),
            R"({"mean":0.0,"stddev":0.5,"seed":[1,2]})");
  EXPECT_EQ(metrics::TopKCategoricalAccuracy({.k = 3}).config().to_json(),
            R"({"k":3,"name":"top_k_categorical_accuracy"})");
  for (const char *name :
       {"mse", "binary_focal_crossentropy", "sparse_categorical_crossentropy",
        "huber", "categorical_focal_crossentropy", "tversky", "circle"}) {
    SCOPED_TRACE(name);
    const losses::Loss loss(name);
    EXPECT_EQ(losses::Loss(loss.name(), loss.config()).config(), loss.config());
  }
  for (const char *name : {"auc", "precision", "binary_accuracy", "f1_score",
                           "fbeta_score", "r2_score", "pearson_correlation"}) {
    SCOPED_TRACE(name);
    const metrics::Metric metric(name);
    EXPECT_EQ(metrics::Metric(metric.id(), metric.config()).config(),
              metric.config());
  }
  nn::Config dense = layers::Dense(4).config();
  dense["config"]["use_bias"] = 3;
  EXPECT_ERROR(Layer::from_config(dense),
               HAS("expected option 'use_bias' to be true or false, got 3"));
}

// Numbers that would show as nan much later.
TEST(PartsTest, NumbersOutOfRange) {
  const double none = std::nan("");
  EXPECT_ERROR(optimizers::SGD(none), HAS("learning_rate"), HAS("nan"));
  EXPECT_ERROR(optimizers::SGD(DVariable()), HAS("an empty DVariable"));
  EXPECT_ERROR(optimizers::SGD(DVariable(ones({2}))), HAS("got f32 [2]"));
  EXPECT_ERROR(optimizers::SGD({.momentum = 1.5}), HAS("[SGD]"), HAS("1.5"));
  EXPECT_ERROR(optimizers::Adam({.beta_1 = 1}), HAS("beta_1"), HAS("got 1"));
  EXPECT_ERROR(optimizers::Adam({.epsilon = -1}), HAS("epsilon"));
  EXPECT_ERROR(optimizers::RMSprop({.rho = none}), HAS("[RMSprop]"),
               HAS("rho"));
  EXPECT_ERROR(optimizers::Adagrad({.initial_accumulator_value = -1}),
               HAS("initial_accumulator_value"));
  EXPECT_ERROR(
      schedules::ExponentialDecay(
          {.initial_learning_rate = none, .decay_steps = 1, .decay_rate = 1}),
      HAS("initial_learning_rate"));
  EXPECT_ERROR(regularizers::L1(-1), HAS("[l1]"));
  EXPECT_ERROR(regularizers::L2(none), HAS("[l2]"));
  EXPECT_ERROR(constraints::MaxNorm(none), HAS("max_value"));
  EXPECT_ERROR(constraints::MinMaxNorm({.min_value = 2}), HAS("max_value"));
  EXPECT_ERROR(initializers::RandomNormal({.stddev = -1}), HAS("stddev"));
  EXPECT_ERROR(initializers::RandomUniform({.minval = 1, .maxval = 0}),
               HAS("maxval"));
  EXPECT_ERROR(losses::Huber({.delta = -1}), HAS("delta"));
  EXPECT_ERROR(losses::BinaryFocalCrossentropy({.gamma = none}), HAS("gamma"));
  EXPECT_ERROR(metrics::BinaryAccuracy({.threshold = none}), HAS("threshold"));
  EXPECT_ERROR(layers::BatchNormalization({.momentum = none}), HAS("momentum"));
  EXPECT_ERROR(layers::LayerNormalization({.epsilon = -1}), HAS("epsilon"));
  EXPECT_ERROR(layers::GroupNormalization({.groups = 0}), HAS("groups"));
  EXPECT_ERROR(layers::RMSNormalization({.epsilon = -1}),
               HAS("expected epsilon to be 0 or more, got -1"));
  EXPECT_ERROR(layers::ReLU({.max_value = -1}), HAS("max_value"));
  EXPECT_ERROR(layers::LeakyReLU(-1), HAS("negative_slope"));
  EXPECT_ERROR(layers::Reshape({-1, -1}), HAS("at most one -1"));
  EXPECT_ERROR(layers::Permute({0, 1}), HAS("count from 1"));
  EXPECT_ERROR(layers::UpSampling2D(0), HAS("positive size"));
  EXPECT_ERROR(layers::GRU(3)(ones({2, 0, 3})), HAS("one step or more"));
}

// Numbers that Keras refuses, or that make no sense.
TEST(PartsTest, NumbersThatMakeNoSense) {
  EXPECT_ERROR(optimizers::Adam(-1.0),
               HAS("expected learning_rate to be 0 or more, got -1"));
  const optimizers::Adam adam;
  EXPECT_ERROR(adam.set_learning_rate(-1), HAS("[set_learning_rate]"),
               HAS("0 or more, got -1"));
  EXPECT_ERROR(adam.set_learning_rate(INFINITY), HAS("0 or more, got inf"));
  EXPECT_ERROR(adam.apply_gradients({{ones({1}), DVariable(ones({1}))}}, -1),
               HAS("[apply_gradients]"), HAS("got -1"));
  EXPECT_ERROR(optimizers::Adafactor({.beta_2_decay = 1}), HAS("0 or less"));
  EXPECT_ERROR(optimizers::SGD({.common = {.loss_scale = {.initial = -2}}}),
               HAS("loss_scale"));
  EXPECT_ERROR(optimizers::SGD({.common = {.weight_decay = -1}}),
               HAS("weight_decay"));
  EXPECT_ERROR(optimizers::SGD({.common = {.ema_momentum = 1}}),
               HAS("ema_momentum"));
  EXPECT_ERROR(schedules::ExponentialDecay(-0.1, 10, 0.5),
               HAS("initial_learning_rate"));
  EXPECT_ERROR(schedules::ExponentialDecay(0.1, 10, -0.5), HAS("decay_rate"));
  EXPECT_ERROR(schedules::InverseTimeDecay(0.1, 10, -0.5), HAS("decay_rate"));
  EXPECT_ERROR(schedules::PolynomialDecay(0.1, 10, -1),
               HAS("end_learning_rate"));
  EXPECT_ERROR(schedules::PolynomialDecay(0.1, 10, 0, -1), HAS("power"));
  EXPECT_ERROR(schedules::PiecewiseConstantDecay({3}, {1., -1.}),
               HAS("values"));
  EXPECT_ERROR(schedules::PiecewiseConstantDecay({-3}, {1., 1.}),
               HAS("boundaries"));
  EXPECT_ERROR(schedules::CosineDecay(0.1, 10, -1), HAS("alpha"));
  EXPECT_ERROR(schedules::CosineDecayRestarts(0.1, 10, 0.5),
               HAS("t_mul to be 1 or more"));
  EXPECT_ERROR(metrics::Precision({.thresholds = {2}}), HAS("in [0, 1]"));
  EXPECT_ERROR(metrics::Recall(-0.5), HAS("thresholds"));
  EXPECT_ERROR(metrics::TruePositives({.thresholds = {0.5, 1.5}}),
               HAS("thresholds"));
  EXPECT_ERROR(losses::BinaryFocalCrossentropy({.alpha = 2}), HAS("alpha"));
  EXPECT_ERROR(initializers::Orthogonal(INFINITY), HAS("gain"));
  EXPECT_ERROR(initializers::Identity(std::nan("")), HAS("gain"));
  EXPECT_ERROR(callbacks::EarlyStopping({.patience = -1}), HAS("patience"));
  EXPECT_ERROR(callbacks::ReduceLROnPlateau({.factor = 1}),
               HAS("factor to be at least 0 and less than 1, got 1"));
  EXPECT_ERROR(callbacks::ReduceLROnPlateau({.min_lr = -1}), HAS("min_lr"));
  // Rates of 0 stand still, and thresholds may be the ends.
  EXPECT_EQ(optimizers::SGD(0).current_learning_rate(), 0);
  metrics::Precision({.thresholds = {0, 1}});
}

// Words in common count more than letters, and PyTorch's words are known.
TEST(PartsTest, SuggestionsAreOfTheSameWords) {
  EXPECT_ERROR(initializers::Initializer("xavier_uniform"),
               HAS("closest are 'glorot_uniform'"));
  EXPECT_ERROR(initializers::Initializer("kaiming"), HAS("'he_normal'"));
  EXPECT_ERROR(losses::Loss("cross"), HAS("crossentropy'"));
  EXPECT_ERROR(losses::Loss("sparse_cross"),
               HAS("closest are 'sparse_categorical_crossentropy'"));
}

TEST(PartsTest, TextThatIsNoConfig) {
  EXPECT_ERROR(nn::Config::parse("1e999"), HAS("it is not JSON (number"));
  EXPECT_ERROR(
      nn::Config::parse("{"),
      HAS("[Config] cannot read a configuration: it is not JSON (parse "
          "error"));
}

// Messages name what was asked for.
TEST(PartsTest, EmptyAndUnknownPartsNameTheirKind) {
  const Tensor x = ones({2, 2});
  EXPECT_ERROR(Activation("rleu"), HAS("[activation]"), HAS("'relu'"));
  EXPECT_ERROR(losses::Loss()(x, x), HAS("[loss] expected a loss"));
  EXPECT_ERROR(losses::Loss("mse")(Tensor(), x), HAS("[mean_squared_error]"));
  EXPECT_ERROR(metrics::Mean().update_state(Tensor()), HAS("[update_state]"));
  losses::Loss gives([](const Tensor &, const Tensor &) { return Tensor(); });
  EXPECT_ERROR(gives(x, x), HAS("returned no tensor"));
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metrics against Keras over two batches, in functions and on meshes; resets;
// names; what does not fit.
#include "Samples.h"

namespace meshloom {
namespace {

using metrics::Metric;

struct MetricCase {
  Metric metric;
  bool isSparse, takesLogits;
  /// Keras 3.15 on JAX, f32, after a batch and one with labels in opposite
  /// order, of probabilities, with weights.
  std::vector<double> expected;
};

TEST(MetricsTest, AreThoseOfKeras) {
  using namespace metrics;
  const std::vector<MetricCase> cases{
      {"categorical_accuracy", false, true, {0.4444444}},
      {"accuracy", false, true, {0.4444444}},
      {"BinaryAccuracy", false, true, {0.7037037}},
      {"mse", false, true, {0.4385185}},
      {"root_mean_squared_error", false, true, {0.6622073}},
      {"mae", false, true, {0.5555556}},
      {"cosine_similarity", false, true, {0.6212645}},
      {TopKCategoricalAccuracy({.k = 2}), false, true, {1}},
      {"hinge", false, true, {0.8962964}},
      {"log_cosh_error", false, true, {0.1886873}},
      {"sparse_categorical_accuracy", true, true, {0.4444444}},
      {"acc", true, true, {0.4444444}},
      {Metric("sparse_top_k_categorical_accuracy", {{"k", int64_t(2)}}),
       true,
       true,
       {1}},
      {"categorical_crossentropy", false, false, {0.9968067}},
      {"crossentropy", false, false, {0.9968067}},
      {"sparse_categorical_crossentropy", true, false, {0.9968067}},
      {"binary_crossentropy", false, false, {0.5864557}},
      {Metric("precision", {{"threshold", 0.25}}), false, false, {0.3809524}},
      {Recall({.thresholds = {0.25}}), false, false, {0.8888889}},
      {Precision({.thresholds = {0.15, 0.35}}),
       false,
       false,
       {0.375, 0.4444444}},
      {TruePositives({.thresholds = {0.25}}), false, false, {4}},
      {FalsePositives({.thresholds = {0.25}}), false, false, {6.5}},
      {TrueNegatives({.thresholds = {0.25}}), false, false, {2.5}},
      {FalseNegatives({.thresholds = {0.25}}), false, false, {0.5}},
      {"auc", false, false, {0.6481482}},
      {AUC({.curve = "PR"}), false, false, {0.4844238}},
      {AUC({.num_thresholds = 5}), false, false, {0.6388889}},
  };
  auto update =
      function([&](const Tensor &hot, const Tensor &ids, const Tensor &first,
                   const Tensor &other, const std::optional<Tensor> &weight) {
        for (const MetricCase &one : cases)
          one.metric.update_state(one.isSparse ? ids : hot,
                                  one.takesLogits ? first : other,
                                  weight.value_or(Tensor()));
      });
  auto results = function([&] {
    std::vector<Tensor> results;
    for (const MetricCase &one : cases)
      results.push_back(one.metric.result());
    return results;
  });
  for (int round = 0; round < 2; ++round) {
    update(oneHot(), classes(), logits(), probabilities(),
           std::optional<Tensor>());
    update(reverse(oneHot(), 0), reverse(classes(), 0), probabilities(),
           probabilities(), weights());
    std::vector<Tensor> values = results();
    for (size_t i = 0; i < cases.size(); ++i) {
      SCOPED_TRACE(cases[i].metric.name());
      expectNear(values[i], cases[i].expected, 2e-6);
      cases[i].metric.reset_state();
    }
  }
  EXPECT_EQ(cases[0].metric.result().item<float>(), 0);
}

TEST(MetricsTest, AccuraciesTakeWeightsOfEachLabel) {
  const Metric accuracy = metrics::BinaryAccuracy();
  accuracy.update_state(tensor({0.f, 1.f, 1.f}), tensor({0.4f, 0.6f, 0.2f}),
                        tensor({1.f, 2.f, 3.f}));
  EXPECT_EQ(accuracy.result().item<float>(), 0.5f);
  // The values of a sample are added up in a sum.
  const metrics::Sum sum;
  sum.update_state(tensor({{1.f, 2.f}, {3.f, 4.f}}), tensor({1.f, 0.5f}));
  EXPECT_EQ(sum.result().item<float>(), 6.5f);
}

// Keras 3.15's numbers.
TEST(MetricsTest, PrecisionAndRecallOfTheLargestAndOfAClass) {
  using namespace metrics;
  const Tensor y = tensor({{0.f, 1.f, 1.f}, {1.f, 0.f, 0.f}});
  const Tensor p = tensor({{0.9f, 0.6f, 0.3f}, {0.2f, 0.8f, 0.4f}});
  struct Case {
    RetrievalOptions options;
    std::vector<double> precision, recall;
  };
  for (const Case &one :
       {Case{{.top_k = 2}, {0.25}, {1 / 3.}}, Case{{.class_id = 1}, {0.5}, {1}},
        Case{{.top_k = 1, .class_id = 1}, {0}, {0}},
        Case{{.thresholds = {0.1, 0.5}, .class_id = 0}, {0.5, 0}, {1, 0}}}) {
    const Metric precision = Precision(one.options);
    const Metric recall = Recall(one.options);
    for (const Metric &metric : {precision, recall})
      metric.update_state(y, p);
    expectNear(precision.result(), one.precision);
    expectNear(recall.result(), one.recall);
    EXPECT_EQ(Metric(precision.id(), precision.config()).config(),
              precision.config());
  }
  EXPECT_ERROR(Precision({.top_k = 4}).update_state(y, p),
               HAS("[..., classes] of more classes than 3"));
  EXPECT_ERROR(Recall({.class_id = -1}),
               HAS("class_id to be 0 or more, got -1"));
}

TEST(MetricsTest, MeansOfValuesOutsideOfFunctions) {
  metrics::Mean mean("loss");
  metrics::Sum sum;
  EXPECT_EQ(mean.name(), "loss");
  EXPECT_EQ(metrics::Mean({}).name(), metrics::Mean().name());
  EXPECT_EQ(metrics::Sum({}).name(), sum.name());
  EXPECT_TRUE(mean.variables().empty());
  mean.update_state(tensor({1.f, 2.f, 6.f}));
  mean.update_state(tensor({{1.f, 3.f}, {5.f, 7.f}}), weights());
  mean.update_state(4, 3);
  expectNear(mean.result(), {4});
  EXPECT_EQ(mean.variables().size(), 2u);
  sum.update_state(tensor({1.f, 2.f, 6.f}), tensor({1.f, 0.f, 2.f}));
  sum.update_state(0.5);
  expectNear(sum.result(), {13.5});

  metrics::Metric exact = metrics::Accuracy();
  exact.update_state(tensor({1, 2, 3}), tensor({1, 3, 3}));
  expectNear(exact.result(), {2. / 3});
  // One output: accuracy is binary.
  Metric accuracy = "accuracy";
  accuracy.update_state(tensor({1, 0, 1}), tensor({{0.9f}, {0.6f}, {0.2f}}));
  expectNear(accuracy.result(), {1. / 3});

  Metric iou = metrics::MeanIoU({.num_classes = 3});
  iou.update_state(tensor({0, 1, 1, 2}), tensor({0, 2, 1, 2}));
  iou.update_state(tensor({0, 1}), tensor({1, 1}), weights());
  // Keras 3.15 says 0.75: it counts a weight of 0.5 as 0.
  expectNear(iou.result(), {(1 / 1.5 + 3 / 4.5 + 1 / 2.) / 3});
}

TEST(MetricsTest, BatchesThatAreCutOverAMesh) {
  Mesh mesh = mesh2x4();
  Tensor labels = tensor({0, 1, 2, 0, 1, 2, 0});
  Tensor scores = nn::softmax(sample({7, 3}));
  std::vector<Metric> measures{"accuracy",
                               metrics::AUC({.num_thresholds = 20})};
  auto update = [](const std::vector<Metric> &measures, const Tensor &labels,
                   const Tensor &scores) {
    measures[0].update_state(labels, scores);
    measures[1].update_state(one_hot(labels, 3), scores);
  };
  update(measures, labels, scores);
  // Made in a function, on its mesh, outside of one, and on the default mesh.
  std::vector<Metric> traced{"accuracy", metrics::AUC({.num_thresholds = 20})};
  function([&](const Tensor &labels, const Tensor &scores) {
    update(traced, labels, scores);
  })(distribute(labels, specs("x", mesh)),
     distribute(scores, specs("xu", mesh)));
  std::vector<Metric> cut{"accuracy", metrics::AUC({.num_thresholds = 20})};
  auto step = function([&](const Tensor &labels, const Tensor &scores) {
    update(cut, labels, scores);
  });
  {
    auto scope = default_mesh(mesh);
    step(distribute(labels, specs("x", mesh)),
         distribute(scores, specs("xu", mesh)));
  }
  std::vector<Metric> eager{"accuracy", metrics::AUC({.num_thresholds = 20})};
  update(eager, distribute(labels, specs("y", mesh)),
         distribute(scores, specs("yu", mesh)));
  for (size_t i = 0; i < measures.size(); ++i) {
    expectSame(cut[i].result(), measures[i].result());
    expectSame(eager[i].result(), measures[i].result());
    expectSame(traced[i].result(), measures[i].result());
    EXPECT_TRUE(is_dtensor(cut[i].variables()[0].read_value()));
  }
}

TEST(MetricsTest, OnesOwn) {
  // The largest distance cannot be a sum; the mean of a function is.
  Metric distance([](const Tensor &y_true,
                     const Tensor &y_pred) { return abs(y_true - y_pred); },
                  "distance");
  distance.update_state(tensor({1.f, 2.f}), tensor({2.f, 5.f}));
  expectNear(distance.result(), {2});
  Metric rows("rows",
              {{{"count"}},
               [](const metrics::MetricBatch &batch) {
                 return std::vector{zeros({}) +
                                    double(batch.y_true.shape()[0])};
               },
               [](const std::vector<Tensor> &sums) { return sums[0]; }});
  rows.update_state(oneHot(), oneHot());
  rows.update_state(oneHot(), oneHot());
  expectNear(rows.result(), {4});
  EXPECT_EQ(rows.variables()[0].name(), "rows/count");

  Metric::add("rows", [=](const nn::Config &) { return rows; });
  EXPECT_TRUE(Metric("rows").is(rows));
  EXPECT_EQ(Metric("mae", "off by").name(), "off by");
  EXPECT_EQ(Metric("mae", "off by").id(), "mae");
}

// Replicas that add up 7 rows on 3 of them give the sum that one device gives.
TEST(MetricsTest, AreUpdatedInReplicasAndReadOutside) {
  using namespace metrics;
  MirroredStrategy strategy(
      {virtual_cpus(3)[0], virtual_cpus(3)[1], virtual_cpus(3)[2]});
  using Batch = std::pair<Tensor, Tensor>;
  const Tensor labels = tensor({0, 1, 2, 1, 0, 2, 1});
  const Tensor scores =
      nn::softmax(reshape(sin(cast(iota({21}, 0), DType::F32) * 2.f), {7, 3}));
  auto make = [] {
    return std::vector<Metric>{SparseCategoricalAccuracy(),
                               SparseTopKCategoricalAccuracy({.k = 2}),
                               SparseCategoricalCrossentropy(),
                               AUC({.num_thresholds = 9}),
                               Precision({.thresholds = {0.4, 0.6}}),
                               Mean()};
  };
  auto update = [&](const std::vector<Metric> &measures, const Tensor &y,
                    const Tensor &p) {
    for (size_t i = 0; i < 3; ++i)
      measures[i].update_state(y, p);
    const Tensor t = cast(less(y, 1), DType::F32), q = reduce_max(p, -1);
    measures[3].update_state(t, q);
    measures[4].update_state(t, q);
    static_cast<const Mean &>(measures[5]).update_state(q);
  };
  const std::vector<Metric> expected = make();
  update(expected, labels, scores);
  update(expected, labels, scores);

  auto scope = strategy.scope();
  const std::vector<Metric> measures = make();
  auto step = function([&](const PerReplica<Batch> &batch) {
    strategy.run(
        [&](const Batch &part) { update(measures, part.first, part.second); },
        batch);
  });
  const auto dataset = strategy.experimental_distribute_dataset(
      data::from_tensor_slices(labels, scores).batch(7));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int times = 0; times < 2; ++times)
      for (const auto &batch : dataset)
        step(batch);
    for (size_t i = 0; i < measures.size(); ++i) {
      SCOPED_TRACE(measures[i].name());
      expectNear(measures[i].result(),
                 cast(expected[i].result(), DType::F64).to_vector<double>());
      measures[i].reset_state();
    }
    expectNear(measures[0].result(), {0});
  }
  EXPECT_EQ(step.trace_count(), 1);
}

// Labels of floats are cut to integers, as Keras does it.
TEST(MetricsTest, SparseLabelsMayBeFloats) {
  Metric accuracy = metrics::SparseCategoricalAccuracy();
  accuracy.update_state(tensor({1.f, 0.f}), probabilities());
  expectNear(accuracy.result(), {0.5});
  EXPECT_EQ(losses::SparseCategoricalCrossentropy()(tensor({1.f, 2.f}),
                                                    probabilities())
                .item<float>(),
            losses::SparseCategoricalCrossentropy()(classes(), probabilities())
                .item<float>());
}

TEST(MetricsTest, WrongShapesAndOptionsAreRefused) {
  EXPECT_ERROR(Metric("acuracy"), HAS("the name of a metric"),
               HAS("'accuracy'"));
  EXPECT_ERROR(Metric("auc", {{"curve", std::string("RC")}}), HAS("'ROC'"));
  EXPECT_ERROR(Metric("auc", {{"threshold", 3.}}),
               HAS("[auc] has no option 'threshold'"));
  EXPECT_ERROR(Metric("auc", {{"thresholds", 3.}}),
               HAS("thresholds between 0 and 1, got 3"));
  Metric accuracy = "sparse_categorical_accuracy";
  EXPECT_ERROR(accuracy.update_state(oneHot(), probabilities()),
               HAS("without 'sparse'"), HAS("MetricsTest.cpp"));
  EXPECT_ERROR(accuracy.update_state(oneHot(), Tensor()), HAS("empty Tensor"));
  EXPECT_ERROR(Metric("auc").update_state(oneHot(), logits()),
               HAS("from_logits"));
  EXPECT_ERROR(metrics::MeanIoU({}), HAS("num_classes"));
  EXPECT_ERROR(Metric().result(), HAS("empty one"));
}

} // namespace
} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of all metrics, and the names of the built-in ones; see
// Metrics.h. The formulas are in MetricFunctions.cpp.
#include "meshloom/NN/Metrics.h"

#include "Errors.h"
#include "Labels.h"
#include "MetricRules.h"
#include "Placement.h"
#include "RegisteredParts.h"

#include "meshloom/API/RemoteVariables.h"
#include "meshloom/API/Shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace meshloom::metrics {

static bool isStatic(const Shape &shape) {
  return std::ranges::find(shape, -1) == shape.end();
}

struct Metric::State {
  std::string id, name;
  nn::Config config = nn::Config::Map();
  MetricRule rule;
  std::vector<DVariable> sums;
  bool isEarly = false; ///< no batch said yet where sums are to be
  std::mutex mutex;

  /// Made once, whoever asks first, also while a function is being traced; none
  /// as long as shapes are not known. `parts`: what the first batch adds, if
  /// there is one.
  const std::vector<DVariable> &variables(const std::vector<Tensor> &parts);
  /// Brings sums that were made before the first batch to the mesh of that.
  void place(const Tensor &like);
  /// Makes sums of these shapes, where there are none.
  void make(const std::vector<Shape> &shapes, const Tensor &like);
};

const std::vector<DVariable> &
Metric::State::variables(const std::vector<Tensor> &parts) {
  std::lock_guard lock(mutex);
  std::vector<Shape> shapes;
  for (const MetricRule::Sum &sum : rule.sums)
    shapes.push_back(isStatic(sum.shape) || parts.empty()
                         ? sum.shape
                         : parts[shapes.size()].shape());
  if (std::ranges::all_of(shapes, isStatic))
    make(shapes, parts.empty() ? Tensor() : parts.front());
  if (!parts.empty() && std::exchange(isEarly, false))
    place(parts.front());
  return sums;
}

void Metric::State::place(const Tensor &like) {
  const std::optional<Mesh> mesh = nn::meshNear(like);
  if (!mesh)
    return;
  init_scope([&] {
    for (const DVariable &sum : sums)
      if (detail::isHostVariable(sum) && !detail::remoteOf(sum))
        sum.set_layout(Layout::replicated(*mesh, unsigned(sum.rank())));
  });
}

void Metric::State::make(const std::vector<Shape> &shapes, const Tensor &like) {
  if (!sums.empty())
    return;
  std::vector<DVariable> variables;
  variables.reserve(shapes.size());
  for (const Shape &shape : shapes)
    variables.push_back(nn::makeVariableNear(
        like, [&] { return zeros(shape, DType::F64); },
        {.name = name + "/" + rule.sums[variables.size()].name,
         .trainable = false,
         .aggregation = VariableAggregation::SUM}));
  sums = std::move(variables);
  isEarly = !like.defined();
}

Metric::Metric(std::string name, MetricRule rule)
    : state(std::make_shared<State>()) {
  if (!rule.add || !rule.result || rule.sums.empty())
    Error(fmt::format("[{}] expected a rule of a metric with sums, add "
                      "and result",
                      name))
        .raise();
  state->name = std::move(name);
  state->rule = std::move(rule);
}

static std::string nameIn(const nn::Config &config, const std::string &id) {
  const nn::Config *name = config.find("name");
  return name ? name->as_string() : id;
}

Metric::Metric(std::string id, nn::Config config, MetricRule rule)
    : Metric(nameIn(config, id), std::move(rule)) {
  state->id = std::move(id);
  state->config = std::move(config);
}

MetricRule
Metric::meanOf(std::function<Tensor(const Tensor &, const Tensor &)> values) {
  if (!values)
    Error("[metric] expected a function of labels and predictions, got "
          "an empty one")
        .raise();
  return meanRule([values = std::move(values)](const MetricBatch &batch) {
    return values(batch.y_true, batch.y_pred);
  });
}

static void expectMetric(bool isMetric, const char *function,
                         const Where &where) {
  if (!isMetric)
    nn::fail(function, "expected a metric, got an empty one", where);
}

void Metric::addBatch(const MetricBatch &batch, const Where &where) const {
  constexpr char function[] = "update_state";
  expectMetric(bool(*this), function, where);
  detail::CallSite site(where);
  if (!nn::isPresent(batch.y_true))
    nn::fail(function, "expected values, got an empty Tensor", where);
  std::vector<Tensor> parts = state->rule.add(batch);
  if (parts.size() != state->rule.sums.size())
    nn::fail(function,
             fmt::format("metric '{}' has {} sums, but its rule added to {}",
                         name(), state->rule.sums.size(), parts.size()),
             where);
  const std::vector<DVariable> &sums = state->variables(parts);
  for (size_t i = 0; i < sums.size(); ++i)
    if (!isStatic(state->rule.sums[i].shape) &&
        sums[i].shape() != parts[i].shape())
      nn::fail(
          function,
          fmt::format("metric '{}' began with batches that add {} to '{}', "
                      "this one adds {}",
                      name(),
                      nn::text(cast(sums[i].read_value(), parts[i].dtype())),
                      state->rule.sums[i].name, nn::text(parts[i])),
          where);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i].assign_add(cast(parts[i], sums[i].dtype()));
}

void Metric::update_state(const Tensor &y_true, const Tensor &y_pred,
                          const Tensor &sample_weight, Where where) const {
  if (!nn::isPresent(y_true) || !nn::isPresent(y_pred))
    nn::fail("update_state",
             "expected labels and predictions, got an empty Tensor", where);
  addBatch({y_true, y_pred, sample_weight}, where);
}

Tensor Metric::result(Where where) const {
  expectMetric(bool(*this), "result", where);
  detail::CallSite site(where);
  std::vector<Tensor> sums;
  for (const DVariable &sum : state->variables({}))
    sums.push_back(cast(sum.read_value(), DType::F32));
  if (sums.empty()) // whose shapes the first batch will say
    sums.assign(state->rule.sums.size(), zeros({}));
  return state->rule.result(sums);
}

void Metric::reset_state(Where where) const {
  expectMetric(bool(*this), "reset_state", where);
  detail::CallSite site(where);
  for (const DVariable &sum : variables())
    sum.assign(zeros_like(sum.read_value()));
}

const std::string &Metric::name() const {
  expectMetric(bool(*this), "name", Where::current());
  return state->name;
}
const std::string &Metric::id() const {
  expectMetric(bool(*this), "id", Where::current());
  return state->id;
}
const nn::Config &Metric::config() const {
  expectMetric(bool(*this), "config", Where::current());
  return state->config;
}
std::vector<DVariable> Metric::variables() const {
  expectMetric(bool(*this), "variables", Where::current());
  std::lock_guard lock(state->mutex);
  return state->sums;
}

std::vector<Metric::SumShape> Metric::sum_shapes() const {
  expectMetric(bool(*this), "sum_shapes", Where::current());
  std::vector<SumShape> shapes;
  for (const MetricRule::Sum &sum : state->rule.sums)
    shapes.emplace_back(sum.name, sum.shape);
  return shapes;
}

void Metric::build(const std::vector<SumShape> &sumShapes, Where where) const {
  constexpr char function[] = "build";
  expectMetric(bool(*this), function, where);
  std::vector<Shape> shapes;
  for (const MetricRule::Sum &sum : state->rule.sums) {
    const auto found = std::ranges::find(sumShapes, sum.name, &SumShape::first);
    const bool isFound = found != sumShapes.end();
    const Shape shape =
        isStatic(sum.shape) || !isFound ? sum.shape : found->second;
    if (!isStatic(shape))
      nn::fail(function,
               fmt::format("expected the shape of the sum '{}' of metric '{}', "
                           "which only a batch says otherwise",
                           sum.name, name()),
               where);
    shapes.push_back(shape);
  }
  detail::CallSite site(where);
  std::lock_guard lock(state->mutex);
  state->make(shapes, Tensor());
}

Mean::Mean(const MetricOptions &options)
    : Metric(makeMetric("mean", options, meanRule([](const MetricBatch &batch) {
                          return batch.y_true;
                        }))) {}

void Mean::update_state(const TensorLike &values,
                        const std::optional<TensorLike> &sample_weight) const {
  addBatch(
      {valueOf(values), {}, sample_weight ? valueOf(*sample_weight) : Tensor()},
      values.where);
}

Sum::Sum(const MetricOptions &options)
    : Metric(makeMetric("sum", options, sumRule())) {}

void Sum::update_state(const TensorLike &values,
                       const std::optional<TensorLike> &sample_weight) const {
  addBatch(
      {valueOf(values), {}, sample_weight ? valueOf(*sample_weight) : Tensor()},
      values.where);
}

namespace {

using Maker = Metric::Maker;

detail::Names<Maker> &registeredMetrics() {
  static auto &registry = *new detail::Names<Maker>("a metric", {});
  static const bool isFilled = [] {
    for (const auto &list :
         {plainMetrics(), thresholdMetrics(), overlapMetrics(), scoreMetrics()})
      for (auto &[name, make] : list)
        registry.add(name, make);
    return true;
  }();
  (void)isFilled;
  return registry;
}

} // namespace

Metric Metric::get(std::string_view id, const nn::Config &config) {
  auto [name, maker] = registeredMetrics().find(id);
  Metric metric = maker(config);
  // By the name that it was asked for, which may be a short one.
  if (metric.state) {
    if (metric.state->id.empty())
      metric.state->config = config;
    metric.state->id = name;
  }
  return metric;
}

void Metric::add(const std::string &id, Maker maker) {
  registeredMetrics().add(id, std::move(maker));
}

} // namespace meshloom::metrics

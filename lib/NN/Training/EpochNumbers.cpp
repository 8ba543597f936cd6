// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbers of an epoch: loss and metrics, which steps sum up on the devices,
// see Training.h.
#include "Training.h"

#include "meshloom/API/Distribute.h"
#include "meshloom/API/IndexOps.h"
#include "meshloom/API/Shards.h"
#include "meshloom/NN/Models/Model.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::detail {

using data::detail::Element;

void Training::forEachMetric(
    const std::function<void(const metrics::Metric &metric,
                             const std::string &name)> &visit) const {
  std::vector<metrics::Metric> modelMetrics;
  if (auto *impl = dynamic_cast<ModelImpl *>(&model.implementation()))
    modelMetrics = impl->own_metrics();
  // How often a name has come. The second one is "accuracy_1", as in Keras:
  // logs have one number of a name.
  std::map<std::string, int64_t> counts;
  auto visitAs = [&](const metrics::Metric &metric, const std::string &name) {
    const int64_t earlier = counts[name]++;
    visit(metric, earlier == 0 ? name : fmt::format("{}_{}", name, earlier));
  };
  if (loss &&
      std::ranges::none_of(modelMetrics, [](const metrics::Metric &metric) {
        return metric.name() == "loss";
      }))
    visitAs(*loss, "loss");
  for (const metrics::Metric &metric : modelMetrics)
    visitAs(metric, metric.name());
  for (const TrainedOutput &output : outputs)
    if (output.mean)
      visitAs(*output.mean, output.mean->name());
  auto nameOf = [](const TrainedOutput &output, const std::string &name) {
    return output.name.empty() ? name : output.name + "_" + name;
  };
  for (const TrainedOutput &output : outputs)
    for (const metrics::Metric &metric : output.metrics)
      visitAs(metric, nameOf(output, metric.name()));
  for (const TrainedOutput &output : outputs)
    for (const metrics::Metric &metric : output.weighted) {
      const std::string name = nameOf(output, metric.name());
      visitAs(metric, counts.contains(name)
                          ? nameOf(output, "weighted_" + metric.name())
                          : name);
    }
}

void Training::reset() {
  Scope scope(*this);
  runner->wait();
  forEachMetric([](const metrics::Metric &metric, const std::string &) {
    metric.reset_state();
  });
}

callbacks::CallbackState Training::epochNumbers() {
  Scope scope(*this);
  runner->wait();
  callbacks::CallbackState numbers;
  forEachMetric([&](const metrics::Metric &metric, const std::string &name) {
    int64_t place = 0;
    for (const DVariable &sum : metric.variables())
      numbers.tensors.emplace(fmt::format("{}/{}", name, place++),
                              sum.read_value());
  });
  return numbers;
}

void Training::resumeEpoch(const Element &like,
                           const callbacks::CallbackState &numbers) {
  build(like, "fit");
  const StepBatch batch = place(like, "fit");
  // Its trace makes the metrics, and is that of the next steps.
  runner->traceStep(batch);
  Scope scope(*this);
  forEachMetric([&](const metrics::Metric &metric, const std::string &name) {
    int64_t place = 0;
    for (const DVariable &sum : metric.variables()) {
      const auto found =
          numbers.tensors.find(fmt::format("{}/{}", name, place++));
      if (found == numbers.tensors.end() ||
          found->second.shape() != sum.shape())
        continue; // the model is compiled with others now
      const Tensor value = cast(found->second, sum.dtype());
      sum.assign(isHostVariable(sum) ? value : distribute(value, sum.layout()));
    }
  });
}

std::vector<std::string> Training::names() const {
  std::vector<std::string> list;
  forEachMetric([&](const metrics::Metric &, const std::string &name) {
    list.push_back(name);
  });
  return list;
}

std::vector<Logs::Value> Training::read() {
  if (names().empty())
    return {};
  Scope scope(*this);
  runner->wait();
  if (!onRead)
    onRead.emplace(
        [this] {
          std::vector<Tensor> numbers;
          forEachMetric(
              [&](const metrics::Metric &metric, const std::string &) {
                const Tensor result = metric.result();
                if (result.rank() > 0)
                  refuseTraining(
                      "fit",
                      fmt::format("metric '{}' is not one number, so it cannot "
                                  "be shown: read its result() yourself",
                                  metric.name()));
                numbers.push_back(cast(result, DType::F64));
              });
          return std::vector<Tensor>{stack(numbers, 0)};
        },
        FunctionOptions{.name = "read_metrics"},
        std::source_location::current());
  const std::vector<double> values =
      (*onRead)().front().template to_vector<double>();
  std::vector<Logs::Value> logs;
  for (std::string &name : names())
    logs.emplace_back(std::move(name), values[logs.size()]);
  // Some know their sums only by their first batch: read anew behind that.
  forEachMetric([&](const metrics::Metric &metric, const std::string &) {
    if (metric.variables().empty())
      onRead.reset();
  });
  return logs;
}

} // namespace meshloom::detail

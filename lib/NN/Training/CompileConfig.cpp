// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the options that a model was compiled with as JSON, and reads them.
#include "../Fields.h"

#include "meshloom/NN/Training/Trainer.h"

namespace meshloom {

namespace {

using Losses = std::vector<losses::Loss>;
using Metrics = std::vector<metrics::Metric>;

nn::Config write(const losses::Loss &loss) {
  return detail::configOf(loss);
}
nn::Config write(const metrics::Metric &metric) {
  /// A metric as configOf takes parts: by what it is known by.
  struct NamedMetric {
    const metrics::Metric &metric;
    explicit operator bool() const { return bool(metric); }
    const std::string &name() const { return metric.id(); }
    const nn::Config &config() const { return metric.config(); }
  };
  return detail::configOf(NamedMetric{metric});
}
template <typename Part> nn::Config write(const std::vector<Part> &list) {
  nn::Config::List entries;
  entries.reserve(list.size());
  for (const Part &part : list)
    entries.push_back(write(part));
  return entries;
}

void read(const nn::Config &config, losses::Loss &loss) {
  if (!config.is_null())
    loss = losses::Loss::get(config.at("class_name").as_string(),
                             config.at("config"));
}
void read(const nn::Config &config, metrics::Metric &metric) {
  if (!config.is_null())
    metric = metrics::Metric::get(config.at("class_name").as_string(),
                                  config.at("config"));
}
template <typename Part>
void read(const nn::Config &config, std::vector<Part> &list) {
  for (const nn::Config &one : config.as_list()) {
    list.emplace_back();
    read(one, list.back());
  }
}

/// {"all": ...}, {"each": ...} or {"by_name": ...} of LossOfOutputs or
/// MetricsOfOutputs.
template <typename OfOutputs> nn::Config writeOutputs(const OfOutputs &parts) {
  nn::Config config{nn::Config::Map()};
  if (!parts.inOrder.empty()) {
    config["each"] = write(parts.inOrder);
  } else if (!parts.byName.empty()) {
    nn::Config &byName = config["by_name"];
    for (const auto &[name, part] : parts.byName)
      byName[name] = write(part);
  } else {
    config["all"] = write(parts.shared);
  }
  return config;
}
template <typename OfOutputs>
void readOutputs(const nn::Config &config, OfOutputs &parts) {
  if (const nn::Config *list = config.find("each"))
    read(*list, parts.inOrder);
  else if (const nn::Config *byName = config.find("by_name"))
    for (const auto &[name, part] : byName->as_map())
      read(part, parts.byName[name]);
  else
    read(config.at("all"), parts.shared);
}

/// A list, or a map by names.
nn::Config write(const LossWeights &weights) {
  if (weights.byName.empty())
    return nn::Config::List(weights.inOrder.begin(), weights.inOrder.end());
  nn::Config config{nn::Config::Map()};
  for (const auto &[name, weight] : weights.byName)
    config[name] = weight;
  return config;
}
void read(const nn::Config &config, LossWeights &weights) {
  if (config.is_map()) {
    for (const auto &[name, weight] : config.as_map())
      weights.byName[name] = weight.as_double();
    return;
  }
  for (const nn::Config &weight : config.as_list())
    weights.inOrder.push_back(weight.as_double());
}

} // namespace

nn::Config Trainer::compile_config() const {
  const TrainingOptions &options = compile_options();
  nn::Config config;
  config["loss"] = writeOutputs(options.loss);
  config["metrics"] = writeOutputs(options.metrics);
  config["weighted_metrics"] = writeOutputs(options.weighted_metrics);
  config["loss_weights"] = write(options.loss_weights);
  config["steps_per_execution"] = options.steps_per_execution;
  if (options.batch_axis)
    config["batch_axis"] = *options.batch_axis;
  config["check_numerics"] = options.check_numerics;
  return config;
}

void Trainer::compile_from_config(const nn::Config &config,
                                  OptimizerOrName optimizer) {
  TrainingOptions options;
  options.optimizer = std::move(optimizer);
  readOutputs(config.at("loss"), options.loss);
  readOutputs(config.at("metrics"), options.metrics);
  readOutputs(config.at("weighted_metrics"), options.weighted_metrics);
  read(config.at("loss_weights"), options.loss_weights);
  options.steps_per_execution = config.at("steps_per_execution").as_int();
  if (const nn::Config *axis = config.find("batch_axis"))
    options.batch_axis = axis->as_string();
  options.check_numerics = config.at("check_numerics").as_bool();
  compile(std::move(options));
}

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layers by the names of their classes: what they are saved as, and made again
// from.
#include "Registry.h"
#include "../Models/ModelConfig.h"
#include "../Names.h"
#include "LayerState.h"
#include "SharedOptions.h"

#include "meshloom/Support/ForeignErrors.h"

#include <fmt/format.h>

namespace meshloom {
using namespace detail;

static Names<MakeLayer> &registeredLayers() {
  static auto &registry =
      *new Names<MakeLayer>("a layer", {{"Functional", makeFunctional},
                                        {"Sequential", makeSequential}});
  static const bool isFilled = [] {
    for (const LayerList &list :
         {coreLayers(), shapeLayers(), convolutionalLayers(),
          normalizationLayers(), attentionLayers(), recurrentLayers(),
          transposedLayers(), noiseLayers(), pointwiseLayers(),
          operatorLayers(), einsumLayers(), preprocessingLayers(), textLayers(),
          spectrogramLayers()})
      for (auto &[name, make] : list)
        registry.add(name, make);
    return true;
  }();
  (void)isFilled;
  return registry;
}

void register_layer(const std::string &class_name, MakeLayer make,
                    Where where) {
  atLine(where, [&] { registeredLayers().add(class_name, std::move(make)); });
}

nn::Config LayerImpl::get_config() const {
  nn::Config config;
  config["name"] = state->name;
  config["trainable"] = state->trainable;
  config["dtype"] = std::string(meshloom::name(state->options.dtype));
  return config;
}

nn::Config Layer::config() const {
  LayerImpl &layer = implementation();
  const LayerImpl::State &state = LayerImpl::State::of(layer);
  nn::Config config;
  config["class_name"] = state.className;
  nn::Config &layerConfig = config["config"];
  layerConfig = layer.get_config();
  // Here, as users' layers need not ask the base for theirs.
  layerConfig["policy"] = state.options.policy->name();
  if (state.options.activity_regularizer)
    layerConfig["activity_regularizer"] =
        configOf(state.options.activity_regularizer);
  if (!state.isBuilt)
    return config;
  nn::Config::List inputs;
  for (const TensorSpec &spec : state.builtFor) {
    nn::Config input;
    input["shape"] = spec.shape;
    input["dtype"] = std::string(meshloom::name(spec.dtype));
    inputs.push_back(std::move(input));
  }
  config["build_config"] = std::move(inputs);
  return config;
}

static Layer layerOf(const nn::Config &config) {
  const std::string &class_name = config.at("class_name").as_string();
  const nn::Config &layerConfig = config.at("config");
  std::optional<mixed_precision::PolicyScope> policy;
  if (const nn::Config *name = layerConfig.find("policy"))
    policy.emplace(mixed_precision::Policy(name->as_string()));
  Layer layer = registeredLayers().find(class_name).second(layerConfig);
  LayerImpl::State &state = LayerImpl::State::of(layer);
  if (const nn::Config *name = layerConfig.find("name")) {
    state.name = name->as_string();
    state.isNamedByUser = true;
  }
  if (const nn::Config *type = layerConfig.find("dtype"))
    state.options.dtype = dtypeOf(*type);
  ReadFields fields(layerConfig);
  fields("activity_regularizer", state.options.activity_regularizer);
  if (const nn::Config *trainable = layerConfig.find("trainable"))
    state.trainable = trainable->as_bool();
  if (const nn::Config *build = config.find("build_config")) {
    std::vector<TensorSpec> inputs;
    for (const nn::Config &input : build->as_list())
      inputs.push_back(
          {input.at("shape").as_ints(), dtypeOf(input.at("dtype"))});
    layer.build_many(inputs);
  }
  return layer;
}

Layer Layer::from_config(const nn::Config &config, Where where) {
  return atLine(where, [&] {
    return withDTensorErrors("[from_config] the config of a layer is not "
                             "valid: an entry is missing, "
                             "or a number is out of range",
                             [&] { return layerOf(config); });
  });
}

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The weights of a layer and of the layers that it is made of: making them,
// finding them with their paths, their values and losses. See Layer.h.
#include "LayerState.h"

#include "../Errors.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/ShardMap.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom {
using namespace detail;

namespace {

/// The path of a weight of the layer that is being built: a model around all of
/// it is left out, as in paths.
std::string fullName(const LayerImpl::State &state, const std::string &name) {
  LayerFrame *frame = currentLayerFrame();
  if (!frame || &LayerImpl::State::of(frame->layer) != &state)
    return state.name + "/" + name;
  std::string path = name;
  for (; frame; frame = frame->around)
    if (LayerImpl::State &outer = LayerImpl::State::of(frame->layer);
        frame->around || !outer.isModel)
      path = outer.name + "/" + path;
  return path;
}

struct Collected {
  std::vector<NamedVariable> variables;
  std::vector<bool> isWeight;
  std::set<const void *> seenVariables;
  std::set<const LayerImpl *> seenLayers;

  void add(std::string path, const DVariable &variable, bool weight) {
    if (!seenVariables.insert(variable.internal().get()).second)
      return;
    variables.push_back({std::move(path), variable});
    isWeight.push_back(weight);
  }
};

void collect(const Layer &layer, const std::string &prefix, bool onlyTrainable,
             Collected &found) {
  if (!found.seenLayers.insert(layer.internal().get()).second)
    return;
  LayerImpl::State &state = LayerImpl::State::of(layer);
  if (onlyTrainable && !state.trainable)
    return;
  for (const LayerImpl::State::Weight &weight : state.weights)
    if (!onlyTrainable || weight.isTrained())
      found.add(prefix + weight.name, weight.variable, weight.isWeight);
  for (const LayerImpl::State::Part &part : state.parts) {
    const std::string path = prefix + part.name + "/";
    if (auto *inner = std::get_if<Layer>(&part.part)) {
      collect(*inner, path, onlyTrainable, found);
      continue;
    }
    const Module &module = std::get<Module>(part.part);
    for (const DVariable &variable :
         onlyTrainable ? module.trainable_variables() : module.variables())
      found.add(path + variable.name(), variable, true);
  }
}

Collected collected(const Layer &layer, bool onlyTrainable = false) {
  if (!layer.built() && LayerImpl::State::of(layer).weights.empty())
    Error(fmt::format("[{0}] layer '{1}' has no weights yet: they are made "
                      "when it is first "
                      "called, for the shape of its input; call it, or build "
                      "it with a shape",
                      layer.class_name(), layer.name()))
        .raise();
  Collected found;
  collect(layer, "", onlyTrainable, found);
  return found;
}

std::vector<DVariable> bare(const std::vector<NamedVariable> &named) {
  std::vector<DVariable> variables;
  variables.reserve(named.size());
  for (const NamedVariable &entry : named)
    variables.push_back(entry.variable);
  return variables;
}

} // namespace

DVariable LayerImpl::add_weight(const std::string &name, const Shape &shape,
                                const WeightOptions &options, Where where) {
  auto failWith = [&](const std::string &message) {
    fail("add_weight", fmt::format("layer '{}': {}", state->name, message),
         &where);
  };
  if (name.empty() || name.find('/') != std::string::npos)
    failWith(fmt::format("expected a name without '/', got '{}'", name));
  for (const State::Weight &weight : state->weights)
    if (weight.name == name)
      failWith(fmt::format("there is a weight '{}' already", name));
  if (std::ranges::any_of(shape, [](int64_t size) { return size < 0; }))
    failWith(fmt::format("expected a shape for '{}', got {}: the sizes of "
                         "weights must be known when a layer is built",
                         name, sizesText(shape)));
  const DType type =
      options.dtype.value_or(state->options.dtype != DType::F32
                                 ? state->options.dtype
                                 : state->options.policy->variable_dtype());
  initializers::Initializer first = options.initializer;
  if (!first)
    first = isFloat(type) || isComplex(type) ? "glorot_uniform" : "zeros";
  std::optional<Layout> layout = options.layout;
  if (auto chosen = state->options.layouts.find(name);
      chosen != state->options.layouts.end())
    layout = chosen->second;
  if (layout && layout->rank() != shape.size())
    failWith(fmt::format("expected a layout of rank {} for '{}' {}, got {}",
                         shape.size(), name, sizesText(shape),
                         layout->spec_string()));
  const Seed seed = drawSeed();
  VariableOptions variableOptions{.name = fullName(*state, name),
                                  .trainable = options.trainable};
  if (options.constraint)
    variableOptions.constraint = options.constraint;
  DVariable variable = init_scope([&] {
    return DVariable(
        call_with_layout([&] { return first(shape, type, seed); }, layout),
        std::move(variableOptions));
  });
  if (variable.shape() != shape)
    failWith(fmt::format("expected an initializer that gives {} for '{}', got "
                         "{}",
                         sizesText(shape), name, sizesText(variable.shape())));
  state->weights.push_back({name, variable, options.regularizer, true});
  return variable;
}

DVariable LayerImpl::add_state(const std::string &name, const Tensor &initial,
                               VariableSynchronization synchronization) {
  VariableOptions options{.name = fullName(*state, name), .trainable = false};
  options.synchronization = synchronization;
  if (synchronization == VariableSynchronization::ON_READ)
    options.aggregation = VariableAggregation::ONLY_FIRST_REPLICA;
  DVariable variable = init_scope([&] { return DVariable(initial, options); });
  state->weights.push_back({name, variable, {}, false});
  return variable;
}

void LayerImpl::set_seed(Seed seed) {
  state->seed = seed;
}

void LayerImpl::add_seed() {
  if (!state->calls)
    state->calls =
        init_scope([&] { return add_state("calls", zeros({}, DType::I64)); });
}

SeedLike LayerImpl::next_seed() {
  // Replicas have rows of their own, and so numbers of their own.
  auto ofReplica = [](Tensor seed) {
    return isMappedAxis(replicaAxis)
               ? random::fold_in(seed,
                                 cast(axis_index(replicaAxis), DType::I32))
               : seed;
  };
  LayerFrame *frame = currentLayerFrame();
  if (frame && &frame->layer == this && frame->seed.defined())
    return ofReplica(random::fold_in(
        random::fold_in(frame->seed, state->seed.second), frame->randomUses++));
  if (!state->calls)
    Error(fmt::format("[{}] layer '{}' is random: its build calls "
                      "add_seed",
                      state->className, state->name),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  Tensor seed = random::fold_in(state->seed, *state->calls);
  state->calls->assign_add(1);
  return ofReplica(seed);
}

void LayerImpl::State::adopt(const Layer &layer, std::string local,
                             bool isExplicitName) {
  State &state = of(layer);
  for (const Layer &part : allLayers(layer))
    if (&of(part) == this)
      Error(fmt::format("[{}] layer '{}' cannot be a part of itself", className,
                        name))
          .raise();
  auto isTaken = [&](const std::string &candidate) {
    return std::ranges::any_of(
        parts, [&](const Part &part) { return part.name == candidate; });
  };
  if (isExplicitName) {
    local = state.name;
    if (state.isNamedByUser && isTaken(local))
      Error(fmt::format("[{}] two layers of '{}' are called '{}', but the "
                        "names of layers must differ: rename one of them",
                        className, name, local))
          .raise();
    for (int64_t i = 1; isTaken(local); ++i)
      local = fmt::format("{}_{}", state.name, i);
  } else if (local.empty() || local.find('/') != std::string::npos ||
             isTaken(local)) {
    Error(fmt::format("[{}] expected another name without '/' for a part "
                      "of '{}', got '{}'",
                      className, name, local))
        .raise();
  }
  if (!state.isAdopted) {
    Collected inside;
    collect(layer, local + "/", false, inside);
    for (const NamedVariable &entry : inside.variables)
      renameVariable(entry.variable, entry.path);
    if (!state.isNamedByUser)
      state.name = local;
    state.isAdopted = true;
  }
  parts.push_back({std::move(local), layer});
}

void LayerImpl::track(const std::string &name, const Layer &layer) {
  layer.implementation();
  state->adopt(layer, name, false);
}
void LayerImpl::track(const Layer &layer) {
  layer.implementation();
  state->adopt(layer, "", true);
}
void LayerImpl::track(const std::string &name, const Module &module) {
  state->parts.push_back({name, module});
}

/// Returns whether `part` is what `whole` is made of, at any depth.
static bool consistsOf(const LayerImpl::State &whole, const Layer &part) {
  return std::ranges::any_of(whole.parts, [&](const LayerImpl::State::Part &p) {
    auto *layer = std::get_if<Layer>(&p.part);
    return layer &&
           (layer->is(part) || consistsOf(LayerImpl::State::of(*layer), part));
  });
}

std::string detail::whyNotTracked(const Layer &callee,
                                  const LayerFrame *caller) {
  if (!caller)
    return "";
  // Nearly always a part of the layer that calls it.
  for (const LayerFrame *frame = caller; frame; frame = frame->around)
    if (LayerImpl::State::of(frame->layer).keepsVariables ||
        &frame->layer == callee.internal().get() ||
        consistsOf(LayerImpl::State::of(frame->layer), callee))
      return "";
  Collected ofCallee, ofLayer;
  collect(callee, "", /*onlyTrainable=*/true, ofCallee);
  if (ofCallee.variables.empty())
    return "";
  // A module that is a part may have it.
  for (const LayerFrame *frame = caller; frame; frame = frame->around)
    collect(frame->layer.handle(), "", /*onlyTrainable=*/false, ofLayer);
  auto isListed = [&](const NamedVariable &weight) {
    return ofLayer.seenVariables.contains(weight.variable.internal().get());
  };
  if (std::ranges::all_of(ofCallee.variables, isListed))
    return "";
  const LayerImpl::State &state = LayerImpl::State::of(caller->layer);
  return fmt::format(
      "it is called by '{0}' ({1}), which was not told that it is a part: its "
      "weights would be in no variables() of '{0}', and nobody would train "
      "them. Call track in the constructor or in build of {1} when the layer "
      "is there; a vector, map or member that gets another layer later is to "
      "be tracked then",
      state.name, state.className);
}

std::vector<Layer> Layer::layers() const {
  std::vector<Layer> layers;
  for (const LayerImpl::State::Part &part : LayerImpl::State::of(*this).parts)
    if (auto *layer = std::get_if<Layer>(&part.part))
      layers.push_back(*layer);
  return layers;
}
Layer Layer::get_layer(std::string_view name, Where where) const {
  std::string names;
  for (const LayerImpl::State::Part &part : LayerImpl::State::of(*this).parts)
    if (auto *layer = std::get_if<Layer>(&part.part)) {
      if (part.name == name)
        return *layer;
      names += (names.empty() ? "" : ", ") + part.name;
    }
  fail("get_layer",
       Error(fmt::format("'{}' has no layer '{}'; it has {}", this->name(),
                         name, names.empty() ? "none" : names),
             ErrorCode::NOT_FOUND),
       &where);
}
Layer Layer::get_layer(int64_t index, Where where) const {
  const std::vector<Layer> list = layers();
  const int64_t count = int64_t(list.size());
  if (index < -count || index >= count)
    fail("get_layer",
         fmt::format("expected an index in [{}, {}) of the "
                     "layers of '{}', got {}",
                     -count, count, name(), index),
         &where);
  return list[size_t(index < 0 ? index + count : index)];
}

std::vector<NamedVariable> Layer::named_variables() const {
  return collected(*this).variables;
}
DVariable Layer::variable(std::string_view path, Where where) const {
  std::string paths;
  const auto variables =
      detail::atLine(where, [&] { return named_variables(); });
  for (const NamedVariable &entry : variables) {
    if (entry.path == path)
      return entry.variable;
    paths += (paths.empty() ? "" : ", ") + entry.path;
  }
  detail::fail("variable",
               Error(fmt::format("'{}' has no variable '{}'; it has {}", name(),
                                 path, paths.empty() ? "none" : paths),
                     ErrorCode::NOT_FOUND),
               &where);
}
std::vector<DVariable> Layer::variables() const {
  return bare(collected(*this).variables);
}
std::vector<DVariable> Layer::trainable_variables() const {
  return bare(collected(*this, true).variables);
}
std::vector<DVariable> Layer::non_trainable_variables() const {
  const Collected trainable = collected(*this, true);
  std::vector<DVariable> others;
  for (const DVariable &variable : variables())
    if (!trainable.seenVariables.count(variable.internal().get()))
      others.push_back(variable);
  return others;
}
std::vector<DVariable> Layer::weights() const {
  const Collected parts = collected(*this);
  std::vector<DVariable> weights;
  for (size_t i = 0; i < parts.variables.size(); ++i)
    if (parts.isWeight[i])
      weights.push_back(parts.variables[i].variable);
  return weights;
}
std::vector<Tensor> Layer::get_weights() const {
  std::vector<Tensor> values;
  for (const DVariable &weight : weights())
    values.push_back(weight.read_value());
  return values;
}
void Layer::set_weights(const std::vector<Tensor> &values, Where where) const {
  constexpr char function[] = "set_weights";
  detail::CallSite site(where);
  const std::vector<DVariable> variables =
      detail::atLine(where, [&] { return weights(); });
  if (values.size() != variables.size())
    nn::fail(function,
             fmt::format("expected {} tensors for the weights of '{}', got {}",
                         variables.size(), name(), values.size()),
             where);
  for (size_t i = 0; i < variables.size(); ++i)
    if (values[i].shape() != variables[i].shape())
      nn::fail(function,
               fmt::format("expected {} for '{}', got {}",
                           sizesText(variables[i].shape()), variables[i].name(),
                           sizesText(values[i].shape())),
               where);
  for (size_t i = 0; i < variables.size(); ++i)
    variables[i].assign(cast(values[i], variables[i].dtype()));
}
int64_t Layer::count_params() const {
  int64_t count = 0;
  for (const DVariable &weight : weights())
    count += elementCount(weight.shape());
  return count;
}

std::vector<Tensor> Layer::losses() const {
  std::vector<Tensor> losses;
  for (const Layer &layer : allLayers(*this)) {
    LayerImpl::State &state = LayerImpl::State::of(layer);
    std::lock_guard lock(state.mutex);
    losses.insert(losses.end(), state.added.begin(), state.added.end());
    if (state.trainable)
      for (const LayerImpl::State::Weight &weight : state.weights)
        if (weight.regularizer && weight.isTrained())
          losses.push_back(weight.regularizer(weight.variable));
  }
  return losses;
}

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer: calls, building, and the tree of parts; see Layer.h.
#include "LayerState.h"

#include "meshloom/API/Autocast.h"
#include "meshloom/API/Create.h"
#include "meshloom/API/Distribute.h"
#include "meshloom/API/NameScope.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <ranges>

namespace meshloom {
using namespace detail;

namespace {

thread_local LayerFrame *innermost = nullptr;
std::atomic<uint32_t> globalSeed{0}, seedsDrawn{0};

/// "MultiHeadAttention" is "multi_head_attention", "Conv2D" is "conv2d".
std::string snakeCase(const std::string &name) {
  auto isUpper = [&](size_t i) {
    return i < name.size() && name[i] >= 'A' && name[i] <= 'Z';
  };
  auto isLower = [&](size_t i) {
    return i < name.size() && name[i] >= 'a' && name[i] <= 'z';
  };
  std::string snake;
  for (size_t i = 0; i < name.size(); ++i) {
    if (i > 0 && isUpper(i) &&
        (isLower(i - 1) || (isUpper(i - 1) && isLower(i + 1))))
      snake += '_';
    snake += isUpper(i) ? char(name[i] - 'A' + 'a') : name[i];
  }
  return snake;
}

[[noreturn]] void failAt(const LayerImpl &impl, const std::string &message,
                         const std::source_location &where) {
  const LayerImpl::State &state = LayerImpl::State::of(impl);
  const Error error(
      fmt::format("[{}] layer '{}': {}", state.className, state.name, message));
  if (!where.line())
    error.raise();
  error.atPlace(fmt::format("{}:{}", where.file_name(), where.line())).raise();
}

std::string specText(const InputSpec &spec) {
  std::string text = "[";
  if (spec.rank) {
    for (int64_t d = 0; d < *spec.rank; ++d) {
      auto size = spec.sizes.find(d);
      if (size == spec.sizes.end())
        size = spec.sizes.find(d - *spec.rank);
      text += (d ? ", " : "") + (size == spec.sizes.end()
                                     ? std::string("None")
                                     : std::to_string(size->second));
    }
    return text + "]";
  }
  if (auto last = spec.sizes.find(-1); last != spec.sizes.end())
    return "[..., " + std::to_string(last->second) + "]";
  return "of at least " + std::to_string(spec.min_rank) + " dims";
}

bool fits(const Shape &shape, const InputSpec &spec) {
  const int64_t rank = int64_t(shape.size());
  if ((spec.rank && rank != *spec.rank) || rank < spec.min_rank)
    return false;
  return std::ranges::all_of(spec.sizes, [&](auto &size) {
    const int64_t dim = size.first < 0 ? size.first + rank : size.first;
    return dim >= 0 && dim < rank &&
           (shape[size_t(dim)] == size.second || shape[size_t(dim)] < 0);
  });
}

void checkInputs(const LayerImpl &impl, const std::vector<TensorSpec> &inputs,
                 const std::source_location &where) {
  const LayerImpl::State &state = LayerImpl::State::of(impl);
  for (size_t i = 0; i < std::min(inputs.size(), state.specs.size()); ++i)
    if (!fits(inputs[i].shape, state.specs[i]))
      failAt(impl,
             fmt::format("expected an input {}, as it was built for, got {} "
                         "{}: a layer keeps the shape that its weights were "
                         "created for; create another layer for another shape",
                         specText(state.specs[i]), name(inputs[i].dtype),
                         sizesText(inputs[i].shape)),
             where);
}

template <typename T>
std::vector<TensorSpec> specsOf(const std::vector<T> &tensors) {
  std::vector<TensorSpec> specs;
  specs.reserve(tensors.size());
  for (const T &tensor : tensors)
    specs.push_back({tensor.shape(), tensor.dtype()});
  return specs;
}

/// The size of the batch is not kept: another one will do.
std::vector<TensorSpec> anyBatch(std::vector<TensorSpec> specs) {
  for (TensorSpec &spec : specs)
    if (!spec.shape.empty())
      spec.shape[0] = -1;
  return specs;
}

/// Where weights go that are given no layout: where the layer was made, where
/// it is called, where its inputs are.
std::optional<Mesh> meshFor(const LayerImpl::State &state,
                            const std::vector<Tensor> &inputs) {
  if (state.mesh)
    return state.mesh;
  if (std::optional<Mesh> mesh = get_default_mesh())
    return mesh;
  for (const Tensor &input : inputs)
    if (!input.is_traced() && is_dtensor(input))
      return input.mesh();
  return meshOfTrace();
}

/// Throws where a layout was chosen for a weight that the layer does not have:
/// that weight's name is misspelt, and the weight would be whole on each
/// device.
void expectLayoutsOfWeights(const LayerImpl::State &state) {
  std::vector<std::string_view> names;
  for (const LayerImpl::State::Weight &weight : state.weights)
    names.push_back(weight.name);
  for (const auto &[name, layout] : state.options.layouts)
    if (std::ranges::find(names, name) == names.end())
      fail("layouts",
           fmt::format("layer '{}' has no weight '{}' for the layout {}: its "
                       "weights are {}",
                       state.name, name, layout.spec_string(),
                       names.empty()
                           ? "none"
                           : fmt::format("'{}'", fmt::join(names, "', '"))));
}

void buildIn(LayerImpl &impl, const std::vector<TensorSpec> &inputs,
             const std::optional<Mesh> &mesh) {
  LayerImpl::State &state = LayerImpl::State::of(impl);
  std::lock_guard lock(state.mutex);
  if (state.isBuilt)
    return;
  const size_t weights = state.weights.size(), parts = state.parts.size();
  std::vector<Shape> shapes;
  for (const TensorSpec &input : inputs)
    shapes.push_back(input.shape);
  state.builtFor = inputs;
  try {
    std::optional<DefaultMeshScope> scope;
    if (mesh)
      scope.emplace(*mesh);
    impl.build_many(shapes);
    expectLayoutsOfWeights(state);
  } catch (...) { // nothing half done
    state.weights.resize(weights);
    state.parts.erase(state.parts.begin() + ptrdiff_t(parts),
                      state.parts.end());
    state.specs.clear();
    state.calls.reset();
    state.builtFor.clear();
    throw;
  }
  state.isBuilt = true;
}

/// Inputs of floats in the type that the layer's policy says. Under "float32",
/// in which every type of weights may be used, they are cast where the layer
/// was given that policy, or has weights of f32.
std::vector<Tensor> inComputeType(const LayerImpl::State &state,
                                  std::vector<Tensor> inputs) {
  const DType type = state.options.policy->compute_dtype();
  const bool casts =
      type != DType::F32 || state.policyIsExplicit ||
      std::ranges::any_of(state.weights, [](const LayerImpl::State::Weight &w) {
        return w.isWeight && w.variable.dtype() == DType::F32;
      });
  for (Tensor &input : inputs)
    if (casts && isFloat(input.dtype()) && input.dtype() != type) {
      const Tensor mask = get_mask(input);
      input = cast(input, type);
      set_mask(input, mask);
    }
  return inputs;
}

/// Returns whether the dims of the mask are the first ones of x.
bool isMaskOf(const Tensor &mask, const Tensor &x) {
  return mask.defined() && mask.dtype() == DType::I1 &&
         mask.rank() <= x.rank() &&
         std::ranges::equal(mask.shape(),
                            x.shape() | std::views::take(mask.rank()));
}

/// Results that have no mask yet get that which the layer says.
void passMasksOn(LayerImpl &layer, const std::vector<Tensor> &xs,
                 std::vector<Tensor> masks, const std::vector<Tensor> &ys) {
  const std::vector<Tensor> computed = layer.compute_mask(xs, masks);
  for (size_t i = 0; i < std::min(computed.size(), ys.size()); ++i)
    if (isMaskOf(computed[i], ys[i]) && !get_mask(ys[i]).defined())
      set_mask(ys[i], computed[i]);
}

void clearLosses(const Layer &layer) {
  for (const Layer &part : allLayers(layer)) {
    LayerImpl::State &state = LayerImpl::State::of(part);
    std::lock_guard lock(state.mutex);
    state.added.clear();
  }
}

} // namespace

namespace detail {

LayerFrame::LayerFrame(LayerImpl &layer, const CallOptions &options)
    : layer(layer), around(innermost) {
  training = options.training.value_or(around && around->training);
  seed = options.seed.defined() ? options.seed
         : around               ? around->seed
                                : Tensor();
  innermost = this;
}
LayerFrame::~LayerFrame() {
  innermost = around;
}
LayerFrame *currentLayerFrame() {
  return innermost;
}
Seed drawSeed() {
  return {globalSeed.load(), ++seedsDrawn};
}

std::vector<Layer> allLayers(const Layer &layer) {
  std::vector<Layer> layers;
  std::set<const LayerImpl *> seen;
  std::function<void(const Layer &)> visit = [&](const Layer &current) {
    if (!seen.insert(current.internal().get()).second)
      return;
    layers.push_back(current);
    for (const Layer &part : current.layers())
      visit(part);
  };
  visit(layer);
  return layers;
}

} // namespace detail

void set_random_seed(uint32_t seed) {
  globalSeed = seed;
  seedsDrawn = 0;
}

LayerImpl &Layer::implementation() const {
  if (!impl)
    Error("[Layer] expected a layer, got an empty one, or one that was "
          "moved from",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return *impl;
}

std::vector<Tensor> Layer::call_many(const std::vector<Tensor> &xs,
                                     const CallOptions &options,
                                     Where where) const {
  LayerImpl &layer = implementation();
  LayerImpl::State &state = LayerImpl::State::of(layer);
  for (const Tensor &x : xs)
    if (!x.defined())
      failAt(layer, "expected tensors, got an empty one", where);
  LayerFrame frame(layer, options);
  const detail::UserLine creationLine(state.options.where);
  const detail::UserLine calledAt(where);
  if (!frame.around)
    clearLosses(*this);
  NameScope scope(state.name);
  const mixed_precision::Policy &policy = *state.options.policy;
  AutocastScope autocast(policy.compute_dtype() != policy.variable_dtype()
                             ? std::optional(policy.compute_dtype())
                             : std::nullopt);
  const std::vector<TensorSpec> inputs = specsOf(xs);
  if (xs.empty())
    failAt(layer, "expected inputs, got none", where);
  if (!state.isBuilt)
    atLine(where,
           [&] { buildIn(layer, anyBatch(inputs), meshFor(state, xs)); });
  if (std::string why = whyNotTracked(*this, frame.around); !why.empty())
    failAt(layer, why, where);
  checkInputs(layer, inputs, where);
  CallOptions forwarded = options;
  forwarded.training = frame.training;
  forwarded.seed = frame.seed;
  std::vector<Tensor> masks;
  masks.reserve(xs.size());
  for (const Tensor &x : xs)
    masks.push_back(get_mask(x));
  if (!state.computesMask) {
    if (!forwarded.mask.defined())
      forwarded.mask = masks.front();
    masks.front() = forwarded.mask;
  }
  std::vector<Tensor> ys = atLine(where, [&] {
    return layer.call_many(inComputeType(state, xs), forwarded);
  });
  if (ys.empty() ||
      std::ranges::any_of(ys, [](const Tensor &y) { return !y.defined(); }))
    failAt(layer, "its call returned no tensor: return the result", where);
  for (Tensor &y : ys) {
    const std::optional<Layout> &layout = state.options.output_layout;
    if (layout && layout->rank() == unsigned(y.rank()) &&
        (y.is_traced() || is_dtensor(y)))
      y = relayout(y, *layout, where);
    if (state.options.activity_regularizer && y.rank() > 0)
      state.addLoss(state.options.activity_regularizer(y) /
                    double(y.shape()[0]));
  }
  passMasksOn(layer, xs, std::move(masks), ys);
  if (state.results.empty()) {
    std::lock_guard lock(state.mutex);
    state.results = specsOf(ys);
    for (TensorSpec &result : state.results)
      if (!result.shape.empty() && !inputs[0].shape.empty() &&
          result.shape[0] == inputs[0].shape[0])
        result.shape[0] = -1;
  }
  return ys;
}

static Tensor onlyOne(const LayerImpl &impl, std::vector<Tensor> ys,
                      const std::source_location &where) {
  if (ys.size() != 1)
    failAt(
        impl,
        fmt::format("it returns {} tensors: call it with call_many", ys.size()),
        where);
  return std::move(ys[0]);
}

Tensor Layer::operator()(const Tensor &x, const CallOptions &options,
                         Where where) const {
  return onlyOne(implementation(), call_many(std::vector{x}, options, where),
                 where);
}
Tensor Layer::operator()(const std::vector<Tensor> &xs,
                         const CallOptions &options, Where where) const {
  return onlyOne(implementation(), call_many(xs, options, where), where);
}

std::vector<SymbolicTensor>
Layer::call_many(const std::vector<SymbolicTensor> &xs,
                 const CallOptions &options, Where where) const {
  where = detail::callSiteOr(where);
  LayerImpl &layer = implementation();
  LayerImpl::State &state = LayerImpl::State::of(layer);
  auto node = std::make_shared<GraphNode>();
  node->layer = *this;
  node->inputs = xs;
  node->options = options;
  node->where = where;
  const std::vector<TensorSpec> inputs = specsOf(xs);
  if (!built()) {
    LayerFrame frame(layer, options);
    buildIn(layer, inputs, meshFor(state, {}));
  }
  checkInputs(layer, inputs, where);
  try {
    node->results = inferSpecs(
        [&](const std::vector<Tensor> &values) {
          return call_many(values, options, where);
        },
        inputs);
  } catch (const Error &error) {
    // The line of a layer's own code says nothing to who calls it.
    const std::string line =
        fmt::format("{}:{}", where.file_name(), where.line());
    if (!where.line() || error.place() == line)
      throw;
    Error(fmt::format("{}; layer '{}' was called at {}", error.message(),
                      state.name, line),
          error.code(), line)
        .raise();
  }
  clearLosses(*this);
  state.results = node->results;
  {
    std::lock_guard lock(state.mutex);
    std::erase_if(state.graphCalls,
                  [](const auto &call) { return call.expired(); });
    state.graphCalls.push_back(node);
  }
  std::vector<SymbolicTensor> results;
  for (size_t i = 0; i < node->results.size(); ++i)
    results.emplace_back(node, i);
  return results;
}
SymbolicTensor Layer::operator()(const SymbolicTensor &x,
                                 const CallOptions &options,
                                 Where where) const {
  return (*this)(std::vector{x}, options, where);
}
SymbolicTensor Layer::operator()(const std::vector<SymbolicTensor> &xs,
                                 const CallOptions &options,
                                 Where where) const {
  std::vector<SymbolicTensor> ys = call_many(xs, options, where);
  if (ys.size() != 1)
    failAt(
        *impl,
        fmt::format("it returns {} tensors: call it with call_many", ys.size()),
        where);
  return ys[0];
}

void Layer::build(const Shape &input, Where where) const {
  build_many({{input, DType::F32}}, where);
}
void Layer::build_many(const std::vector<TensorSpec> &inputs,
                       Where where) const {
  LayerImpl &layer = implementation();
  if (built())
    return;
  if (inputs.empty())
    failAt(layer, "expected the shape of an input to build it for, got none",
           where);
  {
    LayerFrame frame(layer, {});
    NameScope scope(name());
    atLine(where, [&] {
      buildIn(layer, inputs, meshFor(LayerImpl::State::of(layer), {}));
    });
  }
  // Calling a part with its input builds it.
  if (std::ranges::all_of(allLayers(*this),
                          [](const Layer &part) { return part.built(); }))
    return;
  std::vector<TensorSpec> results = inferSpecs(
      [&](const std::vector<Tensor> &values) {
        return call_many(values, {}, where);
      },
      inputs);
  LayerImpl::State::of(layer).results = std::move(results);
  clearLosses(*this);
}
bool Layer::built() const {
  LayerImpl::State &state = LayerImpl::State::of(*this);
  std::lock_guard lock(state.mutex);
  return state.isBuilt;
}

const std::string &Layer::name() const {
  return LayerImpl::State::of(*this).name;
}
const std::string &Layer::class_name() const {
  return LayerImpl::State::of(*this).className;
}

bool Layer::trainable() const {
  return LayerImpl::State::of(*this).trainable;
}
void Layer::set_trainable(bool trainable) const {
  for (const Layer &layer : allLayers(*this))
    LayerImpl::State::of(layer).trainable = trainable;
}

LayerImpl::LayerImpl(std::string class_name, std::string name,
                     LayerOptions options)
    : state(std::make_unique<State>()) {
  state->isNamedByUser = !name.empty();
  state->name = state->isNamedByUser ? std::move(name) : snakeCase(class_name);
  state->className = std::move(class_name);
  state->trainable = options.trainable;
  state->options = std::move(options);
  state->policyIsExplicit = state->options.policy.has_value();
  if (!state->policyIsExplicit)
    state->options.policy = mixed_precision::policy();
  state->mesh = get_default_mesh();
  state->seed = drawSeed();
  if (state->name.find('/') != std::string::npos)
    Error(fmt::format("[{}] expected a name without '/', got '{}': paths "
                      "are made of names",
                      state->className, state->name))
        .raise();
}
LayerImpl::~LayerImpl() = default;

void LayerImpl::build(const Shape &) {}
void LayerImpl::build_many(const std::vector<Shape> &inputs) {
  build(inputs.at(0));
}
Tensor LayerImpl::call(const Tensor &, const CallOptions &) {
  Error(fmt::format("[{}] layer '{}' computes nothing: its class "
                    "overrides call, or call_many",
                    state->className, state->name))
      .raise();
}
std::vector<Tensor> LayerImpl::call_many(const std::vector<Tensor> &xs,
                                         const CallOptions &options) {
  if (xs.size() != 1)
    Error(fmt::format("[{}] layer '{}' takes one input, got {}",
                      state->className, state->name, xs.size()))
        .raise();
  return {call(xs[0], options)};
}

std::vector<Tensor> LayerImpl::compute_mask(const std::vector<Tensor> &,
                                            const std::vector<Tensor> &masks) {
  return {masks.at(0)};
}

Layer LayerImpl::handle() {
  return Layer(shared_from_this());
}
const std::string &LayerImpl::name() const {
  return state->name;
}
const std::string &LayerImpl::class_name() const {
  return state->className;
}
const LayerOptions &LayerImpl::options() const {
  return state->options;
}
bool LayerImpl::trainable() const {
  return state->trainable;
}

void LayerImpl::add_loss(const Tensor &loss, Where where) {
  if (loss.rank() != 0)
    fail("add_loss",
         fmt::format("layer '{}': expected a scalar loss, got {}: "
                     "reduce it first",
                     state->name, sizesText(loss.shape())),
         &where);
  state->addLoss(loss);
}

void LayerImpl::set_input_spec(InputSpec spec, size_t index) {
  if (state->specs.size() <= index)
    state->specs.resize(index + 1);
  state->specs[index] = std::move(spec);
}

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models of graphs and of layers one after the other; see Model.h.
#include "meshloom/NN/Models/Model.h"
#include "../Errors.h"
#include "../Layers/LayerState.h"
#include "ModelConfig.h"

#include "meshloom/API/NameScope.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace meshloom {
using namespace detail;

namespace {

using State = LayerImpl::State;

InputSpec specOf(const Shape &shape) {
  InputSpec spec{.rank = int64_t(shape.size())};
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] >= 0)
      spec.sizes[int64_t(d)] = shape[d];
  return spec;
}

/// Integers and truth values where the graph begins with floats: these, as in
/// Keras.
Tensor asInput(const Tensor &x, const SymbolicTensor &input) {
  if (!isFloat(input.dtype()) || isFloat(x.dtype()) || isComplex(x.dtype()))
    return x;
  Tensor floats = cast(x, input.dtype());
  set_mask(floats, get_mask(x));
  return floats;
}

/// Inputs without a name of their own are "input", "input_1", ..., each only
/// once.
void numberInputs(const std::vector<SymbolicTensor> &inputs) {
  std::set<std::string> taken;
  for (const SymbolicTensor &input : inputs)
    if (input.node()->isNumbered)
      taken.insert(input.name());
  for (const SymbolicTensor &input : inputs) {
    GraphNode &node = *input.node();
    if (!node.isInput() || std::exchange(node.isNumbered, true))
      continue;
    const std::string wish = node.name;
    for (size_t i = 1; !taken.insert(node.name).second; ++i)
      node.name = fmt::format("{}_{}", wish, i);
  }
}

/// The only input or output that the layer has in a graph.
SymbolicTensor onlyEnd(const Layer &layer, bool isInput, const Where &where) {
  const char *const end = isInput ? "input" : "output";
  auto refuse = [&](const std::string &why) {
    nn::fail(end,
             fmt::format("layer '{}' has no {} of its own: {}", layer.name(),
                         end, why),
             where);
  };
  std::vector<SymbolicTensor> ends;
  if (auto *model = dynamic_cast<ModelImpl *>(&layer.implementation()))
    ends = isInput ? model->inputs() : model->outputs();
  if (ends.empty()) {
    State &state = State::of(layer);
    std::vector<std::shared_ptr<GraphNode>> calls;
    std::lock_guard lock(state.mutex);
    for (const std::weak_ptr<GraphNode> &call : state.graphCalls)
      if (std::shared_ptr<GraphNode> node = call.lock())
        calls.push_back(std::move(node));
    if (calls.empty())
      refuse("it was not called on a symbolic tensor; begin the model with an "
             "Input");
    if (calls.size() > 1)
      refuse(fmt::format("it was called {} times; keep the result of each call",
                         calls.size()));
    ends = calls[0]->inputs;
    if (!isInput) {
      ends.clear();
      for (size_t i = 0; i < calls[0]->results.size(); ++i)
        ends.emplace_back(calls[0], i);
    }
  }
  if (ends.size() != 1)
    refuse(fmt::format("it has {} in the graph", ends.size()));
  return ends[0];
}

/// A graph.
class FunctionalImpl : public ModelImpl {
public:
  FunctionalImpl(std::vector<SymbolicTensor> inputs,
                 std::vector<SymbolicTensor> outputs, std::string name)
      : ModelImpl("Functional", std::move(name)), ins(std::move(inputs)),
        outs(std::move(outputs)) {
    if (ins.empty() || outs.empty())
      Error("[Model] expected inputs and outputs, got none").raise();
    for (const SymbolicTensor &tensor : ins)
      tensor.shape(); // throws if it is empty
    for (const SymbolicTensor &tensor : outs)
      tensor.shape();
    numberInputs(ins);
    nodes = sortedNodes(ins, outs);
    std::set<const LayerImpl *> visited;
    for (const std::shared_ptr<GraphNode> &node : nodes) {
      if (node->isInput())
        Error(fmt::format("[Model] an output needs the Input '{}' {}, which is "
                          "not among the "
                          "inputs: give it too",
                          node->name, sizesText(node->results[0].shape)))
            .raise();
      if (visited.insert(node->layer.internal().get()).second)
        track(node->layer);
    }
    State &state = State::of(*this);
    state.isBuilt = true;
    for (size_t i = 0; i < ins.size(); ++i) {
      state.builtFor.push_back({ins[i].shape(), ins[i].dtype()});
      set_input_spec(specOf(ins[i].shape()), i);
    }
    for (const SymbolicTensor &tensor : outs)
      state.results.push_back({tensor.shape(), tensor.dtype()});
  }

  std::vector<SymbolicTensor> inputs() const override { return ins; }
  std::vector<SymbolicTensor> outputs() const override { return outs; }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (xs.size() != ins.size()) {
      std::vector<std::string> names;
      for (const SymbolicTensor &input : ins)
        names.push_back(input.name());
      Error(fmt::format("[Model] model '{}' takes {} inputs, '{}', got {}: "
                        "give several as a "
                        "vector, or as a map by their names (a pair is inputs "
                        "and labels)",
                        handle().name(), ins.size(), fmt::join(names, "', '"),
                        xs.size()))
          .raise();
    }
    std::map<std::pair<const GraphNode *, size_t>, Tensor> values;
    auto valueOf = [&](const SymbolicTensor &tensor) -> Tensor & {
      return values[{tensor.node().get(), tensor.index()}];
    };
    for (size_t i = 0; i < xs.size(); ++i)
      valueOf(ins[i]) = asInput(xs[i], ins[i]);
    for (const std::shared_ptr<GraphNode> &node : nodes) {
      std::vector<Tensor> operands;
      for (const SymbolicTensor &input : node->inputs)
        operands.push_back(valueOf(input));
      CallOptions callOptions = node->options;
      if (!callOptions.mask.defined() && node->inputs[0].is(ins[0]))
        callOptions.mask = options.mask;
      std::vector<Tensor> results =
          node->layer.call_many(operands, callOptions, node->where);
      for (size_t i = 0; i < results.size(); ++i)
        values.try_emplace({node.get(), i}, results[i]);
    }
    std::vector<Tensor> ys;
    for (const SymbolicTensor &output : outs)
      ys.push_back(valueOf(output));
    return ys;
  }
  /// Its layers say so.
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

  nn::Config get_config() const override {
    nn::Config config = LayerImpl::get_config();
    writeGraph(config, ins, outs, nodes);
    return config;
  }

private:
  std::vector<SymbolicTensor> ins, outs;
  std::vector<std::shared_ptr<GraphNode>> nodes;
};

/// Layers one after the other.
class SequentialImpl : public ModelImpl {
public:
  explicit SequentialImpl(std::string name)
      : ModelImpl("Sequential", std::move(name)) {}

  std::vector<SymbolicTensor> inputs() const override {
    return first.defined() ? std::vector{first} : std::vector<SymbolicTensor>();
  }
  std::vector<SymbolicTensor> outputs() const override {
    return first.defined() ? std::vector{last} : std::vector<SymbolicTensor>();
  }

  void add(const SequentialPart &part) {
    if (part.layer.defined()) {
      track(part.layer);
      if (first.defined())
        extend(part.layer);
      return;
    }
    part.input.shape(); // throws if it is empty
    if (first.defined() || !handle().layers().empty())
      Error(fmt::format("[Sequential] expected the Input of '{}' as its "
                        "first part, and one only",
                        handle().name()))
          .raise();
    begin(part.input);
  }

  void pop() {
    State &state = State::of(*this);
    if (state.parts.empty())
      Error("[Sequential] expected a layer to take off, got a model "
            "without layers",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    state.parts.pop_back();
    if (!first.defined())
      return;
    const SymbolicTensor input = first;
    begin(input);
    for (const Layer &layer : handle().layers())
      extend(layer);
  }

  void build_many(const std::vector<Shape> &shapes) override {
    if (first.defined())
      return;
    const Shape &shape = shapes.at(0);
    if (shape.empty())
      Error("[Sequential] expected a tensor [batch, ...], got a scalar")
          .raise();
    const SymbolicTensor input =
        Input(Shape(shape.begin() + 1, shape.end()),
              {.batch_size = shape[0],
               .dtype = State::of(*this).builtFor.at(0).dtype});
    SymbolicTensor x = input;
    for (const Layer &layer : handle().layers())
      x = layer(x);
    begin(input);
    last = x;
    State::of(*this).results = {{x.shape(), x.dtype()}};
  }

  Tensor call(const Tensor &x, const CallOptions &options) override {
    Tensor y = first.defined() ? asInput(x, first) : x;
    CallOptions callOptions{.training = std::nullopt, .mask = options.mask};
    for (const Layer &layer : handle().layers()) {
      y = layer(y, callOptions);
      callOptions = {}; // what is masked goes on with the tensors
    }
    return y;
  }
  /// Its layers say so.
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

  nn::Config get_config() const override {
    nn::Config config = LayerImpl::get_config();
    nn::Config::List list;
    for (const State::Part &part : State::of(*this).parts)
      list.push_back(std::get<Layer>(part.part).config());
    config["layers"] = std::move(list);
    if (first.defined()) {
      config["input"]["shape"] = first.shape();
      config["input"]["dtype"] = std::string(meshloom::name(first.dtype()));
    }
    return config;
  }

private:
  void begin(const SymbolicTensor &input) {
    first = last = input;
    set_input_spec(specOf(first.shape()));
    State::of(*this).builtFor = {{first.shape(), first.dtype()}};
  }
  void extend(const Layer &layer) {
    last = layer(last, {}, Where()); // no line of the user's
    State &state = State::of(*this);
    state.isBuilt = true;
    state.results = {{last.shape(), last.dtype()}};
  }

  SymbolicTensor first, last;
};

SequentialImpl &sequential(const Layer &layer) {
  return static_cast<SequentialImpl &>(layer.implementation());
}

} // namespace

Layer detail::makeSequential(const nn::Config &config) {
  std::vector<SequentialPart> parts;
  if (const nn::Config *input = config.find("input")) {
    Shape shape = input->at("shape").as_ints();
    if (shape.empty())
      Error("[Sequential] expected the shape of an input, [batch, ...], "
            "got []: the batch is its first dim")
          .raise();
    parts.emplace_back(Input(
        Shape(shape.begin() + 1, shape.end()),
        {.batch_size = shape.at(0), .dtype = dtypeOf(input->at("dtype"))}));
  }
  for (const nn::Config &layer : config.at("layers").as_list())
    parts.emplace_back(Layer::from_config(layer));
  return Sequential(parts);
}

ModelImpl::ModelImpl(std::string class_name, std::string name,
                     LayerOptions options)
    : LayerImpl(std::move(class_name), std::move(name), std::move(options)) {
  State::of(*this).isModel = true;
}

SymbolicTensor Layer::input(Where where) const {
  return onlyEnd(*this, true, where);
}
SymbolicTensor Layer::output(Where where) const {
  return onlyEnd(*this, false, where);
}

Model::Model(SymbolicTensors inputs, SymbolicTensors outputs, std::string name,
             Where where)
    : Model(detail::atLine(where, [&] {
        return std::make_shared<FunctionalImpl>(std::move(inputs.tensors),
                                                std::move(outputs.tensors),
                                                std::move(name));
      })) {}

Model::Model(const Layer &layer, Where where) : Trainer(layer.internal()) {
  if (!State::of(layer).isModel)
    Error(fmt::format("[Model] expected a layer that is a model, got {} "
                      "'{}'",
                      layer.class_name(), layer.name()))
        .atLine(where)
        .raise();
}

ModelImpl &Model::model() const {
  return static_cast<ModelImpl &>(implementation());
}
std::vector<SymbolicTensor> Model::inputs() const {
  return model().inputs();
}
std::vector<SymbolicTensor> Model::outputs() const {
  return model().outputs();
}

Sequential::Sequential(const std::vector<SequentialPart> &parts,
                       std::string name, Where where)
    : Model(std::make_shared<SequentialImpl>(std::move(name))) {
  for (const SequentialPart &part : parts)
    add(part, where);
}
Sequential::Sequential(std::initializer_list<SequentialPart> parts,
                       std::string name, Where where)
    : Sequential(std::vector<SequentialPart>(parts), std::move(name), where) {}
void Sequential::add(const SequentialPart &part, Where where) const {
  detail::atLine(where, [&] { sequential(*this).add(part); });
}
void Sequential::pop() const {
  sequential(*this).pop();
}

} // namespace meshloom

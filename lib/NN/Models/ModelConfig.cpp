// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graph of a model as lists: its layers, and which is called on what.
#include "ModelConfig.h"

#include "meshloom/NN/Models/Model.h"

#include <map>

namespace meshloom::detail {
namespace {

/// "calls" has the inputs first, then one entry for each call; a tensor is the
/// index of one, and which of its results it is.
class Numbers {
public:
  void add(const GraphNode *node) { indices.emplace(node, indices.size()); }
  nn::Config of(const SymbolicTensor &tensor) const {
    return nn::Config(Shape{int64_t(indices.at(tensor.node().get())),
                            int64_t(tensor.index())});
  }
  nn::Config of(const std::vector<SymbolicTensor> &tensors) const {
    nn::Config::List list;
    for (const SymbolicTensor &tensor : tensors)
      list.push_back(of(tensor));
    return list;
  }

private:
  std::map<const GraphNode *, size_t> indices;
};

} // namespace

DType dtypeOf(const nn::Config &name) {
  if (std::optional<DType> type = parseDType(name.as_string()))
    return *type;
  Error("[Config] expected the name of an element type, got " + name.to_json())
      .raise();
}

void writeGraph(nn::Config &config, const std::vector<SymbolicTensor> &inputs,
                const std::vector<SymbolicTensor> &outputs,
                const std::vector<std::shared_ptr<GraphNode>> &nodes) {
  Numbers numbers;
  nn::Config::List ins, layers, calls;
  for (const SymbolicTensor &input : inputs) {
    if (!input.node()->isInput())
      Error("[Model] a model whose inputs are results of another model's "
            "layers cannot be saved: create its inputs with Input",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    numbers.add(input.node().get());
    nn::Config entry;
    entry["name"] = input.name();
    entry["shape"] = input.shape();
    entry["dtype"] = std::string(name(input.dtype()));
    ins.push_back(std::move(entry));
  }
  std::map<const LayerImpl *, size_t> layerNumbers;
  for (const std::shared_ptr<GraphNode> &node : nodes) {
    numbers.add(node.get());
    auto [layerEntry, isNew] =
        layerNumbers.emplace(node->layer.internal().get(), layers.size());
    if (isNew)
      layers.push_back(node->layer.config());
    nn::Config entry;
    entry["layer"] = layerEntry->second;
    entry["inputs"] = numbers.of(node->inputs);
    if (node->options.training)
      entry["training"] = *node->options.training;
    calls.push_back(std::move(entry));
  }
  config["inputs"] = std::move(ins);
  config["layers"] = std::move(layers);
  config["calls"] = std::move(calls);
  config["outputs"] = numbers.of(outputs);
}

Layer makeFunctional(const nn::Config &config) {
  std::vector<std::vector<SymbolicTensor>> tensors;
  std::vector<SymbolicTensor> inputs, outputs;
  for (const nn::Config &input : config.at("inputs").as_list()) {
    Shape shape = input.at("shape").as_ints();
    if (shape.empty())
      Error("[Model] expected the shape of an input, [batch, ...], got "
            "[]: the batch is its first dim")
          .raise();
    inputs.push_back(Input(Shape(shape.begin() + 1, shape.end()),
                           {.batch_size = shape.at(0),
                            .dtype = dtypeOf(input.at("dtype")),
                            .name = input.at("name").as_string()}));
    tensors.push_back({inputs.back()});
  }
  auto tensorOf = [&](const nn::Config &place) {
    const Shape indices = place.as_ints();
    return tensors.at(size_t(indices.at(0))).at(size_t(indices.at(1)));
  };
  std::vector<Layer> layers;
  for (const nn::Config &layer : config.at("layers").as_list())
    layers.push_back(Layer::from_config(layer));
  for (const nn::Config &call : config.at("calls").as_list()) {
    std::vector<SymbolicTensor> operands;
    for (const nn::Config &place : call.at("inputs").as_list())
      operands.push_back(tensorOf(place));
    CallOptions options;
    if (const nn::Config *training = call.find("training"))
      options.training = training->as_bool();
    tensors.push_back(layers.at(size_t(call.at("layer").as_int()))
                          .call_many(operands, options));
  }
  for (const nn::Config &place : config.at("outputs").as_list())
    outputs.push_back(tensorOf(place));
  return Model(inputs, outputs);
}

} // namespace meshloom::detail

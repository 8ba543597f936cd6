// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators on symbolic tensors: each is a layer without weights. See
// Symbolic.h.
#include "../Models/Graph.h"
#include "../Models/ModelConfig.h"
#include "BuiltIn.h"
#include "LayerState.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/SliceOps.h"
#include "meshloom/NN/Layers/Core.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

using namespace detail;
using layers::PlainOptions;

/// An operand that is not an input: a number or a tensor that is known.
class Constant {
public:
  Constant() = default;
  explicit Constant(const SymbolicOperand &operand) {
    if (operand.value.defined())
      tensor = operand.value;
    else if (!operand.tensor.defined())
      number = operand.number;
  }
  /// Reads the entry `key` of `config`, if there is one.
  Constant(const nn::Config &config, const char *key) {
    const nn::Config *entry = config.find(key);
    if (!entry)
      return;
    if (!entry->is_map()) {
      number = entry->as_double();
      return;
    }
    std::vector<double> values;
    for (const nn::Config &value : entry->at("values").as_list())
      values.push_back(value.as_double());
    tensor = cast(meshloom::tensor(values, entry->at("shape").as_ints()),
                  dtypeOf(entry->at("dtype")));
  }
  bool isSet() const { return number || tensor.defined(); }
  TensorLike operand() const {
    return number ? TensorLike(*number) : TensorLike(tensor);
  }
  void write(nn::Config &config, const char *key) const {
    if (number)
      config[key] = *number;
    if (!tensor.defined())
      return;
    nn::Config &entry = config[key];
    entry["dtype"] = std::string(name(tensor.dtype()));
    entry["shape"] = tensor.shape();
    const std::vector<double> values =
        cast(tensor, DType::F64).to_vector<double>();
    entry["values"] = nn::Config::List(values.begin(), values.end());
  }
  bool isComplex() const {
    return tensor.defined() && meshloom::isComplex(tensor.dtype());
  }

private:
  std::optional<double> number;
  Tensor tensor;
};

/// a OP b, of which one may be known.
class OperatorImpl : public BuiltIn<OperatorImpl, PlainOptions> {
public:
  OperatorImpl(std::string operation, Constant first, Constant second,
               PlainOptions options)
      : BuiltIn("Operator", std::move(options)),
        operation(std::move(operation)), first(std::move(first)),
        second(std::move(second)) {
    if (settings.name.empty())
      LayerImpl::State::of(*this).name = this->operation;
  }
  explicit OperatorImpl(const nn::Config &config)
      : OperatorImpl(config.at("operation").as_string(),
                     Constant(config, "first"), Constant(config, "second"),
                     read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    if (first.isComplex() || second.isComplex())
      refuse("an operator with a complex tensor cannot be saved: use an Input "
             "or a layer with a weight");
    nn::Config config = BuiltIn::get_config();
    config["operation"] = operation;
    first.write(config, "first");
    second.write(config, "second");
    return config;
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    const size_t wanted = first.isSet() || second.isSet() ? 1 : 2;
    if (xs.size() != wanted)
      refuse(fmt::format("expected {} tensors, got {}", wanted, xs.size()));
    const TensorLike a = first.isSet() ? first.operand() : TensorLike(xs[0]);
    const TensorLike b =
        second.isSet() ? second.operand() : TensorLike(xs.back());
    if (operation == "add")
      return {a + b};
    if (operation == "subtract")
      return {a - b};
    if (operation == "multiply")
      return {a * b};
    if (operation == "divide")
      return {a / b};
    refuse(fmt::format("expected the operation 'add', 'subtract', 'multiply' "
                       "or 'divide', got '{}'",
                       operation));
  }

private:
  const std::string operation;
  const Constant first, second;
};

nn::Config configOf(const Index &index) {
  switch (index.kind) {
  case Index::Kind::Number:
    return index.number;
  case Index::Kind::NewAxis:
    return "newaxis";
  case Index::Kind::Ellipsis:
    return "ellipsis";
  case Index::Kind::Range: {
    auto bound = [](const std::optional<int64_t> &number) {
      return number ? nn::Config(*number) : nn::Config();
    };
    return nn::Config::List{bound(index.range.begin), bound(index.range.end),
                            index.range.stride};
  }
  case Index::Kind::Tensor:
  case Index::Kind::None:
    break;
  }
  Error("[SymbolicTensor] expected indices that are numbers, ranges, "
        "all, newaxis or ellipsis, got a tensor: take is for those, in a "
        "Lambda")
      .raise();
}

Index indexOf(const nn::Config &config) {
  if (config.is_integer())
    return config.as_int();
  if (config.is_string())
    return config.as_string() == "newaxis" ? Index(newaxis) : Index(ellipsis);
  const nn::Config::List &range = config.as_list();
  auto bound = [&](size_t i) {
    return range.at(i).is_null() ? std::nullopt
                                 : std::optional(range[i].as_int());
  };
  return IndexRange{bound(0), bound(1), range.at(2).as_int()};
}

/// x(a, b, ...).
class SliceImpl : public BuiltIn<SliceImpl, PlainOptions> {
public:
  SliceImpl(nn::Config::List indices, PlainOptions options)
      : BuiltIn("Slice", std::move(options)), indices(std::move(indices)) {
    if (this->indices.size() > 8)
      refuse(fmt::format("expected at most 8 indices, got {}",
                         this->indices.size()));
  }
  explicit SliceImpl(const nn::Config &config)
      : SliceImpl(config.at("indices").as_list(), read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["indices"] = indices;
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    Index filled[8];
    for (size_t i = 0; i < indices.size(); ++i)
      filled[i] = indexOf(indices[i]);
    return x(filled[0], filled[1], filled[2], filled[3], filled[4], filled[5],
             filled[6], filled[7]);
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  const nn::Config::List indices;
};

} // namespace

/// Sizes that are not known fit all.
static void expectBroadcast(const char *name, const SymbolicOperand &a,
                            const SymbolicOperand &b) {
  auto shapeOf = [](const SymbolicOperand &operand) {
    return operand.tensor.defined()  ? operand.tensor.shape()
           : operand.value.defined() ? operand.value.shape()
                                     : Shape();
  };
  auto textOf = [](const SymbolicOperand &operand) {
    if (operand.tensor.defined())
      return to_string(operand.tensor);
    return fmt::format("{} {}", meshloom::name(operand.value.dtype()),
                       sizesText(operand.value.shape()));
  };
  const Shape x = shapeOf(a), y = shapeOf(b);
  for (size_t d = 1; d <= std::min(x.size(), y.size()); ++d) {
    const int64_t m = x[x.size() - d], n = y[y.size() - d];
    if (m != n && m > 1 && n > 1)
      Error(fmt::format("[{}] expected shapes that broadcast, got {} and "
                        "{}",
                        name, textOf(a), textOf(b)))
          .raise();
  }
}

SymbolicOperand::SymbolicOperand(const Tensor &value) : value(value) {
  if (!value.defined())
    Error("[SymbolicTensor] expected a tensor beside it, got an empty "
          "Tensor")
        .raise();
}

SymbolicTensor detail::applyOperator(const char *name, const SymbolicOperand &a,
                                     const SymbolicOperand &b) {
  std::vector<SymbolicTensor> inputs;
  for (const SymbolicOperand *operand : {&a, &b})
    if (operand->tensor.defined())
      inputs.push_back(operand->tensor);
  if (inputs.empty())
    Error("[SymbolicTensor] expected a result of Input or of a layer, got an "
          "empty one")
        .raise();
  expectBroadcast(name, a, b);
  return Layer(makeLayer<OperatorImpl>(name, Constant(a), Constant(b),
                                       PlainOptions()))(inputs);
}

SymbolicTensor operator-(const SymbolicTensor &x) {
  return detail::applyOperator("multiply", x, -1);
}

SymbolicTensor SymbolicTensor::operator()(const Index &a, const Index &b,
                                          const Index &c, const Index &d,
                                          const Index &e, const Index &f,
                                          const Index &g,
                                          const Index &h) const {
  nn::Config::List indices;
  for (const Index *index : {&a, &b, &c, &d, &e, &f, &g, &h})
    if (index->kind != Index::Kind::None)
      indices.push_back(configOf(*index));
  return Layer(makeLayer<SliceImpl>(std::move(indices), PlainOptions()))(*this);
}

} // namespace meshloom

meshloom::detail::LayerList meshloom::detail::operatorLayers() {
  return {{"Operator", createLayer<OperatorImpl>},
          {"Slice", createLayer<SliceImpl>}};
}

// Operators on symbolic tensors: each is a layer without weights. See
// Symbolic.h.
#include "BuiltIn.h"
#include "LayerState.h"

#include "meshloom/API/SliceOps.h"
#include "meshloom/NN/Layers/Core.h"

#include <fmt/format.h>

namespace meshloom {
namespace {

using namespace detail;
using layers::PlainOptions;

/// a OP b, of which one may be a number.
class OperatorImpl : public BuiltIn<OperatorImpl, PlainOptions> {
public:
  OperatorImpl(std::string operation, std::optional<double> first,
               std::optional<double> second, PlainOptions options)
      : BuiltIn("Operator", std::move(options)),
        operation(std::move(operation)), first(first), second(second) {
    if (own.name.empty())
      LayerImpl::State::of(*this).name = this->operation;
  }
  explicit OperatorImpl(const Config &config)
      : OperatorImpl(config.at("operation").as_string(),
                     numberOf(config, "first"), numberOf(config, "second"),
                     read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["operation"] = operation;
    if (first)
      config["first"] = *first;
    if (second)
      config["second"] = *second;
    return config;
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &) override {
    const size_t wanted = first || second ? 1 : 2;
    if (xs.size() != wanted)
      refuse(fmt::format("expected {} tensors, got {}", wanted, xs.size()));
    const TensorLike a = first ? TensorLike(*first) : TensorLike(xs[0]);
    const TensorLike b = second ? TensorLike(*second) : TensorLike(xs.back());
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
  static std::optional<double> numberOf(const Config &config, const char *key) {
    const Config *entry = config.find(key);
    return entry ? std::optional(entry->as_double()) : std::nullopt;
  }
  const std::string operation;
  const std::optional<double> first, second;
};

Config configOf(const Index &index) {
  switch (index.kind) {
  case Index::Kind::Number:
    return index.number;
  case Index::Kind::NewAxis:
    return "newaxis";
  case Index::Kind::Ellipsis:
    return "ellipsis";
  case Index::Kind::Range: {
    auto bound = [](const std::optional<int64_t> &number) {
      return number ? Config(*number) : Config();
    };
    return Config::List{bound(index.range.begin), bound(index.range.end),
                        index.range.stride};
  }
  case Index::Kind::Tensor:
  case Index::Kind::None:
    break;
  }
  throw Error("[SymbolicTensor] expected indices that are numbers, ranges, "
              "all, newaxis or ellipsis, got a tensor: take is for those, in a "
              "Lambda");
}

Index indexOf(const Config &config) {
  if (config.is_integer())
    return config.as_int();
  if (config.is_string())
    return config.as_string() == "newaxis" ? Index(newaxis) : Index(ellipsis);
  const Config::List &range = config.as_list();
  auto bound = [&](size_t i) {
    return range.at(i).is_null() ? std::nullopt
                                 : std::optional(range[i].as_int());
  };
  return IndexRange{bound(0), bound(1), range.at(2).as_int()};
}

/// x(a, b, ...).
class SliceImpl : public BuiltIn<SliceImpl, PlainOptions> {
public:
  SliceImpl(Config::List indices, PlainOptions options)
      : BuiltIn("Slice", std::move(options)), indices(std::move(indices)) {
    if (this->indices.size() > 8)
      refuse(fmt::format("expected at most 8 indices, got {}",
                         this->indices.size()));
  }
  explicit SliceImpl(const Config &config)
      : SliceImpl(config.at("indices").as_list(), read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["indices"] = indices;
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    Index all[8];
    for (size_t i = 0; i < indices.size(); ++i)
      all[i] = indexOf(indices[i]);
    return x(all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]);
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &,
                                   const std::vector<Tensor> &) override {
    return {};
  }

private:
  const Config::List indices;
};

} // namespace

/// Sizes that are not known fit all.
static void expectBroadcast(const char *name, const SymbolicTensor &a,
                            const SymbolicTensor &b) {
  const Shape &x = a.shape(), &y = b.shape();
  for (size_t d = 1; d <= std::min(x.size(), y.size()); ++d) {
    const int64_t m = x[x.size() - d], n = y[y.size() - d];
    if (m != n && m > 1 && n > 1)
      throw Error(fmt::format("[{}] expected shapes that broadcast, got {} and "
                              "{}",
                              name, to_string(a), to_string(b)));
  }
}

SymbolicTensor detail::applyOperator(const char *name, const SymbolicOperand &a,
                                     const SymbolicOperand &b) {
  auto number = [](const SymbolicOperand &operand) {
    return operand.tensor.defined() ? std::nullopt
                                    : std::optional(operand.number);
  };
  std::vector<SymbolicTensor> inputs;
  for (const SymbolicOperand *operand : {&a, &b})
    if (operand->tensor.defined())
      inputs.push_back(operand->tensor);
  if (inputs.empty())
    throw Error("[SymbolicTensor] expected what Input or a layer gave, got an "
                "empty one");
  if (inputs.size() == 2)
    expectBroadcast(name, inputs[0], inputs[1]);
  return Layer(std::make_shared<OperatorImpl>(name, number(a), number(b),
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
  Config::List indices;
  for (const Index *index : {&a, &b, &c, &d, &e, &f, &g, &h})
    if (index->kind != Index::Kind::None)
      indices.push_back(configOf(*index));
  return Layer(std::make_shared<SliceImpl>(std::move(indices), PlainOptions()))(
      *this);
}

} // namespace meshloom

meshloom::detail::LayerList meshloom::detail::operatorLayers() {
  return {{"Operator", madeOf<OperatorImpl>}, {"Slice", madeOf<SliceImpl>}};
}

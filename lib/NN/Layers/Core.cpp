// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dense and other layers that work on any dims; see Core.h.
#include "meshloom/NN/Layers/Core.h"
#include "../Errors.h"
#include "../Numbers.h"
#include "BuiltIn.h"
#include "Kernel.h"

#include "meshloom/NN/Functions.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

class DenseImpl : public BuiltIn<DenseImpl, DenseOptions>, public KernelOwner {
public:
  DenseImpl(int64_t units, DenseOptions options)
      : BuiltIn("Dense", std::move(options)), units(units) {
    expectPositive("units", units);
  }
  explicit DenseImpl(const nn::Config &config)
      : DenseImpl(config.at("units").as_int(), read(config)) {
    kernel.read(config);
  }

  template <typename F> static void fields(F &field, DenseOptions &o) {
    kernelAndBiasFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["units"] = units;
    kernel.write(config);
    return config;
  }

  void build(const Shape &input) override {
    if (input.empty() || input.back() < 0)
      refuse(fmt::format("expected an input [batch, ..., features] with a "
                         "known number of features, got {}",
                         sizesText(input)));
    kernel.build({input.back(), units}, kernelOptions(settings), scaledDims());
    if (settings.use_bias)
      bias = add_weight("bias", {units}, biasOptions(settings));
    set_input_spec({.min_rank = 2, .sizes = {{-1, input.back()}}});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    if (!isComplex(x.dtype()))
      nn::expectFloat(x, "Dense", Where::current());
    Tensor y = kernel.productWith(
        x,
        {.product = [](const Tensor &input,
                       const Tensor &matrix) { return matmul(input, matrix); },
         .inputDims = [](const Tensor &) { return std::vector<int64_t>{-1}; },
         .kernelDims = scaledDims(),
         .scales = [](const Tensor &ofInput,
                      const Tensor &ofKernel) { return ofInput * ofKernel; }});
    if (bias.defined())
      y = y + bias;
    return settings.activation ? settings.activation(y) : y;
  }
  Kernel &kernelOfLayer() override { return kernel; }
  std::vector<int64_t> scaledDims() const override { return {0}; }

  const int64_t units;
  Kernel kernel{*this, "kernel"};
  DVariable bias;
};

class EmbeddingImpl : public BuiltIn<EmbeddingImpl, EmbeddingOptions>,
                      public KernelOwner {
public:
  EmbeddingImpl(int64_t count, int64_t features, EmbeddingOptions options)
      : BuiltIn("Embedding", std::move(options)), count(count),
        features(features) {
    expectPositive("input_dim", count);
    expectPositive("output_dim", features);
  }
  explicit EmbeddingImpl(const nn::Config &config)
      : EmbeddingImpl(config.at("input_dim").as_int(),
                      config.at("output_dim").as_int(), read(config)) {
    table.read(config);
  }
  template <typename F> static void fields(F &field, EmbeddingOptions &o) {
    field("embeddings_initializer", o.embeddings_initializer);
    field("embeddings_regularizer", o.embeddings_regularizer);
    field("embeddings_constraint", o.embeddings_constraint);
    field("mask_zero", o.mask_zero);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["input_dim"] = count;
    config["output_dim"] = features;
    table.write(config);
    return config;
  }
  void build(const Shape &) override {
    table.build({count, features},
                {.initializer = settings.embeddings_initializer,
                 .regularizer = settings.embeddings_regularizer,
                 .constraint = settings.embeddings_constraint},
                scaledDims());
  }
  Tensor call(const Tensor &ids, const CallOptions &) override {
    return table.rowsAt(isInteger(ids.dtype()) ? ids : cast(ids, DType::I32));
  }
  std::vector<Tensor> compute_mask(const std::vector<Tensor> &xs,
                                   const std::vector<Tensor> &) override {
    return {settings.mask_zero ? not_equal(xs[0], 0) : Tensor()};
  }

private:
  Kernel &kernelOfLayer() override { return table; }
  bool isProduct() const override { return false; }
  std::vector<int64_t> scaledDims() const override { return {1}; }

  const int64_t count, features;
  Kernel table{*this, "embeddings"};
};

class ActivationImpl : public BuiltIn<ActivationImpl, PlainOptions> {
public:
  ActivationImpl(std::string class_name, activations::Activation function,
                 PlainOptions options)
      : BuiltIn(std::move(class_name), std::move(options)),
        function(std::move(function)) {}
  explicit ActivationImpl(const nn::Config &config)
      : ActivationImpl("Activation", {}, read(config)) {
    ReadFields read(config);
    read("activation", function);
  }
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["activation"] = configOf(function);
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return function ? function(x) : x;
  }

private:
  activations::Activation function;
};

class ReLUImpl : public BuiltIn<ReLUImpl, ReLUOptions> {
public:
  explicit ReLUImpl(ReLUOptions options)
      : BuiltIn("ReLU", std::move(options)) {}
  explicit ReLUImpl(const nn::Config &config) : ReLUImpl(read(config)) {}
  template <typename F> static void fields(F &field, ReLUOptions &o) {
    field("max_value", o.max_value, Bound::NotNegative);
    field("negative_slope", o.negative_slope, Bound::NotNegative);
    field("threshold", o.threshold, Bound::NotNegative);
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return activations::relu(x, {.negative_slope = settings.negative_slope,
                                 .max_value = settings.max_value,
                                 .threshold = settings.threshold});
  }
};

class DropoutImpl : public BuiltIn<DropoutImpl, DropoutOptions> {
public:
  DropoutImpl(double rate, DropoutOptions options)
      : BuiltIn("Dropout", std::move(options)), rate(rate) {
    expectRate("a rate", rate);
    seedFrom(settings.seed);
  }
  explicit DropoutImpl(const nn::Config &config)
      : DropoutImpl(config.at("rate").as_double(), read(config)) {}
  template <typename F> static void fields(F &field, DropoutOptions &o) {
    seedField(field, o.seed);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["rate"] = rate;
    return config;
  }
  void build(const Shape &) override {
    if (rate > 0)
      add_seed();
  }
  Tensor call(const Tensor &x, const CallOptions &options) override {
    return *options.training && rate > 0 ? nn::dropout(x, rate, next_seed())
                                         : x;
  }

private:
  const double rate;
};

class RescalingImpl : public BuiltIn<RescalingImpl, PlainOptions> {
public:
  RescalingImpl(double scale, double offset, PlainOptions options)
      : BuiltIn("Rescaling", std::move(options)), scale(scale), offset(offset) {
  }
  explicit RescalingImpl(const nn::Config &config)
      : RescalingImpl(config.at("scale").as_double(),
                      config.at("offset").as_double(), read(config)) {}
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["scale"] = scale;
    config["offset"] = offset;
    return config;
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return (isFloat(x.dtype()) ? x : cast(x, DType::F32)) * scale + offset;
  }

private:
  const double scale, offset;
};

class LambdaImpl : public BuiltIn<LambdaImpl, PlainOptions> {
public:
  LambdaImpl(std::function<Tensor(const Tensor &)> ofOne,
             std::function<Tensor(const std::vector<Tensor> &)> ofSeveral,
             PlainOptions options)
      : BuiltIn("Lambda", std::move(options)), ofOne(std::move(ofOne)),
        ofSeveral(std::move(ofSeveral)) {
    if (!this->ofOne && !this->ofSeveral)
      refuse("expected a function, got an empty one");
  }
  template <typename F> static void fields(F &, PlainOptions &) {}
  nn::Config get_config() const override {
    refuse(
        "a function cannot be saved: derive a layer from LayerImpl, and make "
        "it known with register_layer");
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    return ofOne(x);
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    if (ofSeveral)
      return {ofSeveral(xs)};
    return BuiltIn::call_many(xs, options);
  }

private:
  std::function<Tensor(const Tensor &)> ofOne; ///< or:
  std::function<Tensor(const std::vector<Tensor> &)> ofSeveral;
};

} // namespace

Embedding::Embedding(int64_t input_dim, int64_t output_dim,
                     EmbeddingOptions options)
    : Layer(makeLayer<EmbeddingImpl>(input_dim, output_dim,
                                     std::move(options))) {}
Activation::Activation(activations::Activation activation, PlainOptions options)
    : Layer(makeLayer<ActivationImpl>("Activation", std::move(activation),
                                      std::move(options))) {}
ReLU::ReLU(ReLUOptions options)
    : Layer(makeLayer<ReLUImpl>(std::move(options))) {}
ELU::ELU(double alpha, PlainOptions options)
    : Activation(atLine(lineOf(options),
                        [&] {
                          expectBound("ELU", "alpha", alpha, Bound::Finite);
                          return activations::Activation("elu",
                                                         {{"alpha", alpha}});
                        }),
                 std::move(options)) {}
LeakyReLU::LeakyReLU(double negative_slope, PlainOptions options)
    : Activation(atLine(lineOf(options),
                        [&] {
                          expectBound("LeakyReLU", "negative_slope",
                                      negative_slope, Bound::NotNegative);
                          return activations::Activation(
                              "leaky_relu",
                              {{"negative_slope", negative_slope}});
                        }),
                 std::move(options)) {}
Softmax::Softmax(int64_t axis, PlainOptions options)
    : Activation({"softmax", {{"axis", axis}}}, std::move(options)) {}
Dropout::Dropout(double rate, DropoutOptions options)
    : Layer(makeLayer<DropoutImpl>(rate, std::move(options))) {}
Rescaling::Rescaling(double scale, double offset, PlainOptions options)
    : Layer(makeLayer<RescalingImpl>(scale, offset, std::move(options))) {}
Lambda::Lambda(std::function<Tensor(const Tensor &)> function,
               PlainOptions options)
    : Layer(makeLayer<LambdaImpl>(std::move(function), nullptr,
                                  std::move(options))) {}
Lambda::Lambda(std::function<Tensor(const std::vector<Tensor> &)> function,
               PlainOptions options)
    : Layer(makeLayer<LambdaImpl>(nullptr, std::move(function),
                                  std::move(options))) {}

Dense::Dense(int64_t units, DenseOptions options)
    : Layer(makeLayer<DenseImpl>(units, std::move(options))) {}
DVariable Dense::kernel() const {
  return implOf<DenseImpl>(*this).kernel.variable();
}
DVariable Dense::bias() const {
  return implOf<DenseImpl>(*this).bias;
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::coreLayers() {
  using namespace layers;
  return {{"Activation", createLayer<ActivationImpl>},
          {"Dense", createLayer<DenseImpl>},
          {"Dropout", createLayer<DropoutImpl>},
          {"Embedding", createLayer<EmbeddingImpl>},
          {"ReLU", createLayer<ReLUImpl>},
          {"Rescaling", createLayer<RescalingImpl>}};
}

// Dense and other layers that work on any dims; see Core.h.
#include "meshloom/NN/Layers/Core.h"
#include "BuiltIn.h"

#include <fmt/format.h>

namespace meshloom::layers {
namespace {

using namespace detail;

class DenseImpl : public BuiltIn<DenseImpl, DenseOptions> {
public:
  DenseImpl(int64_t units, DenseOptions options)
      : BuiltIn("Dense", std::move(options)), units(units) {
    expectPositive("units", units);
  }
  explicit DenseImpl(const Config &config)
      : DenseImpl(config.at("units").as_int(), read(config)) {}

  template <typename F> static void fields(F &field, DenseOptions &o) {
    field("activation", o.activation);
    field("use_bias", o.use_bias);
    field("kernel_initializer", o.kernel_initializer);
    field("bias_initializer", o.bias_initializer);
    field("kernel_regularizer", o.kernel_regularizer);
    field("bias_regularizer", o.bias_regularizer);
    field("kernel_constraint", o.kernel_constraint);
    field("bias_constraint", o.bias_constraint);
  }
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["units"] = units;
    return config;
  }

  void build(const Shape &input) override {
    if (input.empty() || input.back() < 0)
      refuse(fmt::format("expected an input [batch, ..., features] with a "
                         "known number of features, got {}",
                         sizesText(input)));
    kernel = add_weight("kernel", {input.back(), units},
                        {.initializer = own.kernel_initializer,
                         .regularizer = own.kernel_regularizer,
                         .constraint = own.kernel_constraint});
    if (own.use_bias)
      bias = add_weight("bias", {units},
                        {.initializer = own.bias_initializer,
                         .regularizer = own.bias_regularizer,
                         .constraint = own.bias_constraint});
    set_input_spec({.min_rank = 2, .sizes = {{-1, input.back()}}});
  }
  Tensor call(const Tensor &x, const CallOptions &) override {
    Tensor y = matmul(x, kernel);
    if (bias.defined())
      y = y + bias;
    return own.activation ? own.activation(y) : y;
  }

  const int64_t units;
  DVariable kernel, bias;
};

} // namespace

Dense::Dense(int64_t units, DenseOptions options)
    : Layer(std::make_shared<DenseImpl>(units, std::move(options))) {}
DVariable Dense::kernel() const {
  return implOf<DenseImpl>(*this).kernel;
}
DVariable Dense::bias() const {
  return implOf<DenseImpl>(*this).bias;
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::coreLayers() {
  using namespace layers;
  return {{"Dense", madeOf<DenseImpl>}};
}

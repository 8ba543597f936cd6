// Attention as a layer; see Layers/Attention.h.
#include "meshloom/NN/Layers/Attention.h"
#include "BuiltIn.h"

#include "meshloom/API/Einsum.h"
#include "meshloom/NN/Attention.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

class MultiHeadAttentionImpl
    : public BuiltIn<MultiHeadAttentionImpl, MultiHeadAttentionOptions> {
public:
  MultiHeadAttentionImpl(int64_t heads, int64_t size,
                         MultiHeadAttentionOptions options)
      : BuiltIn("MultiHeadAttention", std::move(options)), heads(heads),
        size(size),
        groups(own.num_key_value_heads ? own.num_key_value_heads : heads) {
    expectPositive("num_heads", heads);
    expectPositive("key_dim", size);
    expectPositive("num_key_value_heads", groups);
    if (heads % groups != 0)
      refuse(fmt::format("expected num_key_value_heads that divide num_heads, "
                         "got {} and {}",
                         groups, heads));
  }
  explicit MultiHeadAttentionImpl(const Config &config)
      : MultiHeadAttentionImpl(config.at("num_heads").as_int(),
                               config.at("key_dim").as_int(), read(config)) {}
  template <typename F>
  static void fields(F &field, MultiHeadAttentionOptions &o) {
    field("num_key_value_heads", o.num_key_value_heads);
    field("use_bias", o.use_bias);
    field("causal", o.causal);
    field("output_dim", o.output_dim);
    field("kernel_initializer", o.kernel_initializer);
    field("bias_initializer", o.bias_initializer);
    field("kernel_regularizer", o.kernel_regularizer);
    field("bias_regularizer", o.bias_regularizer);
    field("kernel_constraint", o.kernel_constraint);
    field("bias_constraint", o.bias_constraint);
  }
  Config get_config() const override {
    Config config = BuiltIn::get_config();
    config["num_heads"] = heads;
    config["key_dim"] = size;
    return config;
  }

  void build_many(const std::vector<Shape> &inputs) override {
    if (inputs.size() > 3)
      refuse(fmt::format("expected query, value and key, got {} inputs",
                         inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].size() != 3 || inputs[i].back() < 0)
        refuse("expected inputs [batch, t, features], got " +
               sizesText(inputs[i]));
      set_input_spec({.rank = 3, .sizes = {{2, inputs[i].back()}}}, i);
    }
    auto features = [&](size_t i) {
      return inputs[std::min(i, inputs.size() - 1)].back();
    };
    const int64_t out = own.output_dim ? own.output_dim : features(0);
    query = project("query", {features(0), heads, size}, {heads, size});
    key = project("key", {features(2), groups, size}, {groups, size});
    value = project("value", {features(1), groups, size}, {groups, size});
    output = project("output", {heads, size, out}, {out});
  }

  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    const Tensor &values = xs.size() > 1 ? xs[1] : xs[0];
    const Tensor &keys = xs.size() > 2 ? xs[2] : values;
    Tensor mask = options.mask;
    if (mask.defined() && mask.rank() == 3)
      mask = expand_dims(mask, 1); // of all heads
    Tensor mixed = nn::attention(toHeads(xs[0], query), toHeads(keys, key),
                                 toHeads(values, value),
                                 {.mask = mask, .causal = own.causal});
    Tensor y = einsum("bthd,hdw->btw", mixed, output.kernel);
    return {output.bias.defined() ? y + output.bias : y};
  }

private:
  struct Projection {
    DVariable kernel, bias;
  };
  Projection project(const std::string &name, const Shape &shape,
                     const Shape &biasShape) {
    Projection made{add_weight(name, shape,
                               {.initializer = own.kernel_initializer,
                                .regularizer = own.kernel_regularizer,
                                .constraint = own.kernel_constraint}),
                    {}};
    if (own.use_bias)
      made.bias = add_weight(name + "_bias", biasShape,
                             {.initializer = own.bias_initializer,
                              .regularizer = own.bias_regularizer,
                              .constraint = own.bias_constraint});
    return made;
  }
  static Tensor toHeads(const Tensor &x, const Projection &by) {
    Tensor y = einsum("btw,whd->bthd", x, by.kernel);
    return by.bias.defined() ? y + by.bias : y;
  }

  const int64_t heads, size, groups;
  Projection query, key, value, output;
};

} // namespace

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                                       MultiHeadAttentionOptions options)
    : Layer(std::make_shared<MultiHeadAttentionImpl>(num_heads, key_dim,
                                                     std::move(options))) {}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::attentionLayers() {
  return {{"MultiHeadAttention", madeOf<layers::MultiHeadAttentionImpl>}};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention as a layer; see Layers/Attention.h.
#include "meshloom/NN/Layers/Attention.h"
#include "BuiltIn.h"
#include "LayerState.h"

#include "meshloom/API/Einsum.h"
#include "meshloom/API/PatternOps.h"
#include "meshloom/API/Shards.h"
#include "meshloom/NN/Attention.h"
#include "meshloom/NN/Functions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace meshloom::layers {
namespace {

using namespace detail;

/// Which query sees which key, [batch, t, s] or what broadcasts to it, of
/// {query, value, key}: as the call says, and no key that is masked.
Tensor seenKeys(const std::vector<Tensor> &xs, const Tensor &asked) {
  Tensor seen = asked;
  for (size_t i = xs.size() > 1 ? 1 : 0; i < xs.size(); ++i)
    if (Tensor mask = get_mask(xs[i]); mask.defined() && mask.rank() == 2) {
      const Tensor keys = expand_dims(mask, 1);
      seen = seen.defined() ? logical_and(seen, keys) : keys;
    }
  return seen;
}

class MultiHeadAttentionImpl
    : public BuiltIn<MultiHeadAttentionImpl, MultiHeadAttentionOptions> {
public:
  MultiHeadAttentionImpl(int64_t heads, int64_t size,
                         MultiHeadAttentionOptions options)
      : BuiltIn("MultiHeadAttention", std::move(options)), heads(heads),
        size(size),
        groups(settings.num_key_value_heads ? settings.num_key_value_heads
                                            : heads) {
    expectPositive("num_heads", heads);
    expectPositive("key_dim", size);
    expectPositive("num_key_value_heads", groups);
    expectPositive("value_dim", valueSize());
    for (int64_t dim : settings.output_shape)
      expectPositive("dims as output_shape", dim);
    if (settings.output_shape.size() > maxOutputDims)
      refuse(fmt::format("expected an output_shape of at most {} dims, got {}",
                         maxOutputDims, settings.output_shape.size()));
    expectRate("a rate of dropout", settings.dropout);
    seedFrom(settings.seed);
    LayerImpl::State::of(*this).computesMask = true;
    if (heads % groups != 0)
      refuse(fmt::format("expected num_key_value_heads that divide num_heads, "
                         "got {} and {}",
                         groups, heads));
    if (settings.fused_projections && (groups != heads || valueSize() != size))
      refuse(fmt::format("expected fused_projections to as many heads of keys "
                         "and values as of queries, all of one size, got {} "
                         "heads of {} for queries, {} for keys, and values of "
                         "{}",
                         heads, size, groups, valueSize()));
  }
  explicit MultiHeadAttentionImpl(const nn::Config &config)
      : MultiHeadAttentionImpl(config.at("num_heads").as_int(),
                               config.at("key_dim").as_int(), read(config)) {}
  template <typename F>
  static void fields(F &field, MultiHeadAttentionOptions &o) {
    field("value_dim", o.value_dim);
    field("dropout", o.dropout);
    seedField(field, o.seed);
    field("num_key_value_heads", o.num_key_value_heads);
    field("use_bias", o.use_bias);
    field("fused_projections", o.fused_projections);
    field("causal", o.causal);
    field("output_shape", o.output_shape);
    field("attention_axes", o.attention_axes);
    weightFields(field, o);
  }
  nn::Config get_config() const override {
    nn::Config config = BuiltIn::get_config();
    config["num_heads"] = heads;
    config["key_dim"] = size;
    return config;
  }

  void build_many(const std::vector<Shape> &shapes) override {
    expectInputs(shapes.size());
    const std::vector<Shape> inputs(
        shapes.begin(),
        shapes.begin() + std::min<ptrdiff_t>(3, ptrdiff_t(shapes.size())));
    const auto rank = int64_t(inputs[0].size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (int64_t(inputs[i].size()) != rank || rank < 3 || inputs[i].back() < 0)
        refuse(fmt::format("expected inputs [batch, {}, features], got {}",
                           settings.attention_axes.empty() ? "t" : "...",
                           sizesText(inputs[i])));
      set_input_spec({.rank = rank, .sizes = {{rank - 1, inputs[i].back()}}},
                     i);
    }
    orderDims(rank);
    auto features = [&](size_t i) {
      return inputs[std::min(i, inputs.size() - 1)].back();
    };
    const Shape out = settings.output_shape.empty() ? Shape{features(0)}
                                                    : settings.output_shape;
    Shape ofOutput{heads, valueSize()};
    ofOutput.insert(ofOutput.end(), out.begin(), out.end());
    if (settings.fused_projections) {
      fused = project("query_key_value", {features(0), 3, heads, size},
                      {3, heads, size});
    } else {
      query = project("query", {features(0), heads, size}, {heads, size});
      key = project("key", {features(2), groups, size}, {groups, size});
      value = project("value", {features(1), groups, valueSize()},
                      {groups, valueSize()});
    }
    output = project("output", ofOutput, out);
    if (settings.dropout > 0)
      add_seed();
  }

  /// With `cachedInputs` inputs, {query, value, key, cached keys, cached
  /// values, position}, the results are {y, cached keys, cached values}.
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    expectInputs(xs.size());
    const Tensor &values = xs.size() > 1 ? xs[1] : xs[0];
    const Tensor &keys = xs.size() > 2 ? xs[2] : values;
    const auto [q, k, v] =
        settings.fused_projections
            ? fusedHeads(xs[0])
            : Heads{toHeads(xs[0], query), toHeads(keys, key),
                    toHeads(values, value)};
    nn::AttentionOptions attention;
    if (*options.training && settings.dropout > 0) {
      attention.dropout = settings.dropout;
      attention.seed = next_seed();
    }
    if (xs.size() == cachedInputs) {
      const AttentionCache cache = updated({xs[3], xs[4]}, k, v, xs[5]);
      attention.mask = seenInCache(xs[0], cache, xs[5], options.mask);
      return {fromHeads(nn::attention(q, cache.key, cache.value, attention)),
              cache.key, cache.value};
    }
    attention.mask = seenBy(xs, values, keys, options.mask);
    attention.causal = settings.causal;
    // Keras regularizes the result of each projection; the layer itself adds
    // the penalty of the last one.
    if (const auto &penalty = LayerImpl::options().activity_regularizer)
      for (const Tensor &projected : {q, k, v})
        add_loss(penalty(projected) / double(projected.shape()[0]));
    return {fromHeads(
        inPlace(nn::attention(inOneDim(q), inOneDim(k), inOneDim(v), attention),
                xs[0]))};
  }

  /// See MultiHeadAttention::make_cache.
  AttentionCache makeCache(int64_t batch, int64_t length,
                           const std::optional<Layout> &layout) const {
    expectPositive("sequences", batch);
    expectPositive("positions of a cache", length);
    if (!output.kernel.defined())
      refuse("expected a layer that is built: call it, or build it with the "
             "shape of its input, before it makes a cache");
    const DVariable &toKeys =
        settings.fused_projections ? fused.kernel : key.kernel;
    std::optional<Layout> placed = layout;
    if (!layout && !isHostVariable(toKeys)) {
      const Layout ofKernel = toKeys.layout();
      const std::vector<DimSpec> specs = ofKernel.sharding_specs();
      placed =
          Layout({UNSHARDED, UNSHARDED, specs[specs.size() - 2], UNSHARDED},
                 ofKernel.mesh());
    }
    auto empty = [&](int64_t features) {
      return call_with_layout(
          [&] {
            return zeros({batch, length, groups, features},
                         LayerImpl::options().policy->compute_dtype());
          },
          placed);
    };
    return {empty(size), empty(valueSize())};
  }

private:
  void expectInputs(size_t count) const {
    if (count > 3 && count != cachedInputs)
      refuse(
          fmt::format("expected query, value and key, got {} inputs", count));
    if (settings.fused_projections && (count == 2 || count == 3))
      refuse(fmt::format("expected one input, as its projections are fused, "
                         "got {}",
                         count));
  }
  int64_t valueSize() const {
    return settings.value_dim ? settings.value_dim : size;
  }

  struct Projection {
    DVariable kernel, bias;
  };
  Projection project(const std::string &name, const Shape &shape,
                     const Shape &biasShape) {
    Projection projection{add_weight(name, shape, kernelOptions(settings)), {}};
    if (settings.use_bias)
      projection.bias =
          add_weight(name + "_bias", biasShape, biasOptions(settings));
    return projection;
  }
  static Tensor toHeads(const Tensor &x, const Projection &by) {
    Tensor y = einsum("...w,whd->...hd", x, by.kernel);
    return by.bias.defined() ? y + by.bias : y;
  }
  struct Heads {
    Tensor query, key, value;
  };
  Heads fusedHeads(const Tensor &x) const {
    Tensor projected = einsum("...w,wphd->...phd", x, fused.kernel);
    if (fused.bias.defined())
      projected = projected + fused.bias;
    auto part = [&](int64_t index) {
      return projected(ellipsis, index, all, all);
    };
    return {part(0), part(1), part(2)};
  }
  Tensor fromHeads(const Tensor &mixed) const {
    const std::string dims =
        std::string("wxyz").substr(0, size_t(output.kernel.rank()) - 2);
    Tensor y = einsum("...hd,hd" + dims + "->..." + dims, mixed, output.kernel);
    return output.bias.defined() ? y + output.bias : y;
  }

  /// The cache with the keys k and values v from `position` on.
  AttentionCache updated(const AttentionCache &cache, const Tensor &k,
                         const Tensor &v, const Tensor &position) const {
    if (attended != Shape{1})
      refuse("expected the attention_axes {1} in a call with a cache, whose "
             "positions are steps");
    auto update = [&](const char *part, const Tensor &cached, const Tensor &x) {
      Shape expected = x.shape();
      if (cached.rank() == x.rank())
        expected[1] = std::max(expected[1], cached.shape()[1]);
      if (cached.shape() != expected || cached.dtype() != x.dtype())
        refuse(fmt::format("expected a cache with {} of {} {}, of at least {} "
                           "positions, got {} {}: make_cache makes one",
                           part, meshloom::name(x.dtype()), sizesText(expected),
                           x.shape()[1], meshloom::name(cached.dtype()),
                           sizesText(cached.shape())));
      return dynamic_update_slice(cached, x, {0, position, 0, 0});
    };
    if (position.rank() != 0 || !isInteger(position.dtype()))
      refuse(fmt::format("expected a position that is an integer scalar, got "
                         "{} {}",
                         meshloom::name(position.dtype()),
                         sizesText(position.shape())));
    return {update("keys", cache.key, k), update("values", cache.value, v)};
  }
  /// Which position of x sees which one of the cache, [..., t, length].
  Tensor seenInCache(const Tensor &x, const AttentionCache &cache,
                     const Tensor &position, const Tensor &asked) const {
    const int64_t t = x.shape()[1];
    Tensor last = cast(position, DType::I32); // the last position that is seen
    if (t > 1)
      last = settings.causal ? last + expand_dims(range(t), 1) : last + (t - 1);
    const Tensor written = range(cache.key.shape()[1]) <= last;
    return seenBy({x}, cache.value, cache.key,
                  asked.defined() ? logical_and(asked, written) : written);
  }

  /// Which dims of inputs of that rank see each other, and where they go.
  void orderDims(int64_t rank) {
    attended.clear();
    for (int64_t axis : settings.attention_axes) {
      const int64_t dim = axis < 0 ? axis + rank : axis;
      if (dim < 1 || dim > rank - 2 ||
          std::ranges::find(attended, dim) != attended.end())
        refuse(fmt::format("expected attention_axes between the batch and the "
                           "features of an input of rank {}, each once, got "
                           "[{}]",
                           rank, fmt::join(settings.attention_axes, ", ")));
      attended.push_back(dim);
    }
    if (settings.attention_axes.empty())
      for (int64_t dim = 1; dim < rank - 1; ++dim)
        attended.push_back(dim);
    if (settings.causal && attended.size() > 1)
      refuse(fmt::format("expected one of the attention_axes where it is "
                         "causal, got {}: positions have no order",
                         attended.size()));
    order.clear();
    for (int64_t dim = 0; dim < rank - 1; ++dim)
      if (std::ranges::find(attended, dim) == attended.end())
        order.push_back(dim);
    order.insert(order.end(), attended.begin(), attended.end());
    order.insert(order.end(), {rank - 1, rank}); // heads, and their features
  }
  Shape attendedSizes(const Tensor &x) const {
    Shape sizes;
    for (int64_t dim : attended)
      sizes.push_back(x.shape()[size_t(dim)]);
    return sizes;
  }
  bool isInOrder() const {
    return attended.size() == 1 && std::ranges::is_sorted(order);
  }

  /// [..., heads, d] with all attended dims as one before the heads.
  Tensor inOneDim(const Tensor &x) const {
    if (isInOrder())
      return x;
    const Tensor ordered = transpose(x, order);
    Shape shape = ordered.shape();
    const auto heads = shape.end() - 2;
    shape.insert(shape.erase(heads - ptrdiff_t(attended.size()), heads),
                 elementCount(attendedSizes(x)));
    return reshape(ordered, shape);
  }
  /// The other way, with the sizes of `query`.
  Tensor inPlace(const Tensor &y, const Tensor &query) const {
    if (isInOrder())
      return y;
    Shape shape = y.shape();
    const Shape sizes = attendedSizes(query);
    shape.insert(shape.erase(shape.end() - 3), sizes.begin(), sizes.end());
    std::vector<int64_t> back(order.size());
    for (size_t to = 0; to < order.size(); ++to)
      back[size_t(order[to])] = int64_t(to);
    return transpose(reshape(y, shape), back);
  }

  /// Which query sees which key, for nn::attention: as the call says, no key
  /// that is masked, and masked queries nothing.
  Tensor seenBy(const std::vector<Tensor> &xs, const Tensor &values,
                const Tensor &keys, Tensor seen) const {
    // [batch, other dims..., heads, t, s].
    const size_t rank = size_t(xs[0].rank()) - attended.size() + 2;
    if (seen.defined() && attended.size() > 1) {
      if (seen.rank() < int64_t(2 * attended.size()))
        refuse(fmt::format("expected a mask [..., {} dims of the query, {} of "
                           "the key], got {}",
                           attended.size(), attended.size(),
                           sizesText(seen.shape())));
      const Shape t = attendedSizes(xs[0]), s = attendedSizes(keys);
      Shape full = seen.shape();
      full.resize(full.size() - 2 * attended.size());
      Shape flat = full;
      full.insert(full.end(), t.begin(), t.end());
      full.insert(full.end(), s.begin(), s.end());
      flat.insert(flat.end(), {elementCount(t), elementCount(s)});
      seen = reshape(broadcast_to(seen, full), flat);
    }
    while (seen.defined() && seen.rank() >= 2 && size_t(seen.rank()) < rank)
      seen = expand_dims(seen, seen.rank() - 2);
    auto restrict = [&](const Tensor &x, size_t dim) {
      const Tensor mask = get_mask(x);
      if (!mask.defined() || mask.rank() != 2)
        return;
      if (attended != Shape{1})
        refuse("expected inputs without masks [batch, t], as its positions are "
               "not along t alone: give a mask with the call");
      Shape shape(rank, 1);
      shape[0] = mask.shape()[0];
      shape[dim] = mask.shape()[1];
      const Tensor counts = reshape(mask, shape);
      seen = seen.defined() ? logical_and(seen, counts) : counts;
    };
    restrict(values, rank - 1);
    if (xs.size() > 2)
      restrict(keys, rank - 1);
    restrict(xs[0], rank - 2);
    return seen;
  }

  static constexpr size_t maxOutputDims = 4;
  static constexpr size_t cachedInputs = 6; ///< see call_many
  const int64_t heads, size, groups;
  Shape attended;             ///< dims of inputs
  std::vector<int64_t> order; ///< of the dims of what has heads
  Projection query, key, value, output;
  Projection fused; ///< instead of the first three
};

/// Attention and AdditiveAttention.
class AttentionImpl : public BuiltIn<AttentionImpl, AttentionLayerOptions> {
public:
  AttentionImpl(bool isAdditive, AttentionLayerOptions options)
      : BuiltIn(isAdditive ? "AdditiveAttention" : "Attention",
                std::move(options)),
        isAdditive(isAdditive) {
    expectRate("a rate of dropout", settings.dropout);
    if (settings.score_mode != "dot" &&
        (isAdditive || settings.score_mode != "concat"))
      refuse(fmt::format("expected score_mode to be {}, got '{}'",
                         isAdditive ? "left out" : "'dot' or 'concat'",
                         settings.score_mode));
    seedFrom(settings.seed);
    LayerImpl::State::of(*this).computesMask = true;
  }
  AttentionImpl(bool isAdditive, const nn::Config &config)
      : AttentionImpl(isAdditive, read(config)) {}
  template <typename F> static void fields(F &field, AttentionLayerOptions &o) {
    field("use_scale", o.use_scale);
    field("score_mode", o.score_mode);
    field("dropout", o.dropout);
    field("causal", o.causal);
    seedField(field, o.seed);
  }
  void build_many(const std::vector<Shape> &inputs) override {
    if (inputs.size() < 2 || inputs.size() > 3)
      refuse(fmt::format("expected {{query, value}} or {{query, value, key}}, "
                         "got {} inputs",
                         inputs.size()));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].size() != 3 || inputs[i].back() < 0)
        refuse("expected inputs [batch, t, features], got " +
               sizesText(inputs[i]));
      set_input_spec({.rank = 3, .sizes = {{2, inputs[i].back()}}}, i);
    }
    if (settings.use_scale)
      scale =
          add_weight("scale", isAdditive ? Shape{inputs[0].back()} : Shape{},
                     {.initializer = isAdditive ? "glorot_uniform" : "ones"});
    if (settings.score_mode == "concat")
      concatWeight =
          add_weight("concat_score_weight", {}, {.initializer = "ones"});
    if (settings.dropout > 0)
      add_seed();
  }
  std::vector<Tensor> call_many(const std::vector<Tensor> &xs,
                                const CallOptions &options) override {
    const Tensor &query = xs[0], &value = xs[1],
                 &key = xs.size() > 2 ? xs[2] : value;
    Tensor scores;
    if (isAdditive) {
      scores = tanh(expand_dims(query, 2) + expand_dims(key, 1));
      scores = reduce_sum(scale.defined() ? scores * scale : scores, -1);
    } else if (concatWeight.defined()) {
      const Tensor sums = expand_dims(query, 2) + expand_dims(key, 1);
      scores = reduce_sum(tanh(scale.defined() ? sums * scale : sums), -1) *
               concatWeight;
    } else {
      scores = matmul(query, key, {.transpose_b = true});
      if (scale.defined())
        scores = scores * scale;
    }
    Tensor seen = seenKeys(xs, options.mask);
    if (settings.causal) {
      const Tensor order = tri(query.shape()[1], key.shape()[1], 0, DType::I1);
      seen = seen.defined() ? logical_and(seen, order) : order;
    }
    if (seen.defined())
      scores = where(seen, scores, scores.dtype() == DType::F16 ? -6e4 : -1e30);
    Tensor weights = nn::softmax(scores, -1);
    if (*options.training && settings.dropout > 0)
      weights = nn::dropout(weights, settings.dropout, next_seed());
    const Tensor y = matmul(weights, value);
    const Tensor asks = get_mask(query);
    return {asks.defined() && asks.rank() == 2
                ? y * cast(expand_dims(asks, -1), y.dtype())
                : y};
  }

private:
  const bool isAdditive;
  DVariable scale, concatWeight;
};

} // namespace

Attention::Attention(AttentionLayerOptions options)
    : Layer(makeLayer<AttentionImpl>(false, std::move(options))) {}
AdditiveAttention::AdditiveAttention(AttentionLayerOptions options)
    : Layer(makeLayer<AttentionImpl>(true, std::move(options))) {}

MultiHeadAttention::MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                                       MultiHeadAttentionOptions options)
    : Layer(makeLayer<MultiHeadAttentionImpl>(num_heads, key_dim,
                                              std::move(options))) {}

AttentionCache
MultiHeadAttention::make_cache(int64_t batch, int64_t length,
                               const std::optional<Layout> &layout,
                               Where where) const {
  return atLine(where, [&] {
    return implOf<MultiHeadAttentionImpl>(*this).makeCache(batch, length,
                                                           layout);
  });
}
std::pair<Tensor, AttentionCache> MultiHeadAttention::call_with_cache(
    const Tensor &x, const AttentionCache &cache, const Tensor &position,
    const CallOptions &options, Where where) const {
  const std::vector<Tensor> results =
      call_many({x, x, x, cache.key, cache.value, position}, options, where);
  return {results[0], {results[1], results[2]}};
}

} // namespace meshloom::layers

meshloom::detail::LayerList meshloom::detail::attentionLayers() {
  using layers::AttentionImpl;
  auto make = [](bool isAdditive) {
    return [=](const nn::Config &config) {
      return Layer(makeLayer<AttentionImpl>(isAdditive, config));
    };
  };
  return {{"MultiHeadAttention", createLayer<layers::MultiHeadAttentionImpl>},
          {"Attention", make(false)},
          {"AdditiveAttention", make(true)}};
}

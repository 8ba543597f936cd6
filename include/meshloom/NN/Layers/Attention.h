// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// layers: attention.
#pragma once

#include "meshloom/NN/Layers/Core.h"

#include <utility>

namespace meshloom::layers {

/// The keys [batch, length, heads, key_dim] and values [batch, length, heads,
/// value_dim] of the positions that a MultiHeadAttention has seen; `heads` is
/// num_key_value_heads.
struct AttentionCache {
  Tensor key;   ///< what the projection "key" gave
  Tensor value; ///< what the projection "value" gave
};

/// The options of MultiHeadAttention beside heads and their size.
struct MultiHeadAttentionOptions {
  int64_t value_dim = 0; ///< of each head's values; 0: key_dim
  double dropout = 0;    ///< of attention weights, in training
  /// The heads of keys and values, each for as many of the query's in a row
  /// (grouped queries); 0: as many as the query has.
  int64_t num_key_value_heads = 0;
  bool use_bias = true; ///< of the projections
  /// Queries, keys and values are one product with one weight
  /// "query_key_value" [features, 3, num_heads, key_dim], which is faster for
  /// few positions. For self-attention (one input) whose heads are all alike.
  bool fused_projections = false;
  bool causal = false; ///< position i sees positions 0 to i only
  /// Dims of the result behind the steps; empty: as many features as the query
  /// has.
  Shape output_shape = {};
  /// The dims whose positions see each other, of inputs [batch, ...,
  /// features]; empty: all but these two. Positions of other dims are as those
  /// of the batch.
  Shape attention_axes = {};
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the biases
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  std::string name = "";    ///< default: "multi_head_attention"
  LayerOptions common = {}; ///< of all layers
};
/// Attention with projections to heads and from them. It is called on x [batch,
/// t, features] alone, or on {query, value}, or {query, value, key};
/// CallOptions::mask says which query sees which key: [batch, t, s], or what
/// broadcasts to it (with several attention_axes all of the query's, then all
/// of the key's). Keys that the mask of value or key (see get_mask) leaves
/// out are not seen either, and a masked query sees none; one that sees none
/// gets the mean of all values.
///
/// Cut over the heads ({"query": [*, model, *], ..., "output": [model, *, *]}),
/// each device has some of them whole, and the projection from them sums over
/// the axis.
class MultiHeadAttention : public Layer {
public:
  /// Weights are "query" [features, num_heads, key_dim], "key", "value" (see
  /// fused_projections), "output" [num_heads, value_dim, features], or
  /// output_shape instead of features, and "query_bias", ... Throws
  /// meshloom::Error if a size is not positive, if heads do not divide, or if
  /// projections are fused whose heads differ.
  MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                     MultiHeadAttentionOptions options = {});

  /// Returns an empty cache for `length` positions of `batch` sequences.
  /// `layout` is that of keys and values; without one the heads are cut as
  /// those of the weight that projects to keys. Throws meshloom::Error if the
  /// layer is not built, or a size is not positive.
  AttentionCache make_cache(int64_t batch, int64_t length,
                            const std::optional<Layout> &layout = std::nullopt,
                            Where where = Where::current()) const;
  /// Decodes: x [batch, t, features] are the positions `position` (an integer
  /// scalar) to `position` + t - 1. Each of them attends to the positions of
  /// the cache up to itself (up to the last of x, if the layer is not causal),
  /// and CallOptions::mask [batch, t, length] may leave out more. Returns the
  /// result and the cache with the keys and values of x in it. As in
  /// dynamic_update_slice, a position above `length` - t counts as that.
  ///
  ///   auto [y, cache] = attention.call_with_cache(x, {keys, values},
  ///   position); keys.assign(cache.key); // variables are updated in place
  ///   values.assign(cache.value);
  ///
  /// Throws meshloom::Error if the cache does not fit the layer and x, or if
  /// the layer has attention_axes other than the steps.
  std::pair<Tensor, AttentionCache>
  call_with_cache(const Tensor &x, const AttentionCache &cache,
                  const Tensor &position, const CallOptions &options = {},
                  Where where = Where::current()) const;
};

/// The options of Attention and AdditiveAttention.
struct AttentionLayerOptions {
  bool use_scale = false; ///< products are times a learnt "scale", 1 at first
  /// How Attention scores: "dot" by products, "concat" by a learnt
  /// "concat_score_weight", 1 at first, times sum(tanh(scale (query + key))).
  std::string score_mode = "dot";
  double dropout = 0;  ///< of attention weights, in training
  bool causal = false; ///< position i sees positions 0 to i only
  std::optional<uint32_t> seed = std::nullopt; ///< default: of the process
  std::string name = "";    ///< default: "attention", "additive_attention"
  LayerOptions common = {}; ///< of all layers
};
/// Attention without projections, by products (Luong et al., 2015), not scaled:
/// {query [batch, t, d], value [batch, s, d]} or {query, value, key} -> [batch,
/// t, d]. Masks are as those of MultiHeadAttention, but masked
/// queries get 0.
class Attention : public Layer {
public:
  /// Attention({.use_scale = true}). Throws meshloom::Error if score_mode is
  /// unknown.
  explicit Attention(AttentionLayerOptions options = {});
};
/// Attention whose scores are sum(scale tanh(query + key)) (Bahdanau et al.,
/// 2015), with a "scale" [d] where use_scale is set.
class AdditiveAttention : public Layer {
public:
  /// AdditiveAttention({.use_scale = true}).
  explicit AdditiveAttention(AttentionLayerOptions options = {});
};

} // namespace meshloom::layers

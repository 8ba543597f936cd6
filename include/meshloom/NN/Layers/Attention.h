// layers: attention.
#pragma once

#include "meshloom/NN/Layers/Core.h"

namespace meshloom::layers {

/// What MultiHeadAttention takes beside heads and their size.
struct MultiHeadAttentionOptions {
  /// Of keys and values, each for as many of the query's in a row (grouped
  /// queries); 0: as many as the query has.
  int64_t num_key_value_heads = 0;
  bool use_bias = true; ///< of the projections
  bool causal = false;  ///< position i sees positions 0 to i only
  /// Features of the result; 0: as the query has.
  int64_t output_dim = 0;
  initializers::Initializer kernel_initializer = "glorot_uniform"; ///< random
  initializers::Initializer bias_initializer = "zeros"; ///< of the biases
  regularizers::Regularizer kernel_regularizer = {};    ///< adds to the losses
  regularizers::Regularizer bias_regularizer = {};      ///< adds to the losses
  constraints::Constraint kernel_constraint = {};       ///< after each step
  constraints::Constraint bias_constraint = {};         ///< after each step
  std::string name = "";    ///< default: "multi_head_attention"
  LayerOptions common = {}; ///< of all layers
};
/// Attention with projections to heads and from them. It is called on x [batch,
/// t, features] alone, or on {query, value}, or {query, value, key};
/// CallOptions::mask says which query sees which key: [batch, t, s], or what
/// broadcasts to it.
///
/// Cut over the heads ({"query": [*, model, *], ..., "output": [model, *, *]}),
/// each device has some of them whole, and the projection from them sums over
/// the axis.
class MultiHeadAttention : public Layer {
public:
  /// Weights are "query" [features, num_heads, key_dim], "key", "value",
  /// "output" [num_heads, key_dim, features] and "query_bias", ... Throws
  /// meshloom::Error if a size is not positive, or heads do not divide.
  MultiHeadAttention(int64_t num_heads, int64_t key_dim,
                     MultiHeadAttentionOptions options = {});
};

} // namespace meshloom::layers

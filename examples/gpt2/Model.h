// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GPT-2 (Radford et al., 2019), with the names and shapes of its published
// weights: model.safetensors of openai-community/gpt2 loads as it is.
#pragma once

#include <meshloom/Meshloom.h>

#include <string>
#include <vector>

namespace gpt2 {

struct Config {
  int64_t vocabulary = 50257, positions = 1024, width = 768, heads = 12,
          layers = 12;
  /// "small" (124M parameters) or "tiny" (bytes as tokens). Throws
  /// meshloom::Error for another name.
  static Config named(const std::string &name);
};

/// x [..., in] -> x weight + bias.
struct Linear : meshloom::Module {
  meshloom::DVariable weight, bias;
  /// `layout`: of the weight [in, out]; the bias takes that of its columns.
  Linear(const std::string &name, int64_t in, int64_t out,
         const meshloom::Layout &layout);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

struct Norm : meshloom::Module {
  meshloom::DVariable weight, bias;
  Norm(const std::string &name, int64_t width, const meshloom::Mesh &mesh);
  meshloom::Tensor operator()(const meshloom::Tensor &x) const;
};

/// Keys and values of one layer, [batch, positions, heads, width / heads], of
/// the tokens seen so far.
struct Cache {
  meshloom::DVariable key, value;
};

struct Block : meshloom::Module {
  int64_t heads;
  Norm ln_1, ln_2;
  meshloom::DVariable attention,
      attentionBias; ///< [width, 3, width], [3, width]
  Linear project, up, down;
  Block(const std::string &name, const Config &config,
        const meshloom::Mesh &mesh);
  /// x [batch, t, width]: causal attention of x to itself, or, with a cache, of
  /// the one token x at `position` to all in the cache, which it joins.
  meshloom::Tensor operator()(const meshloom::Tensor &x,
                              const Cache *cache = nullptr,
                              const meshloom::Tensor &position = {}) const;
};

struct Model : meshloom::Module {
  Config config;
  meshloom::DVariable wte, wpe; ///< tokens (also the output), positions
  std::vector<Block> blocks;
  Norm ln_f;
  /// Weights are cut over the axis "model", where the mesh has it: the
  /// attention's by heads, the MLP's by hidden features.
  Model(const Config &config, const meshloom::Mesh &mesh);

  /// tokens [batch, t] -> logits [batch, t, vocabulary].
  meshloom::Tensor operator()(const meshloom::Tensor &tokens) const;
  /// The mean loss of each token [batch, t + 1] but the first, from those
  /// before it.
  meshloom::Tensor loss(const meshloom::Tensor &tokens) const;

  /// Empty caches of `length` tokens for `batch` sequences.
  std::vector<Cache> makeCaches(int64_t batch, int64_t length) const;
  /// token [batch] at `position`, a scalar -> logits [batch, vocabulary] of the
  /// next one.
  meshloom::Tensor next(const meshloom::Tensor &token,
                        const meshloom::Tensor &position,
                        const std::vector<Cache> &caches) const;
};

} // namespace gpt2

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: layers, which are modules with variables.
//
//   struct Block : Module {
//     nn::LayerNorm norm;
//     nn::MultiHeadAttention attend;
//     Block(int64_t width) : norm(width), attend(width, 8) {
//       track(this, norm, attend);
//     }
//     Tensor operator()(const Tensor &x) const {
//       return x + attend(norm(x), {.causal = true});
//     }
//   };
//
// A layer is made outside of functions. Its variables go to the default mesh
// (replicated), or to where `layout` says; layers are called in functions and
// outside.
#pragma once

#include "meshloom/NN/Attention.h"
#include "meshloom/NN/Convolution.h"
#include "meshloom/NN/Functions.h"
#include "meshloom/NN/Module.h"
#include "meshloom/NN/Normalization.h"

/// Layers, activations and losses.
namespace meshloom::nn {

/// How a layer's variables are made.
struct LayerOptions {
  /// Prefix of the variables' names: "dense" gives "dense/kernel".
  std::string name = "";
  /// The layout of the kernel or table; vectors beside it take the layout of
  /// its last dim. For layers that have vectors only, the layout of those, [n].
  std::optional<Layout> layout = std::nullopt;
  /// The initial values of kernels are uniform, by Glorot and Bengio (2010).
  Seed seed = {};
  DType type = DType::F32; ///< of the variables
  bool bias = true;        ///< whether there is a bias, or offset
};

/// x [..., in] -> x kernel + bias [..., out].
class Dense : public Module {
public:
  /// `layout`: of the kernel [in, out].
  Dense(int64_t in, int64_t out, LayerOptions options = {});
  /// The layer of x.
  Tensor operator()(const Tensor &x, Where loc = Where::current()) const;
  DVariable kernel;              ///< [in, out]
  std::optional<DVariable> bias; ///< [out]
};

/// Rows of a table by id; see embedding.
class Embedding : public Module {
public:
  /// `layout`: of the table [count, features], whose initial values are normal
  /// with a variance of 1 / features.
  Embedding(int64_t count, int64_t features, LayerOptions options = {});
  /// Rows of the table: ids [i...] -> [i..., features].
  Tensor operator()(const Tensor &ids, Where loc = Where::current()) const;
  DVariable table; ///< [count, features]
};

/// A convolution with 1, 2 or 3 spatial dims, with a bias for each feature.
class Conv : public Module {
public:
  /// `window`: one size for each spatial dim. `layout`: of the kernel
  /// [window..., in / groups, out].
  Conv(std::vector<int64_t> window, int64_t in, int64_t out,
       ConvOptions convolution = {.padding = "SAME"}, LayerOptions options = {},
       int64_t groups = 1);
  /// The layer of x.
  Tensor operator()(const Tensor &x, Where loc = Where::current()) const;
  DVariable kernel;              ///< [window..., in / groups, out]
  std::optional<DVariable> bias; ///< [out]

private:
  ConvOptions convolution;
};

/// layer_norm with scale and, unless bias = false, offset.
class LayerNorm : public Module {
public:
  /// `layout`: of the vectors [features].
  explicit LayerNorm(int64_t features, double epsilon = 1e-6,
                     LayerOptions options = {});
  /// The layer of x.
  Tensor operator()(const Tensor &x, Where loc = Where::current()) const;
  DVariable scale;                 ///< [features]
  std::optional<DVariable> offset; ///< [features]

private:
  double epsilon;
};

/// rms_norm with scale.
class RMSNorm : public Module {
public:
  /// `layout`: of the vectors [features].
  explicit RMSNorm(int64_t features, double epsilon = 1e-6,
                   LayerOptions options = {});
  /// The layer of x.
  Tensor operator()(const Tensor &x, Where loc = Where::current()) const;
  DVariable scale; ///< [features]

private:
  double epsilon;
};

/// group_norm with scale and, unless bias = false, offset.
class GroupNorm : public Module {
public:
  /// `layout`: of the vectors [features].
  GroupNorm(int64_t groups, int64_t features, double epsilon = 1e-6,
            LayerOptions options = {});
  /// The layer of x.
  Tensor operator()(const Tensor &x, Where loc = Where::current()) const;
  DVariable scale;                 ///< [features]
  std::optional<DVariable> offset; ///< [features]

private:
  int64_t groups;
  double epsilon;
};

/// batch_norm with scale, offset and moving averages of the moments, which are
/// variables that are not trained.
class BatchNorm : public Module {
public:
  /// A moving average is momentum times itself plus 1 - momentum times the
  /// batch's.
  explicit BatchNorm(int64_t features, double momentum = 0.99,
                     double epsilon = 1e-5, LayerOptions options = {});
  /// In training by the moments of this batch, all of it however it is cut,
  /// which then go into the averages; else by the averages.
  Tensor operator()(const Tensor &x, bool training,
                    Where loc = Where::current()) const;
  DVariable scale;                 ///< [features]
  std::optional<DVariable> offset; ///< [features]
  DVariable moving_mean;           ///< [features]
  DVariable moving_variance;       ///< [features]

private:
  double momentum, epsilon;
};

/// Attention of `heads` heads with projections to and from them.
class MultiHeadAttention : public Module {
public:
  /// `layout`: of the projections to heads [width, heads, width / heads]; cut
  /// over the heads, each device has some of them whole, and the projection
  /// from them sums over the axis. Throws meshloom::Error if the heads do not
  /// divide the width.
  MultiHeadAttention(int64_t width, int64_t heads, LayerOptions options = {});
  /// Attends from x [..., t, width] to itself.
  Tensor operator()(const Tensor &x, const AttentionOptions &options = {},
                    Where loc = Where::current()) const {
    return (*this)(x, x, options, loc);
  }
  /// Attends from x [..., t, width] to `memory` [..., s, width].
  Tensor operator()(const Tensor &x, const Tensor &memory,
                    const AttentionOptions &options = {},
                    Where loc = Where::current()) const;
  DVariable query; ///< [width, heads, width / heads]
  DVariable key;   ///< [width, heads, width / heads]
  DVariable value; ///< [width, heads, width / heads]
  DVariable out;   ///< [heads, width / heads, width]
  /// [width], added at the end.
  std::optional<DVariable> bias;
};

/// dropout with a seed of its own for each call: a variable counts them.
class Dropout : public Module {
public:
  /// The count lies on `mesh`, or the default mesh: that of the functions that
  /// call the layer. `options`: name and seed.
  explicit Dropout(double rate, LayerOptions options = {},
                   std::optional<Mesh> mesh = std::nullopt);
  /// x as it is unless `training`.
  Tensor operator()(const Tensor &x, bool training,
                    Where loc = Where::current()) const;
  DVariable calls; ///< i64

private:
  double rate;
  Seed seed;
};

} // namespace meshloom::nn

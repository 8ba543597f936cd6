// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nn: normalizations. Narrow floats (bf16, f16) are normalized in f32; sharded
// dims that are averaged over send their sums only. `scale` and `offset` may be
// empty tensors: there is none then.
#pragma once

#include "meshloom/API/Ops.h"

namespace meshloom::nn {

/// The result of `moments`.
struct Moments {
  Tensor mean;     ///< the mean
  Tensor variance; ///< the mean square of the distance from it
};
/// Mean and variance along `axis`, in f32 for narrow floats.
Moments moments(const Tensor &x, const Axis &axis, bool keepdims = false,
                Where loc = Where::current());

/// (x - mean) / sqrt(variance + epsilon) * scale + offset, with moments along
/// the last dim: x [..., n], scale and offset [n]. Ba, Kiros and Hinton, 2016.
[[nodiscard]] Tensor layer_norm(const Tensor &x, const Tensor &scale = {},
                                const Tensor &offset = {},
                                double epsilon = 1e-6,
                                Where loc = Where::current());
/// x / sqrt(mean(x^2) + epsilon) * scale along the last dim: x [..., n], scale
/// [n]. Zhang and Sennrich, 2019.
[[nodiscard]] Tensor rms_norm(const Tensor &x, const Tensor &scale = {},
                              double epsilon = 1e-6,
                              Where loc = Where::current());
/// Features in `groups` groups of equal size, each normalized over its features
/// and all dims but the first: x [batch, spatial..., n], or with the features
/// at the dim `axis`; scale and offset [n]. Wu and He, 2018.
[[nodiscard]] Tensor group_norm(const Tensor &x, int64_t groups,
                                const Tensor &scale = {},
                                const Tensor &offset = {},
                                double epsilon = 1e-6, int64_t axis = -1,
                                Where loc = Where::current());
/// x [..., n] with moments [n] of each feature that are given, of this batch
/// (`moments` over all dims but the last) or averages; scale and offset [n].
/// Ioffe and Szegedy, 2015.
[[nodiscard]] Tensor batch_norm(const Tensor &x, const Moments &moments,
                                const Tensor &scale = {},
                                const Tensor &offset = {},
                                double epsilon = 1e-5,
                                Where loc = Where::current());

} // namespace meshloom::nn

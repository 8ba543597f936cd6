// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// initializers: the first values of variables, by the names and with the
// defaults of Keras.
#pragma once

#include "meshloom/API/Random.h"
#include "meshloom/NN/Named.h"

/// First values of variables.
namespace meshloom::initializers {

/// Makes the first value of a variable: floats or complex numbers of a shape
/// and type. Random numbers are of the seed and of each element's global index:
/// a variable begins with the same value under every layout.
///
///   initializers::Initializer init = "he_normal";
///   DVariable w(call_with_layout(
///       [&] { return init({64, 32}, DType::F32, Seed{1, 2}); }, layout));
class Initializer
    : public NamedPart<Initializer, Tensor(const Shape &, DType, Seed)> {
public:
  using NamedPart::NamedPart;
};

/// Every element 0.
Initializer Zeros();
/// Every element 1.
Initializer Ones();
/// Every element `value`.
Initializer Constant(double value = 0);
/// The unit matrix times `gain`. The initializer throws meshloom::Error for a
/// shape of other than two dims.
Initializer Identity(double gain = 1, Where where = Where::current());

/// A seed that counts instead of the one that the caller of an initializer
/// gives.
using SeedOverride = std::optional<Seed>;

/// The numbers of RandomUniform.
struct RandomUniformOptions {
  double minval = -0.05;            ///< the least
  double maxval = 0.05;             ///< above all
  SeedOverride seed = std::nullopt; ///< instead of the caller's
  Where where = Where::current();   ///< the line that errors name
};
/// Uniform in [minval, maxval).
Initializer RandomUniform(const RandomUniformOptions &options = {});
/// RandomUniform(-0.1, 0.1).
template <typename N>
  requires std::is_arithmetic_v<N>
Initializer RandomUniform(N minval, double maxval = 0.05,
                          SeedOverride seed = std::nullopt,
                          Where where = Where::current()) {
  return RandomUniform(
      RandomUniformOptions{double(minval), maxval, seed, where});
}

/// The numbers of RandomNormal and TruncatedNormal.
struct RandomNormalOptions {
  double mean = 0;      ///< of all
  double stddev = 0.05; ///< their standard deviation (before cutting)
  SeedOverride seed = std::nullopt; ///< instead of the caller's
  Where where = Where::current();   ///< the line that errors name
};
/// Normal.
Initializer RandomNormal(const RandomNormalOptions &options = {});
/// RandomNormal(0, 0.02).
template <typename N>
  requires std::is_arithmetic_v<N>
Initializer RandomNormal(N mean, double stddev = 0.05,
                         SeedOverride seed = std::nullopt,
                         Where where = Where::current()) {
  return RandomNormal(RandomNormalOptions{double(mean), stddev, seed, where});
}
/// Normal, of what is at most two standard deviations from the mean.
Initializer TruncatedNormal(const RandomNormalOptions &options = {});
/// TruncatedNormal(0, 0.02).
template <typename N>
  requires std::is_arithmetic_v<N>
Initializer TruncatedNormal(N mean, double stddev = 0.05,
                            SeedOverride seed = std::nullopt,
                            Where where = Where::current()) {
  return TruncatedNormal(
      RandomNormalOptions{double(mean), stddev, seed, where});
}

/// The numbers of VarianceScaling.
struct VarianceScalingOptions {
  double scale = 1; ///< the variance is this over n
  /// n: "fan_in" (how many inputs an output is of), "fan_out" (how many outputs
  /// an input goes to), or "fan_avg", their mean. For a shape [..., in, out]
  /// they are in and out times the extents in front of them.
  std::string mode = "fan_in";
  /// "truncated_normal", "untruncated_normal" or "uniform".
  std::string distribution = "truncated_normal";
  SeedOverride seed = std::nullopt; ///< instead of the caller's
  Where where = Where::current();   ///< the line that errors name
};
/// Random numbers around 0 whose variance follows from the shape. Throws
/// meshloom::Error if the scale is not positive, or for unknown names.
Initializer VarianceScaling(const VarianceScalingOptions &options = {});
/// VarianceScaling(2, "fan_out").
template <typename N>
  requires std::is_arithmetic_v<N>
Initializer
VarianceScaling(N scale, const std::string &mode = "fan_in",
                const std::string &distribution = "truncated_normal",
                SeedOverride seed = std::nullopt,
                Where where = Where::current()) {
  return VarianceScaling(
      VarianceScalingOptions{double(scale), mode, distribution, seed, where});
}
/// Variance 2 / (fan_in + fan_out) (Glorot and Bengio, 2010).
Initializer GlorotUniform(SeedOverride seed = std::nullopt);
/// See GlorotUniform.
Initializer GlorotNormal(SeedOverride seed = std::nullopt);
/// Variance 2 / fan_in (He et al., 2015).
Initializer HeUniform(SeedOverride seed = std::nullopt);
/// See HeUniform.
Initializer HeNormal(SeedOverride seed = std::nullopt);
/// Variance 1 / fan_in (Klambauer et al., 2017).
Initializer LecunUniform(SeedOverride seed = std::nullopt);
/// See LecunUniform.
Initializer LecunNormal(SeedOverride seed = std::nullopt);

/// An orthogonal matrix times `gain`: the dims of a shape but the last are its
/// rows, and rows or columns are orthonormal, whichever are fewer (Saxe,
/// McClelland and Ganguli, 2014). The initializer throws meshloom::Error for a
/// shape of less than two dims.
Initializer Orthogonal(double gain = 1, SeedOverride seed = std::nullopt,
                       Where where = Where::current());

} // namespace meshloom::initializers

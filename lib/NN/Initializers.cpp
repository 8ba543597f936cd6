// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First values of variables, see Initializers.h.
#include "meshloom/NN/Initializers.h"

#include "Errors.h"
#include "RegisteredParts.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/LinalgOps.h"
#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

namespace meshloom::initializers {

using detail::Bound;

namespace {

/// A seed of two words; the second one may be missing.
template <typename F> void seedOverrideField(F &field, SeedOverride &seed) {
  std::optional<Shape> words;
  if (seed)
    words = Shape{seed->first, seed->second};
  field("seed", words);
  seed.reset();
  if (words && !words->empty()) {
    words->resize(2);
    seed = Seed{uint32_t(words->front()), uint32_t(words->back())};
  }
}

struct ConstantOptions {
  double value = 0;
};
template <typename F> void fields(F &field, ConstantOptions &o) {
  field("value", o.value);
}
struct IdentityOptions {
  double gain = 1;
  Where where = {};
};
template <typename F> void fields(F &field, IdentityOptions &o) {
  field("gain", o.gain, Bound::Finite);
}
struct SeedOptions {
  SeedOverride seed = std::nullopt;
};
template <typename F> void fields(F &field, SeedOptions &o) {
  seedOverrideField(field, o.seed);
}
struct OrthogonalOptions {
  double gain = 1;
  SeedOverride seed = std::nullopt;
  Where where = {};
};
template <typename F> void fields(F &field, OrthogonalOptions &o) {
  field("gain", o.gain, Bound::Finite);
  seedOverrideField(field, o.seed);
}

/// Narrow floats are drawn as f32: one rounding, and the same numbers.
DType drawn(DType type) {
  return type == DType::F64 ? type : DType::F32;
}

/// A part that draws numbers: the seed of `options` counts instead of the
/// caller's.
template <typename Options>
Initializer drawing(const char *name, const Options &options,
                    std::function<Tensor(const Shape &, DType, Seed)> draw) {
  return makePart<Initializer>(
      name, options,
      [own = options.seed, draw = std::move(draw)](const Shape &shape,
                                                   DType type, Seed seed) {
        Tensor value = draw(shape, drawn(type), own.value_or(seed));
        return value.dtype() == type ? value : cast(value, type);
      });
}

Tensor truncatedNormal(const Shape &shape, DType type, Seed seed, double mean,
                       double stddev) {
  // The inverse of the distribution, of numbers uniform over what is kept.
  const double bound = std::erf(std::numbers::sqrt2);
  Tensor uniform = random::stateless_uniform(shape, seed, -bound, bound, type);
  return erfinv(uniform) * (std::numbers::sqrt2 * stddev) + mean;
}

double sizeFor(const Shape &shape, const std::string &mode) {
  double field = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d)
    field *= double(shape[d]);
  const double out = shape.empty() ? 1 : double(shape.back()) * field;
  const double in =
      shape.size() < 2 ? out : double(shape[shape.size() - 2]) * field;
  const double size = mode == "fan_in"    ? in
                      : mode == "fan_out" ? out
                                          : (in + out) / 2;
  return std::max(size, 1.0);
}

Tensor scaled(const Shape &shape, DType type, Seed seed,
              const VarianceScalingOptions &options) {
  const double variance = options.scale / sizeFor(shape, options.mode);
  if (options.distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return random::stateless_uniform(shape, seed, -limit, limit, type);
  }
  if (options.distribution == "untruncated_normal")
    return random::stateless_normal(shape, seed, 0, std::sqrt(variance), type);
  // The standard deviation of a normal that is cut at 2.
  constexpr double cut = 0.87962566103423978;
  return truncatedNormal(shape, type, seed, 0, std::sqrt(variance) / cut);
}

/// Variance scaling by a name that says all but the seed.
Initializer scaling(const char *name, const VarianceScalingOptions &options) {
  return drawing(name, SeedOptions{options.seed},
                 [options](const Shape &shape, DType type, Seed seed) {
                   return scaled(shape, type, seed, options);
                 });
}
Initializer glorotUniform(const SeedOptions &o) {
  return scaling("glorot_uniform", {1, "fan_avg", "uniform", o.seed});
}
Initializer glorotNormal(const SeedOptions &o) {
  return scaling("glorot_normal", {1, "fan_avg", "truncated_normal", o.seed});
}
Initializer heUniform(const SeedOptions &o) {
  return scaling("he_uniform", {2, "fan_in", "uniform", o.seed});
}
Initializer heNormal(const SeedOptions &o) {
  return scaling("he_normal", {2, "fan_in", "truncated_normal", o.seed});
}
Initializer lecunUniform(const SeedOptions &o) {
  return scaling("lecun_uniform", {1, "fan_in", "uniform", o.seed});
}
Initializer lecunNormal(const SeedOptions &o) {
  return scaling("lecun_normal", {1, "fan_in", "truncated_normal", o.seed});
}

Tensor orthogonal(const Shape &shape, DType type, Seed seed, double gain) {
  if (shape.size() < 2)
    nn::fail("orthogonal",
             fmt::format("expected a shape of two dims or more, got [{}]",
                         fmt::join(shape, ", ")),
             std::source_location::current());
  const int64_t columns = shape.back();
  const int64_t rows = elementCount(shape) / std::max<int64_t>(columns, 1);
  const int64_t least = std::min(rows, columns);
  auto [q, r] = qr(random::stateless_normal({std::max(rows, columns), least},
                                            seed, 0, 1, type));
  // Uniformly distributed only where R's diagonal is positive (Mezzadri, 2007).
  q = q * sign(reduce_sum(r * eye(least, {}, 0, type), 0));
  return reshape(rows < columns ? transpose(q) : q, shape) * gain;
}

template <typename Options>
Initializer filled(const char *name, const Options &options, double value) {
  return makePart<Initializer>(name, options,
                               [value](const Shape &shape, DType type, Seed) {
                                 return full(shape, value, type);
                               });
}
Initializer zerosOf(const detail::NoOptions &options) {
  return filled("zeros", options, 0);
}
Initializer onesOf(const detail::NoOptions &options) {
  return filled("ones", options, 1);
}
Initializer constantOf(const ConstantOptions &options) {
  return filled("constant", options, options.value);
}

Initializer identityOf(const IdentityOptions &options) {
  return makePart<Initializer>(
      "identity", options,
      [gain = options.gain](const Shape &shape, DType type, Seed) {
        if (shape.size() != 2)
          nn::fail("identity",
                   fmt::format("expected a shape of two dims, got [{}]",
                               fmt::join(shape, ", ")),
                   std::source_location::current());
        return eye(shape[0], shape[1], 0, type) * gain;
      });
}

Initializer orthogonalOf(const OrthogonalOptions &options) {
  return drawing(
      "orthogonal", options,
      [gain = options.gain](const Shape &shape, DType type, Seed seed) {
        return orthogonal(shape, type, seed, gain);
      });
}

} // namespace

template <typename F> void fields(F &field, RandomUniformOptions &o) {
  field("minval", o.minval, Bound::Finite);
  field("maxval", o.maxval, Bound::Finite);
  seedOverrideField(field, o.seed);
}
template <typename F> void fields(F &field, RandomNormalOptions &o) {
  field("mean", o.mean, Bound::Finite);
  field("stddev", o.stddev, Bound::NotNegative);
  seedOverrideField(field, o.seed);
}
template <typename F> void fields(F &field, VarianceScalingOptions &o) {
  field("scale", o.scale, Bound::MoreThan0);
  field("mode", o.mode);
  field("distribution", o.distribution);
  seedOverrideField(field, o.seed);
}

Initializer Zeros() {
  return zerosOf({});
}
Initializer Ones() {
  return onesOf({});
}
Initializer Constant(double value) {
  return constantOf({value});
}
Initializer Identity(double gain, Where where) {
  return identityOf({gain, where});
}

Initializer RandomUniform(const RandomUniformOptions &options) {
  constexpr const char *name = "random_uniform";
  detail::atLine(options.where, [&] {
    detail::expectNumber(options.maxval > options.minval, name, "maxval",
                         "more than minval", options.maxval);
  });
  return drawing(name, options,
                 [options](const Shape &shape, DType type, Seed seed) {
                   return random::stateless_uniform(shape, seed, options.minval,
                                                    options.maxval, type);
                 });
}

Initializer RandomNormal(const RandomNormalOptions &options) {
  return drawing("random_normal", options,
                 [options](const Shape &shape, DType type, Seed seed) {
                   return random::stateless_normal(shape, seed, options.mean,
                                                   options.stddev, type);
                 });
}

Initializer TruncatedNormal(const RandomNormalOptions &options) {
  return drawing("truncated_normal", options,
                 [options](const Shape &shape, DType type, Seed seed) {
                   return truncatedNormal(shape, type, seed, options.mean,
                                          options.stddev);
                 });
}

Initializer VarianceScaling(const VarianceScalingOptions &options) {
  static const auto &modes = *new detail::Names<int>(
      "a mode", {{"fan_in", 0}, {"fan_out", 0}, {"fan_avg", 0}});
  static const auto &distributions = *new detail::Names<int>(
      "a distribution",
      {{"truncated_normal", 0}, {"untruncated_normal", 0}, {"uniform", 0}});
  VarianceScalingOptions resolved = options;
  detail::atLine(options.where, [&] {
    resolved.mode = modes.find(options.mode).first;
    // Keras's old name of the truncated one.
    resolved.distribution =
        options.distribution == "normal"
            ? "truncated_normal"
            : distributions.find(options.distribution).first;
  });
  return drawing("variance_scaling", resolved,
                 [resolved](const Shape &shape, DType type, Seed seed) {
                   return scaled(shape, type, seed, resolved);
                 });
}

Initializer GlorotUniform(SeedOverride seed) {
  return glorotUniform({seed});
}
Initializer GlorotNormal(SeedOverride seed) {
  return glorotNormal({seed});
}
Initializer HeUniform(SeedOverride seed) {
  return heUniform({seed});
}
Initializer HeNormal(SeedOverride seed) {
  return heNormal({seed});
}
Initializer LecunUniform(SeedOverride seed) {
  return lecunUniform({seed});
}
Initializer LecunNormal(SeedOverride seed) {
  return lecunNormal({seed});
}
Initializer Orthogonal(double gain, SeedOverride seed, Where where) {
  return orthogonalOf({gain, seed, where});
}

} // namespace meshloom::initializers

namespace meshloom {

using initializers::Initializer;

template <>
detail::Names<std::function<Initializer(const nn::Config &)>> &
registeredParts<Initializer>() {
  using namespace initializers;
  static auto &registry =
      *new detail::Names<std::function<Initializer(const nn::Config &)>>(
          "an initializer",
          {registeredPart<Initializer, detail::NoOptions>("zeros", zerosOf),
           registeredPart<Initializer, detail::NoOptions>("ones", onesOf),
           registeredPart<Initializer, ConstantOptions>("constant", constantOf),
           registeredPart<Initializer, IdentityOptions>("identity", identityOf),
           registeredPart<Initializer, RandomUniformOptions>("random_uniform",
                                                             RandomUniform),
           registeredPart<Initializer, RandomNormalOptions>("random_normal",
                                                            RandomNormal),
           registeredPart<Initializer, RandomNormalOptions>("truncated_normal",
                                                            TruncatedNormal),
           registeredPart<Initializer, VarianceScalingOptions>(
               "variance_scaling", VarianceScaling),
           registeredPart<Initializer, SeedOptions>("glorot_uniform",
                                                    glorotUniform),
           registeredPart<Initializer, SeedOptions>("glorot_normal",
                                                    glorotNormal),
           registeredPart<Initializer, SeedOptions>("he_uniform", heUniform),
           registeredPart<Initializer, SeedOptions>("he_normal", heNormal),
           registeredPart<Initializer, SeedOptions>("lecun_uniform",
                                                    lecunUniform),
           registeredPart<Initializer, SeedOptions>("lecun_normal",
                                                    lecunNormal),
           registeredPart<Initializer, OrthogonalOptions>("orthogonal",
                                                          orthogonalOf)});
  return registry;
}

template class NamedPart<Initializer, Tensor(const Shape &, DType, Seed)>;

} // namespace meshloom

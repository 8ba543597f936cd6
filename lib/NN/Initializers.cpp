// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// First values of variables, see Initializers.h.
#include "meshloom/NN/Initializers.h"

#include "Errors.h"
#include "Numbers.h"
#include "Parts.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/LinalgOps.h"
#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

namespace meshloom::initializers {
namespace {

using detail::ConfigReader;

/// Narrow floats are drawn as f32: one rounding, and the same numbers.
DType drawn(DType type) {
  return type == DType::F64 ? type : DType::F32;
}

/// A part that draws numbers: `own` counts instead of the caller's seed.
Initializer drawing(std::string name, PartConfig config, const OwnSeed &own,
                    std::function<Tensor(const Shape &, DType, Seed)> draw) {
  if (own)
    config["seed"] = std::vector<int64_t>{own->first, own->second};
  return Initializer(
      std::move(name), std::move(config),
      [own, draw = std::move(draw)](const Shape &shape, DType type, Seed seed) {
        Tensor value = draw(shape, drawn(type), own.value_or(seed));
        return value.dtype() == type ? value : cast(value, type);
      });
}

OwnSeed seedOf(ConfigReader &reader) {
  std::vector<int64_t> words = reader.integers("seed", {});
  if (words.empty())
    return std::nullopt;
  words.resize(2);
  return Seed{uint32_t(words[0]), uint32_t(words[1])};
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

Initializer scaling(std::string name, PartConfig config,
                    const VarianceScalingOptions &options) {
  return drawing(std::move(name), std::move(config), options.seed,
                 [options](const Shape &shape, DType type, Seed seed) {
                   return scaled(shape, type, seed, options);
                 });
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

Initializer filled(const char *name, PartConfig config, double value) {
  return Initializer(name, std::move(config),
                     [value](const Shape &shape, DType type, Seed) {
                       return full(shape, value, type);
                     });
}

void expectMoments(std::string_view part, const RandomNormalOptions &options) {
  detail::expectBound(part, "mean", options.mean, detail::Bound::Finite);
  detail::expectBound(part, "stddev", options.stddev,
                      detail::Bound::NotNegative);
}

RandomNormalOptions normalOf(ConfigReader &reader) {
  return {.mean = reader.number("mean", 0),
          .stddev = reader.number("stddev", 0.05),
          .seed = seedOf(reader)};
}

} // namespace

Initializer Zeros() {
  return filled("zeros", {}, 0);
}
Initializer Ones() {
  return filled("ones", {}, 1);
}
Initializer Constant(double value) {
  return filled("constant", {{"value", value}}, value);
}

Initializer Identity(double gain) {
  return Initializer(
      "identity", {{"gain", gain}},
      [gain](const Shape &shape, DType type, Seed) {
        if (shape.size() != 2)
          nn::fail("identity",
                   fmt::format("expected a shape of two dims, got [{}]",
                               fmt::join(shape, ", ")),
                   std::source_location::current());
        return eye(shape[0], shape[1], 0, type) * gain;
      });
}

Initializer RandomUniform(const RandomUniformOptions &options) {
  detail::expectBound("RandomUniform", "minval", options.minval,
                      detail::Bound::Finite);
  detail::expectNumber(
      options.maxval > options.minval && std::isfinite(options.maxval),
      "RandomUniform", "maxval", "more than minval", options.maxval);
  return drawing("random_uniform",
                 {{"minval", options.minval}, {"maxval", options.maxval}},
                 options.seed,
                 [options](const Shape &shape, DType type, Seed seed) {
                   return random::stateless_uniform(shape, seed, options.minval,
                                                    options.maxval, type);
                 });
}

Initializer RandomNormal(const RandomNormalOptions &options) {
  expectMoments("RandomNormal", options);
  return drawing(
      "random_normal", {{"mean", options.mean}, {"stddev", options.stddev}},
      options.seed, [options](const Shape &shape, DType type, Seed seed) {
        return random::stateless_normal(shape, seed, options.mean,
                                        options.stddev, type);
      });
}

Initializer TruncatedNormal(const RandomNormalOptions &options) {
  expectMoments("TruncatedNormal", options);
  return drawing(
      "truncated_normal", {{"mean", options.mean}, {"stddev", options.stddev}},
      options.seed, [options](const Shape &shape, DType type, Seed seed) {
        return truncatedNormal(shape, type, seed, options.mean, options.stddev);
      });
}

Initializer VarianceScaling(const VarianceScalingOptions &options) {
  if (!(options.scale > 0))
    throw Error(fmt::format(
        "[variance_scaling] expected a positive scale, got {}", options.scale));
  static const auto &modes = *new detail::Names<int>(
      "a mode", {{"fan_in", 0}, {"fan_out", 0}, {"fan_avg", 0}});
  static const auto &distributions = *new detail::Names<int>(
      "a distribution",
      {{"truncated_normal", 0}, {"untruncated_normal", 0}, {"uniform", 0}});
  VarianceScalingOptions known = options;
  known.mode = modes.find(options.mode).first;
  // Keras's old name of the truncated one.
  known.distribution = options.distribution == "normal"
                           ? "truncated_normal"
                           : distributions.find(options.distribution).first;
  return scaling("variance_scaling",
                 {{"scale", known.scale},
                  {"mode", known.mode},
                  {"distribution", known.distribution}},
                 known);
}

Initializer GlorotUniform(OwnSeed seed) {
  return scaling("glorot_uniform", {}, {1, "fan_avg", "uniform", seed});
}
Initializer GlorotNormal(OwnSeed seed) {
  return scaling("glorot_normal", {}, {1, "fan_avg", "truncated_normal", seed});
}
Initializer HeUniform(OwnSeed seed) {
  return scaling("he_uniform", {}, {2, "fan_in", "uniform", seed});
}
Initializer HeNormal(OwnSeed seed) {
  return scaling("he_normal", {}, {2, "fan_in", "truncated_normal", seed});
}
Initializer LecunUniform(OwnSeed seed) {
  return scaling("lecun_uniform", {}, {1, "fan_in", "uniform", seed});
}
Initializer LecunNormal(OwnSeed seed) {
  return scaling("lecun_normal", {}, {1, "fan_in", "truncated_normal", seed});
}

Initializer Orthogonal(double gain, OwnSeed seed) {
  return drawing("orthogonal", {{"gain", gain}}, seed,
                 [gain](const Shape &shape, DType type, Seed seed) {
                   return orthogonal(shape, type, seed, gain);
                 });
}

} // namespace meshloom::initializers

namespace meshloom {

using initializers::Initializer;

template <>
detail::Names<std::function<Initializer(const PartConfig &)>> &
knownParts<Initializer>() {
  using namespace initializers;
  using Reader = detail::ConfigReader;
  constexpr auto part = knownPart<Initializer>;
  static auto &known =
      *new detail::Names<std::function<Initializer(const PartConfig &)>>(
          "an initializer",
          {part("zeros", [](Reader &) { return Zeros(); }),
           part("ones", [](Reader &) { return Ones(); }),
           part("constant",
                [](Reader &from) { return Constant(from.number("value", 0)); }),
           part("identity",
                [](Reader &from) { return Identity(from.number("gain", 1)); }),
           part("random_uniform",
                [](Reader &from) {
                  return RandomUniform({.minval = from.number("minval", -0.05),
                                        .maxval = from.number("maxval", 0.05),
                                        .seed = seedOf(from)});
                }),
           part("random_normal",
                [](Reader &from) { return RandomNormal(normalOf(from)); }),
           part("truncated_normal",
                [](Reader &from) { return TruncatedNormal(normalOf(from)); }),
           part("variance_scaling",
                [](Reader &from) {
                  return VarianceScaling(
                      {.scale = from.number("scale", 1),
                       .mode = from.word("mode", "fan_in"),
                       .distribution =
                           from.word("distribution", "truncated_normal"),
                       .seed = seedOf(from)});
                }),
           part("glorot_uniform",
                [](Reader &from) { return GlorotUniform(seedOf(from)); }),
           part("glorot_normal",
                [](Reader &from) { return GlorotNormal(seedOf(from)); }),
           part("he_uniform",
                [](Reader &from) { return HeUniform(seedOf(from)); }),
           part("he_normal",
                [](Reader &from) { return HeNormal(seedOf(from)); }),
           part("lecun_uniform",
                [](Reader &from) { return LecunUniform(seedOf(from)); }),
           part("lecun_normal",
                [](Reader &from) { return LecunNormal(seedOf(from)); }),
           part("orthogonal", [](Reader &from) {
             return Orthogonal(from.number("gain", 1), seedOf(from));
           })});
  return known;
}

template class NamedPart<Initializer, Tensor(const Shape &, DType, Seed)>;

} // namespace meshloom

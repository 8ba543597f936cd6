// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tensors of further distributions, random orders and choices, and a
// Generator whose seed moves on by itself. As in Random.h, numbers follow from
// the seed and the element's global index: they are the same under every
// layout, mesh and number of devices. No gradient flows to parameters.
//
//   random::Generator g = random::Generator::from_seed(1);
//   Tensor noise = g.normal({8, 4});          // others at each call
//   Tensor tokens = g.categorical(logits, 1); // [batch, classes] -> [batch, 1]
//
// Parameters are numbers or tensors that broadcast to the shape. All throw
// meshloom::Error if a parameter that is a number is out of its range, if a
// tensor does not broadcast, or if the type is not one that is named; elements
// of tensors that are out of range give nan, or 0 where the result is of
// integers.
#pragma once

#include "meshloom/API/Ops.h"
#include "meshloom/API/Random.h"

namespace meshloom::random {

/// i1: true with probability `p`.
[[nodiscard]] Tensor stateless_bernoulli(Shape shape, const SeedLike &seed,
                                         const TensorLike &p = 0.5,
                                         Where where = Where::current());
/// Normal, but only what is at most two standard deviations from the mean.
[[nodiscard]] Tensor
stateless_truncated_normal(Shape shape, const SeedLike &seed, double mean = 0,
                           double stddev = 1, DType type = DType::F32,
                           Where where = Where::current());
/// Exponential with density rate exp(-rate x).
[[nodiscard]] Tensor stateless_exponential(Shape shape, const SeedLike &seed,
                                           const TensorLike &rate = 1.0,
                                           DType type = DType::F32,
                                           Where where = Where::current());
/// Gamma with density proportional to x^(alpha - 1) exp(-beta x), by the method
/// of Marsaglia and Tsang ("A simple method for generating gamma variables",
/// 2000). Floats.
[[nodiscard]] Tensor stateless_gamma(Shape shape, const SeedLike &seed,
                                     const TensorLike &alpha,
                                     const TensorLike &beta = 1.0,
                                     DType type = DType::F32,
                                     Where where = Where::current());
/// Beta with density proportional to x^(a - 1) (1 - x)^(b - 1), of two gammas.
/// Floats.
[[nodiscard]] Tensor stateless_beta(Shape shape, const SeedLike &seed,
                                    const TensorLike &a, const TensorLike &b,
                                    DType type = DType::F32,
                                    Where where = Where::current());
/// Poisson with mean `rate`: integers, as i32, i64 or whole floats. Knuth's
/// product below a rate of 10, Hoermann's transformed rejection ("The
/// transformed rejection method for generating Poisson random variables", 1993)
/// from there on.
[[nodiscard]] Tensor stateless_poisson(Shape shape, const SeedLike &seed,
                                       const TensorLike &rate,
                                       DType type = DType::I32,
                                       Where where = Where::current());
/// logits [batch..., classes], log-probabilities up to a constant -> [batch...,
/// num_samples] of i32 or i64: classes, drawn with replacement. A class whose
/// logit is -inf is never drawn.
[[nodiscard]] Tensor stateless_categorical(const Tensor &logits,
                                           int64_t num_samples,
                                           const SeedLike &seed,
                                           DType type = DType::I64,
                                           Where where = Where::current());

/// i64 [n]: 0 to n - 1 in a random order. Every order is equally likely, up to
/// equal 64-bit keys.
[[nodiscard]] Tensor stateless_permutation(int64_t n, const SeedLike &seed,
                                           Where where = Where::current());
/// x with its slices along `axis` in a random order.
[[nodiscard]] Tensor stateless_shuffle(const Tensor &x, const SeedLike &seed,
                                       int64_t axis = 0,
                                       Where where = Where::current());

/// The options of choice.
struct ChoiceOptions {
  bool replace = true; ///< whether one may come twice
  /// [n]: how likely each is, up to a factor; empty: equally.
  Tensor p = {};
};
/// `shape` slices of x [n, r...] along its first dim -> [shape..., r...].
/// Throws meshloom::Error if without `replace` more are asked for than there
/// are, or if `p` is not [n].
[[nodiscard]] Tensor stateless_choice(const Tensor &x, Shape shape,
                                      const SeedLike &seed,
                                      const ChoiceOptions &options = {},
                                      Where where = Where::current());
/// Numbers from 0 to n - 1, i64.
[[nodiscard]] Tensor stateless_choice(int64_t n, Shape shape,
                                      const SeedLike &seed,
                                      const ChoiceOptions &options = {},
                                      Where where = Where::current());

/// Draws different numbers at each call, in a `function` too, which is not
/// traced again: the generator keeps a seed and a count in a variable, and adds
/// to the count. A copy is the same generator. Save `state` like any variable;
/// a restored generator goes on with the same numbers.
class Generator {
public:
  /// The line of a call, for messages and reports.
  using Where = std::source_location;
  /// One that always gives the same numbers in the same order.
  static Generator from_seed(uint32_t seed, Where where = Where::current());
  /// One with a seed of two words.
  static Generator from_seed(Seed seed, Where where = Where::current());

  /// See stateless_uniform, in Random.h.
  Tensor uniform(Shape shape, double minval = 0, double maxval = 1,
                 DType type = DType::F32, Where where = Where::current()) const;
  /// See stateless_normal, in Random.h.
  Tensor normal(Shape shape, double mean = 0, double stddev = 1,
                DType type = DType::F32, Where where = Where::current()) const;
  /// See stateless_truncated_normal.
  Tensor truncated_normal(Shape shape, double mean = 0, double stddev = 1,
                          DType type = DType::F32,
                          Where where = Where::current()) const;
  /// See stateless_bernoulli.
  Tensor bernoulli(Shape shape, const TensorLike &p = 0.5,
                   Where where = Where::current()) const;
  /// See stateless_exponential.
  Tensor exponential(Shape shape, const TensorLike &rate = 1.0,
                     DType type = DType::F32,
                     Where where = Where::current()) const;
  /// See stateless_gamma.
  Tensor gamma(Shape shape, const TensorLike &alpha,
               const TensorLike &beta = 1.0, DType type = DType::F32,
               Where where = Where::current()) const;
  /// See stateless_beta.
  Tensor beta(Shape shape, const TensorLike &a, const TensorLike &b,
              DType type = DType::F32, Where where = Where::current()) const;
  /// See stateless_poisson.
  Tensor poisson(Shape shape, const TensorLike &rate, DType type = DType::I32,
                 Where where = Where::current()) const;
  /// See stateless_categorical.
  Tensor categorical(const Tensor &logits, int64_t num_samples,
                     DType type = DType::I64,
                     Where where = Where::current()) const;
  /// See stateless_permutation.
  Tensor permutation(int64_t n, Where where = Where::current()) const;
  /// See stateless_shuffle.
  Tensor shuffle(const Tensor &x, int64_t axis = 0,
                 Where where = Where::current()) const;
  /// See stateless_choice.
  Tensor choice(const Tensor &x, Shape shape, const ChoiceOptions &options = {},
                Where where = Where::current()) const;
  /// See stateless_choice.
  Tensor choice(int64_t n, Shape shape, const ChoiceOptions &options = {},
                Where where = Where::current()) const;
  /// ui32 [2]: a seed for a stateless op, another one at each call.
  Tensor make_seed(Where where = Where::current()) const;

  /// ui32 [3]: the two words of the seed, and how many seeds were made.
  const DVariable &state() const { return variable; }

private:
  DVariable variable;
};

} // namespace meshloom::random

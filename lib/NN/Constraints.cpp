// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What weights are brought back to, see Constraints.h.
#include "meshloom/NN/Constraints.h"

#include "Numbers.h"
#include "Parts.h"

#include "meshloom/API/Ops.h"

namespace meshloom::constraints {
namespace {

constexpr double tiny = 1e-7; // Keras's epsilon: nothing is divided by 0

/// `w` whose vectors, that are `lengths` long, become `wanted` long.
Tensor withLengths(const Tensor &w, const Tensor &lengths,
                   const Tensor &wanted) {
  return w * (wanted / (lengths + tiny));
}

Tensor lengthsOf(const Tensor &w, const Axes &axis) {
  return sqrt(reduce_sum(square(w), Axis(axis), true));
}

} // namespace

Constraint MaxNorm(double max_value, const Axes &axis) {
  detail::expectBound("MaxNorm", "max_value", max_value,
                      detail::Bound::NotNegative);
  return Constraint("max_norm", {{"max_value", max_value}, {"axis", axis}},
                    [max_value, axis](const Tensor &w) {
                      Tensor lengths = lengthsOf(w, axis);
                      return withLengths(w, lengths,
                                         minimum(lengths, max_value));
                    });
}

Constraint NonNeg() {
  return Constraint("non_neg", {}, [](const Tensor &w) {
    return where(greater_equal(w, 0), w, 0);
  });
}

Constraint UnitNorm(const Axes &axis) {
  return Constraint("unit_norm", {{"axis", axis}}, [axis](const Tensor &w) {
    return w / (lengthsOf(w, axis) + tiny);
  });
}

Constraint MinMaxNorm(const MinMaxNormOptions &options) {
  detail::expectBound("MinMaxNorm", "min_value", options.min_value,
                      detail::Bound::NotNegative);
  detail::expectNumber(options.max_value >= options.min_value, "MinMaxNorm",
                       "max_value", "min_value or more", options.max_value);
  detail::expectBound("MinMaxNorm", "rate", options.rate, detail::Bound::Share);
  return Constraint("min_max_norm",
                    {{"min_value", options.min_value},
                     {"max_value", options.max_value},
                     {"rate", options.rate},
                     {"axis", options.axis}},
                    [options](const Tensor &w) {
                      Tensor lengths = lengthsOf(w, options.axis);
                      Tensor within = clip_by_value(lengths, options.min_value,
                                                    options.max_value);
                      return withLengths(w, lengths,
                                         within * options.rate +
                                             lengths * (1 - options.rate));
                    });
}

} // namespace meshloom::constraints

namespace meshloom {

using constraints::Constraint;

template <>
detail::Names<std::function<Constraint(const PartConfig &)>> &
knownParts<Constraint>() {
  using namespace constraints;
  using Reader = detail::ConfigReader;
  constexpr auto part = knownPart<Constraint>;
  static auto &known =
      *new detail::Names<std::function<Constraint(const PartConfig &)>>(
          "a constraint",
          {part("max_norm",
                [](Reader &from) {
                  return MaxNorm(from.number("max_value", 2),
                                 from.integers("axis", {0}));
                }),
           part("non_neg", [](Reader &) { return NonNeg(); }),
           part("unit_norm",
                [](Reader &from) {
                  return UnitNorm(from.integers("axis", {0}));
                }),
           part("min_max_norm", [](Reader &from) {
             return MinMaxNorm({.min_value = from.number("min_value", 0),
                                .max_value = from.number("max_value", 1),
                                .rate = from.number("rate", 1),
                                .axis = from.integers("axis", {0})});
           })});
  return known;
}

template class NamedPart<Constraint, Tensor(const Tensor &)>;

} // namespace meshloom

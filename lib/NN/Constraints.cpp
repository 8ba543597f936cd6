// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constraints that weights are brought back to, see Constraints.h.
#include "meshloom/NN/Constraints.h"

#include "RegisteredParts.h"

#include "meshloom/API/Ops.h"

namespace meshloom::constraints {

using detail::Bound;

namespace {

struct MaxNormOptions {
  double max_value = 2;
  Axes axis = {0};
  Where where = {};
};
template <typename F> void fields(F &field, MaxNormOptions &o) {
  field("max_value", o.max_value, Bound::NotNegative);
  field("axis", o.axis);
}
struct UnitNormOptions {
  Axes axis = {0};
};
template <typename F> void fields(F &field, UnitNormOptions &o) {
  field("axis", o.axis);
}

constexpr double tiny = 1e-7; // Keras's epsilon: nothing is divided by 0

/// `w` whose vectors, that are `lengths` long, become `wanted` long.
Tensor withLengths(const Tensor &w, const Tensor &lengths,
                   const Tensor &wanted) {
  return w * (wanted / (lengths + tiny));
}

Tensor lengthsOf(const Tensor &w, const Axes &axis) {
  return sqrt(reduce_sum(square(w), Axis(axis), true));
}

Constraint maxNormOf(const MaxNormOptions &options) {
  return makePart<Constraint>("max_norm", options, [=](const Tensor &w) {
    const Tensor lengths = lengthsOf(w, options.axis);
    return withLengths(w, lengths, minimum(lengths, options.max_value));
  });
}
Constraint nonNegOf(const detail::NoOptions &options) {
  return makePart<Constraint>("non_neg", options, [](const Tensor &w) {
    return where(greater_equal(w, 0), w, 0);
  });
}
Constraint unitNormOf(const UnitNormOptions &options) {
  return makePart<Constraint>("unit_norm", options, [=](const Tensor &w) {
    return w / (lengthsOf(w, options.axis) + tiny);
  });
}

} // namespace

template <typename F> void fields(F &field, MinMaxNormOptions &o) {
  field("min_value", o.min_value, Bound::NotNegative);
  field("max_value", o.max_value, Bound::NotNegative);
  field("rate", o.rate, Bound::Share);
  field("axis", o.axis);
}

Constraint MaxNorm(double max_value, const Axes &axis, Where where) {
  return maxNormOf({max_value, axis, where});
}
Constraint NonNeg() {
  return nonNegOf({});
}
Constraint UnitNorm(const Axes &axis) {
  return unitNormOf({axis});
}
Constraint MinMaxNorm(const MinMaxNormOptions &options) {
  detail::atLine(options.where, [&] {
    detail::expectNumber(options.max_value >= options.min_value, "min_max_norm",
                         "max_value", "min_value or more", options.max_value);
  });
  return makePart<Constraint>("min_max_norm", options, [=](const Tensor &w) {
    const Tensor lengths = lengthsOf(w, options.axis);
    const Tensor within =
        clip_by_value(lengths, options.min_value, options.max_value);
    return withLengths(w, lengths,
                       within * options.rate + lengths * (1 - options.rate));
  });
}

} // namespace meshloom::constraints

namespace meshloom {

using constraints::Constraint;

template <>
detail::Names<std::function<Constraint(const nn::Config &)>> &
registeredParts<Constraint>() {
  using namespace constraints;
  static auto &registry =
      *new detail::Names<std::function<Constraint(const nn::Config &)>>(
          "a constraint",
          {registeredPart<Constraint, MaxNormOptions>("max_norm", maxNormOf),
           registeredPart<Constraint, detail::NoOptions>("non_neg", nonNegOf),
           registeredPart<Constraint, UnitNormOptions>("unit_norm", unitNormOf),
           registeredPart<Constraint, MinMaxNormOptions>("min_max_norm",
                                                         MinMaxNorm)});
  return registry;
}

template class NamedPart<Constraint, Tensor(const Tensor &)>;

} // namespace meshloom

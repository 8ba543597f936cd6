// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The costs of large weights, see Regularizers.h.
#include "meshloom/NN/Regularizers.h"

#include "Errors.h"
#include "RegisteredParts.h"

#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>

namespace meshloom::regularizers {

using detail::Bound;

namespace {

struct L1Options {
  double l1 = 0.01;
  Where where = {};
};
template <typename F> void fields(F &field, L1Options &o) {
  field("l1", o.l1, Bound::NotNegative);
}
struct L2Options {
  double l2 = 0.01;
  Where where = {};
};
template <typename F> void fields(F &field, L2Options &o) {
  field("l2", o.l2, Bound::NotNegative);
}
struct OrthogonalOptions {
  double factor = 0.01;
  std::string mode = "rows";
  Where where = {};
};
template <typename F> void fields(F &field, OrthogonalOptions &o) {
  field("factor", o.factor, Bound::NotNegative);
  field("mode", o.mode);
}

Tensor sumOfSizes(const Tensor &w) {
  return reduce_sum(abs(w));
}
Tensor sumOfSquares(const Tensor &w) {
  return reduce_sum(square(w));
}

Tensor likeness(const Tensor &w, bool byRows) {
  if (w.rank() != 2)
    nn::fail(
        "orthogonal",
        fmt::format("expected a matrix, got a weight of {} dims", w.rank()),
        std::source_location::current());
  const int64_t count = w.shape()[byRows ? 0 : 1];
  Tensor squares = reduce_sum(square(w), byRows ? 1 : 0, true);
  Tensor unit = w * rsqrt(maximum(squares, 1e-12));
  Tensor products = byRows ? matmul(unit, unit, {.transpose_b = true})
                           : matmul(unit, unit, {.transpose_a = true});
  Tensor others = products * (1 - eye(count, {}, 0, w.dtype()));
  // Every pair is there twice.
  return reduce_sum(abs(others)) *
         (1 / std::max(double(count) * double(count - 1), 1.0));
}

Regularizer l1Of(const L1Options &options) {
  return makePart<Regularizer>("l1", options, [=](const Tensor &w) {
    return sumOfSizes(w) * options.l1;
  });
}
Regularizer l2Of(const L2Options &options) {
  return makePart<Regularizer>("l2", options, [=](const Tensor &w) {
    return sumOfSquares(w) * options.l2;
  });
}
Regularizer orthogonalOf(const OrthogonalOptions &options) {
  static const auto &modes =
      *new detail::Names<int>("a mode", {{"rows", 0}, {"columns", 0}});
  OrthogonalOptions resolved = options;
  resolved.mode = detail::atLine(
      options.where, [&] { return modes.find(options.mode).first; });
  return makePart<Regularizer>(
      "orthogonal_regularizer", resolved,
      [factor = resolved.factor, byRows = resolved.mode == "rows"](
          const Tensor &w) { return likeness(w, byRows) * factor; });
}

} // namespace

template <typename F> void fields(F &field, L1L2Options &o) {
  field("l1", o.l1, Bound::NotNegative);
  field("l2", o.l2, Bound::NotNegative);
}

Regularizer L1(double l1, Where where) {
  return l1Of({l1, where});
}
Regularizer L2(double l2, Where where) {
  return l2Of({l2, where});
}
Regularizer L1L2(const L1L2Options &options) {
  return makePart<Regularizer>("l1_l2", options, [=](const Tensor &w) {
    return sumOfSizes(w) * options.l1 + sumOfSquares(w) * options.l2;
  });
}
Regularizer OrthogonalRegularizer(double factor, const std::string &mode,
                                  Where where) {
  return orthogonalOf({factor, mode, where});
}

} // namespace meshloom::regularizers

namespace meshloom {

using regularizers::Regularizer;

template <>
detail::Names<std::function<Regularizer(const nn::Config &)>> &
registeredParts<Regularizer>() {
  using namespace regularizers;
  static auto &registry =
      *new detail::Names<std::function<Regularizer(const nn::Config &)>>(
          "a regularizer", {registeredPart<Regularizer, L1Options>("l1", l1Of),
                            registeredPart<Regularizer, L2Options>("l2", l2Of),
                            // Its name alone means both, as in Keras.
                            registeredPart<Regularizer, L1L2Options>(
                                "l1_l2", L1L2, {.l1 = 0.01, .l2 = 0.01}),
                            registeredPart<Regularizer, OrthogonalOptions>(
                                "orthogonal_regularizer", orthogonalOf)});
  return registry;
}

template class NamedPart<Regularizer, Tensor(const Tensor &)>;

} // namespace meshloom

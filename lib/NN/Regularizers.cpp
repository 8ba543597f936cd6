// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What large weights cost, see Regularizers.h.
#include "meshloom/NN/Regularizers.h"

#include "Errors.h"
#include "Numbers.h"
#include "Parts.h"

#include "meshloom/API/PatternOps.h"

#include <fmt/format.h>

namespace meshloom::regularizers {
namespace {

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

} // namespace

Regularizer L1(double l1) {
  detail::expectBound("L1", "l1", l1, detail::Bound::NotNegative);
  return Regularizer("l1", {{"l1", l1}},
                     [l1](const Tensor &w) { return sumOfSizes(w) * l1; });
}

Regularizer L2(double l2) {
  detail::expectBound("L2", "l2", l2, detail::Bound::NotNegative);
  return Regularizer("l2", {{"l2", l2}},
                     [l2](const Tensor &w) { return sumOfSquares(w) * l2; });
}

Regularizer L1L2(const L1L2Options &options) {
  detail::expectBound("L1L2", "l1", options.l1, detail::Bound::NotNegative);
  detail::expectBound("L1L2", "l2", options.l2, detail::Bound::NotNegative);
  return Regularizer("l1_l2", {{"l1", options.l1}, {"l2", options.l2}},
                     [options](const Tensor &w) {
                       return sumOfSizes(w) * options.l1 +
                              sumOfSquares(w) * options.l2;
                     });
}

Regularizer OrthogonalRegularizer(double factor, const std::string &mode) {
  detail::expectBound("OrthogonalRegularizer", "factor", factor,
                      detail::Bound::NotNegative);
  static const auto &modes =
      *new detail::Names<int>("a mode", {{"rows", 0}, {"columns", 0}});
  const std::string known = modes.find(mode).first;
  return Regularizer("orthogonal_regularizer",
                     {{"factor", factor}, {"mode", known}},
                     [factor, byRows = known == "rows"](const Tensor &w) {
                       return likeness(w, byRows) * factor;
                     });
}

} // namespace meshloom::regularizers

namespace meshloom {

using regularizers::Regularizer;

template <>
detail::Names<std::function<Regularizer(const PartConfig &)>> &
knownParts<Regularizer>() {
  using namespace regularizers;
  using Reader = detail::ConfigReader;
  constexpr auto part = knownPart<Regularizer>;
  static auto &known =
      *new detail::Names<std::function<Regularizer(const PartConfig &)>>(
          "a regularizer",
          {part("l1", [](Reader &from) { return L1(from.number("l1", 0.01)); }),
           part("l2", [](Reader &from) { return L2(from.number("l2", 0.01)); }),
           // Its name alone means both, as in Keras.
           part("l1_l2",
                [](Reader &from) {
                  return L1L2({.l1 = from.number("l1", 0.01),
                               .l2 = from.number("l2", 0.01)});
                }),
           part("orthogonal_regularizer", [](Reader &from) {
             return OrthogonalRegularizer(from.number("factor", 0.01),
                                          from.word("mode", "rows"));
           })});
  return known;
}

template class NamedPart<Regularizer, Tensor(const Tensor &)>;

} // namespace meshloom

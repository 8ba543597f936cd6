// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// regularizers: what large weights cost, by the names and with the defaults of
// Keras.
#pragma once

#include "meshloom/NN/Named.h"

/// Regularizers, the costs of large weights.
namespace meshloom::regularizers {

/// Returns a scalar for a weight, which is added to the loss.
class Regularizer : public NamedPart<Regularizer, Tensor(const Tensor &)> {
public:
  using NamedPart::NamedPart;
};

/// l1 sum(|w|).
Regularizer L1(double l1 = 0.01, Where where = Where::current());
/// l2 sum(w^2).
Regularizer L2(double l2 = 0.01, Where where = Where::current());
/// The numbers of L1L2.
struct L1L2Options {
  double l1 = 0;                  ///< times sum(|w|)
  double l2 = 0;                  ///< times sum(w^2)
  Where where = Where::current(); ///< the line that errors name
};
/// l1 sum(|w|) + l2 sum(w^2).
Regularizer L1L2(const L1L2Options &options = {});
/// L1L2(1e-5, 1e-4).
template <typename N>
  requires std::is_arithmetic_v<N>
Regularizer L1L2(N l1, double l2 = 0, Where where = Where::current()) {
  return L1L2(L1L2Options{double(l1), l2, where});
}
/// `factor` times the mean of |a b| / 2 over all pairs of rows (mode "rows") or
/// columns ("columns") a, b of a matrix, made unit vectors: the cost of not
/// being orthogonal. Throws meshloom::Error for other modes; the regularizer,
/// for what is not a matrix.
Regularizer OrthogonalRegularizer(double factor = 0.01,
                                  const std::string &mode = "rows",
                                  Where where = Where::current());

} // namespace meshloom::regularizers

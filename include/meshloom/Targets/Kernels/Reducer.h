// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reducers of kernels, on scalars: identity, combination and result.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <memory>

namespace meshloom {

/// One output's reduction: a state of one or two scalars, none of them complex.
class ScalarReducer {
public:
  virtual ~ScalarReducer() = default;
  virtual SmallVector<Type> stateTypes() const = 0;
  /// The state of no element. `origins` are the loops' first global indices.
  virtual SmallVector<Value> identity(OpBuilder &b, Location loc,
                                      ArrayRef<Value> origins) const = 0;
  /// Whether it is a sum of floats, whose states are added in any order.
  virtual bool isFloatSum() const { return false; }
  /// Whether `combine` is given the element's index.
  virtual bool usesIndex() const { return false; }
  /// The state after one more element `value`; `index` is its index along the
  /// reduction loop.
  virtual SmallVector<Value> combine(OpBuilder &b, Location loc,
                                     ValueRange state, Value value,
                                     Value index) const = 0;
  /// The state of the terms of both `state` and `other`, between whose indices
  /// there is no order.
  virtual SmallVector<Value> merge(OpBuilder &b, Location loc, ValueRange state,
                                   ValueRange other) const = 0;
  /// The stored value, as a scalar of the output's element type.
  virtual Value result(OpBuilder &b, Location loc, ValueRange state) const = 0;
};

/// `x` and `y` combined by a reducer that is not of complex numbers or of
/// indices. Minima and maxima of integers ask whether these are unsigned; sums
/// and products of floats have the flags `order`. Where there are such flags,
/// the minimum or maximum of zeros may have either sign.
Value combineScalars(OpBuilder &b, Location loc, spmd::Reducer kind,
                     bool isUnsigned, Value x, Value y,
                     mlir::arith::FastMathFlags order = {});

/// nullptr where nothing is reduced into output `output`. `anyOrder`: whether
/// sums and products of floats may be made in any order.
std::unique_ptr<ScalarReducer> makeReducer(spmd::KernelOp kernel,
                                           unsigned output, bool anyOrder);

} // namespace meshloom

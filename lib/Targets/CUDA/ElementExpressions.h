// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An element of a value as an expression of elements of other values, through
// all kernels in between, so that it does not matter how these are cut.
#pragma once

#include "meshloom/Dialect/SPMD/SPMD.h"

#include "mlir/IR/AffineExpr.h"

#include <deque>

namespace meshloom {

/// A scalar. Equal expressions of an ElementExpressions are one object.
struct ElementExpression {
  enum class Kind : uint8_t {
    Element,   ///< of `tensor`, which no kernel has computed, at `indices`
    Index,     ///< indices[0]
    Constant,  ///< `number`
    Operation, ///< of the op `name`, on `operands`
    Reduction  ///< by a kernel, whose result is `tensor`, at `indices`
  };
  Kind kind;
  Value tensor = {};
  SmallVector<mlir::AffineExpr> indices = {};
  double number = 0;
  StringRef name = {};
  DictionaryAttr attributes = {};
  SmallVector<const ElementExpression *> operands = {};
  /// The op of an operation, and its kernel's iteration; of the first one of
  /// equal expressions.
  Operation *op = nullptr;
  SmallVector<mlir::AffineExpr> loops = {};

  bool is(StringRef op) const { return kind == Kind::Operation && name == op; }
  bool isConstant() const { return kind == Kind::Constant; }
  bool operator==(const ElementExpression &other) const;
};

/// Returns the number of the input whose elements a kernel gives as a result,
/// moved, widened or rounded; nothing where it computes the result.
std::optional<unsigned> movedInputOf(spmd::KernelOp kernel, unsigned result);

/// Widening and rounding of floats is left out.
class ElementExpressions {
public:
  using Expression = const ElementExpression *;
  using Loops = SmallVector<mlir::AffineExpr>;
  /// Returns the kernel's value that a result of a call of rows is, or the
  /// call's operand that an argument of its body is; else the value itself.
  static Value withoutRows(Value value);
  /// The loops of the iteration in which a kernel computes an element; null
  /// where the loop reduces. Nothing: they cannot be told.
  static std::optional<Loops> loopsOf(spmd::KernelOp kernel, unsigned output,
                                      ArrayRef<mlir::AffineExpr> indices);
  /// The element of `tensor` at these indices. Null: it is too large.
  Expression elementOf(Value tensor, ArrayRef<mlir::AffineExpr> indices);
  /// The element of another tensor that a kernel gives an element its value by
  /// moving, widening or rounding it. Nothing: it is computed, or no kernel's.
  static std::optional<std::pair<Value, SmallVector<mlir::AffineExpr>>>
  sourceOf(Value tensor, ArrayRef<mlir::AffineExpr> indices);
  /// Returns the number of a constant, or of an operation whose operands have
  /// the numbers that `numberOf` gives; nothing where it is none of the
  /// operations of attention.
  static std::optional<double>
  evaluate(Expression expression,
           function_ref<std::optional<double>(Expression)> numberOf);
  /// Returns how a reduction combines its terms.
  static spmd::Reducer reducerOf(Expression reduction);
  /// The term of a reduction at `index` of its only loop of several iterations,
  /// which has `extent`; null where it has no such loop, or several.
  Expression termOf(Expression reduction, mlir::AffineExpr index,
                    int64_t extent);

  /// The expression that is one of another object here; null where it is too
  /// large.
  Expression copyOf(Expression other);

private:
  Expression scalarOf(spmd::KernelOp kernel, Value value, const Loops &loops);
  Expression operationOf(spmd::KernelOp kernel, Operation *op,
                         const Loops &loops);
  Expression unique(ElementExpression expression);

  std::deque<ElementExpression> expressions;
};

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on one element at compile time, with exactly the semantics that
// the op descriptions give it: used by the folders of elementwise ops.
#pragma once

#include "meshloom/Dialect/DTensor/DTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APSInt.h"

#include <complex>

namespace meshloom::dtensor {

/// The one value of a constant that is the same everywhere.
struct Splat {
  Type type;                               ///< of the element
  llvm::APFloat real = llvm::APFloat(0.0); ///< part of a complex number too
  llvm::APFloat imaginary = llvm::APFloat(0.0);
  llvm::APSInt integer;

  explicit Splat(Type type) : type(type) {}
  bool isFloat() const { return isa<FloatType>(type); }
  bool isComplex() const { return isa<mlir::ComplexType>(type); }
  bool isInteger() const { return isa<IntegerType>(type); }

  static Splat of(FloatType type, llvm::APFloat value);
  static Splat of(IntegerType type, llvm::APInt value);
  static Splat of(mlir::ComplexType type, llvm::APFloat real,
                  llvm::APFloat imaginary);
  static Splat ofBool(MLIRContext *context, bool value);
  /// The splat that `attr` is, if it is one.
  static std::optional<Splat> get(Attribute attr);
  /// `value` in `type`, rounded to nearest even or truncated.
  static Splat number(Type type, double value);

  /// The constant of the result type `type`, global shape; null where a
  /// constant cannot have that type, because its layout is partial.
  Attribute attribute(Type type) const;

  bool isZero() const;
  /// Questions about a float or an integer.
  bool isPositiveZero() const { return isReal() && isZero() && !negative(); }
  bool isNegativeZero() const { return isFloat() && isZero() && negative(); }
  bool isOne() const;
  bool isAllOnes() const { return isInteger() && integer.isAllOnes(); }

private:
  bool isReal() const { return !isComplex(); }
  bool negative() const { return isFloat() && real.isNegative(); }
};

/// Computes in double and rounds once.
Splat mapReal(const Splat &x, function_ref<double(double)> function);
using Complex = std::complex<double>;
Splat mapComplex(const Splat &x, function_ref<Complex(Complex)> function);
Complex asComplex(const Splat &x);

Splat absolute(const Splat &x);
Splat negated(const Splat &x);
Splat reducePrecision(const Splat &x, int64_t exponentBits,
                      int64_t mantissaBits);
Splat sign(const Splat &x);
Splat add(const Splat &a, const Splat &b);
Splat subtract(const Splat &a, const Splat &b);
Splat multiply(const Splat &a, const Splat &b);
Splat divide(const Splat &a, const Splat &b);
Splat remainder(const Splat &a, const Splat &b);
Splat power(const Splat &a, const Splat &b);
Splat maximum(const Splat &a, const Splat &b);
Splat minimum(const Splat &a, const Splat &b);
Splat atan2(const Splat &a, const Splat &b);
Splat shiftLeft(const Splat &a, const Splat &b);
Splat shiftRightArithmetic(const Splat &a, const Splat &b);
Splat shiftRightLogical(const Splat &a, const Splat &b);
bool compare(ComparisonDirection direction, const Splat &a, const Splat &b);
Splat convert(const Splat &x, Type to);

/// The fold of a unary op on floats: of other types, and of what is not a
/// splat, nothing.
mlir::OpFoldResult foldReal(Value result, Attribute operand,
                            function_ref<double(double)> function);

} // namespace meshloom::dtensor

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of the verifiers of stablehlo and chlo: constraints that many
// ops have, each written once. An error cites the constraint by its number in
// StableHLO's specification. Dims that are not known agree with any.
#pragma once

#include "meshloom/Dialect/StableHLO/StableHLO.h"

namespace mlir::quant {
class QuantizedType;
} // namespace mlir::quant

namespace meshloom {

/// Returns whether two dims, shapes, element types or types may be the same.
bool agree(int64_t dim, int64_t other);
bool agree(ArrayRef<int64_t> shape, ArrayRef<int64_t> other);
bool elementsAgree(Type type, Type other);
bool agree(Type type, Type other);
bool agree(TypeRange types, TypeRange others);

/// The element type of a tensor, else the type itself.
Type elementOf(Type type);
/// The shape of a value that is a tensor.
ArrayRef<int64_t> shapeOf(Value value);
int64_t rankOf(Value value);

/// The numbers of a list. Where one number stands for all of them, four are
/// returned at most, enough to see that it repeats: the type may say that there
/// are 2^63.
SmallVector<int64_t> numbersIn(mlir::DenseIntElementsAttr list);

/// Returns whether two element types are the same but for the scales and zero
/// points of quantized ones.
bool haveSameBaseline(Type type, Type other);
/// Returns whether a tensor has quantized elements.
bool isQuantized(Type type);

/// The bits of a float; 0 for other types.
unsigned floatBitsOf(Type element);

/// Returns whether a value of element type `from` fits one of `to` unchanged.
bool isPromotable(Type from, Type to);
bool isPromotable(mlir::quant::QuantizedType from,
                  mlir::quant::QuantizedType to);

/// One dim that a window goes over.
struct WindowDim {
  int64_t size, stride = 1, low = 0, high = 0, baseDilation = 1, dilation = 1;
};
/// How often the window fits an extent; kDynamic where that is not known, the
/// largest number where it is more than 64 bits hold.
int64_t windowCount(int64_t extent, const WindowDim &window);

/// A product of quantized values, to verify. The specification numbers seven
/// constraints of a convolution from C28 on, and those of dot_general from C14
/// on; two of these are about rhs.
struct QuantizedProduct {
  Type lhs, rhs, result;
  int firstNumber;
  /// Verify the dim along which rhs, and the result, is quantized.
  function_ref<bool(int64_t)> verifyRhs;
  function_ref<bool(int64_t)> verifyResult = nullptr;
};

/// The constraints of one op. Every check gives whether it holds, and reports
/// where it does not; so they are joined by `&&`.
class Constraints {
public:
  explicit Constraints(Operation *op) : op(op) {}

  /// "violates constraint C1: ".
  InFlightDiagnostic violates(StringRef number) const;

  /// `message` unless `holds`.
  bool require(bool holds, StringRef number, StringRef message) const {
    if (!holds)
      violates(number) << message;
    return holds;
  }
  bool size(StringRef number, StringRef name, size_t size,
            int64_t expected) const;
  /// Values in [begin, end).
  bool inRange(StringRef number, StringRef name, ArrayRef<int64_t> values,
               int64_t begin, int64_t end) const;
  bool atLeast(StringRef number, StringRef name, ArrayRef<int64_t> values,
               int64_t least) const;
  bool unique(StringRef number, StringRef name, ArrayRef<int64_t> values) const;
  /// Checks two lists together.
  bool unique(StringRef number, StringRef name, ArrayRef<int64_t> values,
              ArrayRef<int64_t> more) const;
  bool sorted(StringRef number, StringRef name, ArrayRef<int64_t> values) const;
  bool permutation(StringRef number, StringRef name, ArrayRef<int64_t> values,
                   int64_t rank) const;
  bool sameElement(StringRef number, TypeRange types) const;
  bool sameShape(StringRef number, TypeRange types) const;
  bool sameTypes(StringRef number, TypeRange types) const;
  /// The same but for the scales and zero points of quantized types.
  bool sameBaseline(StringRef number, TypeRange types) const;
  bool sameBaselineTypes(StringRef number, TypeRange types) const;
  /// A value of type `from` is moved to one of type `to`, which may be
  /// quantized along a different dim, and, where the op `mayRepeat` elements,
  /// may have several slices for one.
  bool movesElements(StringRef number, Type from, Type to,
                     bool mayRepeat = false) const;
  /// The dims that values of both types are quantized along fit each other.
  bool movesDim(StringRef number, Type from, Type to,
                function_ref<bool(int64_t, int64_t)> fits) const;
  bool quantizedProduct(const QuantizedProduct &product) const;
  bool zeroPointsAreZero(StringRef number, Type type) const;
  bool scalar(StringRef number, StringRef name, Value value) const;
  /// `role` ("the result") is a tensor of that shape.
  bool shape(StringRef number, StringRef role, Type type,
             ArrayRef<int64_t> expected) const;
  /// At most two precisions, for products.
  bool precision(StringRef number,
                 std::optional<mlir::ArrayAttr> precision) const;

  /// The values that a region returns, if it is one block that does.
  std::optional<mlir::OperandRange> returned(StringRef number,
                                             Region &region) const;
  /// A region without arguments that returns `types`.
  bool branch(StringRef number, Region &region, TypeRange types) const;
  /// A function of scalars: of two values of each of `elements`, paired as
  /// (a, b, a, b) where `interleaved` else (a, a, b, b), to `results`.
  bool scalars(StringRef number, Region &region, TypeRange elements,
               bool interleaved, TypeRange results) const;
  /// A reducer of values of `elements`, which its arguments may be wider than;
  /// the op's `results` have its element types (constraint `resultNumber`).
  bool reducer(StringRef number, Region &region, TypeRange elements,
               StringRef resultNumber, TypeRange results) const;

private:
  Operation *op;
};

/// All operands and results of `op` have one type, but for the scales and zero
/// points of quantized ones.
LogicalResult verifySameTypes(Operation *op, StringRef number);
/// `op` is one of chlo's that broadcasts two operands.
LogicalResult verifyBroadcast(Operation *op,
                              std::optional<ArrayRef<int64_t>> dimensions);

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the interpreter's op functions look and where they are listed.
#pragma once

#include "meshloom/Core/Layout.h"
#include "meshloom/Dialect/DTensor/OpInterfaces.h"
#include "meshloom/Interpreter/Interpreter.h"
#include "meshloom/Support/LLVM.h"

#include "llvm/ADT/StringMap.h"

namespace meshloom::interpreter {

/// An op being run: its attributes and its operands' values.
struct Call {
  Operation *op;
  std::vector<const HostValue *> operands;
  Rounding rounding = Rounding::ByConvert;

  const HostValue &operator[](unsigned i) const { return *operands[i]; }
  unsigned size() const { return unsigned(operands.size()); }
  /// A zero value of result `i`'s type.
  HostValue result(unsigned i = 0) const;
  int64_t integer(StringRef attribute) const;
  std::vector<int64_t> integers(StringRef attribute) const;
  /// A sum of result 0 that has SUM_BLOCK terms more, as `rounding` says: those
  /// of narrow types are kept in f32.
  double partialSum(double sum) const;
};

using Values = std::vector<HostValue>;
/// Types are right (the verifier ran), so ops do not fail.
using OpFunction = Values (*)(const Call &);
using OpTable = llvm::StringMap<OpFunction>;

/// Whether terms overflow their type when they are added or multiplied in some
/// order, whatever their sum or product is: devices, threads and vector lanes
/// combine theirs first. For 0 * 2^100 * 2^100 an order is infinite on its way,
/// then nan.
class AnyOrder {
public:
  AnyOrder(ReduceKind kind, DType type) : kind(kind), type(type) {}
  /// Where floats are rounded by each op; else nothing is looked at.
  static bool isLookedAt(const Call &call, ReduceKind kind, DType type) {
    return call.rounding == Rounding::ByEachOp &&
           (kind == ReduceKind::Sum || kind == ReduceKind::Prod) &&
           (isFloat(type) || meshloom::isComplex(type));
  }
  /// The term `value[i]`.
  void add(const HostValue &value, int64_t i);
  bool overflows() const;

private:
  ReduceKind kind;
  DType type;
  /// For a sum: the sums of the positive terms and of the others. For a
  /// product: the products of the factors larger than 1, and of the smaller
  /// ones but for zeros.
  double large = 0, small = 0;
  bool begun = false, finite = true, hasZero = false;
};
/// Makes an element nan.
void setNan(HostValue &value, int64_t i);

/// Returns the results of a scalar region for `arguments`; it captures nothing.
Values runRegion(Region &region, Values arguments);

/// into[target] becomes itself combined with from[source], which have one type.
void combineInto(ReduceKind kind, HostValue &into, int64_t target,
                 const HostValue &from, int64_t source);

/// The function of one float that ops of that name are, or null.
dtensor::HostFunction hostFunctionOf(mlir::OperationName name);
/// Runs an op that has a host function.
Values applyHostFunction(const Call &call);

void addElementwiseOps(OpTable &table);
void addBitOps(OpTable &table);
void addMovementOps(OpTable &table);
void addReductionOps(OpTable &table);
void addRandomOps(OpTable &table);
void addWindowOps(OpTable &table);
void addIndexOps(OpTable &table);
void addOrderOps(OpTable &table);
void addLinearAlgebraOps(OpTable &table);
void addDecompositionOps(OpTable &table);
void addEigenvalueOps(OpTable &table);
void addReflectionOps(OpTable &table);
/// Fails where the target is not registered, or says so.
Result<Values> runCustomCall(const Call &call);

/// Where an element is: a number for each dim.
using Index = std::vector<int64_t>;

/// Calls `visit(index)` for every index of `shape`, row-major.
template <typename F> void forEach(const Shape &shape, F visit) {
  Index index(shape.size());
  for (int64_t remaining = elementCount(shape); remaining > 0; --remaining) {
    visit(index);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

/// The row-major number of an element.
inline int64_t positionOf(const Index &index, const Shape &shape) {
  int64_t position = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    position = position * shape[d] + index[d];
  return position;
}

/// Row-major strides, in elements.
std::vector<int64_t> stridesOf(const Shape &shape);

/// Elements move between values without a look at what they are.
class Element {
public:
  Element(const HostValue &from, HostValue &to) : from(from), to(to) {}
  void copy(int64_t source, int64_t target) {
    if (to.isComplex())
      to.imaginaries[target] = from.imaginaries[source];
    if (to.isFloating())
      to.floats[target] = from.floats[source];
    else
      to.ints[target] = from.ints[source];
  }

private:
  const HostValue &from;
  HostValue &to;
};

/// The core type of an MLIR element type that the dialect allows.
DType elementType(Type type);
Shape shapeOf(Type type);

} // namespace meshloom::interpreter

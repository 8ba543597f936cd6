// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpInterfaces: the values that the op interfaces of OpInterfaces.td speak in,
// what an op costs, where its elements come from, what a library is told of it.
#pragma once

#include "meshloom/Core/ShardingRule.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace meshloom::dtensor {

/// A function of one float, as the host computes it in f64.
using HostFunction = double (*)(double);

/// The cost of an op, as a function of its rule's factors.
struct OpCost {
  /// Simple operations for each point of the space of all factors not in
  /// `flat`.
  int64_t flopsPerPoint = 1;
  /// Factors whose size and shards do not change the work: a lookup in a table
  /// costs the same whatever the table's size, and every device that has a part
  /// of the table goes through all indices.
  std::vector<unsigned> flat = {};

  /// Returns the cost of the whole op, on all devices together.
  int64_t total(const ShardingRule &rule) const;
};

/// The index along one dim of a source, for an index of the result:
/// (scale * index + offset) / divisor along the result's dim `resultDim`, or
/// `indices` of that. Nothing comes from the source where the division has a
/// rest, the index is outside of the dim, or `indices` has -1.
struct SourceDim {
  /// -1: index 0, whatever the result's is.
  int resultDim = -1;
  int64_t scale = 1, offset = 0, divisor = 1;
  std::optional<std::vector<int64_t>> indices = {};

  /// For a dim of `extent` elements; -1: the fill.
  int64_t source(int64_t index, int64_t extent) const;
  /// scale * index + offset.
  bool isLinear() const { return divisor == 1 && !indices; }
  /// Every index of a dim of `extent` elements is that of the result.
  bool isIdentity(int64_t extent, int64_t resultExtent) const;
};

/// One entry a dim of the source.
///
/// Example: slice [2:8:3] of a dim has {dim, 3, 2}, pad with 1 in front and one
/// between each two {dim, 1, -1, 2}, reverse of 8 elements {dim, -1, 7}; a
/// transpose's entries name another dim each, a broadcast's new dims none.
using IndexMap = SmallVector<SourceDim>;

/// The attributes of an op that speak of dims, by what becomes of them where
/// values have more dims in front.
struct DimAttributes {
  SmallVector<StringRef> dims;     ///< dims and lists of dims: move behind them
  SmallVector<StringRef> batching; ///< lists of dims: they are in front
  /// Lists with an entry a dim; a leading dim's is 0, 1 or its extent.
  SmallVector<StringRef> zeros, ones, extents;
};
void addLeadingDims(Builder &builder, mlir::NamedAttrList &attributes,
                    ArrayRef<int64_t> extents, const DimAttributes &which);

/// The description that a library function gets of the op that it stands for,
/// beside its operands and loops.
struct LibraryCall {
  LibraryCall(Operation *op, StringRef callee)
      : callee(callee), builder(op->getContext()) {}

  StringRef callee;
  SmallVector<NamedAttribute> options;
  /// The scalar function that goes with it: values of one region of the op.
  SmallVector<Value> scalarArguments, scalarResults;

  LibraryCall &number(StringRef name, int64_t value) {
    return set(name, builder.getI64IntegerAttr(value));
  }
  LibraryCall &flag(StringRef name, bool value) {
    return set(name, builder.getBoolAttr(value));
  }
  LibraryCall &list(StringRef name, ArrayRef<int64_t> value) {
    return set(name, builder.getDenseI64ArrayAttr(value));
  }
  LibraryCall &text(StringRef name, StringRef value) {
    return set(name, builder.getStringAttr(value));
  }
  /// A whole scalar region as the scalar function, after what is there.
  LibraryCall &scalar(Region &region);

private:
  LibraryCall &set(StringRef name, Attribute value) {
    options.push_back(builder.getNamedAttr(name, value));
    return *this;
  }
  Builder builder;
};

} // namespace meshloom::dtensor

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// OpKinds: ops by kind, so that what a pass decides by an op's kind is decided
// once for all ops of it.
#pragma once

#include "meshloom/Core/TupleNumbers.h"
#include "meshloom/Dialect/DTensor/DTensor.h"

namespace meshloom {

/// Two ops are of one kind where they differ in nothing but where they stand
/// and which values they take: they have the same name, attributes, and types
/// of operands and results. So they have the same rule, and, their types having
/// layouts, the same needs and shards. A scalar constant that an op takes
/// belongs to its kind, as rules may look at it (what a pad fills with); an op
/// with regions is a kind of its own.
///
/// For one pass over one function. Kinds are told as ops are when they are
/// asked for; that their types change later does no harm. The first op of each
/// kind must stay, with its own attributes.
class OpKinds {
public:
  /// The kind of `op`; size() where it is new.
  unsigned of(Operation *op);
  size_t size() const { return numbers.size(); }

private:
  /// Equal for ops whose own attributes are.
  uintptr_t propertiesOf(Operation *op);

  TupleNumbers numbers;
  SmallVector<uintptr_t, 16> key;
  struct Properties {
    Operation *op;
    uintptr_t number;
  };
  DenseMap<std::pair<void *, size_t>, SmallVector<Properties, 1>> byTypes;
  uintptr_t properties = 0; ///< how many differ
};

} // namespace meshloom

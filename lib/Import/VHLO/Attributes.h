// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attributes: what an artifact's attributes and types are in this program's
// dialects.
#pragma once

#include "Container.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"

namespace meshloom::vhlo {

class Attributes;

/// Reads what an entry or an op's properties are made of.
class EntryReader : public ByteReader {
public:
  EntryReader(StringRef bytes, Fault &fault, Attributes &attributes)
      : ByteReader(bytes, fault), attributes(attributes) {}

  MLIRContext *context() const;
  /// Emits the diagnostics of what is not valid.
  std::function<mlir::InFlightDiagnostic()> emitter() const {
    return [context = context()] {
      return mlir::emitError(mlir::UnknownLoc::get(context));
    };
  }
  /// The attribute of the number that comes next, which must be a `T`.
  template <typename T> LogicalResult read(T &attribute) {
    Attribute any;
    if (failed(readAttribute(any)))
      return failure();
    attribute = dyn_cast<T>(any);
    return attribute ? success() : fail("an attribute is of another kind");
  }
  LogicalResult readAttribute(Attribute &attribute);
  LogicalResult read(Attribute &attribute) { return readAttribute(attribute); }
  /// Null: there is none.
  LogicalResult readOptional(Attribute &attribute);
  template <typename T> LogicalResult readList(SmallVectorImpl<T> &values) {
    uint64_t count = 0;
    if (failed(readCount(count)))
      return failure();
    values.resize(size_t(count));
    for (T &value : values)
      if (failed(read(value)))
        return failure();
    return success();
  }
  LogicalResult readType(Type &type);
  LogicalResult readTypes(SmallVectorImpl<Type> &types);
  LogicalResult readString(StringRef &text);
  LogicalResult readBlob(StringRef &blob);
  LogicalResult readInteger(unsigned width, llvm::APInt &value);
  LogicalResult readFloat(mlir::FloatType type, llvm::APFloat &value);
  /// The elements of a dictionary: names and attributes.
  LogicalResult readDictionary(Attribute &attribute);
  /// A type of numbers, and a number of that type.
  LogicalResult readNumberAttribute(bool isFloat, Attribute &attribute);
  /// A type of tensors, and the bytes of all elements.
  LogicalResult readElements(Attribute &attribute);
  /// An encoding if there is one, the extents and the type of the elements.
  LogicalResult readRankedTensor(bool hasEncoding, Type &type);
  /// The type of the parts of a complex number.
  LogicalResult readComplex(Type &type);

private:
  Attributes &attributes;
};

/// The attributes and types of one artifact, read as they are asked for.
class Attributes {
public:
  Attributes(const Container &container, Fault &fault, MLIRContext *context)
      : container(container), fault(fault), context(context),
        attributes(container.attributes.size()), types(container.types.size()) {
  }

  LogicalResult attribute(const ByteReader &user, uint64_t number,
                          Attribute &attribute);
  LogicalResult type(const ByteReader &user, uint64_t number, Type &type);

private:
  friend class EntryReader;

  /// An entry and what it became.
  template <typename T> struct Slot {
    bool isBeingRead = false;
    T value;
  };
  template <typename T>
  LogicalResult find(const ByteReader &user, uint64_t number,
                     ArrayRef<Container::Entry> entries,
                     std::vector<Slot<T>> &slots, T &value);

  const Container &container;
  Fault &fault;
  MLIRContext *context;
  std::vector<Slot<Attribute>> attributes;
  std::vector<Slot<Type>> types;
  unsigned depth = 0;
};

// Each function reads the code of one dialect first, then the entry. A null
// after success means that there is no entry.
LogicalResult readBuiltin(EntryReader &reader, Attribute &attribute);
LogicalResult readBuiltin(EntryReader &reader, Type &type);
LogicalResult readVhlo(EntryReader &reader, Attribute &attribute);
LogicalResult readVhlo(EntryReader &reader, Type &type);
/// Beside ops of sdy, a type of stablehlo stays what it is.
LogicalResult readStableHLO(EntryReader &reader, Type &type);
LogicalResult readSdy(EntryReader &reader, Attribute &attribute);

} // namespace meshloom::vhlo

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Attributes.h"

#include "meshloom/Dialect/StableHLO/StableHLO.h"

#include "mlir/AsmParser/AsmParser.h"

#include "llvm/Support/MathExtras.h"

namespace meshloom::vhlo {

/// How deep attributes and types may be in each other: more than any program
/// has, and less than the stack holds.
constexpr unsigned deepest = 256;

MLIRContext *EntryReader::context() const {
  return attributes.context;
}

LogicalResult EntryReader::readAttribute(Attribute &attribute) {
  uint64_t number = 0;
  if (failed(readNumber(number)))
    return failure();
  return attributes.attribute(*this, number, attribute);
}

LogicalResult EntryReader::readOptional(Attribute &attribute) {
  uint64_t number = 0;
  bool isPresent = false;
  if (failed(readFlagged(number, isPresent)))
    return failure();
  return isPresent ? attributes.attribute(*this, number, attribute) : success();
}

LogicalResult EntryReader::readType(Type &type) {
  uint64_t number = 0;
  if (failed(readNumber(number)))
    return failure();
  return attributes.type(*this, number, type);
}

LogicalResult EntryReader::readTypes(SmallVectorImpl<Type> &types) {
  uint64_t count = 0;
  if (failed(readCount(count)))
    return failure();
  types.resize(size_t(count));
  for (Type &type : types)
    if (failed(readType(type)))
      return failure();
  return success();
}

LogicalResult EntryReader::readString(StringRef &text) {
  uint64_t number = 0;
  if (failed(readNumber(number)))
    return failure();
  const std::vector<StringRef> &strings = attributes.container.strings;
  if (number >= strings.size())
    return fail("there is no string number " + llvm::Twine(number));
  text = strings[size_t(number)];
  return success();
}

LogicalResult EntryReader::readBlob(StringRef &blob) {
  uint64_t size = 0;
  if (failed(readNumber(size)))
    return failure();
  return readBytes(size, blob);
}

LogicalResult EntryReader::readInteger(unsigned width, llvm::APInt &value) {
  if (width <= 8) {
    uint8_t byte = 0;
    if (failed(readByte(byte)))
      return failure();
    value = llvm::APInt(8, byte).trunc(width);
    return success();
  }
  if (width > 64)
    return fail("expected an integer of at most 64 bits, got one of " +
                llvm::Twine(width));
  int64_t number = 0;
  if (failed(readSigned(number)))
    return failure();
  value = llvm::APInt(64, uint64_t(number)).trunc(width);
  return success();
}

LogicalResult EntryReader::readFloat(mlir::FloatType type,
                                     llvm::APFloat &value) {
  llvm::APInt bits;
  if (failed(readInteger(type.getWidth(), bits)))
    return failure();
  value = llvm::APFloat(type.getFloatSemantics(), bits);
  return success();
}

LogicalResult EntryReader::readDictionary(Attribute &attribute) {
  uint64_t count = 0;
  if (failed(readCount(count)))
    return failure();
  mlir::NamedAttrList attributes;
  for (uint64_t i = 0; i < count; ++i) {
    StringAttr name;
    Attribute value;
    if (failed(read(name)) || failed(readAttribute(value)))
      return failure();
    if (name.empty() || attributes.get(name))
      return fail("expected different names in a dictionary, got '" +
                  name.getValue() + "' again");
    attributes.append(name, value);
  }
  attribute = attributes.getDictionary(context());
  return success();
}

LogicalResult EntryReader::readNumberAttribute(bool isFloat,
                                               Attribute &attribute) {
  Type type;
  if (failed(readType(type)))
    return failure();
  if (auto number = dyn_cast<FloatType>(type); number && isFloat) {
    llvm::APFloat value(0.0);
    if (failed(readFloat(number, value)))
      return failure();
    attribute = FloatAttr::get(number, value);
    return success();
  }
  if (isFloat || !type.isIntOrIndex())
    return fail("a number has a type that is not a type of numbers");
  llvm::APInt value;
  if (failed(readInteger(type.isIndex() ? 64 : type.getIntOrFloatBitWidth(),
                         value)))
    return failure();
  attribute = mlir::IntegerAttr::get(type, value);
  return success();
}

/// The elements of a tensor as MLIR 19 keeps them: bools are bits there, and a
/// single byte of ones or zeros says that all elements are the same. Floats
/// that it does not know are bytes.
LogicalResult EntryReader::readElements(Attribute &attribute) {
  Type any;
  StringRef blob;
  if (failed(readType(any)) || failed(readBlob(blob)))
    return failure();
  auto type = dyn_cast<RankedTensorType>(any);
  if (type && isa<stablehlo::MinifloatType>(type.getElementType()))
    type = type.clone(
        mlir::IntegerType::get(context(), 8, mlir::IntegerType::Unsigned));
  if (!type || !type.hasStaticShape() ||
      !(type.getElementType().isIntOrIndexOrFloat() ||
        isa<mlir::ComplexType>(type.getElementType())))
    return fail("elements have a type that is not a tensor of numbers");
  uint64_t count = 1;
  for (int64_t extent : type.getShape())
    if (__builtin_mul_overflow(count, uint64_t(extent), &count))
      return fail("a tensor has more elements than can be counted");
  SmallVector<char> raw(blob.begin(), blob.end());
  if (type.getElementType().isInteger(1)) {
    const uint64_t packed = llvm::divideCeil(count, 8);
    if (raw.size() == count && count != packed) { // a byte for each
      raw.assign(size_t(packed), 0);
      for (size_t i = 0; i < count; ++i)
        if (blob[i])
          raw[i / 8] = char(raw[i / 8] | 1 << (i % 8));
    } else if (count == 1 && raw.size() == 1) {
      raw[0] = raw[0] ? char(0xff) : char(0);
    }
  }
  bool isSplat = false;
  if (!DenseElementsAttr::isValidRawBuffer(type, raw, isSplat))
    return fail("a tensor of " + llvm::Twine(count) + " elements has " +
                llvm::Twine(blob.size()) + " bytes of data");
  attribute = DenseElementsAttr::getFromRawBuffer(type, raw);
  return success();
}

LogicalResult EntryReader::readRankedTensor(bool hasEncoding, Type &type) {
  Attribute encoding;
  SmallVector<int64_t> shape;
  Type element;
  if ((hasEncoding && failed(readAttribute(encoding))) ||
      failed(readSignedList(shape)) || failed(readType(element)))
    return failure();
  for (int64_t extent : shape)
    if (extent < 0 && !mlir::ShapedType::isDynamic(extent))
      return fail("a dim has the extent " + llvm::Twine(extent));
  if (!RankedTensorType::isValidElementType(element))
    return fail("a tensor has elements that no tensor has");
  if (auto bounds = dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(encoding);
      encoding && (!bounds || bounds.getBounds().size() != shape.size()))
    return fail("a tensor's bounds do not fit its shape");
  type = RankedTensorType::getChecked(emitter(), shape, element, encoding);
  return type ? success() : fail("a tensor's type is not valid");
}

LogicalResult EntryReader::readComplex(Type &type) {
  Type element;
  if (failed(readType(element)))
    return failure();
  if (!isa<FloatType>(element))
    return fail("a complex number has parts that are not floats");
  type = mlir::ComplexType::get(element);
  return success();
}

namespace {

LogicalResult decode(EntryReader &reader, StringRef dialect,
                     Attribute &attribute) {
  if (dialect == "builtin")
    return readBuiltin(reader, attribute);
  if (dialect == "vhlo")
    return readVhlo(reader, attribute);
  if (dialect == "sdy")
    return readSdy(reader, attribute);
  return reader.fail("cannot read attributes of the dialect '" + dialect + "'");
}

LogicalResult decode(EntryReader &reader, StringRef dialect, Type &type) {
  if (dialect == "builtin")
    return readBuiltin(reader, type);
  if (dialect == "vhlo")
    return readVhlo(reader, type);
  if (dialect == "stablehlo")
    return readStableHLO(reader, type);
  return reader.fail("cannot read types of the dialect '" + dialect + "'");
}

void parse(StringRef text, MLIRContext *context, Attribute &attribute) {
  attribute = mlir::parseAttribute(text, context);
}
void parse(StringRef text, MLIRContext *context, Type &type) {
  type = mlir::parseType(text, context);
}

} // namespace

template <typename T>
LogicalResult Attributes::find(const ByteReader &user, uint64_t number,
                               ArrayRef<Container::Entry> entries,
                               std::vector<Slot<T>> &slots, T &value) {
  if (number >= slots.size())
    return user.fail("there is no attribute or type number " +
                     llvm::Twine(number));
  Slot<T> &slot = slots[size_t(number)];
  if (!slot.value) {
    if (slot.isBeingRead || depth == deepest)
      return user.fail(slot.isBeingRead
                           ? "an attribute or a type has itself inside"
                           : "attributes or types are too deep");
    slot.isBeingRead = true;
    ++depth;
    const Container::Entry &entry = entries[size_t(number)];
    EntryReader reader(entry.bytes, fault, *this);
    if (entry.isEncoded) {
      if (failed(decode(reader, entry.dialect, slot.value)))
        return failure();
    } else if (StringRef text; succeeded(reader.readCString(text))) {
      parse(text, context, slot.value);
    }
    --depth;
    slot.isBeingRead = false;
    if (!slot.value || !reader.atEnd())
      return reader.fail("cannot read an attribute or a type of the dialect '" +
                         entry.dialect + "'");
  }
  value = slot.value;
  return success();
}

LogicalResult Attributes::attribute(const ByteReader &user, uint64_t number,
                                    Attribute &attribute) {
  return find(user, number, ArrayRef(container.attributes), attributes,
              attribute);
}

LogicalResult Attributes::type(const ByteReader &user, uint64_t number,
                               Type &type) {
  return find(user, number, ArrayRef(container.types), types, type);
}

} // namespace meshloom::vhlo

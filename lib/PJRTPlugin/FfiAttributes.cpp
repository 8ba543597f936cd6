// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "FfiAttributes.h"

#include "ElementTypes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::plugin;

/// The bytes of a number as C has it; a truth value has a byte.
static void append(std::string &bytes, const llvm::APInt &number) {
  const size_t size = (number.getBitWidth() + 7) / 8;
  bytes.append(reinterpret_cast<const char *>(number.getRawData()), size);
}

static std::string textOf(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

std::optional<int32_t> plugin::ffiTypeOf(Type type) {
  return llvm::StringSwitch<std::optional<int32_t>>(elementNameOf(type))
      .Case("i1", 1)
      .Case("i8", 2)
      .Case("i16", 3)
      .Case("i32", 4)
      .Case("i64", 5)
      .Case("ui8", 6)
      .Case("ui16", 7)
      .Case("ui32", 8)
      .Case("ui64", 9)
      .Case("f16", 10)
      .Case("f32", 11)
      .Case("f64", 12)
      .Case("complex<f32>", 15)
      .Case("bf16", 16)
      .Case("complex<f64>", 18)
      .Case("f8E5M2", 19)
      .Case("f8E4M3FN", 20)
      .Case("i4", 21)
      .Case("ui4", 22)
      .Case("f8E4M3B11FNUZ", 23)
      .Case("f8E5M2FNUZ", 24)
      .Case("f8E4M3FNUZ", 25)
      .Case("i2", 26)
      .Case("ui2", 27)
      .Case("f8E4M3", 28)
      .Case("f8E3M4", 29)
      .Case("f4E2M1FN", 32)
      .Case("f8E8M0FNU", 33)
      .Default(std::nullopt);
}

Result<std::unique_ptr<FfiAttributes>>
FfiAttributes::create(DictionaryAttr source) {
  auto result = std::make_unique<FfiAttributes>();
  for (NamedAttribute named : source)
    if (Status added = result->add(named.getName(), named.getValue()); !added)
      return added.error();
  result->whole.count = int64_t(result->names.size());
  result->whole.kinds = result->kinds.data();
  result->whole.names = result->names.data();
  result->whole.values = result->values.data();
  return result;
}

const std::string &FfiAttributes::store(std::string bytes) {
  return texts.emplace_back(std::move(bytes));
}

Status FfiAttributes::addDictionary(DictionaryAttr attribute) {
  auto inner = create(attribute);
  if (!inner)
    return inner.error();
  values.push_back(&(*inner)->whole);
  kinds.push_back(ffi::AttributeKind::Dictionary);
  dictionaries.push_back(std::move(*inner));
  return Success();
}

Status FfiAttributes::add(StringRef name, Attribute attribute) {
  const std::string &key = store(name.str());
  names.push_back(&spans.emplace_back(ffi::Bytes{key.data(), key.size()}));
  if (auto inner = dyn_cast<DictionaryAttr>(attribute))
    return addDictionary(inner);
  if (auto text = dyn_cast<StringAttr>(attribute)) {
    const std::string &bytes = store(text.str());
    values.push_back(
        &spans.emplace_back(ffi::Bytes{bytes.data(), bytes.size()}));
    kinds.push_back(ffi::AttributeKind::String);
    return Success();
  }
  std::string bytes;
  Type type;
  int64_t count = -1; // a scalar
  if (auto number = dyn_cast<IntegerAttr>(attribute)) {
    append(bytes, number.getValue());
    type = number.getType();
  } else if (auto real = dyn_cast<mlir::FloatAttr>(attribute)) {
    append(bytes, real.getValue().bitcastToAPInt());
    type = real.getType();
  } else if (auto list = dyn_cast<mlir::DenseArrayAttr>(attribute)) {
    bytes.assign(list.getRawData().begin(), list.getRawData().end());
    type = list.getElementType();
    count = list.getSize();
  } else if (auto dense = dyn_cast<mlir::DenseIntElementsAttr>(attribute)) {
    for (const llvm::APInt &value : dense.getValues<llvm::APInt>())
      append(bytes, value);
    type = dense.getElementType();
    count = dense.getNumElements();
  } else if (auto reals = dyn_cast<mlir::DenseFPElementsAttr>(attribute)) {
    for (const llvm::APFloat &value : reals.getValues<llvm::APFloat>())
      append(bytes, value.bitcastToAPInt());
    type = reals.getElementType();
    count = reals.getNumElements();
  }
  const auto code = type ? ffiTypeOf(type) : std::nullopt;
  if (!code)
    return Error(fmt::format("the attribute {} = {} has a type that handlers "
                             "of jax.ffi cannot read",
                             name.str(), textOf(attribute)),
                 ErrorCode::UNIMPLEMENTED);
  const std::string &stored = store(std::move(bytes));
  if (count < 0) {
    kinds.push_back(ffi::AttributeKind::Scalar);
    values.push_back(&scalars.emplace_back(ffi::Scalar{*code, stored.data()}));
  } else {
    kinds.push_back(ffi::AttributeKind::Array);
    values.push_back(
        &arrays.emplace_back(ffi::Array{*code, size_t(count), stored.data()}));
  }
  return Success();
}

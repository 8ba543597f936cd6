// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes of a custom call as a handler of XLA's FFI reads them.
#pragma once

#include "FfiInterface.h"

#include "meshloom/Core/Result.h"
#include "meshloom/Support/LLVM.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace meshloom::plugin {

/// Returns XLA's number of an element type, if its FFI has the type.
std::optional<int32_t> ffiTypeOf(Type type);

/// A dictionary and all that it points to. It stays where it is.
class FfiAttributes {
public:
  /// Fails where the FFI has no kind for an attribute.
  static Result<std::unique_ptr<FfiAttributes>> create(DictionaryAttr source);
  FfiAttributes() = default;
  FfiAttributes(const FfiAttributes &) = delete;

  const ffi::Attributes &dictionary() const { return whole; }

private:
  Status add(StringRef name, Attribute attribute);
  Status addDictionary(DictionaryAttr attribute);
  const std::string &store(std::string bytes);

  ffi::Attributes whole;
  std::vector<ffi::AttributeKind> kinds;
  std::vector<ffi::Bytes *> names;
  std::vector<void *> values;

  std::deque<std::string> texts;
  std::deque<ffi::Bytes> spans;
  std::deque<ffi::Scalar> scalars;
  std::deque<ffi::Array> arrays;
  std::vector<std::unique_ptr<FfiAttributes>> dictionaries;
};

} // namespace meshloom::plugin

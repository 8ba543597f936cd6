// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The codes of errors, and the exception classes that follow from them.
#include "meshloom/Core/Result.h"

#include <algorithm>
#include <new>
#include <typeinfo>

namespace meshloom {
namespace {

struct CodeClass {
  ErrorCode code;
  std::string_view name;
  const std::type_info &type;
  void (*raise)(const Error &error);
};

template <ErrorCode code> constexpr CodeClass codeClass(std::string_view name) {
  return {code, name, typeid(ErrorOf<code>), [](const Error &error) {
            throw ErrorOf<code>(error.message(), error.place());
          }};
}

constexpr CodeClass codeClasses[] = {
    codeClass<ErrorCode::CANCELLED>("CANCELLED"),
    codeClass<ErrorCode::INVALID_ARGUMENT>("INVALID_ARGUMENT"),
    codeClass<ErrorCode::DEADLINE_EXCEEDED>("DEADLINE_EXCEEDED"),
    codeClass<ErrorCode::NOT_FOUND>("NOT_FOUND"),
    codeClass<ErrorCode::PERMISSION_DENIED>("PERMISSION_DENIED"),
    codeClass<ErrorCode::RESOURCE_EXHAUSTED>("RESOURCE_EXHAUSTED"),
    codeClass<ErrorCode::FAILED_PRECONDITION>("FAILED_PRECONDITION"),
    codeClass<ErrorCode::UNIMPLEMENTED>("UNIMPLEMENTED"),
    codeClass<ErrorCode::INTERNAL>("INTERNAL"),
    codeClass<ErrorCode::UNAVAILABLE>("UNAVAILABLE"),
    codeClass<ErrorCode::DATA_LOSS>("DATA_LOSS"),
};

const CodeClass &classOf(ErrorCode code) {
  return *std::ranges::find(codeClasses, code, &CodeClass::code);
}

} // namespace

ErrorCode errorCodeOf(int64_t number) {
  for (const CodeClass &entry : codeClasses)
    if (int64_t(entry.code) == number)
      return entry.code;
  return ErrorCode::INTERNAL;
}

std::string_view name(ErrorCode code) {
  return classOf(code).name;
}

Error Error::of(const std::exception &exception) {
  if (const auto *error = dynamic_cast<const Error *>(&exception))
    return *error;
  const bool isMemory =
      dynamic_cast<const std::bad_alloc *>(&exception) != nullptr;
  return Error(isMemory ? "out of memory" : exception.what(),
               isMemory ? ErrorCode::RESOURCE_EXHAUSTED : ErrorCode::INTERNAL);
}

bool Error::isOfCodeClass() const {
  return typeid(*this) == typeid(Error) || typeid(*this) == classOf(kind).type;
}

void Error::raise() const {
  classOf(kind).raise(*this);
  std::terminate(); // `raise` always throws.
}

} // namespace meshloom

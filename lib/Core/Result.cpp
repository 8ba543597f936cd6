// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The codes of errors, and the exception classes that follow from them.
#include "meshloom/Core/SystemError.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <stdexcept>
#include <system_error>
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

template <typename... Class> bool isAnyOf(const std::exception &exception) {
  return ((dynamic_cast<const Class *>(&exception) != nullptr) || ...);
}

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

ErrorCode errorCodeOfSystem(int number) {
  switch (number) {
  case ENOENT:
    return ErrorCode::NOT_FOUND;
  case EACCES:
  case EPERM:
  case EROFS:
    return ErrorCode::PERMISSION_DENIED;
  case ENOSPC:
  case EDQUOT:
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return ErrorCode::RESOURCE_EXHAUSTED;
  case EIO:
    return ErrorCode::DATA_LOSS;
  default:
    return ErrorCode::INVALID_ARGUMENT;
  }
}

bool isLibraryFile(std::string_view file) {
  // This file is lib/Core/Result.cpp: the sources are below what is before its
  // folder.
  static constexpr std::string_view here =
      std::source_location::current().file_name();
  static constexpr size_t end = here.rfind("Core/");
  // A line in a header of this library is not a line of the user's either.
  return (end != std::string_view::npos &&
          file.starts_with(here.substr(0, end))) ||
         file.find("include/meshloom/") != std::string_view::npos;
}

Error Error::atLine(const std::source_location &line) const {
  if (!userPlace.empty() || line.line() == 0 || isLibraryFile(line.file_name()))
    return *this;
  return atPlace(std::string(line.file_name()) + ":" +
                 std::to_string(line.line()));
}

Error Error::of(const std::exception &exception) {
  if (const auto *error = dynamic_cast<const Error *>(&exception))
    return *error;
  if (isAnyOf<std::bad_alloc>(exception))
    return Error("out of memory", ErrorCode::RESOURCE_EXHAUSTED);
  if (isAnyOf<std::length_error>(exception))
    return Error("out of memory: more elements than memory can hold",
                 ErrorCode::RESOURCE_EXHAUSTED);
  if (isAnyOf<std::invalid_argument, std::out_of_range, std::domain_error>(
          exception))
    return Error(exception.what(), ErrorCode::INVALID_ARGUMENT);
  if (const auto *system = dynamic_cast<const std::system_error *>(&exception);
      system && (system->code().category() == std::generic_category() ||
                 system->code().category() == std::system_category()))
    return Error(exception.what(), errorCodeOfSystem(system->code().value()));
  return Error(exception.what(), ErrorCode::INTERNAL);
}

bool Error::isOfCodeClass() const {
  return typeid(*this) == typeid(Error) || typeid(*this) == classOf(kind).type;
}

void Error::raise() const {
  classOf(kind).raise(*this);
  std::terminate(); // `raise` always throws.
}

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result<T>: a value or an Error. Core, Compiler and Runtime return it; only
// the user API throws. An Error says what failed twice: by a code, for programs
// that act on it, and by a text, for people. The text is written for the user:
// what was expected, what was given, and what to change, in mesh axes and
// tensor dims. No code looks for words in it.
#pragma once

#include <cstdint>
#include <exception>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace meshloom {

/// The kinds of failures. The numbers are those of gRPC, Abseil and PJRT.
enum class ErrorCode : uint8_t {
  /// The operation was not carried out, because another one failed before it.
  CANCELLED = 1,
  /// An argument of the caller cannot be used. Trying again fails in the same
  /// way.
  INVALID_ARGUMENT = 3,
  /// The operation did not end in time. It may have had an effect.
  DEADLINE_EXCEEDED = 4,
  /// A file, a key or an entry does not exist.
  NOT_FOUND = 5,
  /// The caller may not do this.
  PERMISSION_DENIED = 7,
  /// There is not enough memory, disk or another resource.
  RESOURCE_EXHAUSTED = 8,
  /// The system is not in the state that the operation needs.
  FAILED_PRECONDITION = 9,
  /// The operation is not supported.
  UNIMPLEMENTED = 12,
  /// A library or this one broke its own rules.
  INTERNAL = 13,
  /// Another process, or a service, is gone.
  UNAVAILABLE = 14,
  /// Stored or transferred bytes are damaged.
  DATA_LOSS = 15
};

/// The code that gRPC, Abseil or PJRT means by `number`; INTERNAL where there
/// is none here.
ErrorCode errorCodeOf(int64_t number);
/// "DEADLINE_EXCEEDED".
std::string_view name(ErrorCode code);

/// The failure that Result<T> carries, and the base of all exceptions that the
/// user API throws: their classes follow from the code, see API/Errors.h.
class Error : public std::exception {
public:
  /// `place` is the line of the user's program that `message` names,
  /// "train.cpp:41"; empty: the message names no line.
  explicit Error(std::string message,
                 ErrorCode code = ErrorCode::INVALID_ARGUMENT,
                 std::string place = "")
      : text(std::move(message)), userPlace(std::move(place)), kind(code) {}
  /// The error that an exception of any class tells of. An Error is copied.
  /// std::bad_alloc and std::length_error are RESOURCE_EXHAUSTED;
  /// std::invalid_argument, std::out_of_range and std::domain_error are
  /// INVALID_ARGUMENT; a std::system_error has the code of its number
  /// (Core/SystemError.h); everything else is INTERNAL.
  static Error of(const std::exception &exception);

  const char *what() const noexcept override { return text.c_str(); }
  const std::string &message() const { return text; }
  ErrorCode code() const { return kind; }
  const std::string &place() const { return userPlace; }

  /// The same failure, told by another text.
  Error withMessage(std::string message) const {
    return Error(std::move(message), kind, userPlace);
  }
  /// The same failure, whose text ends with "(at PLACE)", and with `part` in
  /// the parentheses too.
  Error atPlace(const std::string &place, const std::string &part = "") const {
    return Error(text + " (at " + place + part + ")", kind, place);
  }
  /// The same failure at a line of the user's program. A line of this library
  /// means nothing to the user, and a failure has one line: such a line, and a
  /// second one, change nothing.
  Error atLine(const std::source_location &line) const;
  /// Returns whether the class of this exception is Error or the one that
  /// follows from its code, not one that a user derived.
  bool isOfCodeClass() const;
  /// Throws the exception class of the code: ErrorOf<code()>.
  [[noreturn]] void raise() const;

private:
  std::string text, userPlace;
  ErrorCode kind;
};

/// The exception class of a code.
template <ErrorCode Code> class ErrorOf : public Error {
public:
  /// An error with this text; `place` as in Error.
  explicit ErrorOf(std::string message, std::string place = "")
      : Error(std::move(message), Code, std::move(place)) {}
};

/// Returns whether the source file is one of this library.
bool isLibraryFile(std::string_view file);

/// The text at `text`. Throws meshloom::Error, which names what was `expected`,
/// if it is a null pointer.
inline std::string textOrThrow(const char *text, const char *expected,
                               const std::source_location &where) {
  if (!text)
    Error(std::string("expected ") + expected + ", got a null pointer")
        .atLine(where)
        .raise();
  return text;
}

/// A `T` or an `Error`. Test it like a pointer, then dereference it: one that
/// was not tested throws the Error that it holds.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : state(std::move(value)) {}
  Result(Error error) : state(std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() { return get(); }
  const T &operator*() const { return const_cast<Result *>(this)->get(); }
  T *operator->() { return &get(); }
  const T *operator->() const { return &**this; }

  const Error &error() const {
    if (*this)
      Error("[Result] expected a failure, got a value: it has no error",
            ErrorCode::FAILED_PRECONDITION)
          .raise();
    return *std::get_if<1>(&state);
  }

  /// The value; throws the Error, at the line `where`, instead. For the user
  /// API only.
  T value_or_throw(
      std::source_location where = std::source_location::current()) && {
    if (!*this)
      error().atLine(where).raise();
    return std::move(*std::get_if<0>(&state));
  }

private:
  T &get() {
    if (!*this)
      std::get_if<1>(&state)->raise();
    return *std::get_if<0>(&state);
  }
  std::variant<T, Error> state;
};

/// Success without a value: `return Success();`.
struct Success {};
using Status = Result<Success>;

} // namespace meshloom

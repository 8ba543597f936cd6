// Result<T>: a value or an Error. Core, Compiler and Runtime return it; only
// the user API throws. An Error's message is written for the user: what was
// expected, what was given, and what to change, in mesh axes and tensor dims.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <variant>

namespace meshloom {

/// The one exception type that the user API throws, and the failure that
/// Result<T> carries below it.
class Error : public std::exception {
public:
  explicit Error(std::string message) : text(std::move(message)) {}
  const char *what() const noexcept override { return text.c_str(); }
  const std::string &message() const { return text; }

private:
  std::string text;
};

/// The text at `text`. Throws meshloom::Error, which names what was `expected`,
/// if it is a null pointer.
inline std::string textOrThrow(const char *text, const char *expected) {
  if (!text)
    throw Error(std::string("expected ") + expected + ", got a null pointer");
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
      throw Error("[Result] expected a failure, got a value: it has no error");
    return *std::get_if<1>(&state);
  }

  /// The value; throws the Error instead. For the user API only.
  T value_or_throw() && { return std::move(get()); }

private:
  T &get() {
    if (!*this)
      throw *std::get_if<1>(&state);
    return *std::get_if<0>(&state);
  }
  std::variant<T, Error> state;
};

/// Success without a value: `return Success();`.
struct Success {};
using Status = Result<Success>;

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NameScope: says which part of a model an op belongs to.
#pragma once

#include "meshloom/Core/Result.h"

#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

namespace meshloom {

/// While it lives, ops of this thread belong to the part `name` of what the
/// scopes around it name. Errors, explain(), reasons of collectives and
/// profiles say it beside the line: "model.cpp:12 in encoder/block_3".
///
///   for (size_t i = 0; i < blocks.size(); ++i) {
///     NameScope scope("block_" + std::to_string(i));
///     x = blocks[i](x);
///   }
///
/// A gradient's ops belong where the ops they are of do. A profile has the time
/// that the scope lived, on the thread's own row.
class [[nodiscard]] NameScope {
public:
  /// See name_scope.
  explicit NameScope(std::string_view name);
  ~NameScope();
  NameScope(const NameScope &) = delete;
  NameScope &operator=(const NameScope &) = delete;

private:
  std::shared_ptr<void> range; ///< of a profile
};
/// Names a part of a model while the result lives: auto scope =
/// name_scope("block_3");
inline NameScope name_scope(std::string_view name) {
  return NameScope(name);
}
/// The part that this thread is in, "encoder/block_3"; empty outside of scopes.
std::string current_name_scope();

namespace detail {
/// While it lives, messages about what Meshloom's own code does in this thread
/// name that line, if it is the user's: that of a layer's call. The innermost
/// one counts; lines of the user's code stay what they are.
class [[nodiscard]] UserLine {
public:
  explicit UserLine(const std::source_location &where);
  ~UserLine();
  UserLine(const UserLine &) = delete;

private:
  std::optional<std::source_location> around;
};
/// Throws the meshloom::Error that is being handled again, with that line if it
/// names none.
[[noreturn]] void rethrowAt(const std::source_location &where);
/// body(), whose errors name a line of the user's: their own, else that one.
template <typename F>
decltype(auto) atLine(const std::source_location &where, F &&body) {
  const UserLine line(where);
  try {
    return body();
  } catch (const Error &) {
    rethrowAt(where);
  }
}
/// The line that messages name: that of the CallSite (Tensor.h) that this
/// thread is in, else `where`, or the UserLine of what is Meshloom's own.
std::source_location callSiteOr(const std::source_location &where);
/// The function that messages name: that of the CallName (Tensor.h) that this
/// thread is in, else `function`.
std::string_view callNameOr(std::string_view function);
/// Throws "[op] message (at file:line in part)" as an InvalidArgumentError;
/// `where` is the line, by default that which callSiteOr knows.
[[noreturn]] void fail(std::string_view op, const std::string &message,
                       const std::source_location *where = nullptr);
/// The same for an error of another layer, or one of another class: the
/// exception is of the class of its code. A text that begins with "[" is not
/// tagged again.
[[noreturn]] void fail(std::string_view op, const Error &error,
                       const std::source_location *where = nullptr);
} // namespace detail

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks: functions of Python that a program calls (jax.pure_callback,
// jax.debug.print). A program numbers its functions; the functions themselves
// come with each execution, from JAX; and a function of the Python package
// calls one of them.
#pragma once

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace meshloom::plugin {

/// One operand or result of a callback, as the Python package reads it.
struct CallbackValue {
  void *data;
  int64_t type; ///< the C API's number of the element type
  int64_t rank;
  const int64_t *extents;
  const int64_t *strides; ///< bytes from one index to the next
};
/// Calls `function`, a callable of Python's. An ordered one takes a token
/// before its operands, and returns one before its results. Returns null, or
/// the text of the exception that it ended with, which is valid until the next
/// call in the same thread.
using CallbackCaller = const char *(*)(void *function, bool isOrdered,
                                       int64_t operandCount,
                                       const CallbackValue *operands,
                                       int64_t resultCount,
                                       const CallbackValue *results);
/// The Python package's function, for all clients of the process.
void setCallbackCaller(CallbackCaller caller);

/// The C API's numbers of the element types of a callback, without tokens.
/// Narrow numbers are bytes in the runtime, and Python has types for them.
struct CallbackTypes {
  std::vector<int32_t> operands, results;
};

/// Returns whether calls of `target` are calls of Python functions, which JAX
/// has numbered.
inline bool isPythonCallback(std::string_view target) {
  return target.ends_with("python_cpu_callback");
}

/// The functions of one program. Its custom calls name the set's number and a
/// function's number by `index`.
class CallbackSet {
public:
  static Result<std::shared_ptr<CallbackSet>> create();
  CallbackSet(const CallbackSet &) = delete;
  ~CallbackSet();

  /// The number that a custom call to `target` has for the `function`-th
  /// callback of the program; a custom function is registered for it.
  Result<int64_t> index(const std::string &target, int64_t function,
                        bool isOrdered, CallbackTypes types);
  /// The callables of the execution that begins.
  void setFunctions(std::vector<void *> functions);

private:
  explicit CallbackSet(int64_t number) : number(number) {}
  const int64_t number;
};

} // namespace meshloom::plugin

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Callbacks: functions of Python that a program calls (jax.pure_callback,
// jax.debug.print). A program numbers its functions; the functions themselves
// come with each execution, from JAX; and a function of the Python package
// calls one of them.
#pragma once

#include "ProgramProcesses.h"

#include "meshloom/Core/Result.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
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
  /// For a result: the operand whose memory it takes; else -1.
  int64_t aliasedOperand;
};
/// How a function takes its operands and gives its results: as arrays that it
/// returns; the same with a token before the operands and one before the
/// results; or as an execution context and the buffers of both, where it writes
/// its results (jax.experimental.buffer_callback).
enum class CallbackKind : int32_t { Arrays, OrderedArrays, Buffers };
/// Calls `function`, a callable of Python's. Returns null, or the text of the
/// exception that it ended with, which is valid until the next call in the same
/// thread.
using CallbackCaller = const char *(*)(void *function, CallbackKind kind,
                                       int64_t operandCount,
                                       const CallbackValue *operands,
                                       int64_t resultCount,
                                       const CallbackValue *results);
/// The Python package's function, for all clients of the process.
void setCallbackCaller(CallbackCaller caller);

/// One call of a callback. Types are the C API's numbers of the element types,
/// without tokens: narrow numbers are bytes in the runtime, and Python has
/// types for them.
struct CallbackForm {
  CallbackKind kind = CallbackKind::Arrays;
  std::vector<int32_t> operands, results;
  /// The operand whose memory each result takes, or -1.
  std::vector<int64_t> aliases;
  /// The partition whose process calls the function, with whole values, and
  /// sends its results to the others; none: each device calls it.
  std::optional<int64_t> partition;
};

/// Returns whether calls of `target` are calls of Python functions, which JAX
/// has numbered.
inline bool isPythonCallback(std::string_view target) {
  return target.ends_with("python_cpu_callback");
}
inline bool takesBuffers(std::string_view target) {
  return target == "xla_buffer_python_cpu_callback";
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
                        CallbackForm form);
  /// Says that several processes run the program, before its first execution.
  void setProcesses(const ProgramProcesses &processes);
  /// The callables of the execution that begins.
  void setFunctions(std::vector<void *> functions);

private:
  explicit CallbackSet(int64_t number) : number(number) {}
  const int64_t number;
};

} // namespace meshloom::plugin

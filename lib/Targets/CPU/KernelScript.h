// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scripts: kernels of few elements as text that is interpreted, as compiling
// them would take longer than many thousands of their runs. A script lists the
// ops of a kernel's body; each op is a loop over a block of elements, which is
// part of this program (ScriptLanes.h). Ops and formulas are those of compiled
// kernels, but products and sums of different ops are not contracted.
//
//   script
//   loops parallel                          one word for each
//   load 0 f32 0                           register, type, operand
//   constant 1 f32 1082130432              register, type, bits
//   index 2 0                              register, loop
//   read 4 f32 1 5                          where a register holds, else 0
//   apply 3 0 1 : arith.addf f32 f32     result, operands : function
//   store 3 f32 1
//
// A result that is reduced has a line of its own, with the type of its terms
// and that of its elements: `reduce 3 sum f32 : bf16 1`.
#pragma once

#include "meshloom/Core/Result.h"
#include "meshloom/Dialect/SPMD/SPMD.h"

#include <memory>
#include <string>

namespace meshloom {

/// Says whether this process can run scripts: their functions begin with
/// instructions of x86-64.
#if defined(__x86_64__)
inline constexpr bool runsScripts = true;
#else
inline constexpr bool runsScripts = false;
#endif

/// Returns the script of a kernel that is small (KernelAccess.h: isSmall), or
/// an empty text where it has to be compiled: its body has an op without lanes.
std::string scriptOf(Operation *kernel);

/// Returns whether a text, which may be an object file, is a script.
bool isScript(StringRef text);

/// A script that was loaded: a kernel's function.
class LoadedScript {
public:
  virtual ~LoadedScript() = default;
  /// Returns the address of the function, which is valid as long as this
  /// object.
  virtual const void *address() const = 0;
};

/// Fails if the text is no script, or this process does not interpret scripts.
Result<std::unique_ptr<LoadedScript>> loadScript(StringRef script);

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-opt --target and --contract: compile a program, instead of running
// passes.
#pragma once

#include "meshloom/Core/Result.h"

#include <optional>
#include <string>

namespace meshloom::opt {

struct TargetOptions {
  /// "cpu", "cuda", "stablehlo", "tpu:v5e:2x4"; empty: only the contract is
  /// checked.
  std::string target;
  std::string machine;    ///< empty: the target's own
  std::string function;   ///< empty: main, or the only one
  std::string tpuLibrary; ///< empty: see findTPULibrary
  std::string input, output;
  bool explain = false;
  /// Bytes per device that automatic layouts may take, 0: any number; nothing:
  /// layouts are not found automatically.
  std::optional<int64_t> autoLayout;
  std::string mesh; ///< of automatic layouts, where the program names none
  std::string contract; ///< the file of --contract; empty: none
  bool updateContract = false;
};

/// Reads the program in options.input, dtensor or StableHLO. For "cpu" it
/// writes the program after the target's passes, for "cuda" the PTX and the
/// launch shapes of its kernels, for "stablehlo" one device's StableHLO, to
/// options.output. For TPUs it compiles ahead of time, prints
/// what became of the program, and writes the executable to options.output
/// unless that is the standard output. Without a target it compiles for
/// devices with memories of their own, and writes nothing but the contract.
Status compileFor(const TargetOptions &options);

/// The part for TPUs: `text` is the program.
Status compileForTPU(const TargetOptions &options, const std::string &text);

} // namespace meshloom::opt

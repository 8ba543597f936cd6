// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options on the command line of mesh-run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
} // namespace CLI

namespace meshloom::run {

struct Options {
  std::string program;
  std::string function;
  std::string machine = "shared-memory";
  std::string platform = "cpu";
  bool refine = true;
  bool deterministic = false;
  std::vector<std::string> inputs;
  uint32_t seed = 0;
  std::string outputDir;
  std::string statsFile;
  std::string calibrate; ///< the file of a machine model; empty: none is made
  std::string profile;   ///< a trace's file; "-" for a table; empty: none
  std::string emitProgram;
  std::string signKey; ///< file of the key that signs what is saved
  std::string
      verifyKey;      ///< file of the key that a saved program is signed with
  bool saved = false; ///< the program is a saved one, whatever its name
  bool verify = false;
  bool compileOnly = false;
  bool timing = false;
  /// "-": the explanation goes to the standard output; else the file of a page
  /// or of its facts; empty: not asked for.
  std::string explain;
  bool suggest = false;
  /// Bytes per device that automatic layouts may take, 0: any number; nothing:
  /// layouts are not found automatically.
  std::optional<int64_t> autoLayout;
  bool reconsider = false;  ///< Layouts that arguments have may change.
  int64_t microbatches = 0; ///< 0: the program is as it is written
  std::optional<std::string> pipeline; ///< see PipelineOptions::parse
  std::string mesh; ///< of automatic layouts, where the program names none
  bool privateMemories = false;
  bool checkFinite = false;
  bool printCallbacks = false;
  int64_t workers = 0;
  int64_t repeat = 1;
  /// The first result that is an argument of the next run; -1: none is.
  int64_t carry = -1;

  /// Returns whether the explanation is a file.
  bool writesExplanation() const { return !explain.empty() && explain != "-"; }
};

/// Declares the options of the command line, which are written to `options`.
void addOptions(CLI::App &app, Options &options);

} // namespace meshloom::run

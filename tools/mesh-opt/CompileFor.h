// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-opt --target, --contract, --predict, --what-if, --pipeline, --suggest,
// --auto-layout and --explain=FILE: compile a program, instead of running
// passes.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/MachineModel.h"
#include "meshloom/Import/VHLO/WriteArtifact.h"

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
  bool explain = false; ///< Print the explanation to the standard error.
  /// The file of a page that explains the program, or of its facts; empty: not
  /// asked for.
  std::string explanationFile;
  /// Bytes per device that automatic layouts may take, 0: any number; nothing:
  /// layouts are not found automatically.
  std::optional<int64_t> autoLayout;
  bool reconsider = false; ///< Layouts that arguments have may change.
  /// The number of microbatches of a step; 0: the program is as it is written.
  int64_t microbatches = 0;
  /// The mesh of automatic layouts, where the program names none.
  std::string mesh;
  std::string contract; ///< the file of --contract; empty: none
  bool updateContract = false;
  bool predict = false;
  /// The stages of a program; see PipelineOptions::parse. Nothing: not asked
  /// for.
  std::optional<std::string> pipeline = {};
  std::string whatIf; ///< "AXIS=FIRST..LAST"; empty: not asked for
  bool suggest = false;
  /// For "stablehlo", the release of the portable artifact to write; nothing:
  /// text is written.
  std::optional<StableHLORelease> artifact = {};
};

/// Reads the program in options.input, dtensor or StableHLO. For "cpu" it
/// writes the program after the target's passes, for "cuda" the PTX and the
/// launch shapes of its kernels, for "stablehlo" one device's StableHLO, to
/// options.output. For TPUs it compiles ahead of time, prints
/// what became of the program, and writes the executable to options.output
/// unless that is the standard output. Without a target it compiles for
/// devices with memories of their own, and writes nothing but the contract and
/// the prediction, and the page that explains the program.
Status compileFor(const TargetOptions &options);

/// --predict: writes the prediction of a program that is compiled for `machine`
/// as a table, or to options.output as JSON or, where that ends in .svg, as a
/// picture.
Status writePrediction(const TargetOptions &options, const Compiled &compiled,
                       const MachineModel &machine);

/// --what-if: predicts the program in `text` for meshes whose axis has each
/// size of the range that is a doubling of the first one. Prints a table, and
/// writes a picture to options.output unless that is the standard output.
Status predictRange(const TargetOptions &options, const std::string &text);

/// --pipeline: predicts the program in `text` in stages on devices of their
/// own. Prints a table of the stages, or writes them to options.output as JSON.
Status predictStages(const TargetOptions &options, const std::string &text);

/// --suggest, and --auto-layout alone: writes the layouts of the program in
/// `text`, and with --suggest the costs of changes, as text, or to
/// options.output as JSON, and the page that explains the program.
Status advise(const TargetOptions &options, const std::string &text);

/// The part for TPUs: `text` is the program.
Status compileForTPU(const TargetOptions &options, const std::string &text);

} // namespace meshloom::opt

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program as text: parsed, compiled, and run by the reference interpreter.
// The only part of mesh-run that needs the compiler.
#pragma once

#include "Options.h"
#include "Values.h"

#include "meshloom/Compiler/PipelineProgram.h"
#include "meshloom/Core/Compiled.h"
#include "meshloom/Core/Profile.h"
#include "meshloom/Runtime/Array.h"

#include <memory>

namespace meshloom::run {

/// The parts of a pipeline, and their code.
struct CompiledPipeline {
  PipelineProgram program;
  std::vector<Compiled> parts;
};

class Source {
public:
  /// Reads the program, which will be compiled for a target of compile().
  static Result<std::unique_ptr<Source>> open(const Options &options,
                                              std::string_view target);
  ~Source();

  /// For processes which each have as many devices: their memory groups
  /// (JoinedProcesses). Prints what --explain asks for to the standard output.
  Result<Compiled> compile(std::span<const int> processes) const;

  /// Cuts the program into the stages that --pipeline asks for, which are valid
  /// as long as the source is, and compiles them.
  Result<CompiledPipeline> compilePipeline() const;

  /// Predicts a step of the pipeline on the machine that --machine names.
  Result<PipelinePlan> planPipeline(const CompiledPipeline &pipeline) const;

  /// The names, types and shapes of arguments and results, without layouts.
  Result<Signature> signature() const;

  /// Writes the file of --explain=FILE about what compile() returned, with what
  /// a profile measured where there is one.
  Status writeExplanation(const Compiled &compiled,
                          const Profile *measured) const;

  /// Runs the program in the reference interpreter and prints each result's
  /// error. Fails where one is larger than its type allows.
  Status verify(const std::vector<HostBytes> &inputs,
                const std::vector<HostBytes> &results,
                const Signature &compiled) const;

private:
  struct Impl;
  explicit Source(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace meshloom::run

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PipelineProgram: a training step whose ops are in named stages, as programs
// of single stages that work on one microbatch of the batch. For example, with
// x1 in the scope "stage0" and the rest in "stage1",
//
//     x1 = tanh(x @ w1);  loss = sum((x1 @ w2 - y)^2);  ...gradients and
//     updates
//
// becomes the parts
//
//     stage 0 forward   (x[m], w1) -> x1[m]
//     stage 1 backward  (x1[m], y[m], w2, sums) -> gradient of x1[m], sums
//     stage 0 backward  (x[m], x1[m], gradient, sums) -> sums
//     update of each stage, after the last microbatch: (w1, sum) -> w1
//
// Each stage is on a set of devices with the mesh of the program. The last
// stage has no part forward: its part backward begins with that. Which ops are
// backward follows from what they need: an op of a stage that needs a value of
// a later stage. So nothing has to be known of how gradients were computed.
#pragma once

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/PipelineSchedule.h"
#include "meshloom/Support/LLVM.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>
#include <string>
#include <vector>

namespace meshloom {

/// How a program is to run in a pipeline.
struct PipelineOptions {
  /// Ops are in stage i if a scope in their location has the name of this and
  /// i, as "stage0" has. The name may stand in a longer one, as in
  /// "transpose(jvp(stage0))". Stages are in the order of these numbers. Other
  /// ops are in the stage of their operands.
  std::string scope = "stage";
  /// The number of stages to which the scopes are put together, such that the
  /// slowest one takes the least time; 0: each scope is a stage.
  int64_t stages = 0;
  int64_t microbatches = 0; ///< 0: as many as stages
  PipelineSchedule schedule = PipelineSchedule::ONE_FORWARD_ONE_BACKWARD;
  /// The number of sets of devices, each with as many stages, for the schedule
  /// INTERLEAVED; 0: one for each stage.
  int64_t sets = 0;

  /// Reads "microbatches=8,schedule=zero-bubble,stages=4,scope=layer". All keys
  /// may be left out. The schedules are gpipe, 1f1b, interleaved and
  /// zero-bubble.
  static Result<PipelineOptions> parse(std::string_view text);
};
/// "1f1b".
std::string_view name(PipelineSchedule schedule);

/// A value that parts take and give.
struct PipelineValue {
  enum class Kind : uint8_t {
    Argument,   ///< an argument of the program
    Microbatch, ///< the rows of an argument that are in a microbatch
    Activation, ///< the result of a part for a microbatch
    Sum,        ///< a sum over microbatches: a part adds to it
    Update      ///< a result of a part after the last microbatch
  };
  Kind kind;
  size_t argument = 0; ///< of an Argument or Microbatch
  std::optional<ArrayType> type = std::nullopt; ///< after compileParts

  /// Returns whether each microbatch has a value of its own.
  bool isOfMicrobatch() const {
    return kind == Kind::Microbatch || kind == Kind::Activation;
  }
};

/// A program of one stage.
struct PipelinePart {
  int64_t stage = 0;
  /// Nothing: it runs once, after the last microbatch.
  std::optional<PipelineWork> work;
  OwningOpRef<ModuleOp> module;
  std::vector<size_t> operands, results; ///< numbers of values
};

/// The run of a part on a microbatch, or after the last one (-1).
struct PipelineLaunch {
  size_t part;
  int64_t microbatch;
};

struct PipelineProgram {
  PipelineShape shape;
  std::string batch; ///< "4 microbatches of 16 rows of 'x', 'y'"
  std::vector<std::string> stageNames; ///< "layer0 to layer2"
  std::vector<PipelineValue> values;
  /// In an order in which each takes what those before it give.
  std::vector<PipelinePart> parts;
  std::vector<size_t> results; ///< numbers of the values of the program

  /// Returns the number of the part for a task; nothing where the task has
  /// nothing to do.
  std::optional<size_t> partOf(const PipelineTask &task) const;
  /// Returns what runs in a step, in the order of the schedule.
  std::vector<PipelineLaunch> launches() const;
};

/// Cuts the function that CompileOptions::function means into the programs of
/// its stages. `options` are used to predict the times of scopes. Fails where
/// no op is in a scope, where the batch is needed as a whole, and where a stage
/// needs a value that comes later.
Result<PipelineProgram> cutIntoPipeline(ModuleOp module,
                                        const PipelineOptions &pipeline,
                                        const CompileOptions &options);

/// Compiles the parts, in their order: a part takes a value in the layout in
/// which the part before gives it. Sets the types of values.
Result<std::vector<Compiled>> compileParts(PipelineProgram &program,
                                           const CompileOptions &options);

/// The prediction of a pipeline.
struct PipelinePlan {
  std::vector<PipelineStageTime> times; ///< of each stage for one microbatch
  PipelinePrediction step;              ///< without updates
  int64_t updateTime = 0; ///< from the last microbatch to the last update
  int64_t devices = 1;    ///< of each set
  std::vector<int64_t> peakBytes; ///< of a device of each set
};

/// Predicts one step of the compiled parts on a machine. Sets of devices are
/// taken to be in different hosts, and send over its default link; where
/// devices share memory they send nothing.
Result<PipelinePlan> planPipeline(const PipelineProgram &program,
                                  const std::vector<Compiled> &parts,
                                  const MachineModel &machine);

/// A table of the stages, and the time of a step.
std::string planText(const PipelineProgram &program, const PipelinePlan &plan,
                     const MachineModel &machine);

/// The same as a JSON object. Times are in picoseconds, as integers.
std::string planJson(const PipelineProgram &program, const PipelinePlan &plan,
                     const MachineModel &machine);

} // namespace meshloom

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options, stages, compilation and prediction of pipelines; PipelineCut.h has
// the cut.
#include "meshloom/Compiler/PipelineProgram.h"

#include "DiagnosticText.h"
#include "PipelineCut.h"

#include "meshloom/Compiler/Partition.h"

#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

namespace meshloom {

using mlir::func::FuncOp;

namespace {
struct NamedSchedule {
  std::string_view name;
  PipelineSchedule schedule;
};
constexpr std::array namedSchedules = {
    NamedSchedule{"gpipe", PipelineSchedule::GPIPE},
    NamedSchedule{"1f1b", PipelineSchedule::ONE_FORWARD_ONE_BACKWARD},
    NamedSchedule{"interleaved", PipelineSchedule::INTERLEAVED},
    NamedSchedule{"zero-bubble", PipelineSchedule::ZERO_BUBBLE}};

bool readNumber(StringRef text, int64_t &number) {
  return !text.getAsInteger(10, number) && number >= 1;
}
} // namespace

std::string_view name(PipelineSchedule schedule) {
  return llvm::find_if(namedSchedules,
                       [&](const NamedSchedule &named) {
                         return named.schedule == schedule;
                       })
      ->name;
}

Result<PipelineOptions> PipelineOptions::parse(std::string_view text) {
  PipelineOptions options;
  SmallVector<StringRef> entries;
  StringRef(text).split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef entry : entries) {
    const auto [key, value] = entry.split('=');
    const auto *named =
        llvm::find_if(namedSchedules, [&](const NamedSchedule &candidate) {
          return candidate.name == std::string_view(value);
        });
    if (key == "scope" && !value.empty())
      options.scope = value.str();
    else if (key == "schedule" && named != namedSchedules.end())
      options.schedule = named->schedule;
    else if (!(key == "microbatches" &&
               readNumber(value, options.microbatches)) &&
             !(key == "stages" && readNumber(value, options.stages)) &&
             !(key == "sets" && readNumber(value, options.sets)))
      return Error(fmt::format(
          "--pipeline: expected microbatches=N, stages=N, sets=N, scope=NAME "
          "or schedule=gpipe, 1f1b, interleaved or zero-bubble, separated by "
          "commas, got '{}'",
          entry.str()));
  }
  return options;
}

std::optional<size_t> PipelineProgram::partOf(const PipelineTask &task) const {
  for (const auto &[i, part] : llvm::enumerate(parts))
    if (part.stage == task.stage && part.work == task.work)
      return i;
  return std::nullopt;
}

std::vector<PipelineLaunch> PipelineProgram::launches() const {
  std::vector<PipelineLaunch> result;
  const Result<std::vector<PipelineTask>> tasks = pipelineTasks(shape);
  for (const PipelineTask &task : *tasks)
    if (std::optional<size_t> part = partOf(task))
      result.push_back({*part, task.microbatch});
  for (size_t part = 0; part < parts.size(); ++part)
    if (!parts[part].work)
      result.push_back({part, -1});
  return result;
}

namespace {

/// Cuts a prepared function of a module.
class StageCutter {
public:
  StageCutter(FuncOp function, const PipelineOptions &pipeline,
              const CompileOptions &options)
      : function(function), pipeline(pipeline), options(options) {}

  Result<PipelineProgram> run();

private:
  Status findScopes();
  Result<std::vector<int64_t>> stagesByTime();
  Result<PipelineProgram> cut(ArrayRef<int64_t> stageOfScope,
                              PipelineSchedule schedule, int64_t count);
  std::string stageName(ArrayRef<int64_t> stageOfScope, int64_t stage) const;

  FuncOp function;
  const PipelineOptions &pipeline;
  const CompileOptions &options;
  std::vector<int64_t> scopes; ///< their numbers, ascending
};

/// Finds the numbers of the scopes.
Status StageCutter::findScopes() {
  std::set<int64_t> numbers;
  function.walk([&](Operation *op) {
    if (auto number = scopeNumber(op->getLoc(), pipeline.scope))
      numbers.insert(*number);
  });
  scopes.assign(numbers.begin(), numbers.end());
  if (!scopes.empty())
    return Success();
  return Error(fmt::format(
      "no op is in a stage of the pipeline: put the ops of stage i into the "
      "name scope {}i, as jax.named_scope(\"{}0\") does, or name other "
      "scopes with --pipeline=scope=NAME",
      pipeline.scope, pipeline.scope));
}

std::string StageCutter::stageName(ArrayRef<int64_t> stageOfScope,
                                   int64_t stage) const {
  const auto begin = llvm::find(stageOfScope, stage) - stageOfScope.begin();
  const int64_t first = scopes[size_t(begin)];
  const int64_t last =
      scopes[size_t(begin + llvm::count(stageOfScope, stage) - 1)];
  return first == last ? fmt::format("{}{}", pipeline.scope, first)
                       : fmt::format("{}{} to {}{}", pipeline.scope, first,
                                     pipeline.scope, last);
}

Result<PipelineProgram> StageCutter::cut(ArrayRef<int64_t> stageOfScope,
                                         PipelineSchedule schedule,
                                         int64_t count) {
  PipelineProgram program;
  program.shape.stages = stageOfScope.back() + 1;
  program.shape.microbatches = count;
  program.shape.schedule = schedule;
  if (schedule == PipelineSchedule::INTERLEAVED) {
    if (pipeline.sets == 0 || program.shape.stages % pipeline.sets)
      return Error(fmt::format(
          "the schedule interleaved needs the number of sets of devices, each "
          "with as many of the {} stages, as in --pipeline=sets=2",
          program.shape.stages));
    program.shape.stagesPerSet = program.shape.stages / pipeline.sets;
  }
  if (Result<std::vector<PipelineTask>> tasks = pipelineTasks(program.shape);
      !tasks)
    return tasks.error();
  for (int64_t stage = 0; stage < program.shape.stages; ++stage)
    program.stageNames.push_back(stageName(stageOfScope, stage));
  const DiagnosticText diagnostics(function.getContext());
  auto microbatches = findMicrobatches(function, count);
  if (failed(microbatches))
    return diagnostics.error("the program has no microbatches");
  program.batch = (*microbatches)->text();
  std::map<int64_t, int64_t> stages;
  for (auto [number, stage] : llvm::zip_equal(scopes, stageOfScope))
    stages[number] = stage;
  if (failed(
          PipelineCut(function, **microbatches, pipeline.scope, stages, program)
              .run()))
    return diagnostics.error("the program could not be cut into stages");
  return program;
}

/// Puts scopes together to stages by their predicted times.
Result<std::vector<int64_t>> StageCutter::stagesByTime() {
  std::vector<int64_t> stageOfScope(scopes.size());
  std::iota(stageOfScope.begin(), stageOfScope.end(), 0);
  if (pipeline.stages == 0 || pipeline.stages == std::ssize(scopes))
    return stageOfScope;
  const int64_t count =
      pipeline.microbatches ? pipeline.microbatches : pipeline.stages;
  Result<PipelineProgram> program =
      cut(stageOfScope, PipelineSchedule::GPIPE, count);
  if (!program)
    return program.error();
  CompileOptions plan = options;
  plan.makeCode = false;
  Result<std::vector<Compiled>> compiled = compileParts(*program, plan);
  if (!compiled)
    return compiled.error();
  Result<PipelinePlan> predicted =
      planPipeline(*program, *compiled, options.machine);
  if (!predicted)
    return predicted.error();
  std::vector<int64_t> times;
  for (const PipelineStageTime &time : predicted->times)
    times.push_back(time.forward + time.backward + time.weightGradient);
  Result<std::vector<size_t>> first = cutStages(times, size_t(pipeline.stages));
  if (!first)
    return first.error();
  for (size_t scope = 0; scope < stageOfScope.size(); ++scope)
    stageOfScope[scope] =
        std::ranges::upper_bound(*first, scope) - first->begin() - 1;
  return stageOfScope;
}

Result<PipelineProgram> StageCutter::run() {
  if (Status found = findScopes(); !found)
    return found.error();
  Result<std::vector<int64_t>> stageOfScope = stagesByTime();
  if (!stageOfScope)
    return stageOfScope.error();
  return cut(*stageOfScope, pipeline.schedule,
             pipeline.microbatches ? pipeline.microbatches
                                   : stageOfScope->back() + 1);
}

/// Gives the arguments of a part the layouts that their values have already.
void layOutArguments(const PipelineProgram &program, const PipelinePart &part) {
  FuncOp function = *ModuleOp(*part.module).getOps<FuncOp>().begin();
  for (auto [argument, number] :
       llvm::zip_equal(function.getArguments(), part.operands))
    if (const std::optional<ArrayType> &type = program.values[number].type)
      argument.setType(RankedTensorType::get(
          type->shape,
          cast<RankedTensorType>(argument.getType()).getElementType(),
          dtensor::LayoutAttr::get(function.getContext(), type->layout)));
  function.setFunctionType(mlir::FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(),
      function.getResultTypes()));
}

} // namespace

Result<PipelineProgram> cutIntoPipeline(ModuleOp module,
                                        const PipelineOptions &pipeline,
                                        const CompileOptions &options) {
  loadDialects(module.getContext());
  Result<FuncOp> function = functionToCompile(module, options.function);
  if (!function)
    return function.error();
  OwningOpRef<ModuleOp> prepared = copyAlone(*function);
  {
    const DiagnosticText diagnostics(module.getContext());
    mlir::PassManager passes(module.getContext());
    passes.enableVerifier(false);
    buildPreparationPipeline(passes.nest<FuncOp>());
    if (failed(passes.run(*prepared)))
      return diagnostics.error("the program could not be prepared");
  }
  return StageCutter(*prepared->getOps<FuncOp>().begin(), pipeline, options)
      .run();
}

Result<std::vector<Compiled>> compileParts(PipelineProgram &program,
                                           const CompileOptions &options) {
  CompileOptions ofParts = options;
  ofParts.function = "";
  std::vector<Compiled> compiled;
  for (const PipelinePart &part : program.parts) {
    layOutArguments(program, part);
    Result<Compiled> result = compile(*part.module, ofParts);
    if (!result)
      return result.error();
    const Signature &signature = result->signature();
    auto setType = [&](size_t number, const ArrayType &type) {
      std::optional<ArrayType> &present = program.values[number].type;
      if (!present)
        present = type;
    };
    for (auto [number, argument] :
         llvm::zip_equal(part.operands, signature.arguments))
      setType(number, argument.type);
    for (auto [number, source] :
         llvm::zip_equal(part.results, signature.results))
      setType(number, source.type);
    compiled.push_back(std::move(*result));
  }
  return compiled;
}

} // namespace meshloom

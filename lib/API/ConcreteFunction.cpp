// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report of a compiled function on itself.
#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/Engine/ExecutableInfo.h"
#include "meshloom/Engine/Execution.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Texts.h"
#include "meshloom/Engine/TracedFunction.h"

#include "meshloom/API/Explain.h"
#include "meshloom/API/Predict.h"
#include "meshloom/Advice/Advice.h"
#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Explain/Explain.h"
#include "meshloom/Predict/Predict.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/MachineModelFile.h"

#include <algorithm>
#include <fmt/format.h>

#include <ostream>

namespace meshloom {
using namespace detail;

ValueInfo detail::infoOf(const ArrayType &type, std::string name,
                         ValueInfo::Role role) {
  return {std::move(name), type.dtype, type.shape, type.layout, role};
}

const TracedFunction &ConcreteFunction::get() const {
  if (!traced)
    fail("ConcreteFunction", "expected a traced function, got an empty handle: "
                             "one that was moved from has none");
  return *traced;
}

std::vector<CapturedValue>
detail::capturedValues(const ConcreteFunction &function) {
  std::vector<CapturedValue> values;
  for (const TraceArgument &argument : function.get().arguments) {
    if (argument.kind == TraceArgument::Kind::Captured)
      values.push_back({argument.tensor});
    if (argument.kind != TraceArgument::Kind::Variable)
      continue;
    VariableState &variable = *argument.variable;
    if (const DVariable handle = DVariable::internalFrom(argument.variable);
        remoteOf(handle)) {
      values.push_back({handle.read_value(), variable.id});
      continue;
    }
    std::lock_guard lock(variable.mutex);
    values.push_back(
        {wrap(valueOf(variable, "save"), variable.host), variable.id});
  }
  return values;
}

const std::string &ConcreteFunction::name() const {
  return get().name;
}

/// The only program of a function; throws where there are several.
static const Executable &onlyProgram(const TracedFunction &function,
                                     std::string_view op) {
  if (!function.program->isWhole())
    fail(op,
         fmt::format("expected a function on one set of devices, got '{}', "
                     "which is {} programs: call it, or make functions of its "
                     "parts",
                     function.name, function.program->programs().size()));
  return *function.program->programs().front()->executable;
}

const Compiled &ConcreteFunction::compiled() const {
  return onlyProgram(get(), "compiled").compiled();
}

int64_t ConcreteFunction::num_programs() const {
  return int64_t(get().program->programs().size());
}

namespace {
/// A program of a function, as it is compiled again for what one asks about it.
struct Asked {
  ModuleOp module;
  CompileOptions options;
};
std::vector<Asked> askedOf(const TracedFunction &function) {
  std::vector<Asked> asked;
  for (const DeviceProgram::Part *part : function.program->programs()) {
    ModuleOp module =
        part->module ? ModuleOp(part->module.get()) : *function.source->module;
    asked.push_back({module, optionsFor(part->executable->signature().mesh,
                                        function.compiledFor)});
  }
  return asked;
}
} // namespace

std::vector<ValueInfo> ConcreteFunction::arguments() const {
  const std::vector<ArrayType> &types = get().program->argumentTypes();
  std::vector<ValueInfo> infos;
  for (size_t i = 0; i < types.size(); ++i) {
    const TraceArgument &argument = get().arguments[i];
    ValueInfo::Role role = ValueInfo::Role::Argument;
    if (argument.kind == TraceArgument::Kind::Captured)
      role = ValueInfo::Role::Captured;
    if (argument.kind == TraceArgument::Kind::Variable)
      role = ValueInfo::Role::Variable;
    infos.push_back(infoOf(types[i], argument.name, role));
  }
  return infos;
}

std::vector<ValueInfo> ConcreteFunction::results() const {
  const DeviceProgram &program = *get().program;
  std::vector<ValueInfo> infos;
  for (size_t r = 0; r < program.resultTypes().size(); ++r) {
    bool isVariable = r >= get().resultCount;
    infos.push_back(infoOf(
        program.resultTypes()[r],
        isVariable
            ? get().arguments[size_t(program.aliases()[r])].variable->name
            : fmt::format("result{}", r),
        isVariable ? ValueInfo::Role::Variable : ValueInfo::Role::Result));
  }
  return infos;
}

std::vector<CollectiveInfo> detail::collectivesOf(const Compiled &compiled) {
  const Mesh &mesh = compiled.signature().mesh;
  std::vector<CollectiveInfo> infos;
  for (const CompiledCollective &collective : compiled.collectives()) {
    CollectiveInfo info;
    info.kind = collective.kind;
    info.axes = mergedNames(mesh, collective.axes);
    info.bytes = collective.bytes;
    info.bytes_sent = bytesSent(collective.kind, info.bytes,
                                groupSize(mesh, collective.axes));
    info.tensors = collective.values;
    info.reason = collective.reason;
    info.location = collective.note.location;
    infos.push_back(std::move(info));
  }
  return infos;
}

FunctionStatistics detail::statisticsOf(const Executable &executable) {
  Statistics counts = executable.statistics();
  FunctionStatistics statistics;
  statistics.executions = counts.executions;
  statistics.last_seconds = counts.lastSeconds;
  statistics.peak_bytes = counts.peakBytes;
  statistics.peak_bytes_per_device = counts.peakBytesPerDevice;
  for (const CollectiveRecord &record : counts.collectives) {
    ++statistics.collectives;
    statistics.bytes_sent +=
        bytesSent(record.kind, record.resultBytes, record.groupSize);
  }
  return statistics;
}

std::vector<CollectiveInfo> ConcreteFunction::collectives() const {
  std::vector<CollectiveInfo> infos;
  for (const DeviceProgram::Part *part : get().program->programs())
    llvm::append_range(infos, collectivesOf(part->executable->compiled()));
  return infos;
}

std::vector<CollectiveInfo>
ConcreteFunction::collectives(std::string_view machine, bool refine,
                              std::source_location where) const {
  const UserLine line(where);
  Running running;
  std::vector<CollectiveInfo> infos;
  for (auto &[module, options] : askedOf(get())) {
    options.machine = check(MachineModel::preset(machine), "collectives");
    options.refine = refine;
    options.optimizeKernels = false;
    llvm::append_range(
        infos, collectivesOf(check(compile(module, options), "collectives")));
  }
  return infos;
}

Prediction predict(const ConcreteFunction &function,
                   const MachineModel &machine, std::source_location where) {
  const UserLine line(where);
  Running running;
  onlyProgram(function.get(), "predict");
  auto [module, options] = askedOf(function.get()).front();
  options.machine = machine;
  options.target = machine.sharedMemory ? "cpu" : "cuda";
  options.makeCode = false;
  return check(predict(check(compile(module, options), "predict"), machine),
               "predict");
}

Prediction predict(const ConcreteFunction &function, const std::string &machine,
                   std::source_location where) {
  const UserLine line(where);
  return predict(function, check(loadMachineModel(machine), "predict"), where);
}

static void writeExplanation(std::vector<Asked> programs,
                             const std::string &name,
                             const std::filesystem::path &path,
                             const MachineModel *machine) {
  std::vector<ExplainedProgram> explained;
  for (auto &[module, options] : programs) {
    Explanation explanation;
    options.explain = [&](const Explanation &found) { explanation = found; };
    if (machine)
      options.machine = *machine;
    options.target = options.machine.sharedMemory ? "cpu" : "cuda";
    options.makeCode = false;
    Compiled compiled = check(compile(module, options), "write_explanation");
    explanation.function = name;
    explained.push_back({std::move(compiled), std::move(explanation)});
  }
  check(writeExplanation(path.string(), explained), "write_explanation");
}

void write_explanation(const ConcreteFunction &function,
                       const std::filesystem::path &path,
                       std::source_location where) {
  const UserLine line(where);
  Running running;
  writeExplanation(askedOf(function.get()), function.name(), path, nullptr);
}

void write_explanation(const ConcreteFunction &function,
                       const std::filesystem::path &path,
                       const std::string &machine, std::source_location where) {
  const UserLine line(where);
  Running running;
  const MachineModel model =
      check(loadMachineModel(machine), "write_explanation");
  writeExplanation(askedOf(function.get()), function.name(), path, &model);
}

/// Returns a copy of a program on one device that is on no mesh.
static mlir::OwningOpRef<ModuleOp> withoutMesh(ModuleOp module) {
  mlir::OwningOpRef<ModuleOp> copy = module.clone();
  (*copy)->removeAttr("dtensor.mesh");
  auto function = *copy->getOps<mlir::func::FuncOp>().begin();
  auto undecided = [](Type type) -> Type {
    if (isa<dtensor::VariableType>(type))
      return dtensor::VariableType::get(type.getContext(),
                                        dtensor::undecided(type));
    return dtensor::undecided(type);
  };
  for (BlockArgument argument : function.getArguments())
    argument.setType(undecided(argument.getType()));
  function.setFunctionType(mlir::FunctionType::get(
      function.getContext(), function.getBody().front().getArgumentTypes(),
      llvm::map_to_vector(function.getResultTypes(), undecided)));
  return copy;
}

LayoutPlan auto_layout(const ConcreteFunction &function, const Mesh &mesh,
                       const AutoLayoutOptions &options,
                       std::source_location where) {
  const UserLine line(where);
  Running running;
  checkMemory("auto_layout", options.memory);
  const Mesh used = onlyProgram(function.get(), "auto_layout").signature().mesh;
  const bool isOnMesh = used.size() > 1;
  if (isOnMesh && !std::ranges::equal(used.axes(), mesh.axes()))
    fail("auto_layout",
         fmt::format("'{}' is on the mesh {}: expected that, or "
                     "a function of tensors that are on none, "
                     "not the mesh {}",
                     function.name(), used.spec_string(), mesh.spec_string()));
  auto [module, compileOptions] = askedOf(function.get()).front();
  mlir::OwningOpRef<ModuleOp> copy =
      isOnMesh ? ModuleOp(module).clone() : withoutMesh(module);
  compileOptions.machine =
      check(loadMachineModel(options.machine), "auto_layout");
  compileOptions.autoLayout = {.memory = options.memory,
                               .reconsider = true,
                               .mesh =
                                   isOnMesh ? "" : axesText(mesh.axes(), ",")};
  const AdvisedProgram advised = check(
      adviseLayouts(*copy, compileOptions, Changes::NotTried), "auto_layout");
  LayoutPlan plan{function.arguments(), advised.advice.memoryChoices,
                  advised.advice.costs};
  for (size_t i = 0; i < plan.arguments.size(); ++i)
    plan.arguments[i].layout = onMeshOf(
        {{mesh}}, advised.program.signature().arguments[i].type.layout);
  return plan;
}

LayoutAdvice suggest(const ConcreteFunction &function,
                     const std::string &machine, int64_t memory,
                     std::source_location where) {
  const UserLine line(where);
  Running running;
  checkMemory("suggest", memory);
  onlyProgram(function.get(), "suggest");
  auto [module, options] = askedOf(function.get()).front();
  options.machine = check(loadMachineModel(machine), "suggest");
  if (memory > 0)
    options.autoLayout = {.memory = memory};
  return check(adviseLayouts(module, options), "suggest").advice;
}

FunctionStatistics detail::statisticsOf(const DeviceProgram &program) {
  if (program.isWhole())
    return statisticsOf(*program.programs().front()->executable);
  FunctionStatistics sum;
  sum.executions = program.executions();
  for (const DeviceProgram::Part *part : program.programs()) {
    const FunctionStatistics partStatistics = statisticsOf(*part->executable);
    sum.last_seconds += partStatistics.last_seconds;
    sum.peak_bytes += partStatistics.peak_bytes;
    sum.peak_bytes_per_device = std::max(sum.peak_bytes_per_device,
                                         partStatistics.peak_bytes_per_device);
    sum.collectives += partStatistics.collectives;
    sum.bytes_sent += partStatistics.bytes_sent;
  }
  return sum;
}

FunctionStatistics ConcreteFunction::statistics() const {
  return statisticsOf(*get().program);
}

void ConcreteFunction::save(const std::filesystem::path &path,
                            std::source_location where) const {
  const UserLine line(where);
  check(writeFile(path.string(), serialize()), "save");
}

std::string detail::serialize(const TracedFunction &function) {
  Running running;
  if (!function.program->isWhole()) {
    std::vector<std::string> names;
    names.reserve(function.arguments.size());
    for (const TraceArgument &argument : function.arguments)
      names.push_back(argument.name);
    return function.program->serialize(function.compiledFor, names);
  }
  CompileOptions options = optionsFor(
      onlyProgram(function, "save").signature().mesh, function.compiledFor);
  options.codeAsBytes = true;
  Compiled saved = check(compile(*function.source->module, options), "save");
  return saved.serialize();
}

std::string ConcreteFunction::serialize() const {
  return detail::serialize(get());
}

std::string ConcreteFunction::explain() const {
  Running running;
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (auto &[module, options] : askedOf(get())) {
    const size_t begin = text.size();
    options.explain = explanationPrinter(stream);
    check(compile(module, options), "explain");
    // The traced function is called main, whatever its name.
    if (constexpr std::string_view traceName = "@main ";
        std::string_view(text).substr(begin).starts_with(traceName))
      text.replace(begin, traceName.size(), "@" + name() + " ");
  }
  return text;
}

std::vector<StageIR> ConcreteFunction::stages() const {
  Running running;
  std::vector<StageIR> stages;
  std::string traceText;
  ModuleOp module = *get().source->module;
  llvm::raw_string_ostream(traceText) << module;
  stages.push_back({"traced", std::move(traceText)});
  for (auto &[cut, options] : askedOf(get())) {
    options.afterPass = [&](std::string_view pass, const std::string &ir) {
      stages.push_back({std::string(pass), ir});
    };
    check(compile(cut, options), "stages");
  }
  return stages;
}

double ConcreteFunction::trace_time() const {
  return get().traceSeconds;
}
double ConcreteFunction::compile_time() const {
  return get().program->compileSeconds();
}

std::ostream &operator<<(std::ostream &out,
                         const std::vector<CollectiveInfo> &collectives) {
  if (collectives.empty())
    return out << "no collectives\n";
  auto axesOf = [](const CollectiveInfo &info) {
    return fmt::format("[{}]", fmt::join(info.axes, ", "));
  };
  size_t width = 0;
  for (const CollectiveInfo &info : collectives)
    width = std::max(width, axesOf(info).size());
  for (const CollectiveInfo &info : collectives)
    out << fmt::format("{:<14} over {:<{}}  {:>12} bytes  {:>3} tensor{}  {}\n",
                       name(info.kind), axesOf(info), width, info.bytes,
                       info.tensors, info.tensors == 1 ? " " : "s",
                       info.reason);
  return out;
}

} // namespace meshloom

// What a compiled function tells about itself.
#include "meshloom/API/ConcreteFunction.h"
#include "Engine.h"
#include "ExecutableInfo.h"
#include "Running.h"
#include "TracedFunction.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Core/SubAxis.h"
#include "meshloom/Support/File.h"

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
    if (const DVariable own = DVariable::internalFrom(argument.variable);
        remoteOf(own)) {
      values.push_back({own.read_value(), variable.id});
      continue;
    }
    std::lock_guard lock(variable.mutex);
    if (!variable.array)
      fail("save", fmt::format("variable '{}' has lost its value: {}",
                               variable.name, variable.lost));
    values.push_back({wrap(variable.array, variable.host), variable.id});
  }
  return values;
}

const std::string &ConcreteFunction::name() const {
  return get().name;
}

const Compiled &ConcreteFunction::compiled() const {
  return get().loaded.executable->compiled();
}

std::vector<ValueInfo> ConcreteFunction::arguments() const {
  const Signature &own = get().loaded.executable->signature();
  std::vector<ValueInfo> infos;
  for (size_t i = 0; i < own.arguments.size(); ++i) {
    const TraceArgument &argument = get().arguments[i];
    ValueInfo::Role role = ValueInfo::Role::Argument;
    if (argument.kind == TraceArgument::Kind::Captured)
      role = ValueInfo::Role::Captured;
    if (argument.kind == TraceArgument::Kind::Variable)
      role = ValueInfo::Role::Variable;
    ArrayType type = own.arguments[i].type;
    type.layout = onMeshOf(get().meshes, type.layout);
    infos.push_back(infoOf(type, argument.name, role));
  }
  return infos;
}

std::vector<ValueInfo> ConcreteFunction::results() const {
  const Signature &own = get().loaded.executable->signature();
  std::vector<ValueInfo> infos;
  for (size_t r = 0; r < own.results.size(); ++r) {
    const Signature::Result &result = own.results[r];
    bool isVariable = r >= get().resultCount;
    ArrayType type = result.type;
    type.layout = onMeshOf(get().meshes, type.layout);
    infos.push_back(infoOf(
        type,
        isVariable
            ? get().arguments[size_t(result.aliasedArgument)].variable->name
            : fmt::format("result{}", r),
        isVariable ? ValueInfo::Role::Variable : ValueInfo::Role::Result));
  }
  return infos;
}

std::vector<CollectiveInfo> detail::collectivesOf(const Compiled &own) {
  const Mesh &mesh = own.signature().mesh;
  std::vector<CollectiveInfo> infos;
  for (const CompiledCollective &collective : own.collectives()) {
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
  Statistics own = executable.statistics();
  FunctionStatistics statistics;
  statistics.executions = own.executions;
  statistics.last_seconds = own.lastSeconds;
  statistics.peak_bytes = own.peakBytes;
  statistics.peak_bytes_per_device = own.peakBytesPerDevice;
  for (const CollectiveRecord &record : own.collectives) {
    ++statistics.collectives;
    statistics.bytes_sent +=
        bytesSent(record.kind, record.resultBytes, record.groupSize);
  }
  return statistics;
}

std::vector<CollectiveInfo> ConcreteFunction::collectives() const {
  return collectivesOf(get().loaded.executable->compiled());
}

std::vector<CollectiveInfo>
ConcreteFunction::collectives(std::string_view machine, bool refine) const {
  Running running;
  CompileOptions options =
      optionsFor(get().loaded.executable->signature().mesh, get().compiledFor);
  options.machine = check(MachineModel::preset(machine), "collectives");
  options.refine = refine;
  options.optimizeKernels = false;
  return collectivesOf(
      check(compile(*get().source->module, options), "collectives"));
}

FunctionStatistics ConcreteFunction::statistics() const {
  return statisticsOf(*get().loaded.executable);
}

void ConcreteFunction::save(const std::filesystem::path &path) const {
  check(writeFile(path.string(), serialize()), "save");
}

std::string detail::serialize(const TracedFunction &function) {
  Running running;
  CompileOptions options = optionsFor(
      function.loaded.executable->signature().mesh, function.compiledFor);
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
  CompileOptions options =
      optionsFor(get().loaded.executable->signature().mesh, get().compiledFor);
  options.explain = &stream;
  check(compile(*get().source->module, options), "explain");
  // What is traced is called main, whatever its name.
  if (constexpr std::string_view traceName = "@main ";
      text.starts_with(traceName))
    text.replace(0, traceName.size(), "@" + name() + " ");
  return text;
}

std::vector<StageIR> ConcreteFunction::stages() const {
  Running running;
  std::vector<StageIR> stages;
  std::string traceText;
  ModuleOp module = *get().source->module;
  llvm::raw_string_ostream(traceText) << module;
  stages.push_back({"traced", std::move(traceText)});
  CompileOptions options =
      optionsFor(get().loaded.executable->signature().mesh, get().compiledFor);
  options.afterPass = [&](std::string_view pass, const std::string &ir) {
    stages.push_back({std::string(pass), ir});
  };
  check(compile(*get().source->module, options), "stages");
  return stages;
}

double ConcreteFunction::trace_time() const {
  return get().traceSeconds;
}
double ConcreteFunction::compile_time() const {
  return get().loaded.compileSeconds;
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

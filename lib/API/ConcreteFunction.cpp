// What a compiled function tells about itself.
#include "meshloom/API/ConcreteFunction.h"
#include "TracedFunction.h"

#include "meshloom/Compiler/Compiler.h"

#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <fmt/format.h>

#include <ostream>

namespace meshloom {
using namespace detail;

namespace {

ValueInfo infoOf(const Program &program, unsigned buffer, std::string name,
                 ValueInfo::Role role) {
  const BufferDecl &decl = program.buffers[buffer];
  return {std::move(name), decl.type, decl.shape, decl.layout, role};
}

struct Reread {
  std::unique_ptr<MLIRContext> context = makeContext();
  OwningOpRef<ModuleOp> module;
  explicit Reread(const std::string &text)
      : module(mlir::parseSourceString<ModuleOp>(
            text, mlir::ParserConfig(context.get()))) {
    assert(module && "a trace prints what can be read");
  }
};

CompileOptions optionsOf(const Settings &settings) {
  CompileOptions options;
  options.machine = *settings.machine;
  options.refine = settings.refine;
  return options;
}

} // namespace

const std::string &ConcreteFunction::name() const {
  return traced->name;
}

const Program &ConcreteFunction::program() const {
  return traced->loaded.executable->program();
}

std::vector<ValueInfo> ConcreteFunction::arguments() const {
  const Program &own = program();
  std::vector<ValueInfo> infos;
  for (size_t i = 0; i < own.arguments.size(); ++i) {
    const TraceArgument &argument = traced->arguments[i];
    ValueInfo::Role role = ValueInfo::Role::Argument;
    if (argument.kind == TraceArgument::Kind::Captured)
      role = ValueInfo::Role::Captured;
    if (argument.kind == TraceArgument::Kind::Variable)
      role = ValueInfo::Role::Variable;
    infos.push_back(infoOf(own, own.arguments[i].buffer, argument.name, role));
  }
  return infos;
}

std::vector<ValueInfo> ConcreteFunction::results() const {
  const Program &own = program();
  std::vector<ValueInfo> infos;
  for (size_t r = 0; r < own.results.size(); ++r) {
    const ProgramResult &result = own.results[r];
    bool isVariable = r >= traced->resultCount;
    infos.push_back(infoOf(
        own, result.buffer,
        isVariable
            ? traced->arguments[size_t(result.aliasedArgument)].variable->name
            : fmt::format("result{}", r),
        isVariable ? ValueInfo::Role::Variable : ValueInfo::Role::Result));
  }
  return infos;
}

std::vector<CollectiveInfo> ConcreteFunction::collectives() const {
  const Program &own = program();
  std::vector<CollectiveInfo> infos;
  // Those inside loops and branches too, each once.
  std::vector<const CollectiveStep *> all;
  auto collect = [&](auto &self, const std::vector<Step> &steps) -> void {
    for (const Step &step : steps) {
      if (auto *collective = std::get_if<CollectiveStep>(&step))
        all.push_back(collective);
      for (const std::vector<Step> *inner : nestedLists(step))
        self(self, *inner);
    }
  };
  collect(collect, own.steps);
  for (const CollectiveStep *collective : all) {
    if (collective->kind == CollectiveKind::Slice)
      continue;
    CollectiveInfo info;
    info.kind = collective->kind;
    for (unsigned axis : collective->axes)
      info.axes.push_back(own.mesh.axes()[axis].name);
    info.bytes = transferBytes(own.buffers, *collective);
    info.bytes_sent = bytesSent(collective->kind, info.bytes,
                                groupSize(own.mesh, collective->axes));
    info.tensors = int64_t(collective->moves.size());
    info.reason = collective->reason;
    info.location = collective->note.location;
    infos.push_back(std::move(info));
  }
  return infos;
}

std::string ConcreteFunction::explain() const {
  Reread read(traced->text);
  std::string text;
  llvm::raw_string_ostream stream(text);
  CompileOptions options = optionsOf(traced->compiledFor);
  options.explain = &stream;
  check(compile(*read.module, options), "explain");
  return text;
}

std::vector<StageIR> ConcreteFunction::stages() const {
  Reread read(traced->text);
  std::vector<StageIR> stages;
  std::string traceText;
  llvm::raw_string_ostream(traceText) << *read.module;
  stages.push_back({"traced", std::move(traceText)});
  CompileOptions options = optionsOf(traced->compiledFor);
  options.afterPass = [&](std::string_view pass, const std::string &ir) {
    stages.push_back({std::string(pass), ir});
  };
  check(compile(*read.module, options), "stages");
  return stages;
}

double ConcreteFunction::trace_time() const {
  return traced->traceSeconds;
}
double ConcreteFunction::compile_time() const {
  return traced->loaded.compileSeconds;
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a compiled function, see TracedFunction.h.
#include "meshloom/Engine/TracedFunction.h"
#include "meshloom/Engine/CollectiveLimits.h"
#include "meshloom/Engine/Running.h"
#include "meshloom/Engine/Tape.h"
#include "meshloom/Engine/Transfers.h"

#include "meshloom/Autodiff/Autodiff.h"
#include "meshloom/Core/DebugPrint.h"
#include "meshloom/Dialect/DTensor/Callback.h"
#include "meshloom/Runtime/Communicator.h"

#include "mlir/IR/IRMapping.h"

#include <fmt/format.h>

#include <atomic>

namespace meshloom::detail {

static int64_t nextId() {
  static std::atomic<int64_t> last;
  return ++last;
}

/// The program of a trace like this one: equal traces have one.
static std::shared_ptr<const DeviceProgram>
compiledOnce(Trace &trace, const Settings &settings, std::string_view name) {
  CacheKey key;
  key.text.assign(name);
  key.add(settings.generation);
  llvm::raw_string_ostream(key.text) << trace.moduleOp();
  for (const Mesh &mesh : trace.meshes())
    key.layouts.push_back(Layout::replicated(mesh, 0));
  return opCache()
      .find(std::move(key),
            [&] {
              return CompiledOp{DeviceProgram::compile(trace, settings, name),
                                {}};
            })
      ->program;
}

/// Returns whether a check of the user's may end the module's run.
static bool hasAssertions(ModuleOp module) {
  return module
      ->walk([](dtensor::CallbackOp callback) {
        return callback.getCallTargetName() == StringRef(assertTarget)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns whether a function in the module has a gradient that a user gives.
static bool hasRulesOfUser(ModuleOp module) {
  return module
      ->walk([](dtensor::CaseOp branch) {
        return branch->hasAttr(customGradientAttr)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

TracedFunction::TracedFunction(std::shared_ptr<Trace> trace, size_t resultCount,
                               std::shared_ptr<const void> skeleton,
                               double traceSeconds,
                               std::vector<TracedUpdate> itsUpdates)
    : name(trace->name()), id(nextId()), arguments(trace->arguments()),
      resultCount(resultCount), skeleton(std::move(skeleton)),
      traceSeconds(traceSeconds), compiledFor(settings()),
      meshes(trace->meshes()), updates(std::move(itsUpdates)) {
  tapeLinks = trace->tapeLinks;
  isSpread = trace->isSpread();
  hasUserGradients = hasRulesOfUser(trace->moduleOp());
  program = trace->reusable ? compiledOnce(*trace, compiledFor, name)
                            : DeviceProgram::compile(*trace, compiledFor, name);
  keepsOldValues = compiledFor.checkNumerics ||
                   hasAssertions(trace->moduleOp()) || program->callsUser();
  source = trace->takeModule();
  const std::vector<int64_t> &aliases = program->aliases();
  assert(program->argumentTypes().size() == arguments.size() &&
         "a program keeps its function's arguments");
  size_t returned = resultCount;
  for (TracedUpdate &update : updates) {
    returned += update.operandCount;
    update.operands.clear(); // values of the trace, which has ended
  }
  for (size_t r = returned; r < aliases.size(); ++r) {
    assert(aliases[r] >= 0 && "results beyond the explicit ones are variables");
    assigned.push_back(size_t(aliases[r]));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == TraceArgument::Kind::Explicit)
      arguments[i].tensor = Tensor(); // the first call's, not to be kept alive
    if (arguments[i].kind != TraceArgument::Kind::Variable)
      continue;
    const DVariable variable = DVariable::internalFrom(arguments[i].variable);
    if (const RemoteVariable *policy = remoteOf(variable)) {
      remote[policy->store.get()].first.push_back(variable);
      remote[policy->store.get()].second.push_back(i);
    } else {
      variables.emplace_back(arguments[i].variable.get(), i);
    }
  }
  llvm::sort(variables,
             [](auto &a, auto &b) { return a.first->id < b.first->id; });
}

void TracedFunction::Deleter::operator()(const TracedFunction *function) const {
  inWholeThread([&] {
    const Running running;
    delete function;
  });
}

bool TracedFunction::fits(std::span<const Tensor> inputs) const {
  return llvm::all_of(tapeLinks, [&](const TapeLink &link) {
    return link.fits(inputs[link.argument]);
  });
}

void TracedFunction::giveBack(VariableState &variable, Array value,
                              const Error &failure) const {
  if (value)
    if (Result<Array> back = movedTo(std::move(value), variable.type.layout)) {
      variable.array = std::move(*back);
      return;
    }
  variable.lost = fmt::format("updating it in '{}' failed with: {}", name,
                              failure.message());
}

void TracedFunction::assignVariables(std::vector<Array> &values) const {
  const size_t returned = values.size() - assigned.size();
  for (size_t r = 0; r < assigned.size(); ++r) {
    VariableState &variable = *arguments[assigned[r]].variable;
    // Two meshes of the user's may differ in name alone.
    Array &value = values[returned + r];
    if (value.type() != variable.type)
      value = std::move(value).as(variable.type);
    if (!variable.home)
      variable.array = std::move(value);
  }
  // A value that does not fit at home leaves the old one, which is still there.
  for (size_t r = 0; r < assigned.size(); ++r)
    if (VariableState &variable = *arguments[assigned[r]].variable;
        variable.home)
      variable.array = stored(variable, std::move(values[returned + r]), name);
}

std::vector<Tensor>
TracedFunction::takeResults(std::vector<Array> &values) const {
  std::vector<Tensor> results;
  results.reserve(resultCount);
  for (size_t r = 0; r < resultCount; ++r)
    results.push_back(wrapResult(std::move(values[r])));
  size_t next = resultCount;
  for (const TracedUpdate &update : updates) {
    std::vector<Tensor> operands;
    operands.reserve(update.operandCount);
    for (size_t i = 0; i < update.operandCount; ++i)
      operands.push_back(wrapResult(std::move(values[next++])));
    update.store->update(update.program, operands);
  }
  return results;
}

std::vector<Tensor> TracedFunction::run(std::span<const Tensor> inputs) const {
  std::vector<Array> arrays(arguments.size());
  auto taken = [&](const Array &array, bool host) {
    // Where there are several sets of devices, it comes to where it is used.
    return host && !isSpread ? onMesh(array, meshes.front(), name) : array;
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const TraceArgument &argument = arguments[i];
    if (argument.kind == TraceArgument::Kind::Variable)
      continue;
    const TensorNode &node = argument.kind == TraceArgument::Kind::Explicit
                                 ? *inputs[i].internal()
                                 : *argument.tensor.internal();
    arrays[i] = taken(node.array, node.host);
  }

  bool recording = isRecording();
  std::vector<Tensor> variableValues(recording ? arguments.size() : 0);
  for (const auto &[store, used] : remote) {
    const std::vector<Tensor> values = store->read(used.first);
    for (size_t i = 0; i < values.size(); ++i) {
      arrays[used.second[i]] = taken(values[i].internal()->array, true);
      if (recording)
        variableValues[used.second[i]] = values[i];
    }
  }

  // A variable is moved in where it gets a new value, so that the runtime may
  // hold its only reference and update it in place.
  std::vector<std::unique_lock<std::mutex>> locks;
  locks.reserve(variables.size());
  for (auto [variable, argument] : variables) {
    locks.emplace_back(variable->mutex);
  }
  auto isMovedIn = [&](size_t argument) {
    return arguments[argument].assigned && !keepsOldValues &&
           !arguments[argument].variable->home;
  };
  bool movesAny = false;
  for (auto [variable, argument] : variables) {
    Array value = valueOf(*variable, name); // throws where it is lost
    if (recording)
      variableValues[argument] = wrap(value, variable->host);
    const bool moves = isMovedIn(argument);
    movesAny |= moves;
    arrays[argument] = moves ? std::move(value) : taken(value, variable->host);
  }
  // A variable keeps its value where the call is refused.
  bool isMoved = false;
  auto giveUpMoved = [&] {
    isMoved = true;
    for (auto [variable, argument] : variables)
      if (isMovedIn(argument))
        variable->array = Array();
  };
  const CollectiveTimeout limit(collectiveTimeoutOf(*source->module));
  Result<std::vector<Array>> out =
      movesAny ? program->execute(std::move(arrays), std::ref(giveUpMoved))
               : program->execute(std::move(arrays));
  if (!out) {
    // A program that has begun has taken the whole list.
    arrays.resize(arguments.size());
    for (size_t argument : assigned)
      if (isMoved && isMovedIn(argument))
        giveBack(*arguments[argument].variable, std::move(arrays[argument]),
                 out.error());
    fail(name, out.error());
  }
  assignVariables(*out);
  locks.clear();

  std::vector<Tensor> results = takeResults(*out);
  if (recording)
    record(inputs, variableValues, results);
  return results;
}

void TracedFunction::record(std::span<const Tensor> inputs,
                            const std::vector<Tensor> &variableValues,
                            const std::vector<Tensor> &results) const {
  OpCall call;
  call.name = "function";
  call.mixesDevices = true;
  for (size_t i = 0; i < arguments.size(); ++i)
    switch (arguments[i].kind) {
    case TraceArgument::Kind::Explicit:
      call.operands.push_back(inputs[i]);
      break;
    case TraceArgument::Kind::Captured:
      call.operands.push_back(arguments[i].tensor);
      break;
    case TraceArgument::Kind::Variable:
      recordRead(arguments[i].variable, variableValues[i]);
      call.operands.push_back(variableValues[i]);
      break;
    }
  call.context = source->context;
  call.hasUserGradients = hasUserGradients;
  call.setRecorded(
      std::to_string(id),
      [source = source](Emitter &emitter, ArrayRef<Value> operands) {
        return inlineFunction(emitter, *source, operands);
      });
  recordOp(call, results);
}

SmallVector<Value> inlineFunction(Emitter &emitter, const TracedModule &source,
                                  ArrayRef<Value> operands) {
  assert(emitter.getContext() == source.context.get() &&
         "ops are cloned within their context");
  // A copy: reads are moved in it.
  ModuleOp original = *source.module;
  OwningOpRef<ModuleOp> copy = original.clone();
  auto function = *copy->getOps<mlir::func::FuncOp>().begin();
  mlir::IRMapping mapping;
  DenseMap<Value, Value> variables; ///< argument -> value now
  for (auto [argument, operand] :
       llvm::zip_equal(function.getArguments(), operands)) {
    mapping.map(argument, operand);
    variables[argument] = operand;
  }
  // Reads in loops and branches come before them.
  auto readBefore = [&](Operation &op) {
    op.walk([&](dtensor::AssignVariableOp assign) {
      std::string where;
      llvm::raw_string_ostream(where) << op.getLoc();
      fail("gradient",
           fmt::format("'{}' at {} has no gradient: it assigns a variable; "
                       "carry the value, and assign it afterwards",
                       std::string_view(op.getName().getStringRef()), where));
    });
    op.walk([&](dtensor::ReadVariableOp read) {
      auto before = OpBuilder(&op).create<dtensor::ReadVariableOp>(
          read.getLoc(), read.getType(), read.getVariable());
      mapping.map(before.getResult(), variables.lookup(read.getVariable()));
      read.getResult().replaceAllUsesWith(before.getResult());
      read.erase();
    });
  };
  SmallVector<Value> results;
  for (Operation &op : function.getBody().front()) {
    if (op.getNumRegions())
      readBefore(op);
    if (auto read = dyn_cast<dtensor::ReadVariableOp>(op))
      mapping.map(read.getResult(), variables.lookup(read.getVariable()));
    else if (auto assign = dyn_cast<dtensor::AssignVariableOp>(op))
      variables[assign.getVariable()] = mapping.lookup(assign.getValue());
    else if (isa<mlir::func::ReturnOp>(op))
      for (Value value : op.getOperands())
        results.push_back(mapping.lookup(value));
    else
      emitter.clone(op, mapping);
  }
  return results;
}

} // namespace meshloom::detail

// Running a compiled function, see TracedFunction.h.
#include "TracedFunction.h"
#include "CollectiveLimits.h"
#include "Tape.h"

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

/// The program of a module like this one: equal modules have one.
static Loaded loadedOnce(ModuleOp module, const Mesh &mesh,
                         const Settings &settings, std::string_view name) {
  CacheKey key;
  key.text.assign(name);
  key.add(settings.generation);
  llvm::raw_string_ostream(key.text) << module;
  key.layouts.push_back(Layout::replicated(mesh, 0));
  Loaded loaded;
  loaded.executable =
      opCache()
          .find(std::move(key),
                [&] {
                  loaded = compileAndLoad(module, mesh, settings, name);
                  return CompiledOp{loaded.executable, {mesh}, {}};
                })
          ->executable;
  return loaded;
}

/// Whether a check of the user's may end the module's run.
static bool hasAssertions(ModuleOp module) {
  return module
      ->walk([](dtensor::CallbackOp callback) {
        return callback.getCallTargetName() == StringRef(assertTarget)
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
  const Mesh &first = meshes.front();
  checksValues = compiledFor.checkNumerics || hasAssertions(trace->moduleOp());
  loaded = trace->reusable
               ? loadedOnce(trace->moduleOp(), first, compiledFor, name)
               : compileAndLoad(trace->moduleOp(), first, compiledFor, name);
  source = trace->takeModule();
  const Signature &signature = loaded.executable->signature();
  assert(signature.arguments.size() == arguments.size() &&
         "a program keeps its function's arguments");
  size_t returned = resultCount;
  for (TracedUpdate &update : updates) {
    returned += update.operandCount;
    update.operands.clear(); // values of the trace, which has ended
  }
  for (size_t r = returned; r < signature.results.size(); ++r) {
    assert(signature.results[r].aliasedArgument >= 0 &&
           "results beyond the explicit ones are variables");
    assigned.push_back(size_t(signature.results[r].aliasedArgument));
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

std::vector<Tensor> TracedFunction::run(std::span<const Tensor> inputs) const {
  std::vector<Array> arrays(arguments.size());
  auto taken = [&](const Array &array, bool host) {
    return host ? onMesh(array, meshes.front(), name) : array;
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
    if (!variable->array)
      fail(name, fmt::format("variable '{}' has lost its value: {}",
                             variable->name, variable->lost));
    if (recording)
      variableValues[argument] = wrap(variable->array, variable->host);
  }
  // What checks values keeps the old ones: no update is in place, and a failure
  // changes nothing.
  const bool keeping = checksValues;
  auto isMovedIn = [&](size_t argument) {
    return arguments[argument].assigned && !keeping;
  };
  for (auto [variable, argument] : variables)
    if (!isMovedIn(argument)) // may throw: before any value is moved
      arrays[argument] = taken(variable->array, variable->host);
  for (auto [variable, argument] : variables)
    if (isMovedIn(argument))
      arrays[argument] = std::move(variable->array);
  const CollectiveTimeout limit(collectiveTimeoutOf(*source->module));
  Result<std::vector<Array>> out =
      execute(loaded.executable, meshes, std::move(arrays));
  if (!out) {
    for (size_t argument : assigned)
      if (VariableState &variable = *arguments[argument].variable; !keeping) {
        variable.array = Array();
        variable.lost = fmt::format("updating it in '{}' failed with: {}", name,
                                    out.error().message());
      }
    fail(name, out.error().message());
  }
  const size_t returned = out->size() - assigned.size();
  for (size_t r = 0; r < assigned.size(); ++r) {
    VariableState &variable = *arguments[assigned[r]].variable;
    // Two meshes of the user's may differ in name alone.
    Array &value = (*out)[returned + r];
    variable.array = value.type() == variable.type
                         ? std::move(value)
                         : std::move(value).as(variable.type);
  }
  locks.clear();

  bool host = meshes.front() == hostMesh();
  std::vector<Tensor> results;
  results.reserve(resultCount);
  for (size_t r = 0; r < resultCount; ++r)
    results.push_back(wrap(std::move((*out)[r]), host));
  size_t next = resultCount;
  for (const TracedUpdate &update : updates) {
    std::vector<Tensor> operands;
    operands.reserve(update.operandCount);
    for (size_t i = 0; i < update.operandCount; ++i)
      operands.push_back(wrap(std::move((*out)[next++]), host));
    update.store->update(update.program, operands);
  }
  if (recording)
    record(inputs, variableValues, results);
  return results;
}

void TracedFunction::record(std::span<const Tensor> inputs,
                            const std::vector<Tensor> &variableValues,
                            const std::vector<Tensor> &results) const {
  OpCall call;
  call.name = "function";
  call.mixesMeshes = true;
  call.extraKey = std::to_string(id);
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
  call.body = [source = source](Emitter &emitter, ArrayRef<Value> operands) {
    return inlineFunction(emitter, *source, operands);
  };
  recordOp(call, results);
}

SmallVector<Value> inlineFunction(Emitter &emitter, const TracedModule &source,
                                  ArrayRef<Value> operands) {
  assert(emitter.builder.getContext() == source.context.get() &&
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
      emitter.builder.clone(op, mapping);
  }
  return results;
}

} // namespace meshloom::detail

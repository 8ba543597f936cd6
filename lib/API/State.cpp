// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads' state, clients, settings and the small accessors of Node.h.
#include "Devices.h"
#include "Node.h"
#include "Processes.h"
#include "SharedValues.h"
#include "Trace.h"

#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/ConcreteFunction.h"
#include "meshloom/API/Errors.h"
#include "meshloom/API/NameScope.h"
#include "meshloom/Core/ThreadLocal.h"
#include "meshloom/Runtime/Platform.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace meshloom::detail {

const std::shared_ptr<Trace> &ThreadState::trace() const {
  static const auto &none = *new std::shared_ptr<Trace>;
  return traces.empty() ? none : traces.back();
}

ThreadState &threadState() {
  return threadLocal<ThreadState>();
}

CallSite::CallSite(const std::source_location &where)
    : isOutermost(!threadState().callSite) {
  if (isOutermost)
    threadState().callSite = where;
}
CallSite::~CallSite() {
  if (isOutermost)
    threadState().callSite.reset();
}

CallName::CallName(std::string_view function)
    : isOutermost(!threadState().callName) {
  if (isOutermost)
    threadState().callName = function;
}
CallName::~CallName() {
  if (isOutermost)
    threadState().callName.reset();
}

std::string_view callNameOr(std::string_view function) {
  return threadState().callName.value_or(function);
}

/// Whether the line is in the sources of this library.
static bool isOwn(const std::source_location &where) {
  // This file is lib/API/State.cpp: what is before its folder are all.
  static constexpr std::string_view here =
      std::source_location::current().file_name();
  static constexpr size_t end = here.rfind("API/");
  return end != std::string_view::npos &&
         std::string_view(where.file_name()).starts_with(here.substr(0, end));
}

UserLine::UserLine(const std::source_location &where)
    : around(threadState().userLine) {
  if (!isOwn(where))
    threadState().userLine = where;
}
UserLine::~UserLine() {
  threadState().userLine = around;
}

/// "train.cpp:41".
static std::string placeText(const std::source_location &line) {
  return fmt::format("{}:{}", line.file_name(), line.line());
}

void rethrowAt(const std::source_location &where) {
  try {
    throw;
  } catch (const Error &error) {
    const std::source_location line = callSiteOr(where);
    // The text of an exception class of the user's is the user's.
    if (!error.place().empty() || isOwn(line) || !error.isOfCodeClass())
      throw;
    error.atPlace(placeText(line)).raise();
  }
}

std::source_location callSiteOr(const std::source_location &where) {
  const ThreadState &state = threadState();
  if (state.callSite)
    return *state.callSite;
  return state.userLine && isOwn(where) ? *state.userLine : where;
}

void fail(std::string_view op, const std::string &message,
          const std::source_location *where) {
  fail(op, Error(message), where);
}

void fail(std::string_view op, const Error &error,
          const std::source_location *where) {
  const std::string &message = error.message();
  std::optional<std::source_location> line;
  if (where)
    line = callSiteOr(*where);
  else if (threadState().callSite)
    line = threadState().callSite;
  else
    line = threadState().userLine;
  std::string text = message.starts_with('[')
                         ? message
                         : fmt::format("[{}] {}", callNameOr(op), message);
  const std::vector<std::string> &scopes = threadState().scopes;
  std::string part = scopes.empty() ? "" : " in " + scopes.back();
  if (!line && !part.empty() && !message.starts_with('['))
    text += fmt::format(" ({})", part.substr(1));
  // After the run has failed, every error comes of that.
  const ErrorCode code =
      error.code() != ErrorCode::DEADLINE_EXCEEDED && hasRunFailed()
          ? ErrorCode::UNAVAILABLE
          : error.code();
  const Error failure(std::move(text), code);
  (line ? failure.atPlace(placeText(*line), part) : failure).raise();
}

const Mesh &hostMesh() {
  // Never destroyed, like all that a thread may use while the process ends.
  static const Mesh &mesh = *new Mesh([] {
    MeshOptions options;
    options.name = "host";
    return *Mesh::get({{"d", 1}}, options);
  }());
  return mesh;
}

std::shared_ptr<Platform> platformFor(const Mesh &mesh) {
  return platformOf(mesh.device_type(), "create_mesh");
}

namespace {
/// Held for good: eager programs and variables come and go.
struct Clients {
  std::mutex mutex;
  /// By their devices, and whether other processes have some too.
  std::map<std::tuple<Platform *, std::vector<int64_t>, bool>,
           std::shared_ptr<Client>>
      held;
  std::string first; ///< device that was used
};
Clients &clients() {
  static Clients &clients = *new Clients;
  return clients;
}
} // namespace

std::shared_ptr<Client> clientFor(const Mesh &mesh) {
  std::shared_ptr<Platform> on = platformFor(mesh);
  std::vector<int64_t> numbers = mesh.assignment().localDeviceNumbers();
  std::lock_guard lock(clients().mutex);
  std::shared_ptr<Client> &client =
      clients().held[{on.get(), numbers, spansProcesses(mesh)}];
  if (!client) {
    client = check(on->client(numbers, processesOf(mesh)), "create_mesh");
    if (clients().first.empty())
      clients().first = fmt::format("{}:{}", mesh.device_type(),
                                    numbers.empty() ? 0 : numbers.front());
  }
  return client;
}

std::string firstUsedDevice() {
  std::lock_guard lock(clients().mutex);
  return clients().first;
}

Tensor wrap(Array array, bool host) {
  auto node = std::make_shared<TensorNode>();
  node->shape = array.shape();
  node->dtype = array.dtype();
  node->array = std::move(array);
  node->host = host;
  return Tensor::internalFrom(std::move(node));
}

Tensor wrapResult(Array array) {
  const bool host = array.layout().mesh() == hostMesh();
  return wrap(std::move(array), host);
}

TensorNode &nodeOf(const Tensor &tensor, std::string_view op,
                   const std::source_location *where) {
  const std::shared_ptr<TensorNode> &node = tensor.internal();
  if (!node)
    fail(op, "expected a tensor, got an empty Tensor: give it a value first",
         where);
  if (node->trace && node->trace != threadState().trace())
    fail(op,
         node->trace->active()
             ? fmt::format("expected a tensor of the trace in progress, got {} "
                           "of the trace of '{}': return it from that function",
                           typeText(node->dtype, node->shape),
                           node->trace->name())
             : fmt::format(
                   "expected a value, got {} of the trace of '{}', which has "
                   "ended: return it from the function instead of keeping it",
                   typeText(node->dtype, node->shape), node->trace->name()),
         where);
  return *node;
}

const std::shared_ptr<VariableState> &
stateOf(const DVariable &variable, std::string_view op,
        const std::source_location *where) {
  if (!variable.defined())
    fail(op,
         "expected a variable, got an empty DVariable: make it from an initial "
         "value; one that was moved from is empty, too",
         where);
  return variable.internal();
}

const Array &arrayOf(const Tensor &tensor, std::string_view op) {
  TensorNode &node = nodeOf(tensor, op);
  if (node.trace)
    fail(op, fmt::format("{} is a value of the trace of '{}', which has no "
                         "value yet: return it from the function first",
                         typeText(node.dtype, node.shape), node.trace->name()));
  return node.array;
}

Array onMesh(const Array &array, const Mesh &mesh, std::string_view op,
             const std::source_location *where) {
  if (array.layout().mesh() == mesh)
    return array;
  ArrayType type{array.dtype(), array.shape(),
                 Layout::replicated(mesh, unsigned(array.shape().size()))};
  return placedFromHost(type, check(array.toHost(), op), Placing::Needed, op,
                        where);
}

HostBytes bytesOf(const Tensor &tensor, std::string_view op) {
  return check(arrayOf(tensor, op).toHost(), op);
}

std::string shapeText(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}
std::string typeText(DType type, const Shape &shape) {
  return fmt::format("{} {}", meshloom::name(type), shapeText(shape));
}
std::string meshText(const Mesh &mesh) {
  std::vector<std::string> axes;
  for (const MeshAxis &axis : mesh.axes())
    axes.push_back(fmt::format("{}={}", axis.name, axis.size));
  return fmt::format("{}[{}]", mesh.name().empty() ? "mesh" : mesh.name(),
                     fmt::join(axes, ", "));
}

bool onSameDevices(const Mesh &mesh, const Mesh &other) {
  if (mesh == other)
    return true;
  const DeviceAssignment &own = mesh.assignment(), &its = other.assignment();
  return own.deviceType == its.deviceType && own.ids == its.ids &&
         own.localIds == its.localIds &&
         own.globalDevices == its.globalDevices &&
         own.localDeviceNumbers() == its.localDeviceNumbers();
}

std::string devicesText(const Mesh &mesh) {
  constexpr size_t most = 8;
  if (spansProcesses(mesh))
    return fmt::format("{} on devices of {} processes", meshText(mesh),
                       processes("mesh").group.size);
  std::vector<int64_t> numbers = mesh.assignment().localDeviceNumbers();
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(most, numbers.size()); ++i)
    names.push_back(fmt::format("{}:{}", mesh.device_type(), numbers[i]));
  return fmt::format("{} on {}{}", meshText(mesh), fmt::join(names, ", "),
                     numbers.size() > most ? ", ..." : "");
}

namespace {
struct SharedSettings {
  std::mutex mutex;
  Settings value{
      std::make_shared<MachineModel>(*MachineModel::preset("shared-memory")),
      true, false, 0};
};
SharedSettings &sharedSettings() {
  static SharedSettings &shared = *new SharedSettings;
  return shared;
}
/// Whether this thread is in a CheckNumericsScope.
thread_local bool checksNumerics = false;
} // namespace

Settings settings() {
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  Settings now = shared.value;
  // What is compiled in a scope and outside of it are different programs.
  now.generation = 2 * now.generation + int64_t(checksNumerics);
  now.checkNumerics |= checksNumerics;
  return now;
}

} // namespace meshloom::detail

namespace meshloom {
using namespace detail;

CheckNumericsScope::CheckNumericsScope()
    : before(std::exchange(checksNumerics, true)) {}
CheckNumericsScope::~CheckNumericsScope() {
  checksNumerics = before;
}

void set_machine_model(MachineModel machine, bool refine) {
  check(machine.verify(), "set_machine_model");
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  shared.value.machine = std::make_shared<MachineModel>(std::move(machine));
  shared.value.refine = refine;
  ++shared.value.generation;
}

void set_machine_model(std::string_view preset, bool refine) {
  set_machine_model(check(MachineModel::preset(preset), "set_machine_model"),
                    refine);
}

MachineModel get_machine_model() {
  return *settings().machine;
}

void enable_op_determinism(bool enable) {
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  shared.value.deterministic = enable;
  ++shared.value.generation;
}

void enable_check_numerics(bool enable) {
  SharedSettings &shared = sharedSettings();
  std::lock_guard lock(shared.mutex);
  shared.value.checkNumerics = enable;
  ++shared.value.generation;
}

} // namespace meshloom

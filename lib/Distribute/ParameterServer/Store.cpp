// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reaching the parameter servers, see Store.h.
#include "Store.h"

#include "meshloom/API/Create.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/API/Ops.h"
#include "meshloom/Distribute/ParameterServer/ClusterCoordinator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>

namespace meshloom::detail::ps {

using Kind = FunctionParts::Argument::Kind;

/// Where the variable is; throws where it is not on these servers.
static const ServerVariable &placeOf(const DVariable &variable,
                                     const VariableStore &store) {
  const auto *place = dynamic_cast<const ServerVariable *>(remoteOf(variable));
  if (!place || place->store.get() != &store)
    Error(fmt::format("[schedule] variable '{}' is not on the parameter "
                      "servers of this strategy: make it in its scope",
                      variable.name()),
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  return *place;
}

ServerVariable::~ServerVariable() {
  static_cast<const Store &>(*store).drop(*this);
}

void failUnavailable(const std::string &failure) {
  throw UnavailableError(fmt::format(
      "[ClusterCoordinator] {}. Its variables are lost: start it again, create "
      "the strategy and the model again, and restore the newest checkpoint",
      failure));
}

Store::Store(const ClusterSpec &cluster, Partitioner partitioner,
             const Access &access)
    : cluster(cluster), partitioner(std::move(partitioner)),
      session(drawNumber()) {
  auto peersOf = [&](const std::string &job) {
    std::vector<std::unique_ptr<Peer>> peers;
    for (int64_t index : cluster.task_indices(job))
      peers.push_back(std::make_unique<Peer>(
          str(TaskId{job, index}), cluster.task_address(job, index), access));
    return peers;
  };
  servers = peersOf("ps");
  workers = peersOf("worker");
}

/// Waits for all servers side by side. One that was there and is gone fails the
/// start at once: it will not hold what it is given.
void Store::waitForServers(double timeoutSeconds) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::vector<bool> wasThere(servers.size());
  while (true) {
    std::optional<uint64_t> missing;
    for (uint64_t server = 0; server < servers.size(); ++server) {
      const bool isThere = servers[server]->isConnected();
      if (wasThere[server] && !isThere)
        failUnavailable(fmt::format("Unavailable: {} was lost at the start",
                                    servers[server]->text()));
      wasThere[server] = isThere;
      if (!isThere && !missing)
        missing = server;
    }
    if (!missing)
      return;
    const std::chrono::duration<double> waited = Clock::now() - begin;
    if (waited.count() > timeoutSeconds)
      throw UnavailableError(fmt::format(
          "[ParameterServerStrategy] {} did not come up within {} s: start it "
          "with Server(cluster, \"ps\", {}); all tasks use TLS, with "
          "certificates of one authority, or none does",
          servers[*missing]->text(), timeoutSeconds, *missing));
  }
}

void Store::begin(double timeoutSeconds) {
  // Servers know from the first moment on that they are not alone: they wait
  // no longer than this process does for a coordinator.
  presences.reserve(servers.size() + workers.size());
  for (const auto *peers : {&servers, &workers})
    for (const std::unique_ptr<Peer> &peer : *peers)
      presences.push_back(std::make_unique<Presence>(*peer, session));
  waitForServers(timeoutSeconds);
  for (uint64_t server = 0; server < servers.size(); ++server) {
    MessageWriter out;
    out.put(session);
    grpc::ByteBuffer answer;
    ask(server, Method::Begin, out.finish(), answer);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void Store::fail(uint64_t server, const grpc::Status &status) const {
  const std::string text =
      fmt::format("{}: {}", servers[server]->text(), status.error_message());
  if (isLost(status) || status.error_code() == unknownSession)
    failUnavailable("Unavailable: " + text);
  Error(fmt::format("[ParameterServerStrategy] {}", text)).raise();
}

grpc::Status Store::tryTo(uint64_t server, Method method,
                          const grpc::ByteBuffer &frame,
                          grpc::ByteBuffer &answer) const {
  return servers[server]->call(method, frame, answer);
}

void Store::ask(uint64_t server, Method method, const grpc::ByteBuffer &frame,
                grpc::ByteBuffer &answer) const {
  if (grpc::Status status = tryTo(server, method, frame, answer); !status.ok())
    fail(server, status);
}

std::vector<Tensor> Store::read(const std::vector<DVariable> &variables) const {
  std::map<uint64_t, std::vector<size_t>> byServer;
  for (size_t i = 0; i < variables.size(); ++i)
    byServer[placeOf(variables[i], *this).server].push_back(i);
  std::vector<Tensor> values(variables.size());
  for (const auto &[server, places] : byServer) {
    MessageWriter out;
    out.put(session);
    out.put(uint64_t(places.size()));
    for (size_t i : places)
      out.put(placeOf(variables[i], *this).number);
    grpc::ByteBuffer answer;
    ask(server, Method::Read, out.finish(), answer);
    MessageReader in(answer);
    if (in.count() != places.size())
      Error("[ParameterServerStrategy] expected one value for each variable")
          .raise();
    for (size_t i : places)
      values[i] = in.tensor();
  }
  return values;
}

void Store::write(const DVariable &variable, const Tensor &value) const {
  const ServerVariable &place = placeOf(variable, *this);
  MessageWriter out;
  out.put(session);
  out.put(place.number);
  out.put(value);
  grpc::ByteBuffer answer;
  ask(place.server, Method::Write, out.finish(), answer);
}

void Store::update(const std::shared_ptr<const TracedFunction> &function,
                   const std::vector<Tensor> &operands) const {
  const std::shared_ptr<const Program> compiled = program(function);
  auto frame = [&] {
    MessageWriter out;
    out.put(session);
    out.put(uint64_t(1));
    out.put(compiled->hash);
    out.put(uint64_t(compiled->parts.arguments.size()));
    size_t next = 0;
    for (const FunctionParts::Argument &argument : compiled->parts.arguments)
      if (argument.kind == Kind::Explicit) {
        out.put(uint64_t(0));
        out.put(operands[next++]);
      } else {
        putFixed(out, argument);
      }
    return out.finish();
  };
  grpc::ByteBuffer answer;
  grpc::Status status =
      tryTo(compiled->server, Method::Update, frame(), answer);
  if (status.error_code() == unknownProgram) {
    grpc::ByteBuffer none;
    ask(compiled->server, Method::Load, loading(*compiled), none);
    status = tryTo(compiled->server, Method::Update, frame(), answer);
  }
  if (!status.ok())
    fail(compiled->server, status);
}

void Store::drop(const ServerVariable &variable) const {
  MessageWriter out;
  out.put(session);
  out.put(variable.number);
  grpc::ByteBuffer answer;
  // A server that is gone has dropped it.
  (void)servers[variable.server]->call(Method::Drop, out.finish(), answer, 1);
}

//===----------------------------------------------------------------------===//
// Making variables
//===----------------------------------------------------------------------===//

DVariable Store::place(const NextVariable &next, const Tensor &initial,
                       VariableOptions options, uint64_t server) {
  const DVariable variable = next(initial, std::move(options));
  const uint64_t number = [&] {
    std::lock_guard lock(mutex);
    return ++nextNumber;
  }();
  MessageWriter out;
  out.put(session);
  out.put(number);
  out.put(initial);
  grpc::ByteBuffer answer;
  ask(server, Method::Create, out.finish(), answer);
  setPolicy(variable, std::make_shared<ServerVariable>(shared_from_this(),
                                                       server, number));
  dropStored(variable);
  return variable;
}

DVariable Store::make(const NextVariable &next, const Tensor &initial,
                      VariableOptions options) {
  if (options.layout)
    Error(fmt::format("[DVariable] a variable{} on a parameter server "
                      "has no layout: leave it out",
                      options.name.empty() ? "" : " '" + options.name + "'"))
        .raise();
  HostScope onHost;
  // Laid out over a mesh it would be no value that is sent as it is.
  const Tensor value = hostTensor(initial.dtype(), initial.shape(),
                                  bytesOf(initial, "DVariable"));
  // The server of the variable that it lies with.
  std::optional<DVariable> with = colocated();
  const std::vector<DVariable> withParts =
      with ? partsOf(*with) : std::vector<DVariable>();
  if (with && withParts.empty() && !remoteOf(*with))
    with.reset();
  std::vector<int64_t> rows;
  if (with && !withParts.empty() && with->shape() == initial.shape())
    for (const DVariable &part : withParts)
      rows.push_back(part.shape().front());
  else if (!with)
    rows = detail::rowsOfPartition(partitioner, value.shape(), value.dtype());
  auto serverOf = [&](size_t part) -> uint64_t {
    if (with)
      return placeOf(withParts.empty() ? *with
                                       : withParts[part % withParts.size()],
                     *this)
          .server;
    std::lock_guard lock(mutex);
    return nextServer++ % servers.size();
  };
  if (rows.size() < 2)
    return place(next, value, std::move(options), serverOf(0));

  const DVariable whole = next(value, options);
  std::vector<DVariable> parts;
  parts.reserve(rows.size());
  const std::vector<Tensor> values = split(value, rows, 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    VariableOptions partOptions = options;
    partOptions.name = fmt::format("{}/part_{}", whole.name(), i);
    parts.push_back(
        place(next, values[i], std::move(partOptions), serverOf(i)));
  }
  setPolicy(whole, std::make_shared<PartitionedVariable>(std::move(parts)));
  dropStored(whole);
  return whole;
}

void Store::expectTogether(const std::vector<DVariable> &variables) const {
  for (const DVariable &variable : variables) {
    const uint64_t first = placeOf(variables.front(), *this).server;
    if (placeOf(variable, *this).server != first)
      Error(fmt::format("[assign] '{}' is on another parameter server than "
                        "'{}', with which "
                        "it is updated: make it in a ColocationScope of that",
                        variable.name(), variables.front().name()))
          .raise();
  }
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

std::shared_ptr<const Program>
Store::program(const std::shared_ptr<const TracedFunction> &function) const {
  auto created = std::make_shared<Program>();
  created->parts = partsOf(*function);
  // Several threads may make it; the first one's is kept.
  auto existing = [&]() -> std::shared_ptr<const Program> {
    std::lock_guard lock(mutex);
    auto found = programs.find(created->parts.id);
    return found == programs.end() ? nullptr : found->second;
  };
  if (std::shared_ptr<const Program> found = existing())
    return found;
  created->bytes = serialize(*function);
  created->hash = hashOf(created->bytes, created->parts.checksNumerics);
  for (const std::shared_ptr<const TracedFunction> &update :
       created->parts.updates)
    created->updates.push_back(program(update));
  for (const FunctionParts::Argument &argument : created->parts.arguments)
    if (argument.kind == Kind::Variable && remoteOf(argument.variable))
      created->server = placeOf(argument.variable, *this).server;
    else if (argument.kind == Kind::Variable && argument.assigned)
      Error(fmt::format("[schedule] '{}' assigns variable '{}', which is of "
                        "this process: "
                        "make it in the scope of the strategy",
                        created->parts.name, argument.variable.name()))
          .raise();
  std::lock_guard lock(mutex);
  return programs.emplace(created->parts.id, created).first->second;
}

void Store::forgetPrograms() const {
  // Variables that end with them ask for the lock.
  decltype(programs) forgotten;
  std::lock_guard lock(mutex);
  forgotten.swap(programs);
}

grpc::ByteBuffer Store::loading(const Program &program) {
  MessageWriter out;
  out.put(program.hash);
  out.put(uint64_t(program.parts.checksNumerics));
  out.put(program.bytes);
  return out.finish();
}

void Store::loadUpdates(const Program &program, bool again) const {
  for (const std::shared_ptr<const Program> &update : program.updates) {
    const auto key = std::pair(update->server, update->hash);
    {
      std::lock_guard lock(mutex);
      if (!again && loaded.contains(key))
        continue;
    }
    grpc::ByteBuffer answer;
    ask(update->server, Method::Load, loading(*update), answer);
    std::lock_guard lock(mutex);
    loaded.insert(key);
  }
}

void Store::putFixed(MessageWriter &out,
                     const FunctionParts::Argument &argument) const {
  if (argument.kind == Kind::Variable) {
    out.put(uint64_t(1));
    out.put(placeOf(argument.variable, *this).number);
    return;
  }
  out.put(uint64_t(0));
  out.put(argument.captured);
}

grpc::ByteBuffer Store::peeking(const WorkerIteration &iteration) const {
  MessageWriter out;
  out.put(session);
  out.put(iteration.number);
  out.put(iteration.dataset->name);
  return out.finish();
}

grpc::ByteBuffer
Store::frameOf(std::span<const std::shared_ptr<const Program>> programs,
               std::span<const FunctionCall> calls,
               std::span<const TakenElement> taken,
               std::span<const uint64_t> ended) const {
  MessageWriter out;
  out.put(session);
  out.put(uint64_t(ended.size()));
  for (uint64_t iteration : ended)
    out.put(iteration);
  out.put(uint64_t(taken.size()));
  for (const TakenElement &element : taken) {
    out.put(element.iteration->number);
    out.put(element.iteration->dataset->name);
    out.put(element.signature);
  }
  out.put(uint64_t(calls.size()));
  for (size_t i = 0; i < calls.size(); ++i)
    putWork(out, *programs[i], calls[i], taken);
  return out.finish();
}

/// Which value of which element stands there; none: it is a value itself.
static std::optional<std::pair<size_t, size_t>>
placeOf(const Tensor &input, std::span<const TakenElement> taken) {
  for (size_t i = 0; i < taken.size(); ++i)
    for (size_t value = 0; value < taken[i].values.size(); ++value)
      if (taken[i].values[value].internal() == input.internal())
        return std::pair(i, value);
  return std::nullopt;
}

void Store::putWork(MessageWriter &out, const Program &program,
                    const FunctionCall &call,
                    std::span<const TakenElement> taken) const {
  out.put(program.hash);
  out.put(uint64_t(program.parts.arguments.size()));
  size_t next = 0;
  for (const FunctionParts::Argument &argument : program.parts.arguments) {
    if (argument.kind == Kind::Variable && remoteOf(argument.variable)) {
      const ServerVariable &place = placeOf(argument.variable, *this);
      out.put(uint64_t(1));
      out.put(place.server);
      out.put(place.number);
      continue;
    }
    if (argument.kind == Kind::Explicit) {
      const Tensor &input = call.inputs[next++];
      if (const auto element = placeOf(input, taken)) {
        out.put(uint64_t(2));
        out.put(uint64_t(element->first));
        out.put(uint64_t(element->second));
      } else {
        out.put(uint64_t(0));
        out.put(input);
      }
      continue;
    }
    out.put(uint64_t(0));
    out.put(argument.kind == Kind::Captured ? argument.captured
                                            : argument.variable.read_value());
  }
  out.put(uint64_t(program.parts.results));
  out.put(uint64_t(program.updates.size()));
  uint64_t result = program.parts.results;
  for (const std::shared_ptr<const Program> &update : program.updates) {
    out.put(update->server);
    out.put(update->hash);
    out.put(uint64_t(update->parts.arguments.size()));
    for (const FunctionParts::Argument &argument : update->parts.arguments)
      if (argument.kind == Kind::Explicit) {
        out.put(uint64_t(2));
        out.put(result++);
      } else {
        putFixed(out, argument);
      }
  }
}

} // namespace meshloom::detail::ps

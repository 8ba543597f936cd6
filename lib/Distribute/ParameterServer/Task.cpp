// What servers do, see Task.h. The frames, where `session` is the number of the
// coordinator that holds the variables:
//
//   Describe                                     -> start, job, index
//   Begin    session                             ->
//   Load     hash, whether numbers are checked, program ->
//   Create   session, number, value              ->
//   Read     session, numbers                    -> values
//   Write    session, number, value              ->
//   Drop     session, number                     ->
//   Update   session, updates                    ->
//   Run      session, hash, arguments, results, updates -> values
//
// An argument of an update is a value (0) or a variable's number (1); in Run
// also one of the program's results (2), and each update has its server in
// front. An argument of Run is a value (0) or a variable (1): its server and
// its number. A list has its length in front.
#include "Task.h"

#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/Core/Hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <random>

namespace meshloom::detail::ps {

std::string hashOf(std::string_view program, bool checksNumerics) {
  StableHash hash;
  hash.add(program);
  return fmt::format("{:016x}-{}{}", hash.value(), program.size(),
                     checksNumerics ? "-checked" : "");
}

uint64_t drawNumber() {
  std::random_device device;
  // Not 0, which stands for none.
  return (uint64_t(device()) << 32 | device()) | 1;
}

Task::Task(ClusterSpec cluster, TaskId id, std::string token)
    : cluster(std::move(cluster)), id(std::move(id)), token(std::move(token)),
      start(drawNumber()) {}

grpc::Status Task::call(Method method, const grpc::ByteBuffer &frame,
                        grpc::ByteBuffer &answered) {
  try {
    // The caller may be a thread of this process that runs a function.
    HostScope onHost;
    MessageReader in(frame);
    MessageWriter out;
    grpc::Status status = answer(method, in, out);
    if (status.ok())
      answered = out.finish();
    return status;
  } catch (const std::exception &error) {
    return {refused, shortened(error.what())};
  }
}

grpc::Status Task::answer(Method method, MessageReader &in,
                          MessageWriter &out) {
  switch (method) {
  case Method::Describe:
    in.end();
    out.put(start);
    out.put(id.type);
    out.put(uint64_t(id.index));
    return grpc::Status::OK;
  case Method::Begin:
    return begin(in);
  case Method::Load:
    return load(in);
  case Method::Create:
    return create(in);
  case Method::Read:
    return read(in, out);
  case Method::Write:
    return write(in);
  case Method::Drop:
    return drop(in);
  case Method::Update:
    return update(in);
  case Method::Run:
    return run(in, out);
  }
  return {refused, "there is no such method"};
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

grpc::Status Task::begin(MessageReader &in) {
  const uint64_t its = in.number();
  in.end();
  std::lock_guard lock(mutex);
  if (session != its)
    variables.clear();
  session = its;
  return grpc::Status::OK;
}

grpc::Status Task::expectSession(uint64_t its) {
  std::lock_guard lock(mutex);
  if (its != 0 && session == its)
    return grpc::Status::OK;
  return {unknownSession, session == 0
                              ? "it was started again, and holds no variables"
                              : "another coordinator has taken it over"};
}

Task::VariablePtr Task::variable(uint64_t number) {
  std::lock_guard lock(mutex);
  auto found = variables.find(number);
  if (found == variables.end())
    throw Error(fmt::format("[Server] there is no variable {}", number));
  return found->second;
}

grpc::Status Task::create(MessageReader &in) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  const uint64_t number = in.number();
  auto made = std::make_shared<Variable>();
  made->value = in.tensor();
  in.end();
  std::lock_guard lock(mutex);
  variables[number] = std::move(made);
  return grpc::Status::OK;
}

grpc::Status Task::read(MessageReader &in, MessageWriter &out) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  std::vector<VariablePtr> read(in.count());
  for (VariablePtr &each : read)
    each = variable(in.number());
  in.end();
  out.put(uint64_t(read.size()));
  for (const VariablePtr &each : read) {
    const Tensor value = [&] {
      std::lock_guard lock(each->mutex);
      return each->value;
    }();
    out.put(value);
  }
  return grpc::Status::OK;
}

grpc::Status Task::write(MessageReader &in) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  const VariablePtr written = variable(in.number());
  const Tensor value = in.tensor();
  in.end();
  std::lock_guard lock(written->mutex);
  if (value.dtype() != written->value.dtype() ||
      value.shape() != written->value.shape())
    throw Error("[Server] a variable keeps its type and shape");
  written->value = value;
  return grpc::Status::OK;
}

grpc::Status Task::drop(MessageReader &in) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  const uint64_t number = in.number();
  in.end();
  std::lock_guard lock(mutex);
  variables.erase(number);
  return grpc::Status::OK;
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

grpc::Status Task::load(MessageReader &in) {
  const std::string hash = in.text();
  const bool checksNumerics = in.number(2, "a flag") == 1;
  const std::string bytes = in.text();
  in.end();
  if (hashOf(bytes, checksNumerics) != hash)
    return {refused, "a program that is not the one that was announced"};
  if (program(hash))
    return grpc::Status::OK;
  std::optional<CheckNumericsScope> checking;
  if (checksNumerics)
    checking.emplace();
  auto loaded =
      std::make_shared<const SavedFunction>(parse_function(bytes, "program"));
  std::lock_guard lock(mutex);
  programs.emplace(hash, std::move(loaded));
  return grpc::Status::OK;
}

std::shared_ptr<const SavedFunction> Task::program(const std::string &hash) {
  std::lock_guard lock(mutex);
  auto found = programs.find(hash);
  return found == programs.end() ? nullptr : found->second;
}

grpc::Status Task::update(MessageReader &in) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  struct Update {
    std::shared_ptr<const SavedFunction> program;
    std::vector<Tensor> values;                ///< empty: a variable
    std::map<uint64_t, VariablePtr> variables; ///< in order of their numbers
    std::map<size_t, VariablePtr> at;          ///< by argument
  };
  // All of it is understood before any of it is done.
  std::vector<Update> updates(in.count());
  for (Update &update : updates) {
    const std::string hash = in.text();
    update.program = program(hash);
    if (!update.program)
      return {unknownProgram, hash};
    update.values.resize(in.count());
    for (size_t i = 0; i < update.values.size(); ++i) {
      if (in.number(2, "a kind of argument") == 0) {
        update.values[i] = in.tensor();
        continue;
      }
      const uint64_t number = in.number();
      update.at[i] = update.variables[number] = variable(number);
    }
    for (int64_t assigned : update.program->assigned_arguments())
      if (!update.at.contains(size_t(assigned)))
        throw Error("[Server] an update assigns what is no variable");
  }
  in.end();
  for (const Update &update : updates) {
    std::vector<std::unique_lock<std::mutex>> locks;
    locks.reserve(update.variables.size());
    for (const auto &[number, variable] : update.variables)
      locks.emplace_back(variable->mutex);
    std::vector<Tensor> arguments = update.values;
    for (const auto &[i, variable] : update.at)
      arguments[i] = variable->value;
    const std::vector<Tensor> results = (*update.program)(arguments);
    const std::vector<int64_t> assigned = update.program->assigned_arguments();
    // New values come last.
    const size_t first = results.size() - assigned.size();
    for (size_t i = 0; i < assigned.size(); ++i)
      update.at.at(size_t(assigned[i]))->value = results[first + i];
  }
  return grpc::Status::OK;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

uint64_t Task::parameterServers() const {
  return cluster.has_job("ps") ? uint64_t(cluster.num_tasks("ps")) : 0;
}

Peer &Task::parameterServer(uint64_t index) {
  std::lock_guard lock(mutex);
  std::unique_ptr<Peer> &peer = peers[index];
  if (!peer)
    peer = std::make_unique<Peer>(str(TaskId{"ps", int64_t(index)}),
                                  cluster.task_address("ps", int64_t(index)),
                                  token);
  if (isCancelled)
    peer->cancel();
  return *peer;
}

void Task::cancel() {
  std::lock_guard lock(mutex);
  isCancelled = true;
  for (const auto &[index, peer] : peers)
    peer->cancel();
}

grpc::Status Task::failed(const grpc::Status &status, uint64_t server) const {
  const std::string message = fmt::format(
      "{} at {}: {}", str(TaskId{"ps", int64_t(server)}),
      cluster.task_address("ps", int64_t(server)), status.error_message());
  if (isLost(status) || status.error_code() == unknownSession)
    return {serverLost, shortened(message), std::to_string(server)};
  if (status.error_code() == unknownProgram)
    return status;
  return {refused, shortened(message)};
}

/// work(server) for each, at the same time; the first failure.
template <typename Map, typename Work>
static std::pair<grpc::Status, uint64_t> forEachServer(Map &servers,
                                                       Work work) {
  std::vector<std::pair<uint64_t, std::future<grpc::Status>>> others;
  std::pair<grpc::Status, uint64_t> result;
  for (auto it = servers.begin(); it != servers.end(); ++it)
    if (it != servers.begin())
      others.emplace_back(it->first,
                          std::async(std::launch::async, [&work, it] {
                            return work(it->first, it->second);
                          }));
  if (!servers.empty())
    result = {work(servers.begin()->first, servers.begin()->second),
              servers.begin()->first};
  for (auto &[server, other] : others)
    if (grpc::Status status = other.get(); !status.ok() && result.first.ok())
      result = {status, server};
  return result;
}

grpc::Status Task::run(MessageReader &in, MessageWriter &out) {
  const uint64_t its = in.number();
  const std::string hash = in.text();
  const std::shared_ptr<const SavedFunction> function = program(hash);
  if (!function)
    return {unknownProgram, hash};

  // What is read of each parameter server.
  struct Reads {
    std::vector<uint64_t> numbers;
    std::vector<size_t> arguments;
  };
  std::map<uint64_t, Reads> reads;
  std::vector<Tensor> arguments(in.count());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (in.number(2, "a kind of argument") == 0) {
      arguments[i] = in.tensor();
      continue;
    }
    Reads &own = reads[in.number(parameterServers(), "a parameter server")];
    own.numbers.push_back(in.number());
    own.arguments.push_back(i);
  }
  const uint64_t resultCount = in.number();
  // Updates as they are sent on, but for results, which there are none of yet.
  struct Argument {
    uint64_t kind, number;
    Tensor value;
  };
  struct Update {
    std::string hash;
    std::vector<Argument> arguments;
  };
  std::map<uint64_t, std::vector<Update>> updates;
  const uint64_t allResults = function->results().size();
  for (size_t left = in.count(); left > 0; --left) {
    const uint64_t server = in.number(parameterServers(), "a parameter server");
    Update &update = updates[server].emplace_back();
    update.hash = in.text();
    update.arguments.resize(in.count());
    for (Argument &argument : update.arguments) {
      argument.kind = in.number(3, "a kind of argument");
      if (argument.kind == 0)
        argument.value = in.tensor();
      else if (argument.kind == 1)
        argument.number = in.number();
      else
        argument.number = in.number(allResults, "a result");
    }
  }
  in.end();
  if (resultCount > allResults)
    throw Error("[Server] expected fewer results of a function");

  auto [status, server] =
      forEachServer(reads, [&](uint64_t from, const Reads &own) {
        MessageWriter asked;
        asked.put(its);
        asked.put(uint64_t(own.numbers.size()));
        for (uint64_t number : own.numbers)
          asked.put(number);
        grpc::ByteBuffer answered;
        grpc::Status status =
            parameterServer(from).call(Method::Read, asked.finish(), answered);
        if (!status.ok())
          return status;
        HostScope onHost;
        try {
          MessageReader values(answered);
          if (values.count() != own.numbers.size())
            throw Error("[Server] expected as many values as variables");
          for (size_t argument : own.arguments)
            arguments[argument] = values.tensor();
        } catch (const std::exception &error) {
          return grpc::Status(refused, shortened(error.what()));
        }
        return status;
      });
  if (!status.ok())
    return failed(status, server);

  const std::vector<Tensor> results = (*function)(arguments);

  std::tie(status, server) =
      forEachServer(updates, [&](uint64_t to, const std::vector<Update> &own) {
        HostScope onHost;
        MessageWriter asked;
        asked.put(its);
        asked.put(uint64_t(own.size()));
        for (const Update &update : own) {
          asked.put(update.hash);
          asked.put(uint64_t(update.arguments.size()));
          for (const Argument &argument : update.arguments) {
            asked.put(uint64_t(argument.kind == 1));
            if (argument.kind == 1)
              asked.put(argument.number);
            else
              asked.put(argument.kind == 0 ? argument.value
                                           : results[argument.number]);
          }
        }
        grpc::ByteBuffer answered;
        return parameterServer(to).call(Method::Update, asked.finish(),
                                        answered);
      });
  if (!status.ok())
    return failed(status, server);
  out.put(resultCount);
  for (uint64_t i = 0; i < resultCount; ++i)
    out.put(results[i]);
  return grpc::Status::OK;
}

} // namespace meshloom::detail::ps

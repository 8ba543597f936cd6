// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of servers, see Task.h. The frames, where `session` is the number of
// the coordinator that holds the variables:
//
//   Describe                                     -> start, job, index
//   Begin    session                             ->
//   Watch    session                             -> (not before it hangs up)
//   Load     hash, whether numbers are checked, program ->
//   Create   session, number, value              ->
//   Read     session, numbers                    -> values
//   Write    session, number, value              ->
//   Drop     session, number                     ->
//   Update   session, updates                    ->
//   Peek     session, number, dataset            -> see WorkerTask.cpp
//   Run      session, ended, iterations, works   -> values
//
// An argument of an update is a value (0) or a variable's number (1). A list
// has its length in front.
#include "Task.h"

#include "meshloom/API/CheckNumerics.h"
#include "meshloom/API/HostTensor.h"
#include "meshloom/Core/Hash.h"

#include <fmt/format.h>

#include <algorithm>

namespace meshloom::detail::ps {

std::string hashOf(std::string_view program, bool checksNumerics) {
  StableHash hash;
  hash.add(program);
  return fmt::format("{:016x}-{}{}", hash.value(), program.size(),
                     checksNumerics ? "-checked" : "");
}

Task::Task(ClusterSpec cluster, TaskId id, Access access)
    : cluster(std::move(cluster)), id(std::move(id)), access(std::move(access)),
      start(drawNumber()) {}

grpc::Status Task::call(Method method, const grpc::ByteBuffer &frame,
                        grpc::ByteBuffer &answered, const IsGone &isGone) {
  try {
    // The caller may be a thread of this process that runs a function.
    HostScope onHost;
    MessageReader in(frame);
    MessageWriter out;
    grpc::Status status = answer(method, in, out, isGone);
    if (status.ok())
      answered = out.finish();
    return status;
  } catch (const std::exception &error) {
    return {refused, shortened(error.what())};
  }
}

grpc::Status Task::answer(Method method, MessageReader &in, MessageWriter &out,
                          const IsGone &isGone) {
  switch (method) {
  case Method::Describe:
    in.end();
    out.put(start);
    out.put(id.type);
    out.put(uint64_t(id.index));
    return grpc::Status::OK;
  case Method::Begin:
    return begin(in);
  case Method::Watch:
    return watch(in, isGone);
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
  case Method::Peek:
    return peek(in, out);
  case Method::Run:
    return run(in, out);
  }
  return {refused, "there is no such method"};
}

grpc::Status Task::watch(MessageReader &in, const IsGone &isGone) {
  (void)in.number(); // whoever it is
  in.end();
  constexpr auto glance = std::chrono::milliseconds(100);
  std::unique_lock lock(mutex);
  ++watchers;
  hasMet = true;
  while (!isCancelled && !isGone())
    ending.wait_for(lock, glance, [&] { return isCancelled; });
  if (--watchers == 0)
    aloneSince = std::chrono::steady_clock::now();
  return grpc::Status::OK;
}

std::optional<Task::Alone> Task::alone() {
  std::lock_guard lock(mutex);
  if (watchers > 0)
    return std::nullopt;
  const std::chrono::duration<double> time =
      std::chrono::steady_clock::now() - aloneSince;
  return Alone{time.count(), hasMet};
}

void Task::cancel() {
  std::lock_guard lock(mutex);
  isCancelled = true;
  ending.notify_all();
  for (const auto &[index, peer] : peers)
    peer->cancel();
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
    Error(fmt::format("[Server] there is no variable {}", number),
          ErrorCode::NOT_FOUND)
        .raise();
  return found->second;
}

grpc::Status Task::create(MessageReader &in) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  const uint64_t number = in.number();
  auto created = std::make_shared<Variable>();
  created->value = in.tensor();
  in.end();
  std::lock_guard lock(mutex);
  variables[number] = std::move(created);
  return grpc::Status::OK;
}

grpc::Status Task::read(MessageReader &in, MessageWriter &out) {
  if (grpc::Status status = expectSession(in.number()); !status.ok())
    return status;
  std::vector<VariablePtr> read(in.count());
  for (VariablePtr &target : read)
    target = variable(in.number());
  in.end();
  out.put(uint64_t(read.size()));
  for (const VariablePtr &target : read) {
    const Tensor value = [&] {
      std::lock_guard lock(target->mutex);
      return target->value;
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
    Error("[Server] a variable keeps its type and shape").raise();
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

std::shared_ptr<const SavedFunction>
Task::program(const std::string &hash) const {
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
    std::map<size_t, VariablePtr> byArgument;
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
      update.byArgument[i] = update.variables[number] = variable(number);
    }
    for (int64_t assigned : update.program->assigned_arguments())
      if (!update.byArgument.contains(size_t(assigned)))
        Error(
            "[Server] an update assigns to an argument that is not a variable")
            .raise();
  }
  in.end();
  for (const Update &update : updates) {
    std::vector<std::unique_lock<std::mutex>> locks;
    locks.reserve(update.variables.size());
    for (const auto &[number, variable] : update.variables)
      locks.emplace_back(variable->mutex);
    std::vector<Tensor> arguments = update.values;
    for (const auto &[i, variable] : update.byArgument)
      arguments[i] = variable->value;
    const std::vector<Tensor> results = (*update.program)(arguments);
    const std::vector<int64_t> assigned = update.program->assigned_arguments();
    // New values come last.
    const size_t first = results.size() - assigned.size();
    for (size_t i = 0; i < assigned.size(); ++i)
      update.byArgument.at(size_t(assigned[i]))->value = results[first + i];
  }
  return grpc::Status::OK;
}

} // namespace meshloom::detail::ps

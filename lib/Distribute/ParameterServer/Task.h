// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Task: what a server does when it is called: as a parameter server it holds
// variables and runs updates of them, as a worker it runs functions.
#pragma once

#include "Calls.h"

#include "../WorkerDatasets.h"

#include "meshloom/API/SavedFunction.h"
#include "meshloom/Cluster/ClusterSpec.h"
#include "meshloom/Data/Pipeline.h"

#include <chrono>
#include <functional>
#include <map>

namespace meshloom::detail::ps {

/// Returns the name of a program: a digest of its bytes, and how they run.
std::string hashOf(std::string_view program, bool checksNumerics);

class Task {
public:
  /// Whether who called has hung up.
  using IsGone = std::function<bool()>;

  Task(ClusterSpec cluster, TaskId id, Access access);

  /// Does the work that the frame asks for. Does not throw. May be called by
  /// any thread.
  grpc::Status call(Method method, const grpc::ByteBuffer &frame,
                    grpc::ByteBuffer &answer, const IsGone &isGone);
  /// For how many seconds no coordinator has been there, and whether one has
  /// ever been; none: it is there.
  struct Alone {
    double seconds;
    bool hasMet;
  };
  std::optional<Alone> alone();
  /// Ends calls of others that wait.
  void cancel();

private:
  /// Locks the variables of an update in order of their numbers.
  struct Variable {
    std::mutex mutex;
    Tensor value;
  };
  using VariablePtr = std::shared_ptr<Variable>;
  /// An iteration over a dataset, by a coordinator's number.
  struct Iteration {
    std::mutex mutex;
    std::shared_ptr<data::detail::Stream> stream;
  };
  /// A program that a worker is to run, see WorkerTask.cpp.
  struct Work;

  grpc::Status answer(Method method, MessageReader &in, MessageWriter &out,
                      const IsGone &isGone);
  grpc::Status begin(MessageReader &in);
  grpc::Status watch(MessageReader &in, const IsGone &isGone);
  grpc::Status load(MessageReader &in);
  grpc::Status create(MessageReader &in);
  grpc::Status read(MessageReader &in, MessageWriter &out);
  grpc::Status write(MessageReader &in);
  grpc::Status drop(MessageReader &in);
  grpc::Status update(MessageReader &in);
  grpc::Status peek(MessageReader &in, MessageWriter &out);
  grpc::Status run(MessageReader &in, MessageWriter &out);

  /// Returns the iteration of this worker; opens it where it is not open.
  std::shared_ptr<Iteration> iteration(uint64_t session, uint64_t number,
                                       const std::string &dataset);
  void endIteration(uint64_t session, uint64_t number);
  Work workOf(MessageReader &in, std::span<const size_t> elementSizes) const;
  grpc::Status readVariables(uint64_t session, Work &work);
  grpc::Status sendUpdates(uint64_t session, Work &work,
                           const std::vector<Tensor> &results);

  grpc::Status expectSession(uint64_t session);
  /// Null where there is none.
  std::shared_ptr<const SavedFunction> program(const std::string &hash) const;
  /// Throws where there is none.
  VariablePtr variable(uint64_t number);
  Peer &parameterServer(uint64_t index);
  uint64_t parameterServers() const;
  /// Returns the status of a worker's run when a parameter server does not do
  /// as asked.
  grpc::Status failed(const grpc::Status &status, uint64_t server) const;

  const ClusterSpec cluster;
  const TaskId id;
  const Access access;
  /// No other start of a task has it.
  const uint64_t start;

  mutable std::mutex mutex; ///< guards what follows
  uint64_t session = 0;
  std::map<std::string, std::shared_ptr<const SavedFunction>> programs;
  std::map<uint64_t, VariablePtr> variables;
  std::map<uint64_t, std::unique_ptr<Peer>> peers;
  /// The iterations of the session `iterating`.
  std::map<uint64_t, std::shared_ptr<Iteration>> iterations;
  uint64_t iterating = 0;
  int64_t watchers = 0;
  bool hasMet = false;
  std::chrono::steady_clock::time_point aloneSince =
      std::chrono::steady_clock::now();
  std::condition_variable ending;
  bool isCancelled = false;
};

} // namespace meshloom::detail::ps

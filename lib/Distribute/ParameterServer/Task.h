// Task: what a server does when it is called: as a parameter server it holds
// variables and runs updates of them, as a worker it runs functions.
#pragma once

#include "Calls.h"

#include "meshloom/API/SavedFunction.h"
#include "meshloom/Cluster/ClusterSpec.h"

#include <map>

namespace meshloom::detail::ps {

/// What programs are known by: a digest of their bytes, and how they run.
std::string hashOf(std::string_view program, bool checksNumerics);

class Task {
public:
  Task(ClusterSpec cluster, TaskId id, std::string token);

  /// What the frame asks for. Does not throw. May be called by any thread.
  grpc::Status call(Method method, const grpc::ByteBuffer &frame,
                    grpc::ByteBuffer &answer);
  /// Ends calls of others that wait.
  void cancel();

private:
  /// Locks the variables of an update in order of their numbers.
  struct Variable {
    std::mutex mutex;
    Tensor value;
  };
  using VariablePtr = std::shared_ptr<Variable>;

  grpc::Status answer(Method method, MessageReader &in, MessageWriter &out);
  grpc::Status begin(MessageReader &in);
  grpc::Status load(MessageReader &in);
  grpc::Status create(MessageReader &in);
  grpc::Status read(MessageReader &in, MessageWriter &out);
  grpc::Status write(MessageReader &in);
  grpc::Status drop(MessageReader &in);
  grpc::Status update(MessageReader &in);
  grpc::Status run(MessageReader &in, MessageWriter &out);

  grpc::Status expectSession(uint64_t session);
  /// Null where there is none.
  std::shared_ptr<const SavedFunction> program(const std::string &hash);
  /// Throws where there is none.
  VariablePtr variable(uint64_t number);
  Peer &parameterServer(uint64_t index);
  uint64_t parameterServers() const;
  /// What a parameter server that does not do as asked makes of a worker's run.
  grpc::Status failed(const grpc::Status &status, uint64_t server) const;

  const ClusterSpec cluster;
  const TaskId id;
  const std::string token;
  /// No other start of a task has it.
  const uint64_t start;

  std::mutex mutex; ///< guards what follows
  uint64_t session = 0;
  std::map<std::string, std::shared_ptr<const SavedFunction>> programs;
  std::map<uint64_t, VariablePtr> variables;
  std::map<uint64_t, std::unique_ptr<Peer>> peers;
  bool isCancelled = false;
};

/// A number that nobody else has.
uint64_t drawNumber();

} // namespace meshloom::detail::ps

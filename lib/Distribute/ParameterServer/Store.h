// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The coordinator's side of the parameter servers: which variable is where, and
// functions as workers and servers are sent them.
#pragma once

#include "Task.h"

#include "meshloom/API/RemoteVariables.h"
#include "meshloom/Cluster/ClusterSpec.h"
#include "meshloom/Distribute/ParameterServer/Partitioners.h"
#include "meshloom/Distribute/WorkerDataset.h"

#include <atomic>
#include <set>

namespace meshloom::detail::ps {

/// A variable on a parameter server.
class ServerVariable : public RemoteVariable {
public:
  ServerVariable(std::shared_ptr<const VariableStore> store, uint64_t server,
                 uint64_t number)
      : RemoteVariable(std::move(store)), server(server), number(number) {}
  ~ServerVariable() override;
  const uint64_t server, number;
};

/// A function as it is sent: its bytes, and where its arguments come from.
struct Program {
  std::string hash, bytes;
  FunctionParts parts;
  /// The server that an update runs on.
  uint64_t server = 0;
  /// The changes that a function makes to variables.
  std::vector<std::shared_ptr<const Program>> updates;
};

/// An element that a call takes of a worker's dataset: the type that the worker
/// said the next element has, and tensors in place of its values.
struct TakenElement {
  std::shared_ptr<const WorkerIteration> iteration;
  std::string signature;
  std::vector<Tensor> values;
};

/// Reaches all tasks of a cluster. May be used from any thread.
class Store : public VariableStore, public std::enable_shared_from_this<Store> {
public:
  Store(const ClusterSpec &cluster, Partitioner partitioner,
        const Access &access);

  /// Takes the parameter servers over. Throws where one does not come up.
  void begin(double timeoutSeconds);

  // These override VariableStore.
  std::vector<Tensor>
  read(const std::vector<DVariable> &variables) const override;
  void write(const DVariable &variable, const Tensor &value) const override;
  void update(const std::shared_ptr<const TracedFunction> &program,
              const std::vector<Tensor> &operands) const override;
  void expectTogether(const std::vector<DVariable> &variables) const override;

  /// A variable on the next server, or several on the next ones; `next` makes
  /// one of this process.
  DVariable make(const NextVariable &next, const Tensor &initial,
                 VariableOptions options);
  void drop(const ServerVariable &variable) const;

  /// Compiled for sending; once a function.
  std::shared_ptr<const Program>
  program(const std::shared_ptr<const TracedFunction> &function) const;
  /// Calls as a worker is sent them, and which iterations have ended.
  grpc::ByteBuffer
  frameOf(std::span<const std::shared_ptr<const Program>> programs,
          std::span<const FunctionCall> calls,
          std::span<const TakenElement> taken,
          std::span<const uint64_t> ended) const;
  grpc::ByteBuffer peeking(const WorkerIteration &iteration) const;
  /// Loads the programs of the function's updates where they run; all of them
  /// again with `again`.
  void loadUpdates(const Program &program, bool again = false) const;
  static grpc::ByteBuffer loading(const Program &program);
  /// Once nobody schedules any more: programs hold their variables, which hold
  /// the store.
  void forgetPrograms() const;

  const ClusterSpec cluster;
  std::vector<std::unique_ptr<Peer>> servers, workers;

private:
  void waitForServers(double timeoutSeconds) const;
  DVariable place(const NextVariable &next, const Tensor &initial,
                  VariableOptions options, uint64_t server);
  /// Asks a parameter server; throws UnavailableError where it is lost.
  void ask(uint64_t server, Method method, const grpc::ByteBuffer &frame,
           grpc::ByteBuffer &answer) const;
  grpc::Status tryTo(uint64_t server, Method method,
                     const grpc::ByteBuffer &frame,
                     grpc::ByteBuffer &answer) const;
  void putWork(MessageWriter &out, const Program &program,
               const FunctionCall &call,
               std::span<const TakenElement> taken) const;
  [[noreturn]] void fail(uint64_t server, const grpc::Status &status) const;
  /// Appends an argument of an update that is known here.
  void putFixed(MessageWriter &out,
                const FunctionParts::Argument &argument) const;

  const Partitioner partitioner;
  const uint64_t session;
  mutable std::mutex mutex; ///< guards what follows
  uint64_t nextNumber = 0, nextServer = 0;
  /// By FunctionParts::id.
  mutable std::map<int64_t, std::shared_ptr<const Program>> programs;
  mutable std::set<std::pair<uint64_t, std::string>> loaded;
  /// The presences of this process with each task: they end before the members
  /// above.
  std::vector<std::unique_ptr<Presence>> presences;
};

/// Throws what a parameter server that is lost is told as.
[[noreturn]] void failUnavailable(const std::string &failure);

} // namespace meshloom::detail::ps

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of servers: their names, what failures of them mean, and the side that
// calls.
#pragma once

#include "Access.h"
#include "Messages.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace meshloom::detail::ps {

/// The methods of a server. Frames: see Task.cpp.
enum class Method : uint8_t {
  Describe, ///< which task it is, and which start of it
  Begin,    ///< a coordinator takes a parameter server over
  Watch,    ///< the coordinator is there as long as this call is
  Load,     ///< a program, by its hash
  Create,   ///< a variable
  Read,     ///< variables
  Write,    ///< a variable
  Drop,     ///< a variable
  Update,   ///< variables, by programs
  Peek,     ///< at the next element of a worker's dataset
  Run       ///< programs, on a worker
};
inline constexpr Method lastMethod = Method::Run;
/// "/meshloom.ParameterServer/Run".
std::string path(Method method);

// The answers of a server that does not do as asked.

/// The program has to be loaded first, here or (Run) on a parameter server.
inline constexpr grpc::StatusCode unknownProgram = grpc::StatusCode::NOT_FOUND;
/// A parameter server, whose number is the status' details, does not answer or
/// has lost its variables.
inline constexpr grpc::StatusCode serverLost = grpc::StatusCode::ABORTED;
/// A parameter server of another coordinator, or one that was started again.
inline constexpr grpc::StatusCode unknownSession = grpc::StatusCode::DATA_LOSS;
/// A dataset's next element is of another type than was expected.
inline constexpr grpc::StatusCode otherElement = grpc::StatusCode::OUT_OF_RANGE;
/// The call brought another token along.
inline constexpr grpc::StatusCode stranger = grpc::StatusCode::UNAUTHENTICATED;
/// The request cannot be done; the message says why.
inline constexpr grpc::StatusCode refused =
    grpc::StatusCode::FAILED_PRECONDITION;
/// Returns whether the server itself does not answer; it says none of these
/// itself.
bool isLost(const grpc::Status &status);

/// A server as others reach it. May be used from any thread.
class Peer {
public:
  /// `name`: "/job:ps/task:0", for messages.
  Peer(std::string name, std::string address, const Access &access);
  Peer(const Peer &) = delete;

  /// Waits for the answer; `seconds` of 0: as long as it takes.
  grpc::Status call(Method method, const grpc::ByteBuffer &frame,
                    grpc::ByteBuffer &answer, double seconds = 0) const;
  /// The same in a context that the caller may cancel; `cancel` does not.
  grpc::Status call(Method method, const grpc::ByteBuffer &frame,
                    grpc::ByteBuffer &answer,
                    grpc::ClientContext &context) const;
  /// Returns whether there is a connection, or comes within a moment.
  bool isConnected() const;
  /// Ends calls that wait, and later ones at once.
  void cancel() const;

  const std::string name, address;
  /// "parameter server /job:ps/task:0 at localhost:2222".
  std::string text() const { return name + " at " + address; }

private:
  std::string token;
  std::shared_ptr<grpc::Channel> channel;
  mutable std::mutex mutex;
  mutable std::vector<grpc::ClientContext *> waiting;
  mutable bool isCancelled = false;
};

/// Shortens the text that a status carries.
std::string shortened(std::string_view text);

/// While it lives the task knows that its coordinator is there.
class Presence {
public:
  Presence(const Peer &peer, uint64_t session);
  ~Presence();
  Presence(const Presence &) = delete;

private:
  void run(const Peer &peer, uint64_t session);
  std::mutex mutex; ///< guards what follows
  std::condition_variable ending;
  bool isEnding = false;
  grpc::ClientContext *waiting = nullptr;
  std::thread thread;
};

} // namespace meshloom::detail::ps

// Calls of servers: their names, what failures of them mean, and the side that
// calls.
#pragma once

#include "Messages.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <mutex>

namespace meshloom::detail::ps {

/// What a server can be asked. Frames: see Task.cpp.
enum class Method : uint8_t {
  Describe, ///< which task it is, and which start of it
  Begin,    ///< a coordinator takes a parameter server over
  Load,     ///< a program, by its hash
  Create,   ///< a variable
  Read,     ///< variables
  Write,    ///< a variable
  Drop,     ///< a variable
  Update,   ///< variables, by programs
  Run       ///< a program, on a worker
};
inline constexpr Method lastMethod = Method::Run;
/// "/meshloom.ParameterServer/Run".
std::string path(Method method);

// What a server answers where it does not do as asked.

/// The program has to be loaded first, here or (Run) on a parameter server.
inline constexpr grpc::StatusCode unknownProgram = grpc::StatusCode::NOT_FOUND;
/// A parameter server, whose number is the status' details, does not answer or
/// has lost its variables.
inline constexpr grpc::StatusCode serverLost = grpc::StatusCode::ABORTED;
/// A parameter server of another coordinator, or one that was started again.
inline constexpr grpc::StatusCode unknownSession = grpc::StatusCode::DATA_LOSS;
/// What was asked cannot be done; the message says why.
inline constexpr grpc::StatusCode refused =
    grpc::StatusCode::FAILED_PRECONDITION;
/// Whether the server itself does not answer; it says none of these itself.
bool isLost(const grpc::Status &status);

/// A server as others reach it. May be used from any thread.
class Peer {
public:
  /// `name`: "/job:ps/task:0", for messages.
  Peer(std::string name, std::string address, std::string token);
  Peer(const Peer &) = delete;

  /// Waits for the answer; `seconds` of 0: as long as it takes.
  grpc::Status call(Method method, const grpc::ByteBuffer &frame,
                    grpc::ByteBuffer &answer, double seconds = 0) const;
  /// Ends calls that wait, and later ones at once.
  void cancel() const;
  /// Waits until it can be reached, so long at most.
  bool connect(double seconds) const;

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

/// What gRPC logs of lost peers is said by who calls; what it logs is shown
/// where GRPC_VERBOSITY asks for it.
void quietGrpc();

/// What every call brings its token in.
inline constexpr char tokenKey[] = "meshloom-token";
/// Of the environment, where none is given.
std::string tokenOr(const std::optional<std::string> &given);
/// Whether only this machine reaches the address.
bool isLoopback(std::string_view address);
/// Of the text that a status carries.
std::string shortened(std::string_view text);

/// Frames may be as large as variables are; a peer that does not answer pings
/// for some seconds is lost.
inline constexpr int pingMilliseconds = 4000;
inline constexpr int pingTimeoutMilliseconds = 5000;

} // namespace meshloom::detail::ps

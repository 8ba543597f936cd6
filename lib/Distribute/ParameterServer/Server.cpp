// A task's gRPC server, see Server.h.
#include "meshloom/Distribute/ParameterServer/Server.h"
#include "Task.h"

#include "meshloom/API/Logging.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpcpp/impl/rpc_service_method.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/method_handler.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>

namespace meshloom {
using namespace detail;
using namespace detail::ps;

namespace {

/// Hands frames to a task as they came: bytes, not protobuf's messages.
class Service final : public grpc::Service {
public:
  Service(Task &task, std::string token) : token(std::move(token)) {
    names.reserve(size_t(lastMethod) + 1);
    for (size_t i = 0; i <= size_t(lastMethod); ++i) {
      const auto method = Method(i);
      names.push_back(path(method));
      AddMethod(new grpc::internal::RpcServiceMethod(
          names.back().c_str(), grpc::internal::RpcMethod::NORMAL_RPC,
          new grpc::internal::RpcMethodHandler<Service, grpc::ByteBuffer,
                                               grpc::ByteBuffer>(
              [&task, method](Service *own, grpc::ServerContext *context,
                              const grpc::ByteBuffer *frame,
                              grpc::ByteBuffer *answer) {
                return own->isAllowed(*context)
                           ? task.call(method, *frame, *answer)
                           : grpc::Status(refused,
                                          "the token is another one: give all "
                                          "tasks the same MESHLOOM_TOKEN");
              },
              this)));
    }
  }

private:
  /// Takes as long whatever the token is.
  bool isAllowed(const grpc::ServerContext &context) const {
    const auto &metadata = context.client_metadata();
    const auto found = metadata.find(tokenKey);
    const std::string_view given =
        found == metadata.end()
            ? std::string_view()
            : std::string_view(found->second.data(), found->second.size());
    unsigned differs = given.size() != token.size();
    for (size_t i = 0; i < token.size(); ++i)
      differs |= unsigned(i < given.size() && given[i] == token[i] ? 0 : 1);
    return differs == 0;
  }

  std::string token;
  std::vector<std::string> names;
};

} // namespace

struct Server::State {
  State(const ClusterSpec &cluster, const TaskId &id, const std::string &token)
      : task(cluster, id, token), service(task, token) {}
  ~State() { shutdown(); }

  void shutdown() {
    if (server) {
      task.cancel();
      server->Shutdown(std::chrono::system_clock::now());
    }
  }

  Task task;
  Service service;
  std::string target;
  std::unique_ptr<grpc::Server> server;
};

Server::Server(const ClusterSpec &cluster, const std::string &job_name,
               int64_t task_index, const ServerOptions &options) {
  const TaskId id{job_name, task_index};
  if (Status status = validate(cluster, id); !status)
    throw Error(fmt::format("[Server] {}", status.error().message()));
  const std::string address = cluster.task_address(job_name, task_index);
  const std::string token = tokenOr(options.token);
  if (token.empty() && !options.allow_without_token && !isLoopback(address))
    throw Error(fmt::format(
        "[Server] {} would listen at {}, where others than this machine can "
        "have it run programs: set MESHLOOM_TOKEN to the same secret for all "
        "tasks, or allow_without_token",
        str(id), address));
  state = std::make_unique<State>(cluster, id, token);
  quietGrpc();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, pingMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             pingTimeoutMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  int port = 0;
  builder.AddListeningPort(address, grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(&state->service);
  state->server = builder.BuildAndStart();
  if (!state->server || port == 0)
    throw Error(fmt::format("[Server] {} cannot listen at {}: the port is "
                            "taken, or the host is another one's",
                            str(id), address));
  state->target = "grpc://" + address;
  log(LogLevel::INFO,
      fmt::format("Started server {} at {}{}", str(id), state->target,
                  token.empty() ? " without a token" : ""));
}

Server::~Server() = default;
Server::Server(Server &&) noexcept = default;
Server &Server::operator=(Server &&) noexcept = default;

const std::string &Server::target() const {
  return state->target;
}
void Server::join() const {
  state->server->Wait();
}
void Server::shutdown() {
  state->shutdown();
}

int64_t pick_unused_port() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool isBound =
      listener >= 0 &&
      ::bind(listener, reinterpret_cast<sockaddr *>(&address), size) == 0 &&
      ::getsockname(listener, reinterpret_cast<sockaddr *>(&address), &size) ==
          0;
  if (listener >= 0)
    ::close(listener);
  if (!isBound)
    throw Error("[pick_unused_port] there is no port left");
  return ntohs(address.sin_port);
}

} // namespace meshloom

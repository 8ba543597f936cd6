// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A task's gRPC server, see Server.h.
#include "meshloom/Distribute/ParameterServer/Server.h"
#include "Task.h"

#include "meshloom/Cluster/Coordination/Gate.h"
#include "meshloom/Cluster/Coordination/Network.h"

#include "meshloom/API/Logging.h"
#include "meshloom/API/MovedFrom.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/server_context.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace meshloom {
using namespace detail;
using namespace detail::ps;

namespace {

/// Threads for calls, as many as there are calls at once: a call may take as
/// long as its caller waits.
class CallThreads {
public:
  ~CallThreads() {
    {
      std::lock_guard lock(mutex);
      isEnding = true;
      changed.notify_all();
    }
    for (std::thread &thread : threads)
      thread.join();
  }

  void run(std::function<void()> call) {
    std::lock_guard lock(mutex);
    calls.push_back(std::move(call));
    if (idle < calls.size()) {
      threads.emplace_back([this] { serve(); });
      ++idle;
    }
    changed.notify_one();
  }

private:
  void serve() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return isEnding || !calls.empty(); });
      if (calls.empty())
        return;
      const std::function<void()> call = std::move(calls.front());
      calls.pop_front();
      --idle;
      lock.unlock();
      call();
      lock.lock();
      ++idle;
    }
  }

  std::mutex mutex; ///< guards what follows
  std::condition_variable changed;
  std::deque<std::function<void()>> calls;
  std::vector<std::thread> threads;
  size_t idle = 0;
  bool isEnding = false;
};

/// Hands frames to a task as they came: bytes, not protobuf's messages.
class Service final : public grpc::CallbackGenericService {
public:
  Service(Task &task, const Access &access) : task(task), access(access) {
    for (size_t i = 0; i <= size_t(lastMethod); ++i)
      methods[path(Method(i))] = Method(i);
  }

  grpc::ServerGenericBidiReactor *
  CreateReactor(grpc::GenericCallbackServerContext *context) override {
    return new Call(*this, *context);
  }

private:
  /// One call: a frame, and the frame that answers it. Deletes itself.
  class Call final : public grpc::ServerGenericBidiReactor {
  public:
    Call(Service &service, grpc::GenericCallbackServerContext &context)
        : service(service), context(context) {
      StartRead(&frame);
    }
    void OnReadDone(bool ok) override {
      if (ok)
        service.threads.run([this] { respond(); });
      else
        Finish({grpc::StatusCode::CANCELLED, "the call has no frame"});
    }
    void OnDone() override { delete this; }

  private:
    void respond() {
      const grpc::Status status = service.call(context, frame, answer);
      if (status.ok())
        StartWriteAndFinish(&answer, grpc::WriteOptions(), status);
      else
        Finish(status);
    }

    Service &service;
    grpc::GenericCallbackServerContext &context;
    grpc::ByteBuffer frame, answer;
  };

  grpc::Status call(const grpc::GenericCallbackServerContext &context,
                    const grpc::ByteBuffer &frame, grpc::ByteBuffer &answer) {
    const auto method = methods.find(context.method());
    if (method == methods.end())
      return {grpc::StatusCode::UNIMPLEMENTED,
              "the server has no method " + context.method()};
    if (!isAllowed(context))
      return {stranger, "the token is another one: give all tasks the same "
                        "MESHLOOM_TOKEN"};
    return task.call(method->second, frame, answer,
                     [&] { return context.IsCancelled(); });
  }

  bool isAllowed(const grpc::CallbackServerContext &context) const {
    const auto &metadata = context.client_metadata();
    const auto found = metadata.find(tokenKey);
    return access.accepts(
        found == metadata.end()
            ? std::string_view()
            : std::string_view(found->second.data(), found->second.size()));
  }

  Task &task;
  const Access &access;
  std::map<std::string, Method> methods; ///< by their paths
  CallThreads threads;
};

} // namespace

struct Server::State {
  State(const ClusterSpec &cluster, const TaskId &id, Access serverAccess)
      : name(str(id)), access(std::move(serverAccess)),
        task(cluster, id, access), service(task, access) {}
  ~State() { shutdown(); }

  void shutdown() {
    std::lock_guard lock(mutex);
    if (server && !isEnded) {
      gate.reset();
      task.cancel();
      server->Shutdown(std::chrono::system_clock::now());
    }
    isEnded = true;
    ended.notify_all();
  }

  const std::string name;
  const Access access;
  Task task;
  Service service;
  std::string target;
  double coordinatorTimeout = 0, startTimeout = 0;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<Gate> gate;
  std::mutex mutex; ///< guards what follows
  std::condition_variable ended;
  bool isEnded = false;
};

/// Returns the text of who can reach the server, for messages. Throws
/// meshloom::Error where nothing should.
static std::string expectAddress(const TaskId &id, const Address &address,
                                 const Access &access) {
  const Result<bool> loopback = detail::isLoopback(address.host);
  if (!loopback)
    loopback.error()
        .withMessage(
            fmt::format("[Server] {}: {}", str(id), loopback.error().message()))
        .raise();
  if (!*loopback && !access.tls.isSet() && !access.allowsPlainNetwork)
    Error(
        fmt::format("[Server] {} would listen at {}, where other machines can "
                    "have it run programs, without TLS: give certificates "
                    "(MESHLOOM_TLS_CERTIFICATE, MESHLOOM_TLS_KEY, "
                    "MESHLOOM_TLS_AUTHORITY), or MESHLOOM_PLAIN_NETWORK=1 "
                    "where nobody else is on the network",
                    str(id), str(address)))
        .raise();
  return *loopback ? "this machine alone reaches it"
                   : "other machines reach it";
}

Server::Server(const ClusterSpec &cluster, const std::string &job_name,
               int64_t task_index, const ServerOptions &options,
               std::source_location where) {
  detail::atLine(where, [&] { start(cluster, job_name, task_index, options); });
}

void Server::start(const ClusterSpec &cluster, const std::string &job_name,
                   int64_t task_index, const ServerOptions &options) {
  const TaskId id{job_name, task_index};
  if (Status status = validate(cluster, id); !status)
    status.error()
        .withMessage(fmt::format("[Server] {}", status.error().message()))
        .raise();
  const std::string text = cluster.task_address(job_name, task_index);
  const Result<Address> address =
      splitAddress(text, fmt::format("the address of {}", str(id)));
  if (!address)
    address.error()
        .withMessage(fmt::format("[Server] {}", address.error().message()))
        .raise();
  Access access = accessOf("Server", options.token, options.tls);
  access.allowsPlainNetwork |= options.allow_plain_network;
  const Result<std::shared_ptr<grpc::ServerCredentials>> credentials =
      serverCredentials(access.tls);
  if (!credentials)
    credentials.error()
        .withMessage(fmt::format("[Server] {}", credentials.error().message()))
        .raise();
  const double coordinatorTimeout =
      options.coordinator_timeout_seconds
          ? *options.coordinator_timeout_seconds
          : secondsOf("Server", "MESHLOOM_COORDINATOR_TIMEOUT", 60);
  if (!(coordinatorTimeout >= 0))
    Error(fmt::format("[Server] expected coordinator_timeout_seconds to "
                      "be 0 or more, got {}",
                      coordinatorTimeout))
        .raise();
  const std::string reach = expectAddress(id, *address, access);
  state = std::make_unique<State>(cluster, id, std::move(access));
  state->coordinatorTimeout = coordinatorTimeout;
  state->startTimeout = secondsOf("Server", "MESHLOOM_START_TIMEOUT", 0);
  quietGrpc();
  const Pings pings = pingsOf(state->access);
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  builder.SetMaxSendMessageSize(-1);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS,
                             pings.everyMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                             pings.timeoutMilliseconds);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.AddChannelArgument(
      GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 100);
  const bool hasTls = state->access.tls.isSet();
  int64_t tasks = 0;
  for (const std::string &job : cluster.jobs())
    tasks += cluster.num_tasks(job);
  Result<std::unique_ptr<Gate>> gate = Gate::open(
      *address, hasTls, tasks, [name = state->name](const std::string &text) {
        log(LogLevel::WARNING, fmt::format("Server {} {}", name, text));
      });
  if (!gate)
    gate.error()
        .withMessage(fmt::format("[Server] {} cannot listen: {}", str(id),
                                 gate.error().message()))
        .raise();
  state->gate = std::move(*gate);
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      *credentials);
  builder.RegisterCallbackGenericService(&state->service);
  state->server = builder.BuildAndStart();
  if (!state->server)
    Error(fmt::format("[Server] {} does not start at {}", str(id), text))
        .raise();
  state->gate->letInto(std::move(acceptor));
  state->target = "grpc://" + text;
  log(LogLevel::INFO,
      fmt::format("Started server {} at {} ({}), {} TLS, {} a token", str(id),
                  state->target, reach, hasTls ? "with" : "without",
                  state->access.token.empty() ? "without" : "with"));
}

Server::~Server() = default;
Server::Server(Server &&) noexcept = default;
Server &Server::operator=(Server &&) noexcept = default;

const std::string &Server::target() const {
  detail::expectNotMovedFrom(state, "Server");
  return state->target;
}
void Server::join() const {
  detail::expectNotMovedFrom(state, "Server");
  constexpr auto glance = std::chrono::milliseconds(200);
  std::unique_lock lock(state->mutex);
  while (!state->isEnded) {
    const auto alone = state->task.alone();
    const double limit = !alone          ? 0
                         : alone->hasMet ? state->coordinatorTimeout
                                         : state->startTimeout;
    if (limit > 0 && alone->seconds > limit) {
      lock.unlock();
      log(LogLevel::WARNING,
          alone->hasMet
              ? fmt::format("Server {} ends: its coordinator has been gone for "
                            "{} s (MESHLOOM_COORDINATOR_TIMEOUT; 0: wait for "
                            "another one)",
                            state->name, limit)
              : fmt::format("Server {} ends: no coordinator has come within {} "
                            "s (MESHLOOM_START_TIMEOUT)",
                            state->name, limit));
      return state->shutdown();
    }
    state->ended.wait_for(lock, glance, [&] { return state->isEnded; });
  }
}
void Server::shutdown() {
  detail::expectNotMovedFrom(state, "Server");
  state->shutdown();
}

/// Returns whether a server could listen there.
static bool isFree(int64_t port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(port));
  const bool isBound =
      listener >= 0 && ::bind(listener, reinterpret_cast<sockaddr *>(&address),
                              sizeof(address)) == 0;
  if (listener >= 0)
    ::close(listener);
  return isBound;
}

int64_t pick_unused_port() {
  // Below those that systems give to whoever connects, who would take one
  // before it is used; and none twice, for the same reason.
  constexpr uint64_t first = 10000, count = 22000;
  static std::atomic<uint64_t> next = drawNumber();
  for (uint64_t tries = 0; tries < count; ++tries)
    if (const int64_t port = int64_t(first + next++ % count); isFree(port))
      return port;
  Error("[pick_unused_port] there is no port left",
        ErrorCode::RESOURCE_EXHAUSTED)
      .raise();
}

} // namespace meshloom

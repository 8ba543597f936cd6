// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoordinationService: a gRPC server over a Run. Calls use gRPC's callbacks, so
// that one that waits takes no thread.
#include "meshloom/Cluster/Coordination/CoordinationService.h"

#include "Coordination.grpc.pb.h"
#include "Messages.h"
#include "Run.h"
#include "meshloom/Cluster/Coordination/Gate.h"
#include "meshloom/Cluster/Coordination/Network.h"

#include <fmt/format.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <atomic>
#include <cstdio>
#include <random>

namespace meshloom {

using namespace coordination;
using grpc::CallbackServerContext;
using grpc::ServerUnaryReactor;

namespace {

/// A call that may wait; forgotten when its caller goes away.
class WaitingCall final : public ServerUnaryReactor {
public:
  explicit WaitingCall(detail::Run &run) : run(run) {}
  void waitAs(uint64_t wait) { number = wait; }
  void OnCancel() override {
    if (run.cancel(number))
      Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

private:
  detail::Run &run;
  std::atomic<uint64_t> number = 0;
};

/// A rank's stream. Whoever may still write to it holds it; gRPC does until
/// OnDone.
class FailureStream final : public grpc::ServerWriteReactor<FailureMessage>,
                            public std::enable_shared_from_this<FailureStream> {
public:
  FailureStream(detail::Run &run, int64_t rank) : run(run), rank(rank) {}

  static FailureStream *open(detail::Run &run, const Caller &caller) {
    auto stream = std::make_shared<FailureStream>(run, caller.rank());
    stream->self = stream;
    const grpc::Status status = run.watch(
        caller,
        [stream](const std::optional<Failure> &failure) {
          stream->tell(failure);
        },
        stream->number);
    if (status.ok())
      // The rank waits for it: from now on its end is seen here.
      stream->StartSendInitialMetadata();
    else
      stream->finish(status);
    return stream.get();
  }

  void OnWriteDone(bool ok) override {
    const std::shared_ptr<FailureStream> held = shared_from_this();
    if (ok)
      run.told(rank, number);
    const std::lock_guard lock(mutex);
    writing = false;
    if (ending && !finished) {
      finished = true;
      Finish(*ending);
    }
  }
  void OnCancel() override {
    const std::shared_ptr<FailureStream> held = shared_from_this();
    if (number != 0)
      run.closed(rank, number);
    finish(grpc::Status::CANCELLED);
  }
  void OnDone() override {
    if (number != 0)
      run.closed(rank, number);
    const std::shared_ptr<FailureStream> last = std::move(self);
  }

private:
  void tell(const std::optional<Failure> &failure) {
    if (!failure) {
      finish(grpc::Status::OK);
      return;
    }
    const std::lock_guard lock(mutex);
    if (finished || writing)
      return;
    message = detail::messageOf(*failure);
    writing = true;
    StartWrite(&message);
  }
  void finish(const grpc::Status &status) {
    const std::lock_guard lock(mutex);
    if (finished)
      return;
    if (writing) {
      ending = status;
      return;
    }
    finished = true;
    Finish(status);
  }

  detail::Run &run;
  const int64_t rank;
  uint64_t number = 0;
  std::shared_ptr<FailureStream> self;
  std::mutex mutex;
  FailureMessage message;
  bool writing = false, finished = false;
  std::optional<grpc::Status> ending;
};

/// A stream that is refused.
class NoStream final : public grpc::ServerWriteReactor<FailureMessage> {
public:
  explicit NoStream(const grpc::Status &status) { Finish(status); }
  void OnDone() override { delete this; }
};

/// In a time that does not depend on where they differ.
bool equalSecrets(std::string_view one, std::string_view other) {
  unsigned differ = one.size() == other.size() ? 0 : 1;
  for (size_t i = 0; i < one.size(); ++i)
    differ |= unsigned(uint8_t(one[i])) ^
              (other.empty() ? 1U : unsigned(uint8_t(other[i % other.size()])));
  return differ == 0;
}

class Handlers final : public Coordination::CallbackService {
public:
  Handlers(detail::Run &run, const CoordinationServiceOptions &options)
      : run(run), options(options) {}

  ServerUnaryReactor *Join(CallbackServerContext *context,
                           const JoinRequest *request,
                           JoinReply *reply) override {
    return answer(context, [&] { return run.join(*request, *reply); });
  }
  ServerUnaryReactor *Heartbeat(CallbackServerContext *context,
                                const Caller *caller, Nothing *) override {
    return answer(context, [&] { return run.check(*caller); });
  }
  ServerUnaryReactor *Set(CallbackServerContext *context,
                          const SetRequest *request, Nothing *) override {
    return answer(context, [&] { return run.set(*request); });
  }
  ServerUnaryReactor *Erase(CallbackServerContext *context,
                            const EraseRequest *request, Nothing *) override {
    return answer(context, [&] { return run.erase(*request); });
  }
  ServerUnaryReactor *Report(CallbackServerContext *context,
                             const ReportRequest *request, Nothing *) override {
    return answer(context, [&] { return run.report(*request); });
  }
  ServerUnaryReactor *Get(CallbackServerContext *context,
                          const GetRequest *request, GetReply *reply) override {
    if (grpc::Status status = authorize(*context); !status.ok())
      return answer(context, [&] { return status; });
    auto *call = new WaitingCall(run);
    call->waitAs(run.get(*request, [call, reply](const grpc::Status &status,
                                                 const std::string &value) {
      reply->set_value(value);
      call->Finish(status);
    }));
    return call;
  }
  ServerUnaryReactor *Barrier(CallbackServerContext *context,
                              const BarrierRequest *request,
                              BarrierReply *reply) override {
    if (grpc::Status status = authorize(*context); !status.ok())
      return answer(context, [&] { return status; });
    auto *call = new WaitingCall(run);
    call->waitAs(
        run.barrier(*request, [call, reply](const grpc::Status &status,
                                            const BarrierReply &ranks) {
          *reply = ranks;
          call->Finish(status);
        }));
    return call;
  }
  grpc::ServerWriteReactor<FailureMessage> *
  Watch(CallbackServerContext *context, const Caller *caller) override {
    if (grpc::Status status = authorize(*context); !status.ok())
      return new NoStream(status);
    return FailureStream::open(run, *caller);
  }

private:
  template <typename Function>
  ServerUnaryReactor *answer(CallbackServerContext *context,
                             const Function &function) {
    grpc::Status status = authorize(*context);
    if (status.ok())
      status = function();
    ServerUnaryReactor *reactor = context->DefaultReactor();
    reactor->Finish(status);
    return reactor;
  }

  grpc::Status authorize(CallbackServerContext &context) {
    if (options.token.empty())
      return grpc::Status::OK;
    const auto found = context.client_metadata().find(detail::tokenKey);
    if (found != context.client_metadata().end() &&
        equalSecrets({found->second.data(), found->second.size()},
                     options.token))
      return grpc::Status::OK;
    // A stranger must not fill the log.
    constexpr int most = 16;
    if (options.log && refusals.fetch_add(1) < most)
      options.log(fmt::format(
          "refused a call from {}: its token is {}", context.peer(),
          found == context.client_metadata().end() ? "missing" : "wrong"));
    return {grpc::StatusCode::UNAUTHENTICATED,
            "the token is wrong: give every rank the one that the service has "
            "(MESHLOOM_TOKEN)"};
  }

  detail::Run &run;
  const CoordinationServiceOptions &options;
  std::atomic<int> refusals = 0;
};

uint64_t randomGeneration() {
  std::random_device device;
  uint64_t number = 0;
  while (number == 0)
    number = (uint64_t(device()) << 32) | device();
  return number;
}

} // namespace

struct CoordinationService::State {
  explicit State(CoordinationServiceOptions serviceOptions, uint64_t generation)
      : options(std::move(serviceOptions)), run(options, generation),
        handlers(run, options) {}

  CoordinationServiceOptions options;
  detail::Run run;
  Handlers handlers;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<detail::Gate> gate;
  std::string address;
};

CoordinationService::CoordinationService(std::unique_ptr<State> state)
    : state(std::move(state)) {}

CoordinationService::~CoordinationService() {
  // An answer is sent; a call that still waits ends.
  state->gate.reset();
  const bool ended = bool(state->run.waitForEnd(std::chrono::milliseconds(0)));
  state->server->Shutdown(std::chrono::system_clock::now() +
                          std::chrono::milliseconds(ended ? 1000 : 0));
  state->server->Wait();
}

Result<std::unique_ptr<CoordinationService>>
CoordinationService::start(CoordinationServiceOptions options) {
  detail::quietGrpc();
  if (!options.log)
    options.log = [](const std::string &line) {
      (void)std::fprintf(stderr, "meshloom coordination: %s\n", line.c_str());
    };
  if (options.size < 1)
    return Error(fmt::format("expected a run of at least one process, got {}",
                             options.size));
  if (options.heartbeatTimeout < std::chrono::milliseconds(100))
    return Error(fmt::format("expected a heartbeat timeout of at least 100 ms, "
                             "got {} ms",
                             options.heartbeatTimeout.count()));
  if (Status token = detail::checkToken(options.token); !token)
    return token.error();
  Result<detail::Address> address = detail::splitAddress(
      options.address, "the coordination service's address");
  if (!address)
    return address.error();
  Result<bool> loopback = detail::isLoopback(address->host);
  if (!loopback)
    return loopback.error().withMessage(fmt::format(
        "the coordination service's address: {}", loopback.error().message()));
  if (!*loopback && !options.tls.isSet() && !options.allowPlainNetwork)
    return Error(
        fmt::format("the coordination service would listen on {}, which other "
                    "machines reach, without TLS: give certificates, take an "
                    "address of this machine alone (localhost), or allow plain "
                    "connections, if nobody else is on the network",
                    options.address));
  Result<std::shared_ptr<grpc::ServerCredentials>> credentials =
      detail::serverCredentials(options.tls);
  if (!credentials)
    return credentials.error();

  const uint64_t generation = options.generation.value_or(randomGeneration());
  const bool tls = options.tls.isSet(), token = !options.token.empty();
  auto state = std::make_unique<State>(std::move(options), generation);
  auto gate = detail::Gate::open(*address, tls, state->options.size,
                                 state->options.log);
  if (!gate)
    return gate.error().withMessage(fmt::format(
        "the coordination service does not start: {}", gate.error().message()));
  state->gate = std::move(*gate);
  address->port = state->gate->port();
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(detail::longestMessage);
  builder.SetMaxSendMessageSize(detail::longestMessage);
  builder.RegisterService(&state->handlers);
  auto acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
      *credentials);
  state->server = builder.BuildAndStart();
  if (!state->server)
    return Error(fmt::format("the coordination service does not start on {}",
                             str(*address)));
  state->gate->letInto(std::move(acceptor));
  state->address = str(*address);
  state->options.log(fmt::format(
      "listens on {} ({}), {}, {} processes, start {:016x}", state->address,
      *loopback ? "this machine alone reaches it" : "other machines reach it",
      tls     ? "with TLS"
      : token ? "without TLS, with a token"
              : "without TLS, without a token",
      state->options.size, generation));
  return std::unique_ptr<CoordinationService>(
      new CoordinationService(std::move(state)));
}

const std::string &CoordinationService::address() const {
  return state->address;
}
uint64_t CoordinationService::generation() const {
  return state->run.generation;
}
std::optional<Failure> CoordinationService::failure() const {
  return state->run.failure();
}
void CoordinationService::abort(const std::string &text) {
  state->run.abort(text);
}
void CoordinationService::noteEnd(int64_t rank) {
  state->run.noteEnd(rank);
}
Status CoordinationService::waitForEnd(std::chrono::milliseconds timeout) {
  return state->run.waitForEnd(timeout);
}

} // namespace meshloom

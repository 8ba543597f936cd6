// Calling servers, see Calls.h.
#include "Calls.h"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace meshloom::detail::ps {

std::string path(Method method) {
  static constexpr std::string_view names[] = {"Describe", "Begin",  "Load",
                                               "Create",   "Read",   "Write",
                                               "Drop",     "Update", "Run"};
  return fmt::format("/meshloom.ParameterServer/{}", names[size_t(method)]);
}

bool isLost(const grpc::Status &status) {
  switch (status.error_code()) {
  case grpc::StatusCode::UNAVAILABLE:
  case grpc::StatusCode::DEADLINE_EXCEEDED:
  case grpc::StatusCode::CANCELLED:
  case grpc::StatusCode::UNKNOWN:
  case grpc::StatusCode::INTERNAL:
    return true;
  default:
    return false;
  }
}

void quietGrpc() {
  static const bool once = [] {
    if (!std::getenv("GRPC_VERBOSITY"))
      gpr_set_log_function([](gpr_log_func_args *) {});
    return true;
  }();
  (void)once;
}

std::string tokenOr(const std::optional<std::string> &given) {
  if (given)
    return *given;
  const char *token = std::getenv("MESHLOOM_TOKEN");
  return token ? token : "";
}

bool isLoopback(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host == "localhost" || host == "[::1]" || host.starts_with("127.");
}

std::string shortened(std::string_view text) {
  constexpr size_t most = 4000; // headers of HTTP/2 are bounded
  return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

Peer::Peer(std::string name, std::string address, std::string token)
    : name(std::move(name)), address(std::move(address)),
      token(std::move(token)) {
  quietGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, pingMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, pingTimeoutMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // A server that comes back is seen soon.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 1000);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000);
  // Connections of their own: one that is lost is lost for nobody else.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  channel = grpc::CreateCustomChannel(
      this->address, grpc::InsecureChannelCredentials(), arguments);
}

grpc::Status Peer::call(Method method, const grpc::ByteBuffer &frame,
                        grpc::ByteBuffer &answer, double seconds) const {
  grpc::ClientContext context;
  if (!token.empty())
    context.AddMetadata(tokenKey, token);
  if (seconds > 0)
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(int64_t(seconds * 1000)));
  {
    std::lock_guard lock(mutex);
    if (isCancelled)
      return {grpc::StatusCode::CANCELLED, "the coordinator has ended"};
    waiting.push_back(&context);
  }
  const std::string name = path(method);
  const grpc::internal::RpcMethod called(
      name.c_str(), grpc::internal::RpcMethod::NORMAL_RPC, channel);
  grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel.get(), called, &context, frame, &answer);
  std::lock_guard lock(mutex);
  std::erase(waiting, &context);
  return status;
}

void Peer::cancel() const {
  std::lock_guard lock(mutex);
  isCancelled = true;
  for (grpc::ClientContext *context : waiting)
    context->TryCancel();
}

bool Peer::connect(double seconds) const {
  return channel->WaitForConnected(
      std::chrono::system_clock::now() +
      std::chrono::milliseconds(int64_t(seconds * 1000)));
}

} // namespace meshloom::detail::ps

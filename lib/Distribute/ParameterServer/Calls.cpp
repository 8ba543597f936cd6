// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calling servers, see Calls.h.
#include "Calls.h"

#include "meshloom/Cluster/Coordination/Network.h"

#include <fmt/format.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>

#include <algorithm>
#include <chrono>

namespace meshloom::detail::ps {

std::string path(Method method) {
  static constexpr std::string_view names[] = {
      "Describe", "Begin", "Watch",  "Load", "Create", "Read",
      "Write",    "Drop",  "Update", "Peek", "Run"};
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

std::string shortened(std::string_view text) {
  constexpr size_t most = 4000; // headers of HTTP/2 are bounded
  return std::string(text.substr(0, most)) + (text.size() > most ? "..." : "");
}

Peer::Peer(std::string name, std::string address, const Access &access)
    : name(std::move(name)), address(std::move(address)), token(access.token) {
  quietGrpc();
  const Pings pings = pingsOf(access);
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, pings.everyMilliseconds);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, pings.timeoutMilliseconds);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  // A server that comes back is noticed before the program that started it
  // sends work.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 500);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  // Each has a connection of its own, so that a lost one affects nobody else.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  channel = grpc::CreateCustomChannel(dialled(this->address, arguments),
                                      access.credentials, arguments);
}

grpc::Status Peer::call(Method method, const grpc::ByteBuffer &frame,
                        grpc::ByteBuffer &answer, double seconds) const {
  grpc::ClientContext context;
  if (seconds > 0)
    context.set_deadline(std::chrono::system_clock::now() +
                         std::chrono::milliseconds(int64_t(seconds * 1000)));
  {
    std::lock_guard lock(mutex);
    if (isCancelled)
      return {grpc::StatusCode::CANCELLED, "the coordinator has ended"};
    waiting.push_back(&context);
  }
  grpc::Status status = call(method, frame, answer, context);
  std::lock_guard lock(mutex);
  std::erase(waiting, &context);
  return status;
}

grpc::Status Peer::call(Method method, const grpc::ByteBuffer &frame,
                        grpc::ByteBuffer &answer,
                        grpc::ClientContext &context) const {
  if (!token.empty())
    context.AddMetadata(tokenKey, token);
  grpc::CompletionQueue queue;
  const auto called = grpc::GenericStub(channel).PrepareUnaryCall(
      &context, path(method), frame, &queue);
  called->StartCall();
  grpc::Status status;
  called->Finish(&answer, &status, nullptr);
  void *tag = nullptr;
  bool isDone = false;
  queue.Next(&tag, &isDone); // the one event
  return status;
}

void Peer::cancel() const {
  std::lock_guard lock(mutex);
  isCancelled = true;
  for (grpc::ClientContext *context : waiting)
    context->TryCancel();
}

bool Peer::isConnected() const {
  // Connections are made and closed only while somebody waits for one.
  constexpr auto moment = std::chrono::milliseconds(20);
  return channel->WaitForConnected(std::chrono::system_clock::now() + moment);
}

Presence::Presence(const Peer &peer, uint64_t session)
    : thread([this, &peer, session] { run(peer, session); }) {}

Presence::~Presence() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
    if (waiting)
      waiting->TryCancel();
    ending.notify_all();
  }
  thread.join();
}

void Presence::run(const Peer &peer, uint64_t session) {
  constexpr auto pause = std::chrono::milliseconds(500);
  std::unique_lock lock(mutex);
  while (!isEnding) {
    MessageWriter out;
    out.put(session);
    grpc::ByteBuffer answer;
    grpc::ClientContext context;
    // It is the first call of a connection, so that a server has met even a
    // coordinator that ends at once.
    context.set_wait_for_ready(true);
    waiting = &context;
    lock.unlock();
    (void)peer.call(Method::Watch, out.finish(), answer, context);
    lock.lock();
    waiting = nullptr;
    // The server was lost, or refuses the call.
    ending.wait_for(lock, pause, [&] { return isEnding; });
  }
}

} // namespace meshloom::detail::ps

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CoordinationClient: two threads beside the caller's. One reads the stream on
// which the service tells the run's failure, the other one sends heartbeats.
// The first failure that either learns of cancels every call that waits.
#include "meshloom/Cluster/Coordination/CoordinationClient.h"

#include "Coordination.grpc.pb.h"
#include "Messages.h"
#include "meshloom/Cluster/Coordination/Network.h"

#include "meshloom/Core/Hash.h"
#include "meshloom/Core/HostName.h"
#include "meshloom/Support/BuildId.h"

#include <fmt/format.h>
#include <grpcpp/channel.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <thread>

namespace meshloom {

using namespace coordination;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct CoordinationClient::State {
  using Stub = Coordination::Stub;

  CoordinationClientOptions options;
  std::unique_ptr<Stub> stub;
  Caller caller;
  int64_t serviceRank = -1;
  milliseconds heartbeatTimeout{10000};
  std::vector<RankInfo> ranks;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<Failure> first;
  std::function<void(const Failure &)> callback;
  /// Calls that are on their way, to be cancelled by a failure.
  std::set<grpc::ClientContext *> calls;
  grpc::ClientContext *stream = nullptr;
  bool stopping = false, left = false;
  bool watched = false; ///< the stream has been open: the service sees our end
  std::thread watcher, heart;

  ~State() { stop(); }
  void start();
  void stop();

  void prepare(grpc::ClientContext &context, milliseconds timeout) const;
  template <typename Request, typename Reply>
  grpc::Status call(grpc::Status (Stub::*method)(grpc::ClientContext *,
                                                 const Request &, Reply *),
                    const Request &request, Reply &reply, milliseconds timeout,
                    bool repeats);
  grpc::Status joinOnce(const JoinRequest &request, JoinReply &reply) const;
  Status join();
  Status meet();
  Result<BarrierReply> barrier(BarrierRequest::Kind kind,
                               const std::string &name, milliseconds timeout,
                               std::string_view value = {},
                               const std::string &called = {});

  void fail(const Failure &failure);
  void loseService(const std::string &text);
  bool waitForFailure(milliseconds time);
  Error errorOf(const std::string &doing, const grpc::Status &status);
  bool sleep(milliseconds time);
  void watch();
  void beat();
};

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void CoordinationClient::State::prepare(grpc::ClientContext &context,
                                        milliseconds timeout) const {
  context.set_deadline(std::chrono::system_clock::now() + timeout);
  if (!options.token.empty())
    context.AddMetadata(detail::tokenKey, options.token);
}

/// Calls a method that takes at most `timeout` there. A service that was not
/// reached is asked again where `repeats`: saying the same twice is saying it
/// once.
template <typename Request, typename Reply>
grpc::Status CoordinationClient::State::call(
    grpc::Status (Stub::*method)(grpc::ClientContext *, const Request &,
                                 Reply *),
    const Request &request, Reply &reply, milliseconds timeout, bool repeats) {
  // The service's own answer that time is up comes before ours.
  const milliseconds longest = timeout + heartbeatTimeout;
  const Clock::time_point deadline = Clock::now() + longest;
  while (true) {
    grpc::ClientContext context;
    prepare(context, longest);
    {
      const std::lock_guard lock(mutex);
      if (left)
        return {grpc::StatusCode::CANCELLED, "this process has left the run"};
      if (first)
        return {grpc::StatusCode::ABORTED, first->message()};
      calls.insert(&context);
    }
    const grpc::Status status =
        (stub.get()->*method)(&context, request, &reply);
    {
      const std::lock_guard lock(mutex);
      calls.erase(&context);
    }
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE || !repeats ||
        Clock::now() >= deadline)
      return status;
    if (waitForFailure(milliseconds(100)))
      return {grpc::StatusCode::ABORTED, "the run has failed"};
  }
}

/// Returns the error of a call that went wrong. A failure of the run comes by
/// the stream, a little later perhaps, and says more.
Error CoordinationClient::State::errorOf(const std::string &doing,
                                         const grpc::Status &status) {
  const grpc::StatusCode code = status.error_code();
  const bool ofRun = code == grpc::StatusCode::ABORTED ||
                     code == grpc::StatusCode::UNAVAILABLE ||
                     code == grpc::StatusCode::CANCELLED;
  if (ofRun && waitForFailure(milliseconds(
                   code == grpc::StatusCode::CANCELLED ? 0 : 3000))) {
    const std::lock_guard lock(mutex);
    return first->error().withMessage(
        fmt::format("{}: {}", doing, first->message()));
  }
  return Error(fmt::format("{}: {}{}", doing,
                           code == grpc::StatusCode::DEADLINE_EXCEEDED
                               ? "DeadlineExceeded: "
                               : "",
                           status.error_message()),
               errorCodeOf(code));
}

/// Returns whether the run has failed, at the latest in `time`.
bool CoordinationClient::State::waitForFailure(milliseconds time) {
  std::unique_lock lock(mutex);
  changed.wait_for(lock, time, [&] { return first || stopping; });
  return first.has_value();
}

//===----------------------------------------------------------------------===//
// Joining
//===----------------------------------------------------------------------===//

namespace {

uint64_t randomNumber() {
  std::random_device device;
  return (uint64_t(device()) << 32) | device();
}

/// The digest of the bytes of a file, in parts that are multiples of 32 bytes
/// but for the last one. Programs have many: words go to four sums, none of
/// which waits for the others.
class FileDigest {
public:
  void add(std::span<const char> bytes) {
    size += bytes.size();
    std::array<uint64_t, 4> words{};
    for (; bytes.size() >= sizeof(words);
         bytes = bytes.subspan(sizeof(words))) {
      std::memcpy(words.data(), bytes.data(), sizeof(words));
      mix(words);
    }
    words = {};
    std::memcpy(words.data(), bytes.data(), bytes.size());
    mix(words);
  }
  uint64_t value() const {
    StableHash digest;
    digest.add(size);
    for (uint64_t sum : sums)
      digest.add(sum);
    return digest.value();
  }

private:
  void mix(const std::array<uint64_t, 4> &words) {
    for (size_t i = 0; i < words.size(); ++i)
      sums[i] = std::rotl(sums[i] ^ words[i], 29) * 0x9e3779b97f4a7c15;
  }
  uint64_t size = 0;
  std::array<uint64_t, 4> sums{1, 2, 3, 4};
};

} // namespace

std::string runName(uint64_t generation) {
  return fmt::format("meshloom-{:016x}", generation);
}

std::string executableHash() {
  // The program cannot change while it runs.
  static const auto &hash = *new std::string([] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    FileDigest digest;
    std::vector<char> part(256 << 10);
    do {
      file.read(part.data(), std::streamsize(part.size()));
      digest.add({part.data(), size_t(file.gcount())});
    } while (file);
    return file.eof() ? fmt::format("{:016x}", digest.value())
                      : std::string("unknown");
  }());
  return hash;
}

grpc::Status CoordinationClient::State::joinOnce(const JoinRequest &request,
                                                 JoinReply &reply) const {
  grpc::ClientContext context;
  prepare(context, heartbeatTimeout);
  return stub->Join(&context, request, &reply);
}

Status CoordinationClient::State::join() {
  JoinRequest request;
  request.set_rank(options.rank);
  request.set_size(options.size);
  request.set_host(options.host);
  request.set_pid(getpid());
  request.set_binary_hash(options.binaryHash);
  request.set_version(options.version);
  request.set_generation(options.generation.value_or(0));
  request.set_incarnation(randomNumber());

  // The service may start after this process.
  const Clock::time_point deadline = Clock::now() + options.startTimeout;
  const std::string doing = fmt::format("rank {} cannot join the run at {}",
                                        options.rank, options.address);
  while (true) {
    // A new channel each time: gRPC 1.51 now and then never tries again on one
    // whose first connection took longer than the time to the next.
    Result<std::shared_ptr<grpc::Channel>> channel =
        detail::openChannel(options.address, options.tls);
    if (!channel)
      return channel.error();
    stub = Coordination::NewStub(*channel);
    JoinReply reply;
    const grpc::Status status = joinOnce(request, reply);
    if (status.ok()) {
      caller.set_generation(reply.generation());
      caller.set_rank(options.rank);
      serviceRank = reply.service_rank();
      heartbeatTimeout =
          std::max(milliseconds(100),
                   detail::clampTimeout(reply.heartbeat_timeout_ms()));
      return Success();
    }
    const grpc::StatusCode code = status.error_code();
    if (code != grpc::StatusCode::UNAVAILABLE &&
        code != grpc::StatusCode::DEADLINE_EXCEEDED)
      return Error(fmt::format("{}: {}", doing, status.error_message()),
                   errorCodeOf(code));
    if (Clock::now() >= deadline)
      return Error(fmt::format("{}: no coordination service was found there "
                               "within {} s ({}). Is "
                               "rank 0 (or mesh-launch, mesh-coordinator) "
                               "started, is the address "
                               "right, and do all use TLS or none?",
                               doing,
                               double(options.startTimeout.count()) / 1000,
                               status.error_message()),
                   ErrorCode::UNAVAILABLE);
    std::this_thread::sleep_for(milliseconds(50));
  }
}

/// Waits for the others.
Status CoordinationClient::State::meet() {
  {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, heartbeatTimeout, [&] { return watched || first; });
  }
  Result<BarrierReply> others =
      barrier(BarrierRequest::START, "", options.startTimeout);
  if (!others)
    return others.error();
  const std::lock_guard lock(mutex);
  ranks.reserve(size_t(others->ranks_size()));
  for (const RankMessage &message : others->ranks())
    ranks.push_back({int64_t(ranks.size()), message.host(), message.pid()});
  return Success();
}

Result<std::shared_ptr<CoordinationClient>>
CoordinationClient::connect(CoordinationClientOptions options) {
  if (Result<detail::Address> address = detail::splitAddress(
          options.address, "the coordination service's address");
      !address)
    return address.error();
  if (Status token = detail::checkToken(options.token); !token)
    return token.error();
  if (options.host.empty())
    options.host = hostName();
  if (options.binaryHash.empty())
    options.binaryHash = executableHash();
  if (options.version.empty())
    options.version = buildId();
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  if (Status status = state->join(); !status)
    return status.error();
  state->start();
  if (Status status = state->meet(); !status)
    return status.error();
  return std::shared_ptr<CoordinationClient>(
      new CoordinationClient(std::move(state)));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

void CoordinationClient::State::fail(const Failure &failure) {
  std::function<void(const Failure &)> notify;
  {
    const std::lock_guard lock(mutex);
    if (first || left)
      return;
    first = failure;
    notify = callback;
    for (grpc::ClientContext *context : calls)
      context->TryCancel();
  }
  changed.notify_all();
  if (notify)
    notify(failure);
}

void CoordinationClient::State::loseService(const std::string &text) {
  Failure failure{Failure::Kind::SERVICE_LOST, serviceRank, "", 0, text,
                  ErrorCode::UNAVAILABLE};
  {
    const std::lock_guard lock(mutex);
    if (serviceRank >= 0 && serviceRank < int64_t(ranks.size())) {
      failure.host = ranks[size_t(serviceRank)].host;
      failure.pid = ranks[size_t(serviceRank)].pid;
    }
  }
  fail(failure);
}

/// False where the client stops meanwhile.
bool CoordinationClient::State::sleep(milliseconds time) {
  std::unique_lock lock(mutex);
  return !changed.wait_for(lock, time, [&] { return stopping; });
}

/// Reads the stream until the run's failure or its end comes, and opens it
/// again where it breaks: a connection may, a service that is gone stays so.
void CoordinationClient::State::watch() {
  const milliseconds grace = std::min(milliseconds(1000), heartbeatTimeout / 5);
  std::optional<Clock::time_point> brokenSince;
  while (true) {
    grpc::ClientContext context;
    if (!options.token.empty())
      context.AddMetadata(detail::tokenKey, options.token);
    {
      const std::lock_guard lock(mutex);
      if (stopping)
        return;
      stream = &context;
    }
    const Clock::time_point opened = Clock::now();
    std::unique_ptr<grpc::ClientReader<FailureMessage>> reader =
        stub->Watch(&context, caller);
    reader->WaitForInitialMetadata();
    {
      const std::lock_guard lock(mutex);
      watched = true;
    }
    changed.notify_all();
    FailureMessage message;
    const bool failed = reader->Read(&message);
    if (failed) {
      fail(detail::failureOf(message));
      context.TryCancel();
    }
    const grpc::Status status = reader->Finish();
    {
      const std::lock_guard lock(mutex);
      stream = nullptr;
      if (failed || stopping || status.ok())
        return;
    }
    if (status.error_code() != grpc::StatusCode::UNAVAILABLE &&
        status.error_code() != grpc::StatusCode::CANCELLED) {
      loseService(status.error_message());
      return;
    }
    const Clock::time_point now = Clock::now();
    if (!brokenSince || now - opened > grace)
      brokenSince = now;
    else if (now - *brokenSince >= grace) {
      loseService(fmt::format("{} does not answer any more ({})",
                              options.address, status.error_message()));
      return;
    }
    if (!sleep(grace / 10))
      return;
  }
}

/// Says five times in the time after which the service would miss it that this
/// rank lives, and notices when the service does not answer.
void CoordinationClient::State::beat() {
  const milliseconds pause = std::min(milliseconds(2000), heartbeatTimeout / 5);
  Clock::time_point answered = Clock::now();
  int failures = 0;
  while (sleep(failures == 0 ? pause : pause / 10)) {
    grpc::ClientContext context;
    prepare(context, heartbeatTimeout * 3 / 10);
    {
      const std::lock_guard lock(mutex);
      if (stopping || first)
        return;
      calls.insert(&context);
    }
    Nothing reply;
    const grpc::Status status = stub->Heartbeat(&context, caller, &reply);
    {
      const std::lock_guard lock(mutex);
      calls.erase(&context);
    }
    if (status.ok()) {
      answered = Clock::now();
      failures = 0;
      continue;
    }
    if (status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
      loseService(status.error_message());
      return;
    }
    // Twice: this process itself may have been stopped during the first.
    if (++failures >= 2 &&
        Clock::now() - answered >= heartbeatTimeout * 8 / 10) {
      loseService(fmt::format(
          "{} has not answered for {} ms: its process is "
          "stopped or hangs, or the network is gone",
          options.address,
          std::chrono::duration_cast<milliseconds>(Clock::now() - answered)
              .count()));
      return;
    }
  }
}

void CoordinationClient::State::start() {
  watcher = std::thread([this] { watch(); });
  heart = std::thread([this] { beat(); });
}

void CoordinationClient::State::stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
    if (stream)
      stream->TryCancel();
    for (grpc::ClientContext *context : calls)
      context->TryCancel();
  }
  changed.notify_all();
  for (std::thread *thread : {&watcher, &heart})
    if (thread->joinable())
      thread->join();
}

//===----------------------------------------------------------------------===//
// What ranks call
//===----------------------------------------------------------------------===//

CoordinationClient::CoordinationClient(std::unique_ptr<State> state)
    : state(std::move(state)) {}
CoordinationClient::~CoordinationClient() = default;

int64_t CoordinationClient::rank() const {
  return state->options.rank;
}
int64_t CoordinationClient::size() const {
  return state->options.size;
}
uint64_t CoordinationClient::generation() const {
  return state->caller.generation();
}
std::string CoordinationClient::runName() const {
  return meshloom::runName(generation());
}
const std::vector<RankInfo> &CoordinationClient::ranks() const {
  return state->ranks;
}

Status CoordinationClient::set(const std::string &key, std::string_view value) {
  if (value.size() > detail::longestValue)
    return Error(fmt::format("the value of '{}' has {} bytes, the key-value "
                             "store takes at most {}",
                             key, value.size(), detail::longestValue));
  SetRequest request;
  *request.mutable_caller() = state->caller;
  request.set_key(key);
  request.set_value(std::string(value));
  Nothing reply;
  const grpc::Status status = state->call(&State::Stub::Set, request, reply,
                                          state->heartbeatTimeout, true);
  if (!status.ok())
    return state->errorOf(fmt::format("setting '{}'", key), status);
  return Success();
}

Result<std::string> CoordinationClient::get(const std::string &key,
                                            milliseconds timeout) {
  GetRequest request;
  *request.mutable_caller() = state->caller;
  request.set_key(key);
  request.set_timeout_ms(timeout.count());
  GetReply reply;
  const grpc::Status status =
      state->call(&State::Stub::Get, request, reply,
                  detail::clampTimeout(timeout.count()), true);
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
      status.error_code() == grpc::StatusCode::NOT_FOUND)
    return Error(fmt::format("DeadlineExceeded: '{}' was not set by any rank "
                             "within {} ms",
                             key, timeout.count()),
                 ErrorCode::DEADLINE_EXCEEDED);
  if (!status.ok())
    return state->errorOf(fmt::format("waiting for '{}'", key), status);
  return std::move(*reply.mutable_value());
}

Result<std::optional<std::string>>
CoordinationClient::find(const std::string &key) {
  GetRequest request;
  *request.mutable_caller() = state->caller;
  request.set_key(key);
  GetReply reply;
  const grpc::Status status = state->call(&State::Stub::Get, request, reply,
                                          state->heartbeatTimeout, true);
  if (status.error_code() == grpc::StatusCode::NOT_FOUND)
    return std::optional<std::string>();
  if (!status.ok())
    return state->errorOf(fmt::format("looking for '{}'", key), status);
  return std::optional(std::move(*reply.mutable_value()));
}

Status CoordinationClient::erase(const std::string &prefix) {
  EraseRequest request;
  *request.mutable_caller() = state->caller;
  request.set_prefix(prefix);
  Nothing reply;
  const grpc::Status status = state->call(&State::Stub::Erase, request, reply,
                                          state->heartbeatTimeout, true);
  if (!status.ok())
    return state->errorOf(fmt::format("erasing '{}'", prefix), status);
  return Success();
}

Result<BarrierReply> CoordinationClient::State::barrier(
    BarrierRequest::Kind kind, const std::string &name, milliseconds timeout,
    std::string_view value, const std::string &called) {
  BarrierRequest request;
  *request.mutable_caller() = caller;
  request.set_kind(kind);
  request.set_name(name);
  request.set_timeout_ms(timeout.count());
  request.set_value(std::string(value));
  request.set_call(called);
  BarrierReply reply;
  const grpc::Status status =
      call(&Stub::Barrier, request, reply,
           detail::clampTimeout(timeout.count()), false);
  if (status.ok())
    return reply;
  const std::string doing =
      kind == BarrierRequest::START ? "waiting for all ranks"
      : kind == BarrierRequest::END ? "shutdown"
                                    : fmt::format("barrier '{}'", name);
  return errorOf(doing, status);
}

Status CoordinationClient::barrier(const std::string &name,
                                   milliseconds timeout,
                                   const std::string &call) {
  Result<BarrierReply> reply =
      state->barrier(BarrierRequest::NAMED, name, timeout, {}, call);
  if (!reply)
    return reply.error();
  return Success();
}

Result<std::vector<std::string>>
CoordinationClient::gather(const std::string &subject, int rank, int size,
                           std::string_view text, milliseconds timeout) {
  if (rank != this->rank() || size != this->size())
    return Error(fmt::format("expected all {} ranks of the run to gather '{}', "
                             "with this one as rank {}, got rank {} of {}",
                             this->size(), subject, this->rank(), rank, size));
  Result<BarrierReply> reply =
      state->barrier(BarrierRequest::NAMED, subject, timeout, text);
  if (!reply)
    return reply.error();
  std::vector<std::string> texts(
      std::make_move_iterator(reply->mutable_values()->begin()),
      std::make_move_iterator(reply->mutable_values()->end()));
  texts.resize(size_t(size)); // nobody has said anything
  return texts;
}

void CoordinationClient::reportFailure(const std::string &text,
                                       ErrorCode code) {
  ReportRequest request;
  *request.mutable_caller() = state->caller;
  request.set_text(text);
  request.set_code(int32_t(code));
  Nothing reply;
  const grpc::Status status = state->call(&State::Stub::Report, request, reply,
                                          state->heartbeatTimeout, true);
  // Whoever reports a failure has failed, whether the others can know or not.
  if (!status.ok() || !state->waitForFailure(milliseconds(1000))) {
    const RankInfo self =
        size_t(rank()) < ranks().size() ? ranks()[size_t(rank())] : RankInfo();
    state->fail(
        {Failure::Kind::REPORTED, rank(), self.host, self.pid, text, code});
  }
}

std::optional<Failure> CoordinationClient::failure() const {
  const std::lock_guard lock(state->mutex);
  return state->first;
}

void CoordinationClient::onFailure(
    std::function<void(const Failure &)> callback) {
  std::optional<Failure> firstFailure;
  {
    const std::lock_guard lock(state->mutex);
    state->callback = callback;
    firstFailure = state->first;
  }
  if (firstFailure && callback)
    callback(*firstFailure);
}

Status CoordinationClient::shutdown(milliseconds timeout) {
  Result<std::vector<std::string>> farewells = shutdown(timeout, "");
  if (!farewells)
    return farewells.error();
  return Success();
}

Result<std::vector<std::string>>
CoordinationClient::shutdown(milliseconds timeout, std::string_view farewell) {
  {
    const std::lock_guard lock(state->mutex);
    if (state->left)
      return std::vector<std::string>();
  }
  Result<BarrierReply> reply =
      state->barrier(BarrierRequest::END, "", timeout, farewell);
  if (!reply)
    return reply.error();
  {
    const std::lock_guard lock(state->mutex);
    state->left = true;
  }
  state->stop();
  return std::vector<std::string>(reply->values().begin(),
                                  reply->values().end());
}

} // namespace meshloom

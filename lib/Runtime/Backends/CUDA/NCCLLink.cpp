// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transfers by NCCL. Each group of ranks that combine something has an NCCL
// communicator, and so have all ranks together, for what they send each other.
// One is made when it is first needed: its first rank makes the name, and sends
// it to the others.
//
// No function waits without looking whether the run has failed: where some
// rank does not come, NCCL's communicators are aborted.
#include "NCCL.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <thread>

using namespace meshloom;
using namespace meshloom::cuda;

namespace {
/// The type and the reduction by which NCCL does what `combine` does.
struct NCCLForm {
  NCCLType type;
  NCCLReduction reduction;
};

/// Nothing where it does something else: its min and max of floats lose nans,
/// and a product of f32 overflows on the way.
std::optional<NCCLForm> formOf(DType type, ReduceKind kind) {
  static const std::map<DType, NCCLType> integers = {
      {DType::I8, NCCLType::I8},   {DType::UI8, NCCLType::UI8},
      {DType::I32, NCCLType::I32}, {DType::UI32, NCCLType::UI32},
      {DType::I64, NCCLType::I64}, {DType::UI64, NCCLType::UI64}};
  static const std::map<DType, NCCLType> floats = {
      {DType::F16, NCCLType::F16},
      {DType::BF16, NCCLType::BF16},
      {DType::F32, NCCLType::F32},
      {DType::F64, NCCLType::F64}};
  if (type == DType::I1) { // bytes of 0 and 1
    if (kind == ReduceKind::And)
      return NCCLForm{NCCLType::UI8, NCCLReduction::Min};
    if (kind == ReduceKind::Or)
      return NCCLForm{NCCLType::UI8, NCCLReduction::Max};
    return std::nullopt;
  }
  if (const auto found = floats.find(type); found != floats.end())
    return kind == ReduceKind::Sum
               ? std::optional(NCCLForm{found->second, NCCLReduction::Sum})
               : std::nullopt;
  const auto found = integers.find(type);
  if (found == integers.end())
    return std::nullopt;
  switch (kind) {
  case ReduceKind::Sum:
    return NCCLForm{found->second, NCCLReduction::Sum};
  case ReduceKind::Prod:
    return NCCLForm{found->second, NCCLReduction::Prod};
  case ReduceKind::Min:
    return NCCLForm{found->second, NCCLReduction::Min};
  case ReduceKind::Max:
    return NCCLForm{found->second, NCCLReduction::Max};
  default:
    return std::nullopt;
  }
}

std::string nameOf(NCCLResult result) {
  switch (result) {
  case NCCLResult::UnhandledDeviceError:
    return "ncclUnhandledCudaError";
  case NCCLResult::SystemError:
    return "ncclSystemError";
  case NCCLResult::InternalError:
    return "ncclInternalError";
  case NCCLResult::InvalidArgument:
    return "ncclInvalidArgument";
  case NCCLResult::InvalidUsage:
    return "ncclInvalidUsage";
  case NCCLResult::RemoteError:
    return "ncclRemoteError";
  default:
    return fmt::format("error {}", int(result));
  }
}

class NCCLLink : public CardLink {
public:
  NCCLLink(const NCCL &library, std::shared_ptr<Card> card,
           std::shared_ptr<Communicator> communicator,
           std::shared_ptr<TransferOrder> order)
      : library(library), card(std::move(card)),
        communicator(std::move(communicator)), order(std::move(order)) {}
  ~NCCLLink() override {
    (void)card->synchronize();
    abortAll();
  }

  Status exchange(std::span<const Outgoing> outgoing,
                  std::span<const Incoming> incoming,
                  Messages messages) override;
  bool reduces(DType type, ReduceKind kind) const override {
    return formOf(type, kind).has_value();
  }
  Status allReduce(std::span<const int> group, std::span<const Sum> sums,
                   Messages messages) override;
  void beginRun(Messages messages) override;
  Status endRun(EventHandle mark, Messages messages) override;
  void abandon() override { (void)check(); }

private:
  using Clock = std::chrono::steady_clock;

  /// Makes the calls, which are one piece of work of the card.
  Status asGroup(NCCLHandle handle, std::string_view function,
                 const Messages &messages,
                 std::span<const std::function<NCCLResult()>> calls);
  /// Asks for a transfer of `group` in its turn: `ask(handle)`.
  Status inTurn(std::span<const int> group, const Messages &messages,
                const std::function<Status(NCCLHandle)> &ask);
  Result<NCCLHandle> handleOf(std::span<const int> group,
                              const Messages &messages);
  Status begin(NCCLHandle &handle, std::span<const int> group,
               const Messages &messages);
  /// Waits until a function that returns before has done its work.
  Status settle(NCCLHandle handle, NCCLResult result, std::string_view function,
                const Messages &messages);
  Error failed(std::string_view function, NCCLResult result) const {
    return Error(fmt::format("{}: {} fails with {}", card->description(),
                             function, nameOf(result)),
                 ErrorCode::INTERNAL);
  }
  void abortAll();
  /// Fails, and aborts what is under way, where some rank has failed.
  Status check();

  const NCCL &library;
  const std::shared_ptr<Card> card;
  const std::shared_ptr<Communicator> communicator;
  const std::shared_ptr<TransferOrder> order; ///< null: there is none
  std::mutex mutex;                           ///< of what is below
  std::map<std::vector<int>, NCCLHandle> handles;
  std::optional<Error> failure;
};

void NCCLLink::abortAll() {
  if (order)
    order->giveUp();
  (void)card->enter();
  for (auto &[group, handle] : handles)
    (void)library.ncclCommAbort(handle);
  handles.clear();
}

Status NCCLLink::check() {
  std::lock_guard lock(mutex);
  if (failure)
    return *failure;
  failure = communicator->failure();
  for (const auto &[group, handle] : handles) {
    NCCLResult state = NCCLResult::Success;
    const NCCLResult asked = library.ncclCommGetAsyncError(handle, &state);
    if (asked != NCCLResult::Success)
      state = asked;
    if (!failure && state != NCCLResult::Success &&
        state != NCCLResult::InProgress)
      failure = failed("a transfer by NCCL", state);
  }
  if (!failure)
    return Success();
  abortAll();
  return *failure;
}

/// A rank says when it has ended a run. As long as one waits for that, it hears
/// of failures.
void NCCLLink::beginRun(Messages messages) {
  const auto ends =
      std::make_shared<std::vector<char>>(size_t(communicator->size()));
  std::vector<Communicator::Incoming> incoming;
  for (int rank = 0; rank < communicator->size(); ++rank)
    if (rank != communicator->rank())
      incoming.push_back({rank, {&(*ends)[size_t(rank)], 1}});
  communicator->exchange(messages.tag, {}, incoming, messages.timeout)
      .then([ends](const Status &) {});
}

Status NCCLLink::endRun(EventHandle mark, Messages messages) {
  constexpr std::chrono::microseconds pause(50);
  for (;;) {
    const Result<bool> isOver = card->isOver(mark);
    if (!isOver)
      return isOver.error();
    if (*isOver)
      break;
    if (Status ok = check(); !ok)
      return ok;
    std::this_thread::sleep_for(pause);
  }
  static constexpr char end = 1;
  std::vector<Communicator::Outgoing> outgoing;
  for (int rank = 0; rank < communicator->size(); ++rank)
    if (rank != communicator->rank())
      outgoing.push_back({rank, {&end, 1}});
  (void)communicator->exchange(messages.tag, outgoing, {}, messages.timeout);
  return Success();
}

Status NCCLLink::settle(NCCLHandle handle, NCCLResult result,
                        std::string_view function, const Messages &messages) {
  constexpr std::chrono::microseconds pause(20);
  const auto begin = Clock::now();
  while (result == NCCLResult::InProgress) {
    if (std::optional<Error> other = communicator->failure())
      return *other;
    if (messages.timeout && Clock::now() - begin > *messages.timeout)
      return Error(fmt::format("{}: {} has not ended within {} ms: another "
                               "rank has not come to it",
                               card->description(), function,
                               messages.timeout->count()),
                   ErrorCode::DEADLINE_EXCEEDED);
    std::this_thread::sleep_for(pause);
    if (const NCCLResult asked = library.ncclCommGetAsyncError(handle, &result);
        asked != NCCLResult::Success)
      result = asked;
  }
  return result == NCCLResult::Success ? Status(Success())
                                       : failed(function, result);
}

Status NCCLLink::begin(NCCLHandle &handle, std::span<const int> group,
                       const Messages &messages) {
  NCCLId id{};
  const int rank = communicator->rank();
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  if (rank == group.front()) {
    if (NCCLResult result = library.ncclGetUniqueId(&id);
        result != NCCLResult::Success)
      return failed("ncclGetUniqueId", result);
    for (int other : group.subspan(1))
      outgoing.push_back({other, {id.bytes, sizeof(id.bytes)}});
  } else {
    incoming.push_back({group.front(), {id.bytes, sizeof(id.bytes)}});
  }
  if (Status ok = communicator->wait(communicator->exchange(
          messages.tag, outgoing, incoming, messages.timeout));
      !ok)
    return ok;
  NCCLConfig config;
  const int index = int(std::ranges::find(group, rank) - group.begin());
  const NCCLResult result = library.ncclCommInitRankConfig(
      &handle, int(group.size()), id, index, &config);
  return settle(handle, result, "ncclCommInitRankConfig", messages);
}

Result<NCCLHandle> NCCLLink::handleOf(std::span<const int> group,
                                      const Messages &messages) {
  if (failure)
    return *failure;
  if (Status ok = card->enter(); !ok)
    return ok.error();
  const std::vector<int> key(group.begin(), group.end());
  if (auto found = handles.find(key); found != handles.end())
    return found->second;
  NCCLHandle handle = nullptr;
  const Status begun = begin(handle, group, messages);
  if (handle)
    handles.emplace(key, handle);
  return begun ? Result<NCCLHandle>(handle) : begun.error();
}

Status NCCLLink::inTurn(std::span<const int> group, const Messages &messages,
                        const std::function<Status(NCCLHandle)> &ask) {
  if (order)
    if (Status ok = order->begin(messages.tag, *communicator); !ok)
      return ok;
  std::lock_guard lock(mutex);
  const Result<NCCLHandle> handle = handleOf(group, messages);
  Status asked = handle ? ask(*handle) : handle.error();
  if (order)
    order->end();
  return asked;
}

Status NCCLLink::asGroup(NCCLHandle handle, std::string_view function,
                         const Messages &messages,
                         std::span<const std::function<NCCLResult()>> calls) {
  if (calls.empty())
    return Success();
  NCCLResult result = library.ncclGroupStart();
  if (result != NCCLResult::Success)
    return failed("ncclGroupStart", result);
  auto isTaken = [&] {
    return result == NCCLResult::Success || result == NCCLResult::InProgress;
  };
  for (const auto &call : calls)
    if (isTaken())
      result = call();
  const NCCLResult end = library.ncclGroupEnd();
  return settle(handle, isTaken() ? end : result, function, messages);
}

Status NCCLLink::exchange(std::span<const Outgoing> outgoing,
                          std::span<const Incoming> incoming,
                          Messages messages) {
  std::vector<int> ranks(size_t(communicator->size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return inTurn(ranks, messages, [&](NCCLHandle handle) -> Status {
    std::vector<std::function<NCCLResult()>> calls;
    calls.reserve(outgoing.size() + incoming.size());
    for (const Outgoing &transfer : outgoing)
      calls.emplace_back([&, transfer] {
        return library.ncclSend(transfer.data, size_t(transfer.bytes),
                                NCCLType::UI8, transfer.to, handle,
                                card->streamHandle());
      });
    for (const Incoming &transfer : incoming)
      calls.emplace_back([&, transfer] {
        return library.ncclRecv(transfer.data, size_t(transfer.bytes),
                                NCCLType::UI8, transfer.from, handle,
                                card->streamHandle());
      });
    return asGroup(handle, "an exchange by NCCL", messages, calls);
  });
}

Status NCCLLink::allReduce(std::span<const int> group,
                           std::span<const Sum> sums, Messages messages) {
  return inTurn(group, messages, [&](NCCLHandle handle) -> Status {
    std::vector<std::function<NCCLResult()>> calls;
    for (const Sum &sum : sums)
      if (sum.count > 0)
        calls.emplace_back([&, sum, form = *formOf(sum.type, sum.kind)] {
          return library.ncclAllReduce(sum.data, sum.data, size_t(sum.count),
                                       form.type, form.reduction, handle,
                                       card->streamHandle());
        });
    return asGroup(handle, "ncclAllReduce", messages, calls);
  });
}
} // namespace

std::unique_ptr<CardLink>
cuda::makeNCCLLink(const NCCL &library, std::shared_ptr<Card> card,
                   std::shared_ptr<Communicator> communicator,
                   std::shared_ptr<TransferOrder> order) {
  return std::make_unique<NCCLLink>(library, std::move(card),
                                    std::move(communicator), std::move(order));
}

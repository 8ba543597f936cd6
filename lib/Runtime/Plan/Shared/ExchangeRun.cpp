// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Plan/Shared/ExchangeRun.h"

#include "meshloom/Core/CustomCall.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

using namespace meshloom;
using namespace meshloom::plan;

ExchangeRun::ExchangeRun(const Program &program, std::span<ExchangeCall> calls,
                         Communicator *communicator, RunExchanges &exchanges,
                         MemoryOf memoryOf)
    : program(program), calls(calls), communicator(communicator),
      timeout(exchanges.timeout), tag(exchanges.take(calls.size())),
      memoryOf(std::move(memoryOf)) {}

void ExchangeRun::begin(const Work &work) {
  calls[work.exchange].begin(*communicator, tag + work.exchange, timeout,
                             memoryOf(work.exchange));
  underWay.push_back(work.exchange);
}

Status ExchangeRun::end(const Work &work) {
  std::erase(underWay, work.exchange);
  Status ended =
      calls[work.exchange].end(*communicator, memoryOf(work.exchange));
  if (ended)
    return ended;
  return ended.error().withMessage(
      fmt::format("{} between processes: {}",
                  name(std::get<CollectiveStep>(program.steps[work.step]).kind),
                  ended.error().message()));
}

bool ExchangeRun::isFinite(const Work &work) const {
  return !isReduction(std::get<CollectiveStep>(program.steps[work.step])) ||
         calls[work.exchange].isFinite(memoryOf(work.exchange));
}

/// Returns whether all processes have failed at the same step, and all of them
/// could end what they had begun to send each other.
bool ExchangeRun::failedTogether(const Failure &failure) {
  if (!failure.any())
    return false;
  const auto *step = std::get_if<KernelStep>(&program.steps[failure.step()]);
  return step && failsTogether(*step) &&
         std::ranges::all_of(underWay, [&](unsigned exchange) {
           return bool(calls[exchange].end(*communicator, memoryOf(exchange)));
         });
}

void ExchangeRun::fail(const Error &error, const Failure &failure) {
  if (!communicator || failedTogether(failure))
    return;
  communicator->abort(error.withMessage(fmt::format(
      "process {} ({}): {}", communicator->rank(),
      communicator->hostOf(communicator->rank()), error.message())));
  for (const ExchangeCall &call : calls)
    call.abandon(*communicator);
}

std::vector<ExchangeCall> plan::exchangeCalls(const StepGraph &graph) {
  std::vector<ExchangeCall> calls;
  calls.reserve(graph.exchanges.size());
  for (const Exchange &exchange : graph.exchanges)
    calls.emplace_back(graph, exchange);
  return calls;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A service and its clients, for tests: threads of this process.
#pragma once

#include "meshloom/Cluster/Coordination/CoordinationClient.h"
#include "meshloom/Cluster/Coordination/CoordinationService.h"

#include <future>
#include <mutex>
#include <vector>

namespace meshloom::test {

using namespace std::chrono_literals;
using Clients = std::vector<std::shared_ptr<CoordinationClient>>;

/// The lines that a service logs.
class Log {
public:
  void add(const std::string &line) {
    const std::lock_guard lock(mutex);
    text += line + "\n";
  }
  std::string str() const {
    const std::lock_guard lock(mutex);
    return text;
  }

private:
  mutable std::mutex mutex;
  std::string text;
};

/// A service, and what it logs.
struct TestService {
  explicit TestService(int64_t size, CoordinationServiceOptions options = {}) {
    options.size = size;
    options.log = [this](const std::string &line) { log.add(line); };
    service = CoordinationService::start(options).value_or_throw();
  }
  Log log;
  std::unique_ptr<CoordinationService> service;
};

inline CoordinationClientOptions rankOf(const CoordinationService &service,
                                        int64_t rank, int64_t size) {
  CoordinationClientOptions options;
  options.address = service.address();
  options.rank = rank;
  options.size = size;
  options.host = "host" + std::to_string(rank);
  options.binaryHash = "same";
  options.version = "1";
  options.startTimeout = 60s;
  return options;
}

/// All ranks, joined.
inline Clients joinAll(const CoordinationService &service, int64_t size) {
  std::vector<std::future<Result<std::shared_ptr<CoordinationClient>>>> joins;
  for (int64_t rank = 0; rank < size; ++rank)
    joins.push_back(std::async(std::launch::async, [&service, rank, size] {
      return CoordinationClient::connect(rankOf(service, rank, size));
    }));
  Clients clients;
  for (auto &join : joins)
    clients.push_back(join.get().value_or_throw());
  return clients;
}

/// Returns the outcome of a call on every client at once, as text: "" for
/// success.
template <typename Function>
std::vector<std::string> onAll(const Clients &clients, Function function) {
  std::vector<std::future<std::string>> calls;
  for (const std::shared_ptr<CoordinationClient> &client : clients)
    calls.push_back(std::async(std::launch::async, [&function, client] {
      const Status status = function(*client);
      return status ? std::string() : status.error().message();
    }));
  std::vector<std::string> texts;
  for (std::future<std::string> &call : calls)
    texts.push_back(call.get());
  return texts;
}

} // namespace meshloom::test

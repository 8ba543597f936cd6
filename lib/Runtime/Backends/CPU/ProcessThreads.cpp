// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/ThreadedProcesses.h"

#include <fmt/format.h>

using namespace meshloom;

Result<std::shared_ptr<Client>> meshloom::createProcessThreads(
    int64_t processes, CPUOptions options,
    std::vector<std::shared_ptr<Transport>> transports,
    std::function<std::shared_ptr<void>(int process)> working) {
  if (processes < 1 || processes > options.devices)
    return Error(fmt::format("{} devices cannot be in {} processes",
                             options.devices, processes));
  Result<std::shared_ptr<Client>> alone = createCPUClient(options);
  if (!alone)
    return alone;
  if (transports.empty())
    transports = makeInProcessTransports(int(processes));
  options.devices /= processes;
  options.numbers.clear();
  std::vector<std::shared_ptr<Client>> clients;
  for (const std::shared_ptr<Transport> &transport : transports) {
    options.communicator = std::make_shared<Communicator>(transport);
    Result<std::shared_ptr<Client>> client = createCPUClient(options);
    if (!client)
      return client;
    clients.push_back(std::move(*client));
  }
  return plan::joinProcesses(std::move(clients), std::move(*alone),
                             std::move(working));
}

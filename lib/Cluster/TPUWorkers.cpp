// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The machines that a TPU's chips are in.
#include "Reading.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace meshloom {

namespace {

[[noreturn]] void fail(const std::string &problem) {
  Error(fmt::format("[TPUClusterResolver] {}", problem)).raise();
}

constexpr int64_t defaultPort = 8470;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos)
      return parts;
    text.remove_prefix(comma + 1);
  }
}

/// "host:port" of a text with a port, or with that of TPU workers.
std::string withPort(const std::string &address) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos)
    return fmt::format("{}:{}", address, defaultPort);
  const std::optional<int64_t> port =
      detail::readNumber(std::string_view(address).substr(colon + 1));
  if (!port || *port < 1 || *port > 65535 || colon == 0)
    fail(fmt::format(
        "expected an address such as \"10.0.0.2:8470\", got \"{}\"", address));
  return address;
}

/// Returns the workers that the environment of a machine with TPUs names.
TPUWorkers localWorkers(const Environment &environment) {
  TPUWorkers workers;
  const std::string names = environment("TPU_WORKER_HOSTNAMES").value_or("");
  if (names.empty() || names == "localhost")
    return workers;
  for (const std::string &name : split(names)) {
    if (name.empty())
      fail(fmt::format("expected TPU_WORKER_HOSTNAMES such as "
                       "\"10.0.0.2,10.0.0.3\", got \"{}\"",
                       names));
    workers.endpoints.push_back(withPort(name));
  }
  const std::string id = environment("TPU_WORKER_ID").value_or("");
  workers.index = detail::readNumber(id);
  if (!workers.index || *workers.index >= int64_t(workers.endpoints.size()))
    fail(fmt::format("expected TPU_WORKER_ID in 0..{}, as TPU_WORKER_HOSTNAMES "
                     "has {} machines, got \"{}\"",
                     workers.endpoints.size() - 1, workers.endpoints.size(),
                     id));
  return workers;
}

} // namespace

TPUWorkers gcloudTPU(const std::string &name) {
  if (name.starts_with('-'))
    fail(fmt::format("\"{}\" is not a name of a TPU", name));
  Result<std::string> output =
      detail::commandOutput({"gcloud", "compute", "tpus", "tpu-vm", "describe",
                             name, "--format=json"});
  if (!output)
    fail(fmt::format("TPU \"{}\" cannot be looked up: {}", name,
                     output.error().message()));
  TPUWorkers workers;
  try {
    const nlohmann::json tpu = nlohmann::json::parse(*output);
    const auto state = tpu.at("state").get<std::string>();
    if (state != "READY")
      fail(fmt::format("TPU \"{}\" is {}, not READY", name, state));
    for (const nlohmann::json &endpoint : tpu.at("networkEndpoints"))
      workers.endpoints.push_back(
          fmt::format("{}:{}", endpoint.at("ipAddress").get<std::string>(),
                      endpoint.value("port", defaultPort)));
  } catch (const nlohmann::json::exception &error) {
    fail(fmt::format("gcloud's description of TPU \"{}\" cannot be read: {}",
                     name, error.what()));
  }
  return workers;
}

TPUWorkersResolver::TPUWorkersResolver(const std::string &tpu,
                                       const TPULookup &lookup,
                                       const Environment &environment,
                                       std::source_location where) try {
  constexpr std::string_view scheme = "grpc://";
  TPUWorkers workers;
  if (tpu.empty() || tpu == "local") {
    workers = localWorkers(environment);
  } else if (tpu.starts_with(scheme) || tpu.find(':') != std::string::npos) {
    for (std::string_view address : split(tpu)) {
      if (address.starts_with(scheme))
        address.remove_prefix(scheme.size());
      if (address.empty())
        fail(
            fmt::format("expected an address such as \"grpc://10.0.0.2:8470\", "
                        "got \"{}\"",
                        tpu));
      workers.endpoints.push_back(withPort(std::string(address)));
    }
  } else {
    workers = lookup(tpu);
    if (workers.endpoints.empty())
      fail(fmt::format("TPU \"{}\" has no machines", tpu));
  }
  if (!workers.cores.empty()) {
    const auto [least, most] =
        std::minmax_element(workers.cores.begin(), workers.cores.end());
    if (*least != *most)
      fail(fmt::format("machines have different numbers of TPU cores ({}): all "
                       "must have the same",
                       fmt::join(workers.cores, ", ")));
    accelerators["TPU"] = *most;
  }
  type = "worker";
  index = workers.index.value_or(0);
  if (!workers.endpoints.empty()) {
    spec = ClusterSpec({{"worker", workers.endpoints}});
    rpcLayer = "grpc";
  }
} catch (const Error &error) {
  error.atLine(where).raise();
}

} // namespace meshloom

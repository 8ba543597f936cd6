// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pods of a Kubernetes cluster.
#include "Reading.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace meshloom {

namespace {

[[noreturn]] void throwKubernetesError(const std::string &problem) {
  Error(fmt::format("[KubernetesClusterResolver] {}", problem)).raise();
}

} // namespace

std::vector<KubernetesPod> kubectlPods(const std::string &selector) {
  Result<std::string> output = detail::commandOutput(
      {"kubectl", "get", "pods", "--selector=" + selector, "-o", "json"});
  if (!output)
    throwKubernetesError(fmt::format("pods \"{}\" cannot be listed: {}",
                                     selector, output.error().message()));
  std::vector<KubernetesPod> pods;
  try {
    const nlohmann::json list = nlohmann::json::parse(*output);
    for (const nlohmann::json &item : list.at("items"))
      pods.push_back({item.at("metadata").at("name").get<std::string>(),
                      item.at("status").at("phase").get<std::string>(),
                      item.at("status").value("hostIP", std::string())});
  } catch (const nlohmann::json::exception &error) {
    throwKubernetesError(
        fmt::format("kubectl's list of pods \"{}\" cannot be read: {}",
                    selector, error.what()));
  }
  return pods;
}

KubernetesClusterResolver::KubernetesClusterResolver(
    const KubernetesOptions &options, const KubernetesPodList &list,
    std::source_location where) try {
  if (options.tf_server_port < 1 || options.tf_server_port > 65535)
    throwKubernetesError(fmt::format("expected a port in 1..65535, got {}",
                                     options.tf_server_port));
  std::map<std::string, std::vector<std::string>> jobs;
  for (const auto &[job, selectors] : options.job_to_label_mapping)
    for (const std::string &selector : selectors) {
      std::vector<KubernetesPod> pods = list(selector);
      std::sort(pods.begin(), pods.end(),
                [](const KubernetesPod &one, const KubernetesPod &other) {
                  return one.name < other.name;
                });
      for (const KubernetesPod &pod : pods) {
        if (pod.phase != "Running")
          throwKubernetesError(
              fmt::format("pod \"{}\" of job \"{}\" (selector \"{}\") is {}, "
                          "not Running: wait until all pods run",
                          pod.name, job, selector, pod.phase));
        if (pod.hostIp.empty())
          throwKubernetesError(
              fmt::format("pod \"{}\" has no host address", pod.name));
        jobs[job].push_back(
            fmt::format("{}:{}", pod.hostIp, options.tf_server_port));
      }
    }
  spec = ClusterSpec(jobs);
  rpcLayer = options.rpc_layer;
} catch (const Error &error) {
  error.atLine(where).raise();
}

} // namespace meshloom

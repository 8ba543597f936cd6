// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See RunOptions.h.
#include "meshloom/Cluster/Coordination/RunOptions.h"

#include <fmt/format.h>

#include <charconv>

namespace meshloom {

namespace {

TlsFiles readTls(const Environment &environment) {
  return {environment("MESHLOOM_TLS_CERTIFICATE").value_or(""),
          environment("MESHLOOM_TLS_KEY").value_or(""),
          environment("MESHLOOM_TLS_AUTHORITY").value_or("")};
}

/// Seconds, whole or not; `time` stays where nothing is said.
Status readSeconds(const Environment &environment, const char *name,
                   std::chrono::milliseconds &time) {
  const std::optional<std::string> text = environment(name);
  if (!text)
    return Success();
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() ||
      !(seconds >= 0.1 && seconds <= 1e7))
    return Error(fmt::format("expected seconds from 0.1 as {}, such as {}=10, "
                             "got \"{}\"",
                             name, name, *text));
  time = std::chrono::milliseconds(int64_t(seconds * 1000));
  return Success();
}

} // namespace

Result<CoordinationServiceOptions>
serviceOptions(const ProcessGroup &group, const Environment &environment) {
  CoordinationServiceOptions options;
  if (!group.coordinator.empty())
    options.address = group.coordinator;
  options.size = group.size;
  options.rank = 0;
  options.generation = group.generation;
  options.token = environment("MESHLOOM_TOKEN").value_or("");
  options.tls = readTls(environment);
  options.allowPlainNetwork = environment("MESHLOOM_PLAIN_NETWORK") == "1";
  if (Status status = readSeconds(environment, "MESHLOOM_HEARTBEAT_TIMEOUT",
                                  options.heartbeatTimeout);
      !status)
    return status.error();
  if (Status status = readSeconds(environment, "MESHLOOM_START_TIMEOUT",
                                  options.startTimeout);
      !status)
    return status.error();
  return options;
}

Result<CoordinationClientOptions>
clientOptions(const ProcessGroup &group, const Environment &environment) {
  CoordinationClientOptions options;
  options.address = group.coordinator;
  options.rank = group.rank;
  options.size = group.size;
  options.generation = group.generation;
  options.token = environment("MESHLOOM_TOKEN").value_or("");
  options.tls = readTls(environment);
  if (Status status = readSeconds(environment, "MESHLOOM_START_TIMEOUT",
                                  options.startTimeout);
      !status)
    return status.error();
  return options;
}

} // namespace meshloom

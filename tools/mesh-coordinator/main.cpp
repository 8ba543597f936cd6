// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-coordinator: the coordination service on its own, for processes that
// something else than mesh-launch starts.
#include "../CommandLine.h"
#include "../FiniteRange.h"

#include "meshloom/Cluster/Coordination/RunOptions.h"
#include "meshloom/Support/File.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

using namespace meshloom;

namespace {

struct Options {
  int64_t processes = 1;
  std::string address = "localhost:0";
  std::string publish;
  double heartbeatTimeout = 0, startTimeout = 0;
  TlsFiles tls;
  bool plainNetwork = false;
};

int fail(const std::string &text) {
  (void)std::fprintf(stderr, "mesh-coordinator: %s\n", text.c_str());
  return 1;
}

/// Waits until every rank has left or one has failed.
int serve(const Options &options) {
  ProcessGroup group;
  group.size = options.processes;
  group.coordinator = options.address;
  Result<CoordinationServiceOptions> parsed = serviceOptions(group);
  if (!parsed)
    return fail(parsed.error().message());
  parsed->rank = -1;
  if (options.tls.isSet())
    parsed->tls = options.tls;
  parsed->allowPlainNetwork |= options.plainNetwork;
  const auto inMilliseconds = [](double seconds) {
    return std::chrono::milliseconds(int64_t(seconds * 1000));
  };
  if (options.heartbeatTimeout > 0)
    parsed->heartbeatTimeout = inMilliseconds(options.heartbeatTimeout);
  if (options.startTimeout > 0)
    parsed->startTimeout = inMilliseconds(options.startTimeout);
  Result<std::unique_ptr<CoordinationService>> service =
      CoordinationService::start(std::move(*parsed));
  if (!service)
    return fail(service.error().message());

  const std::string text =
      fmt::format("MESHLOOM_COORDINATOR={}\nMESHLOOM_GENERATION={:016x}\n",
                  (*service)->address(), (*service)->generation());
  if (options.publish.empty()) {
    (void)std::fputs(text.c_str(), stdout);
    (void)std::fflush(stdout);
  } else if (Status status = writeFile(options.publish, text); !status) {
    return fail(status.error().message());
  }
  constexpr std::chrono::hours year(24 * 365);
  while (!(*service)->waitForEnd(year)) {
  }
  if (const std::optional<Failure> failure = (*service)->failure())
    return fail(failure->message());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app(
      "Runs the coordination service of one start of a program, until all of "
      "its processes have left. Start each process with DTENSOR_CLIENT_ID, "
      "DTENSOR_NUM_CLIENTS and the two variables that the service prints. "
      "MESHLOOM_TOKEN is a secret that all processes must have.",
      "mesh-coordinator");
  setUpCommandLine(app);
  app.add_option("-n,--processes", options.processes,
                 "The number of processes of the program (default: 1)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--address", options.address,
                 "The address to listen at, \"host:port\"; port 0 takes a free "
                 "port (default: localhost:0)");
  app.add_option(
      "--publish", options.publish,
      "The file to write the variables to (default: the standard output)");
  app.add_option("--heartbeat-timeout", options.heartbeatTimeout,
                 "The seconds after which a silent process counts as lost "
                 "(default: MESHLOOM_HEARTBEAT_TIMEOUT, else 10)")
      ->check(FiniteRange(0.1, 1e6));
  app.add_option(
         "--start-timeout", options.startTimeout,
         "The seconds within which all processes must join (default: no limit)")
      ->check(FiniteRange(0.1, 1e6));
  app.add_option("--tls-certificate", options.tls.certificate,
                 "The certificate of the service, in PEM format");
  app.add_option("--tls-key", options.tls.key, "The key of that certificate");
  app.add_option(
      "--tls-authority", options.tls.authority,
      "The certificate of the authority that has signed all certificates");
  app.add_flag("--plain-network", options.plainNetwork,
               "Listen on a network without TLS");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return serve(options);
}

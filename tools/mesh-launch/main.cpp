// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mesh-launch: starts a program several times, as the ranks of one run.
#include "../CommandLine.h"
#include "../FiniteRange.h"
#include "Agent.h"
#include "Launch.h"

#include <CLI/CLI.hpp>

using namespace meshloom::launch;

static void addProcesses(CLI::App &app, LaunchOptions &options) {
  app.add_option("-n,--processes", options.processes,
                 "The number of processes (default: 1, or one for each slot of "
                 "the hosts)")
      ->check(CLI::Range(1, 100000));
  app.add_option(
         "--workers", options.roles.workers,
         "Start the tasks of a TensorFlow cluster instead, each with its "
         "TF_CONFIG, at free ports of this machine: this many workers")
      ->check(CLI::Range(0, 10000))
      ->excludes("--processes");
  app.add_option("--ps", options.roles.servers,
                 "The number of parameter servers, which end with the chief, "
                 "or with the workers if there is no chief")
      ->check(CLI::Range(0, 10000))
      ->excludes("--processes");
  app.add_flag("--chief", options.roles.chief, "Start a chief, too")
      ->excludes("--processes");
  app.add_flag("--evaluator", options.roles.evaluator,
               "Start an evaluator, too, and wait for its end")
      ->excludes("--processes");
  app.add_option(
         "--devices-per-process", options.devicesPerProcess,
         "The virtual CPUs of each process (default: the program's choice)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--hosts", options.hosts,
                 "The hosts, as in \"a,b:2\": names, and the number of "
                 "processes of each (default: this machine)")
      ->excludes("--workers")
      ->excludes("--ps")
      ->excludes("--chief")
      ->excludes("--evaluator");
  app.add_option("--hosts-file", options.hostsFile,
                 "A file of hosts, a line \"name slots\" each; it is read "
                 "again at each restart")
      ->check(CLI::ExistingFile)
      ->excludes("--hosts")
      ->excludes("--workers")
      ->excludes("--ps")
      ->excludes("--chief")
      ->excludes("--evaluator");
  app.add_option("--remote-shell", options.remoteShell,
                 "How a command is run on another host (default: \"" +
                     options.remoteShell +
                     "\"); mesh-launch, the program and "
                     "this folder have the same paths there");
  app.add_option("--address", options.address,
                 "The name by which other hosts reach this one (default: its "
                 "host name; localhost if all processes run here)");
}

static void addFailures(CLI::App &app, LaunchOptions &options) {
  app.add_option("--max-restarts", options.maxRestarts,
                 "How often to start again after a failure, at most: without "
                 "the processes that were killed or lost, or on the hosts that "
                 "the file of hosts then names (default: 0)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--min-processes", options.minProcesses,
                 "Do not restart with fewer processes than this (default: 1)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--grace", options.grace,
                 "The seconds that the other processes have to end by "
                 "themselves after a failure (default: 2)")
      ->check(meshloom::FiniteRange(0.0, 1e6));
  app.add_option("--heartbeat-timeout", options.heartbeatTimeout,
                 "The seconds after which a silent process counts as lost "
                 "(default: MESHLOOM_HEARTBEAT_TIMEOUT, else 10)")
      ->check(meshloom::FiniteRange(0.1, 1e6));
}

static void addTls(CLI::App &app, LaunchOptions &options) {
  app.add_option("--tls-certificate", options.tls.certificate,
                 "The certificate of each process, in PEM format; with it, all "
                 "traffic between hosts uses TLS, except tensors");
  app.add_option("--tls-key", options.tls.key, "The key of that certificate");
  app.add_option("--tls-authority", options.tls.authority,
                 "The certificate of the authority that has signed it");
  app.add_flag("--plain-network", options.plainNetwork,
               "Allow connections to other hosts without TLS");
}

int main(int argc, char **argv) {
  LaunchOptions options;
  bool agent = false;
  CLI::App app(
      "Starts a program once for each rank, with a coordination service beside "
      "it. Lines that ranks write begin with their number. When a rank fails, "
      "mesh-launch ends the others and says which rank failed first and why. "
      "It passes signals on to all ranks.",
      "mesh-launch");
  meshloom::setUpCommandLine(app);
  app.footer("After the options: PROGRAM [ARGUMENTS...]");
  app.prefix_command();
  addProcesses(app, options);
  addFailures(app, options);
  addTls(app, options);
  app.add_flag("--verbose", options.verbose,
               "Print the address of the coordination service");
  app.add_flag("--agent", agent)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  if (agent)
    return runAgent();
  options.program = app.remaining();
  if (options.program.empty())
    return app.exit(CLI::ParseError("give a program to start, such as "
                                    "mesh-launch -n 4 build/bin/mnist_mlp",
                                    2));
  if (!options.processes && options.hosts.empty() &&
      options.hostsFile.empty() && !options.roles.any())
    options.processes = 1;
  return launch(options);
}

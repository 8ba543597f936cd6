// mesh-launch: starts a program several times, as the ranks of one run.
#include "../FiniteRange.h"
#include "../VersionFlag.h"
#include "Agent.h"
#include "Launch.h"

#include <CLI/CLI.hpp>

using namespace meshloom::launch;

int main(int argc, char **argv) {
  LaunchOptions options;
  bool agent = false;
  CLI::App app(
      "Starts a program once a rank, with a coordination service beside "
      "it. Lines that ranks write begin with their number. When one "
      "fails the others are ended, and it says which failed first and "
      "why. Signals are passed on.",
      "mesh-launch");
  meshloom::addVersionFlag(app);
  app.footer("After the options: PROGRAM [ARGUMENTS...]");
  app.prefix_command();
  app.add_option("-n,--processes", options.processes,
                 "How many processes (default: 1, or one a slot of the hosts)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--workers", options.roles.workers,
                 "Instead: tasks of a cluster of TensorFlow's, told by "
                 "TF_CONFIG; so many workers, at free ports of this machine")
      ->check(CLI::Range(0, 10000))
      ->excludes("--processes");
  app.add_option("--ps", options.roles.servers,
                 "So many parameter servers, which end with the chief, or with "
                 "the workers where there is no chief")
      ->check(CLI::Range(0, 10000))
      ->excludes("--processes");
  app.add_flag("--chief", options.roles.chief, "And a chief")
      ->excludes("--processes");
  app.add_flag("--evaluator", options.roles.evaluator,
               "And an evaluator, which is waited for")
      ->excludes("--processes");
  app.add_option(
         "--devices-per-process", options.devicesPerProcess,
         "Virtual CPUs of each process (default: what the program says)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--hosts", options.hosts,
                 "Where: \"a,b:2\", names and how many processes each takes "
                 "(default: this machine)")
      ->excludes("--workers")
      ->excludes("--ps")
      ->excludes("--chief")
      ->excludes("--evaluator");
  app.add_option(
         "--hosts-file", options.hostsFile,
         "The same in a file of lines \"name slots\", read again at each "
         "restart")
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
                 "What other hosts call this one (default: its name; localhost "
                 "where all processes run here)");
  app.add_option(
         "--max-restarts", options.maxRestarts,
         "After a failure start again, at most so often: on what is "
         "left, where processes were killed or lost, or what the file of "
         "hosts then says (default: 0)")
      ->check(CLI::Range(0, 1000000));
  app.add_option("--min-processes", options.minProcesses,
                 "With fewer it does not restart (default: 1)")
      ->check(CLI::Range(1, 100000));
  app.add_option("--grace", options.grace,
                 "Seconds that the others have to end by themselves after a "
                 "failure (default: 2)")
      ->check(meshloom::FiniteRange(0.0, 1e6));
  app.add_option("--heartbeat-timeout", options.heartbeatTimeout,
                 "Seconds after which a process of which nothing is heard is "
                 "lost (default: MESHLOOM_HEARTBEAT_TIMEOUT, else 10)")
      ->check(meshloom::FiniteRange(0.1, 1e6));
  app.add_option("--tls-certificate", options.tls.certificate,
                 "Certificate of each process, in PEM format: then all between "
                 "hosts that is not tensors goes by TLS");
  app.add_option("--tls-key", options.tls.key, "That certificate's key");
  app.add_option("--tls-authority", options.tls.authority,
                 "Certificate of the authority that has signed it");
  app.add_flag("--plain-network", options.plainNetwork,
               "Other hosts may be talked to without TLS");
  app.add_flag("--verbose", options.verbose,
               "Say where the coordination service listens");
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

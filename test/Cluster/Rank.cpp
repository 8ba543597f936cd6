// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A rank that does what its arguments say, for tests of launchers: each is
// "verb:argument", for one rank alone "2@verb:argument". Verbs: join, print,
// error, barrier, report, sleep (seconds), signal, exit, shutdown.
#include "meshloom/Cluster/Coordination/RunOptions.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <thread>

using namespace meshloom;
using namespace std::chrono_literals;

namespace {

std::shared_ptr<CoordinationClient> client;

void act(const ProcessGroup &group, const std::string &verb,
         const std::string &argument) {
  if (verb == "join")
    client = CoordinationClient::connect(clientOptions(group).value_or_throw())
                 .value_or_throw();
  else if (verb == "print")
    fmt::print("{}\n", argument);
  else if (verb == "error")
    fmt::print(stderr, "{}\n", argument);
  else if (verb == "barrier")
    client->barrier(argument, 60s).value_or_throw();
  else if (verb == "report")
    client->reportFailure(argument);
  else if (verb == "sleep")
    std::this_thread::sleep_for(std::chrono::milliseconds(
        int64_t(std::strtod(argument.c_str(), nullptr) * 1000)));
  else if (verb == "signal")
    (void)raise(std::atoi(argument.c_str()));
  else if (verb == "exit")
    std::_Exit(std::atoi(argument.c_str()));
  else if (verb == "shutdown")
    client->shutdown(60s).value_or_throw();
  else
    throw Error("no verb " + verb);
  (void)std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  try {
    const ProcessGroup group = processGroup().value_or_throw();
    for (int i = 1; i < argc; ++i) {
      std::string text = argv[i];
      if (const size_t sign = text.find('@'); sign != std::string::npos) {
        if (std::atoi(text.c_str()) != group.rank)
          continue;
        text.erase(0, sign + 1);
      }
      const size_t colon = text.find(':');
      act(group, text.substr(0, colon),
          colon == std::string::npos ? "" : text.substr(colon + 1));
    }
    client.reset();
  } catch (const Error &error) {
    fmt::print(stderr, "{}\n", error.message());
    client.reset();
    return 1;
  }
  return 0;
}

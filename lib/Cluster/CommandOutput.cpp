// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The output of other programs that resolvers ask (kubectl, gcloud).
#include "Reading.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

extern char **environ;

namespace meshloom::detail {

Result<std::string> commandOutput(const std::vector<std::string> &command) {
  std::vector<char *> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);

  std::array<int, 2> output = {-1, -1}, errors = {-1, -1};
  if (pipe2(output.data(), O_CLOEXEC) != 0 ||
      pipe2(errors.data(), O_CLOEXEC) != 0)
    return Error(fmt::format("no pipe to '{}': {}", command.front(),
                             std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
  pid_t child = 0;
  const int error = posix_spawnp(&child, command.front().c_str(), &actions,
                                 nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(output[1]);
  close(errors[1]);
  std::array<std::string, 2> texts;
  std::array<pollfd, 2> files = {pollfd{output[0], POLLIN, 0},
                                 pollfd{errors[0], POLLIN, 0}};
  int open = error == 0 ? 2 : 0;
  while (open > 0) {
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR)
      break;
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].fd < 0 || files[i].revents == 0)
        continue;
      std::array<char, 4096> bytes;
      const ssize_t count = read(files[i].fd, bytes.data(), bytes.size());
      if (count > 0) {
        texts[i].append(bytes.data(), size_t(count));
      } else if (count == 0 || errno != EINTR) {
        files[i].fd = -1;
        --open;
      }
    }
  }
  close(output[0]);
  close(errors[0]);
  if (error != 0)
    return Error(fmt::format("'{}' cannot be run: {}", command.front(),
                             std::strerror(error)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return std::move(texts[0]);
  while (texts[1].ends_with('\n'))
    texts[1].pop_back();
  return Error(fmt::format("'{}' failed{}{}", fmt::join(command, " "),
                           texts[1].empty() ? "" : ": ", texts[1]));
}

} // namespace meshloom::detail

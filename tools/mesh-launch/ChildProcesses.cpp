// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See ChildProcesses.h.
#include "ChildProcesses.h"

#include <fmt/format.h>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>

namespace meshloom::launch {

namespace {

/// A line longer than this is handed on in pieces.
constexpr size_t longestLine = size_t(16) << 20;
/// Children wait while so much of their output is not taken.
constexpr size_t mostBuffered = size_t(4) << 20;

sigset_t handledSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number :
       {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    sigaddset(&set, number);
  return set;
}

/// The file that a command's first word means, as a shell finds it.
Result<std::string> findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), X_OK) == 0)
      return name;
    return Error(
        fmt::format("'{}' cannot be run: {}", name, std::strerror(errno)));
  }
  const char *path = std::getenv("PATH");
  std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const size_t colon = folders.find(':');
    const std::string file =
        fmt::format("{}/{}", folders.substr(0, colon), name);
    struct stat status;
    if (access(file.c_str(), X_OK) == 0 && stat(file.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode))
      return file;
    if (colon == std::string_view::npos)
      return Error(
          fmt::format("there is no program '{}' on PATH: give its path, "
                      "such as ./{}",
                      name, name));
    folders.remove_prefix(colon + 1);
  }
}

std::vector<char *> pointers(const std::vector<std::string> &texts) {
  std::vector<char *> result;
  result.reserve(texts.size() + 1);
  for (const std::string &text : texts)
    result.push_back(const_cast<char *>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Runs in a child before it becomes the program: it does nothing that may wait
/// for a lock, which another thread may have held when it was forked.
[[noreturn]] void become(const char *file, char **words, char **environment,
                         int input, int output, int errors, pid_t parent,
                         const rlimit &files) {
  setpgid(0, 0);
  setrlimit(RLIMIT_NOFILE, &files);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
  for (int number = 1; number < NSIG; ++number)
    if (number != SIGKILL && number != SIGSTOP)
      ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(input, 0);
  dup2(output, 1);
  dup2(errors, 2);
  execve(file, words, environment);
  constexpr std::string_view text = "mesh-launch: the program cannot be run\n";
  (void)!::write(2, text.data(), text.size());
  _exit(127);
}

/// The numbers of all processes that there are.
std::vector<pid_t> allProcesses() {
  std::vector<pid_t> found;
  DIR *folder = opendir("/proc");
  if (!folder)
    return found;
  while (const dirent *entry = readdir(folder))
    if (const long number = std::strtol(entry->d_name, nullptr, 10); number > 0)
      found.push_back(pid_t(number));
  closedir(folder);
  return found;
}

/// A file of a process; empty where it is gone.
std::string readOf(pid_t process, std::string_view file) {
  std::string text;
  const std::string path = fmt::format("/proc/{}/{}", process, file);
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened < 0)
    return text;
  std::array<char, 4096> bytes;
  for (ssize_t count; (count = ::read(opened, bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), size_t(count));
  close(opened);
  return text;
}

/// 0 where it is gone.
pid_t parentOf(pid_t process) {
  // "number (name) state parent ..."; a name may have brackets.
  const std::string text = readOf(process, "stat");
  const size_t name = text.rfind(") ");
  return name == std::string::npos || name + 4 > text.size()
             ? 0
             : pid_t(std::strtol(text.c_str() + name + 4, nullptr, 10));
}

/// Kills all whose environment has the mark; whether there were any.
bool killMarked(const std::string &mark) {
  const std::string whole = std::string(1, '\0') + mark + std::string(1, '\0');
  bool any = false;
  for (const pid_t process : allProcesses())
    if (process != getpid() &&
        (std::string(1, '\0') + readOf(process, "environ")).find(whole) !=
            std::string::npos) {
      any = true;
      kill(process, SIGKILL);
    }
  return any;
}

/// The process beside this one: reads which groups there are (negative: no
/// longer), and kills those that are left when the pipe closes, and what has
/// the mark.
[[noreturn]] void guardGroups(int pipe, const std::string &mark) {
  setpgid(0, 0);
  sigset_t signals;
  sigfillset(&signals);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  prctl(PR_SET_NAME, "mesh-launch-end");
  // Nothing of this program stays open by it.
  const int nowhere = open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2})
    dup2(nowhere, stream);
  dup2(pipe, 3);
  close_range(4, ~0U, 0);
  std::vector<pid_t> groups;
  pid_t group = 0;
  while (true) {
    const ssize_t count = ::read(3, &group, sizeof(group));
    if (count < 0 && errno == EINTR)
      continue;
    if (count != ssize_t(sizeof(group)))
      break;
    if (group > 0)
      groups.push_back(group);
    else
      std::erase(groups, -group);
  }
  for (const pid_t group : groups)
    kill(-group, SIGKILL);
  // One that was just being started may have escaped the first look.
  constexpr int mostLooks = 100;
  for (int look = 0; look < mostLooks && killMarked(mark); ++look)
    usleep(10000);
  _exit(0);
}

} // namespace

std::string describeStatus(int status) {
  if (WIFSIGNALED(status))
    return fmt::format("signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

/// The files that are needed beside the children's, and by each child: pipes,
/// and a connection to the coordination service.
static constexpr int64_t filesOfLauncher = 32, filesOfChild = 4;

ChildProcesses::ChildProcesses(std::function<void(int)> onSignal)
    : onSignal(std::move(onSignal)),
      mark(fmt::format("MESHLOOM_LAUNCH={}.{:08x}", getpid(),
                       std::random_device()())) {
  getrlimit(RLIMIT_NOFILE, &files);
  rlimit most = files;
  most.rlim_cur = most.rlim_max;
  setrlimit(RLIMIT_NOFILE, &most);
}

Status ChildProcesses::expectFiles(int64_t children) const {
  const int64_t needed = filesOfLauncher + filesOfChild * children;
  if (files.rlim_max == RLIM_INFINITY || int64_t(files.rlim_max) >= needed)
    return Success();
  return Error(fmt::format(
      "{} processes need {} open files here, and the system allows {}: raise "
      "the limit, as ulimit -n {} does",
      children, needed, files.rlim_max, needed));
}

Result<std::unique_ptr<ChildProcesses>>
ChildProcesses::make(int64_t children, std::function<void(int)> onSignal) {
  std::unique_ptr<ChildProcesses> processes(
      new ChildProcesses(std::move(onSignal)));
  if (Status enough = processes->expectFiles(children); !enough)
    return enough.error();
  const sigset_t set = handledSignals();
  processes->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  processes->waker = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (processes->signals < 0 || processes->waker < 0)
    return Error(fmt::format("no file for signals can be opened: {}",
                             std::strerror(errno)));
  sigprocmask(SIG_BLOCK, &set, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (Status started = processes->startGuard(); !started)
    return started.error();
  return processes;
}

Status ChildProcesses::startGuard() {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error(fmt::format("no pipe to a process: {}", std::strerror(errno)));
  guard = fork();
  if (guard == 0)
    guardGroups(ends[0], mark);
  const int error = errno;
  close(ends[0]);
  guardPipe = ends[1];
  if (guard < 0)
    return Error(
        fmt::format("no process can be started: {}", std::strerror(error)));
  return Success();
}

void ChildProcesses::tellGuard(pid_t group) const {
  // Atomic: far less than a pipe's least buffer.
  (void)!::write(guardPipe, &group, sizeof(group));
}

ChildProcesses::~ChildProcesses() {
  signalAll(SIGKILL);
  for (Child &child : children) {
    while (!child.ended && waitpid(child.process, nullptr, 0) < 0 &&
           errno == EINTR) {
    }
    child.ended = true;
    for (const int file : {child.input, child.output[0], child.output[1]})
      if (file >= 0)
        close(file);
  }
  endLeftovers();
  for (const int file : {signals, waker, guardPipe})
    if (file >= 0)
      close(file);
  if (guard > 0)
    waitpid(guard, nullptr, 0);
}

void ChildProcesses::endLeftovers() {
  // A process that is killed here may leave children, which then are ours.
  for (bool any = true; any;) {
    any = false;
    for (const pid_t process : allProcesses())
      if (process != guard && parentOf(process) == getpid()) {
        any = true;
        kill(process, SIGKILL);
        while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
        }
      }
  }
}

Result<size_t> ChildProcesses::start(Command command) {
  Result<std::string> file = findProgram(command.words.front());
  if (!file)
    return file.error();
  std::array<int, 2> output = {-1, -1}, errors = {-1, -1}, input = {-1, -1};
  if (pipe2(output.data(), O_CLOEXEC) != 0 ||
      pipe2(errors.data(), O_CLOEXEC) != 0 ||
      (command.takesInput && pipe2(input.data(), O_CLOEXEC) != 0)) {
    const int error = errno;
    for (const int file : {output[0], output[1], errors[0], errors[1]})
      if (file >= 0)
        close(file);
    return Error(fmt::format("no pipe to a process: {}", std::strerror(error)));
  }
  if (!command.takesInput) {
    struct stat status;
    const bool isFile = fstat(0, &status) == 0 && S_ISREG(status.st_mode);
    input[0] =
        open(isFile ? "/proc/self/fd/0" : "/dev/null", O_RDONLY | O_CLOEXEC);
    if (input[0] < 0)
      input[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
  }
  command.environment.push_back(mark);
  const std::vector<char *> words = pointers(command.words);
  const std::vector<char *> environment = pointers(command.environment);
  const pid_t parent = getpid();
  const pid_t process = fork();
  if (process == 0)
    become(file->c_str(), const_cast<char **>(words.data()),
           const_cast<char **>(environment.data()), input[0], output[1],
           errors[1], parent, files);
  const int error = errno;
  for (const int other : {input[0], output[1], errors[1]})
    close(other);
  if (process < 0) {
    for (const int end : {input[1], output[0], errors[0]})
      if (end >= 0)
        close(end);
    return Error(
        fmt::format("no process can be started: {}", std::strerror(error)));
  }
  // Both do: whichever comes first, the group is there before a signal.
  setpgid(process, process);
  tellGuard(process);
  for (const int end : {output[0], errors[0]})
    fcntl(end, F_SETFL, O_NONBLOCK);
  Child child;
  child.command = std::move(command);
  child.process = process;
  child.input = input[1];
  child.output[0] = output[0];
  child.output[1] = errors[0];
  children.push_back(std::move(child));
  return children.size() - 1;
}

void ChildProcesses::signal(size_t child, int number) {
  // The group stays while one of it lives, and its number is not given again
  // before that.
  if (!children[child].ended)
    kill(-children[child].process, number);
}

void ChildProcesses::signalAll(int number) {
  for (size_t child = 0; child < children.size(); ++child)
    signal(child, number);
}

void ChildProcesses::write(size_t child, std::string_view text) {
  Child &target = children[child];
  if (target.input < 0)
    return;
  if (text.empty()) {
    close(target.input);
    target.input = -1;
    return;
  }
  while (!text.empty()) {
    const ssize_t count = ::write(target.input, text.data(), text.size());
    if (count < 0 && errno != EINTR)
      return; // it has ended: its status says so
    if (count > 0)
      text.remove_prefix(size_t(count));
  }
}

size_t ChildProcesses::running() const {
  size_t count = 0;
  for (const Child &child : children)
    count += child.ended ? 0 : 1;
  return count;
}

void ChildProcesses::print(std::string_view line, bool isError) {
  std::string &bytes = (isError ? err : out).bytes;
  bytes.append(line);
  bytes += '\n';
}

void ChildProcesses::writeSome(Output &output) {
  // A pipe that has room takes so much without waiting.
  const size_t count = std::min(output.bytes.size(), size_t(4096));
  const ssize_t written = ::write(output.file, output.bytes.data(), count);
  if (written > 0) {
    output.bytes.erase(0, size_t(written));
  } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
    closed = closed || output.file == 1;
    output.bytes.clear();
  }
}

/// Hands on what a child has written; `isWhole` of it, however much is kept.
void ChildProcesses::read(Child &child, int stream, bool isWhole) {
  std::string &pending = child.pending[stream];
  const auto line = [&](std::string_view text) {
    if (child.command.onLine)
      child.command.onLine(text, stream == 1);
  };
  std::array<char, 65536> bytes;
  while (true) {
    const ssize_t count =
        ::read(child.output[stream], bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN)
      return;
    if (count <= 0) {
      close(child.output[stream]);
      child.output[stream] = -1;
      if (!pending.empty())
        line(pending);
      pending.clear();
      return;
    }
    pending.append(bytes.data(), size_t(count));
    size_t begin = 0;
    for (size_t end = pending.find('\n'); end != std::string::npos;
         end = pending.find('\n', begin)) {
      line(std::string_view(pending).substr(begin, end - begin));
      begin = end + 1;
    }
    pending.erase(0, begin);
    if (pending.size() > longestLine) {
      line(pending);
      pending.clear();
    }
    if (!isWhole && out.bytes.size() + err.bytes.size() > mostBuffered)
      return;
  }
}

void ChildProcesses::reap() {
  int status = 0;
  pid_t process;
  while ((process = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0)
    // The processes that children have left behind belong to nobody.
    for (size_t i = 0; i < children.size(); ++i)
      if (children[i].process == process && !children[i].ended)
        changed(i, status);
}

void ChildProcesses::changed(size_t child, int status) {
  Command &command = children[child].command;
  if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
    if (command.onStop)
      command.onStop(WIFSTOPPED(status));
    return;
  }
  children[child].ended = true;
  for (int stream = 0; stream < 2; ++stream) {
    if (children[child].output[stream] < 0)
      continue;
    read(children[child], stream, true);
    // A process that it has started may hold the pipe open; its words end here.
    std::string &pending = children[child].pending[stream];
    if (!pending.empty() && command.onLine)
      command.onLine(pending, stream == 1);
    pending.clear();
  }
  // Whatever it has left behind.
  kill(-children[child].process, SIGKILL);
  tellGuard(-children[child].process);
  if (command.onExit)
    command.onExit(status);
}

void ChildProcesses::handle(Clock::time_point deadline) {
  std::vector<pollfd> files;
  files.push_back({signals, POLLIN, 0});
  files.push_back({waker, POLLIN, 0});
  files.push_back({out.bytes.empty() ? -1 : out.file, POLLOUT, 0});
  files.push_back({err.bytes.empty() ? -1 : err.file, POLLOUT, 0});
  const bool full = out.bytes.size() + err.bytes.size() > mostBuffered;
  for (const Child &child : children)
    for (const int file : child.output)
      files.push_back({full ? -1 : file, POLLIN, 0});
  int timeout = -1;
  if (deadline != Clock::time_point::max())
    timeout = int(std::clamp<int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now())
            .count(),
        0, 3600 * 1000));
  if (poll(files.data(), files.size(), timeout) <= 0)
    return;
  if (files[1].revents != 0) {
    uint64_t count = 0;
    (void)!::read(waker, &count, sizeof(count));
  }
  if (files[2].revents != 0)
    writeSome(out);
  if (files[3].revents != 0)
    writeSome(err);
  // Callbacks may start children: those here are the ones that were asked.
  const size_t asked = (files.size() - 4) / 2;
  for (size_t i = 0; i < asked; ++i)
    for (int stream = 0; stream < 2; ++stream)
      if (files[4 + 2 * i + size_t(stream)].revents != 0 &&
          children[i].output[stream] >= 0)
        read(children[i], stream, false);
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof(info)) == ssize_t(sizeof(info)))
    if (int(info.ssi_signo) == SIGCHLD)
      reap();
    else
      onSignal(int(info.ssi_signo));
}

void ChildProcesses::wake() const {
  const uint64_t one = 1;
  (void)!::write(waker, &one, sizeof(one));
}

void ChildProcesses::flush(std::chrono::milliseconds timeout) {
  const Clock::time_point end = Clock::now() + timeout;
  for (Output *output : {&out, &err})
    while (!output->bytes.empty() && Clock::now() < end) {
      pollfd file = {output->file, POLLOUT, 0};
      if (poll(&file, 1, 100) > 0)
        writeSome(*output);
    }
}

} // namespace meshloom::launch

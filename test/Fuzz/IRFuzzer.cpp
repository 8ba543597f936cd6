// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Malformed IR: the programs of the test suite (dtensor, StableHLO, chlo, sdy)
// with tokens, numbers, attributes and lines left out, repeated, exchanged and
// changed, and portable artifacts with changed bytes. Each is read and, if that
// works, imported, partitioned and compiled: it ends in a program or in a
// diagnostic. Inputs run in a child process, many one after the other; where
// one ends the child or takes too long, it is reported and saved, and another
// child goes on with the next.
#include "TextMutation.h"

#include "meshloom/Compiler/Compiler.h"
#include "meshloom/Import/StableHLO/ReadProgram.h"
#include "meshloom/Support/File.h"
#include "meshloom/Support/LLVM.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <new>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace meshloom;
using namespace meshloom::fuzz;

namespace {

struct Options {
  std::vector<std::string> folders;
  uint64_t seed = 1;
  int64_t count = 1000;
  unsigned seconds = 60;
  size_t longest = 20000;
  bool importOnly = false, print = false;
  std::string save = ".";
};

/// The parent's view of the child.
struct Progress {
  int64_t next;                      ///< the input that is running
  int64_t refused, parsed, compiled; ///< how inputs ended
};

/// Runs the compiler on texts; what it says goes nowhere.
class Compilation {
public:
  explicit Compilation(bool importOnly) : importOnly(importOnly) {}

  void run(const std::string &text, Progress &progress) {
    // A new context now and then: attributes are never freed.
    if (!context || ++uses % 200 == 0)
      renew();
    try {
      compileText(text, progress);
    } catch (const std::bad_alloc &) {
      ++progress.refused; // too large for this process
    }
  }

private:
  void renew() {
    mlir::DialectRegistry registry;
    registerDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
  }

  void compileText(const std::string &text, Progress &progress) {
    auto module = readProgram(text, "input", context.get());
    if (!module) {
      if (module.error().message().empty())
        std::abort();
      ++progress.refused;
      return;
    }
    ++progress.parsed;
    if (importOnly)
      return;
    CompileOptions options;
    options.machine =
        *MachineModel::preset(text.size() % 2 ? "ring" : "shared-memory");
    options.optimizeKernels = false;
    Result<Compiled> compiled = compile(**module, options);
    if (!compiled && compiled.error().message().empty())
      std::abort();
    progress.compiled += bool(compiled);
  }

  bool importOnly;
  std::unique_ptr<MLIRContext> context;
  int uses = 0;
};

class Fuzzer {
public:
  Fuzzer(const Options &options, std::vector<std::string> programs)
      : options(options), programs(std::move(programs)),
        progress(static_cast<Progress *>(
            mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    *progress = {};
  }
  ~Fuzzer() { munmap(progress, sizeof(Progress)); }
  Fuzzer(const Fuzzer &) = delete;
  Fuzzer &operator=(const Fuzzer &) = delete;

  int run() {
    int64_t failed = 0;
    while (progress->next < options.count) {
      std::fflush(stdout);
      pid_t child = fork();
      if (child < 0) {
        fmt::print(stderr, "cannot fork: {}\n", std::strerror(errno));
        return 1;
      }
      if (child == 0)
        work();
      int status = 0;
      waitpid(child, &status, 0);
      if (progress->next >= options.count)
        break;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        continue; // a new child, whose memory is fresh
      report(status);
      ++failed;
      ++progress->next;
    }
    fmt::print("{} inputs from seed {}: {} refused, {} read, {} of them "
               "compiled; {} failed\n",
               options.count, options.seed, progress->refused, progress->parsed,
               progress->compiled, failed);
    return failed > 0;
  }

private:
  std::string input(int64_t index) const {
    return mutated(programs, options.seed + uint64_t(index), options.longest);
  }

  /// The child: inputs until all are done, or enough for one process.
  [[noreturn]] void work() {
    constexpr int64_t inputsPerChild = 20000;
    constexpr rlim_t memory = rlim_t(6) << 30;
    rlimit limit{memory, memory}, none{0, 0};
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_CORE, &none);
    if (!options.print)
      (void)!std::freopen("/dev/null", "w", stderr);
    std::set_new_handler(nullptr);
    Compilation compilation(options.importOnly);
    for (int64_t i = 0; i < inputsPerChild && progress->next < options.count;
         ++i, ++progress->next) {
      std::string text = input(progress->next);
      if (options.print)
        fmt::print(stderr, "{}\n", text);
      alarm(options.seconds);
      compilation.run(text, *progress);
      alarm(0);
    }
    _exit(0);
  }

  void report(int status) const {
    std::string outcome = "exits";
    if (WIFSIGNALED(status))
      outcome = WTERMSIG(status) == SIGALRM
                    ? fmt::format("runs for more than {} s", options.seconds)
                    : fmt::format("ends with signal {} ({})", WTERMSIG(status),
                                  strsignal(WTERMSIG(status)));
    uint64_t seed = options.seed + uint64_t(progress->next);
    std::string path = fmt::format("{}/failing-{}.mlir", options.save, seed);
    Status saved = writeFile(path, input(progress->next));
    fmt::print("seed {}: {}; {}\n", seed, outcome,
               saved ? path : saved.error().message());
  }

  const Options &options;
  std::vector<std::string> programs;
  Progress *progress;
};

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Programs with changes, which must be refused or compiled.",
               "fuzz-ir");
  Options options;
  app.add_option("FOLDER", options.folders,
                 "Where programs (.mlir, .mlirbc) are")
      ->required();
  app.add_option("--seed", options.seed, "Of the first input (default: 1)");
  app.add_option("--count", options.count, "Inputs (default: 1000)");
  app.add_option("--timeout", options.seconds,
                 "Seconds that one input may take (default: 60)");
  app.add_option("--longest", options.longest,
                 "Characters of an input (default: 20000)");
  app.add_flag("--import-only", options.importOnly,
               "Read and import, but do not compile");
  app.add_flag("--print", options.print, "Print each input, and what it says");
  app.add_option("--save", options.save,
                 "Where failing inputs go (default: here)");
  CLI11_PARSE(app, argc, argv);
  std::vector<std::string> programs =
      programsIn(options.folders, options.longest);
  if (programs.empty()) {
    fmt::print(stderr,
               "there are no programs (.mlir, .mlirbc) in the folders\n");
    return 1;
  }
  return Fuzzer(options, std::move(programs)).run();
}

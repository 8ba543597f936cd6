// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of mesh-run-traced, which is mesh-run as the linker lays it out by
// itself. With MESHLOOM_TRACE_FUNCTIONS=FILE it adds the names of its functions
// to the file, in the order in which they first run: mesh-run is linked in that
// order, so that code that runs once lies together (docs/Performance.md).
//
// Each function begins with a trap. Its handler notes the function and puts the
// first byte of its code back, so that a function traps once.
#include "llvm/Object/ELFObjectFile.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <link.h>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace {
struct Function {
  unsigned char *code;
  std::string name;
  unsigned char firstByte = 0;
};

/// The functions of the program by address, and the ones that have run.
Function *functions = nullptr;
size_t numFunctions = 0;
const Function **order = nullptr;
size_t numOrdered = 0;

constexpr unsigned char trap = 0xcc; // int3

/// Calls no function, as that would trap again.
void functionTraceHandler(int, siginfo_t *, void *context) {
  auto &next = static_cast<ucontext_t *>(context)->uc_mcontext.gregs[REG_RIP];
  auto *const code = reinterpret_cast<unsigned char *>(--next);
  size_t low = 0, high = numFunctions;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (functions[middle].code <= code ? low : high) = middle;
  }
  // Two threads may come at once.
  if (*code != trap)
    return;
  *code = functions[low].firstByte;
  order[__atomic_fetch_add(&numOrdered, 1, __ATOMIC_RELAXED)] = &functions[low];
}

/// Returns the functions of this program that lie in `begin` to `end`.
std::vector<Function> functionsIn(unsigned char *begin, unsigned char *end,
                                  uint64_t base) {
  std::vector<Function> found;
  auto file = llvm::object::ObjectFile::createObjectFile("/proc/self/exe");
  if (!file) {
    llvm::consumeError(file.takeError());
    return found;
  }
  // Symbols of a program that runs can be read.
  for (const llvm::object::SymbolRef &symbol : file->getBinary()->symbols()) {
    const llvm::StringRef name = llvm::cantFail(symbol.getName());
    auto *const code = reinterpret_cast<unsigned char *>(
        base + llvm::cantFail(symbol.getAddress()));
    if (llvm::cantFail(symbol.getType()) ==
            llvm::object::SymbolRef::ST_Function &&
        !name.contains("functionTraceHandler") && code >= begin && code < end)
      found.push_back({code, name.str()});
  }
  std::ranges::sort(found, {}, &Function::code);
  const auto same = std::ranges::unique(found, {}, &Function::code);
  found.erase(same.begin(), same.end());
  return found;
}

void writeOrder() {
  if (FILE *file = std::fopen(std::getenv("MESHLOOM_TRACE_FUNCTIONS"), "a")) {
    for (size_t i = 0; i < numOrdered; ++i)
      std::fprintf(file, "%s\n", order[i]->name.c_str());
    std::fclose(file);
  }
}

[[gnu::constructor]] void beginFunctionTrace() {
  if (!std::getenv("MESHLOOM_TRACE_FUNCTIONS"))
    return;
  dl_phdr_info program{};
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *first) {
        *static_cast<dl_phdr_info *>(first) = *info;
        return 1; // the program comes first
      },
      &program);
  for (int i = 0; i < program.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = program.dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
      continue;
    auto *const begin =
        reinterpret_cast<unsigned char *>(program.dlpi_addr + segment.p_vaddr);
    auto &found = *new std::vector<Function>(
        functionsIn(begin, begin + segment.p_memsz, program.dlpi_addr));
    constexpr uintptr_t page = 4096;
    const uintptr_t first = reinterpret_cast<uintptr_t>(begin) & ~(page - 1);
    if (found.empty() ||
        mprotect(reinterpret_cast<void *>(first),
                 reinterpret_cast<uintptr_t>(begin) + segment.p_memsz - first,
                 PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
      return;
    order = new const Function *[found.size()];
    functions = found.data();
    numFunctions = found.size();
    struct sigaction action = {};
    action.sa_sigaction = functionTraceHandler;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGTRAP, &action, nullptr);
    std::atexit(writeOrder);
    for (Function &function : found) {
      function.firstByte = *function.code;
      *function.code = trap;
    }
    return; // the program's code is one segment
  }
}
} // namespace

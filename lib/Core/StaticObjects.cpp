// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Replacing the address of __cxa_atexit in a library's table of imported
// functions, see StaticObjects.h.
#include "meshloom/Core/StaticObjects.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace meshloom;

namespace {

int registerNothing(void (*)(void *), void *, void *) {
  return 0;
}

/// The shared library that holds `address`, if that is neither the program nor
/// the library of this code.
const link_map *otherLibraryAt(const void *address) {
  Dl_info info{};
  Dl_info ours{};
  void *entry = nullptr;
  if (!dladdr1(address, &info, &entry, RTLD_DL_LINKMAP) || !entry ||
      !dladdr(reinterpret_cast<const void *>(registerNothing), &ours) ||
      info.dli_fbase == ours.dli_fbase)
    return nullptr;
  const auto *library = static_cast<const link_map *>(entry);
  return *library->l_name ? library : nullptr; // only the program has no name
}

/// The functions that a library imports, as its dynamic section lists them.
struct Imports {
  const ElfW(Rela) *entries = nullptr;
  size_t count = 0;
  const ElfW(Sym) *symbols = nullptr;
  const char *names = nullptr;
};

Imports importsOf(const link_map &library) {
  Imports imports;
  for (const ElfW(Dyn) *entry = library.l_ld; entry->d_tag != DT_NULL; ++entry)
    switch (entry->d_tag) {
    case DT_JMPREL:
      imports.entries = reinterpret_cast<const ElfW(Rela) *>(entry->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      imports.count = entry->d_un.d_val / sizeof(ElfW(Rela));
      break;
    case DT_SYMTAB:
      imports.symbols = reinterpret_cast<const ElfW(Sym) *>(entry->d_un.d_ptr);
      break;
    case DT_STRTAB:
      imports.names = reinterpret_cast<const char *>(entry->d_un.d_ptr);
      break;
    default:
      break;
    }
  return imports;
}

/// The table may be read-only since the library was loaded.
void replaceImport(uintptr_t address, uintptr_t function) {
  const auto pageSize = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  void *page = reinterpret_cast<void *>(address & ~(pageSize - 1));
  if (mprotect(page, pageSize, PROT_READ | PROT_WRITE) == 0)
    __atomic_store_n(reinterpret_cast<uintptr_t *>(address), function,
                     __ATOMIC_RELAXED);
}

} // namespace

void meshloom::keepStaticObjects(const void *address) {
  const link_map *library = otherLibraryAt(address);
  if (!library)
    return;
  const Imports imports = importsOf(*library);
  for (size_t i = 0; i < imports.count; ++i) {
    const ElfW(Rela) &import = imports.entries[i];
    const ElfW(Sym) &symbol = imports.symbols[ELF64_R_SYM(import.r_info)];
    if (!std::strcmp(imports.names + symbol.st_name, "__cxa_atexit"))
      replaceImport(library->l_addr + import.r_offset,
                    reinterpret_cast<uintptr_t>(registerNothing));
  }
}

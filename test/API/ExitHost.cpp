// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that loads a library, has it compute, closes it or leaves it open,
// and ends; for ExitTest.cpp.
#include <cstdio>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    std::puts(dlerror());
    return 1;
  }
  reinterpret_cast<void (*)()>(dlsym(library, "launchWork"))();
  if (argv[2] == std::string_view("close")) {
    dlclose(library);
    usleep(100'000);
  }
  std::puts("done");
  return 0;
}

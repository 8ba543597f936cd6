// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linking a saved program's kernels. lld runs as a program of its own: it is
// the tool that the build uses too, and a crash in it is not ours.
#include "SharedObject.h"

#include "KernelCache.h"
#include "ObjectParts.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace meshloom;

static Result<std::string> findLinker() {
  for (const char *name : {"ld.lld-19", "ld.lld"})
    if (auto path = llvm::sys::findProgramByName(name))
      return *path;
  StringRef installed = "/usr/lib/llvm-19/bin/ld.lld";
  if (llvm::sys::fs::can_execute(installed))
    return installed.str();
  return Error("saving a program needs the linker ld.lld (Debian package "
               "lld-19), which is neither in PATH nor at " +
               installed.str());
}

Result<std::vector<char>>
meshloom::linkKernels(ArrayRef<KernelToCompile> kernels,
                      KernelCompiler &compiler) {
  auto objects = kernelObjects(kernels, CodegenMode::Portable, compiler);
  if (!objects)
    return objects.error();
  auto linker = findLinker();
  if (!linker)
    return linker.error();

  llvm::SmallString<128> folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("meshloom-link", folder))
    return Error("no temporary folder to link in: " + code.message());
  struct Cleanup {
    StringRef path;
    ~Cleanup() { llvm::sys::fs::remove_directories(path); }
  } cleanup{folder};
  auto inFolder = [&](const Twine &name) {
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    return path.str().str();
  };
  std::string output = inFolder("kernels.so"), log = inFolder("log");
  // Functions of libm are found in the process that loads the library: every
  // runtime has it. --as-needed would look for it now.
  std::vector<std::string> arguments{*linker,
                                     "-shared",
                                     "-o",
                                     output,
                                     "--hash-style=gnu",
                                     "--build-id=none",
                                     "-soname=meshloom-kernels.so"};
  std::vector<StringRef> files;
  for (const KernelObject &object : *objects) {
    auto parts = objectFilesOf(*object);
    if (!parts)
      return parts.error();
    llvm::append_range(files, *parts);
  }
  for (auto [i, file] : llvm::enumerate(files)) {
    std::string path = inFolder("kernels" + Twine(i) + ".o");
    std::error_code code;
    llvm::raw_fd_ostream os(path, code);
    os << file;
    os.close();
    if (code || os.has_error())
      return Error("writing " + path +
                   " failed: " + (code ? code : os.error()).message());
    arguments.push_back(path);
  }
  for (StringRef libm : {"/lib/x86_64-linux-gnu/libm.so.6",
                         "/usr/lib64/libm.so.6", "/lib64/libm.so.6"})
    if (llvm::sys::fs::exists(libm)) {
      arguments.push_back(libm.str());
      break;
    }
  SmallVector<StringRef> argv(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(), StringRef(log),
                                          StringRef(log)};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, argv, std::nullopt, redirects,
                                         0, 0, &message);
  if (status != 0) {
    if (auto text = llvm::MemoryBuffer::getFile(log))
      message += (*text)->getBuffer();
    return Error("linking the program's kernels failed: " + message);
  }
  auto bytes = llvm::MemoryBuffer::getFile(output);
  if (!bytes)
    return Error("reading " + output +
                 " failed: " + bytes.getError().message());
  return std::vector<char>((*bytes)->getBufferStart(),
                           (*bytes)->getBufferEnd());
}

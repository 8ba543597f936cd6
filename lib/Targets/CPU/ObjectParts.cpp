// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ObjectParts.h"

#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"

using namespace meshloom;

static Error archiveError(llvm::Error error) {
  return Error("an archive of compiled kernels: " +
               llvm::toString(std::move(error)));
}

Result<std::string> meshloom::joinObjects(ArrayRef<std::string> parts) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<llvm::NewArchiveMember> members;
  for (const std::string &part : parts)
    members.emplace_back(llvm::MemoryBufferRef(part, "part.o"));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archiveError(archive.takeError());
  return (*archive)->getBuffer().str();
}

Result<std::vector<StringRef>> meshloom::objectFilesOf(StringRef joined) {
  if (!joined.starts_with(llvm::object::ArchiveMagic))
    return std::vector<StringRef>{joined};
  auto archive =
      llvm::object::Archive::create(llvm::MemoryBufferRef(joined, "kernel.a"));
  if (!archive)
    return archiveError(archive.takeError());
  std::vector<StringRef> parts;
  llvm::Error problem = llvm::Error::success();
  for (const llvm::object::Archive::Child &child :
       (*archive)->children(problem)) {
    auto part = child.getBuffer();
    if (!part)
      return archiveError(part.takeError());
    parts.push_back(*part);
  }
  if (problem)
    return archiveError(std::move(problem));
  return parts;
}

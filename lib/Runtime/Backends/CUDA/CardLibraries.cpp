// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CardLibraries.h"

using namespace meshloom;
using namespace meshloom::cuda;

template <typename Library>
Result<const Library *> CardLibraries::find(std::optional<std::string> &path) {
  if (!path)
    return nullptr;
  Result<const Library *> library = Library::load(*path);
  if (library || !path->empty())
    return library;
  path = std::nullopt;
  return nullptr;
}

LibraryWorkOrError CardLibraries::plan(const MatrixProduct &product) {
  std::lock_guard lock(mutex);
  if (!blas) {
    const auto library = find<BlasLibrary>(paths.blas);
    if (!library)
      return library.error();
    if (!*library)
      return noLibraryWork();
    Result<std::unique_ptr<Blas>> created = Blas::create(**library);
    if (!created)
      return created.error();
    blas = std::move(*created);
  }
  return blas->plan(product);
}

LibraryWorkOrError CardLibraries::plan(Card &card, const FourierLines &lines) {
  std::lock_guard lock(mutex);
  const auto library = find<FourierLibrary>(paths.fourier);
  if (!library)
    return library.error();
  return *library ? planLines(**library, card, lines) : noLibraryWork();
}

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

template <typename Library, typename Use, typename... Work>
LibraryWorkOrError CardLibraries::planBy(std::optional<std::string> &path,
                                         std::unique_ptr<Use> &use,
                                         Work &...work) {
  std::lock_guard lock(mutex);
  if (!use) {
    const auto library = find<Library>(path);
    if (!library)
      return library.error();
    if (!*library)
      return noLibraryWork();
    Result<std::unique_ptr<Use>> created = Use::create(**library);
    if (!created)
      return created.error();
    use = std::move(*created);
  }
  return use->plan(work...);
}

LibraryWorkOrError CardLibraries::plan(const MatrixProduct &product) {
  return planBy<BlasLibrary>(paths.blas, blas, product);
}

LibraryWorkOrError CardLibraries::plan(const ImageConvolution &convolution) {
  return planBy<DnnLibrary>(paths.dnn, dnn, convolution);
}

LibraryWorkOrError CardLibraries::plan(const AttentionShape &attention) {
  return planBy<DnnLibrary>(paths.dnn, dnn, attention);
}

LibraryWorkOrError CardLibraries::plan(Card &card,
                                       const Decomposition &decomposition) {
  const bool isOfBlas =
      decomposition.function == Decomposition::Function::SmallLu &&
      decomposition.isOneCall();
  return isOfBlas
             ? planBy<TriangularLibrary>(paths.triangular, triangular, card,
                                         decomposition)
             : planBy<SolverLibrary>(paths.solver, solver, card, decomposition);
}

LibraryWorkOrError CardLibraries::plan(Card &card,
                                       const TriangularSystems &systems) {
  return planBy<TriangularLibrary>(paths.triangular, triangular, card, systems);
}

LibraryWorkOrError CardLibraries::plan(Card &card, const FourierLines &lines) {
  std::lock_guard lock(mutex);
  const auto library = find<FourierLibrary>(paths.fourier);
  if (!library)
    return library.error();
  return *library ? planLines(**library, card, lines) : noLibraryWork();
}

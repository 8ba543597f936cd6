// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fourier: NVIDIA's cuFFT, which transforms lines of arrays on a card. The
// library is found when a program first needs it.
#pragma once

#include "FourierFacts.h"
#include "Launches.h"
#include "LibraryWork.h"

#include <string>
#include <vector>

namespace meshloom::cuda {

/// The library's functions, as members of their names.
class FourierLibrary {
public:
  /// The library `path`, or that of the system where the path is empty; once in
  /// a process, where it stays loaded. Fails where there is none.
  static Result<const FourierLibrary *> load(const std::string &path);

#define MESHLOOM_FOURIER_FUNCTION(name, ...)                                   \
  FourierResult (*name)(__VA_ARGS__) = nullptr;
#include "FourierFunctions.def"
#undef MESHLOOM_FOURIER_FUNCTION
};

/// The lines of an array that are transformed, and where they go.
struct FourierLines {
  FourierKind kind;
  /// Per dim of the operand: how many elements, and the strides of operand and
  /// result, in elements.
  std::vector<int64_t> extents, from, to;
  /// The first elements of operand and result, in bytes from where arrays
  /// begin.
  int64_t fromOffset = 0, toOffset = 0;
  size_t result = 1; ///< its number among the operands of the call
  LoadedKernel copy; ///< that kind.isCopied() needs
};

/// Null: the library does not take these lines. `card` outlives the work.
LibraryWorkOrError planLines(const FourierLibrary &library, Card &card,
                             const FourierLines &lines);

} // namespace meshloom::cuda

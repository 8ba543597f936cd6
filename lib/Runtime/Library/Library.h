// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library: what the functions are that library calls of a Program name.
//
// A function is a row of a table at the end of its file: its name, and what
// makes a routine for one step. Making it checks the step's options and
// operands (a program may come from a file) and does what need be done only
// once; running it gets boxes: whichever devices' parts are merged or cut, an
// operand is a box of the global tensor somewhere in memory, with a stride for
// each dim. Who calls them is LibraryCall.
#pragma once

#include "meshloom/Core/Program.h"
#include "meshloom/Runtime/KernelFunction.h"

#include <algorithm>
#include <array>
#include <memory>

namespace meshloom::library {

/// A library call as loading sees it. Program::verify has passed.
struct LibraryStep {
  const KernelStep &step;
  std::vector<const BufferDecl *> inputs, outputs;
  /// The scalar function that goes with the call, or null. operands: one
  /// element each of its arguments, then of its results.
  KernelFunction scalar = nullptr;
  /// The program is deterministic: an element's bits may depend on neither the
  /// boxes nor their strides.
  bool deterministic = false;
};

/// The part of an input or output that a call is about.
struct LibraryOperand {
  DType type;
  char *data;    ///< the first element; nothing there where an extent is 0
  Shape offset;  ///< per dim: global index of the first element
  Shape extent;  ///< per dim: how many
  Shape strides; ///< per dim: elements from one to the next
  const Shape *global;

  bool empty() const {
    return std::ranges::any_of(extent, [](int64_t e) { return e <= 0; });
  }
  /// The dim's global indices that are in the box.
  int64_t begin(size_t dim) const { return offset[dim]; }
  int64_t end(size_t dim) const { return offset[dim] + extent[dim]; }
};

struct LibraryArguments {
  /// An output in place of an input has that input's data.
  std::vector<LibraryOperand> inputs, outputs;
  /// Per loop of the step: the part this call runs, in global indices. Where a
  /// reduction loop is cut, outputs get this part's contribution, without
  /// elements the identity.
  const int64_t *origin, *extents;
};

class LibraryRoutine {
public:
  virtual ~LibraryRoutine() = default;
  /// Fills the outputs' boxes. Called by any number of threads at once, for
  /// disjoint outputs.
  virtual Status run(const LibraryArguments &arguments) const = 0;
};

using RoutineOrError = Result<std::unique_ptr<LibraryRoutine>>;

/// Calls `body(offsets)` for every index of `extent` in row-major order;
/// `strides[k]` are the strides of array k, `offsets[k]` its element.
template <size_t N, typename Body>
void forEachIndex(const Shape &extent,
                  const std::array<const Shape *, N> &strides,
                  const Body &body) {
  for (int64_t e : extent)
    if (e <= 0)
      return;
  Shape index(extent.size(), 0);
  std::array<int64_t, N> offsets{};
  while (true) {
    body(offsets);
    size_t d = extent.size();
    while (d-- > 0) {
      for (size_t k = 0; k < N; ++k)
        offsets[k] += (*strides[k])[d];
      if (++index[d] < extent[d])
        break;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= extent[d] * (*strides[k])[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

} // namespace meshloom::library

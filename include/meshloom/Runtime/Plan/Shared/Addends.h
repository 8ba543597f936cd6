// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addends: how many addends of each partial value shared memory keeps, and
// which parts of a step make them.
#pragma once

#include "meshloom/Runtime/Plan/Shared/Work.h"

#include "meshloom/Runtime/Plan/MeshProcesses.h"

namespace meshloom::plan {

/// Rows of a chunk below this many elements are not worth cutting them.
inline constexpr int64_t SHORT_ROW = 32;

/// Up to this many addends of one value may be kept, whatever they take; more
/// only where they take less than what they are made of.
inline constexpr int64_t FEW_ADDENDS = 8;

/// For every buffer of a program: addends that this process keeps, 1 for values
/// that are not partial.
struct AddendPlan {
  std::vector<int64_t> copies;
  /// Per buffer: the loop of its (only) writer that is cut into `copies`
  /// chunks, or -1.
  std::vector<int> chunkLoop;
  /// Per buffer: every device's addend is kept, because a caller sees them.
  std::vector<bool> perDevice;
  /// The loop of a step whose reduction is cut though no layout says so, and
  /// the number of parts, each with values of its own. Else -1 and 1.
  struct Parts {
    int loop = -1;
    int64_t count = 1;
  };
  std::vector<Parts> parts; ///< per step
};

/// Whether it is a call of the library's scatter, with as many inputs as that
/// takes. Plans are made before calls are checked.
bool isScatter(const KernelStep &step);

/// Returns whether each chunk of a library call along `loop` reads all of an
/// input that the loop does not index: a scatter's indices, a window's lines.
bool readsInputAnew(const KernelStep &step, unsigned loop);

/// Whether a scatter's windows are so short that it takes as long to read the
/// indices as to apply them, and too many to be read by each chunk of a result.
bool hasShortWindows(const Program &program, const KernelStep &scatter);

/// How the results of parts of a step's reduction loops combine into its output
/// `output`, or nothing where there is no such way.
std::optional<ReduceKind> combineOf(const Program &program,
                                    const KernelStep &step, size_t output);

AddendPlan planAddends(const Program &program, int64_t chunks,
                       const MeshProcesses &processes);

/// The part of a step that this process runs.
struct StepSpace {
  /// The box around it, in global indices.
  Box hull;
  /// Runs that differ in the addends they use, or that are not next to each
  /// other; `begin` counts from the hull. Empty where one covers everything.
  std::vector<Instance> instances;
};

/// `operands`: the program's buffer behind each of Work::accesses.
Result<StepSpace> spaceOf(const std::vector<Loop> &loops,
                          const Program &program,
                          const std::vector<unsigned> &operands,
                          const AddendPlan &plan,
                          const MeshProcesses &processes);

/// chunk c of `chunks` covers [bound(c), bound(c + 1)) of `extent` iterations:
/// the same bounds for the same extent in every step, on round numbers where
/// there is enough to share out.
int64_t chunkBound(int64_t extent, int64_t chunks, int64_t c);

} // namespace meshloom::plan

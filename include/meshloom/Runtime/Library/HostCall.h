// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// HostCall: a kernel, library call or dot, ready to run on memory that threads
// of the host read and write.
#pragma once

#include "meshloom/Core/Compiled.h"
#include "meshloom/Runtime/KernelFunction.h"

#include <memory>

namespace meshloom::library {

class Dot;
class LibraryCall;

class HostCall {
public:
  /// `step` of `program`, which both outlive the call. `code`: where compiled
  /// functions come from, null if from nowhere; must outlive it, too. Fails on
  /// what is not there, and where a library call does not fit its operands.
  static Result<HostCall> make(const Program &program, const Step &step,
                               const CodeSymbols *code);

  /// Arguments as those of a kernel: see KernelFunction. A dot takes lhs, rhs
  /// and out. Safe to call from several threads, for disjoint outputs.
  Status run(void *const *operands, const int64_t *strides,
             const int64_t *origin, const int64_t *extents) const {
    if (!function)
      return runOther(operands, strides, origin, extents);
    function(operands, strides, origin, extents);
    return Success();
  }

private:
  Status runOther(void *const *operands, const int64_t *strides,
                  const int64_t *origin, const int64_t *extents) const;

  KernelFunction function = nullptr;
  std::shared_ptr<const LibraryCall> call;
  std::shared_ptr<const Dot> dot;
  size_t loops = 0;
};

/// The properties of a library function that decide how backends cut its calls,
/// and what a run that fails leaves.
struct LibraryProperties {
  /// Calls compute products of matrices: they want whole rows, and chunks that
  /// are not small. The results of parts of the reduction loops add up to the
  /// result.
  bool isProduct = false;
  /// The results of parts of the reduction loops combine by the option "kind".
  bool isReduction = false;
  /// Calls update the elements of their first inputs, one for each output, that
  /// the next input has the indices of. Each part of an output reads all
  /// indices.
  bool isScatter = false;
  /// Parts of the result along a loop that does not index the first input read
  /// all of its lines.
  bool readsLines = false;
  /// A call reads all of its first input for each part of the result along a
  /// loop that does not index that input. The part should have so many of the
  /// loop's iterations; 0: any number will do.
  int64_t fewestLines = 0;
  /// A call that has few lines or matrices divides its work among a Team.
  bool usesTeam = false;
  /// Calls run a function of the user's, which may fail in the middle of a run.
  bool callsUser = false;
  /// Operands may be read and written from their ends.
  bool runsBackwards = false;
};
/// Returns the properties of the function `name`, or none where the library has
/// no such function.
LibraryProperties propertiesOf(std::string_view name);
/// Returns whether a step of the program, at any depth, runs a function of the
/// user's. Values that such a program updates are copied first, so that a run
/// that fails leaves the old values.
bool callsUserFunctions(const Program &program);

/// oneDNN's own threads are not wanted: the calling thread works alone until
/// the object dies.
class SingleThreaded {
public:
  SingleThreaded();
  ~SingleThreaded();
  SingleThreaded(const SingleThreaded &) = delete;
  SingleThreaded &operator=(const SingleThreaded &) = delete;

private:
  int before = 0;
};

/// While an object lives, this thread's calls may keep what they made of an
/// operand for their next ones under an object of the same `number`, in which
/// no operand that calls share is written. Zero: nothing is kept.
class CallScope {
public:
  explicit CallScope(uint64_t number);
  ~CallScope();
  CallScope(const CallScope &) = delete;
  CallScope &operator=(const CallScope &) = delete;
  static uint64_t current();

private:
  uint64_t before;
};

} // namespace meshloom::library

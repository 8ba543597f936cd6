// What functions of the host gave a run of several processes, compared: such a
// function runs in each of them, and a value that all have is to be the same in
// all.
#pragma once

#include "meshloom/Runtime/Communicator.h"
#include "meshloom/Runtime/Plan/MeshProcesses.h"
#include "meshloom/Runtime/Plan/RunExchanges.h"

namespace meshloom::plan {

/// Whether the step calls a function of the user's whose results need not
/// follow from its inputs, so that processes may get different ones: one that
/// `host_call` calls, unless all agree on what it gives, or one that
/// `custom_call` calls with everything whole, as it does without a rule. What
/// may be cut is an op.
bool givesFromOutside(const KernelStep &step);

/// Whether every process has all of the buffer.
bool isWholeInEach(const BufferDecl &buffer, const MeshProcesses &processes);

/// A part of an array: `extents[l]` iterations of each loop, which move
/// `strides[l]` elements through memory and `steps[l]` through the whole
/// array's elements, row-major; both or neither is 0.
struct ArrayPart {
  DType type;
  const char *data;
  int64_t first; ///< which of the whole array's elements `data` points to
  std::span<const int64_t> extents, strides, steps;
};
/// A hash of the part's elements and their places. Those of the parts that an
/// array is cut into add up to that of the array, however it is cut, so that
/// processes of different numbers of threads get the same.
uint64_t elementHash(const ArrayPart &part);

/// Fails where what `steps` gave is not the same in all processes, in all of
/// them with the same error about the first such step. Each calls it after the
/// same steps, with a hash of what each of them gave here.
Status agreeOnResults(Communicator &communicator, RunExchanges &exchanges,
                      std::span<const unsigned> steps,
                      std::span<const uint64_t> hashes, const Program &program);

} // namespace meshloom::plan

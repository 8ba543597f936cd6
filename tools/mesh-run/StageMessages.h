// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StageMessages: which process has which set of devices of a pipeline, and the
// values that go from one to the other.
#pragma once

#include "meshloom/Processes/Join.h"

namespace meshloom::run {

/// Sets of devices, of which each process has as many that follow one another.
/// All processes go through the same messages in the same order, whoever sends
/// and receives them: the number of a message is its tag.
class StageMessages {
public:
  /// Fails where there are fewer sets than processes.
  static Result<StageMessages> between(const JoinedProcesses &processes,
                                       int64_t sets);

  int64_t ownerOf(int64_t set) const { return set * size() / sets; }
  bool isHere(int64_t set) const {
    return ownerOf(set) == processes.group.rank;
  }
  /// Returns the place of a set among those of its process.
  int64_t placeOf(int64_t set) const { return set - firstOf(ownerOf(set)); }
  int64_t numberHere() const {
    return firstOf(processes.group.rank + 1) - firstOf(processes.group.rank);
  }

  uint64_t nextTag() { return ++tag; }
  /// Sends the value of an array to a process once it is there, and returns at
  /// once.
  void send(const Array &array, int64_t to, uint64_t tag);
  /// Returns an array of the value that comes from a process.
  Result<Array> receive(const std::shared_ptr<Client> &client,
                        const ArrayType &type, int64_t from, uint64_t tag);
  /// Waits until all values are sent.
  Status finish();
  /// Gives all processes the bytes that the owner of a set has.
  Status spread(HostBytes &bytes, int64_t set);
  /// Gives all processes the largest ones of their numbers.
  Status spreadLargest(std::vector<int64_t> &numbers);

private:
  StageMessages(const JoinedProcesses &processes, int64_t sets)
      : processes(processes), sets(sets) {}
  int64_t size() const { return processes.group.size; }
  /// The first set of a process.
  int64_t firstOf(int64_t rank) const {
    return (rank * sets + size() - 1) / size();
  }

  const JoinedProcesses &processes;
  int64_t sets;
  uint64_t tag = 0;
  std::vector<Event> sent; ///< since the last `finish`
};

} // namespace meshloom::run

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Team: the workers that share the work of one library call.
//
// Most calls are parts of a step, and each worker has some of them. A step of
// one long line or one matrix is one call. Its worker would be alone; so it
// gets a team, and the call divides its own work: it sorts blocks, then merges
// them. Everywhere else the calling thread is a team of one, and the same code
// runs in order.
//
// How a call divides its work may depend on the size of the team only where
// results have the same bits whatever the division.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

namespace meshloom::library {

class Team {
public:
  virtual ~Team() = default;
  virtual int64_t workers() const { return 1; }

  /// Runs body(0), ..., body(parts - 1), in any order and several at a time,
  /// and returns when all are done. In a body that is one of several, the
  /// thread is a team of one.
  void forEach(int64_t parts, const std::function<void(int64_t)> &body);
  /// Runs body(begin, end) on parts of `extent` elements, which begin at
  /// multiples of `grain`: one a worker, of `least` elements at least.
  template <typename Body>
  void forEachRange(int64_t extent, int64_t least, int64_t grain,
                    const Body &body) {
    const int64_t parts = partsOf(extent, least);
    if (parts == 1)
      return body(int64_t(0), extent);
    forEachRangeOf(parts, extent, grain, body);
  }

  /// Returns into how many parts work is divided of which one worker should
  /// have `least` elements.
  int64_t partsOf(int64_t extent, int64_t least) const {
    const int64_t most = extent / std::max<int64_t>(least, 1);
    return most <= 1 ? 1 : std::min(most, workers());
  }

  /// The team of the call that runs on this thread.
  static Team &current();

private:
  void forEachRangeOf(int64_t parts, int64_t extent, int64_t grain,
                      const std::function<void(int64_t, int64_t)> &body);
  virtual void run(int64_t parts, const std::function<void(int64_t)> &body);
};

/// While an object lives, calls on this thread have the team.
class TeamScope {
public:
  explicit TeamScope(Team *team);
  ~TeamScope();
  TeamScope(const TeamScope &) = delete;
  TeamScope &operator=(const TeamScope &) = delete;

private:
  Team *const before;
};

} // namespace meshloom::library

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulation: ranks that are threads of one process, with a network that takes
// its time. Every schedule that it plays follows from a seed.
#pragma once

#include "meshloom/Runtime/Transport.h"

namespace meshloom {

struct SimulationOptions {
  int size = 2;
  uint64_t seed = 0;
  /// How often a part of a message is lost, and sent again much later.
  double loss = 0.05;
  /// The rank that dies, if any, and the number of parts that arrive before.
  int killedRank = -1;
  int64_t killAfter = 0;
  /// Ranks that neither post nor wait by Transport::wait for that long are
  /// taken to wait otherwise, unless they say when they work.
  std::chrono::milliseconds idle{100};
  /// All ranks wait, nothing is under way, and no rank does anything for that
  /// long: they wait for each other.
  std::chrono::milliseconds patience{2000};
};

/// A network of transports, one for each rank. Messages go in parts of random
/// sizes that take random times; those of different tags or ranks overtake each
/// other. Nothing arrives while a rank still runs (that is, does not wait by
/// Transport::wait): so the order does not depend on the machine, only on the
/// seed and on what ranks post. Time is counted, not spent. A rank whose
/// threads wait otherwise says when it works (`working`), or is given `idle` to
/// post the next thing.
///
/// Ranks that wait for each other are an error that lists what each one waits
/// for. That finds collectives that are not in one order on all ranks.
class Simulation {
public:
  explicit Simulation(const SimulationOptions &options);
  ~Simulation();
  Simulation(const Simulation &) = delete;
  Simulation &operator=(const Simulation &) = delete;

  /// Rank `rank`'s, to be asked for once; the rank has ended when it is
  /// destroyed.
  std::shared_ptr<Transport> transport(int rank);

  /// The rank works as long as the result is held, except where it waits by
  /// Transport::wait. One that has said so once rests when it is not held.
  std::shared_ptr<void> working(int rank);

  /// Parts that have arrived, and a number that stands for their order.
  int64_t arrivals() const;
  uint64_t schedule() const;

private:
  class World;
  std::shared_ptr<World> world;
};

} // namespace meshloom

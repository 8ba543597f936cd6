// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transport: messages between the processes (ranks) of one run. Collectives are
// made of them by a Communicator.
#pragma once

#include "meshloom/Runtime/Event.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace meshloom {

class CallOrder;

/// How long a transfer may go without any progress; none: as is usual, zero:
/// for ever.
using TransferTimeout = std::optional<std::chrono::milliseconds>;

/// Bytes that arrived, for as long as one holds it: they lie in memory that the
/// sender goes on with once they are given back. Give them back soon, and in
/// any order; a transport has only some per sender, so never wait for another
/// message of the same sender before.
using Arrived = std::shared_ptr<const void>;

/// Called by a receive with a part of its message: `bytes` are those from byte
/// `offset` on. Parts come in order, one call at a time, and all but the last
/// have a multiple of 64 bytes. A call must not wait (it may post transfers);
/// `bytes` are good until it returns, or as long as `held` is kept.
using Consumer = std::function<void(int64_t offset, std::span<const char> bytes,
                                    Arrived held)>;

/// Point to point, tagged, asynchronous. A message has a sender, a receiver, a
/// tag and a size, which both sides must give alike; messages of one tag
/// between two ranks match in the order in which they were posted, those of
/// different tags in any. No order of posts makes a deadlock: a message waits
/// for nothing but its other side. Safe to use from any thread.
///
/// An Event that fails says which rank and host it was about. A transfer fails
/// when its peer's process has ended, when the peer has given up (the error is
/// its), or when nothing of it has moved for the timeout. A transport whose
/// transfer failed is not usable with that peer any more.
class Transport {
public:
  virtual ~Transport();

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The name of the machine that a rank runs on.
  virtual const std::string &hostOf(int rank) const = 0;
  /// For each rank the first one of its group: ranks of a group share memory
  /// with each other, and between groups is a network. The same in all ranks.
  virtual std::vector<int> memoryGroups() const {
    return std::vector<int>(size_t(size()));
  }

  /// `bytes` must stay as they are until the event is complete. A rank may send
  /// to itself.
  virtual Event send(int to, uint64_t tag, std::span<const char> bytes,
                     TransferTimeout timeout = std::nullopt) = 0;
  /// `into` belongs to the transport until the event is complete.
  virtual Event receive(int from, uint64_t tag, std::span<char> into,
                        TransferTimeout timeout = std::nullopt) = 0;
  /// Hands over each part where it lies instead of copying it. Complete after
  /// the last call and once everything that was held is given back.
  virtual Event receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                        TransferTimeout timeout = std::nullopt) = 0;

  /// Transfers that are posted until `endBatch` may be taken up only then, all
  /// together: this saves the cost of single posts. Batches of several threads
  /// may overlap; nobody may wait within one.
  virtual void beginBatch() {}
  virtual void endBatch() {}

  /// The usual timeout of transfers that are posted from now on.
  virtual void setTimeout(std::chrono::milliseconds timeout) = 0;
  /// Waits as `event.wait()` does, and moves messages meanwhile: faster, since
  /// no other thread has to wake up.
  virtual Status wait(const Event &event) { return event.wait(); }
  /// Everything pending and later fails with `error`; so does what other ranks
  /// have pending with this one, and they learn its code and its text.
  virtual void abort(const Error &error) = 0;
  /// This rank takes part in nothing any more, and has finished all that it
  /// did: what others still post, or have posted, for it fails, saying so.
  virtual void leave() {
    abort(Error("its program has ended, or has called shutdown",
                ErrorCode::UNAVAILABLE));
  }
  /// Sets the calls that ranks compare when they wait for each other, where
  /// they can: a rank that finds a difference aborts with it.
  virtual void compareCalls(std::shared_ptr<const CallOrder>) {}
};

/// `size` ranks that are threads of this process: rank r uses the r-th.
std::vector<std::shared_ptr<Transport>>
makeInProcessTransports(int size, const std::string &host = "localhost");

} // namespace meshloom

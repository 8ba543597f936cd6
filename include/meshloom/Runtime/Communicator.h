// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Communicator: what collectives need between processes, made of a Transport's
// messages. Results do not depend on timing nor on the transport: addends are
// combined in the order of ranks.
#pragma once

#include "meshloom/Core/Layout.h"
#include "meshloom/Runtime/CallOrder.h"
#include "meshloom/Runtime/Transport.h"

namespace meshloom {

/// Collectives over groups of ranks. All ranks of a group call the same one
/// with the same tag, and every rank starts what it takes part in by one total
/// order (that of the program's steps). A tag is used once: it holds the number
/// of the run and of the step. Starting does not wait; memory that is given
/// must stay until the event is complete.
///
/// When one transfer fails, the communicator aborts: everything pending and
/// later fails with that error, here and, as soon as they hear of it, on the
/// others. An event is complete only when nothing touches the memory any more,
/// failed ones too. Destroying the communicator aborts what is pending.
class Communicator {
public:
  explicit Communicator(std::shared_ptr<Transport> transport);
  ~Communicator();
  Communicator(const Communicator &) = delete;
  Communicator &operator=(const Communicator &) = delete;

  int rank() const;
  int size() const;
  const std::string &hostOf(int rank) const;
  Transport &transport() const;

  /// data[i] = addend of group[0] op addend of group[1] op ..., from left to
  /// right, on every rank of `group`, which is in ascending order and has this
  /// rank. Rank i of the group combines the i-th slice and spreads it.
  Event allReduce(std::span<const int> group, uint64_t tag, DType type,
                  ReduceKind kind, void *data, int64_t count,
                  TransferTimeout timeout = std::nullopt);

  struct Outgoing {
    int to;
    std::span<const char> bytes;
  };
  struct Incoming {
    int from;
    std::span<char> bytes;
  };
  /// All messages of one collective at once: each side lists what it sends and
  /// receives, several to one rank in the same order. Complete when all are;
  /// what a rank sends itself is copied.
  Event exchange(uint64_t tag, std::span<const Outgoing> outgoing,
                 std::span<const Incoming> incoming,
                 TransferTimeout timeout = std::nullopt);

  /// `gathered` has, in the order of the group, what each rank gave: as many
  /// bytes.
  Event allGather(std::span<const int> group, uint64_t tag,
                  std::span<const char> mine, std::span<char> gathered,
                  TransferTimeout timeout = std::nullopt);

  /// Complete when every rank of the group has called it.
  Event barrier(std::span<const int> group, uint64_t tag);

  /// Waits for one of the events above; faster than the event's own wait.
  Status wait(const Event &event);

  void setTimeout(std::chrono::milliseconds timeout);
  void abort(const Error &error);
  /// Why it aborted; nothing while all is well.
  std::optional<Error> failure() const;
  /// See Transport::leave.
  void leave();

  /// The calls that this rank makes together with the others. Ranks that wait
  /// for each other compare them, and abort where they differ.
  CallOrder &calls() const { return *order; }

  struct State; // of the source

private:
  std::shared_ptr<Transport> messages;
  std::shared_ptr<State> state;
  std::shared_ptr<CallOrder> order;
};

/// Collectives that this thread calls while one lives have this timeout, also
/// those that begin later. An inner one counts before an outer one; one of none
/// changes nothing.
class CollectiveTimeout {
public:
  explicit CollectiveTimeout(TransferTimeout timeout);
  ~CollectiveTimeout();
  CollectiveTimeout(const CollectiveTimeout &) = delete;
  CollectiveTimeout &operator=(const CollectiveTimeout &) = delete;
  static TransferTimeout current();

private:
  const TransferTimeout before;
};

} // namespace meshloom

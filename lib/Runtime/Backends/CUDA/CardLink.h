// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// CardLink: how the cards of a mesh send each other memory. Transfers are work
// in the streams of the cards. The host waits until the other cards have been
// asked for their part, and never for a card.
#pragma once

#include "Card.h"

#include "meshloom/Core/Layout.h"
#include "meshloom/Runtime/Communicator.h"

namespace meshloom::cuda {

/// The cards are ranks of a communicator, by which hosts agree on transfers.
/// All of them ask for the same exchanges in one order, also for those in which
/// they send and receive nothing. Memory has to last
/// until the work has been done.
class CardLink {
public:
  /// The numbers of messages between the hosts, and how long they may take.
  struct Messages {
    uint64_t tag; ///< of the next message
    TransferTimeout timeout;
    /// How many messages one of the functions below sends.
    static constexpr size_t MOST = 2;
  };
  struct Outgoing {
    int to;
    const char *data;
    int64_t bytes;
  };
  struct Incoming {
    int from;
    char *data;
    int64_t bytes;
  };

  /// Elements that a group of ranks combines.
  struct Sum {
    DType type;
    ReduceKind kind;
    char *data;
    int64_t count;
  };

  virtual ~CardLink() = default;
  /// Each side lists what it sends and receives, several parts for one rank in
  /// the same order.
  virtual Status exchange(std::span<const Outgoing> outgoing,
                          std::span<const Incoming> incoming,
                          Messages messages) = 0;
  /// Returns whether allReduce takes these.
  virtual bool reduces(DType, ReduceKind) const { return false; }
  /// Combines the elements of all ranks of `group` on each of them, those of
  /// several sums in one transfer. All ranks ask for it at one time, each for
  /// its group.
  virtual Status allReduce(std::span<const int> group,
                           std::span<const Sum> sums, Messages messages);
  /// To be called before a run asks for transfers; `messages` are those of the
  /// run.
  virtual void beginRun(Messages) {}
  /// Waits until work in front of a mark has been done that transfers of a run
  /// belong to. Fails where some of them never end, which are then over.
  virtual Status endRun(EventHandle, Messages) { return Success(); }
  /// Ends what is under way where some rank has failed.
  virtual void abandon() {}
};

/// Cards of one process that copy from each other. Fails where the driver does
/// not let this card do so. `cards`: of all ranks.
Result<std::unique_ptr<CardLink>>
makePeerLink(std::shared_ptr<Card> card,
             std::span<const std::shared_ptr<Card>> cards,
             std::shared_ptr<Communicator> communicator);

} // namespace meshloom::cuda

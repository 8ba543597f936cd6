// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TransferOrder: the order in which the clients of a process ask their cards
// for transfers.
//
// A transfer by NCCL holds up a card's stream until the other cards come to it.
// Two cards whose streams have the transfers of two clients in different orders
// would wait for each other for ever. So all cards of a client are asked for a
// transfer before any other client's is.
#pragma once

#include "meshloom/Runtime/Communicator.h"

#include <condition_variable>
#include <mutex>

namespace meshloom::cuda {

/// The turns of one client whose cards are threads of this process. Its cards
/// take part in the same transfers, in one order.
class TransferOrder {
public:
  explicit TransferOrder(int cards) : cards(cards) {}
  ~TransferOrder() { giveUp(); }
  TransferOrder(const TransferOrder &) = delete;
  TransferOrder &operator=(const TransferOrder &) = delete;

  /// Waits until a card may be asked for a transfer, which all cards of the
  /// client know by the same number. Fails where a rank of `messages` does.
  Status begin(uint64_t transfer, const Communicator &messages);
  /// Says that the card has been asked for it.
  void end();
  /// Lets others go on: some card will not be asked any more.
  void giveUp();

private:
  /// The one transfer of the process that cards are being asked for.
  struct Current {
    std::mutex mutex;
    std::condition_variable ended;
    const TransferOrder *client = nullptr;
    uint64_t transfer = 0;
    int waiting = 0; ///< cards that have not been asked for it
  };
  static Current &current();

  const int cards;
};

} // namespace meshloom::cuda

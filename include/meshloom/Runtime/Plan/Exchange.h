// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exchange: which process sends what to which others, where a move of a
// collective needs what is not here. All processes work it out alike.
#pragma once

#include "meshloom/Runtime/Plan/Region.h"

#include <functional>
#include <span>

namespace meshloom::plan {

/// A part of a value that a process has, or needs.
struct Holding {
  /// Which of the target's addends it is, or is combined into; 0 where the
  /// target is not partial.
  int64_t value = 0;
  /// Its place among those that are combined into one.
  int64_t order = 0;
  int64_t slot = 0; ///< which copy of the array in the process's memory it is
  Region region;
};

/// The part of an exchange that one process has.
struct ExchangePlan {
  struct Part {
    int64_t slot;
    Box box;
  };
  /// To or from another process: the elements of boxes, one after the other.
  struct Message {
    int peer;
    std::vector<Part> parts;
    int64_t elements = 0;
  };
  std::vector<Message> sends, receives;

  /// Where a part of an addend is: in this process's source, or in a message.
  struct Source {
    int message = -1;   ///< of `receives`; -1: in the source's array
    int64_t offset = 0; ///< of its first element in the message
    int64_t slot = 0;   ///< of the array
    Box box;
  };
  /// A box of the target, and the addends that it is combined of, in order;
  /// one, where nothing is combined.
  struct Target {
    int64_t slot;
    Box box;
    std::vector<std::vector<Source>> addends;
  };
  std::vector<Target> targets;
};

/// Plans the exchange from what each process has (`have`) to what each needs
/// (`need`). A process takes what it has itself from there; else it takes it
/// from the next process of its host that has it, else from the next process of
/// all.
ExchangePlan planExchange(std::span<const std::vector<Holding>> have,
                          std::span<const std::vector<Holding>> need, int self,
                          const std::function<bool(int, int)> &onOneHost);

} // namespace meshloom::plan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DeviceExchange: an exchange whose data stays on the cards. Boxes are packed,
// sent, received, combined and put in their places in the card's stream.
#pragma once

#include "CardLink.h"
#include "Launches.h"

#include "meshloom/Runtime/Plan/Shared/ExchangeCall.h"

namespace meshloom::cuda {

/// Functions do not wait for the card. The memory of the exchange is the
/// card's.
class DeviceExchange {
public:
  using Memory = plan::ExchangeLayout::Memory;
  /// How many numbers of messages an exchange takes.
  static constexpr size_t MESSAGES = 2 * CardLink::Messages::MOST;

  /// `layout` outlives it. `combination`: the kernel that combines addends, one
  /// array after the other, a CombinationKind of rank 1.
  DeviceExchange(const plan::ExchangeLayout &layout, Card &card, CardLink &link,
                 LoadedKernel combination, int rank);
  /// Returns whether it can run: whether there is a kernel where it needs one.
  bool isPossible() const {
    return isSumOfLink() || !combines() || combination.shape;
  }
  /// Returns whether the link combines the elements, several sums at a time.
  /// Such an exchange neither begins nor ends.
  bool isSumOfLink() const;
  CardLink::Sum sumOfLink(const Memory &memory) const {
    return {layout.type, layout.reduce, memory.to, layout.whole};
  }
  /// The ranks that combine their elements, in a sum.
  std::span<const int> group() const { return layout.move.group; }
  int64_t stagingBytes() const;
  Status begin(const Memory &memory, CardLink::Messages messages) const;
  Status end(const Memory &memory) const;

private:
  bool isSum() const { return !layout.move.group.empty(); }
  bool combines() const { return isSum() || layout.combines; }
  /// The part of a sum that a rank of the group makes, in elements.
  Interval sliceOf(size_t rank) const;
  Status sum(const Memory &memory, CardLink::Messages messages) const;
  Status pack(const Memory &memory) const;
  Status fill(const plan::ExchangePlan::Target &target,
              const Memory &memory) const;
  Status copyBox(const ArrayView &to, const ArrayView &from,
                 const Box &box) const;
  /// Combines `addends` arrays behind one another.
  Status combine(char *result, const char *first, int64_t addends,
                 int64_t count) const;

  const plan::ExchangeLayout &layout;
  Card &card;
  CardLink &link;
  const LoadedKernel combination;
  const int rank;
};

} // namespace meshloom::cuda

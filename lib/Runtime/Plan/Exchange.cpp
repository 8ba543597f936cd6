// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Needs, less what is here, shared out to those that have it.
#include "meshloom/Runtime/Plan/Exchange.h"

#include <algorithm>
#include <set>

using namespace meshloom;
using namespace meshloom::plan;

namespace {
class ExchangePlanner {
public:
  ExchangePlanner(std::span<const std::vector<Holding>> have,
                  std::span<const std::vector<Holding>> need, int self,
                  const std::function<bool(int, int)> &onOneHost)
      : have(have), need(need), self(self), onOneHost(onOneHost),
        sendTo(have.size(), -1), receiveFrom(have.size(), -1) {}

  ExchangePlan run() {
    // Other processes' needs come first: they decide what this one sends.
    for (int process = 0; process < int(need.size()); ++process)
      receive(process);
    return std::move(plan);
  }

private:
  /// Processes in the order in which `receiver` asks them.
  std::vector<int> sendersFor(int receiver) const {
    const int count = int(have.size());
    std::vector<int> senders;
    senders.reserve(size_t(count));
    for (bool near : {true, false})
      for (int step = 0; step < count; ++step)
        if (int sender = (receiver + step) % count;
            onOneHost(receiver, sender) == near)
          senders.push_back(sender);
    return senders;
  }

  void receive(int receiver) {
    const std::vector<int> senders = sendersFor(receiver);
    for (const Holding &wanted : need[size_t(receiver)]) {
      std::set<int64_t> orders;
      for (const std::vector<Holding> &held : have)
        for (const Holding &addend : held)
          if (addend.value == wanted.value)
            orders.insert(addend.order);
      for (const Box &box : wanted.region) {
        ExchangePlan::Target target{wanted.slot, box, {}};
        for (int64_t order : orders)
          target.addends.push_back(
              sourcesOf(receiver, senders, wanted.value, order, box));
        if (receiver == self)
          plan.targets.push_back(std::move(target));
      }
    }
  }

  std::vector<ExchangePlan::Source> sourcesOf(int receiver,
                                              const std::vector<int> &senders,
                                              int64_t value, int64_t order,
                                              const Box &box) {
    std::vector<ExchangePlan::Source> sources;
    Region missing{box};
    for (int sender : senders) {
      for (const Holding &held : have[size_t(sender)]) {
        if (missing.empty())
          return sources;
        if (held.value != value || held.order != order)
          continue;
        for (const Box &part : held.region)
          for (const Box &piece : plan::intersect(missing, part))
            take(receiver, sender, held.slot, piece, sources);
        missing = subtract(std::move(missing), held.region);
      }
    }
    return sources;
  }

  void take(int receiver, int sender, int64_t slot, const Box &piece,
            std::vector<ExchangePlan::Source> &sources) {
    if (receiver == self && sender == self) {
      sources.push_back({-1, 0, slot, piece});
    } else if (receiver == self) {
      const auto [message, index] =
          messageOf(plan.receives, receiveFrom, sender);
      sources.push_back({index, message->elements, slot, piece});
      message->parts.push_back({slot, piece});
      message->elements += piece.count();
    } else if (sender == self) {
      ExchangePlan::Message *message =
          messageOf(plan.sends, sendTo, receiver).first;
      message->parts.push_back({slot, piece});
      message->elements += piece.count();
    }
  }

  static std::pair<ExchangePlan::Message *, int>
  messageOf(std::vector<ExchangePlan::Message> &messages,
            std::vector<int> &index, int peer) {
    int &position = index[size_t(peer)];
    if (position < 0) {
      position = int(messages.size());
      messages.push_back({peer, {}});
    }
    return {&messages[size_t(position)], position};
  }

  const std::span<const std::vector<Holding>> have, need;
  const int self;
  const std::function<bool(int, int)> &onOneHost;
  std::vector<int> sendTo, receiveFrom; ///< message of each process, or -1
  ExchangePlan plan;
};
} // namespace

ExchangePlan
plan::planExchange(std::span<const std::vector<Holding>> have,
                   std::span<const std::vector<Holding>> need, int self,
                   const std::function<bool(int, int)> &onOneHost) {
  return ExchangePlanner(have, need, self, onOneHost).run();
}

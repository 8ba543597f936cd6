// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies between the cards of one process. The receiver copies: its stream
// waits until the data is there, and the sender's stream goes on when the copy
// has been done.
#include "CardLink.h"

#include <map>

using namespace meshloom;
using namespace meshloom::cuda;

Status CardLink::allReduce(std::span<const int>, std::span<const Sum>,
                           Messages) {
  return Error("this link combines nothing", ErrorCode::INTERNAL);
}

namespace {
class PeerLink : public CardLink {
public:
  PeerLink(std::shared_ptr<Card> card,
           std::shared_ptr<Communicator> communicator)
      : card(std::move(card)), communicator(std::move(communicator)) {}
  ~PeerLink() override {
    for (auto [rank, mark] : copied)
      card->giveBack(mark);
  }
  Status exchange(std::span<const Outgoing> outgoing,
                  std::span<const Incoming> incoming,
                  Messages messages) override;

private:
  /// The data of one transfer, which is there once `ready` has happened.
  struct Offer {
    const char *data;
    ContextHandle context;
    EventHandle ready;
  };
  /// The mark behind the copies from one rank.
  struct End {
    EventHandle mark;
  };
  Status copyAll(std::span<const Offer> offers,
                 std::span<const Incoming> incoming);
  Status mark(int rank);
  template <typename T>
  Status send(std::span<const int> to, std::span<const T> sent,
              std::span<const int> from, std::span<T> received,
              const Messages &messages);

  const std::shared_ptr<Card> card;
  const std::shared_ptr<Communicator> communicator;
  /// Per rank, the end of the last copy from it. It waits for that before it
  /// offers anything else.
  std::map<int, EventHandle> copied;
};

/// One T to each of the ranks `to`, and one from each of `from`.
template <typename T>
Status PeerLink::send(std::span<const int> to, std::span<const T> sent,
                      std::span<const int> from, std::span<T> received,
                      const Messages &messages) {
  std::vector<Communicator::Outgoing> outgoing;
  std::vector<Communicator::Incoming> incoming;
  outgoing.reserve(to.size());
  incoming.reserve(from.size());
  for (size_t i = 0; i < to.size(); ++i)
    outgoing.push_back(
        {to[i], {reinterpret_cast<const char *>(&sent[i]), sizeof(T)}});
  for (size_t i = 0; i < from.size(); ++i)
    incoming.push_back(
        {from[i], {reinterpret_cast<char *>(&received[i]), sizeof(T)}});
  return communicator->wait(communicator->exchange(messages.tag, outgoing,
                                                   incoming, messages.timeout));
}

Status PeerLink::mark(int rank) {
  Result<EventHandle> mark = card->mark();
  if (!mark)
    return mark.error();
  if (auto found = copied.find(rank); found != copied.end())
    card->giveBack(found->second);
  copied[rank] = *mark;
  return Success();
}

Status PeerLink::copyAll(std::span<const Offer> offers,
                         std::span<const Incoming> incoming) {
  for (size_t i = 0; i < offers.size(); ++i) {
    if (Status ok = card->waitInStream(offers[i].ready); !ok)
      return ok;
    if (Status ok = card->copyFromPeer(incoming[i].data, offers[i].data,
                                       offers[i].context, incoming[i].bytes);
        !ok)
      return ok;
  }
  for (const Incoming &transfer : incoming)
    if (Status ok = mark(transfer.from); !ok)
      return ok;
  return Success();
}

Status PeerLink::exchange(std::span<const Outgoing> outgoing,
                          std::span<const Incoming> incoming,
                          Messages messages) {
  if (outgoing.empty() && incoming.empty())
    return Success();
  Result<EventHandle> ready = card->mark();
  if (!ready)
    return ready.error();
  std::vector<int> to, from;
  std::vector<Offer> offered, offers(incoming.size());
  for (const Outgoing &transfer : outgoing) {
    to.push_back(transfer.to);
    offered.push_back({transfer.data, card->contextHandle(), *ready});
  }
  for (const Incoming &transfer : incoming)
    from.push_back(transfer.from);
  Status done = send<Offer>(to, offered, from, offers, messages);
  if (done)
    done = copyAll(offers, incoming);
  if (!done)
    return done;
  ++messages.tag;
  std::vector<End> ends(outgoing.size()), ours;
  for (int rank : from)
    ours.push_back({copied.at(rank)});
  done = send<End>(from, ours, to, ends, messages);
  for (size_t i = 0; i < ends.size() && done; ++i)
    done = card->waitInStream(ends[i].mark);
  if (done)
    card->giveBack(*ready); // nobody asks for it any more
  return done;
}
} // namespace

Result<std::unique_ptr<CardLink>>
cuda::makePeerLink(std::shared_ptr<Card> card,
                   std::span<const std::shared_ptr<Card>> cards,
                   std::shared_ptr<Communicator> communicator) {
  for (const std::shared_ptr<Card> &peer : cards)
    if (peer != card)
      if (Status ok = card->admit(*peer); !ok)
        return ok.error();
  return std::unique_ptr<CardLink>(
      std::make_unique<PeerLink>(std::move(card), std::move(communicator)));
}

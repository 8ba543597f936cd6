// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Transports that give messages other tags, or look at them.
#include "Reordering.h"

#include <algorithm>

namespace meshloom::sim {

namespace {
/// Hands everything on to another one.
class Through : public Transport {
public:
  explicit Through(std::shared_ptr<Transport> transport)
      : transport(std::move(transport)) {}

  int rank() const override { return transport->rank(); }
  int size() const override { return transport->size(); }
  const std::string &hostOf(int rank) const override {
    return transport->hostOf(rank);
  }
  Event send(int to, uint64_t tag, std::span<const char> bytes,
             TransferTimeout timeout) override {
    return transport->send(to, tagOf(tag), bytes, timeout);
  }
  Event receive(int from, uint64_t tag, std::span<char> into,
                TransferTimeout timeout) override {
    return transport->receive(from, tagOf(tag), into, timeout);
  }
  Event receive(int from, uint64_t tag, int64_t bytes, Consumer consume,
                TransferTimeout timeout) override {
    return transport->receive(from, tagOf(tag), bytes, std::move(consume),
                              timeout);
  }
  void beginBatch() override { transport->beginBatch(); }
  void endBatch() override { transport->endBatch(); }
  void setTimeout(std::chrono::milliseconds timeout) override {
    transport->setTimeout(timeout);
  }
  Status wait(const Event &event) override { return transport->wait(event); }
  void abort(const Error &error) override { transport->abort(error); }
  void leave() override { transport->leave(); }
  void compareCalls(std::shared_ptr<const CallOrder> calls) override {
    transport->compareCalls(std::move(calls));
  }

protected:
  virtual uint64_t tagOf(uint64_t tag) = 0;

private:
  const std::shared_ptr<Transport> transport;
};

class Planted final : public Through {
public:
  Planted(std::shared_ptr<Transport> transport, uint64_t one, uint64_t other)
      : Through(std::move(transport)), one(one), other(other) {}

private:
  uint64_t tagOf(uint64_t tag) override {
    return tag == one ? other : tag == other ? one : tag;
  }
  const uint64_t one, other;
};
} // namespace

class Reordering::Recorded final : public Through {
public:
  Recorded(std::shared_ptr<Transport> transport, Reordering &record)
      : Through(std::move(transport)), record(record) {}

private:
  uint64_t tagOf(uint64_t tag) override {
    const std::lock_guard lock(record.mutex);
    std::vector<uint64_t> &rankTags = record.tags[size_t(rank())];
    if (std::ranges::find(rankTags, tag) == rankTags.end())
      rankTags.push_back(tag);
    return tag;
  }
  Reordering &record;
};

std::shared_ptr<Transport>
Reordering::recorded(std::shared_ptr<Transport> transport) {
  tags.resize(size_t(transport->size()));
  return std::make_shared<Recorded>(std::move(transport), *this);
}

bool Reordering::isPossible() const {
  return std::ranges::any_of(
      tags, [](const auto &rankTags) { return rankTags.size() > 1; });
}

std::shared_ptr<Transport>
Reordering::planted(std::shared_ptr<Transport> transport, uint64_t seed) const {
  // The next rank from a chosen one that has two.
  const size_t size = tags.size();
  size_t rank = seed % size;
  while (tags[rank].size() < 2)
    rank = (rank + 1) % size;
  if (size_t(transport->rank()) != rank)
    return transport;
  const std::vector<uint64_t> &rankTags = tags[rank];
  const size_t place = seed / size % (rankTags.size() - 1);
  return std::make_shared<Planted>(std::move(transport), rankTags[place],
                                   rankTags[place + 1]);
}

} // namespace meshloom::sim

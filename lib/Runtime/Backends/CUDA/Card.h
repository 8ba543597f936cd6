// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Card: one GPU, as this backend uses it. All its work is in one stream, in
// which it is done in the order in which it was asked for.
#pragma once

#include "Commands.h"
#include "Driver.h"

#include "meshloom/Runtime/Plan/PlanClient.h"

#include <atomic>
#include <mutex>

namespace meshloom::cuda {

/// Kernels that a card has compiled. Keeps the card alive.
class Kernels;
class CardLibraries;
struct LibraryPaths;

/// Functions that fail say what the driver calls the failure. After some
/// failures (an address that does not exist, a card that is gone) a GPU does
/// nothing for this process any more: all functions then fail with the first
/// one. Safe to use from any thread.
class Card : public Commands, public std::enable_shared_from_this<Card> {
public:
  /// `memoryLimit`: bytes that may be in use at once, 0: what the GPU has.
  static Result<std::shared_ptr<Card>> open(const Driver &driver, int number,
                                            int64_t memoryLimit,
                                            const LibraryPaths &paths);
  /// How many cards this machine has.
  static Result<int> count(const Driver &driver);
  /// The description of a card that may not be open. Fails where there is none
  /// of that number.
  static Result<std::string> describe(const Driver &driver, int number);
  ~Card() override;
  Card(const Card &) = delete;
  Card &operator=(const Card &) = delete;

  /// "GPU 0 (NVIDIA H100)".
  const std::string &description() const { return text; }
  /// Among those of the machine.
  int number() const { return ordinal; }
  int multiprocessors() const { return processors; }
  /// 80 for compute capability 8.0.
  int capability() const { return computeCapability; }
  int64_t memoryLimit() const { return limit; }
  bool hasConditionalNodes() const {
    return driver.cuGraphConditionalHandleCreate && driver.cuGraphAddNode_v2;
  }
  int64_t bytesInUse() const { return used; }

  /// Memory of the card. It is given back, with its last reference, when the
  /// work so far has been done.
  Result<plan::Block> allocate(int64_t bytes);
  /// Memory of the host that the card reads and writes by itself; given back
  /// likewise.
  Result<std::shared_ptr<char>> allocateHost(int64_t bytes);

  // Work is done in the stream.
  Status copyFromHost(char *to, const char *from, int64_t bytes) override;
  Status copyToHost(char *to, const char *from, int64_t bytes) override;
  Status copy(char *to, const char *from, int64_t bytes) override;
  Status copyBox(const CopyNode &box) override;
  Status launch(FunctionHandle function, unsigned blocks, unsigned threads,
                std::span<uint64_t> parameters) override;
  Status callHost(HostFunction function, void *data) override;
  Status callLibrary(std::span<const uint64_t> addresses,
                     const std::function<Status(StreamHandle)> &call) override;
  /// While a thread has one, cards refuse it: the driver would wait for itself.
  class HostScope {
  public:
    HostScope();
    ~HostScope();
    HostScope(const HostScope &) = delete;
    HostScope &operator=(const HostScope &) = delete;
  };
  /// Waits until all work has been done; fails where some of it did.
  Status synchronize();
  /// Marks the work so far. A mark is to be waited for once.
  Result<EventHandle> mark();
  /// Waits until the work in front of the mark has been done; fails where some
  /// of it did.
  Status wait(EventHandle mark);

  /// Takes a mark back that nobody waits for any more.
  void giveBack(EventHandle mark);

  // For profiles.
  /// Marks the work so far with the time of its end. Such a mark is not to be
  /// given back, but destroyed.
  Result<EventHandle> markTime();
  void destroy(EventHandle mark);
  /// Milliseconds between two such marks, once the work in front of both has
  /// been done.
  Result<float> millisecondsBetween(EventHandle begin, EventHandle end);

  // For links between cards.
  /// Makes the card the one that the calling thread speaks of. Fails where it
  /// is lost.
  Status enter();
  /// Work that is asked for later begins when work before a mark of any card
  /// has been done.
  Status waitInStream(EventHandle mark);
  /// Copies from memory of the card that `peer` is the context of, which may be
  /// this one.
  Status copyFromPeer(char *to, const char *from, ContextHandle peer,
                      int64_t bytes);
  /// Lets another card of the process copy from the memory of this one. Fails
  /// where the driver does not.
  Status admit(const Card &peer);
  ContextHandle contextHandle() const { return context; }
  StreamHandle streamHandle() const { return stream; }
  /// Returns whether the work in front of a mark has been done; fails where
  /// some of it did.
  Result<bool> isOver(EventHandle mark);

  /// They are used while the calling thread speaks of this card.
  CardLibraries &libraries() { return *libraryUse; }

  /// Compiles PTX. Fails with what the driver's compiler says of it.
  Result<std::shared_ptr<const Kernels>> compile(const std::string &ptx);

private:
  friend class Graph;
  friend class Kernels;
  Card(const Driver &driver, const LibraryPaths &paths);
  Status start(int number, int64_t memoryLimit);
  Status check(DriverResult result, std::string_view function);
  Error outOfMemory(int64_t bytes);
  void release(char *block, int64_t bytes);
  /// Records a mark, or a new one with these flags where there is none, behind
  /// the work so far. One that cannot be recorded is destroyed.
  Result<EventHandle> record(EventHandle mark, unsigned flags);
  /// Memory of the host that is free once `done` has happened.
  struct HostBlock {
    char *data;
    int64_t bytes;
    EventHandle done;
  };
  void releaseHost(const HostBlock &block);

  const Driver &driver;
  std::string text;
  int processors = 0, computeCapability = 0;
  int64_t limit = 0;
  int ordinal = 0;
  DeviceNumber device = 0;
  ContextHandle context = nullptr;
  StreamHandle stream = nullptr;
  std::atomic<int64_t> used = 0;
  std::unique_ptr<CardLibraries> libraryUse;
  std::mutex mutex; ///< of what is below
  std::vector<HostBlock> freeHost;
  std::vector<EventHandle> freeMarks;
  std::optional<Error> lost;
};

class Kernels {
public:
  Kernels(std::shared_ptr<Card> card, ModuleHandle module)
      : card(std::move(card)), module(module) {}
  ~Kernels();
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;
  Result<FunctionHandle> find(const std::string &symbol) const;

private:
  const std::shared_ptr<Card> card;
  const ModuleHandle module;
};

} // namespace meshloom::cuda

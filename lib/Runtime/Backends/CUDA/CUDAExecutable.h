// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A straight program on a card: its step graph, as one of the card's graphs or
// one piece of work after the other in the card's stream. A thread of the host
// does work that has no kernel in its turn (a host node): the card copies what
// it touches to the host first, and what it has written back afterwards.
//
// Cards of one mesh are processes of it. Collectives move data through their
// link in the order of the stream, or by way of the host, which waits for the
// work so far. The work between exchanges is a graph.
#pragma once

#include "Attentions.h"
#include "CUDAClient.h"
#include "CallTimes.h"
#include "CardLibraries.h"
#include "DeviceExchange.h"
#include "Epilogues.h"
#include "Graph.h"

#include "meshloom/Runtime/Plan/Failure.h"
#include "meshloom/Runtime/Plan/Offsets.h"
#include "meshloom/Runtime/Plan/Shared/ExchangeRun.h"
#include "meshloom/Runtime/Plan/Shared/HostWork.h"
#include "meshloom/Runtime/Plan/Steps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

namespace meshloom::cuda {

class ActionJoiner;
struct BiasGradient;

/// A piece of work, ready to run.
struct Call {
  const plan::Work *work = nullptr;
  const JoinedProduct *joined = nullptr;      ///< of a product with an epilogue
  const JoinedAttention *attention = nullptr; ///< of work that is one
  std::vector<plan::AccessElements> elements; ///< per access
  std::vector<int64_t> strides;               ///< [access][loop]
  LoadedKernel kernel;                        ///< of a kernel or product
  /// A library computes each part by these; empty: none does.
  std::vector<std::shared_ptr<const LibraryWork>> libraryWork;
  std::optional<unsigned> workspace; ///< the memory that it needs
  // A host node, or what checks the values that a kernel has written:
  bool onHost = false;
  plan::HostWork host;
  std::vector<unsigned> nonFinite; ///< accesses to check
  /// The bytes of a memory that the host reads and writes.
  struct Staged {
    unsigned memory;
    Interval bytes;
    bool written;
    int64_t offset = 0; ///< in the host's memory
  };
  std::vector<Staged> staged;
  bool hasHostNode() const { return onHost || !nonFinite.empty(); }
  /// Returns whether the call is work of a library's which `condition` is true
  /// of.
  bool hasLibraryWork(bool (LibraryWork::*condition)() const) const {
    return std::ranges::any_of(
        libraryWork, condition,
        [](const auto &part) -> const LibraryWork & { return *part; });
  }
  /// Returns whether no graph can have the call.
  bool isAlone() const {
    return work->isExchange() || hasLibraryWork(&LibraryWork::isAlone);
  }
};

class CUDAExecutable : public plan::StraightExecutable {
public:
  CUDAExecutable(std::shared_ptr<CUDAClient> client,
                 std::shared_ptr<const LoadedCode> code,
                 const LoadOptions &options, plan::BoundProgram program)
      : StraightExecutable(client, std::move(program), options), gpus(*client),
        card(client->card), code(std::move(code)) {}
  Status plan();
  bool isRecordable() const override {
    return !exchanges() && !hasHostNodes() &&
           std::ranges::none_of(calls, &Call::isAlone);
  }
  bool exchanges() const override {
    return !graph.exchanges.empty() || checksTogether();
  }

private:
  /// A box of a call's iterations, and where its first elements are.
  struct Part {
    std::vector<int64_t> begin, origin, extents;
    std::vector<int64_t> offsets; ///< per access, in bytes from its memory's
    std::vector<char *> pointers; ///< the same as addresses
    size_t instance = 0;
  };
  /// A run that is going on.
  struct Run {
    /// A host node of it.
    struct HostRun {
      Run *run;
      const Call *call;
    };
    const CUDAExecutable *self;
    std::vector<HostRun> hostRuns; ///< per call, where there are host nodes
    plan::Failure failure;
    /// Where cards check together, no reason not to go on.
    plan::Failure nonFinite;
    /// Always there once it has begun.
    std::optional<plan::ExchangeRun> exchanges;
    uint64_t messages = 0; ///< the number of the first one of the link
    /// Where the run is profiled; `begin`: the first mark, in its time.
    std::optional<CallTimes> times;
    int64_t begin = 0;
    /// Keeps `self` alive for what runs later.
    std::shared_ptr<const plan::PlanExecutable> owner;
  };

  /// Calls that are a graph, or one call that is alone.
  struct Segment {
    size_t begin, end;
    std::unique_ptr<Graph> recorded; ///< null: not yet
  };

  /// Joins products with the kernels behind them where a library computes
  /// both.
  void joinEpilogues();
  /// Joins the sums of a bias's gradient with a product that reads or computes
  /// what they add up.
  void joinBiasGradient(const BiasGradient &gradient);
  /// Returns whether the library computes the product with its `kernels`, and
  /// joins their actions then.
  bool isJoinable(const JoinedProduct &product,
                  std::span<const unsigned> kernels,
                  ActionJoiner &joiner) const;
  void setJoined(const JoinedProduct &product);
  /// Joins the actions of attentions that a library computes.
  void joinAttentions();
  bool isOfLibrary(const Call &call) const;
  void order();
  plan::Offsets place() const;
  Status placeExchanges();
  /// Finds the sums that the link makes together.
  void joinSums();
  DeviceExchange exchangeOnLink(const plan::ExchangeLayout &layout) const;
  void findSegments();
  /// Finds what each call comes after.
  void findEdges(const std::vector<int64_t> &offsets);
  /// `users`: per memory, the calls that use it, in their order.
  void addMemoryEdges(const std::vector<std::vector<unsigned>> &users,
                      const std::vector<int64_t> &offsets,
                      std::vector<std::set<unsigned>> &edges) const;
  Result<Call> prepare(unsigned action);
  /// A call whose code is still to be found.
  Call callOf(const plan::Work &work, const JoinedProduct *joined,
              const JoinedAttention *attention = nullptr) const;
  /// The addends of a value: `first`, `first` + `step`, ...
  struct Addends {
    int64_t first, step, count;
    /// Nothing, where the steps differ.
    static std::optional<Addends> of(std::span<const int64_t> numbers);
  };
  static std::optional<int64_t> addendStep(const plan::Work &work);
  std::string symbolOf(const plan::Work &work) const;
  Status findKernel(Call &call) const;
  /// The kernel of the program's code; without a shape where there is none.
  Result<LoadedKernel> loadedKernel(const std::string &symbol) const;
  /// A library's work for each part of a call; empty: no library computes it.
  using PartsOfLibrary = std::vector<std::shared_ptr<const LibraryWork>>;
  Result<PartsOfLibrary> planParts(const Call &call) const;
  /// Looks for a library that computes a call, and gives it memory.
  Status planLibrary(Call &call);
  LibraryWorkOrError planPart(const Call &call, const Part &part) const;
  LibraryWorkOrError planProduct(const Call &call, const DotStep &step,
                                 const Part &part) const;
  LibraryWorkOrError planAttention(const Call &call, const Part &part) const;
  LibraryWorkOrError planConvolution(const Call &call, const KernelStep &step,
                                     const Part &part) const;
  LibraryWorkOrError planTransform(const Call &call, const KernelStep &step,
                                   const Part &part) const;
  LibraryWorkOrError planDecomposition(const Call &call, const KernelStep &step,
                                       const Part &part) const;
  LibraryWorkOrError planTriangular(const Call &call, const KernelStep &step,
                                    const Part &part) const;
  Error ofCard(const Error &error) const {
    return error.withMessage(card->description() + ": " + error.message());
  }
  /// The scratch memories that a call uses.
  std::vector<unsigned> scratchOf(const Call &call) const;
  /// Gives what a call touches places in the host's memory.
  void stage(Call &call);
  /// The bytes of its memory that an access touches in a part.
  Interval touched(const Call &call, const Part &part, size_t access) const;
  Result<Event> runActions(const Frame &frame) override;
  Status recordActions(const Frame &frame, plan::ControlGraph &into) override;
  /// A host node may fail long after it was asked for, and work that uses its
  /// results must not begin then.
  bool isInOrder() const override { return !hasHostNodes(); }
  bool hasHostNodes() const {
    return std::ranges::any_of(calls, &Call::hasHostNode);
  }
  Status beginProfile(Run &run) const;
  /// The code that computes a call, as profiles name it.
  static std::string codeOf(const Call &call);
  int64_t flopsOf(const Call &call, const Part &part) const;
  int64_t bytesOf(const Call &call, const Part &part) const;
  /// Adds the calls of a run that is over to the profile.
  void recordCalls(const Run &run) const;
  Status enqueue(const Frame &frame, Run &run);
  Status enqueueGraph(Segment &segment, const Frame &frame, Run &run);
  /// Asks a graph for calls, each after those that it has to come after.
  Status enqueueCalls(Graph &graph, size_t begin, size_t end,
                      const Frame &frame, Run &run);
  Status enqueueCall(Commands &commands, size_t index, const Frame &frame,
                     Run &run);
  Status enqueueHost(Commands &commands, const Frame &frame, Run::HostRun &run);
  Status enqueueExchange(const plan::Work &work, const Frame &frame, Run &run);
  /// Begins or ends an exchange that the cards' link does.
  Status enqueueOnLink(const plan::Work &work, const Frame &frame, Run &run);
  plan::ExchangeLayout::Memory memoryOnLink(unsigned exchange,
                                            const Frame &frame) const;
  /// Returns whether all cards end a run with the first value of any of them
  /// that is not finite. Each goes on to the end, so that none waits in vain.
  bool checksTogether() const {
    return options.checkNonFinite && processes.several();
  }
  /// Returns whether the card does all of a run by itself once it has been
  /// asked for it.
  bool endsLater() const {
    return !hasHostNodes() && !options.checkNonFinite &&
           std::ranges::all_of(onLink, [](const auto &exchange) {
             return exchange.has_value();
           });
  }
  /// Ends a run that exchanges: other cards learn of a failure.
  Result<Event> finishTogether(Run &run, Status outcome);
  /// The box of iterations of a call's kernel.
  Part launched(const Call &call, Part part) const;
  Status launch(Commands &commands, const Call &call, Part part) const;
  Status launchLibrary(Commands &commands, const Call &call, const Part &part,
                       char *workspace) const;
  Status copyBoxes(Commands &commands, const Call &call,
                   const Part &part) const;
  void runOnHost(const Call &call, Run &run) const;
  void check(const Call &call, const Part &part, Run &run) const;
  /// Calls `body` for each part, whose pointers are null.
  Status forEachBox(const Call &call,
                    const std::function<Status(Part &)> &body) const;
  /// Calls `body` for each part; `base(memory)`: the address of a memory, a
  /// number, for a part that touches nothing may lie outside it.
  Status forEachPart(const Call &call,
                     const std::function<uintptr_t(unsigned)> &base,
                     const std::function<Status(const Part &)> &body) const;

  CUDAClient &gpus; ///< `device`, which the executable keeps alive
  const std::shared_ptr<Card> card;
  const std::shared_ptr<const LoadedCode> code;
  plan::StepGraph graph;
  std::map<unsigned, JoinedProduct> joined;       ///< by the products' actions
  std::map<unsigned, JoinedAttention> attentions; ///< by actions
  std::set<unsigned> joinedActions; ///< that others do together with their own
  std::vector<unsigned> sequence;   ///< of the graph's works
  std::vector<Call> calls;          ///< in that order
  /// Per call, the earlier ones that must have ended before it begins.
  std::vector<std::vector<unsigned>> after;
  std::vector<Segment> segments;
  int64_t stagingBytes = 0;
  std::shared_ptr<char> staging; ///< of host nodes, one after the other
  plan::MeshProcesses processes{loaded.mesh}; ///< a card is one
  std::vector<plan::ExchangeCall> exchangeCalls;
  /// The exchanges that the cards' link does; empty: the host does one.
  std::vector<std::optional<DeviceExchange>> onLink;
  /// Per exchange, the sums that the link makes with it, itself included;
  /// empty: it is no sum of the link, or one that is made with a later one.
  std::vector<std::vector<unsigned>> jointSums;
  plan::Block linkBlock; ///< the memory of the card that they need
  int64_t linkBytes = 0; ///< its size
  /// Where the arrays of each exchange are in the host's memory; the staging
  /// memory of those of the link is the card's.
  std::vector<plan::ExchangeCall::Memory> exchangeMemory;
  std::shared_ptr<char> exchangeBlock; ///< which has them
};

} // namespace meshloom::cuda

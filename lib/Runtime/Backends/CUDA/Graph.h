// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph: the work of a program as one launch. Its edges are those of the
// program's plan, so that the card chooses among all work that may begin.
//
// The work is asked for in each run. The first time it becomes nodes; later
// runs ask for the same in the same order, and a node changes where addresses
// or other parameters have.
#pragma once

#include "Card.h"

namespace meshloom::cuda {

class Graph : public Commands {
public:
  static Result<std::unique_ptr<Graph>> create(std::shared_ptr<Card> card);
  ~Graph() override;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// Begins a run.
  void begin() { position = 0; }
  /// Begins the next piece of the program's work, which comes after the pieces
  /// `after`, numbers of earlier ones. Nodes of a piece may run at one time,
  /// but for join().
  void beginPiece(std::span<const unsigned> after);
  void endPiece();

  Status copyFromHost(char *to, const char *from, int64_t bytes) override;
  Status copyToHost(char *to, const char *from, int64_t bytes) override;
  Status copy(char *to, const char *from, int64_t bytes) override;
  Status copyBox(const CopyNode &box) override;
  Status launch(FunctionHandle function, unsigned blocks, unsigned threads,
                std::span<uint64_t> parameters) override;
  Status callHost(HostFunction function, void *data) override;
  Status callLibrary(std::span<const uint64_t> addresses,
                     const std::function<Status(StreamHandle)> &call) override;
  void join() override;

  /// Launches what this run has asked for in the card's stream. After an error
  /// of this or of the functions above the graph is of no more use.
  Status launchAll();

private:
  /// The values of a node that may change.
  using Values = std::vector<uint64_t>;
  struct Node {
    GraphNodeHandle handle;
    Values values;
  };
  explicit Graph(std::shared_ptr<Card> card) : card(std::move(card)) {}
  /// The next node: `add(node, dependencies)` makes it in the first run,
  /// `change(node)` changes it in later ones where its values differ.
  template <typename Add, typename Change>
  Status next(Values values, const Add &add, const Change &change);
  Status copyBetween(MemoryType toType, char *to, MemoryType fromType,
                     const char *from, int64_t bytes);

  /// The work that `call` asks a stream for, as a graph of the caller's.
  Result<GraphHandle> capture(const std::function<Status(StreamHandle)> &call);

  const std::shared_ptr<Card> card;
  GraphHandle graph = nullptr;
  StreamHandle captured = nullptr;            ///< libraries ask it for work
  GraphExecutableHandle executable = nullptr; ///< null in the first run
  std::vector<Node> nodes;
  size_t position = 0; ///< of the next node of this run
  // While nodes are added:
  std::vector<GraphNodeHandle> before;  ///< what the next node comes after
  std::vector<GraphNodeHandle> current; ///< of this piece, since join()
  /// The nodes that a piece ends with; where it has none, those before it.
  std::vector<std::vector<GraphNodeHandle>> ends;
};

} // namespace meshloom::cuda

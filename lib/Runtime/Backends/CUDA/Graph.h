// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graph: the work of a program as one launch. Its edges are those of the
// program's plan, so that the card chooses among all work that may begin.
//
// The work is asked for in each run. The first time it becomes nodes; later
// runs ask for the same in the same order, and a node changes where addresses
// or other parameters have.
//
// Work may be the body of a conditional node, which is a graph of its own. Its
// nodes change as those of the graph do.
#pragma once

#include "Card.h"

#include <set>

namespace meshloom::cuda {

class Graph : public Commands {
public:
  static Result<std::unique_ptr<Graph>> create(std::shared_ptr<Card> card);
  ~Graph() override;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  /// Begins a run.
  void begin() { position = condition = 0; }
  /// Begins the next piece of the program's work, which comes after the pieces
  /// `after`, numbers of earlier ones of its section. Nodes of a piece may run
  /// at one time, but for join().
  void beginPiece(std::span<const unsigned> after);
  void endPiece();
  /// Begins a section: its pieces, which are counted from 0, come after all
  /// work before it.
  void beginSection();
  /// The next handle for a condition.
  Result<ConditionHandle> nextCondition();
  /// Begins the body of a conditional node, which comes after all work before
  /// it. The sections of the body are one after the other likewise.
  Status beginBody(ConditionalType type, ConditionHandle handle);
  void endBody();

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
  GraphHandle target = nullptr;    ///< to which nodes are added: it or a body
  StreamHandle captured = nullptr; ///< libraries ask it for work
  GraphExecutableHandle executable = nullptr; ///< null in the first run
  std::vector<Node> nodes;
  size_t position = 0; ///< of the next node of this run
  std::vector<ConditionHandle> conditions;
  size_t condition = 0; ///< the next one of this run
  // While nodes are added:
  std::vector<GraphNodeHandle> before;  ///< what the next node comes after
  std::vector<GraphNodeHandle> current; ///< of this piece, since join()
  /// The nodes that a piece ends with; where it has none, those before it.
  std::vector<std::vector<GraphNodeHandle>> ends;
  std::vector<GraphNodeHandle> sectionStart; ///< what the section comes after
  std::set<GraphNodeHandle> last; ///< after which no node of the target comes
  /// The place of a body that has begun.
  struct Outer {
    GraphHandle target;
    GraphNodeHandle node; ///< whose body has begun
  };
  std::vector<Outer> outers;
};

} // namespace meshloom::cuda

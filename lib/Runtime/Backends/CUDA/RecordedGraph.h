// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RecordedGraph: a loop or branch as one of the card's graphs, whose
// conditional nodes have the lists.
#pragma once

#include "CUDAClient.h"
#include "Conditions.h"
#include "Graph.h"

#include "meshloom/Runtime/Plan/ControlGraph.h"

#include <map>

namespace meshloom::cuda {

class RecordedGraph : public plan::ControlGraph {
public:
  RecordedGraph(std::shared_ptr<CUDAClient> client,
                std::shared_ptr<const Conditions> conditions)
      : client(std::move(client)), conditions(std::move(conditions)) {}

  Status begin() override;
  Result<plan::Block> allocate(int64_t bytes) override;
  Status copy(std::span<const Copy> copies) override;
  Status beginLoop(const char *predicate, int64_t bytes) override;
  Status endLoop(const char *predicate, int64_t bytes) override;
  Status beginBranch(const char *index, int64_t branch, int64_t last) override;
  void endBranch() override { graph->endBody(); }
  Result<Event> launch(const std::string &program,
                       std::span<plan::Block> results) override;

  /// Takes the work that is recorded.
  Graph &commands() { return *graph; }

private:
  /// Records one piece of work, which `ask` asks for, behind all others.
  Status record(const std::function<Status(Graph &)> &ask);

  const std::shared_ptr<CUDAClient> client;
  const std::shared_ptr<const Conditions> conditions;
  std::unique_ptr<Graph> graph; ///< null: nothing has been recorded yet
  bool isRecording = false;
  std::vector<ConditionHandle> loops;         ///< that have begun
  std::map<const char *, plan::Block> blocks; ///< of this run
};

} // namespace meshloom::cuda

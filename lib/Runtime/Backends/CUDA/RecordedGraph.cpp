// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RecordedGraph.h"

#include <fmt/format.h>

using namespace meshloom;
using namespace meshloom::cuda;

Status RecordedGraph::begin() {
  if (!graph) {
    Result<std::unique_ptr<Graph>> created = Graph::create(client->card);
    if (!created)
      return created.error();
    graph = std::move(*created);
  }
  graph->begin();
  isRecording = true;
  return Success();
}

/// The card gives memory back in the order of its stream, in which the graph
/// comes last.
Result<plan::Block> RecordedGraph::allocate(int64_t bytes) {
  Result<plan::Block> block = client->card->allocate(bytes);
  if (!block)
    return block;
  char *const place = block->get();
  blocks.emplace(place, std::move(*block));
  return plan::Block(place, [](char *) {});
}

Status RecordedGraph::record(const std::function<Status(Graph &)> &ask) {
  graph->beginSection();
  graph->beginPiece({});
  const Status asked = ask(*graph);
  graph->endPiece();
  return asked;
}

Status RecordedGraph::copy(std::span<const Copy> copies) {
  auto ask = [&](Commands &commands) -> Status {
    for (const Copy &copy : copies)
      if (Status ok = commands.copy(copy.target, copy.source, copy.bytes); !ok)
        return ok;
    return Success();
  };
  return isRecording ? record(ask) : ask(*client->card);
}

Status RecordedGraph::beginLoop(const char *predicate, int64_t bytes) {
  Result<ConditionHandle> handle = graph->nextCondition();
  if (!handle)
    return handle.error();
  loops.push_back(*handle);
  if (Status ok = record([&](Graph &commands) {
        return conditions->setLoop(commands, predicate, bytes, *handle);
      });
      !ok)
    return ok;
  return graph->beginBody(ConditionalType::While, *handle);
}

Status RecordedGraph::endLoop(const char *predicate, int64_t bytes) {
  const ConditionHandle handle = loops.back();
  loops.pop_back();
  const Status done = record([&](Graph &commands) {
    return conditions->setLoop(commands, predicate, bytes, handle);
  });
  graph->endBody();
  return done;
}

Status RecordedGraph::beginBranch(const char *index, int64_t branch,
                                  int64_t last) {
  Result<ConditionHandle> handle = graph->nextCondition();
  if (!handle)
    return handle.error();
  if (Status ok = record([&](Graph &commands) {
        return conditions->setBranch(commands, index, branch, last, *handle);
      });
      !ok)
    return ok;
  return graph->beginBody(ConditionalType::If, *handle);
}

Result<Event> RecordedGraph::launch(const std::string &program,
                                    std::span<plan::Block> results) {
  isRecording = false;
  if (Status ok = graph->launchAll(); !ok)
    return ok.error();
  for (plan::Block &result : results)
    if (auto block = blocks.find(result.get()); block != blocks.end())
      result = block->second;
  blocks.clear();
  auto outcome = [program](const Status &done) -> Status {
    return done ? done
                : Status(done.error().withMessage(fmt::format(
                      "in program '{}': {}", program, done.error().message())));
  };
  return client->whenDone(outcome, std::nullopt);
}

std::unique_ptr<plan::ControlGraph> CUDAClient::makeControlGraph() {
  if (graphsFrom == 0)
    return nullptr;
  std::call_once(lookedForConditions,
                 [this] { conditions = Conditions::make(*card); });
  if (!conditions)
    return nullptr;
  return std::make_unique<RecordedGraph>(
      std::static_pointer_cast<CUDAClient>(shared_from_this()), conditions);
}

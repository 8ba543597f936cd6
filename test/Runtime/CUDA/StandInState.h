// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of the stand-in driver: GPUs, what is on them, and the work that
// nobody has waited for.
#pragma once

#include "../../../lib/Runtime/Backends/CUDA/DriverFacts.h"
#include "../../Targets/CUDA/PtxMachine.h"

#include <algorithm>
#include <deque>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace meshloom::cuda {

/// Something to do.
struct Piece {
  std::function<DriverResult()> run;      ///< empty: nothing
  std::set<const void *> hostBlocks = {}; ///< that it uses
  /// Where it also waits for what is not of this driver: names that, until it
  /// is there.
  std::function<std::string()> missing = {};
  /// Adds the tasks of the next turn of a conditional node, after which the
  /// node itself comes again. It is done where there are none.
  std::function<std::vector<std::shared_ptr<struct Task>>()> turn = {};
  /// The pieces of a child graph, which take its place one after the other;
  /// other work may come between them.
  std::vector<Piece> steps = {};
};

/// A piece of work that has been asked for; done when nothing waits for it any
/// more.
struct Task {
  ContextObject *context;
  Piece piece;
  std::vector<std::shared_ptr<Task>> after;
  bool done = false;
  int64_t number = 0; ///< in the order in which work is done; 0: it is not
  bool isNext() const {
    return std::ranges::all_of(after, [](auto &task) { return task->done; });
  }
  bool isReady() const {
    return isNext() && (!piece.missing || piece.missing().empty());
  }
};

struct GraphObject;

/// A GPU, and what this process has there.
struct ContextObject {
  int number = 0, users = 0;
  DriverResult lost = DriverResult::Success;
  ptx::Memory memory;
  struct Allocation {
    size_t bytes = 0;
    bool isFreed = false; ///< as far as callers go
    std::unique_ptr<char[]> storage;
  };
  std::map<DevicePointer, Allocation> allocations;
  size_t used = 0;
  std::set<int> admitted; ///< other GPUs that may use its memory
};
struct StreamObject {
  ContextObject *context;
  std::shared_ptr<Task> last;
  /// Work becomes nodes of this graph instead; null: there is none.
  GraphObject *captured = nullptr;
};
struct EventObject {
  ContextObject *context;
  bool hasTime;
  std::shared_ptr<Task> task; ///< null: nothing to wait for
};
struct GraphNodeObject {
  enum class Kind : uint8_t { Kernel, Copy, Host, Child, Conditional };
  GraphObject *graph;
  Kind kind;
  Piece piece;
  std::vector<GraphNodeObject *> after;
  ConditionHandle condition = 0; ///< of a conditional node, as what follows
  ConditionalType type = ConditionalType::If;
  GraphObject *body = nullptr;
};
struct GraphObject {
  ContextObject *context;
  std::vector<std::unique_ptr<GraphNodeObject>> nodes; ///< later ones after
  GraphObject *outer = nullptr;                        ///< where it is a body
  std::set<ConditionHandle> unused = {};               ///< that no node has
};
struct GraphExecutableObject {
  ContextObject *context;
  struct Node {
    Piece piece;
    std::vector<size_t> after;
    ConditionHandle condition = 0;
    ConditionalType type = ConditionalType::If;
    std::vector<Node> body = {};
  };
  std::vector<Node> nodes;
  std::map<const GraphNodeObject *, Node *> numbers;
};
struct FunctionObject {
  ModuleObject *module;
  const ptx::Kernel *kernel;
};
struct ModuleObject {
  ContextObject *context;
  ptx::Program program;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

/// The result that a call of a function has instead of its own.
struct WantedFailure {
  std::string function;
  int call = 0, result = 0;
};

struct StandInOptions {
  int gpus = 1, driver = 12040, capability = 90;
  size_t memory = size_t(1) << 30;
  int patience = 20000; ///< for work that waits for others, in milliseconds
  int peers = 1;        ///< 0: GPUs cannot use each other's memory
  unsigned seed = 1;
  std::string order = "random";
  std::optional<WantedFailure> fail;
};

/// Nothing where they are wrong.
std::optional<StandInOptions> readOptions(std::string_view text);

struct StandIn {
  explicit StandIn(StandInOptions wanted) : options(std::move(wanted)) {
    random.seed(options.seed);
    contexts.resize(size_t(std::max(options.gpus, 0)));
    for (size_t i = 0; i < contexts.size(); ++i) {
      contexts[i] = std::make_unique<ContextObject>();
      contexts[i]->number = int(i);
    }
  }

  const StandInOptions options;
  std::mt19937 random;
  bool begun = false;
  std::vector<std::unique_ptr<ContextObject>> contexts;
  std::vector<std::shared_ptr<Task>> pending;
  std::map<void *, std::unique_ptr<StreamObject>> streams;
  std::map<void *, std::unique_ptr<EventObject>> events;
  std::map<void *, std::unique_ptr<ModuleObject>> modules;
  std::map<void *, std::unique_ptr<GraphObject>> graphs;
  std::map<void *, std::unique_ptr<GraphExecutableObject>> graphExecutables;
  /// Nothing where a condition has not been set since it was last read.
  std::map<ConditionHandle, std::optional<unsigned>> conditions;
  ConditionHandle lastCondition = 0;
  std::map<const void *, std::vector<char>> hostBlocks;
  /// The storage of allocations that are over, whose addresses must not come
  /// again soon.
  std::deque<std::unique_ptr<char[]>> past;
  std::map<std::string, int> calls;
  std::string fault;
  int64_t launches = 0;
  int64_t done = 0; ///< pieces of work

  DriverResult lose(ContextObject *context, DriverResult result,
                    const std::string &text) {
    if (fault.empty())
      fault = text;
    fmt::print(stderr, "stand-in driver: {}\n", text);
    context->lost = result;
    return result;
  }

  std::shared_ptr<Task> add(ContextObject *context, Piece piece,
                            std::vector<std::shared_ptr<Task>> after) {
    auto task = std::make_shared<Task>(
        Task{context, std::move(piece), std::move(after)});
    pending.push_back(task);
    return task;
  }
  void enqueue(StreamObject &stream, Piece piece) {
    if (stream.captured) {
      auto &nodes = stream.captured->nodes;
      std::vector<GraphNodeObject *> after;
      if (!nodes.empty())
        after.push_back(nodes.back().get());
      nodes.push_back(std::make_unique<GraphNodeObject>(
          GraphNodeObject{stream.captured, GraphNodeObject::Kind::Kernel,
                          std::move(piece), std::move(after)}));
      return;
    }
    std::vector<std::shared_ptr<Task>> after;
    if (stream.last && !stream.last->done)
      after.push_back(stream.last);
    stream.last = add(stream.context, std::move(piece), std::move(after));
  }

  /// Does one task; false: none is ready.
  bool runOne() {
    std::vector<size_t> ready;
    for (size_t i = 0; i < pending.size(); ++i)
      if (pending[i]->isReady())
        ready.push_back(i);
    if (ready.empty())
      return false;
    const size_t index = options.order == "first" ? ready.front()
                         : options.order == "last"
                             ? ready.back()
                             : ready[random() % ready.size()];
    const std::shared_ptr<Task> task = pending[index];
    pending.erase(pending.begin() + long(index));
    if (task->piece.run && task->context->lost == DriverResult::Success)
      (void)task->piece.run();
    if (task->piece.turn && task->context->lost == DriverResult::Success)
      if (task->after = task->piece.turn(); !task->after.empty()) {
        pending.push_back(task);
        return true;
      }
    task->done = true;
    task->number = ++done;
    task->after.clear();
    task->piece = {};
    return true;
  }
  /// Returns whether the task has been done; if not, nothing is ready.
  bool wait(const std::shared_ptr<Task> &task) {
    while (task && !task->done)
      if (!runOne())
        return false;
    return true;
  }
  /// Names what the tasks that would be next wait for.
  std::string missing() const {
    std::string text;
    for (const auto &task : pending)
      if (task->isNext() && task->piece.missing)
        text += (text.empty() ? "" : "; ") + task->piece.missing();
    return text;
  }

  /// The page-locked block that has these bytes, or null.
  const void *hostBlockOf(const void *address, size_t bytes) const {
    auto behind = hostBlocks.upper_bound(address);
    if (behind == hostBlocks.begin())
      return nullptr;
    auto &[begin, block] = *std::prev(behind);
    const size_t offset = size_t(static_cast<const char *>(address) -
                                 static_cast<const char *>(begin));
    return offset + bytes <= block.size() ? begin : nullptr;
  }

  /// Fails where the bytes are not all in one allocation that is alive.
  DriverResult checkRange(ContextObject *context, DevicePointer address,
                          size_t bytes, std::string_view function) {
    if (context->memory.contains(address, bytes))
      return DriverResult::Success;
    return lose(context, DriverResult::IllegalAddress,
                fmt::format("{} of {} bytes at {:#x}, which are not all in one "
                            "allocation of GPU {}",
                            function, bytes, address, context->number));
  }
};

} // namespace meshloom::cuda

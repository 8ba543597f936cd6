// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The graphs of the stand-in driver: a launch is a task for each node, of which
// any may be next whose predecessors have ended.
#include "StandInCalls.h"

#include <cstring>
#include <utility>

namespace meshloom::cuda {
namespace {

using Kind = GraphNodeObject::Kind;

/// Where a row of one side of a copy begins, from its address.
size_t rowOffset(size_t pitch, size_t height, size_t plane, size_t row) {
  return pitch * (plane * height + row);
}

/// Returns whether the driver takes the pitch and height of one side.
bool arePitched(const CopyNode &copy, size_t pitch, size_t height) {
  return (copy.rows * copy.planes == 1 || pitch >= copy.bytes) &&
         pitch <= size_t(mostPitch) &&
         (copy.planes == 1 || height >= copy.rows);
}

/// Copies row by row. Fails where one is not in an allocation of the GPU.
DriverResult copyRows(StandIn &driver, ContextObject *context,
                      const CopyNode &copy, bool fromHost, bool toHost) {
  for (size_t plane = 0; plane < copy.planes; ++plane)
    for (size_t row = 0; row < copy.rows; ++row) {
      const size_t from =
                       rowOffset(copy.fromPitch, copy.fromHeight, plane, row),
                   to = rowOffset(copy.toPitch, copy.toHeight, plane, row);
      for (auto [isHost, address] : {std::pair(fromHost, copy.from + from),
                                     std::pair(toHost, copy.to + to)})
        if (!isHost)
          if (DriverResult bad =
                  driver.checkRange(context, address, copy.bytes, "a copy");
              bad != DriverResult::Success)
            return bad;
      const char *source = fromHost ? static_cast<const char *>(copy.fromHost)
                                    : reinterpret_cast<const char *>(copy.from);
      char *target = toHost ? static_cast<char *>(copy.toHost)
                            : reinterpret_cast<char *>(copy.to);
      std::memmove(target + to, source + from, copy.bytes);
    }
  return DriverResult::Success;
}
} // namespace

DriverResult makeCopy(StandIn &driver, const CopyNode &copy, Piece &piece) {
  if (copy.fromX || copy.fromY || copy.fromZ || copy.toX || copy.toY ||
      copy.toZ)
    return DriverResult::NotSupported;
  if (copy.bytes == 0 || copy.rows == 0 || copy.planes == 0 ||
      !arePitched(copy, copy.fromPitch, copy.fromHeight) ||
      !arePitched(copy, copy.toPitch, copy.toHeight))
    return DriverResult::InvalidValue;
  const bool fromHost = copy.fromType == MemoryType::Host,
             toHost = copy.toType == MemoryType::Host;
  // Boxes of host memory: we have no use for them.
  if ((fromHost || toHost) && copy.rows * copy.planes != 1)
    return DriverResult::NotSupported;
  for (auto [isHost, address] : {std::pair(fromHost, copy.fromHost),
                                 std::pair(toHost, (const void *)copy.toHost)})
    if (isHost) {
      // Other memory of the host may move: we have no use for it.
      const void *block = driver.hostBlockOf(address, copy.bytes);
      if (!block)
        return DriverResult::NotSupported;
      piece.hostBlocks.insert(block);
    }
  piece.run = [&driver, context = current, copy, fromHost, toHost] {
    return copyRows(driver, context, copy, fromHost, toHost);
  };
  return DriverResult::Success;
}

namespace {
/// The work of a graph that was captured in one stream: one node after another.
DriverResult makeChild(StandIn &driver, GraphHandle graph, Piece &piece) {
  const GraphObject *object = find(driver.graphs, graph);
  if (!object)
    return DriverResult::InvalidHandle;
  for (const auto &node : object->nodes) {
    if (node->kind == Kind::Conditional)
      return DriverResult::InvalidValue;
    piece.steps.push_back(node->piece);
  }
  return DriverResult::Success;
}

/// Destroys a graph with the bodies in it, and their conditions.
void destroy(StandIn &driver, GraphObject &graph) {
  for (const auto &node : graph.nodes)
    if (node->body) {
      driver.conditions.erase(node->condition);
      destroy(driver, *node->body);
    }
  for (ConditionHandle handle : graph.unused)
    driver.conditions.erase(handle);
  driver.graphs.erase(&graph);
}

/// `make(driver, node)`: what the new node does.
template <typename Make>
DriverResult addNode(const char *function, GraphNodeHandle *node,
                     GraphHandle graph, const GraphNodeHandle *after,
                     size_t count, Kind kind, const Make &make) {
  return entered(function, Needs::Context, [&](StandIn &driver) {
    GraphObject *object = find(driver.graphs, graph);
    if (!object)
      return DriverResult::InvalidHandle;
    if (kind == Kind::Host && object->outer)
      return DriverResult::NotSupported;
    auto added = std::make_unique<GraphNodeObject>(
        GraphNodeObject{object, kind, {}, {after, after + count}});
    for (GraphNodeObject *earlier : added->after)
      if (!earlier || earlier->graph != object)
        return DriverResult::InvalidValue;
    const DriverResult result = make(driver, *added);
    if (result != DriverResult::Success)
      return result;
    *node = added.get();
    object->nodes.push_back(std::move(added));
    return result;
  });
}

/// `make(driver, piece)`: what the node does in later launches.
template <typename Make>
DriverResult changeNode(const char *function, GraphExecutableHandle executable,
                        GraphNodeHandle node, Kind kind, const Make &make) {
  return entered(function, Needs::Context, [&](StandIn &driver) {
    GraphExecutableObject *object = find(driver.graphExecutables, executable);
    if (!object)
      return DriverResult::InvalidHandle;
    const auto number = object->numbers.find(node);
    if (number == object->numbers.end() || node->kind != kind)
      return DriverResult::InvalidValue;
    Piece piece;
    const DriverResult result = make(driver, piece);
    if (result == DriverResult::Success)
      number->second->piece = std::move(piece);
    return result;
  });
}

using Node = GraphExecutableObject::Node;

/// Returns whether each handle of a graph has its node.
bool areConditionsUsed(const GraphObject &graph) {
  return graph.unused.empty() &&
         std::ranges::all_of(graph.nodes, [](const auto &node) {
           return !node->body || areConditionsUsed(*node->body);
         });
}

std::vector<Node> instantiate(const GraphObject &graph) {
  std::vector<Node> nodes;
  for (const auto &node : graph.nodes) {
    std::vector<size_t> after;
    for (const GraphNodeObject *earlier : node->after)
      after.push_back(
          size_t(std::ranges::find(graph.nodes, earlier,
                                   &std::unique_ptr<GraphNodeObject>::get) -
                 graph.nodes.begin()));
    nodes.push_back(
        {node->piece, std::move(after), node->condition, node->type,
         node->body ? instantiate(*node->body) : std::vector<Node>()});
  }
  return nodes;
}

/// Enters where the nodes of a graph are.
void number(const GraphObject &graph, std::vector<Node> &nodes,
            std::map<const GraphNodeObject *, Node *> &numbers) {
  for (size_t n = 0; n < nodes.size(); ++n) {
    numbers.emplace(graph.nodes[n].get(), &nodes[n]);
    if (graph.nodes[n]->body)
      number(*graph.nodes[n]->body, nodes[n].body, numbers);
  }
}

std::vector<std::shared_ptr<Task>>
addTasks(StandIn &driver, ContextObject *context,
         const std::vector<Node> &nodes, const std::shared_ptr<Task> &before);

/// A conditional node in a launch, which later changes of its body do not
/// concern.
Piece makeConditional(StandIn &driver, ContextObject *context,
                      const Node &node) {
  Piece piece;
  piece.turn = [&driver, context, node,
                turns = 0]() mutable -> std::vector<std::shared_ptr<Task>> {
    if (node.type == ConditionalType::If && turns > 0)
      return {};
    std::optional<unsigned> &condition = driver.conditions.at(node.condition);
    if (!condition) {
      (void)driver.lose(context, DriverResult::LaunchFailed,
                        "a conditional node reads a condition that no kernel "
                        "has set since it was last read");
      return {};
    }
    ++turns;
    return *std::exchange(condition, std::nullopt) == 0
               ? std::vector<std::shared_ptr<Task>>()
               : addTasks(driver, context, node.body, nullptr);
  };
  return piece;
}

std::vector<std::shared_ptr<Task>>
addTasks(StandIn &driver, ContextObject *context,
         const std::vector<Node> &nodes, const std::shared_ptr<Task> &before) {
  std::vector<std::shared_ptr<Task>> tasks;
  for (const Node &node : nodes) {
    std::vector<std::shared_ptr<Task>> after;
    after.reserve(node.after.size() + 1);
    for (size_t earlier : node.after)
      after.push_back(tasks[earlier]);
    if (after.empty() && before && !before->done)
      after.push_back(before);
    std::vector<Piece> pieces = node.piece.steps;
    if (pieces.empty())
      pieces.push_back(node.condition ? makeConditional(driver, context, node)
                                      : node.piece);
    std::shared_ptr<Task> last;
    for (Piece &piece : pieces) {
      last = driver.add(context, std::move(piece), std::move(after));
      after = {last};
    }
    tasks.push_back(std::move(last));
  }
  return tasks;
}

} // namespace

extern "C" {

DriverResult cuGraphCreate(GraphHandle *graph, unsigned flags) {
  return entered("cuGraphCreate", Needs::Context, [&](StandIn &driver) {
    if (flags != 0)
      return DriverResult::InvalidValue;
    auto created = std::make_unique<GraphObject>(GraphObject{current, {}});
    *graph = created.get();
    driver.graphs.emplace(*graph, std::move(created));
    return DriverResult::Success;
  });
}

DriverResult cuGraphDestroy(GraphHandle graph) {
  return entered("cuGraphDestroy", Needs::Context, [&](StandIn &driver) {
    GraphObject *object = find(driver.graphs, graph);
    if (!object || object->outer)
      return DriverResult::InvalidHandle;
    destroy(driver, *object);
    return DriverResult::Success;
  });
}

DriverResult cuGraphAddKernelNode(GraphNodeHandle *node, GraphHandle graph,
                                  const GraphNodeHandle *after, size_t count,
                                  const KernelNode *kernel) {
  return addNode("cuGraphAddKernelNode", node, graph, after, count,
                 Kind::Kernel, [&](StandIn &driver, GraphNodeObject &added) {
                   return makeLaunch(driver, *kernel, added.piece);
                 });
}

DriverResult cuGraphAddMemcpyNode(GraphNodeHandle *node, GraphHandle graph,
                                  const GraphNodeHandle *after, size_t count,
                                  const CopyNode *copy, ContextHandle context) {
  return addNode("cuGraphAddMemcpyNode", node, graph, after, count, Kind::Copy,
                 [&](StandIn &driver, GraphNodeObject &added) {
                   return context == current
                              ? makeCopy(driver, *copy, added.piece)
                              : DriverResult::InvalidContext;
                 });
}

DriverResult cuGraphAddHostNode(GraphNodeHandle *node, GraphHandle graph,
                                const GraphNodeHandle *after, size_t count,
                                const HostNode *host) {
  return addNode("cuGraphAddHostNode", node, graph, after, count, Kind::Host,
                 [&](StandIn &, GraphNodeObject &added) {
                   added.piece = makeHostCall(host->function, host->data);
                   return DriverResult::Success;
                 });
}

DriverResult cuGraphAddChildGraphNode(GraphNodeHandle *node, GraphHandle graph,
                                      const GraphNodeHandle *after,
                                      size_t count, GraphHandle child) {
  return addNode("cuGraphAddChildGraphNode", node, graph, after, count,
                 Kind::Child, [&](StandIn &driver, GraphNodeObject &added) {
                   return makeChild(driver, child, added.piece);
                 });
}

DriverResult cuGraphConditionalHandleCreate(ConditionHandle *handle,
                                            GraphHandle graph,
                                            ContextHandle context,
                                            unsigned initial, unsigned flags) {
  return entered(
      "cuGraphConditionalHandleCreate", Needs::Context, [&](StandIn &driver) {
        GraphObject *object = find(driver.graphs, graph);
        if (!hasConditions(driver))
          return DriverResult::NotSupported;
        // We have no use for values that conditions begin with.
        if (!object || context != current || initial != 0 || flags != 0)
          return DriverResult::InvalidValue;
        *handle = ++driver.lastCondition;
        driver.conditions.emplace(*handle, std::nullopt);
        object->unused.insert(*handle);
        return DriverResult::Success;
      });
}

DriverResult cuGraphAddNode_v2(GraphNodeHandle *node, GraphHandle graph,
                               const GraphNodeHandle *after, const void *edges,
                               size_t count, ConditionalNode *conditional) {
  return addNode("cuGraphAddNode", node, graph, after, count, Kind::Conditional,
                 [&](StandIn &driver, GraphNodeObject &added) {
                   const bool isKnown =
                       conditional->nodeType == ConditionalNode().nodeType &&
                       (conditional->type == ConditionalType::If ||
                        conditional->type == ConditionalType::While) &&
                       !edges;
                   const auto isZero = [](auto number) { return number == 0; };
                   if (!isKnown || conditional->count != 1 ||
                       conditional->bodies || conditional->context != current ||
                       !std::ranges::all_of(conditional->reserved, isZero) ||
                       !std::ranges::all_of(conditional->unused, isZero))
                     return DriverResult::InvalidValue;
                   if (!added.graph->unused.erase(conditional->handle))
                     return DriverResult::InvalidValue;
                   auto body = std::make_unique<GraphObject>(
                       GraphObject{current, {}, added.graph});
                   added.condition = conditional->handle;
                   added.type = conditional->type;
                   added.body = body.get();
                   conditional->bodies = &added.body;
                   driver.graphs.emplace(added.body, std::move(body));
                   return DriverResult::Success;
                 });
}

DriverResult cuGraphInstantiateWithFlags(GraphExecutableHandle *executable,
                                         GraphHandle graph,
                                         unsigned long long flags) {
  return entered("cuGraphInstantiate", Needs::Context, [&](StandIn &driver) {
    GraphObject *object = find(driver.graphs, graph);
    if (!object || flags != 0 || object->outer || !areConditionsUsed(*object))
      return DriverResult::InvalidValue;
    auto created = std::make_unique<GraphExecutableObject>();
    created->context = current;
    created->nodes = instantiate(*object);
    number(*object, created->nodes, created->numbers);
    *executable = created.get();
    driver.graphExecutables.emplace(*executable, std::move(created));
    return DriverResult::Success;
  });
}

DriverResult cuGraphExecDestroy(GraphExecutableHandle executable) {
  return entered("cuGraphExecDestroy", Needs::Context, [&](StandIn &driver) {
    return driver.graphExecutables.erase(executable)
               ? DriverResult::Success
               : DriverResult::InvalidHandle;
  });
}

DriverResult cuGraphExecKernelNodeSetParams(GraphExecutableHandle executable,
                                            GraphNodeHandle node,
                                            const KernelNode *kernel) {
  return changeNode("cuGraphExecKernelNodeSetParams", executable, node,
                    Kind::Kernel, [&](StandIn &driver, Piece &piece) {
                      return makeLaunch(driver, *kernel, piece);
                    });
}

DriverResult cuGraphExecMemcpyNodeSetParams(GraphExecutableHandle executable,
                                            GraphNodeHandle node,
                                            const CopyNode *copy,
                                            ContextHandle context) {
  return changeNode("cuGraphExecMemcpyNodeSetParams", executable, node,
                    Kind::Copy, [&](StandIn &driver, Piece &piece) {
                      return context == current ? makeCopy(driver, *copy, piece)
                                                : DriverResult::InvalidContext;
                    });
}

DriverResult cuGraphExecHostNodeSetParams(GraphExecutableHandle executable,
                                          GraphNodeHandle node,
                                          const HostNode *host) {
  return changeNode("cuGraphExecHostNodeSetParams", executable, node,
                    Kind::Host, [&](StandIn &, Piece &piece) {
                      piece = makeHostCall(host->function, host->data);
                      return DriverResult::Success;
                    });
}

DriverResult
cuGraphExecChildGraphNodeSetParams(GraphExecutableHandle executable,
                                   GraphNodeHandle node, GraphHandle child) {
  return changeNode("cuGraphExecChildGraphNodeSetParams", executable, node,
                    Kind::Child, [&](StandIn &driver, Piece &piece) {
                      return makeChild(driver, child, piece);
                    });
}

DriverResult cuStreamBeginCapture_v2(StreamHandle stream, CaptureMode mode) {
  return entered("cuStreamBeginCapture", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object || mode != CaptureMode::Relaxed)
      return DriverResult::InvalidValue;
    if (object->captured)
      return DriverResult::StreamIsCaptured;
    auto created = std::make_unique<GraphObject>(GraphObject{current, {}});
    object->captured = created.get();
    driver.graphs.emplace(created.get(), std::move(created));
    return DriverResult::Success;
  });
}

DriverResult cuStreamEndCapture(StreamHandle stream, GraphHandle *graph) {
  return entered("cuStreamEndCapture", Needs::Context, [&](StandIn &driver) {
    StreamObject *object = find(driver.streams, stream);
    if (!object || !object->captured)
      return DriverResult::InvalidValue;
    *graph = std::exchange(object->captured, nullptr);
    return DriverResult::Success;
  });
}

DriverResult cuGraphLaunch(GraphExecutableHandle executable,
                           StreamHandle stream) {
  return entered("cuGraphLaunch", Needs::Context, [&](StandIn &driver) {
    GraphExecutableObject *object = find(driver.graphExecutables, executable);
    StreamObject *in = find(driver.streams, stream);
    if (!object || !in)
      return DriverResult::InvalidHandle;
    const std::vector<std::shared_ptr<Task>> tasks =
        addTasks(driver, current, object->nodes, in->last);
    driver.enqueue(*in, {});
    in->last->after.insert(in->last->after.end(), tasks.begin(), tasks.end());
    return DriverResult::Success;
  });
}

} // extern "C"
} // namespace meshloom::cuda

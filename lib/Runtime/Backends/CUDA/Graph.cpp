// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Graph.h"

#include <algorithm>
#include <utility>

using namespace meshloom;
using namespace meshloom::cuda;

Result<std::unique_ptr<Graph>> Graph::create(std::shared_ptr<Card> card) {
  if (Status ok = card->enter(); !ok)
    return ok.error();
  std::unique_ptr<Graph> graph(new Graph(std::move(card)));
  if (Status ok = graph->card->check(
          graph->card->driver.cuGraphCreate(&graph->graph, 0), "cuGraphCreate");
      !ok)
    return ok.error();
  graph->target = graph->graph;
  return graph;
}

Graph::~Graph() {
  // A launch of it may be under way.
  (void)card->synchronize();
  if (executable)
    (void)card->driver.cuGraphExecDestroy(executable);
  if (graph)
    (void)card->driver.cuGraphDestroy(graph);
  if (captured)
    (void)card->driver.cuStreamDestroy_v2(captured);
}

void Graph::beginPiece(std::span<const unsigned> after) {
  before.clear();
  if (executable)
    return;
  for (unsigned piece : after)
    before.insert(before.end(), ends[piece].begin(), ends[piece].end());
  if (after.empty())
    before = sectionStart;
  std::ranges::sort(before);
  const auto same = std::ranges::unique(before);
  before.erase(same.begin(), same.end());
}

void Graph::join() {
  if (!current.empty())
    before = std::exchange(current, {});
}

void Graph::endPiece() {
  join();
  if (!executable)
    ends.push_back(std::move(before));
}

void Graph::beginSection() {
  ends.clear();
  sectionStart.assign(last.begin(), last.end());
}

Result<ConditionHandle> Graph::nextCondition() {
  if (!executable) {
    if (Status ok = card->enter(); !ok)
      return ok.error();
    if (Status ok =
            card->check(card->driver.cuGraphConditionalHandleCreate(
                            &conditions.emplace_back(), target, card->context,
                            /*default=*/0, /*flags=*/0),
                        "cuGraphConditionalHandleCreate");
        !ok)
      return ok.error();
  }
  return conditions[condition++];
}

Status Graph::beginBody(ConditionalType type, ConditionHandle handle) {
  if (executable)
    return Success();
  if (Status ok = card->enter(); !ok)
    return ok;
  beginSection();
  ConditionalNode conditional{
      .handle = handle, .type = type, .context = card->context};
  GraphNodeHandle node = nullptr;
  if (Status ok = card->check(card->driver.cuGraphAddNode_v2(
                                  &node, target, sectionStart.data(), nullptr,
                                  sectionStart.size(), &conditional),
                              "cuGraphAddNode");
      !ok)
    return ok;
  outers.push_back({target, node});
  target = conditional.bodies[0];
  last.clear();
  return Success();
}

void Graph::endBody() {
  if (executable)
    return;
  last = {outers.back().node};
  target = outers.back().target;
  outers.pop_back();
}

template <typename Add, typename Change>
Status Graph::next(Values values, const Add &add, const Change &change) {
  if (Status ok = card->enter(); !ok)
    return ok;
  if (!executable) {
    Node &node = nodes.emplace_back(Node{nullptr, std::move(values)});
    current.push_back(nullptr);
    Status added = add(&node.handle);
    current.back() = node.handle;
    for (GraphNodeHandle earlier : before)
      last.erase(earlier);
    last.insert(node.handle);
    return added;
  }
  Node &node = nodes[position++];
  if (node.values == values)
    return Success();
  node.values = std::move(values);
  return change(node.handle);
}

Status Graph::launch(FunctionHandle function, unsigned blocks, unsigned threads,
                     std::span<uint64_t> parameters) {
  std::vector<void *> pointers;
  pointers.reserve(parameters.size());
  for (uint64_t &parameter : parameters)
    pointers.push_back(&parameter);
  const KernelNode kernel{.function = function,
                          .gridX = blocks,
                          .blockX = threads,
                          .parameters = pointers.data()};
  Values values(parameters.begin(), parameters.end());
  values.push_back(blocks);
  return next(
      std::move(values),
      [&](GraphNodeHandle *node) {
        return card->check(
            card->driver.cuGraphAddKernelNode(node, target, before.data(),
                                              before.size(), &kernel),
            "cuGraphAddKernelNode");
      },
      [&](GraphNodeHandle node) {
        return card->check(card->driver.cuGraphExecKernelNodeSetParams(
                               executable, node, &kernel),
                           "cuGraphExecKernelNodeSetParams");
      });
}

Status Graph::copyBetween(MemoryType toType, char *to, MemoryType fromType,
                          const char *from, int64_t bytes) {
  if (bytes == 0)
    return Success();
  return copyBox({.fromType = fromType,
                  .fromHost = from,
                  .from = reinterpret_cast<DevicePointer>(from),
                  .toType = toType,
                  .toHost = to,
                  .to = reinterpret_cast<DevicePointer>(to),
                  .bytes = size_t(bytes)});
}

/// The sizes of a box are the same in each run.
Status Graph::copyBox(const CopyNode &copy) {
  return next(
      {copy.from, copy.to},
      [&](GraphNodeHandle *node) {
        return card->check(card->driver.cuGraphAddMemcpyNode(
                               node, target, before.data(), before.size(),
                               &copy, card->context),
                           "cuGraphAddMemcpyNode");
      },
      [&](GraphNodeHandle node) {
        return card->check(card->driver.cuGraphExecMemcpyNodeSetParams(
                               executable, node, &copy, card->context),
                           "cuGraphExecMemcpyNodeSetParams");
      });
}

Status Graph::copyFromHost(char *to, const char *from, int64_t bytes) {
  return copyBetween(MemoryType::Device, to, MemoryType::Host, from, bytes);
}
Status Graph::copyToHost(char *to, const char *from, int64_t bytes) {
  return copyBetween(MemoryType::Host, to, MemoryType::Device, from, bytes);
}
Status Graph::copy(char *to, const char *from, int64_t bytes) {
  return copyBetween(MemoryType::Device, to, MemoryType::Device, from, bytes);
}

Status Graph::callHost(HostFunction function, void *data) {
  const HostNode host{function, data};
  return next(
      {reinterpret_cast<uint64_t>(data)},
      [&](GraphNodeHandle *node) {
        return card->check(
            card->driver.cuGraphAddHostNode(node, target, before.data(),
                                            before.size(), &host),
            "cuGraphAddHostNode");
      },
      [&](GraphNodeHandle node) {
        return card->check(
            card->driver.cuGraphExecHostNodeSetParams(executable, node, &host),
            "cuGraphExecHostNodeSetParams");
      });
}

Result<GraphHandle>
Graph::capture(const std::function<Status(StreamHandle)> &call) {
  const Driver &driver = card->driver;
  if (!captured)
    if (Status ok =
            card->check(driver.cuStreamCreate(&captured, streamNonBlocking),
                        "cuStreamCreate");
        !ok)
      return ok.error();
  if (Status ok = card->check(
          driver.cuStreamBeginCapture_v2(captured, CaptureMode::Relaxed),
          "cuStreamBeginCapture");
      !ok)
    return ok.error();
  const Status called = call(captured);
  GraphHandle work = nullptr;
  const Status ended = card->check(driver.cuStreamEndCapture(captured, &work),
                                   "cuStreamEndCapture");
  if (called && ended)
    return work;
  if (work)
    (void)driver.cuGraphDestroy(work);
  return called ? ended.error() : called.error();
}

Status Graph::callLibrary(std::span<const uint64_t> addresses,
                          const std::function<Status(StreamHandle)> &call) {
  auto withWork = [&](std::string_view function, const auto &use) -> Status {
    Result<GraphHandle> work = capture(call);
    if (!work)
      return work.error();
    Status used = card->check(use(*work), function);
    (void)card->driver.cuGraphDestroy(*work); // the node has a copy
    return used;
  };
  return next(
      Values(addresses.begin(), addresses.end()),
      [&](GraphNodeHandle *node) {
        return withWork("cuGraphAddChildGraphNode", [&](GraphHandle work) {
          return card->driver.cuGraphAddChildGraphNode(
              node, target, before.data(), before.size(), work);
        });
      },
      [&](GraphNodeHandle node) {
        return withWork(
            "cuGraphExecChildGraphNodeSetParams", [&](GraphHandle work) {
              return card->driver.cuGraphExecChildGraphNodeSetParams(
                  executable, node, work);
            });
      });
}

Status Graph::launchAll() {
  if (Status ok = card->enter(); !ok)
    return ok;
  if (!executable)
    if (Status ok = card->check(
            card->driver.cuGraphInstantiateWithFlags(&executable, graph, 0),
            "cuGraphInstantiateWithFlags");
        !ok)
      return ok;
  return card->check(card->driver.cuGraphLaunch(executable, card->stream),
                     "cuGraphLaunch");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random Programs over random layouts, run in every way the CPU backend has:
// shared memory with few and many chunks, in schedule order and in any other
// order the step graph allows, and private memories. All values are small
// integers, so every result is exact whatever the order of additions.

#include "TestPrograms.h"

#include "meshloom/Core/RelayoutPlanner.h"
#include "meshloom/Runtime/Backends/CPU/ProcessThreads.h"

#include "../../lib/Runtime/Backends/CPU/CPUExecutable.h"
#include "../../lib/Runtime/Backends/CPU/Memory.h"
#include "meshloom/Runtime/Plan/Shared/StepGraph.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

using namespace meshloom;
using namespace meshloom::test;

namespace {
/// A value of the program: its buffer and what it must be.
struct Value {
  unsigned buffer;
  std::vector<float> expected;
  bool alive = true; ///< not overwritten
  int argument = -1;
};

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed), b(pickMesh()) {}

  void run(int steps);

  std::vector<Value> values;
  std::vector<std::pair<Array, std::vector<float>>> arguments;
  std::vector<std::vector<float>> expectedArguments;
  std::vector<unsigned> results; ///< indices of values

private:
  std::mt19937 random;

  int64_t pick(int64_t below) { return int64_t(random() % uint64_t(below)); }
  Mesh pickMesh() {
    switch (pick(5)) {
    case 0:
      return makeMesh({{"x", 1}});
    case 1:
      return makeMesh({{"x", 2}});
    case 2:
      return makeMesh({{"x", 8}});
    case 3:
      return makeMesh({{"x", 2}, {"y", 4}});
    default:
      return makeMesh({{"x", 3}, {"y", 2}, {"z", 2}});
    }
  }

public:
  ProgramBuilder b;

private:
  const BufferDecl &decl(const Value &v) const {
    return b.program.buffers[v.buffer];
  }
  Layout layout(Layout::DimAxes axes, std::vector<Partial> partial = {}) {
    return Layout::get(b.program.mesh, std::move(axes), std::move(partial))
        .value_or_throw();
  }
  std::vector<Partial> partialOf(const Layout &l) {
    return {l.partial().begin(), l.partial().end()};
  }
  Layout randomLayout(unsigned rank) {
    Layout::DimAxes dims(rank);
    for (unsigned axis = 0; axis < b.program.mesh.rank(); ++axis)
      if (int64_t dim = pick(rank + 1); dim < int64_t(rank))
        dims[size_t(dim)].push_back(axis);
    return layout(std::move(dims));
  }
  std::vector<Loop> loopsOf(const Value &v) {
    std::vector<Loop> loops;
    for (unsigned d = 0; d < 2; ++d) {
      auto axes = decl(v).layout.axes(d);
      loops.push_back({decl(v).shape[d], false, {axes.begin(), axes.end()}});
    }
    return loops;
  }
  int pickValue() {
    std::vector<int> alive;
    for (size_t v = 0; v < values.size(); ++v)
      if (values[v].alive)
        alive.push_back(int(v));
    return alive.empty() ? -1 : alive[size_t(pick(int64_t(alive.size())))];
  }
  void add(unsigned buffer, std::vector<float> expected) {
    // Sums must stay exact.
    for (float x : expected)
      if (std::abs(x) > 1e5f)
        return values.push_back({buffer, {}, false});
    values.push_back({buffer, std::move(expected)});
  }

  void argument();
  void elementwise(const Value v);
  void updateInPlace(int index);
  void transpose(const Value v);
  void window(const Value v);
  void rowSum(const Value v);
  void total(const Value v);
  void dot(const Value v);
  Layout::DimAxes anyDims();
  void collective(const Value v);
};

void Generator::argument() {
  // Long ones are cut into chunks even where only a reduction can be.
  const int64_t extents[] = {0, 1, 2, 3, 5, 8, 13, 16, 17, 150};
  Shape shape = {extents[pick(10)], extents[pick(10)]};
  if (pick(12) == 0)
    shape = {24 + pick(4), 700};
  std::vector<float> data;
  for (int64_t i = 0; i < elementCount(shape); ++i)
    data.push_back(float(pick(7) - 3));
  Layout held = randomLayout(2);
  for (unsigned axis = 0; axis < b.program.mesh.rank(); ++axis)
    if (!held.uses_axis(axis) && pick(8) == 0)
      held = held.with_partial({{axis, ReduceKind::Sum}});
  unsigned buffer = b.argument(shape, held);
  values.push_back({buffer, data, true, int(expectedArguments.size())});
  expectedArguments.push_back(data);
}

void Generator::elementwise(const Value v) {
  // With a value of the same shape and layout, if there is one.
  std::vector<Value> others;
  for (const Value &w : values)
    if (w.alive && decl(w).shape == decl(v).shape &&
        decl(w).layout == decl(v).layout)
      others.push_back(w);
  const Value w = others[size_t(pick(int64_t(others.size())))];
  unsigned out = b.buffer(decl(v).shape, decl(v).layout);
  b.kernel("add", loopsOf(v),
           {{v.buffer, byLoops({0, 1})}, {w.buffer, byLoops({0, 1})}},
           {{out, byLoops({0, 1})}});
  std::vector<float> expected = v.expected;
  for (size_t i = 0; i < expected.size(); ++i)
    expected[i] += w.expected[i];
  add(out, std::move(expected));
}

void Generator::updateInPlace(int index) {
  const Value v = values[size_t(index)];
  values[size_t(index)].alive = false;
  unsigned out = b.buffer(decl(v).shape, decl(v).layout);
  b.kernel("twice_in_place", loopsOf(v), {{v.buffer, byLoops({0, 1})}},
           {{out, byLoops({0, 1})}}, {0});
  std::vector<float> expected = v.expected;
  for (float &x : expected)
    x *= 2;
  add(out, std::move(expected));
}

void Generator::transpose(const Value v) {
  const Layout &l = decl(v).layout;
  const int64_t m = decl(v).shape[0], n = decl(v).shape[1];
  unsigned out = b.buffer(
      {n, m}, layout({l.dim_axes()[1], l.dim_axes()[0]}, partialOf(l)));
  b.kernel("twice", loopsOf(v), {{v.buffer, byLoops({0, 1})}},
           {{out, byLoops({1, 0})}});
  std::vector<float> expected;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t i = 0; i < m; ++i)
      expected.push_back(2 * v.expected[size_t(i * n + j)]);
  add(out, std::move(expected));
}

/// out[i, j] = in[i, j] + in[m - 1 - i, j], where rows are not cut.
void Generator::window(const Value v) {
  if (!decl(v).layout.axes(0).empty())
    return;
  const int64_t m = decl(v).shape[0], n = decl(v).shape[1];
  unsigned out = b.buffer({m, n}, decl(v).layout);
  std::vector<DimAccess> reversed = byLoops({0, 1});
  reversed[0] = {std::max<int64_t>(m - 1, 0), {{0, -1}}};
  b.kernel("add", loopsOf(v),
           {{v.buffer, byLoops({0, 1})}, {v.buffer, reversed}},
           {{out, byLoops({0, 1})}});
  std::vector<float> expected = v.expected;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      expected[size_t(i * n + j)] += v.expected[size_t((m - 1 - i) * n + j)];
  add(out, std::move(expected));
}

/// Sums of rows, as a column: out[i, 0].
void Generator::rowSum(const Value v) {
  const Layout &l = decl(v).layout;
  const int64_t m = decl(v).shape[0], n = decl(v).shape[1];
  std::vector<Partial> partial = partialOf(l);
  for (unsigned axis : l.axes(1))
    partial.push_back({axis, ReduceKind::Sum});
  unsigned out = b.buffer({m, 1}, layout({l.dim_axes()[0], {}}, partial));
  std::vector<Loop> loops = loopsOf(v);
  loops[1].reduction = true;
  b.kernel("row_sum", loops, {{v.buffer, byLoops({0, 1})}},
           {{out, byLoops({0, -1})}});
  std::vector<float> expected(static_cast<size_t>(m));
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      expected[size_t(i)] += v.expected[size_t(i * n + j)];
  add(out, std::move(expected));
}

/// The sum of all elements, and their number.
void Generator::total(const Value v) {
  const Layout &l = decl(v).layout;
  if (l.is_partial())
    return;
  std::vector<Partial> partial;
  std::vector<Loop> loops = loopsOf(v);
  for (unsigned d = 0; d < 2; ++d) {
    loops[d].reduction = true;
    for (unsigned axis : l.axes(d))
      partial.push_back({axis, ReduceKind::Sum});
  }
  unsigned sum = b.buffer({1, 1}, layout({{}, {}}, partial));
  unsigned count = b.buffer({1, 1}, layout({{}, {}}, partial));
  b.kernel("total", loops, {{v.buffer, byLoops({0, 1})}},
           {{sum, byLoops({-1, -1})}, {count, byLoops({-1, -1})}});
  float expected = 0;
  for (float x : v.expected)
    expected += x;
  add(sum, {expected});
  add(count, {float(v.expected.size())});
}

/// v^T v, v v^T, or a product with another value that fits.
void Generator::dot(const Value v) {
  const Layout &l = decl(v).layout;
  if (l.is_partial())
    return;
  for (const Value &w : std::vector<Value>(values)) {
    const Layout &r = decl(w).layout;
    if (!w.alive || r.is_partial() || decl(w).shape[0] != decl(v).shape[1] ||
        r.dim_axes()[0] != l.dim_axes()[1] || pick(2))
      continue;
    std::vector<Partial> partial;
    for (unsigned axis : l.axes(1))
      partial.push_back({axis, ReduceKind::Sum});
    auto result = Layout::get(b.program.mesh,
                              {l.dim_axes()[0], r.dim_axes()[1]}, partial);
    if (!result)
      continue;
    const int64_t m = decl(v).shape[0], k = decl(v).shape[1],
                  n = decl(w).shape[1];
    const std::vector<Loop> loops = {{m, false, l.dim_axes()[0]},
                                     {n, false, r.dim_axes()[1]},
                                     {k, true, l.dim_axes()[1]}};
    unsigned out = b.buffer({m, n}, *result);
    b.dot(loops, {v.buffer, byLoops({0, 2})}, {w.buffer, byLoops({2, 1})},
          {out, byLoops({0, 1})});
    std::vector<float> expected;
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += v.expected[size_t(i * k + p)] * w.expected[size_t(p * n + j)];
        expected.push_back(sum);
      }
    return add(out, std::move(expected));
  }
}

/// Any axes, in any order, on the dims or on none.
Layout::DimAxes Generator::anyDims() {
  Layout::DimAxes dims(2);
  for (unsigned axis = 0; axis < b.program.mesh.rank(); ++axis) {
    const size_t dim = size_t(pick(3));
    if (dim < 2)
      dims[dim].insert(dims[dim].begin() + pick(int64_t(dims[dim].size()) + 1),
                       axis);
  }
  return dims;
}

/// Any collective that verifies, found by trying.
void Generator::collective(const Value v) {
  const Layout from = decl(v).layout;
  const unsigned rank = b.program.mesh.rank();
  for (int attempt = 0; attempt < 40; ++attempt) {
    const auto kind = CollectiveKind(pick(6));
    std::vector<unsigned> over = {unsigned(pick(rank))};
    Layout::DimAxes dims = from.dim_axes();
    std::vector<Partial> partial = partialOf(from);
    const size_t dim = size_t(pick(2)), other = 1 - dim;
    const bool reduces = kind == CollectiveKind::AllReduce ||
                         kind == CollectiveKind::ReduceScatter;
    if (reduces)
      std::erase_if(partial, [&](Partial p) { return p.axis == over[0]; });
    if (kind == CollectiveKind::AllGather || kind == CollectiveKind::AllToAll) {
      if (dims[dim].empty())
        continue;
      const auto firstMoved =
          dims[dim].begin() +
          pick(int64_t(dims[dim].size())); // at least one moves
      over.assign(firstMoved, dims[dim].end());
      dims[dim].erase(firstMoved, dims[dim].end());
    }
    if (kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Slice)
      dims[dim].push_back(over[0]);
    if (kind == CollectiveKind::AllToAll) // behind those of the other, mixed
      for (size_t i = 0, had = dims[other].size(); i < over.size(); ++i)
        dims[other].insert(
            dims[other].begin() + int64_t(had) + pick(int64_t(i) + 1), over[i]);
    if (kind == CollectiveKind::Permute) {
      auto permute = permuteTo(from, anyDims());
      if (!permute)
        continue;
      over = permute->axes;
      dims = permute->to.dim_axes();
    }
    auto to = Layout::get(b.program.mesh, dims, partial);
    if (!to || *to == from || !verify(CollectiveOp{kind, over, from, *to}))
      continue;
    unsigned out = b.buffer(decl(v).shape, *to);
    b.collective(kind, over, {{v.buffer, out}});
    return add(out, v.expected);
  }
}

void Generator::run(int steps) {
  for (int i = 0; i < 3; ++i)
    argument();
  for (int i = 0; i < steps; ++i) {
    const int index = pickValue();
    if (index < 0)
      break;
    const Value v = values[size_t(index)];
    switch (pick(12)) {
    case 0:
    case 1:
      elementwise(v);
      break;
    case 2:
      updateInPlace(index);
      break;
    case 3:
      transpose(v);
      break;
    case 4:
      window(v);
      break;
    case 5:
      rowSum(v);
      break;
    case 6:
      total(v);
      break;
    case 7:
    case 8:
      dot(v);
      break;
    default:
      collective(v);
    }
  }
  for (unsigned v = 0; v < values.size(); ++v)
    if (values[v].alive && (pick(3) == 0 || v + 1 == values.size())) {
      b.result(values[v].buffer);
      results.push_back(v);
    }
}

/// Adds the orders the graph allows to `orders`, until there are `most`.
void findOrders(const plan::StepGraph &graph, std::vector<unsigned> &waiting,
                std::vector<unsigned> &order,
                std::vector<std::vector<unsigned>> &orders, size_t most) {
  if (order.size() == graph.works.size()) {
    orders.push_back(order);
    return;
  }
  for (unsigned work = 0; work < waiting.size() && orders.size() < most;
       ++work) {
    if (waiting[work])
      continue;
    waiting[work] = unsigned(-1); // placed
    for (unsigned successor : graph.plan.successors[work])
      --waiting[successor];
    order.push_back(work);
    findOrders(graph, waiting, order, orders, most);
    order.pop_back();
    for (unsigned successor : graph.plan.successors[work])
      ++waiting[successor];
    waiting[work] = 0;
  }
}

/// Some order that the graph allows.
std::vector<unsigned> randomOrder(const plan::StepGraph &graph,
                                  std::mt19937 &random) {
  std::vector<unsigned> waiting = graph.plan.numPredecessors, ready, order;
  for (unsigned w = 0; w < waiting.size(); ++w)
    if (!waiting[w])
      ready.push_back(w);
  while (!ready.empty()) {
    const size_t position = random() % ready.size();
    const unsigned work = ready[position];
    ready.erase(ready.begin() + long(position));
    order.push_back(work);
    for (unsigned successor : graph.plan.successors[work])
      if (!--waiting[successor])
        ready.push_back(successor);
  }
  return order;
}

/// Every order if there are at most 40, else 10 at random.
std::vector<std::vector<unsigned>> ordersOf(const plan::StepGraph &graph,
                                            unsigned seed) {
  constexpr size_t most = 40;
  std::vector<unsigned> waiting = graph.plan.numPredecessors, order;
  std::vector<std::vector<unsigned>> orders;
  findOrders(graph, waiting, order, orders, most + 1);
  if (orders.size() <= most)
    return orders;
  orders.clear();
  std::mt19937 random(seed);
  for (int i = 0; i < 10; ++i)
    orders.push_back(randomOrder(graph, random));
  return orders;
}

void check(const Generator &generator, Executable &executable,
           const std::shared_ptr<Client> &client, const std::string &context) {
  const Program &program = generator.b.program;
  // Once with arguments given away, once with arguments that live on.
  for (bool keep : {false, true}) {
    std::vector<Array> arguments, kept;
    for (size_t a = 0; a < program.arguments.size(); ++a) {
      const BufferDecl &decl = program.buffers[program.arguments[a].buffer];
      arguments.push_back(fromFloats(client, decl.shape, decl.layout,
                                     generator.expectedArguments[a]));
    }
    if (keep)
      kept = arguments;
    auto results = executable.execute(std::move(arguments));
    ASSERT_TRUE(results) << context << ": " << results.error().message();
    for (size_t r = 0; r < results->size(); ++r)
      ASSERT_EQ(floats((*results)[r].toHost()),
                generator.values[generator.results[r]].expected)
          << context << ", result " << r << " "
          << (*results)[r].type().to_string();
    for (size_t a = 0; a < kept.size(); ++a)
      ASSERT_EQ(floats(kept[a].toHost()), generator.expectedArguments[a])
          << context << ", argument " << a;
  }
}

// Every way of running a program gives what the arithmetic says.
TEST(RandomProgramTest, EveryWayOfRunningGivesTheSameResult) {
  const std::vector<CPUOptions> ways = {
      {.devices = 12, .workers = 2},
      {.devices = 12, .workers = 1, .chunks = 1},
      {.devices = 12, .workers = 2, .chunks = 3},
      {.devices = 12, .workers = 3, .chunks = 8},
      {.devices = 12, .workers = 2, .privateMemories = true},
      {.devices = 12, .workers = 2, .launchFrom = 0}};
  std::vector<std::shared_ptr<Client>> clients;
  for (const CPUOptions &way : ways)
    clients.push_back(makeClient(way));
  // Some meshes are such that the devices of each process are no box of them.
  clients.push_back(
      createProcessThreads(2, {.devices = 12, .workers = 1}).value_or_throw());
  clients.push_back(
      createProcessThreads(4, {.devices = 12, .workers = 2, .chunks = 3})
          .value_or_throw());
  for (unsigned seed = 0; seed < 600; seed += SEED_STRIDE) {
    Generator generator(seed);
    generator.run(4 + int(seed % 20));
    for (size_t w = 0; w < clients.size(); ++w) {
      auto executable =
          clients[w]->load(Compiled(generator.b.program, testKernels()));
      ASSERT_TRUE(executable)
          << "seed " << seed << ": " << executable.error().message();
      check(generator, **executable, clients[w],
            "seed " + std::to_string(seed) + ", way " + std::to_string(w));
      if (HasFatalFailure())
        return;
    }
  }
}

// Several programs of one client, each run by several threads.
TEST(RandomProgramTest, ThreadsGetTheSameResults) {
  constexpr size_t programs = 6;
  for (int64_t workers : {2, 7})
    for (unsigned round = 0; round < 5; ++round) {
      auto client = makeClient({.devices = 12, .workers = workers});
      std::vector<std::unique_ptr<Generator>> generators;
      std::vector<std::shared_ptr<Executable>> executables;
      for (unsigned p = 0; p < programs; ++p) {
        generators.push_back(std::make_unique<Generator>(1000 + p + 9 * round));
        generators.back()->run(12);
        auto executable =
            client->load(Compiled(generators.back()->b.program, testKernels()));
        ASSERT_TRUE(executable) << executable.error().message();
        executables.push_back(std::move(*executable));
      }
      std::vector<std::thread> threads;
      for (size_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (size_t run = 0; run < 2 * programs; ++run) {
            const size_t p = (run * (t % 2 ? programs - 1 : 1) + t) % programs;
            check(*generators[p], *executables[p], client,
                  "round " + std::to_string(round) + ", program " +
                      std::to_string(p) + ", thread " + std::to_string(t));
          }
        });
      for (std::thread &thread : threads)
        thread.join();
      if (HasFatalFailure())
        return;
    }
}

// Write-after-read edges and all: any order that the graph allows is right.
TEST(RandomProgramTest, EveryAllowedOrderGivesTheSameResult) {
  auto client = std::static_pointer_cast<cpu::CPUClient>(
      makeClient({.devices = 12, .workers = 2, .chunks = 4}));
  for (unsigned seed = 0; seed < 300; seed += SEED_STRIDE) {
    Generator generator(seed);
    generator.run(3 + int(seed % 12));
    auto graph = plan::buildStepGraph(generator.b.program, 4);
    ASSERT_TRUE(graph) << graph.error().message();
    size_t number = 0;
    for (const std::vector<unsigned> &order : ordersOf(*graph, seed)) {
      auto executable = cpu::loadShared(
          {client, testKernels(), {}},
          {Compiled(generator.b.program),
           DeviceAssignment::standard(generator.b.program.mesh.size())},
          order);
      ASSERT_TRUE(executable) << executable.error().message();
      check(generator, **executable, client,
            "seed " + std::to_string(seed) + ", order " +
                std::to_string(number++));
      if (HasFatalFailure())
        return;
    }
  }
}
} // namespace

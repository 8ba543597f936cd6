// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops are numbered as they run. A value that a loop uses from outside is there
// until the loop ends, and so is what is computed from it in front of the loop;
// a value that a loop carries is there from its first op to its last use, the
// next value from where it is made to the loop's end.
#include "meshloom/Layout/Search/LayoutUses.h"

#include <algorithm>

namespace meshloom {

LayoutUses::LayoutUses(const LayoutGraph &graph)
    : begins(graph.values.size() + 1),
      end(int(graph.ops.size() + graph.outputs.size())) {
  // Outputs after all ops are made one after the other. Results stay.
  const int afterOps = int(graph.ops.size());
  homes.reserve(graph.values.size());
  for (const LayoutGraph::Value &value : graph.values)
    homes.push_back(value.producer);
  for (const LayoutGraph::Op &op : graph.ops)
    if (op.loop >= 0) {
      homes[op.results[0]] = int(graph.loops[op.loop].first);
      homes[op.results[1]] = int(graph.loops[op.loop].last);
    }
  std::vector<int> places; ///< of outputs
  for (const LayoutGraph::Output &output : graph.outputs) {
    const bool isInner = output.result >= 0 && output.place < afterOps;
    places.push_back(isInner ? output.place : afterOps + int(places.size()));
    if (output.result >= 0)
      homes[unsigned(output.result)] = places.back();
  }

  // How many each has, then where they begin, then all of them.
  for (const LayoutGraph::Op &op : graph.ops) {
    for (unsigned value : op.operands)
      ++begins[value];
    if (!op.free)
      for (LayoutGraph::Op::Other other : op.others)
        ++begins[other.value];
  }
  for (const LayoutGraph::Output &output : graph.outputs)
    ++begins[output.value];
  unsigned begin = 0;
  for (unsigned &count : begins)
    begin += std::exchange(count, begin);
  uses.resize(begin);
  std::vector<unsigned> next = begins;
  auto add = [&](unsigned value, const LayoutUse &use) {
    uses[next[value]++] = use;
  };
  auto runs = [&](unsigned value, unsigned branch, int64_t branchRuns) {
    const LayoutGraph::Value &graphValue = graph.values[value];
    return graphValue.branch == branch ? graphValue.runs : branchRuns;
  };
  for (unsigned op = 0; op < graph.ops.size(); ++op) {
    const LayoutGraph::Op &node = graph.ops[op];
    for (unsigned i = 0; i < node.operands.size(); ++i) {
      unsigned value = node.operands[i];
      bool isNext = node.loop >= 0 && i == 1;
      int place = isNext ? int(graph.loops[node.loop].last) : int(op);
      LayoutUse use{int(op), i, runs(value, node.branch, node.branchRuns),
                    place, place};
      for (LayoutGraph::Loop loop : graph.loops)
        if (int(loop.first) <= place && place <= int(loop.last) &&
            !(int(loop.first) <= homes[value] &&
              homes[value] <= int(loop.last))) {
          use.first = std::min(use.first, int(loop.first));
          use.last = std::max(use.last, int(loop.last));
        }
      add(value, use);
    }
    if (!node.free)
      for (LayoutGraph::Op::Other other : node.others)
        add(other.value, {int(op), other.operand,
                          runs(other.value, node.branch, node.branchRuns),
                          int(op), int(op)});
  }
  for (unsigned i = 0; i < graph.outputs.size(); ++i) {
    const LayoutGraph::Output &output = graph.outputs[i];
    add(output.value,
        {-1, i, runs(output.value, output.branch, output.branchRuns), places[i],
         output.result < 0 ? end : places[i]});
  }
}

} // namespace meshloom

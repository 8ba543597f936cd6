// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of sources against those of targets.
#include "meshloom/Runtime/Plan/Shared/Moves.h"

#include "meshloom/Runtime/Plan/Components.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::plan;

bool plan::isReduction(const CollectiveStep &step) {
  return step.kind == CollectiveKind::AllReduce ||
         step.kind == CollectiveKind::ReduceScatter;
}

namespace {
class MovePlanner {
public:
  MovePlanner(const Program &program, const AddendPlan &addends,
              const MeshProcesses &processes, const OnOneHost &onOneHost)
      : program(program), addends(addends), processes(processes),
        onOneHost(onOneHost) {}

  PlannedMove plan(const CollectiveStep &step,
                   const CollectiveStep::Move &move) const;

private:
  using Holdings = std::vector<std::vector<Holding>>; ///< per process

  const BufferDecl &decl(unsigned buffer) const {
    return program.buffers[buffer];
  }
  /// Returns the region of the devices of a process that hold addend `copy`.
  Region regionOfCopy(unsigned buffer, int64_t process, int64_t copy) const;
  /// The number of a process among those along the axes of `partial`, less
  /// those of `without`.
  int64_t indexAlong(std::span<const Partial> partial,
                     std::span<const Partial> without, int64_t process) const;
  Holdings holdingsOf(unsigned buffer) const;
  Holdings addendsOf(const CollectiveStep::Move &move) const;
  bool isHere(const CollectiveStep::Move &move) const;
  bool areWhole(const CollectiveStep::Move &move) const;
  std::vector<int> groupOf(const CollectiveStep &step) const;

  const Program &program;
  const AddendPlan &addends;
  const MeshProcesses &processes;
  const OnOneHost &onOneHost;
};

Region MovePlanner::regionOfCopy(unsigned buffer, int64_t process,
                                 int64_t copy) const {
  const std::span<const int64_t> devices = processes.devicesOf(process);
  std::vector<Box> boxes;
  for (int64_t device : devices)
    if (copyIndex(decl(buffer).layout, program.mesh.coords(device)) == copy)
      boxes.push_back(decl(buffer).box(device));
  return unionOf(std::move(boxes));
}

int64_t MovePlanner::indexAlong(std::span<const Partial> partial,
                                std::span<const Partial> without,
                                int64_t process) const {
  int64_t index = 0;
  if (partial.empty())
    return index;
  const std::vector<int64_t> coords = processes.coordsOf(process);
  for (const Partial &p : partial)
    if (std::ranges::find(without, p.axis, &Partial::axis) == without.end())
      index =
          index * (processes.mesh.axis_size(p.axis) / processes.inner[p.axis]) +
          coords[p.axis];
  return index;
}

/// Returns the parts of a buffer that each process has, or needs.
MovePlanner::Holdings MovePlanner::holdingsOf(unsigned buffer) const {
  Holdings holdings(static_cast<size_t>(processes.count));
  const Layout &layout = decl(buffer).layout;
  for (int64_t process = 0; process < processes.count; ++process) {
    std::vector<Holding> &held = holdings[size_t(process)];
    if (!addends.perDevice[buffer]) {
      held.push_back({indexAlong(layout.partial(), {}, process), 0, 0,
                      processes.regionOf(decl(buffer), process)});
      continue;
    }
    for (int64_t copy : copiesOf(layout, processes.devicesOf(process)))
      held.push_back(
          {copy, 0, int64_t(held.size()), regionOfCopy(buffer, process, copy)});
  }
  return holdings;
}

/// The addends of a reduction that processes exchange.
MovePlanner::Holdings
MovePlanner::addendsOf(const CollectiveStep::Move &move) const {
  Holdings holdings(static_cast<size_t>(processes.count));
  const Layout &from = decl(move.from).layout, &to = decl(move.to).layout;
  for (int64_t process = 0; process < processes.count; ++process) {
    std::vector<Holding> &held = holdings[size_t(process)];
    const std::span<const int64_t> devices = processes.devicesOf(process);
    if (!processes.aligned()) {
      std::vector<int64_t> copies = copiesOf(from, devices);
      for (size_t slot = 0; slot < copies.size(); ++slot) {
        // Any device that has this addend tells where it goes.
        const int64_t device = *std::ranges::find_if(devices, [&](int64_t d) {
          return copyIndex(from, program.mesh.coords(d)) == copies[slot];
        });
        held.push_back({copyIndex(to, program.mesh.coords(device)),
                        copies[slot], int64_t(slot),
                        regionOfCopy(move.from, process, copies[slot])});
      }
      continue;
    }
    // One for each that the target keeps: sums of what is here.
    const int64_t order = indexAlong(from.partial(), to.partial(), process);
    const Region region = processes.regionOf(decl(move.from), process);
    if (!addends.perDevice[move.to]) {
      held.push_back({indexAlong(to.partial(), {}, process), order, 0, region});
      continue;
    }
    for (int64_t copy : copiesOf(to, devices))
      held.push_back({copy, order, int64_t(held.size()), region});
  }
  return holdings;
}

/// Returns whether every process has what it needs of the source.
bool MovePlanner::isHere(const CollectiveStep::Move &move) const {
  const Holdings have = holdingsOf(move.from), need = holdingsOf(move.to);
  for (size_t process = 0; process < have.size(); ++process)
    for (const Holding &needed : need[process])
      if (std::ranges::none_of(have[process], [&](const Holding &held) {
            return held.value == needed.value &&
                   covers(held.region, needed.region);
          }))
        return false;
  return true;
}

/// Returns whether every process needs all that it has, which is a box.
bool MovePlanner::areWhole(const CollectiveStep::Move &move) const {
  for (int64_t process = 0; process < processes.count; ++process) {
    const Region from = processes.regionOf(decl(move.from), process);
    if (from.size() > 1 || from != processes.regionOf(decl(move.to), process))
      return false;
  }
  return true;
}

/// The processes that differ from this one along the collective's axes.
std::vector<int> MovePlanner::groupOf(const CollectiveStep &step) const {
  std::vector<int> group;
  const std::vector<int64_t> coordsHere = processes.coordsOf(processes.self);
  for (int64_t process = 0; process < processes.count; ++process) {
    const std::vector<int64_t> coords = processes.coordsOf(process);
    bool same = true;
    for (unsigned axis = 0; axis < coords.size(); ++axis)
      same &= coords[axis] == coordsHere[axis] ||
              std::ranges::find(step.axes, axis) != step.axes.end();
    if (same)
      group.push_back(int(process));
  }
  return group;
}

PlannedMove MovePlanner::plan(const CollectiveStep &step,
                              const CollectiveStep::Move &move) const {
  PlannedMove planned;
  // With equally many addends the target is a view, or the addends are merged.
  const bool alike = addends.copies[move.from] == addends.copies[move.to];
  if (!processes.several()) {
    planned.way = alike ? MoveWay::View : MoveWay::Local;
    return planned;
  }
  const bool reduces = isReduction(step);
  const bool local =
      reduces ? std::ranges::none_of(
                    step.axes,
                    [&](unsigned axis) { return processes.crosses(axis); })
              : isHere(move);
  if (local) {
    planned.way = alike ? MoveWay::View : MoveWay::Local;
    return planned;
  }
  planned.way = MoveWay::Exchange;
  if (reduces && processes.aligned()) {
    if (areWhole(move)) {
      planned.way = MoveWay::SumInPlace;
      planned.group = groupOf(step);
      return planned;
    }
    if (!alike)
      planned.way = MoveWay::SumAndExchange;
  }
  planned.exchange =
      planExchange(reduces ? addendsOf(move) : holdingsOf(move.from),
                   holdingsOf(move.to), int(processes.self), onOneHost);
  return planned;
}
} // namespace

std::vector<PlannedMove> plan::planMoves(const Program &program,
                                         const AddendPlan &addends,
                                         const MeshProcesses &processes,
                                         const OnOneHost &onOneHost) {
  const MovePlanner planner(program, addends, processes, onOneHost);
  std::vector<PlannedMove> moves(program.buffers.size());
  for (const Step &step : program.steps)
    if (auto *collective = std::get_if<CollectiveStep>(&step))
      for (const CollectiveStep::Move &move : collective->moves)
        moves[move.to] = planner.plan(*collective, move);
  return moves;
}

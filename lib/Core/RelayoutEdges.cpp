// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The collectives that a search for a chain looks at from one layout.
#include "RelayoutSearch.h"

#include <algorithm>

namespace meshloom::relayout {

/// all_reduce and reduce_scatter of every set of pending axes that the target
/// does not keep; of more than four axes, each and all.
void Planner::reductions() {
  AxisText resolvable;
  for (char axis : pending)
    if (wantedPending.find(axis) == AxisText::npos)
      resolvable.push_back(axis);
  if (resolvable.empty())
    return;
  auto reduce = [&](const AxisText &axes) {
    nextPending.clear();
    for (char axis : pending)
      if (axes.find(axis) == AxisText::npos)
        nextPending.push_back(axis);
    next = dims;
    reach(CollectiveKind::AllReduce, axes);
    if (axes.size() <= mostScattered)
      scatter(axes, 0);
  };
  if (resolvable.size() <= mostScattered) {
    for (size_t subset = 1; subset < size_t(1) << resolvable.size(); ++subset) {
      AxisText axes;
      for (size_t i = 0; i < resolvable.size(); ++i)
        if (subset >> i & 1)
          axes.push_back(resolvable[i]);
      reduce(axes);
    }
  } else {
    for (char axis : resolvable)
      reduce(AxisText(1, axis));
    reduce(resolvable);
  }
  scatterTowardsTarget(resolvable);
}

/// Every way to put the axes from the `count`-th on behind those that the dims
/// of `dims` have.
void Planner::scatter(const AxisText &axes, size_t count) {
  if (count == axes.size())
    return reach(CollectiveKind::ReduceScatter, axes);
  for (size_t dim = 0; dim < dims.size(); ++dim)
    for (size_t place = dims[dim].size(); place <= next[dim].size(); ++place) {
      next[dim].insert(next[dim].begin() + place, axes[count]);
      scatter(axes, count + 1);
      next[dim].erase(next[dim].begin() + place);
    }
}

/// All that the target wants next and that is pending, at once.
void Planner::scatterTowardsTarget(const AxisText &resolvable) {
  AxisText run;
  next = dims;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (commonAxes(dims, dim) != dims[dim].size())
      continue;
    for (char axis : AxisText(wanted[dim], dims[dim].size())) {
      if (resolvable.find(axis) == AxisText::npos)
        break;
      next[dim].push_back(axis);
      run.push_back(axis);
    }
  }
  if (run.size() <= mostScattered)
    return; // tried already
  nextPending.clear();
  for (char axis : pending)
    if (run.find(axis) == AxisText::npos)
      nextPending.push_back(axis);
  reach(CollectiveKind::ReduceScatter, run);
}

/// Any number of minor axes of each dim from `dim` on.
void Planner::gathers(unsigned dim, const AxisText &gathered) {
  if (dim == dims.size()) {
    if (!gathered.empty())
      reach(CollectiveKind::AllGather, gathered);
    return;
  }
  for (size_t keep = 0; keep <= dims[dim].size(); ++keep) {
    next[dim].assign(dims[dim], 0, keep);
    gathers(dim + 1, gathered + dims[dim].substr(keep));
  }
}

/// Minor axes of some dims, in every order behind those of others; on large
/// meshes: of one dim to another as they are, and straight to the target.
void Planner::allToAlls() {
  if (exhaustive)
    return exchanges(0, {});
  for (size_t source = 0; source < dims.size(); ++source)
    for (size_t keep = 0; keep < dims[source].size(); ++keep)
      for (size_t target = 0; target < dims.size(); ++target) {
        if (target == source)
          continue;
        AxisText moved = dims[source].substr(keep);
        next = dims;
        next[source].resize(keep);
        next[target] += moved;
        reach(CollectiveKind::AllToAll, moved);
      }
  AxisText lost, gained;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].starts_with(wanted[dim]))
      lost += dims[dim].substr(wanted[dim].size());
    else if (wanted[dim].starts_with(dims[dim]))
      gained += wanted[dim].substr(dims[dim].size());
    else
      return;
  }
  std::ranges::sort(lost);
  std::ranges::sort(gained);
  next = wanted;
  if (lost == gained && !lost.empty())
    reach(CollectiveKind::AllToAll, lost);
}

/// Any number of minor axes of each dim from `dim` on are lost, and dealt out
/// to the dims that lose none.
void Planner::exchanges(unsigned dim, const AxisText &lost) {
  if (dim == dims.size()) {
    // Shards get no smaller than even ones, and nearly all of one is sent.
    int64_t group = groupOf(lost);
    Cost least = leastLatency;
    if (!machine.sharedMemory)
      least += leastMove(evenBytes() / group * (group - 1));
    else if (group > 1)
      least += leastMove(evenBytes());
    if (!lost.empty() && limit.cost - current->length.cost >= least)
      deal(lost, 0);
    return;
  }
  for (size_t keep = 0; keep <= dims[dim].size(); ++keep) {
    next[dim].assign(dims[dim], 0, keep);
    exchanges(dim + 1, lost + dims[dim].substr(keep));
  }
}

/// Every way to put the axes from the `count`-th on behind those of dims that
/// have lost none.
void Planner::deal(const AxisText &axes, size_t count) {
  if (count == axes.size())
    return reach(CollectiveKind::AllToAll, axes);
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (next[dim].size() < dims[dim].size())
      continue;
    for (size_t place = dims[dim].size(); place <= next[dim].size(); ++place) {
      next[dim].insert(next[dim].begin() + place, axes[count]);
      deal(axes, count + 1);
      next[dim].erase(next[dim].begin() + place);
    }
  }
}

/// Every arrangement of axes that makes as many shards; on large meshes:
/// straight to the target, other orders of one dim's axes, and two axes of one
/// size exchanged, of which one may be free.
void Planner::permutations() {
  // All of a shard is moved (but along axes of size one).
  Cost least = leastLatency;
  if (std::ranges::find(sizes, 1) == sizes.end())
    least += leastMove(bytesOf(dims));
  if (limit.cost - current->length.cost < least)
    return;
  if (exhaustive) {
    AxisText free;
    for (unsigned axis = 0; axis < sizes.size(); ++axis)
      if (pending.find(textOf(axis)) == AxisText::npos)
        free.push_back(textOf(axis));
    for (AxisText &axes : next)
      axes.clear();
    int64_t blocks = 1;
    for (const AxisText &axes : dims)
      blocks *= groupOf(axes);
    if (blocks > 1)
      arrange(0, free, blocks);
    return;
  }
  int64_t before = 1, after = 1;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    before *= groupOf(dims[dim]);
    after *= groupOf(wanted[dim]);
  }
  next = wanted;
  if (before == after)
    tryPermute();
  constexpr size_t mostOrdered = 4;
  for (size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim].size() < 2 || dims[dim].size() > mostOrdered)
      continue;
    next = dims;
    std::sort(next[dim].begin(), next[dim].end());
    do
      tryPermute();
    while (std::next_permutation(next[dim].begin(), next[dim].end()));
  }
  for (unsigned a = 0; a < mesh.rank(); ++a)
    for (unsigned b = a + 1; b < mesh.rank(); ++b) {
      if (sizes[a] != sizes[b])
        continue;
      next = dims;
      for (AxisText &axes : next)
        for (char &axis : axes)
          axis = axis == textOf(a)   ? textOf(b)
                 : axis == textOf(b) ? textOf(a)
                                     : axis;
      tryPermute();
    }
}

/// `blocks`: how many are still to be made by the dims from `dim` on.
void Planner::arrange(unsigned dim, const AxisText &free, int64_t blocks) {
  if (dim + 1 < dims.size())
    arrange(dim + 1, free, blocks);
  else if (blocks == 1)
    tryPermute();
  for (size_t i = 0; i < free.size(); ++i) {
    if (blocks % sizeOf(free[i]) != 0)
      continue;
    next[dim].push_back(free[i]);
    AxisText remaining = free;
    remaining.erase(i, 1);
    arrange(dim, remaining, blocks / sizeOf(free[i]));
    next[dim].pop_back();
  }
}

/// To `next`, which has as many shards.
void Planner::tryPermute() {
  AxisText changed;
  // Where each axis sits: its dim, and the blocks that those before it make.
  auto placesOf = [&](const std::vector<AxisText> &of, Places &places) {
    places.assign(sizes.size(), {-1, 0});
    for (size_t dim = 0; dim < of.size(); ++dim) {
      int64_t major = 1;
      for (char axis : of[dim]) {
        places[axisOf(axis)] = {int(dim), major};
        major *= sizeOf(axis);
      }
    }
  };
  placesOf(dims, placesBefore);
  placesOf(next, placesAfter);
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (placesBefore[axis] != placesAfter[axis]) {
      if (pending.find(textOf(axis)) != AxisText::npos)
        return;
      changed.push_back(textOf(axis));
    }
  if (!changed.empty())
    reach(CollectiveKind::Permute, changed);
}

/// Over one axis that is free. Before a collective over another axis that can
/// pay also where the target does not want it: each device then sends only its
/// part, and what it sliced is gathered from its neighbours afterwards.
void Planner::slices() {
  for (char axis : sliced) {
    if (current->code->find(axis) != Code::npos)
      continue;
    for (AxisText &axes : next) {
      axes.push_back(axis);
      reach(CollectiveKind::Slice, AxisText(1, axis));
      axes.pop_back();
    }
  }
}

} // namespace meshloom::relayout

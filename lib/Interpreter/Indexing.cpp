// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference's gather, scatter, dynamic_slice and dynamic_update_slice,
// element by element as StableHLO defines them.
#include "Ops.h"

#include "meshloom/Dialect/DTensor/DTensor.h"

#include <algorithm>
#include <limits>

namespace meshloom::interpreter {
namespace {

/// An index as a number: unsigned ones above int64_t's range are its largest.
int64_t indexAt(const HostValue &indices, int64_t position) {
  int64_t value = indices.ints[position];
  bool large = indices.type == DType::UI64 && value < 0;
  return large ? std::numeric_limits<int64_t>::max() : value;
}

bool contains(const Index &list, int64_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// Where the windows of a gather or scatter begin.
struct IndexedDims {
  Index windowDims, missing, batching, indexBatching, indexMap;
  int64_t vectorDim;
  size_t rank; ///< of the indexed tensor

  /// The index of the result or updates that has these two parts.
  Index joined(const Index &batch, const Index &window) const {
    Index index;
    size_t nextBatch = 0, nextWindow = 0;
    while (nextBatch < batch.size() || nextWindow < window.size())
      if (contains(windowDims, int64_t(index.size())))
        index.push_back(window[nextWindow++]);
      else
        index.push_back(batch[nextBatch++]);
    return index;
  }
  /// The batch part of an index of the result or updates.
  Index batchOf(const Index &index) const {
    Index batch;
    for (size_t d = 0; d < index.size(); ++d)
      if (!contains(windowDims, int64_t(d)))
        batch.push_back(index[d]);
    return batch;
  }
  /// The index of the indexed tensor that a batch index names, not clamped.
  Index startOf(const Index &batch, const HostValue &indices) const {
    Index start(rank);
    for (size_t k = 0; k < indexMap.size(); ++k) {
      Index position = batch;
      if (vectorDim < int64_t(indices.shape.size()))
        position.insert(position.begin() + vectorDim, int64_t(k));
      start[indexMap[k]] =
          indexAt(indices, positionOf(position, indices.shape));
    }
    for (size_t i = 0; i < batching.size(); ++i) {
      int64_t dim = indexBatching[i];
      start[batching[i]] = batch[dim < vectorDim ? dim : dim - 1];
    }
    return start;
  }
  /// The place in the window that an index of the result or updates is.
  Index offsetOf(const Index &index) const {
    Index offset(rank);
    size_t next = 0;
    for (size_t d = 0; d < rank; ++d)
      if (!contains(missing, int64_t(d)) && !contains(batching, int64_t(d)))
        offset[d] = index[windowDims[next++]];
    return offset;
  }
};

Values gather(const Call &call) {
  const HostValue &operand = call[0], &indices = call[1];
  HostValue out = call.result();
  IndexedDims dims{call.integers("offset_dims"),
                   call.integers("collapsed_slice_dims"),
                   call.integers("operand_batching_dims"),
                   call.integers("start_indices_batching_dims"),
                   call.integers("start_index_map"),
                   call.integer("index_vector_dim"),
                   operand.shape.size()};
  Index sizes = call.integers("slice_sizes");
  Element element(operand, out);
  forEach(out.shape, [&](const Index &index) {
    Index from = dims.startOf(dims.batchOf(index), indices);
    Index offset = dims.offsetOf(index);
    for (size_t d = 0; d < from.size(); ++d)
      from[d] = std::clamp<int64_t>(from[d], 0, operand.shape[d] - sizes[d]) +
                offset[d];
    element.copy(positionOf(from, operand.shape), positionOf(index, out.shape));
  });
  return {std::move(out)};
}

Values scatter(const Call &call) {
  auto op = cast<dtensor::ScatterOp>(call.op);
  size_t count = op.getInputs().size();
  Values outs;
  for (size_t i = 0; i < count; ++i)
    outs.push_back(call[i]);
  const HostValue &indices = call[count], &updates = call[count + 1];
  const Shape &shape = outs[0].shape;
  IndexedDims dims{call.integers("update_window_dims"),
                   call.integers("inserted_window_dims"),
                   call.integers("input_batching_dims"),
                   call.integers("scatter_indices_batching_dims"),
                   call.integers("scatter_dims_to_operand_dims"),
                   call.integer("index_vector_dim"),
                   shape.size()};
  // The last place of a window.
  Index most = updates.shape;
  for (int64_t &size : most)
    --size;
  Index last = dims.offsetOf(most);
  Shape windowShape;
  for (int64_t dim : dims.windowDims)
    windowShape.push_back(updates.shape[dim]);
  auto applyAt = [&](const Index &batch, const Index &window) {
    Index index = dims.joined(batch, window);
    Index to = dims.startOf(batch, indices);
    for (size_t d = 0; d < to.size(); ++d)
      if (to[d] < 0 || to[d] > shape[d] - 1 - last[d])
        return; // the window is not wholly in bounds
    Index offset = dims.offsetOf(index);
    for (size_t d = 0; d < to.size(); ++d)
      to[d] += offset[d];
    int64_t target = positionOf(to, shape),
            source = positionOf(index, updates.shape);
    if (std::optional<ReduceKind> kind = op.getKind()) {
      for (size_t i = 0; i < count; ++i)
        combineInto(*kind, outs[i], target, call[count + 1 + i], source);
    } else if (op.getComputation().empty()) {
      for (size_t i = 0; i < count; ++i)
        Element(call[count + 1 + i], outs[i]).copy(source, target);
    } else {
      Values arguments;
      for (const HostValue &out : outs) {
        arguments.emplace_back(out.type, Shape());
        Element(out, arguments.back()).copy(target, 0);
      }
      for (size_t i = 0; i < count; ++i) {
        const HostValue &update = call[count + 1 + i];
        arguments.emplace_back(update.type, Shape());
        Element(update, arguments.back()).copy(source, 0);
      }
      Values combined = runRegion(op.getComputation(), std::move(arguments));
      for (size_t i = 0; i < count; ++i)
        Element(combined[i], outs[i]).copy(0, target);
    }
  };
  // Window after window.
  forEach(dims.batchOf(updates.shape), [&](const Index &batch) {
    forEach(windowShape, [&](const Index &window) { applyAt(batch, window); });
  });
  return outs;
}

/// The start indices that follow operand `first`, clamped to [0, most[d]].
Index clampedStarts(const Call &call, unsigned first, const Index &most) {
  Index starts;
  for (size_t d = 0; d < most.size(); ++d)
    starts.push_back(
        std::clamp<int64_t>(indexAt(call[first + d], 0), 0, most[d]));
  return starts;
}

Values dynamicSlice(const Call &call) {
  HostValue out = call.result();
  Index most;
  for (size_t d = 0; d < out.shape.size(); ++d)
    most.push_back(call[0].shape[d] - out.shape[d]);
  Index starts = clampedStarts(call, 1, most);
  Element element(call[0], out);
  forEach(out.shape, [&](const Index &index) {
    Index from = index;
    for (size_t d = 0; d < from.size(); ++d)
      from[d] += starts[d];
    element.copy(positionOf(from, call[0].shape), positionOf(index, out.shape));
  });
  return {std::move(out)};
}

Values dynamicUpdateSlice(const Call &call) {
  HostValue out = call[0];
  const HostValue &update = call[1];
  Index most;
  for (size_t d = 0; d < out.shape.size(); ++d)
    most.push_back(out.shape[d] - update.shape[d]);
  Index starts = clampedStarts(call, 2, most);
  Element element(update, out);
  forEach(update.shape, [&](const Index &index) {
    Index to = index;
    for (size_t d = 0; d < to.size(); ++d)
      to[d] += starts[d];
    element.copy(positionOf(index, update.shape), positionOf(to, out.shape));
  });
  return {std::move(out)};
}
} // namespace

void addIndexOps(OpTable &table) {
  table["dtensor.gather"] = gather;
  table["dtensor.scatter"] = scatter;
  table["dtensor.dynamic_slice"] = dynamicSlice;
  table["dtensor.dynamic_update_slice"] = dynamicUpdateSlice;
}

} // namespace meshloom::interpreter

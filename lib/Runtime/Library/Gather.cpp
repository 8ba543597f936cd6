// gather and dynamic_slice. Starts are clamped so that slices are in bounds; a
// call that has only a part of the operand copies what of each slice lies in
// it, and gives zero for the rest.
#include "LibraryArrays.h"
#include "LibraryTable.h"

#include <algorithm>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// Copies slices of one operand into one result.
class SliceCopier {
public:
  /// `resultDims[d]`: where operand dim d is in the result, or -1.
  SliceCopier(const LibraryOperand &operand, const LibraryOperand &result,
              const std::vector<int> &resultDims)
      : operand(operand), result(result), resultDims(resultDims),
        width(byteWidth(operand.type)) {}

  /// The slice that begins at `start`, which is in bounds, to the result's
  /// element `to`: the one at the first index of all slice dims.
  void copy(const Shape &start, int64_t to) {
    extent.clear();
    toStrides.clear();
    fromStrides.clear();
    int64_t from = 0, target = to;
    bool missing = false, empty = false;
    for (size_t d = 0; d < start.size(); ++d) {
      const int r = resultDims[d];
      // Offsets in the slice that the result's box has, and those of them that
      // the operand's box has.
      const int64_t begin = r < 0 ? 0 : result.begin(size_t(r));
      const int64_t end = r < 0 ? 1 : result.end(size_t(r));
      const int64_t low = std::max(begin, operand.begin(d) - start[d]);
      const int64_t high = std::min(end, operand.end(d) - start[d]);
      missing |= low != begin || high != end;
      empty |= high <= low;
      from += operand.strides[d] * (start[d] + low - operand.begin(d));
      if (r < 0)
        continue;
      target += result.strides[size_t(r)] * (low - begin);
      extent.push_back(high - low);
      toStrides.push_back(result.strides[size_t(r)]);
      fromStrides.push_back(operand.strides[d]);
    }
    if (missing)
      clear(to);
    if (!empty)
      copyElements(width, extent, result.data + target * width, toStrides,
                   operand.data + from * width, fromStrides);
  }

private:
  /// Zero for the whole slice.
  void clear(int64_t to) {
    Shape all;
    for (int r : resultDims)
      if (r >= 0)
        all.push_back(result.extent[size_t(r)]);
    zeroElements(width, all, result.data + to * width, toStrides);
  }

  const LibraryOperand &operand, &result;
  const std::vector<int> &resultDims;
  const unsigned width;
  Shape extent, toStrides, fromStrides;
};

int64_t clamped(int64_t start, int64_t size, int64_t slice) {
  return std::clamp<int64_t>(start, 0, std::max<int64_t>(size - slice, 0));
}

class Gather : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto gather = std::make_unique<Gather>();
    gather->vectorDim = options.number("index_vector_dim");
    const auto offsetDims = options.list("offset_dims");
    const auto collapsed = options.list("collapsed_slice_dims");
    const auto batching = options.list("operand_batching_dims");
    const auto indexBatching = options.list("start_indices_batching_dims");
    gather->indexMap = options.list("start_index_map");
    gather->sliceSizes = options.list("slice_sizes");
    if (!options.ok() || step.inputs.size() != 2 || step.outputs.size() != 1 ||
        step.inputs[0]->type != step.outputs[0]->type)
      return Error("expected a table, indices and a result");
    const Shape &operand = step.inputs[0]->shape,
                &indices = step.inputs[1]->shape,
                &result = step.outputs[0]->shape;
    const auto kept = otherDims(operand.size(), collapsed, batching);
    const auto batch = otherDims(result.size(), offsetDims);
    const int64_t vector = gather->vectorDim;
    for (unsigned dim = 0; dim < indices.size(); ++dim)
      if (dim != vector)
        gather->indexDims.push_back(dim);
    const int64_t entries = vector >= 0 && vector < int64_t(indices.size())
                                ? indices[size_t(vector)]
                                : 1;
    if (gather->sliceSizes.size() != operand.size() ||
        !areDims(offsetDims, result.size()) ||
        kept.size() != offsetDims.size() ||
        batch.size() != gather->indexDims.size() ||
        !areDims(gather->indexMap, operand.size()) ||
        !areDims(collapsed, operand.size()) ||
        !areDims(batching, operand.size()) ||
        !areDims(indexBatching, indices.size()) ||
        batching.size() != indexBatching.size() ||
        int64_t(gather->indexMap.size()) != entries || vector < 0 ||
        vector > int64_t(indices.size()) || isFloat(step.inputs[1]->type) ||
        isComplex(step.inputs[1]->type))
      return Error("its dims do not fit its operands");
    for (size_t d = 0; d < operand.size(); ++d)
      if (gather->sliceSizes[d] < 0 || gather->sliceSizes[d] > operand[d])
        return Error("its slices are larger than its operand");
    gather->resultDims.assign(operand.size(), -1);
    for (size_t i = 0; i < kept.size(); ++i) {
      gather->resultDims[kept[i]] = int(offsetDims[i]);
      if (result[size_t(offsetDims[i])] != gather->sliceSizes[kept[i]])
        return Error("its slices do not fit its result");
    }
    gather->batchDims = batch;
    for (size_t i = 0; i < batching.size(); ++i) {
      auto place =
          std::ranges::find(gather->indexDims, unsigned(indexBatching[i]));
      if (place == gather->indexDims.end())
        return Error("a batching dim is its index vector");
      gather->batching.emplace_back(unsigned(batching[i]),
                                    size_t(place - gather->indexDims.begin()));
    }
    return made(std::move(gather));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &operand = arguments.inputs[0],
                         &indices = arguments.inputs[1],
                         &result = arguments.outputs[0];
    if (result.empty())
      return Success();
    SliceCopier copier(operand, result, resultDims);
    Shape extent, toStrides, indexStrides;
    for (size_t i = 0; i < batchDims.size(); ++i) {
      extent.push_back(result.extent[batchDims[i]]);
      toStrides.push_back(result.strides[batchDims[i]]);
      indexStrides.push_back(indices.strides[indexDims[i]]);
    }
    const int64_t entry = size_t(vectorDim) < indices.strides.size()
                              ? indices.strides[size_t(vectorDim)]
                              : 0;
    const unsigned width = byteWidth(indices.type);
    Shape start(resultDims.size(), 0), index(extent.size(), 0);
    int64_t to = 0, from = 0;
    while (true) {
      for (size_t k = 0; k < indexMap.size(); ++k) {
        const size_t d = size_t(indexMap[k]);
        start[d] = clamped(
            readIndex(indices.type,
                      indices.data + (from + int64_t(k) * entry) * width),
            (*operand.global)[d], sliceSizes[d]);
      }
      for (auto [d, place] : batching)
        start[d] = indices.begin(indexDims[place]) + index[place];
      copier.copy(start, to);
      size_t d = extent.size();
      while (d-- > 0) {
        to += toStrides[d];
        from += indexStrides[d];
        if (++index[d] < extent[d])
          break;
        to -= extent[d] * toStrides[d];
        from -= extent[d] * indexStrides[d];
        index[d] = 0;
      }
      if (d == size_t(-1))
        return Success();
    }
  }

private:
  int64_t vectorDim = 0;
  std::vector<int64_t> indexMap, sliceSizes;
  std::vector<int> resultDims;
  /// Dims of the result and of the indices that are the batch.
  std::vector<unsigned> batchDims, indexDims;
  /// Operand dims that follow a dim of the batch.
  std::vector<std::pair<unsigned, size_t>> batching;
};

class DynamicSlice : public LibraryRoutine {
public:
  static MadeRoutine make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto slice = std::make_unique<DynamicSlice>();
    slice->sliceSizes = options.list("slice_sizes");
    if (!options.ok() || step.inputs.empty() || step.outputs.size() != 1 ||
        step.inputs[0]->type != step.outputs[0]->type ||
        step.inputs.size() != slice->sliceSizes.size() + 1 ||
        step.inputs[0]->shape.size() != slice->sliceSizes.size() ||
        step.outputs[0]->shape != slice->sliceSizes)
      return Error("expected a tensor, a start index a dim and a result");
    for (size_t d = 0; d < slice->sliceSizes.size(); ++d) {
      slice->resultDims.push_back(int(d));
      if (slice->sliceSizes[d] > step.inputs[0]->shape[d] ||
          !step.inputs[d + 1]->shape.empty())
        return Error("its slice is larger than its operand, or a start index "
                     "no scalar");
    }
    return made(std::move(slice));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &operand = arguments.inputs[0],
                         &result = arguments.outputs[0];
    if (result.empty())
      return Success();
    Shape start;
    for (size_t d = 0; d < sliceSizes.size(); ++d) {
      const LibraryOperand &index = arguments.inputs[d + 1];
      start.push_back(clamped(readIndex(index.type, index.data),
                              (*operand.global)[d], sliceSizes[d]));
    }
    SliceCopier(operand, result, resultDims).copy(start, 0);
    return Success();
  }

private:
  Shape sliceSizes;
  std::vector<int> resultDims;
};
} // namespace

namespace meshloom::library {
LibraryRows gatherFunctions() {
  static constexpr LibraryRow rows[] = {{"gather", Gather::make},
                                        {"dynamic_slice", DynamicSlice::make}};
  return rows;
}
} // namespace meshloom::library

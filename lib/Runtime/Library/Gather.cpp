// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gather and dynamic_slice. Starts are clamped so that slices are in bounds; a
// call that has only a part of the operand copies what of each slice lies in
// it, and gives zero for the rest. Numbers are loaded in one loop over a block
// of slices, longer pieces are copied.
#include "IndexedWindows.h"
#include "LibraryTable.h"

#include <algorithm>
#include <cstring>

using namespace meshloom;
using namespace meshloom::library;

namespace {
/// An element of complex128, which is copied as it is.
struct Bytes16 {
  uint64_t halves[2];
};

/// to[i * step] = from[offsets[i]], but where there is none. `present`: there
/// is one everywhere.
template <typename T>
void loadNumbers(T *to, int64_t step, const T *from, WindowOffsets offsets,
                 bool present) {
  const int64_t count = int64_t(offsets.size());
  const IndexedWindows::Offset *offset = offsets.data();
  if (present && step == 1)
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[offset[i]];
  else
    for (int64_t i = 0; i < count; ++i)
      if (offset[i] >= 0)
        to[i * step] = from[offset[i]];
}

/// Copies `bytes`, from `size` to twice as many, by two pieces that may
/// overlap.
template <size_t size>
void copyTwoPieces(char *to, const char *from, size_t bytes) {
  char first[size], second[size];
  std::memcpy(first, from, size);
  std::memcpy(second, from + bytes - size, size);
  std::memcpy(to, first, size);
  std::memcpy(to + bytes - size, second, size);
}

/// Copies `bytes`. Calling memcpy takes longer than to copy a short piece.
void copyPiece(char *to, const char *from, size_t bytes) {
  if (bytes > 128)
    std::memcpy(to, from, bytes);
  else if (bytes > 64)
    copyTwoPieces<64>(to, from, bytes);
  else if (bytes > 32)
    copyTwoPieces<32>(to, from, bytes);
  else if (bytes > 16)
    copyTwoPieces<16>(to, from, bytes);
  else if (bytes >= 8)
    copyTwoPieces<8>(to, from, bytes);
  else if (bytes >= 4)
    copyTwoPieces<4>(to, from, bytes);
  else
    for (size_t i = 0; i < bytes; ++i)
      to[i] = from[i];
}

/// The slice of the operand that begins at `start`, to result element `to`.
void copySlice(WindowPart &part, const Shape &start,
               const LibraryOperand &operand, const LibraryOperand &result,
               int64_t to, const std::vector<int> &resultDims) {
  part.cut(start, operand, operand.strides, result, resultDims);
  const unsigned width = byteWidth(result.type);
  if (!part.empty)
    copyElements(width, part.extent, result.data + (to + part.array) * width,
                 part.arrayStrides, operand.data + part.tensor * width,
                 part.tensorStrides);
}

void zeroResult(const LibraryOperand &result) {
  zeroElements(byteWidth(result.type), result.extent, result.data,
               result.strides);
}

class Gather : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
    OptionReader options(step.step);
    auto gather = std::make_unique<Gather>();
    gather->dims.read(options, "start_index_map");
    const auto offsetDims = options.list("offset_dims");
    const auto collapsed = options.list("collapsed_slice_dims");
    const auto batching = options.list("operand_batching_dims");
    const auto indexBatching = options.list("start_indices_batching_dims");
    gather->dims.windowSizes = options.list("slice_sizes");
    if (!options.ok() || step.inputs.size() != 2 || step.outputs.size() != 1 ||
        step.inputs[0]->type != step.outputs[0]->type)
      return Error("expected a table, indices and a result");
    const Shape &operand = step.inputs[0]->shape,
                &indices = step.inputs[1]->shape,
                &result = step.outputs[0]->shape;
    const auto windowDims = otherDims(operand.size(), collapsed, batching);
    const auto batch = otherDims(result.size(), offsetDims);
    const int64_t vector = gather->dims.vectorDim;
    for (unsigned dim = 0; dim < indices.size(); ++dim)
      if (dim != vector)
        gather->dims.indexDims.push_back(dim);
    const int64_t entries = vector >= 0 && vector < int64_t(indices.size())
                                ? indices[size_t(vector)]
                                : 1;
    if (gather->dims.windowSizes.size() != operand.size() ||
        !areDims(offsetDims, result.size()) ||
        windowDims.size() != offsetDims.size() ||
        batch.size() != gather->dims.indexDims.size() ||
        !areDims(gather->dims.indexMap, operand.size()) ||
        !areDims(collapsed, operand.size()) ||
        !areDims(batching, operand.size()) ||
        !areDims(indexBatching, indices.size()) ||
        batching.size() != indexBatching.size() ||
        int64_t(gather->dims.indexMap.size()) != entries ||
        int64_t(gather->dims.wraps.size()) != entries || vector < 0 ||
        vector > int64_t(indices.size()) || isFloat(step.inputs[1]->type) ||
        isComplex(step.inputs[1]->type))
      return Error("its dims do not fit its operands");
    for (size_t d = 0; d < operand.size(); ++d)
      if (gather->dims.windowSizes[d] < 0 ||
          gather->dims.windowSizes[d] > operand[d])
        return Error("its slices are larger than its operand");
    gather->dims.arrayDims.assign(operand.size(), -1);
    for (size_t i = 0; i < windowDims.size(); ++i) {
      gather->dims.arrayDims[windowDims[i]] = int(offsetDims[i]);
      if (result[size_t(offsetDims[i])] !=
          gather->dims.windowSizes[windowDims[i]])
        return Error("its slices do not fit its result");
    }
    gather->dims.batchDims = batch;
    for (size_t i = 0; i < batching.size(); ++i) {
      auto place =
          std::ranges::find(gather->dims.indexDims, unsigned(indexBatching[i]));
      if (place == gather->dims.indexDims.end())
        return Error("a batching dim is its index vector");
      gather->dims.batching.emplace_back(
          unsigned(batching[i]),
          size_t(place - gather->dims.indexDims.begin()));
    }
    return routineOf(std::move(gather));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &operand = arguments.inputs[0],
                         &result = arguments.outputs[0];
    if (result.empty())
      return Success();
    const IndexedWindows slices(dims, arguments.inputs[1], operand,
                                {&result, 1}, IndexedWindows::Outside::Clamped);
    WindowPart part;
    part.cut(slices.typicalStart(), operand, operand.strides, result,
             dims.arrayDims);
    const bool present = slices.areInBox() && !part.missing;
    if (!present)
      zeroResult(result);
    if (!slices.areAlike()) {
      Shape start;
      slices.forEachBlock([&](const IndexedWindows::Block &block) {
        for (int64_t i = 0; i < block.count; ++i)
          if (slices.readStart(block, i, start))
            copySlice(part, start, operand, result,
                      block.arrays[0] + i * slices.step(0), dims.arrayDims);
      });
      return Success();
    }
    switch (byteWidth(result.type)) {
    case 1:
      copyAlike<uint8_t>(slices, operand, result, part, present);
      break;
    case 2:
      copyAlike<uint16_t>(slices, operand, result, part, present);
      break;
    case 4:
      copyAlike<uint32_t>(slices, operand, result, part, present);
      break;
    case 8:
      copyAlike<uint64_t>(slices, operand, result, part, present);
      break;
    default:
      copyAlike<Bytes16>(slices, operand, result, part, present);
    }
    return Success();
  }

private:
  /// Copies slices that lie in the operand's box alike. T has an element's
  /// bytes. `present`: all slices lie in the box.
  template <typename T>
  static void copyAlike(const IndexedWindows &slices,
                        const LibraryOperand &operand,
                        const LibraryOperand &result, const WindowPart &part,
                        bool present) {
    if (part.empty)
      return;
    const T *from = reinterpret_cast<const T *>(operand.data) + part.tensor;
    const int64_t step = slices.step(0);
    slices.forEachBlock([&](const IndexedWindows::Block &block) {
      IndexedWindows::Offset offsets[IndexedWindows::BLOCK];
      slices.readOffsets(block, operand.strides, offsets);
      const WindowOffsets starts(offsets, size_t(block.count));
      T *to = reinterpret_cast<T *>(result.data) + part.array + block.arrays[0];
      forEachPiece(
          part, starts, step, /*inOrder=*/false,
          [&](int64_t source, int64_t target, int64_t along,
              WindowOffsets numbers) {
            loadNumbers(to + target, along, from + source, numbers, present);
          },
          [&](int64_t source, int64_t target, int64_t run,
              WindowOffsets present) {
            forEachPresent(present, [&](size_t i) {
              copyPiece(
                  reinterpret_cast<char *>(to + target + int64_t(i) * step),
                  reinterpret_cast<const char *>(from + source + present[i]),
                  size_t(run) * sizeof(T));
            });
          });
    });
  }

  IndexDims dims;
};

class DynamicSlice : public LibraryRoutine {
public:
  static RoutineOrError make(const LibraryStep &step) {
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
    return routineOf(std::move(slice));
  }

  Status run(const LibraryArguments &arguments) const override {
    const LibraryOperand &operand = arguments.inputs[0],
                         &result = arguments.outputs[0];
    if (result.empty())
      return Success();
    if (operand.extent != *operand.global)
      zeroResult(result);
    Shape start;
    for (size_t d = 0; d < sliceSizes.size(); ++d) {
      const LibraryOperand &index = arguments.inputs[d + 1];
      start.push_back(
          std::clamp<int64_t>(readIndex(index.type, index.data), 0,
                              (*operand.global)[d] - sliceSizes[d]));
    }
    WindowPart part;
    copySlice(part, start, operand, result, 0, resultDims);
    return Success();
  }

private:
  Shape sliceSizes;
  std::vector<int> resultDims;
};
} // namespace

namespace meshloom::library {
LibraryRows functionsOfGather() {
  static constexpr LibraryRow rows[] = {{"gather", Gather::make},
                                        {"dynamic_slice", DynamicSlice::make}};
  return rows;
}
} // namespace meshloom::library

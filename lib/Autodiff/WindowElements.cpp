// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows written out, element by element.
#include "WindowElements.h"

namespace meshloom {

using dtensor::dilated;
using dtensor::WindowSpec;

Value padded(dtensor::TensorBuilder &math, Value value, Value filler,
             const WindowSpec &window) {
  SmallVector<int64_t> low, high, interior;
  for (size_t d = 0; d < window.dimensions.size(); ++d) {
    low.push_back(window.padding[2 * d]);
    high.push_back(window.padding[2 * d + 1]);
    interior.push_back(window.baseDilations[d] - 1);
  }
  if (isPlain(low, 0) && isPlain(high, 0) && isPlain(interior, 0))
    return value;
  return math.padWith(filler, value, low, high, interior);
}

WindowElements::WindowElements(dtensor::TensorBuilder &math,
                               const WindowSpec &window,
                               RankedTensorType padded, RankedTensorType places)
    : math(math), window(window), padded(padded), places(places) {
  for (int64_t size : window.dimensions)
    count *= size;
}

SmallVector<int64_t> WindowElements::startOf(int64_t k) {
  SmallVector<int64_t> start(window.dimensions.size());
  for (size_t d = start.size(); d-- > 0;) {
    start[d] = k % window.dimensions[d] * window.windowDilations[d];
    k /= window.dimensions[d];
  }
  return start;
}

Value WindowElements::get(dtensor::TensorBuilder &builder, Value value,
                          Turn k) {
  SmallVector<int64_t> limit;
  for (auto [d, stride] : llvm::enumerate(window.strides))
    limit.push_back(dilated(places.getDimSize(unsigned(d)), stride));
  SmallVector<int64_t> start(limit.size());
  if (!k.value) {
    start = startOf(k.number);
    for (auto [to, from] : llvm::zip_equal(limit, start))
      to += from;
    return builder.slice(value, start, limit, window.strides);
  }
  int64_t rank = int64_t(limit.size());
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    for (int64_t from : startOf(i))
      numbers.push_back(int32_t(from));
  Value starts = builder.create<dtensor::ConstantOp>(
      builder.getLoc(),
      DenseElementsAttr::get(
          RankedTensorType::get({count, rank}, builder.getI32Type()),
          ArrayRef(numbers)));
  Value row = rowOf(builder, starts, k);
  SmallVector<Value> first;
  for (int64_t d = 0; d < rank; ++d)
    first.push_back(builder.reshape(builder.slice(row, {d}, {d + 1}), {}));
  Value whole = builder.create<dtensor::DynamicSliceOp>(builder.getLoc(), value,
                                                        first, limit);
  if (isPlain(window.strides, 1))
    return whole;
  return builder.slice(whole, start, limit, window.strides);
}

Value WindowElements::spread(Value gradient, int64_t k) {
  SmallVector<int64_t> start = startOf(k), high, interior;
  for (auto [d, from] : llvm::enumerate(start)) {
    high.push_back(padded.getDimSize(unsigned(d)) - from -
                   dilated(places.getDimSize(unsigned(d)), window.strides[d]));
    interior.push_back(window.strides[d] - 1);
  }
  return math.pad(gradient, start, high, interior);
}

} // namespace meshloom

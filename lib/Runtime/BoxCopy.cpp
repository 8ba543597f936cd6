// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Box copies: runs of elements that are contiguous in both arrays.
#include "meshloom/Runtime/BoxCopy.h"

#include <cstring>

using namespace meshloom;

Shape meshloom::rowMajorStrides(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

void meshloom::forEachRun(
    const ArrayView &to, const ArrayView &from, const Box &box, unsigned width,
    const std::function<void(char *, const char *, int64_t)> &body) {
  if (box.empty())
    return;
  const size_t rank = box.extent.size();
  const Shape toStrides = rowMajorStrides(to.where.extent);
  const Shape fromStrides = rowMajorStrides(from.where.extent);
  char *target = to.data;
  const char *source = from.data;
  for (size_t d = 0; d < rank; ++d) {
    target += (box.offset[d] - to.where.offset[d]) * toStrides[d] * width;
    source += (box.offset[d] - from.where.offset[d]) * fromStrides[d] * width;
  }

  // Inner dims that are contiguous in both arrays make one run.
  size_t outer = rank;
  int64_t run = 1;
  while (outer > 0 && toStrides[outer - 1] == run &&
         fromStrides[outer - 1] == run)
    run *= box.extent[--outer];

  Shape index(outer, 0);
  while (true) {
    body(target, source, run);
    size_t d = outer;
    while (d-- > 0) {
      target += toStrides[d] * width;
      source += fromStrides[d] * width;
      if (++index[d] < box.extent[d])
        break;
      target -= box.extent[d] * toStrides[d] * width;
      source -= box.extent[d] * fromStrides[d] * width;
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

void meshloom::copyBox(const ArrayView &to, const ArrayView &from,
                       const Box &box, unsigned width) {
  forEachRun(to, from, box, width,
             [width](char *target, const char *source, int64_t count) {
               std::memcpy(target, source, size_t(count) * width);
             });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of boxes, by registers of every size that this processor has, against
// loops over single bytes. Arrays lie between pages that cannot be touched.
#include "../../lib/Runtime/Library/StridedCopy.h"
#include "GuardedMemory.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

using namespace meshloom;
using namespace meshloom::library;

namespace {
using Numbers = std::vector<int64_t>;

/// A box of elements in two arrays; strides in elements.
struct BoxCopy {
  unsigned width;
  Numbers extents, to, from;
};

/// The elements of an array that a box reaches, from the first one on.
struct Reach {
  int64_t lowest = 0, highest = 0;

  Reach(const Numbers &extents, const Numbers &strides) {
    for (size_t d = 0; d < extents.size(); ++d)
      (strides[d] < 0 ? lowest : highest) += (extents[d] - 1) * strides[d];
  }
  size_t bytes(unsigned width) const {
    return size_t(highest - lowest + 1) * width;
  }
};

/// Copies one element after another.
void copyBytes(const BoxCopy &box, size_t dim, char *to, const char *from) {
  if (dim == box.extents.size()) {
    std::memcpy(to, from, box.width);
    return;
  }
  for (int64_t i = 0; i < box.extents[dim]; ++i)
    copyBytes(box, dim + 1, to + i * box.to[dim] * box.width,
              from + i * box.from[dim] * box.width);
}

void expectCopied(const BoxCopy &box, int64_t vector, bool isAtBegin) {
  const Reach read(box.extents, box.from), written(box.extents, box.to);
  const size_t bytesRead = read.bytes(box.width),
               bytesWritten = written.bytes(box.width);
  const GuardedMemory source(bytesRead, isAtBegin),
      result(bytesWritten, isAtBegin);
  for (size_t i = 0; i < bytesRead; ++i)
    source.as<char>()[i] = char(i * 37 + i / 251);
  std::memset(result.as<char>(), 0x55, bytesWritten);
  std::vector<char> expected(bytesWritten, 0x55);
  const int64_t first = -written.lowest * box.width;
  const char *from = source.as<char>() - read.lowest * box.width;
  copyBytes(box, 0, expected.data() + first, from);
  copyElements(box.width, box.extents, result.as<char>() + first, box.to, from,
               box.from, vector);
  const auto [place, other] =
      std::mismatch(expected.begin(), expected.end(), result.as<char>());
  EXPECT_EQ(place, expected.end())
      << "byte " << place - expected.begin() << " of " << bytesWritten
      << ", width " << box.width << ", registers of " << vector << ", extents "
      << ::testing::PrintToString(box.extents) << ", to "
      << ::testing::PrintToString(box.to) << ", from "
      << ::testing::PrintToString(box.from);
}

void expectCopied(const BoxCopy &box) {
  for (int64_t vector : {0, 16, 64})
    if (vector <= lookUpBytes())
      for (bool isAtBegin : {false, true})
        expectCopied(box, vector, isAtBegin);
}

/// The strides of a dense array whose dims are `extents` times `scale`, in the
/// order `order`.
Numbers stridesOf(const Numbers &extents, const std::vector<size_t> &order,
                  const Numbers &scale) {
  Numbers strides(extents.size());
  int64_t stride = 1;
  for (size_t d : order) {
    strides[d] = stride;
    stride *= extents[d] * scale[d];
  }
  return strides;
}

TEST(StridedCopyTest, RandomBoxesAreCopied) {
  std::mt19937 random(7);
  auto below = [&](size_t n) { return size_t(random() % n); };
  constexpr int64_t sizes[] = {1, 2, 2, 3, 3, 4, 5, 7, 16, 21, 33, 64, 100};
  for (int i = 0; i < 1500; ++i) {
    BoxCopy box{1U << below(5), {}, {}, {}};
    int64_t elements = 1;
    for (size_t dims = 1 + below(5); dims-- > 0;) {
      box.extents.push_back(sizes[below(std::size(sizes))]);
      elements *= box.extents.back();
      if (elements > 1 << 14)
        box.extents.back() = 1;
    }
    const size_t rank = box.extents.size();
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), size_t(0));
    std::ranges::reverse(order);
    Numbers scale(rank, 1);
    if (below(4) == 0)
      scale[below(rank)] = 2;
    box.to = stridesOf(box.extents, order, scale);
    if (below(3) > 0)
      std::ranges::shuffle(order, random);
    std::ranges::fill(scale, 1);
    if (below(4) == 0)
      scale[below(rank)] = 1 + int64_t(below(3));
    box.from = stridesOf(box.extents, order, scale);
    // Some dims are repeated, or go backwards, or step over elements.
    for (size_t d = 0; d < rank; ++d)
      if (const size_t kind = below(8); kind == 0)
        box.from[d] = 0;
      else if (kind == 1)
        box.from[d] = -box.from[d];
      else if (kind == 2)
        box.from[d] *= 2;
      else if (kind == 3)
        box.to[d] = -box.to[d];
    expectCopied(box);
    if (HasFailure())
      return;
  }
}

// Images of odd sizes go through what users do to them.
TEST(StridedCopyTest, ImagesAreCopied) {
  for (unsigned width : {1U, 2U, 4U}) {
    // Pixels are repeated along two dims.
    expectCopied(
        {width, {11, 2, 37, 2, 3}, {444, 222, 6, 3, 1}, {111, 0, 3, 0, 1}});
    // Colours are turned around, become planes, and are made of planes.
    expectCopied({width, {407, 3}, {3, 1}, {3, -1}});
    expectCopied({width, {3, 407}, {407, 1}, {1, 3}});
    expectCopied({width, {407, 3}, {3, 1}, {1, 407}});
    // Pixels get a place for one more colour.
    expectCopied({width, {407, 3}, {4, 1}, {3, 1}});
    // Small matrices and large ones are transposed, also from their ends.
    expectCopied({width, {301, 4, 4}, {16, 4, 1}, {16, 1, 4}});
    expectCopied({width, {131, 77}, {77, 1}, {1, 131}});
    expectCopied({width, {131, 77}, {77, 1}, {-1, 131}});
    expectCopied({width, {131, 77}, {77, 1}, {1, -131}});
  }
}
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixBatch.h"

#include "LibraryWork.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

using namespace meshloom;
using namespace meshloom::cuda;

/// More calls than these, of one matrix each, take longer than the host.
static constexpr int64_t mostCalls = 64;

int64_t MatrixBatch::count() const {
  return std::accumulate(extents.begin(), extents.end(), int64_t(1),
                         std::multiplies<>());
}

std::vector<int64_t> MatrixBatch::starts(size_t operand) const {
  std::vector<int64_t> starts(1);
  for (size_t loop = 0; loop < extents.size(); ++loop) {
    std::vector<int64_t> inner;
    inner.reserve(starts.size() * size_t(extents[loop]));
    for (int64_t outer : starts)
      for (int64_t i = 0; i < extents[loop]; ++i)
        inner.push_back(outer + i * strides[operand][loop]);
    starts = std::move(inner);
  }
  return starts;
}

/// One block of the card computes a small matrix; a large one has many blocks.
bool MatrixBatch::isForOneCall(int64_t rows) const {
  constexpr int64_t fewest = 8, mostRows = 32;
  return isTooLargeForCalls() || (count() >= fewest && rows <= mostRows);
}

bool MatrixBatch::isTooLargeForCalls() const {
  return count() > mostCalls;
}

bool MatrixBatch::isCountedInInt(int64_t rows) const {
  constexpr int64_t most = std::numeric_limits<int>::max();
  return count() <= most && rows <= most;
}

Status cuda::writeAddresses(Card &card, char *table, const char *operand,
                            std::span<const int64_t> starts) {
  const int64_t bytes = addressBytes(std::ssize(starts));
  Result<std::shared_ptr<char>> addresses = card.allocateHost(bytes);
  if (!addresses)
    return addresses.error();
  std::ranges::transform(starts,
                         reinterpret_cast<const char **>(addresses->get()),
                         [&](int64_t start) { return operand + start; });
  return card.copyFromHost(table, addresses->get(), bytes);
}

int64_t cuda::addressBytes(int64_t count) {
  return paddedBytes(count * int64_t(sizeof(char *)));
}

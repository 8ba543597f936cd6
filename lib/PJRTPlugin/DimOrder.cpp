// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DimOrder.h"

#include <algorithm>
#include <charconv>
#include <fmt/ranges.h>
#include <numeric>

using namespace meshloom;
using namespace meshloom::plugin;

DimOrder DimOrder::rowMajor(size_t rank) {
  return {rank, {}};
}

Result<DimOrder> DimOrder::get(std::vector<int64_t> majorToMinor) {
  const DimOrder ascending = rowMajor(majorToMinor.size());
  std::vector<int64_t> sorted = majorToMinor;
  std::ranges::sort(sorted);
  if (sorted != ascending.majorToMinor())
    return Error(fmt::format("the order of dims in memory, major to minor, is "
                             "[{}]; expected each of {} dims once",
                             fmt::join(majorToMinor, ", "), sorted.size()));
  if (sorted == majorToMinor)
    return ascending;
  return DimOrder(sorted.size(), std::move(majorToMinor));
}

Result<DimOrder> DimOrder::read(std::string_view text, size_t rank) {
  auto refused = [&] {
    return Error(fmt::format("a layout in memory is '{}'; expected the {} dims "
                             "from minor to major, as in '{}'",
                             text, rank, rowMajor(rank).text()),
                 ErrorCode::UNIMPLEMENTED);
  };
  if (!text.starts_with('{') || !text.ends_with('}'))
    return refused();
  std::vector<int64_t> dims;
  const char *next = text.data() + 1, *end = text.data() + text.size() - 1;
  while (next != end) {
    int64_t dim = 0;
    const auto number = std::from_chars(next, end, dim);
    if (number.ec != std::errc())
      return refused();
    dims.push_back(dim);
    next = number.ptr;
    if (next == end)
      break;
    if (*next != ',')
      return refused();
    ++next;
  }
  if (dims.size() != rank)
    return refused();
  std::ranges::reverse(dims);
  return get(std::move(dims));
}

std::vector<int64_t> DimOrder::majorToMinor() const {
  if (!isRowMajor())
    return dims;
  std::vector<int64_t> ascending(count);
  std::iota(ascending.begin(), ascending.end(), 0);
  return ascending;
}

std::string DimOrder::text() const {
  std::vector<int64_t> minorToMajor = majorToMinor();
  std::ranges::reverse(minorToMajor);
  return fmt::format("{{{}}}", fmt::join(minorToMajor, ","));
}

std::vector<int64_t>
DimOrder::inMemory(std::span<const int64_t> ofValue) const {
  std::vector<int64_t> entries(ofValue.begin(), ofValue.end());
  for (size_t i = 0; i < dims.size(); ++i)
    entries[i] = ofValue[size_t(dims[i])];
  return entries;
}

std::vector<int64_t>
DimOrder::ofValue(std::span<const int64_t> inMemory) const {
  std::vector<int64_t> entries(inMemory.begin(), inMemory.end());
  for (size_t i = 0; i < dims.size(); ++i)
    entries[size_t(dims[i])] = inMemory[i];
  return entries;
}

Layout DimOrder::ofValue(const Layout &inMemory) const {
  if (isRowMajor())
    return inMemory;
  Layout::DimAxes axes(count);
  for (size_t i = 0; i < count; ++i)
    axes[size_t(dims[i])] = inMemory.dim_axes()[i];
  const auto partial = inMemory.partial();
  return *Layout::get(inMemory.mesh(), std::move(axes),
                      {partial.begin(), partial.end()});
}

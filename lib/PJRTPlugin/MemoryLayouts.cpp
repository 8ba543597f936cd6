// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MemoryLayouts.h"

#include "Arguments.h"

#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <functional>
#include <numeric>
#include <optional>

using namespace meshloom;
using namespace meshloom::plugin;
using MemoryLayout = capi::Buffer_MemoryLayout;

namespace {
/// Copies elements that may have gaps, dim by dim.
void copyDims(char *to, const char *from, std::span<const int64_t> extents,
              std::span<const int64_t> strides, int64_t width) {
  if (extents.empty()) {
    std::memcpy(to, from, size_t(width));
    return;
  }
  const auto inner = extents.subspan(1);
  const int64_t step =
      std::accumulate(inner.begin(), inner.end(), width, std::multiplies<>());
  if (inner.empty() && strides.front() == width) {
    std::memcpy(to, from, size_t(extents.front() * width));
    return;
  }
  for (int64_t i = 0; i < extents.front(); ++i)
    copyDims(to + i * step, from + i * strides.front(), inner,
             strides.subspan(1), width);
}

bool isRowMajor(std::span<const int64_t> extents,
                std::span<const int64_t> strides, int64_t width) {
  int64_t expected = width;
  for (size_t dim = extents.size(); dim-- > 0;) {
    if (extents[dim] != 1 && strides[dim] != expected)
      return false;
    expected *= extents[dim];
  }
  return true;
}

/// Returns the order in which elements that are `strides` bytes apart lie
/// together; nothing where there is a gap.
std::optional<DimOrder> orderOfStrides(std::span<const int64_t> extents,
                                       std::span<const int64_t> strides,
                                       int64_t width) {
  if (strides.size() != extents.size())
    return std::nullopt;
  if (isRowMajor(extents, strides, width))
    return DimOrder::rowMajor(extents.size());
  std::vector<int64_t> dims = DimOrder::rowMajor(extents.size()).majorToMinor();
  std::ranges::stable_sort(dims, std::greater(),
                           [&](int64_t dim) { return strides[size_t(dim)]; });
  DimOrder order = *DimOrder::get(std::move(dims));
  if (!isRowMajor(order.inMemory(extents), order.inMemory(strides), width))
    return std::nullopt;
  return order;
}

/// The fields of a layout, whose own size JAX 0.11 and later leave undefined.
Arguments fieldsOf(const void *layout) {
  return {const_cast<void *>(layout), MemoryLayout::structSize};
}

bool hasStrides(const Arguments &layout) {
  return capi::MemoryLayoutKind(layout.get<int32_t>(MemoryLayout::type)) ==
         capi::MemoryLayoutKind::Strides;
}

std::span<const int64_t> byteStrides(const Arguments &layout) {
  using Strides = capi::Buffer_MemoryLayout_Strides;
  return layout.list<int64_t>(MemoryLayout::strides + Strides::byte_strides,
                              MemoryLayout::strides +
                                  Strides::num_byte_strides);
}
} // namespace

std::vector<int64_t> plugin::rowMajorStrides(std::span<const int64_t> extents,
                                             int64_t width) {
  std::vector<int64_t> strides(extents.size());
  for (size_t dim = extents.size(); dim-- > 0; width *= extents[dim])
    strides[dim] = width;
  return strides;
}

Result<DimOrder> plugin::orderOf(const void *layout,
                                 std::span<const int64_t> extents,
                                 int64_t width) {
  using Tiled = capi::Buffer_MemoryLayout_Tiled;
  const DimOrder rowMajor = DimOrder::rowMajor(extents.size());
  if (!layout)
    return rowMajor;
  const Arguments fields = fieldsOf(layout);
  if (hasStrides(fields)) {
    const auto strides = byteStrides(fields);
    auto order = orderOfStrides(extents, strides, width);
    if (!order)
      return Error(fmt::format("a buffer of shape [{}] has the byte strides "
                               "[{}], with which its elements do not lie "
                               "together",
                               fmt::join(extents, ", "),
                               fmt::join(strides, ", ")),
                   ErrorCode::UNIMPLEMENTED);
    return *order;
  }
  const auto dims =
      fields.list<int64_t>(MemoryLayout::tiled + Tiled::minor_to_major,
                           MemoryLayout::tiled + Tiled::minor_to_major_size);
  // JAX before 0.9 says no order for numbers of 4 bits.
  if (dims.empty())
    return rowMajor;
  if (dims.size() != extents.size())
    return Error(fmt::format("a buffer of {} dims has a layout of {}",
                             extents.size(), dims.size()));
  return DimOrder::get({dims.rbegin(), dims.rend()});
}

Result<std::vector<int64_t>> plugin::stridesOf(const void *layout,
                                               std::span<const int64_t> extents,
                                               int64_t width) {
  if (!layout)
    return std::vector<int64_t>();
  const Arguments fields = fieldsOf(layout);
  if (hasStrides(fields)) {
    const auto strides = byteStrides(fields);
    return std::vector(strides.begin(), strides.end());
  }
  auto order = orderOf(layout, extents, width);
  if (!order)
    return order.error();
  return order->ofValue(rowMajorStrides(order->inMemory(extents), width));
}

void plugin::copyStrided(char *to, const char *from,
                         std::span<const int64_t> extents,
                         std::span<const int64_t> strides, int64_t width) {
  if (isRowMajor(extents, strides, width))
    std::memcpy(to, from,
                size_t(std::accumulate(extents.begin(), extents.end(), width,
                                       std::multiplies<>())));
  else
    copyDims(to, from, extents, strides, width);
}

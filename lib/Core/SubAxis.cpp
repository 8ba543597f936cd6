// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SubAxis: names of parts of axes, and how they are merged.
#include "meshloom/Core/SubAxis.h"

#include <charconv>
#include <fmt/format.h>

namespace meshloom {

std::string SubAxis::to_string() const {
  return isWhole() ? axis : fmt::format("{}:({}){}", axis, before, size);
}

/// Takes a positive number from the front of `text`.
static bool takeNumber(std::string_view &text, int64_t &number) {
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1)
    return false;
  text.remove_prefix(size_t(end - text.data()));
  return true;
}

std::optional<SubAxis> SubAxis::parse(std::string_view text) {
  size_t colon = text.find(":(");
  SubAxis result{std::string(text.substr(0, colon))};
  if (colon == std::string_view::npos)
    return result;
  std::string_view remaining = text.substr(colon + 2);
  if (!takeNumber(remaining, result.before) || !remaining.starts_with(')'))
    return std::nullopt;
  remaining.remove_prefix(1);
  if (!takeNumber(remaining, result.size) || !remaining.empty())
    return std::nullopt;
  return result;
}

std::optional<std::vector<unsigned>> axesNamed(const Mesh &mesh,
                                               std::string_view name) {
  if (auto axis = mesh.axis_index(name))
    return std::vector<unsigned>{*axis};
  std::optional<SubAxis> wanted = SubAxis::parse(name);
  if (!wanted)
    return std::nullopt;
  std::vector<unsigned> parts;
  int64_t size = 1;
  for (unsigned axis = 0; axis < mesh.rank(); ++axis) {
    auto part = SubAxis::parse(mesh.axes()[axis].name);
    if (!part || part->isWhole() || part->axis != wanted->axis)
      continue;
    if (wanted->isWhole() ||
        (part->before >= wanted->before &&
         part->before * part->size <= wanted->before * wanted->size)) {
      parts.push_back(axis);
      size *= part->size;
    }
  }
  if (parts.empty() || (!wanted->isWhole() && size != wanted->size))
    return std::nullopt;
  return parts;
}

std::vector<std::string> mergedNames(const Mesh &mesh,
                                     std::span<const unsigned> axes) {
  auto partOf = [&](unsigned axis) {
    return SubAxis::parse(mesh.axes()[axis].name).value_or(SubAxis{});
  };
  std::vector<std::string> names;
  for (size_t i = 0; i < axes.size();) {
    SubAxis merged = partOf(axes[i]);
    size_t end = i + 1;
    if (merged.isWhole()) {
      names.push_back(mesh.axes()[axes[i]].name);
      i = end;
      continue;
    }
    for (; end < axes.size(); ++end) {
      SubAxis next = partOf(axes[end]);
      if (next.isWhole() || next.axis != merged.axis ||
          next.before != merged.before * merged.size)
        break;
      merged.size *= next.size;
    }
    if (merged.before == 1 && end - i == axesNamed(mesh, merged.axis)->size())
      merged.size = 0;
    names.push_back(merged.to_string());
    i = end;
  }
  return names;
}

} // namespace meshloom

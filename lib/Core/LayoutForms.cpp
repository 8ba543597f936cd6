// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Core/LayoutForms.h"

#include <fmt/ranges.h>

namespace meshloom {

/// Returns the layout's dims as a list with commas, where `ofDim` writes a dim
/// from the names of its axes.
template <typename OfDim>
static std::string listed(const Layout &layout, OfDim ofDim) {
  std::string text;
  for (const std::vector<unsigned> &axes : layout.dim_axes()) {
    std::vector<std::string> names;
    names.reserve(axes.size());
    for (unsigned axis : axes)
      names.push_back(layout.mesh().axes()[axis].name);
    text += (text.empty() ? "" : ", ") + ofDim(names);
  }
  return text;
}

static std::string joined(const std::vector<std::string> &names,
                          const std::string &quote) {
  if (names.empty())
    return "";
  return fmt::format("{0}{1}{0}", quote,
                     fmt::join(names, quote + ", " + quote));
}

std::string partitionSpec(const Layout &layout) {
  return "PartitionSpec(" +
         listed(layout,
                [](const std::vector<std::string> &names) {
                  const std::string text = joined(names, "'");
                  return names.empty()      ? std::string("None")
                         : names.size() > 1 ? "(" + text + ")"
                                            : text;
                }) +
         ")";
}

std::string shardyAttribute(const Layout &layout) {
  return "#sdy.sharding<@mesh, [" +
         listed(layout,
                [](const std::vector<std::string> &names) {
                  return "{" + joined(names, "\"") + "}";
                }) +
         "]>";
}

std::string layoutForms(const Layout &layout) {
  return layout.spec_string() + "  " + partitionSpec(layout) + "  " +
         shardyAttribute(layout);
}

} // namespace meshloom

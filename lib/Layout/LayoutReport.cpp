// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LayoutReport.h"

#include <algorithm>
#include <map>

namespace meshloom {

/// Returns the name with `*` for each number in it.
static std::string patternOf(const std::string &name) {
  std::string pattern;
  bool inNumber = false;
  for (char letter : name) {
    const bool isDigit = letter >= '0' && letter <= '9';
    const bool begins = pattern.empty() || pattern.back() == '.' ||
                        pattern.back() == '[' || pattern.back() == '_' ||
                        pattern.back() == '/';
    // Digits inside a word ("w1") are part of the name.
    if (isDigit && (inNumber || begins)) {
      if (!inNumber)
        pattern += '*';
      inNumber = true;
      continue;
    }
    inNumber = false;
    pattern += letter;
  }
  return pattern;
}

/// Returns the layout's dims as a list with commas, where `ofDim` writes a dim
/// from the names of its axes.
template <typename OfDim>
static std::string listed(const Layout &layout, OfDim ofDim) {
  std::string text;
  for (const std::vector<unsigned> &axes : layout.dim_axes()) {
    std::vector<std::string> names;
    for (unsigned axis : axes)
      names.push_back(layout.mesh().axes()[axis].name);
    text += (text.empty() ? "" : ", ") + ofDim(names);
  }
  return text;
}

static std::string joined(const std::vector<std::string> &names,
                          const std::string &quote) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + (quote + name + quote);
  return text;
}

static std::string partitionSpec(const Layout &layout) {
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

static std::string shardyAttribute(const Layout &layout) {
  return "#sdy.sharding<@mesh, [" +
         listed(layout,
                [](const std::vector<std::string> &names) {
                  return "{" + joined(names, "\"") + "}";
                }) +
         "]>";
}

std::vector<std::string> reportLines(const std::vector<NamedLayout> &layouts) {
  struct Pattern {
    size_t count = 0;
    bool isUniform = true;
    const NamedLayout *first = nullptr;
  };
  std::map<std::string, Pattern> patterns;
  for (const NamedLayout &named : layouts) {
    Pattern &pattern = patterns[patternOf(named.name)];
    if (!pattern.first)
      pattern.first = &named;
    pattern.isUniform &= pattern.first->layout == named.layout;
    ++pattern.count;
  }
  std::vector<std::string> lines;
  for (const NamedLayout &named : layouts) {
    const std::string text = patternOf(named.name);
    const Pattern &pattern = patterns[text];
    const bool isShared = pattern.isUniform && pattern.count > 1;
    if (isShared && pattern.first != &named)
      continue;
    lines.push_back(
        (isShared ? text + " (" + std::to_string(pattern.count) + " arguments)"
                  : named.name) +
        ": " + named.layout.spec_string() + "  " + partitionSpec(named.layout) +
        "  " + shardyAttribute(named.layout));
  }
  return lines;
}

} // namespace meshloom

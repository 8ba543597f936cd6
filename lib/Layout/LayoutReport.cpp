// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meshloom/Layout/LayoutReport.h"

#include "meshloom/Core/LayoutForms.h"

#include <algorithm>
#include <map>

namespace meshloom {

std::string namePattern(const std::string &name) {
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

std::vector<std::string> reportLines(const std::vector<NamedLayout> &layouts) {
  struct Pattern {
    size_t count = 0;
    bool isUniform = true;
    const NamedLayout *first = nullptr;
  };
  std::map<std::string, Pattern> patterns;
  for (const NamedLayout &named : layouts) {
    Pattern &pattern = patterns[namePattern(named.name)];
    if (!pattern.first)
      pattern.first = &named;
    pattern.isUniform &= pattern.first->layout == named.layout;
    ++pattern.count;
  }
  std::vector<std::string> lines;
  for (const NamedLayout &named : layouts) {
    const std::string text = namePattern(named.name);
    const Pattern &pattern = patterns[text];
    const bool isShared = pattern.isUniform && pattern.count > 1;
    if (isShared && pattern.first != &named)
      continue;
    lines.push_back(
        (isShared ? text + " (" + std::to_string(pattern.count) + " arguments)"
                  : named.name) +
        ": " + layoutForms(named.layout));
  }
  return lines;
}

} // namespace meshloom

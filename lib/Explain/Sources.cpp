// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sources.h"

#include "meshloom/Support/File.h"

#include <charconv>
#include <sstream>

using namespace meshloom;

namespace {
/// Lines before and after one that a step comes from.
constexpr int64_t AROUND = 2;
/// Constants can fill a line with megabytes.
constexpr size_t LONGEST_LINE = 300;
} // namespace

void SourceLines::add(const std::string &place) {
  const size_t column = place.rfind(':');
  if (column == std::string::npos || column == 0)
    return;
  const size_t line = place.rfind(':', column - 1);
  if (line == std::string::npos)
    return;
  int64_t number = 0;
  const char *end = place.data() + column;
  if (auto [next, failure] =
          std::from_chars(place.data() + line + 1, end, number);
      failure != std::errc() || next != end)
    return;
  std::set<int64_t> &ofFile = lines[place.substr(0, line)];
  for (int64_t i = number - AROUND; i <= number + AROUND; ++i)
    ofFile.insert(i);
}

nlohmann::ordered_json SourceLines::read() const {
  auto files = nlohmann::ordered_json::array();
  for (const auto &[file, wanted] : lines) {
    Result<std::string> text = readFile(file);
    if (!text)
      continue;
    auto found = nlohmann::ordered_json::array();
    std::istringstream stream(*text);
    std::string line;
    for (int64_t number = 1; std::getline(stream, line); ++number) {
      if (!wanted.contains(number))
        continue;
      if (line.size() > LONGEST_LINE)
        line = line.substr(0, LONGEST_LINE) + " ...";
      found.push_back({number, line});
    }
    files.push_back({{"file", file}, {"lines", std::move(found)}});
  }
  return files;
}

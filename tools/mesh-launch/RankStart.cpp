// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// See RankStart.h.
#include "RankStart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

namespace meshloom::launch {

std::vector<std::string> environmentOf(const RankStart &start, size_t index) {
  std::map<std::string, std::string> variables = start.perRank[index];
  variables.insert(start.variables.begin(), start.variables.end());
  std::vector<std::string> environment;
  for (char **variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    if (!variables.contains(std::string(text.substr(0, text.find('=')))))
      environment.emplace_back(text);
  }
  for (const auto &[name, value] : variables)
    environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::string toText(const RankStart &start) {
  return nlohmann::json{{"ranks", start.ranks},
                        {"program", start.program},
                        {"folder", start.folder},
                        {"variables", start.variables},
                        {"own", start.perRank}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankStart fromText(const std::string &text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return {
      json.at("ranks").get<std::vector<int64_t>>(),
      json.at("program").get<std::vector<std::string>>(),
      json.at("folder").get<std::string>(),
      json.at("variables").get<std::map<std::string, std::string>>(),
      json.at("own").get<std::vector<std::map<std::string, std::string>>>()};
}

} // namespace meshloom::launch

// See RankStart.h.
#include "RankStart.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <system_error>
#include <unistd.h>

namespace meshloom::launch {

std::vector<std::string> environmentOf(const RankStart &start, int64_t rank) {
  std::map<std::string, std::string> variables = start.variables;
  variables["DTENSOR_CLIENT_ID"] = std::to_string(rank);
  std::vector<std::string> environment;
  for (char **each = environ; *each; ++each) {
    const std::string_view text = *each;
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
                        {"run", start.runName}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

RankStart fromText(const std::string &text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  return {json.at("ranks").get<std::vector<int64_t>>(),
          json.at("program").get<std::vector<std::string>>(),
          json.at("folder").get<std::string>(),
          json.at("variables").get<std::map<std::string, std::string>>(),
          json.at("run").get<std::string>()};
}

void removeSharedMemory(const std::string &runName) {
  std::error_code error;
  std::vector<std::filesystem::path> found;
  for (const auto &entry :
       std::filesystem::directory_iterator("/dev/shm", error))
    if (entry.path().filename().string().starts_with(runName))
      found.push_back(entry.path());
  for (const std::filesystem::path &path : found)
    std::filesystem::remove(path, error);
}

} // namespace meshloom::launch

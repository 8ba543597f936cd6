// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variable TF_CONFIG.
#include "meshloom/Cluster/ClusterResolver.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace meshloom {

namespace {

using Json = nlohmann::json;

constexpr std::string_view tfConfigExample =
    R"(a right one is {"cluster": {"chief": ["a:2222"], "worker": ["b:2222", )"
    R"("c:2222"]}, "task": {"type": "worker", "index": 0}})";

[[noreturn]] void throwTFConfigError(const std::string &problem) {
  Error(fmt::format("[TFConfigClusterResolver] TF_CONFIG: {}; {}", problem,
                    tfConfigExample))
      .raise();
}

/// Returns the kind of a value, in JSON's words, and the value where it is
/// short.
std::string shown(const Json &value) {
  const std::string text =
      value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() <= 60 ? fmt::format("{} ({})", text, value.type_name())
                           : fmt::format("{} ... ({})", text.substr(0, 60),
                                         value.type_name());
}

std::string readAddress(const Json &value, const std::string &place) {
  if (!value.is_string())
    throwTFConfigError(
        fmt::format("expected an address \"host:port\" in {}, got {}", place,
                    shown(value)));
  auto address = value.get<std::string>();
  if (address.empty())
    throwTFConfigError(fmt::format("an address in {} is empty", place));
  return address;
}

/// A number, or one in quotes, as some launchers write it.
int64_t readIndex(const Json &value, const std::string &place) {
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() <= uint64_t(INT32_MAX))
    return value.get<int64_t>();
  if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (!text.empty() && text.size() < 10 &&
        text.find_first_not_of("0123456789") == std::string::npos)
      return std::stoll(text);
  }
  throwTFConfigError(fmt::format("expected a number from 0 as {}, got {}",
                                 place, shown(value)));
}

std::map<int64_t, std::string> readTasks(const std::string &job,
                                         const Json &value) {
  const std::string place = fmt::format("\"cluster\": \"{}\"", job);
  std::map<int64_t, std::string> tasks;
  if (value.is_array()) {
    for (const Json &address : value)
      tasks.emplace(int64_t(tasks.size()), readAddress(address, place));
  } else if (value.is_object()) {
    for (const auto &[number, address] : value.items())
      tasks.emplace(
          readIndex(Json(number), fmt::format("a task's number in {}", place)),
          readAddress(address, place));
  } else {
    throwTFConfigError(fmt::format("expected a list of addresses as {}, got {}",
                                   place, shown(value)));
  }
  return tasks;
}

/// A member of an object that is a text.
std::optional<std::string> readText(const Json &object, const char *name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null())
    return std::nullopt;
  if (!found->is_string())
    throwTFConfigError(
        fmt::format("expected a text as \"{}\", got {}", name, shown(*found)));
  return found->get<std::string>();
}

} // namespace

TFConfigClusterResolver::TFConfigClusterResolver(
    TFConfigOptions options, const Environment &environment,
    std::source_location where) try {
  const std::string text = environment("TF_CONFIG").value_or("");
  Json config = Json::object();
  if (text.find_first_not_of(" \t\n\r") != std::string::npos) {
    try {
      config = Json::parse(text);
    } catch (const Json::exception &error) {
      // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
      std::string_view problem = error.what();
      problem.remove_prefix(std::min(problem.size(), problem.find(']') + 2));
      throwTFConfigError(fmt::format("it is not JSON ({})", problem));
    }
  }
  if (!config.is_object())
    throwTFConfigError(
        fmt::format("expected an object, got {}", shown(config)));

  if (const auto cluster = config.find("cluster"); cluster != config.end()) {
    if (!cluster->is_object())
      throwTFConfigError(
          fmt::format("expected an object of jobs as \"cluster\", got {}",
                      shown(*cluster)));
    std::map<std::string, std::map<int64_t, std::string>> jobs;
    for (const auto &[job, tasks] : cluster->items())
      jobs.emplace(job, readTasks(job, tasks));
    spec = ClusterSpec::numbered(std::move(jobs));
  }
  if (const auto task = config.find("task"); task != config.end()) {
    if (!task->is_object())
      throwTFConfigError(
          fmt::format("expected {{\"type\": ..., \"index\": ...}} as \"task\", "
                      "got {}",
                      shown(*task)));
    type = readText(*task, "type");
    if (const auto number = task->find("index"); number != task->end())
      index = readIndex(*number, "\"task\": \"index\"");
  }
  rpcLayer = readText(config, "rpc_layer").value_or("grpc");
  sessionMaster = readText(config, "session_master").value_or("");
  kind = readText(config, "environment").value_or("");

  if (options.task_type)
    type = std::move(options.task_type);
  if (options.task_id)
    index = options.task_id;
  if (options.rpc_layer)
    rpcLayer = *std::move(options.rpc_layer);
  if (options.environment)
    kind = *std::move(options.environment);
  if (!spec.empty() && type.has_value() != index.has_value())
    throwTFConfigError(
        fmt::format("\"task\" has no {}", type ? "\"index\"" : "\"type\""));
  if (Status status = validate(spec, task()); !status)
    throwTFConfigError(status.error().message());
} catch (const Error &error) {
  error.atLine(where).raise();
}

} // namespace meshloom

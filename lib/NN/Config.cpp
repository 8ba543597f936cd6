// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Config, see Config.h: read and written by nlohmann's JSON.
#include "meshloom/NN/Config.h"

#include "meshloom/API/NameScope.h"

#include "meshloom/Support/Json.h"

namespace meshloom::nn {
namespace {

using Json = nlohmann::ordered_json;

Json toJson(const Config &config) {
  if (config.is_map()) {
    Json map = Json::object();
    for (auto &[key, value] : config.as_map())
      map[key] = toJson(value);
    return map;
  }
  if (config.is_list()) {
    Json list = Json::array();
    for (const Config &value : config.as_list())
      list.push_back(toJson(value));
    return list;
  }
  if (config.is_null())
    return nullptr;
  if (config.is_string())
    return config.as_string();
  if (!config.is_number())
    return config.as_bool();
  return config.is_integer() ? Json(config.as_int()) : Json(config.as_double());
}

Config fromJson(const Json &json) {
  if (json.is_object()) {
    Config::Map map;
    for (auto &[key, value] : json.items())
      map.emplace_back(key, fromJson(value));
    return map;
  }
  if (json.is_array()) {
    Config::List list;
    for (const Json &value : json)
      list.push_back(fromJson(value));
    return list;
  }
  if (json.is_string())
    return json.get<std::string>();
  if (json.is_boolean())
    return json.get<bool>();
  if (json.is_number_integer())
    return json.get<int64_t>();
  if (json.is_number())
    return json.get<double>();
  return {};
}

[[noreturn]] void expected(const char *kind, const Config &config) {
  Error(std::string("[Config] expected ") + kind + ", got " + config.to_json())
      .raise();
}

} // namespace

bool Config::as_bool() const {
  if (const bool *flag = std::get_if<bool>(&value))
    return *flag;
  expected("true or false", *this);
}
int64_t Config::as_int() const {
  if (const int64_t *number = std::get_if<int64_t>(&value))
    return *number;
  expected("a whole number", *this);
}
double Config::as_double() const {
  if (const double *number = std::get_if<double>(&value))
    return *number;
  if (const int64_t *number = std::get_if<int64_t>(&value))
    return double(*number);
  expected("a number", *this);
}
const std::string &Config::as_string() const {
  if (const std::string *text = std::get_if<std::string>(&value))
    return *text;
  expected("a text", *this);
}
const Config::List &Config::as_list() const {
  if (const List *list = std::get_if<List>(&value))
    return *list;
  expected("a list", *this);
}
const Config::Map &Config::as_map() const {
  if (const Map *map = std::get_if<Map>(&value))
    return *map;
  expected("a map", *this);
}
Shape Config::as_ints() const {
  Shape numbers;
  for (const Config &element : as_list())
    numbers.push_back(element.as_int());
  return numbers;
}

const Config *Config::find(std::string_view key) const {
  for (auto &[name, entry] : as_map())
    if (name == key)
      return &entry;
  return nullptr;
}
const Config &Config::at(std::string_view key,
                         std::source_location where) const {
  return meshloom::detail::atLine(where, [&]() -> const Config & {
    if (const Config *entry = find(key))
      return *entry;
    Error("[Config] expected an entry '" + std::string(key) + "' in " +
          to_json())
        .raise();
  });
}
Config &Config::operator[](std::string_view key) {
  if (is_null())
    value = Map();
  if (const Config *entry = find(key))
    return const_cast<Config &>(*entry);
  return std::get<Map>(value).emplace_back(key, Config()).second;
}

std::string Config::to_json(int indent) const {
  return toJson(*this).dump(indent);
}
Config Config::parse(std::string_view json, std::source_location where) {
  return meshloom::detail::atLine(where, [&] {
    const Result<Json> parsed = parseJson<Json>(json);
    if (!parsed)
      Error("[Config] cannot read a configuration: " + parsed.error().message())
          .raise();
    return fromJson(*parsed);
  });
}

} // namespace meshloom::nn

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields: one list of a part's options. All that is done with every option
// follows from it: the config that is saved (`toConfig`), the options that a
// config has (`fromConfig`), and the check of their numbers (`checkFields`).
//
//   template <typename F> void fields(F &field, LionOptions &options) {
//     field("beta_1", options.beta_1, Bound::Decay);
//     field("beta_2", options.beta_2, Bound::Decay);
//   }
//
// A layer has `fields` as a static member of its implementation, since several
// layers share one type of options; see Layers/BuiltIn.h.
#pragma once

#include "Numbers.h"

#include "meshloom/API/Random.h"
#include "meshloom/NN/Config.h"
#include "meshloom/NN/Named.h"

#include <algorithm>
#include <concepts>
#include <optional>
#include <vector>

namespace meshloom::detail {

/// {"class_name": ..., "config": {...}} of a part that is known by name; null
/// for an empty part.
template <typename Part> Config configOf(const Part &part) {
  if (!part)
    return {};
  if (part.name().empty())
    throw Error("[config] a function without a name cannot be saved: give it "
                "one with add");
  Config config;
  config["class_name"] = part.name();
  Config &options = config["config"];
  options = Config::Map();
  for (auto &[key, value] : part.config())
    options[key] = std::visit(
        [](auto &known) {
          using T = std::remove_cvref_t<decltype(known)>;
          if constexpr (std::is_same_v<T, std::vector<double>>)
            return Config(Config::List(known.begin(), known.end()));
          else
            return Config(known);
        },
        value);
  return config;
}
inline PartConfig partConfigOf(const Config &config) {
  PartConfig options;
  for (auto &[key, value] : config.as_map()) {
    if (value.is_list() &&
        std::ranges::all_of(value.as_list(), &Config::is_integer)) {
      options[key] = value.as_ints();
    } else if (value.is_list()) {
      std::vector<double> numbers;
      for (const Config &number : value.as_list())
        numbers.push_back(number.as_double());
      options[key] = numbers;
    } else if (value.is_string())
      options[key] = value.as_string();
    else if (value.is_integer())
      options[key] = value.as_int();
    else if (value.is_number())
      options[key] = value.as_double();
    else
      options[key] = value.as_bool();
  }
  return options;
}

/// Writes each field into a config.
class WriteFields {
public:
  explicit WriteFields(Config &config) : config(config) {}
  template <typename T>
  void operator()(const char *key, const T &value, Bound = Bound::Any) {
    config[key] = of(value);
  }

private:
  template <typename T>
    requires std::constructible_from<Config, const T &>
  static Config of(const T &value) {
    return Config(value);
  }
  static Config of(const std::vector<double> &numbers) {
    return Config(Config::List(numbers.begin(), numbers.end()));
  }
  static Config of(const std::vector<std::string> &words) {
    return Config(Config::List(words.begin(), words.end()));
  }
  template <typename T> static Config of(const std::optional<T> &value) {
    return value ? of(*value) : Config();
  }
  template <typename T>
    requires requires(const T &part) { part.config(); }
  static Config of(const T &part) {
    return configOf(part);
  }
  Config &config;
};

/// Reads each field from a config; a field that the config does not have keeps
/// its value.
class ReadFields {
public:
  explicit ReadFields(const Config &config) : config(config) {}
  template <typename T>
  void operator()(const char *key, T &value, Bound = Bound::Any) {
    if (const Config *entry = config.find(key))
      read(*entry, value);
  }

private:
  static void read(const Config &entry, bool &value) {
    value = entry.as_bool();
  }
  static void read(const Config &entry, int64_t &value) {
    value = entry.as_int();
  }
  static void read(const Config &entry, double &value) {
    value = entry.as_double();
  }
  static void read(const Config &entry, std::string &value) {
    value = entry.as_string();
  }
  static void read(const Config &entry, Shape &value) {
    value = entry.as_ints();
  }
  static void read(const Config &entry, std::vector<double> &numbers) {
    numbers.clear();
    for (const Config &number : entry.as_list())
      numbers.push_back(number.as_double());
  }
  static void read(const Config &entry, std::vector<std::string> &words) {
    words.clear();
    for (const Config &word : entry.as_list())
      words.push_back(word.as_string());
  }
  template <typename T>
  static void read(const Config &entry, std::optional<T> &value) {
    value.reset();
    if (!entry.is_null())
      read(entry, value.emplace());
  }
  template <typename T>
    requires requires(const T &part) { part.config(); }
  static void read(const Config &entry, T &part) {
    if (entry.is_null())
      part = T();
    else if (entry.is_string())
      part = T(entry.as_string());
    else
      part = T(entry.at("class_name").as_string(),
               partConfigOf(entry.at("config")));
  }
  const Config &config;
};

/// Throws meshloom::Error for a number that is out of its bound.
class CheckFields {
public:
  explicit CheckFields(std::string_view part) : part(part) {}
  template <typename T>
  void operator()(const char *option, const T &value,
                  Bound bound = Bound::Any) {
    check(option, value, bound);
  }

private:
  template <typename T>
  void check(const char *option, const T &value, Bound bound) {
    if constexpr (std::is_arithmetic_v<T>)
      expectBound(part, option, double(value), bound);
  }
  template <typename T>
  void check(const char *option, const std::optional<T> &value, Bound bound) {
    if (value)
      check(option, *value, bound);
  }
  template <typename T>
  void check(const char *option, const std::vector<T> &values, Bound bound) {
    for (const T &value : values)
      check(option, value, bound);
  }
  std::string_view part;
};

/// The config of the options: a map of all fields.
template <typename Options> Config toConfig(Options options) {
  Config config{Config::Map()};
  WriteFields write(config);
  fields(write, options);
  return config;
}
/// The options that the config has; the others have their defaults.
template <typename Options> Options fromConfig(const Config &config) {
  Options options;
  ReadFields read(config);
  fields(read, options);
  return options;
}
/// Throws meshloom::Error, which names `part`, for a number that is out of its
/// bound.
template <typename Options>
void checkFields(std::string_view part, Options options) {
  CheckFields check(part);
  fields(check, options);
}

} // namespace meshloom::detail

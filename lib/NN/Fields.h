// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields: one list of a part's options. All that is done with every option
// follows from it: the config that is saved (`toConfig`), the options that a
// config has (`fromConfig`), and the check of their numbers (`checkFields`).
//
//   template <typename F> void fields(F &field, GeluOptions &options) {
//     field("approximate", options.approximate);
//   }
//
// An optimizer's options have `fields` as a member (see Optimizers.h). A layer
// has `fields` as a static member of its implementation, since several layers
// share one type of options; see Layers/BuiltIn.h.
#pragma once

#include "Numbers.h"

#include "meshloom/API/NameScope.h"
#include "meshloom/NN/Config.h"

#include <concepts>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace meshloom::detail {

/// {"class_name": ..., "config": {...}} of a part that is known by name; null
/// for an empty part.
template <typename Part> nn::Config configOf(const Part &part) {
  if (!part)
    return {};
  if (part.name().empty())
    Error("[config] a function without a name cannot be saved: give it "
          "one with add",
          ErrorCode::FAILED_PRECONDITION)
        .raise();
  nn::Config config;
  config["class_name"] = part.name();
  config["config"] = part.config();
  return config;
}

/// Writes each field into a config.
class WriteFields {
public:
  using Bound = detail::Bound;
  explicit WriteFields(nn::Config &config) : config(config) {}
  template <typename T>
  void operator()(const char *key, const T &value, Bound = Bound::Any) {
    config[key] = of(value);
  }
  template <typename T> void alias(const char *, const T &) {}

private:
  template <typename T>
    requires std::constructible_from<nn::Config, const T &>
  static nn::Config of(const T &value) {
    return nn::Config(value);
  }
  template <typename T> static nn::Config of(const std::optional<T> &value) {
    return value ? of(*value) : nn::Config();
  }
  template <typename T>
    requires requires(const T &part) { part.config(); }
  static nn::Config of(const T &part) {
    return configOf(part);
  }
  nn::Config &config;
};

/// Reads each field from a config; a field that the config does not have keeps
/// its value. Throws meshloom::Error for an entry of a wrong type.
class ReadFields {
public:
  using Bound = detail::Bound;
  /// `part`: whose options they are, for errors.
  explicit ReadFields(const nn::Config &config,
                      std::string part = "from_config")
      : config(config), part(std::move(part)) {}
  template <typename T>
  void operator()(const char *key, T &value, Bound = Bound::Any) {
    names.emplace_back(key);
    if (const nn::Config *entry = config.find(key))
      read(*entry, value);
  }
  /// A different name for a field, under which it is read and not written.
  template <typename T> void alias(const char *key, T &value) {
    (*this)(key, value);
  }
  /// Throws meshloom::Error if the config has an entry that is not a field.
  void finish() const;

private:
  /// Throws unless the entry of the last name `isFitting`.
  void expect(bool isFitting, const char *expected,
              const nn::Config &entry) const;

  void read(const nn::Config &entry, bool &value) const;
  void read(const nn::Config &entry, int64_t &value) const;
  void read(const nn::Config &entry, double &value) const;
  void read(const nn::Config &entry, std::string &value) const;
  /// A list, or one element of it.
  void read(const nn::Config &entry, std::vector<int64_t> &integers) const;
  void read(const nn::Config &entry, std::vector<double> &numbers) const;
  void read(const nn::Config &entry, std::vector<std::string> &words) const;
  template <typename T>
  void read(const nn::Config &entry, std::optional<T> &value) const {
    value.reset();
    if (!entry.is_null())
      read(entry, value.emplace());
  }
  template <typename T>
    requires requires(const T &part) { part.config(); }
  void read(const nn::Config &entry, T &part) const {
    if (entry.is_null())
      part = T();
    else if (entry.is_string())
      part = T(entry.as_string());
    else
      part = T::get(entry.at("class_name").as_string(), entry.at("config"));
  }

  const nn::Config &config;
  std::string part;
  std::vector<std::string> names;
};

/// Throws meshloom::Error for a number that is out of its bound.
class CheckFields {
public:
  using Bound = detail::Bound;
  explicit CheckFields(std::string_view part) : part(part) {}
  template <typename T>
  void operator()(const char *option, const T &value,
                  Bound bound = Bound::Any) {
    check(option, value, bound);
  }
  template <typename T> void alias(const char *, const T &) {}

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
template <typename Options> nn::Config toConfig(Options options) {
  nn::Config config{nn::Config::Map()};
  WriteFields write(config);
  fields(write, options);
  return config;
}
/// The options that the config has; the others have their defaults.
template <typename Options> Options fromConfig(const nn::Config &config) {
  Options options;
  ReadFields read(config);
  fields(read, options);
  return options;
}
/// The line of the user's that wrote the options; a line of number 0 where they
/// do not say.
template <typename Options>
std::source_location lineOf([[maybe_unused]] const Options &options) {
  if constexpr (requires { options.where; })
    return options.where;
  else if constexpr (requires { options.common.where; })
    return options.common.where;
  else
    return {};
}
/// Throws meshloom::Error, which names `part` and the options' line, for a
/// number that is out of its bound.
template <typename Options>
void checkFields(std::string_view part, Options options) {
  atLine(lineOf(options), [&] {
    CheckFields check(part);
    fields(check, options);
  });
}

} // namespace meshloom::detail

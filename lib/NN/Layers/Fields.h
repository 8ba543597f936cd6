// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fields: one list of a layer's options, from which its config is written and
// read:
//
//   template <typename F> static void fields(F &field, DenseOptions &options) {
//     field("use_bias", options.use_bias);
//   }
#pragma once

#include "meshloom/NN/Layers/Layer.h"

#include <algorithm>

namespace meshloom::detail {

/// The options that layers with a kernel, a bias and an activation share.
template <typename F, typename Options>
void kernelAndBiasFields(F &field, Options &options) {
  field("activation", options.activation);
  field("use_bias", options.use_bias);
  field("kernel_initializer", options.kernel_initializer);
  field("bias_initializer", options.bias_initializer);
  field("kernel_regularizer", options.kernel_regularizer);
  field("bias_regularizer", options.bias_regularizer);
  field("kernel_constraint", options.kernel_constraint);
  field("bias_constraint", options.bias_constraint);
}

/// A seed that may be given.
template <typename F> void seedField(F &field, std::optional<uint32_t> &seed) {
  std::optional<int64_t> number = seed;
  field("seed", number);
  seed = number ? std::optional(uint32_t(*number)) : std::nullopt;
}

/// {"class_name": ..., "config": {...}} of what is known by name; nothing where
/// there is none.
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

class WriteFields {
public:
  explicit WriteFields(Config &config) : config(config) {}
  template <typename T> void operator()(const char *key, const T &value) {
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

/// What is not there stays as it is.
class ReadFields {
public:
  explicit ReadFields(const Config &config) : config(config) {}
  template <typename T> void operator()(const char *key, T &value) {
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

} // namespace meshloom::detail

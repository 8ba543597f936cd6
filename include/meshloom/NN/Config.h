// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Config: what something is made again from: a JSON value.
#pragma once

#include "meshloom/Core/Layout.h"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace meshloom::nn {

/// A JSON value: nothing, a bool, a number, a text, a list, or a map, whose
/// keys keep their order.
///
///   Config config;
///   config["units"] = 10;
///   config["activation"] = "relu";
///   config.to_json(); // {"units":10,"activation":"relu"}
class Config {
public:
  /// Its elements.
  using List = std::vector<Config>;
  /// Its entries.
  using Map = std::vector<std::pair<std::string, Config>>;

  /// Nothing (null).
  Config() = default;
  /// A bool.
  Config(bool value) : value(value) {}
  /// A whole number.
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Config(T number) : value(int64_t(number)) {}
  /// A number.
  template <std::floating_point T> Config(T number) : value(double(number)) {}
  /// A text.
  Config(std::string text) : value(std::move(text)) {}
  /// A text.
  Config(const char *text,
         std::source_location where = std::source_location::current())
      : value(textOrThrow(text, "a text, or Config() for none", where)) {}
  /// Write Config() for nothing.
  Config(std::nullptr_t) = delete;
  /// A list.
  Config(List list) : value(std::move(list)) {}
  /// A map.
  Config(Map map) : value(std::move(map)) {}
  /// A list of numbers.
  Config(const Shape &numbers) : value(List(numbers.begin(), numbers.end())) {}
  /// A list of numbers.
  Config(const std::vector<double> &numbers)
      : value(List(numbers.begin(), numbers.end())) {}
  /// A list of texts.
  Config(const std::vector<std::string> &texts)
      : value(List(texts.begin(), texts.end())) {}

  /// Returns whether there is none.
  bool is_null() const { return value.index() == 0; }
  /// Returns whether it is true or false.
  bool is_bool() const { return value.index() == 1; }
  /// Returns whether it is a number.
  bool is_number() const { return value.index() == 2 || value.index() == 3; }
  /// Returns whether it is a whole number.
  bool is_integer() const { return value.index() == 2; }
  /// Returns whether it is a text.
  bool is_string() const { return value.index() == 4; }
  /// Returns whether it is a list.
  bool is_list() const { return value.index() == 5; }
  /// Returns whether it is a map.
  bool is_map() const { return value.index() == 6; }

  // The value as a type: each throws meshloom::Error if it is another's.
  bool as_bool() const;                 ///< true or false
  int64_t as_int() const;               ///< a whole number
  double as_double() const;             ///< any number
  const std::string &as_string() const; ///< a text
  const List &as_list() const;          ///< a list's elements
  const Map &as_map() const;            ///< a map's entries
  Shape as_ints() const;                ///< a list of whole numbers

  /// The entry of that key of a map; of nothing a new one.
  /// Throws meshloom::Error if this is neither.
  Config &operator[](std::string_view key);
  /// The entry of a map. Throws meshloom::Error if there is no such entry.
  const Config &
  at(std::string_view key,
     std::source_location where = std::source_location::current()) const;
  /// The entry of a map; null if there is none.
  const Config *find(std::string_view key) const;

  /// The text as JSON, on one line, or on several with so many spaces a level.
  std::string to_json(int indent = -1) const;
  /// The value that a JSON text has. Throws meshloom::Error if the text is not
  /// JSON.
  static Config
  parse(std::string_view json,
        std::source_location where = std::source_location::current());

  /// Returns whether all values are equal.
  bool operator==(const Config &) const = default;

private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Map>
      value;
};

} // namespace meshloom::nn
